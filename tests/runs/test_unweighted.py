"""Groups without a weight among groups that have one: few of them count 1, and more are refused."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import CommandLine
from refused import refusal_of

import ndcg_tracker as nt
from ndcg_tracker.errors import MetricError, NdcgTrackerWarning
from ndcg_tracker.rankings.ranking import Unweighted
from ndcg_tracker.runs.check import check_database

WEIGHTED = "catboost:NDCG:top=10"
GROUPS = [f"q{number}" for number in range(199)]
TRAFFIC = {"group": GROUPS, "weight": [0.0007] * 199}
NO_WEIGHT = (
    "1 of 200 groups has no weight; counted as 1, that would be 87.8% of the total weight; set them with: ndcg-track "
    "groups set FILE --dataset shop; or give all of them one with: "
    "ndcg-track groups set --default-weight W --dataset shop"
)
NOTE = "1 of 200 groups has no weight, and counts 1"


def run(groups: list[str], n_worse: int = 0) -> dict[str, list[object]]:
    """Return a run with the relevant item of each group first, but second in the first groups."""
    scores = [score for place in range(len(groups)) for score in ((1, 2) if place < n_worse else (2, 1))]
    return {
        "group": [group for group in groups for _ in "ab"],
        "item": ["a", "b"] * len(groups),
        "score": [float(score) for score in scores],
        "label": [1, 0] * len(groups),
    }


def store_runs(tracker: nt.Tracker, metrics: str = "ndcg@10") -> None:
    """Store two runs with 200 groups."""
    for name, n_worse in (("a", 20), ("b", 10)):
        tracker.ingest(run([*GROUPS, "new"], n_worse), name=name, dataset="shop", metrics=metrics)


@pytest.fixture
def mixed(tracker: nt.Tracker) -> nt.Tracker:
    """A tracker with runs that were evaluated as an older release did, with a group that counts 1 among shares."""
    store_runs(tracker, WEIGHTED)
    with tracker.store().write() as tx:
        dataset = tx.datasets.known("shop")
        ids, _ = tx.groups.all(dataset.id)
        tx.write.groups.set_weights(dataset.id, ids[:199], np.full(199, 0.0007))
    return tracker


def test_how_many_may_have_no_weight() -> None:
    one_of = [np.arange(n) == 0 for n in (99, 100)]
    rule = Unweighted("my shop")
    with pytest.warns(NdcgTrackerWarning, match="^1 of 100 groups has no weight, and counts 1$"):
        rule.check(np.ones(100), one_of[1])
    with pytest.warns(NdcgTrackerWarning, match="^2 of 1,000 groups have no weight, and count 1$"):
        rule.check(np.ones(1000), np.arange(1000) < 2)
    assert refusal_of(MetricError, lambda: rule.check(np.ones(99), one_of[0])) == (
        "1 of 99 groups has no weight; counted as 1, that would be 1.0% of the total weight; set them with: ndcg-track "
        "groups set FILE --dataset 'my shop'; or give all of them one with: "
        "ndcg-track groups set --default-weight W --dataset 'my shop'"
    )
    shares = np.where(one_of[1], 1.0, 0.99)
    assert "1 of 100 groups has no weight; counted as 1, that would be 1.0%" in str(
        refusal_of(MetricError, lambda: rule.check(shares, one_of[1]))
    )
    rule.check(np.ones(3), np.zeros(3, dtype=np.bool_))
    Unweighted("shop", 0.5).check(np.ones(2), np.ones(2, dtype=np.bool_))


def test_a_run_with_a_new_group_is_refused_until_it_has_a_weight(tracker: nt.Tracker) -> None:
    tracker.ingest(run(GROUPS, 20), name="a", dataset="shop", metrics=WEIGHTED)
    assert tracker.set_groups(TRAFFIC, dataset="shop").n_recomputed == 1
    new = run([*GROUPS, "new"], 10)
    assert (
        refusal_of(MetricError, lambda: tracker.ingest(new, name="b", dataset="shop", metrics=WEIGHTED))
    ) == NO_WEIGHT
    assert [one.name for one in tracker.runs("shop")] == ["a"]
    tracker.set_groups({"group": ["new"], "weight": [0.0007]}, dataset="shop")
    (stored,) = tracker.ingest(new, name="b", dataset="shop", metrics=WEIGHTED).metrics
    (plain,) = nt.evaluate(new, "ndcg@10").mean
    assert stored.mean == pytest.approx(plain)


QUESTIONS: dict[str, Callable[[nt.Tracker], object]] = {
    "compare": lambda tracker: tracker.compare("a", "b"),
    "gate": lambda tracker: tracker.gate("b", baseline="a", metric=WEIGHTED, margin=0.1),
    "history": lambda tracker: tracker.history(WEIGHTED, dataset="shop"),
    "leaderboard": lambda tracker: tracker.leaderboard(metrics=WEIGHTED, dataset="shop"),
    "report": lambda tracker: tracker.report("a", "b"),
    "show": lambda tracker: tracker.show("a"),
    "explain": lambda tracker: tracker.explain("a", "b", metric=WEIGHTED),
    "rescore": lambda tracker: tracker.rescore("a", metrics="catboost:NDCG:top=5"),
}


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_that_uses_weights_refuses_too_many(mixed: nt.Tracker, question: str) -> None:
    assert refusal_of(MetricError, lambda: QUESTIONS[question](mixed)) == NO_WEIGHT
    mixed.set_groups(default_weight=0.0007, dataset="shop")
    QUESTIONS[question](mixed)


def test_the_conventions_of_other_tools_are_refused_one_by_one(mixed: nt.Tracker) -> None:
    found = {row.text: row for row in mixed.conventions("a")}
    assert found["ndcg@10"].mean is not None
    assert found["catboost:NDCG:top=10"].refusal == NO_WEIGHT


def test_what_uses_no_weights_is_not_refused(mixed: nt.Tracker, ready_url: str) -> None:
    mixed.rescore(["a", "b"], metrics="ndcg@10")
    mixed.compare("a", "b", metrics="ndcg@10")
    assert check_database(ready_url).damage == []
    mixed.set_groups({"group": GROUPS, "weight": [None] * 199}, dataset="shop")
    mixed.compare("a", "b", metrics=WEIGHTED)


def test_a_default_weight_holds_now_and_later(tracker: nt.Tracker, ready_url: str) -> None:
    store_runs(tracker, WEIGHTED)
    done = tracker.set_groups(TRAFFIC, dataset="shop", default_weight=0.0014)
    assert (done.n_groups, done.n_recomputed, done.default_weight) == (199, 2, 0.0014)
    assert [group.weight for group in tracker.groups("shop")[-2:]] == [0.0007, 0.0014]
    later = run([*GROUPS, "new", "later"])
    later["score"][-4:] = [1.0, 2.0, 1.0, 2.0]  # both new groups are worse
    (stored,) = tracker.ingest(later, name="c", dataset="shop", metrics=WEIGHTED).metrics
    worse = 1 / np.log2(3)
    assert stored.mean == pytest.approx((199 * 7 + 2 * 14 * worse) / (199 * 7 + 2 * 14))
    with tracker.store().read() as tx:
        (dataset,) = tx.datasets.all()
        assert tx.datasets.counts()[dataset.id].n_groups == 201
        assert tx.groups.containing(dataset.id, "", 300)[0][1] == "q0"
    assert check_database(ready_url).damage == []
    assert tracker.set_groups(default_weight=0.0014, dataset="shop").n_recomputed == 0
    assert tracker.set_groups(default_weight=0.0007, dataset="shop").n_recomputed == 3


def test_a_default_weight_of_a_dataset_without_weights_changes_nothing(tracker: nt.Tracker) -> None:
    store_runs(tracker, WEIGHTED)
    before = [one.mean for one in tracker.run("a", "shop")[1]]
    tracker.set_groups(default_weight=0.25, dataset="shop")
    assert [one.mean for one in tracker.run("a", "shop")[1]] == before
    run_with_own = {**run([*GROUPS, "new"]), "weight": [0.5] * 400}  # no conflict with the default
    assert tracker.ingest(run_with_own, name="own", dataset="shop").outcome == "stored"
    assert {group.weight for group in tracker.groups("shop")} == {0.5}


def test_weights_that_leave_others_without_are_refused_whole(tracker: nt.Tracker) -> None:
    store_runs(tracker, WEIGHTED)
    assert refusal_of(MetricError, lambda: tracker.set_groups(TRAFFIC, dataset="shop")) == NO_WEIGHT
    assert {group.weight for group in tracker.groups("shop")} == {None}


def test_few_groups_without_a_weight_are_told(tracker: nt.Tracker) -> None:
    store_runs(tracker)
    tracker.set_groups({"group": GROUPS, "weight": [2.0] * 199}, dataset="shop")
    for ask in (
        lambda: tracker.rescore(["a", "b"], metrics=WEIGHTED),
        lambda: tracker.compare("a", "b", metrics=WEIGHTED),
        lambda: tracker.history(WEIGHTED, dataset="shop"),
    ):
        with pytest.warns(NdcgTrackerWarning, match=f"^{NOTE}$"):
            ask()


def test_evaluate_refuses_groups_that_only_the_labels_have() -> None:
    frame = run(GROUPS[:9], 9)
    weighted = {**{name: frame[name] for name in ("group", "item", "score")}, "weight": [0.0007] * 18}
    labels = {name: run(GROUPS[:10])[name] for name in ("group", "item", "label")}
    assert refusal_of(MetricError, lambda: nt.evaluate(weighted, "ndcg(weights=group)", labels=labels)) == (
        "1 of 10 groups has no weight; counted as 1, that would be 99.4% of the total weight; add them to the run with "
        "a weight, or leave them out with missing=skip in the metric"
    )
    assert nt.evaluate(weighted, "ndcg(weights=group, missing=skip)", labels=labels).mean.iloc[0] == pytest.approx(
        1 / np.log2(3)
    )


def test_an_export_takes_the_default_weight_along(tracker: nt.Tracker, tmp_path: Path) -> None:
    store_runs(tracker, WEIGHTED)
    tracker.set_groups(TRAFFIC, dataset="shop", default_weight=0.0014)
    tracker.export_runs(tmp_path / "out")
    with nt.Tracker(tmp_path / "other.db") as other:
        other.import_runs(tmp_path / "out")
        assert [group.weight for group in other.groups("shop")] == [0.0007] * 199 + [0.0014]
        other.compare("a", "b", metrics=WEIGHTED)


def test_on_the_command_line(command: CommandLine, folder: Path) -> None:
    with nt.Tracker(command.url) as tracker:
        store_runs(tracker)
    rows = "".join(f"{group},0.0007\n" for group in GROUPS)
    Path("traffic.csv").write_text(f"group,weight\n{rows}later,0.0007\n", encoding="utf-8")
    assert command.said("groups", "set", "traffic.csv", "--dataset", "shop") == (
        "set weights of 200 queries of dataset 'shop'; 1 query of the file is not in the dataset yet, first 'later': "
        "this is kept until it comes\n"
    )
    assert command.refused("rescore", "a", "b", "--metric", WEIGHTED) == NO_WEIGHT.replace("200 groups", "200 queries")
    assert command.said("groups", "set", "--default-weight", "0.0007", "--dataset", "shop") == (
        "queries of dataset 'shop' without a weight have 0.0007\n"
    )
    assert command("rescore", "a", "b", "--metric", WEIGHTED).code == 0
    assert command.done("compare", "a", "b", "--metric", WEIGHTED)
    assert command.said("groups", "set", "--default-weight", "1", "--dataset", "shop") == (
        "queries of dataset 'shop' without a weight have 1; recomputed 2 weighted means\n"
    )


def test_the_note_on_the_command_line_comes_once(command: CommandLine, folder: Path) -> None:
    with nt.Tracker(command.url) as tracker:
        store_runs(tracker)
    Path("traffic.csv").write_text("group,weight\n" + "".join(f"{group},2\n" for group in GROUPS), encoding="utf-8")
    command.said("groups", "set", "traffic.csv", "--dataset", "shop")
    told = NOTE.replace("groups", "queries")
    assert command("rescore", "a", "b", "--metric", WEIGHTED).err == f"note: {told}\n"
    assert f"note: {told}\n" in command("compare", "a", "b", "--metric", WEIGHTED).err

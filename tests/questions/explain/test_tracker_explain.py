"""``Tracker.explain`` on stored runs: one group by item, the means by totals, other labels by parts."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankings_of import Run, labels_of, results
from refused import refusal_of
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame
from sums_of_items import long_labels, long_lists
from thorough import LONG, examples

import ndcg_tracker as nt
from ndcg_tracker.compare.arms import Arm
from ndcg_tracker.compare.item_changes import item_moves
from ndcg_tracker.compare.results import ItemMove
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.explain import gather_parts as explain_parts
from ndcg_tracker.questions.explain.decide import ChangeParts, GroupExplanation, RunExplanation
from ndcg_tracker.questions.explain.gather import explained_pair
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.words.notes import note_text

EXACT = 1e-12
PARTS = ("groups", "ranking", "labels", "coverage")
NEW_LABELS: Run = {**LABELS, "q1": {"a": 3, "b": 2}, "q2": {"a": 3, "d": 1, "x": 2}, "q6": {"z": 1}}
METRICS = ["ndcg@10", "dcg@2", "ndcg(missing=skip)@10", "ndcg(weights=group)@10", "ndcg(round=2)@10", "AP@5"]
LONG_METRICS = ["ndcg@10", "ndcg", "ndcg(ties=average, unjudged=0.5)@10"]
CLI_MD_KEYS = ["group", "metric", "baseline", "candidate", "delta", "items"]
CLI_MD_ITEM_KEYS = [
    "item", "grade", "rank_baseline", "rank_candidate", "contribution_baseline", "contribution_candidate",
    "contribution",
]  # fmt: skip


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop", metrics=METRICS)
        tracker.ingest(frame_of(DENSE), name="dense", dataset="shop", metrics=METRICS)


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs of one dataset under one label set."""
    fill_as(fill_shop)
    return tracker


@pytest.fixture
def long_shop(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs with long lists and many groups."""
    frame = frame_of(long_labels(3), "label")
    tracker.ingest(frame_of(long_lists(1)), name="one", labels=frame, metrics=LONG_METRICS)
    tracker.ingest(frame_of(long_lists(2)), name="other", metrics=LONG_METRICS)
    return tracker


def of_group(tracker: nt.Tracker, group: str, metric: str = "ndcg@10", **options: int) -> GroupExplanation:
    found = tracker.explain("bm25", "dense", group=group, metric=metric, dataset="shop", **options).explanation
    assert isinstance(found, GroupExplanation)
    return found


def of_runs(tracker: nt.Tracker, *references: str, metric: str = "ndcg@10", **options: int | None) -> RunExplanation:
    found = tracker.explain(*references, metric=metric, **options).explanation
    assert isinstance(found, RunExplanation)
    return found


def added_up(found: RunExplanation) -> Iterator[float]:
    """Yield what each table of an explanation adds up to, with what no item accounts for."""
    assert found.totals is not None
    tables = as_object(found.totals)
    for name in ("kinds", "grades", "ranks", "items"):
        other = tables["other_items"]["contribution"] if name == "items" else 0.0
        yield math.fsum([row["contribution"] for row in tables[name]] + [other, tables["remainder"]])


def test_the_dict_of_a_group_has_the_keys_that_are_promised(shop: nt.Tracker) -> None:
    found = shop.explain("bm25", "dense", group="q1", metric="ndcg@10").to_dict()
    assert list(found)[:6] == CLI_MD_KEYS
    assert set(found) - set(CLI_MD_KEYS) == {"baseline_run", "candidate_run", "dataset", "label_set", "notes"}
    assert [list(item)[:7] for item in found["items"]] == [CLI_MD_ITEM_KEYS] * 3
    values = [results("ndcg@10", run, LABELS) for run in (BM25, DENSE)]
    place = values[0].group_keys.to_list().index("q1")
    assert (found["baseline"], found["candidate"]) == tuple(one.values[place] for one in values)
    assert math.fsum(item["contribution"] for item in found["items"]) == pytest.approx(found["delta"], abs=EXACT)
    ideal = 3 + 1 / np.log2(3)
    assert found["items"][0] == {
        "item": "a", "grade": 3.0, "rank_baseline": 3, "rank_candidate": 1,
        "contribution_baseline": pytest.approx(1.5 / ideal), "contribution_candidate": pytest.approx(3 / ideal),
        "contribution": pytest.approx(1.5 / ideal), "kind": "moved_up", "grade_baseline": 3.0,
    }  # fmt: skip


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("metric", METRICS[:-1])
def test_every_group_and_the_means_add_up(shop: nt.Tracker, metric: str) -> None:
    for group in ("q1", "q2", "q3", "q4"):
        found = as_object(of_group(shop, group, metric))
        assert math.fsum(item["contribution"] for item in found["items"]) == pytest.approx(found["delta"], abs=EXACT)
    found = of_runs(shop, "bm25", "dense", metric=metric)
    missing = "error" if parse_metric(metric).counts_missing else "intersect"
    compared = shop.compare("bm25", "dense", metrics=[metric], missing=missing).to_dict()["metrics"][0]  # type: ignore[arg-type]
    assert (found.baseline, found.candidate) == pytest.approx((compared["baseline"], compared["candidate"]), abs=EXACT)
    assert list(added_up(found)) == pytest.approx([compared["delta"]] * 4, abs=EXACT)


def test_a_group_that_one_run_lacks_is_an_empty_list(shop: nt.Tracker) -> None:
    found = of_group(shop, "q5")
    assert (found.baseline, found.candidate, found.delta) == (1.0, 0.0, -1.0)
    assert [(item.move.item, item.kind, item.move.contribution) for item in found.items] == [
        ("h", "left", -1.0),
        ("x", "unjudged", 0.0),
    ]
    assert note_text(found.notes[0]) == "group 'q5' is not in run 'dense': its value is 0"


def test_what_the_first_rank_cost_and_brought(shop: nt.Tracker) -> None:
    found = of_runs(shop, "bm25", "dense")
    assert found.totals is not None
    assert found.n_groups == 5
    assert found.worst_group == "q5"
    assert [(total.item, total.group) for total in found.totals.items[:2]] == [("h", "q5"), ("a", None)]
    assert found.totals.items[0].contribution == pytest.approx(-1 / 5)
    assert shop.explain("bm25", "dense").to_dict()["notes"] == [
        "unjudged items among the first 10: 3 in the baseline, 2 in the candidate",
        "to see the query that lost most: ndcg-track explain bm25 dense --dataset shop --metric ndcg@10 --group q5",
    ]


def test_the_labels_that_were_asked_for_stand_in_the_command_to_type(shop: nt.Tracker) -> None:
    newer_labels(shop)
    told = of_runs(shop, "bm25", "dense", labels_baseline=2, labels_candidate=2).notes[-1]
    assert note_text(told) == (
        "to see the group that lost most: ndcg-track explain bm25 dense --dataset shop --metric ndcg@10 "
        "--labels-baseline 2 --labels-candidate 2 --group q5"
    )
    told = of_runs(shop, "bm25", "dense", labels_baseline=1, labels_candidate=2).notes[-1]
    assert note_text(told) == (
        "to see the ranking's part in detail: ndcg-track explain bm25 dense --dataset shop --metric ndcg@10 "
        "--labels-baseline 1 --labels-candidate 1"
    )


def test_rows_of_the_same_number_are_other_items_in_each_group(tracker: nt.Tracker) -> None:
    rows = {"group": ["q", "q", "r", "r"], "label": [1, 0, 1, 0]}
    tracker.ingest({**rows, "score": [2.0, 1.0, 2.0, 1.0]}, name="old", dataset="ranks", metrics="dcg@1")
    tracker.ingest({**rows, "score": [1.0, 2.0, 1.0, 2.0]}, name="new", dataset="ranks", metrics="dcg@1")
    totals = tracker.explain("old", "new", dataset="ranks", metric="dcg@1").explanation.totals
    assert totals is not None
    assert [(one.item, one.n_groups, one.group, one.contribution) for one in totals.items] == [
        ("1", 1, "q", -0.5),
        ("1", 1, "r", -0.5),
    ]


def test_a_group_without_a_value_in_between_says_so(tracker: nt.Tracker) -> None:
    tracker.ingest({"q": {"a": 2.0, "b": 1.0}}, name="one", labels={"q": {"a": 1}}, metrics=["ndcg(empty=skip)@10"])
    tracker.add_labels(labels_of({"q": {"a": 0, "b": 1}}))
    found = tracker.explain("one", "one", group="q", labels_baseline=1, labels_candidate=2)
    told = "no split into ranking, labels and coverage: the group has no value in a step in between"
    assert (found.to_dict().get("parts"), found.notes[-1]) == (None, told)
    assert f"\nnote: {told}\n" in str(found)


def test_a_group_in_one_run_only_is_left_out(shop: nt.Tracker) -> None:
    found = of_runs(shop, "bm25", "dense", metric="ndcg(missing=skip)@10")
    assert found.n_groups == 4
    assert note_text(found.notes[0]) == "1 group has a result in one run only: left out"


def test_a_run_against_itself_has_nothing_to_explain(shop: nt.Tracker) -> None:
    found = of_runs(shop, "bm25", "bm25")
    assert found.totals is not None
    assert (found.delta, found.worst_group, found.totals.kinds, found.totals.items) == (0.0, None, (), ())
    result = shop.explain("bm25", "bm25", group="q1")
    assert [item.move.contribution for item in result.explanation.items] == [0.0] * 3  # type: ignore[union-attr]


def test_weights_of_groups_are_their_share_of_the_mean(shop: nt.Tracker) -> None:
    heavy = {"group": ["q1", "q2", "q3", "q4", "q5"], "weight": [4.0, 1.0, 1.0, 1.0, 1.0]}
    frames = [
        {
            **frame_of(run),
            "weight": [heavy["weight"][heavy["group"].index(str(group))] for group in frame_of(run)["group"]],
        }
        for run in (BM25, DENSE)
    ]
    for frame, name in zip(frames, ("one", "other"), strict=True):
        shop.ingest(frame, name=name, dataset="heavy", labels=labels_frame(), metrics=["ndcg(weights=group)@10"])
    found = of_runs(shop, "one", "other", metric="ndcg(weights=group)@10")
    assert found.totals is not None
    by_item = {total.item: total.contribution for total in found.totals.items}
    ideal = 3 + 1 / np.log2(3)
    assert by_item["h"] == pytest.approx(-1 / 8)
    assert sum(by_item.values()) == pytest.approx(found.delta, abs=EXACT)
    q1 = shop.explain("one", "other", group="q1", metric="ndcg(weights=group)@10").to_dict()
    assert q1["items"][0]["contribution"] == pytest.approx(1.5 / ideal)


def test_runs_are_read_some_groups_at_a_time(long_shop: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    for metric in LONG_METRICS[:: 1 if LONG else 6]:
        keys = {key for run in (long_lists(1), long_lists(2), long_labels(3)) for key in run}
        by_item: dict[str, float] = {}
        for group in keys:
            explained = long_shop.explain("one", "other", group=group, metric=metric).to_dict()
            for item in explained["items"]:
                by_item[item["item"]] = by_item.get(item["item"], 0.0) + item["contribution"]
        for block_items in (1, 100, 10**6):
            monkeypatch.setattr(explain_parts, "BLOCK_ITEMS", block_items)
            found = of_runs(long_shop, "one", "other", metric=metric, top=None)
            assert list(added_up(found)) == pytest.approx([found.delta] * 4, abs=EXACT)
            assert found.totals is not None
            assert {total.item: total.contribution for total in found.totals.items} == pytest.approx(
                {item: change / found.n_groups for item, change in by_item.items() if change}, abs=EXACT
            )


def newer_labels(shop: nt.Tracker) -> None:
    """Add version 2 of the labels and hold dense to it."""
    shop.add_labels(labels_of(NEW_LABELS), dataset="shop")
    shop.rescore(["dense"], dataset="shop")


def test_ranking_labels_and_coverage_of_the_means(shop: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    newer_labels(shop)
    steps = [
        results("ndcg@10", BM25, LABELS).mean,
        results("ndcg@10", DENSE, LABELS).mean,
        results("ndcg@10", DENSE, {**LABELS, "q1": {"a": 3, "b": 2, "c": 0}, "q2": {"a": 3, "d": 1}}).mean,
        results("ndcg@10", DENSE, NEW_LABELS).mean,
    ]
    for block_items in (1, 10**6):
        monkeypatch.setattr(explain_parts, "BLOCK_ITEMS", block_items)
        found = of_runs(shop, "bm25", "dense", labels_baseline=1, labels_candidate=2)
        assert (found.totals, found.n_groups) == (None, 6)
        assert found.parts is not None
        parts = as_object(found.parts)
        changes = [float(after or 0) - float(before or 0) for before, after in itertools.pairwise(steps)]
        kept = results("ndcg@10", DENSE, {group: of for group, of in NEW_LABELS.items() if group in LABELS}).mean
        came = float(steps[-1] or 0) - float(kept or 0)
        changes[-1] -= came
        assert [parts["ranking"], parts["labels"], parts["coverage"]] == pytest.approx(changes, abs=EXACT)
        assert parts["groups"] == pytest.approx(came, abs=EXACT)
        assert sum(parts[name] for name in PARTS) == pytest.approx(found.delta, abs=EXACT)
        assert parts["groups_changed"] == {
            "common": 5,
            "came": 1,
            "went": 0,
            "between": 0,
            "labels_added": 1,
            "labels_removed": 0,
            "baseline_over_common": found.baseline,
            "candidate_over_common": pytest.approx(kept, abs=EXACT),
        }
        assert parts["labels_changed"] == {"changed": 3, "added": 2, "removed": 1}


def test_ranking_labels_and_coverage_of_a_group(shop: nt.Tracker) -> None:
    newer_labels(shop)
    found = of_group(shop, "q2", labels_baseline=1, labels_candidate=2)
    assert found.parts is not None
    parts = found.parts
    assert parts.ranking + parts.labels + parts.coverage == pytest.approx(found.delta, abs=EXACT)
    assert as_object(found.parts.differences) == {"changed": 2, "added": 1, "removed": 0}
    rows = as_object(found)["items"]
    assert math.fsum(row["contribution"] for row in rows) == pytest.approx(found.delta, abs=EXACT)
    assert {row["item"]: row["kind"] for row in rows} == {"a": "label", "d": "label", "x": "unjudged"}
    assert as_object(found)["baseline_label_set"]["version"] == 1
    assert as_object(found)["label_set"]["version"] == 2


def test_one_run_under_two_label_sets(shop: nt.Tracker) -> None:
    newer_labels(shop)
    found = of_runs(shop, "dense", "dense", labels_baseline=1, labels_candidate=2)
    assert found.parts is not None
    assert found.parts.ranking == 0
    parts = as_object(found.parts)
    assert sum(parts[name] for name in PARTS) == pytest.approx(found.delta, abs=EXACT)


def test_groups_that_went(shop: nt.Tracker) -> None:
    newer_labels(shop)
    there, back = (
        of_runs(shop, "dense", "dense", labels_baseline=one, labels_candidate=other).parts
        for one, other in ((1, 2), (2, 1))
    )
    assert there is not None
    assert back is not None
    assert back.of_groups is not None
    assert (back.of_groups.n_came, back.of_groups.n_went, back.of_groups.n_removed) == (0, 1, 1)
    assert back.groups == pytest.approx(-there.groups, abs=EXACT)
    assert back.groups + back.ranking + back.labels + back.coverage == pytest.approx(-sum_of(there), abs=EXACT)


def sum_of(parts: ChangeParts) -> float:
    return parts.groups + parts.ranking + parts.labels + parts.coverage


def test_labels_that_have_no_group_in_common(shop: nt.Tracker) -> None:
    shop.add_labels(labels_of({"q7": {"a": 1}, "q8": {"a": 1}}), dataset="shop", replace=True)
    found = of_runs(shop, "bm25", "dense", labels_baseline=1, labels_candidate=2)
    assert found.parts is not None
    assert (found.parts.ranking, found.parts.labels, found.parts.coverage) == (0.0, 0.0, 0.0)
    assert found.parts.groups == found.delta
    assert "\nqueries  " in str(shop.explain("bm25", "dense", labels_baseline=1, labels_candidate=2))


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(["q1", "q2", "q3", "q5", "q6", "q7"]),
        st.dictionaries(st.sampled_from("abdehx"), st.integers(0, 3), min_size=1),
        min_size=1,
    )
)
def test_the_parts_add_up_whatever_the_labels(tmp_path_factory: pytest.TempPathFactory, labels: Run) -> None:
    with nt.Tracker(tmp_path_factory.mktemp("parts") / "runs.db") as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=frame_of(LABELS, "label"), metrics=["ndcg@2"])
        tracker.ingest(frame_of(DENSE), name="dense", metrics=["ndcg@2"])
        if labels_of(labels).digest() == labels_of(LABELS).digest():
            return
        tracker.add_labels(labels_of(labels), replace=True)
        for metric in ("ndcg@2", "ndcg(empty=skip, missing=skip)@2", "dcg"):
            try:
                found = of_runs(tracker, "bm25", "dense", metric=metric, labels_baseline=1, labels_candidate=2)
            except nt.InputError:  # neither end has a mean
                continue
            assert found.parts is not None
            assert sum_of(found.parts) == pytest.approx(found.delta, abs=EXACT)


def test_without_labels_in_common_each_run_has_its_newest(shop: nt.Tracker) -> None:
    shop.add_labels(labels_of(NEW_LABELS), dataset="shop")
    shop.ingest(frame_of({**DENSE, "q3": {"e": 1.0}}), name="third", dataset="shop", metrics=["ndcg@10"])
    found = shop.explain("bm25", "third").to_dict()
    assert (found["baseline_label_set"]["version"], found["label_set"]["version"]) == (1, 2)
    assert set(found["parts"]) >= {"ranking", "labels", "coverage"}


def test_newer_labels_than_the_shared_ones_are_pointed_out(shop: nt.Tracker) -> None:
    newer_labels(shop)
    assert note_text(of_runs(shop, "bm25", "dense").notes[-2]) == (
        "labels version 2 is newer than version 1, which the runs share; to use it: "
        "ndcg-track rescore bm25 dense --dataset shop --metric ndcg@10 --labels 2"
    )


def test_labels_that_no_run_was_held_to(shop: nt.Tracker) -> None:
    shop.add_labels(labels_of(NEW_LABELS), dataset="shop")
    for metric in ("ndcg@10", "ndcg(weights=group)@10"):
        found = of_runs(shop, "bm25", "dense", metric=metric, labels_baseline=2, labels_candidate=2)
        means = [results(metric, run, NEW_LABELS).mean for run in (BM25, DENSE)]
        assert [found.baseline, found.candidate] == pytest.approx(means, abs=EXACT)
        assert list(added_up(found)) == pytest.approx([found.delta] * 4, abs=EXACT)


def test_without_a_metric_ndcg_at_10_or_what_both_have(shop: nt.Tracker) -> None:
    assert shop.explain("bm25", "dense").to_dict()["metric"] == "ndcg@10"
    for name, run in (("one", BM25), ("other", DENSE)):
        shop.ingest(frame_of(run), name=name, dataset="second", labels=labels_frame(), metrics=["AP@5", "dcg@3"])
    assert shop.explain("one", "other").to_dict()["metric"] == "dcg@3"
    shop.ingest(frame_of(BM25), name="third", dataset="second", metrics=["cg@3"])
    with pytest.raises(nt.NotComparableError) as caught:
        shop.explain("one", "third")
    assert str(caught.value) == (
        "runs 'one' and 'third' share no cg, dcg or ndcg to explain; type: "
        "ndcg-track rescore one third --dataset second --metric ndcg@10"
    )


def test_what_cannot_be_explained(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="elsewhere", dataset="other", labels=labels_frame())
    with pytest.raises(nt.NotComparableError) as other_dataset:
        shop.explain("bm25", "elsewhere")
    assert str(other_dataset.value) == (
        "run 'bm25' is of dataset 'shop' and run 'elsewhere' of dataset 'other'; only runs of one dataset can be "
        "explained"
    )
    with pytest.raises(nt.NotComparableError) as no_metric:
        shop.explain("bm25", "dense", metric="dcg@7")
    assert str(no_metric.value) == (
        "runs 'bm25' and 'dense' have no dcg@7 to explain; type: "
        "ndcg-track rescore bm25 dense --dataset shop --metric dcg@7"
    )
    with pytest.raises(nt.MetricError) as no_sum:
        shop.explain("bm25", "dense", metric="AP@5")
    assert str(no_sum.value) == (
        "AP@5 cannot be split into items; only cg, dcg and ndcg can, because they sum gain x discount; "
        "explain ndcg@5 instead"
    )
    with pytest.raises(nt.ReferenceNotFoundError) as no_version:
        shop.explain("bm25", "dense", labels_baseline=7)
    assert str(no_version.value) == (
        "no version 7 of the labels of dataset 'shop' (it only has version 1); see: ndcg-track labels list --dataset "
        "shop"
    )


def test_groups_that_cannot_be_explained(shop: nt.Tracker) -> None:
    with pytest.raises(nt.ReferenceNotFoundError) as unknown:
        of_group(shop, "q11")
    assert str(unknown.value) == "no group 'q11' in dataset 'shop'; did you mean 'q1'?"
    with pytest.raises(nt.ReferenceNotFoundError) as unlike:
        of_group(shop, "zebra")
    assert str(unlike.value) == (
        "no group 'zebra' in dataset 'shop'; see all with: ndcg-track groups list --dataset shop"
    )
    with pytest.raises(nt.InputError) as undefined:
        of_group(shop, "q5", "ndcg(missing=skip)@10")
    assert str(undefined.value) == (
        "group 'q5' has no result under ndcg(missing=skip)@10 in run 'dense' (missing from the run), so there is no "
        "difference to explain; explain another group"
    )
    shop.add_labels(labels_of(NEW_LABELS), dataset="shop")
    with pytest.raises(nt.InputError) as nowhere:
        of_group(shop, "q6")
    assert str(nowhere.value) == (
        "group 'q6' is neither in run 'bm25' nor in version 1 of the labels; explain another group"
    )


def test_no_group_with_a_result_in_both_runs(tracker: nt.Tracker) -> None:
    metrics = ["ndcg(missing=skip)@10"]
    tracker.ingest(frame_of({"q1": BM25["q1"]}), name="one", labels=labels_frame(), metrics=metrics)
    tracker.ingest(frame_of({"q2": BM25["q2"]}), name="other", metrics=metrics)
    with pytest.raises(nt.InputError) as caught:
        tracker.explain("one", "other")
    assert str(caught.value) == (
        "no group has a result under ndcg(missing=skip)@10 in both runs 'one' and 'other'; see why with: "
        "ndcg-track sql 'SELECT * FROM run_summary'"
    )


def moves_of(tracker: nt.Tracker, metric: str, keys: list[str], n: int = 3) -> dict[str, tuple[ItemMove, ...]]:
    with tracker.store().read() as tx:
        one, other = tx.runs.resolve("bm25"), tx.runs.resolve("dense")
        both = explained_pair(tx, Arm.of(one), Arm.of(other), parse_metric("ndcg@10"))
        both = replace(both, metrics=(parse_metric(metric),))
        ids = tx.groups.ids(one.dataset_id, Keys.from_strings(keys))
        found = item_moves(tx, both, ids, n)
        return {key: found[number] for key, number in zip(keys, ids.tolist(), strict=True) if number in found}


def test_the_items_that_moved_some_groups_most(shop: nt.Tracker) -> None:
    found = moves_of(shop, "ndcg@10", ["q5", "q4", "q1", "q2"])
    assert {key: [move.item for move in moves] for key, moves in found.items()} == {
        "q5": ["h"], "q4": [], "q1": ["a"], "q2": ["d", "a"],
    }  # fmt: skip
    for key, moves in found.items():
        explained = of_group(shop, key)
        assert list(moves) == [item.move for item in explained.items if item.move.contribution]
    assert [len(moves) for moves in moves_of(shop, "ndcg@10", ["q2", "q3"], n=1).values()] == [1, 1]


def test_no_moves_without_groups_or_for_a_metric_that_is_no_sum(shop: nt.Tracker) -> None:
    assert moves_of(shop, "ndcg@10", []) == {}
    assert moves_of(shop, "AP@5", ["q1"]) == {}


def test_the_result_is_a_frame_and_a_report(shop: nt.Tracker) -> None:
    result = shop.explain("bm25", "dense", group="q1", metric="ndcg@10")
    frame = result.to_frame()
    assert frame["item"].tolist()[0] == "a"
    assert frame["contribution"].sum() == pytest.approx(result.delta, abs=EXACT)
    assert str(result).startswith("query q1 rose in ndcg@10: ")
    assert result._repr_html_().startswith(result.to_html())
    assert result.to_html().startswith("<div><p><strong>query q1 rose in ndcg@10: ")
    totals = shop.explain("bm25", "dense", metric="ndcg@10").to_frame()
    assert totals[totals["table"] == "kind"]["contribution"].sum() == pytest.approx(
        shop.explain("bm25", "dense", metric="ndcg@10").delta, abs=EXACT
    )


def test_of_runs_without_any_judged_item_it_says_that_nothing_is_compared(tracker: nt.Tracker) -> None:
    labels = {"q": {"x": 1, "y": 0}}
    tracker.ingest({"q": {"a": 2.0, "b": 1.0}}, name="one", labels=labels)
    tracker.ingest({"q": {"a": 1.0, "b": 2.0, "c": 0.5}}, name="two")
    told = (
        "no item among the first 10 has a label (2 in the baseline, 3 in the candidate), so nothing is compared; do "
        "the ids match?"
    )
    for group in (None, "q"):
        assert told in tracker.explain("one", "two", group=group).notes
    tracker.ingest({"q": {"a": 1.0, "x": 2.0}}, name="three")
    assert "unjudged items among the first 10: 2 in the baseline, 1 in the candidate" in (
        tracker.explain("one", "three").notes
    )


def test_a_group_that_is_a_whole_number(tracker: nt.Tracker) -> None:
    for name, scores in (("a", [2.0, 1.0]), ("b", [1.0, 2.0])):
        tracker.ingest({"group": [7, 7], "item": [1, 2], "score": scores, "label": [1, 0]}, name=name)
    assert tracker.explain("a", "b", group=7).to_dict() == tracker.explain("a", "b", group="7").to_dict()


OLD, NEW = "tag:recipe=old", "tag:recipe=new"


def fill_arms(url: str) -> None:
    """Two recipes of two runs and of three, which do not all list the same items, under two versions of the labels."""
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="old-0", labels=labels_frame(), dataset="shop", tags={"recipe": "old"})
        tracker.ingest(
            frame_of({**BM25, "q1": {"c": 3.0, "a": 2.0}}), name="old-1", dataset="shop", tags={"recipe": "old"}
        )
        for number, q1 in enumerate(({"a": 3.0, "b": 2.0}, {"b": 3.0, "x": 2.0, "a": 1.0}, {"x": 1.0})):
            new = frame_of({**DENSE, "q1": q1})
            tracker.ingest(new, name=f"new-{number}", dataset="shop", tags={"recipe": "new"})
        tracker.add_labels(frame_of(NEW_LABELS, "label"), dataset="shop")


@pytest.fixture
def arms(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    fill_as(fill_arms)
    return tracker


def test_of_arms_the_mean_of_the_runs_is_explained_group_by_group(arms: nt.Tracker) -> None:
    pairs = [
        arms.explain(*pair, group="q1").to_dict()
        for pair in (("old-0", "new-0"), ("old-1", "new-1"), ("old-1", "new-2"))
    ]
    found = arms.explain(OLD, NEW, group="q1").to_dict()
    sides = {"baseline": pairs[:2], "candidate": pairs}
    assert {of: found[of] for of in sides} == pytest.approx(
        {of: np.mean([one[of] for one in runs]) for of, runs in sides.items()}
    )
    assert math.fsum(item["contribution"] for item in found["items"]) == pytest.approx(found["delta"], abs=EXACT)
    for side, runs in sides.items():
        each = [{item["item"]: item for item in one["items"]} for one in runs]
        for item in found["items"]:
            of_runs = [one[item["item"]] for one in each if item["item"] in one]
            total = sum(one[f"contribution_{side}"] for one in of_runs)
            assert item[f"contribution_{side}"] == pytest.approx(total / len(runs))
            ranks = [one[f"rank_{side}"] for one in of_runs if one[f"rank_{side}"] is not None]
            assert item[f"rank_{side}"] == (np.mean(ranks) if ranks else None)
    kinds = {item["item"]: item["kind"] for item in found["items"]}
    assert (kinds["a"], kinds["c"], kinds["x"]) == (
        "left",
        "left",
        "unjudged",
    )  # two of two runs had it, now two of three
    assert found["baseline_run"]["runs"] == [{"name": "old-0", "run_id": 1}, {"name": "old-1", "run_id": 2}]
    said = str(arms.explain(OLD, NEW, group="q1"))
    assert "is in more lists, at mean rank 1.5 instead of 2" in said
    assert "in fewer lists" in said
    assert "the top 10" not in said


def test_of_arms_the_tables_add_up_to_the_delta_of_compare(arms: nt.Tracker) -> None:
    (metric,) = arms.compare(OLD, NEW).to_dict()["metrics"]
    found = arms.explain(OLD, NEW).explanation
    assert isinstance(found, RunExplanation)
    assert (found.baseline, found.candidate) == pytest.approx((metric["baseline"], metric["candidate"]), abs=EXACT)
    assert list(added_up(found)) == pytest.approx([metric["delta"]] * 4, abs=EXACT)
    assert found.verdict == metric["verdict"]
    assert note_text(found.notes[1]) == (
        f"numbers are means over 2 runs of {OLD} and 3 runs of {NEW}; "
        "a rank is the mean over the runs that rank the item"
    )
    assert found.notes[-1].command[:4] == ("ndcg-track", "explain", OLD, NEW)


def test_of_arms_under_two_versions_of_the_labels_the_parts_add_up(arms: nt.Tracker) -> None:
    versions = {"labels_baseline": 1, "labels_candidate": 2}
    for group in (None, "q1"):
        pairs = [
            arms.explain(old, new, group=group, **versions).to_dict()
            for old in ("old-0", "old-1")
            for new in ("new-0", "new-1", "new-2")
        ]
        found = arms.explain(OLD, NEW, group=group, **versions).to_dict()
        parts = {part: found["parts"].get(part, 0.0) for part in PARTS}
        assert sum(parts.values()) == pytest.approx(found["delta"], abs=EXACT)
        assert parts == pytest.approx({part: np.mean([one["parts"].get(part, 0.0) for one in pairs]) for part in PARTS})


def test_what_arms_refuse(arms: nt.Tracker) -> None:
    assert (
        refusal_of(nt.InputError, arms.explain, OLD, "old-1")
        == f"run 'old-1' is in {OLD!r} and in 'old-1'; give each arm its own runs"
    )
    assert (
        refusal_of(nt.InputError, arms.explain(OLD, NEW, group="q1").plot)
        == "the lists of repeats cannot be drawn; name two single runs"
    )
    assert refusal_of(nt.NotComparableError, arms.explain, OLD, NEW, metric="ndcg@3") == (
        f"runs {OLD!r} and {NEW!r} have no ndcg@3 to explain; type: "
        "ndcg-track rescore old-0 old-1 new-0 new-1 new-2 --dataset shop --metric ndcg@3 --labels 1; "
        "that is the version of the labels that most runs have; for the latest: --labels 2"
    )

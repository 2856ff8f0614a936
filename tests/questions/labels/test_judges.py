"""Several judges of one dataset: whose labels count, and how far two of them agree."""

from collections.abc import Callable

import pytest
from command_line import CommandLine
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.compare.gather import ComparisonResult

GPT: Run = {"q1": {"a": 0, "b": 3, "c": 0}, "q2": {"a": 2, "d": 2}, "q3": {"e": 1}, "q5": {"x": 1}}
NO_JUDGE = (
    "dataset 'default' has no labels of judge 'human', only those of the unnamed judge, judge 'gpt'; choose with judge="
)


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs under the labels of no named judge, which are version 1, and those of gpt, version 2."""

    def ingest(url: str) -> None:
        with nt.Tracker(url) as opened:
            opened.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
            opened.ingest(frame_of(DENSE), name="dense", labels=labels_frame())
            assert opened.add_labels(labels_of(GPT), source="gpt.jsonl", judge="gpt") == (2, True)

    fill_as(ingest)
    return tracker


def version_of(result: ComparisonResult) -> tuple[int, str]:
    label_set = result.comparisons[0].label_set
    return label_set.version, label_set.judge


def test_labels_of_a_named_judge_count_only_where_it_is_named(shop: nt.Tracker) -> None:
    shop.rescore(judge="gpt")
    assert version_of(shop.compare("bm25", "dense")) == (1, "")
    assert version_of(shop.compare("bm25", "dense", labels="newest")) == (1, "")
    assert shop.gate("dense", baseline="bm25", margin=0.5, dry_run=True).gated.comparison.label_set.version == 1
    assert shop.explain("bm25", "dense").explanation.subject.candidate_labels.version == 1
    assert shop.history().label_set_version.tolist() == [1, 1]
    assert shop.ingest(frame_of(BM25), name="again").label_set_version == 1
    assert [run.label_set_version for run in shop.rescore(metrics="P@1")] == [1, 1, 1]
    mean = results("ndcg@10", DENSE, GPT).mean
    by_judge = shop.compare("bm25", "dense", judge="gpt")
    assert version_of(by_judge) == version_of(shop.compare("bm25", "dense", labels=2)) == (2, "gpt")
    assert by_judge.comparisons[0].metrics[0].candidate == pytest.approx(mean)
    assert by_judge.to_dict()["label_set"]["judge"] == "gpt"
    assert "  version 2 of judge 'gpt', digest" in by_judge.to_text(verbose=True)


def test_a_metric_that_only_a_named_judge_gives_is_none_of_the_dataset(shop: nt.Tracker) -> None:
    shop.rescore(metrics="P@1", judge="gpt")
    with shop.store().read() as tx:
        assert [use.metric for use in tx.evaluations.metrics(1)] == ["ndcg@10"]
        group = int(tx.runs.group_ids(1)[0])
        assert tx.evaluations.of_group(1, "P@1", group) == []
        assert tx.evaluations.history(1, "P@1") == []


def test_each_judge_has_versions_of_its_own(shop: nt.Tracker) -> None:
    assert shop.add_labels(labels_of(LABELS), judge="gpt") == (3, True)  # equals version 1, which is not gpt's
    assert shop.add_labels(labels_of(GPT), judge="gpt") == (2, False)
    assert shop.add_labels(labels_of({"q1": {"a": 1}}), replace=True) == (4, True)
    assert [(one.version, one.judge) for one in shop.label_versions()] == [(1, ""), (2, "gpt"), (3, "gpt"), (4, "")]
    assert [one.version for one in shop.label_versions(judge="gpt")] == [2, 3]
    assert [one.version for one in shop.label_versions(judge="")] == [1, 4]
    assert shop.labels_diff(2).second.version == 3
    assert shop.labels_diff(1).second.version == 4
    shop.rescore(judge="gpt")
    shop.rescore(labels=2)
    found = shop.compare_versions("bm25", "dense", judge="gpt")
    assert [one.label_set.version for one in found.found.comparisons] == [2, 3]
    assert [one.label_set.version for one in shop.compare_versions("bm25", "dense").found.comparisons] == [1]


def test_new_labels_of_a_run_join_those_of_no_named_judge(shop: nt.Tracker) -> None:
    new = {"group": ["q1", "q9"], "item": ["a", "z"], "score": [1.0, 1.0], "label": [LABELS["q1"]["a"], 1]}
    assert shop.ingest(new, name="new").label_set_version == 3
    assert shop.labels_diff(1, 3).labels.new == 1


def test_weights_of_groups_reach_the_means_under_every_judge(shop: nt.Tracker) -> None:
    shop.rescore(metrics="ndcg(weights=group)@10", judge="gpt")
    before = shop.compare("bm25", "dense", judge="gpt").comparisons[0].metrics[0].baseline
    shop.set_groups({"group": ["q1"], "weight": [50.0]}, default_weight=1.0)
    assert shop.compare("bm25", "dense", judge="gpt").comparisons[0].metrics[0].baseline != before


def test_an_unknown_judge_and_one_without_results(shop: nt.Tracker) -> None:
    for ask in (
        lambda: shop.compare("bm25", "dense", judge="human"),
        lambda: shop.rescore(judge="human"),
        lambda: shop.labels_agreement("human"),
    ):
        with pytest.raises(nt.InputError) as caught:
            ask()
        assert str(caught.value) == NO_JUDGE
    with pytest.raises(nt.NotComparableError) as lacking:
        shop.compare("bm25", "dense", judge="gpt")
    assert str(lacking.value) == (
        "runs 'bm25' and 'dense' do not both have a metric under one version of the labels of judge 'gpt'; type: "
        "ndcg-track rescore bm25 dense --dataset default --metric ndcg@10 --judge gpt"
    )
    with pytest.raises(nt.ReferenceNotFoundError) as other:
        shop.compare("bm25", "dense", judge="gpt", labels=1)
    assert str(other.value) == (
        "version 1 of the labels of dataset 'default' is of the unnamed judge, not of judge 'gpt'; see: "
        "ndcg-track labels list --dataset default"
    )
    with pytest.raises(nt.InputError) as empty:
        shop.add_labels(labels_of(GPT), judge="a\nb")
    assert str(empty.value) == "judge 'a\\nb': a name has no control characters or line breaks; give another one"


def test_a_dataset_whose_only_labels_are_of_a_named_judge(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of(GPT), judge="gpt")
    stored = tracker.ingest(frame_of(BM25), name="bm25")
    assert (stored.label_set_version, stored.judge, stored.further) == (1, "gpt", ())
    assert stored.metrics[0].mean == pytest.approx(results("ndcg@10", BM25, GPT).mean)
    assert str(stored).splitlines()[1].endswith(" (judge 'gpt')")
    tracker.ingest(frame_of(DENSE), name="dense")
    assert version_of(tracker.compare("bm25", "dense")) == version_of(tracker.compare("bm25", "dense", judge="gpt"))
    assert version_of(tracker.compare("bm25", "dense", labels="newest")) == (1, "gpt")
    assert tracker.history().judge.tolist() == ["gpt", "gpt"]
    assert tracker.leaderboard().leaderboard.labels.judge == "gpt"
    with pytest.warns(UserWarning, match="could change the order"):
        assert tracker.best().name == "bm25"
    assert tracker.gate("dense", baseline="bm25", margin=0.5).gated.comparison.label_set.judge == "gpt"
    assert tracker.explain("bm25", "dense").explanation.subject.candidate_labels.judge == "gpt"
    assert tracker.reproduce("bm25", "dense").to_dict()["label_set"]["judge"] == "gpt"
    assert tracker.reproduce("bm25", published=0.5).to_dict()["judge"] == "gpt"
    assert "judge 'gpt'" in str(tracker.compare_versions("bm25", "dense"))
    assert tracker.labels_needed("bm25", "dense").needed.label_set.judge == "gpt"
    assert tracker.conventions("bm25")[0].mean == stored.metrics[0].mean
    assert [run.judge for run in tracker.rescore(metrics="P@1")] == ["gpt", "gpt"]
    tracker.create_suite("all", ["default"])
    assert tracker.leaderboard(suite="all").leaderboard.labels.judge == "gpt"
    assert tracker.history_report(suite="all").rows[0]["judge"] == "gpt"
    assert tracker.compare("bm25", "dense", suite="all").comparisons[0].suite.each[0].label_set.judge == "gpt"
    with pytest.raises(nt.InputError) as caught:
        tracker.labels_agreement()
    assert str(caught.value) == (
        "dataset 'default' has no labels of the unnamed judge, only those of judge 'gpt'; choose with judge="
    )


def both_named(tracker: nt.Tracker) -> nt.Tracker:
    """Return a dataset whose labels are of gpt, version 1, and of human, version 2."""
    tracker.add_labels(labels_of(GPT), judge="gpt")
    tracker.add_labels(labels_of(LABELS), judge="human")
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(run), name=name, judge="*")
    return tracker


def test_of_several_named_judges_one_is_to_be_named(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of(GPT), judge="gpt")
    tracker.add_labels(labels_of(LABELS), judge="human")
    expected = (
        "dataset 'default' has labels of judges 'gpt' and 'human', but none without a judge; choose with judge='gpt'"
    )
    with pytest.raises(nt.InputError) as unclear:
        tracker.ingest(frame_of(BM25), name="bm25")
    assert str(unclear.value) == expected
    both = tracker.ingest(frame_of(BM25), name="bm25", judge=["human", "gpt"])
    assert [(under.judge, under.label_set_version) for under in both.under] == [("human", 2), ("gpt", 1)]
    assert [under.metrics[0].mean for under in both.under] == pytest.approx(
        [results("ndcg@10", BM25, labels).mean for labels in (LABELS, GPT)]
    )
    again = tracker.ingest(frame_of(BM25), name="bm25", judge="*")
    assert (again.outcome, again.judge) == ("already stored", "gpt")
    assert not any(stored.is_new for under in again.under for stored in under.metrics)
    tracker.ingest(frame_of(DENSE), name="dense", judge="gpt")
    asked: list[Callable[[], object]] = [
        lambda: tracker.compare("bm25", "dense"),
        lambda: tracker.gate("dense", baseline="bm25", margin=0.5),
        lambda: tracker.leaderboard(),
        lambda: tracker.history(),
        lambda: tracker.explain("bm25", "dense"),
        lambda: tracker.reproduce("bm25", "dense"),
        lambda: tracker.reproduce("bm25", published=0.5),
        lambda: tracker.labels_needed("bm25", "dense"),
        lambda: tracker.best(),
        lambda: tracker.rescore(),
        lambda: tracker.report("bm25", "dense"),
    ]
    for ask in asked:
        with pytest.raises(nt.InputError) as caught:
            ask()
        assert str(caught.value) == expected
    with pytest.raises(nt.NotComparableError) as lacking:
        tracker.compare("bm25", "dense", judge="human")
    assert str(lacking.value).endswith(
        "of judge 'human'; type: ndcg-track rescore bm25 dense --dataset default --metric ndcg@10 --judge human"
    )
    assert [(run.run, run.judge, len(run.metrics)) for run in tracker.rescore(judge="*")] == [
        *(("bm25", "gpt", 0), ("bm25", "human", 0), ("dense", "gpt", 0), ("dense", "human", 1)),
    ]
    for judge, labels in (("gpt", GPT), ("human", LABELS)):
        mean = pytest.approx(results("ndcg@10", DENSE, labels).mean)
        assert tracker.compare("bm25", "dense", judge=judge).comparisons[0].metrics[0].candidate == mean
        assert tracker.history(judge=judge)["mean"].tolist()[1] == mean
        (board,) = tracker.leaderboard(judge=judge).leaderboard.metrics
        assert any(standing.mean == mean for standing in board.standings)
        assert tracker.reproduce("dense", published=0.5, judge=judge).to_dict()["mean"] == mean
        assert tracker.explain("bm25", "dense", judge=judge).explanation.candidate == mean
    version = tracker.history(labels=2)
    assert (version.judge.tolist(), version.label_set_version.tolist()) == (["human"] * 2, [2, 2])
    assert tracker.explain("bm25", "dense", labels=1).explanation.subject.baseline_labels.judge == "gpt"
    assert version_of(tracker.compare("bm25", "dense", labels=2)) == (2, "human")
    assert tracker.labels_agreement().diff.first.judge == "gpt"
    with pytest.raises(nt.InputError) as several:
        tracker.rescore(labels=1, judge=["gpt", "human"])
    assert str(several.value) == "labels= does not go with several judges: a version has one judge; leave one out"


def test_labels_that_come_with_a_run_are_of_the_judge_that_is_named(tracker: nt.Tracker) -> None:
    given = tracker.ingest(frame_of(BM25), name="bm25", labels=labels_of(GPT), judge="gpt")
    assert (given.judge, given.label_set_version) == ("gpt", 1)
    with pytest.raises(nt.InputError) as several:
        tracker.ingest(frame_of(DENSE), name="dense", labels=labels_of(GPT), judge=["gpt", "human"])
    assert str(several.value) == (
        "the labels in a run belong to one judge, but 2 are named; name one, and add the labels of others "
        "with ndcg-track labels add FILE --judge NAME"
    )
    own = {"group": ["q1", "q1"], "item": ["a", "b"], "score": [2.0, 1.0], "label": [0.0, 1.0]}
    nobody = tracker.ingest(own, name="own")
    assert (nobody.judge, nobody.label_set_version) == ("", 2)
    assert tracker.ingest(own | {"label": [0.0, 3.0]}, name="of gpt", judge="gpt").label_set_version == 1
    with pytest.raises(nt.ConflictError, match=r"labels of judge 'gpt' of dataset 'default'; to replace those, make a"):
        tracker.ingest(own, name="other", judge="gpt")
    assert tracker.ingest(frame_of(DENSE), name="dense").judge == ""
    with pytest.raises(nt.InputError, match=r"^dataset 'default' has no labels of judge 'ada', only those of"):
        tracker.ingest(frame_of(DENSE), name="ada's", judge="ada")


def mostly(relevant: str, groups: list[str]) -> Run:
    """Return labels by which the first item is relevant, but the second one in every twentieth group."""
    return {group: {"a": 0, "b": 0, "c": 0} | {relevant[number % 20 == 0]: 1} for number, group in enumerate(groups)}


def test_a_row_for_every_judge_and_whether_the_verdict_turns(tracker: nt.Tracker) -> None:
    groups = [f"q{number:02}" for number in range(40)]
    for judge, relevant in (("gpt", "ab"), ("human", "ba")):
        tracker.add_labels(labels_of(mostly(relevant, groups)), judge=judge)
    tracker.ingest(frame_of({group: {"a": 2.0, "b": 1.0} for group in groups}), name="a first", judge="*")
    tracker.ingest(frame_of({group: {"a": 1.0, "b": 2.0} for group in groups}), name="b first", judge="*")
    found = tracker.compare_versions("a first", "b first", judge="*", newest_only=True)
    (conclusion,) = found.conclusions
    assert [(of.judge, of.version, of.verdict) for of in conclusion.verdicts] == [
        *(("gpt", 1, "regressed"), ("human", 2, "improved")),
    ]
    assert (conclusion.changes, conclusion.turns_between_judges) == (True, True)
    assert "2 versions of the labels of 2 judges: the verdict on ndcg@10 turns between judges" in " ".join(
        str(found).split()
    )
    assert found.to_dict()["conclusions"][0]["turns_between_judges"] is True
    rows = found.to_frame()
    assert rows[["judge", "label_set_version", "verdict"]].to_numpy().tolist() == [
        *(["gpt", 1, "regressed"], ["human", 2, "improved"]),
    ]
    tracker.add_labels(labels_of({group: {"a": 1, "b": 1} for group in groups}), judge="gpt")
    newest = tracker.compare_versions("a first", "b first", judge="*", newest_only=True).found
    assert ([of.label_set.version for of in newest.comparisons], newest.not_evaluated) == ([1, 2], ())
    every = tracker.compare_versions("a first", "b first", judge="*").found
    assert ([of.label_set.version for of in every.comparisons], every.not_evaluated) == (
        [1, 2],
        (("b first", 3, "gpt"),),
    )


def test_only_a_gate_under_the_same_judge_spends_of_the_same_alpha(tracker: nt.Tracker) -> None:
    both_named(tracker)

    margins = (0.5 + number * 1e-9 for number in range(9))

    def number(judge: str) -> int:
        return tracker.gate("dense", baseline="bm25", margin=next(margins), judge=judge).gated.basis.number

    assert [number(judge) for judge in ("gpt", "gpt", "human", "gpt", "human")] == [1, 2, 1, 3, 2]
    shown = tracker.sql("SELECT judge, decision_number FROM gate_decisions ORDER BY decision_id")
    assert shown.to_numpy().tolist() == [["gpt", 1], ["gpt", 2], ["human", 1], ["gpt", 3], ["human", 2]]
    tracker.create_suite("all", ["default"])
    for judge in ("gpt", "human", "human"):
        tracker.gate("dense", suite="all", baseline="bm25", margin=next(margins), judge=judge)
    shown = tracker.sql("SELECT judge, decision_number FROM suite_gate_decisions ORDER BY decision_id")
    assert shown.to_numpy().tolist() == [["gpt", 1], ["human", 1], ["human", 2]]


def test_two_judges_and_the_runs_under_each(shop: nt.Tracker) -> None:
    found = shop.labels_agreement("gpt")
    shop.rescore(judge="gpt")
    assert found == shop.labels_agreement()
    assert found == shop.labels_agreement("", "gpt")
    assert (found.diff.first.judge, found.diff.second.judge, found.diff.labels.in_both) == ("", "gpt", 6)
    assert found.kappa is not None
    assert found.kappa.n_groups == 3
    assert found.notes == ()
    with pytest.raises(nt.InputError) as twice:
        shop.labels_agreement("gpt", "gpt")
    assert str(twice.value) == "a comparison of judges needs two, not 'gpt', 'gpt'; name two"


def test_which_of_several_named_judges(shop: nt.Tracker) -> None:
    shop.add_labels(labels_of(LABELS), judge="crowd")
    with pytest.raises(nt.InputError) as caught:
        shop.labels_agreement()
    assert str(caught.value) == "dataset 'default' has labels of judges 'gpt', 'crowd'; choose with judge="
    assert shop.labels_agreement("crowd", "gpt").diff.first.judge == "crowd"


def test_a_judge_without_labels_begins_with_the_first_ranks_of_every_group(shop: nt.Tracker) -> None:
    found = shop.labels_needed("bm25", "dense", judge="ada", budget=None).needed
    firsts = {(group, max(run[group], key=run[group].__getitem__)) for run in (BM25, DENSE) for group in run}
    n = len(firsts)
    assert {(item.group, item.item) for item in found.items[:n]} == firsts
    assert (found.is_first_batch, found.label_set.judge, found.label_set.version) == (True, "ada", 0)
    assert {item.could_move for item in found.items} == {None}
    assert found.n_unjudged == len(found.items) == len({(g, i) for run in (BM25, DENSE) for g in run for i in run[g]})
    assert len(shop.labels_needed("bm25", "dense", judge="ada", budget=2).needed.items) == 2
    assert not shop.labels_needed("bm25", "dense", judge="gpt").needed.is_first_batch
    assert shop.labels_needed("bm25", "dense", labels=2).needed.label_set.judge == "gpt"


def test_every_judge_is_refused_where_one_counts(tracker: nt.Tracker) -> None:
    tracker.ingest({"q": {"a": 1.0}}, name="one", labels={"q": {"a": 1}})
    told = (
        r"^judge='\*' means every judge, but here only one can count; name one; only compare, ingest and "
        r"rescore accept all$"
    )
    with pytest.raises(nt.InputError, match=told):
        tracker.history("ndcg@10", judge="*")


def test_another_model_or_prompt_under_one_name_is_told(tracker: nt.Tracker, command: CommandLine) -> None:
    def added(grade: int, **origin: str) -> tuple[str, ...]:
        version, is_new = tracker.add_labels(labels_of({"q": {"a": grade}}), judge="gpt", **origin)
        assert is_new
        return tracker.change_of_labels(version)

    assert added(0, model="small", prompt="v1") == ()
    assert added(1) == ()  # nobody said which
    assert added(2, model="small", prompt="v2") == (
        "the labels of judge 'gpt' come from prompt 'v2', those before from 'v1'; another prompt is another judge, so "
        "give it a name of its own: ndcg-track labels add FILE --dataset default --judge NAME",
    )
    (note,) = added(3, model="large", prompt="v2")
    assert note.startswith(
        "the labels of judge 'gpt' come from model 'large', those before from 'small'; another model"
    )
    assert [(of.model, of.prompt) for of in tracker.label_versions()] == [
        ("small", "v1"),
        ("", ""),
        ("small", "v2"),
        ("large", "v2"),
    ]
    tracker.ingest(frame_of({"q": {"a": 1.0}}), name="bm25", judge="gpt")
    tracker.add_labels(labels_of({"q": {"a": 4}}), judge="gpt", model="large", from_runs=["bm25"])
    tracker.rename_run("bm25", "old")
    assert (tracker.label_versions()[-1].from_runs, tracker.label_versions()[-1].model) == (("old",), "large")
    assert command.rows("labels", "list")[0]["prompt"] == "v1"

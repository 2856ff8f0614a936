"""Several judges of one dataset: whose labels count, and how far two of them agree."""

from collections.abc import Callable

import numpy as np
import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.compare.gather import ComparisonResult

pytestmark = pytest.mark.both_engines

GPT: Run = {"q1": {"a": 0, "b": 3, "c": 0}, "q2": {"a": 2, "d": 2}, "q3": {"e": 1}, "q5": {"x": 1}}
NO_JUDGE = (
    "dataset 'default' has no labels of judge 'human', but those of the unnamed judge, judge 'gpt'; choose with judge="
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
    assert "  version 2 of judge 'gpt', digest" in str(by_judge)


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
    assert shop.add_labels(labels_of({"q1": {"a": 1}})) == (4, True)
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
    new = {"group": ["q9"], "item": ["z"], "score": [1.0], "label": [1]}
    assert shop.ingest(new, name="new").label_set_version == 3
    assert shop.labels_diff(1, 3).labels.new == 1


def test_weights_of_groups_reach_the_means_under_every_judge(shop: nt.Tracker) -> None:
    shop.rescore(metrics="ndcg(weights=group)@10", judge="gpt")
    before = shop.compare("bm25", "dense", judge="gpt").comparisons[0].metrics[0].baseline
    shop.set_groups({"group": ["q1"], "weight": [50.0]})
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
    with pytest.raises(nt.InputError, match=r"^dataset 'default' has no labels yet"):
        tracker.ingest(frame_of(BM25), name="bm25")
    with pytest.raises(nt.InputError) as caught:
        tracker.labels_agreement()
    assert str(caught.value) == (
        "dataset 'default' has no labels of the unnamed judge, but those of judge 'gpt'; choose with judge="
    )


def test_two_judges_and_the_runs_under_each(shop: nt.Tracker) -> None:
    left_out = shop.labels_agreement()
    assert (left_out.runs, left_out.kendall_tau, left_out.n_pairs) == ((), None, 0)
    assert left_out.notes[0].command == (
        *("ndcg-track", "rescore", "bm25", "dense", "--dataset", "default", "--metric", "ndcg@10", "--judge", "gpt"),
    )
    shop.rescore(judge="gpt")
    found = shop.labels_agreement("gpt")
    assert found == shop.labels_agreement("", "gpt")
    assert (found.diff.first.judge, found.diff.second.judge, found.diff.labels.in_both) == ("", "gpt", 6)
    assert found.kappa is not None
    assert found.kappa.n_groups == 3
    means = {run.run: (run.first, run.second) for run in found.runs}
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        assert means[name] == pytest.approx([results("ndcg@10", run, labels).mean for labels in (LABELS, GPT)])
    assert (found.kendall_tau, found.n_pairs, found.turned, found.notes) == (1.0, 1, (), ())
    with pytest.raises(nt.InputError) as twice:
        shop.labels_agreement("gpt", "gpt")
    assert str(twice.value) == "two judges are held against each other, not 'gpt', 'gpt'; name two"


def test_which_of_several_named_judges(shop: nt.Tracker) -> None:
    shop.add_labels(labels_of(LABELS), judge="crowd")
    with pytest.raises(nt.InputError) as caught:
        shop.labels_agreement()
    assert str(caught.value) == "dataset 'default' has labels of judges 'gpt', 'crowd'; choose with judge="
    assert shop.labels_agreement("crowd", "gpt").diff.first.judge == "crowd"


def test_verdicts_that_turn_are_those_of_a_comparison_under_each(tracker: nt.Tracker) -> None:
    random = np.random.default_rng(3)
    groups = [f"q{number:02}" for number in range(60)]
    runs: dict[str, Run] = {}
    for name, at in (("first", 0), ("second", 1), ("third", 2)):
        runs[name] = {group: {"abc"[(at + place) % 3]: 3.0 - place for place in range(3)} for group in groups}
    human: Run = {group: {"a": 2, "b": int(random.random() < 0.5), "c": 0} for group in groups}
    machine: Run = {group: {"a": 0, "b": 2, "c": int(random.random() < 0.3)} for group in groups}
    tracker.add_labels(labels_of(human))
    tracker.add_labels(labels_of(machine), judge="machine")
    for name, run in runs.items():
        tracker.ingest(frame_of(run), name=name)
    tracker.rescore(judge="machine")
    found = tracker.labels_agreement()
    assert [run.run for run in found.runs] == ["first", "third", "second"]
    assert found.kendall_tau == pytest.approx(-1 / 3)  # by hand: second, first, third under the other
    turned = {(one.baseline, one.candidate): one for one in found.turned}
    for pair, one in turned.items():
        for judge, told in (("", one.first), ("machine", one.second)):
            alone = tracker.compare(*pair, judge=judge).comparisons[0].metrics[0]
            assert (told.delta, told.verdict) == (alone.delta, alone.verdict)
            assert told.p_adjusted is not None
            assert alone.p_value is not None
            assert told.p_adjusted >= alone.p_value
    assert (turned["first", "second"].first.verdict, turned["first", "second"].second.verdict) == (
        *("regressed", "improved"),
    )


def test_equal_results_under_one_judge_turn_no_verdict_where_the_other_detects_no_difference(
    tracker: nt.Tracker,
) -> None:
    groups = [f"q{number:02}" for number in range(20)]
    human: Run = {group: {"a": 1, "b": 1, "c": 0} for group in groups}
    machine: Run = {group: {"a": 1, "b": place % 2 * 2, "c": 0} for place, group in enumerate(groups)}
    tracker.add_labels(labels_of(human))
    tracker.add_labels(labels_of(machine), judge="machine")
    tracker.ingest(frame_of({group: {"a": 2.0, "b": 1.0} for group in groups}), name="a first")
    tracker.ingest(frame_of({group: {"a": 1.0, "b": 2.0} for group in groups}), name="b first")
    tracker.rescore(judge="machine")
    verdicts = [
        tracker.compare("a first", "b first", judge=judge).comparisons[0].metrics[0].verdict
        for judge in ("", "machine")
    ]
    assert verdicts == ["identical", "no_difference_detected"]
    assert tracker.labels_agreement().turned == ()

"""Versions of labels from Python: listed, side by side, and a comparison under one or all of them."""

from collections.abc import Callable

import pytest
from rankings_of import labels_of
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.runs import labels as label_sets

NEW_LABELS: Run = {"q1": {"a": 1, "b": 2, "x": 1}, "q2": {"a": 1, "d": 2}, "q9": {"x": 1}}


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs under version 1 of the labels, and a version 2 that a third run alone is evaluated under."""

    def ingest(url: str) -> None:
        with nt.Tracker(url) as opened:
            opened.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "P@1"])
            opened.ingest(frame_of(DENSE), name="dense", labels=labels_frame(), metrics=["ndcg@10", "P@1"])
            opened.add_labels(labels_of(NEW_LABELS), source="new", replace=True)
            opened.ingest(frame_of(DENSE), name="late")

    fill_as(ingest)
    return tracker


def test_versions_are_listed_with_what_they_hold(shop: nt.Tracker) -> None:
    one, other = shop.label_versions()
    assert (one.version, one.n_groups, one.n_items, one.n_labels, one.n_runs) == (1, 5, 7, 8, 2)
    assert (other.version, other.n_groups, other.n_items, other.n_labels, other.n_runs) == (2, 3, 4, 6, 1)
    assert one.digest == labels_of(LABELS).digest()
    assert [(grade.grade, grade.n) for grade in other.grades] == [(1.0, 4), (2.0, 2)]


def test_many_labels_are_counted_some_groups_at_a_time(shop: nt.Tracker, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shop.label_versions()
    monkeypatch.setattr(label_sets, "HELD_LABELS", 0)
    monkeypatch.setattr(label_sets, "GROUPS_AT_ONCE", 2)
    assert shop.label_versions() == whole


def test_a_dataset_without_labels(tracker: nt.Tracker) -> None:
    tracker.add_labels(labels_of(LABELS))
    with tracker.store().write() as tx:
        tx.write.datasets.ensure("empty")
    assert tracker.label_versions("empty") == []
    with pytest.raises(nt.InputError) as caught:
        tracker.labels_diff(1, dataset="empty")
    assert str(caught.value) == "dataset 'empty' has no labels; add them with ndcg-track labels add FILE"


def test_a_version_is_held_against_the_newest(shop: nt.Tracker) -> None:
    assert shop.labels_diff(1) == shop.labels_diff(1, 2)
    found = shop.labels_diff(2, 2)
    assert (found.agreement, found.changes, found.groups.gone) == (1.0, (), 0)
    with pytest.raises(nt.ReferenceNotFoundError) as caught:
        shop.labels_diff(1, 0)
    assert str(caught.value) == (
        "no version 0 of the labels of dataset 'default' (it has 1 to 2); see: ndcg-track labels list --dataset default"
    )


@pytest.mark.parametrize("labels", ["all", "1", 1.0, True])
def test_what_is_no_version(shop: nt.Tracker, labels: object) -> None:
    with pytest.raises(nt.InputError) as caught:
        shop.compare("bm25", "dense", labels=labels)  # type: ignore[arg-type]
    assert (
        str(caught.value) == f"labels {labels!r} is not a version; give a number, such as labels=1, or labels='newest'"
    )


def test_a_comparison_under_a_version_can_be_drawn(shop: nt.Tracker) -> None:
    shop.rescore()
    found = shop.compare("bm25", "dense", labels=1)
    assert found.comparisons[0].label_set.version == 1
    assert shop.compare("bm25", "dense").comparisons[0].label_set.version == 2
    assert found.plot("every").spec  # refused where it would read other groups than these


def test_each_version_has_the_comparison_that_it_has_alone(shop: nt.Tracker) -> None:
    shop.rescore(["bm25", "dense"], metrics=["ndcg@10"])
    found = shop.compare_versions("bm25", "dense")
    metrics = [[metric.metric for metric in one.metrics] for one in found.found.comparisons]
    assert metrics == [["ndcg@10", "P@1"], ["ndcg@10"]]
    one, other = found.found.comparisons
    assert one.metrics == shop.compare("bm25", "dense", labels=1).comparisons[0].metrics
    assert other.metrics == shop.compare("bm25", "dense", labels=2).comparisons[0].metrics
    assert [(conclusion.metric, conclusion.changes) for conclusion in found.conclusions] == [
        ("ndcg@10", False),
        ("P@1", False),
    ]
    assert found.to_frame()["label_set_version"].tolist() == [1, 1, 2]


def test_candidates_come_one_after_the_other_each_with_its_versions(shop: nt.Tracker) -> None:
    shop.rescore(["bm25", "dense"], metrics=["ndcg@10"])
    found = shop.compare_versions("bm25", "late", "dense", metrics="ndcg@10")
    of = [(one.candidate.name, one.label_set.version) for one in found.found.comparisons]
    assert of == [("late", 2), ("dense", 1), ("dense", 2)]
    assert found.found.not_evaluated == (("late", 1, ""),)
    joint = shop.compare("bm25", "late", "dense", metrics="ndcg@10", labels=2)
    assert found.found.comparisons[0].metrics == joint.comparisons[0].metrics
    assert found.notes == (
        "no results under version 1 of the labels for 'late' and the baseline together; to add the results: "
        "ndcg-track rescore bm25 late --dataset default --metric ndcg@10 --labels 1",
    )
    text = str(found)
    assert text.startswith("late against bm25 on default, 1 version of the labels: nothing to compare it with\n")
    assert "\ndense against bm25 on default, 2 versions of the labels: the conclusion is the same under each\n" in text
    assert found.to_html() == found._repr_html_()


def test_runs_of_two_datasets_have_no_version_in_common(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="other", labels=labels_frame(), dataset="site")
    with pytest.raises(nt.NotComparableError, match="only runs of one dataset can be compared"):
        shop.compare_versions("bm25", "other")


def test_runs_are_scored_under_an_older_version(shop: nt.Tracker) -> None:
    (late,) = shop.rescore(["late"], labels=1)
    assert (late.label_set_version, [metric.metric for metric in late.metrics]) == (1, ["ndcg@10"])
    compared = shop.compare("dense", "late", labels=1).comparisons[0].metrics[0]
    assert (compared.verdict, late.metrics[0].mean) == ("identical", pytest.approx(compared.candidate, abs=1e-12))


def test_arms_under_every_version(shop: nt.Tracker) -> None:
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        shop.ingest(frame_of({**run, "q1": {"c": 2.0, "a": 1.0}}), name=f"{name}2", labels=labels_frame())
        for one in (name, f"{name}2"):
            shop.tag_run(one, {"arm": name})
    found = shop.compare_versions("tag:arm=bm25", "tag:arm=dense", metrics="ndcg@10")
    assert [one.label_set.version for one in found.found.comparisons] == [1]
    assert found.found.not_evaluated == (("tag:arm=dense", 2, ""),)
    shop.rescore(metrics="ndcg@10")
    found = shop.compare_versions("tag:arm=bm25", "tag:arm=dense", metrics="ndcg@10")
    for comparison in found.found.comparisons:
        version = comparison.label_set.version
        alone = shop.compare("tag:arm=bm25", "tag:arm=dense", metrics="ndcg@10", labels=version).comparisons[0]
        assert comparison.metrics == alone.metrics
    assert [one.version for one in found.conclusions[0].verdicts] == [1, 2]

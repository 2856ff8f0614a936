"""``Tracker.rescore``: stored runs under further metrics or newer labels."""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt
from ndcg_tracker.runs import rescore as rescoring
from ndcg_tracker.runs.question import LabelsKept
from ndcg_tracker.runs.rescore import LabelsAdded, store_labels
from ndcg_tracker.storage.records import LabelOrigin
from ndcg_tracker.storage.store import Store, WriteTransaction

NEW_LABELS: Run = {**LABELS, "q2": {"a": 3, "d": 1, "x": 2}}


def fill_shop(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "dcg@3"])
        tracker.ingest(frame_of(DENSE), name="dense")
        tracker.add_labels(labels_of(NEW_LABELS))


@pytest.fixture
def shop(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """Two runs under labels version 1, and newer labels that neither was evaluated under."""
    fill_as(fill_shop)
    return tracker


def test_all_runs_under_the_metrics_that_each_has(shop: nt.Tracker) -> None:
    found = shop.rescore()
    assert [(run.run, run.dataset, run.label_set_version, [one.metric for one in run.metrics]) for run in found] == [
        ("bm25", "default", 2, ["ndcg@10", "dcg@3"]),
        ("dense", "default", 2, ["ndcg@10"]),
    ]
    for run, ranking in zip(found, (BM25, DENSE), strict=True):
        for one in run.metrics:
            assert one.mean == results(one.metric, ranking, NEW_LABELS).mean
            assert one.is_new
    assert [(e.metric, e.label_set_version) for e in shop.run("dense")[1]] == [("ndcg@10", 1), ("ndcg@10", 2)]


def test_a_second_time_there_is_nothing_to_do(shop: nt.Tracker, ready_url: str) -> None:
    shop.rescore()
    before = row_counts(ready_url)
    assert [run.metrics for run in shop.rescore()] == [(), ()]
    assert row_counts(ready_url) == before


def test_named_runs_and_metrics_only(shop: nt.Tracker) -> None:
    (found,) = shop.rescore(["dense"], metrics=["dcg@1", "ndcg@10", "dcg(gain=linear)@1"])
    assert (found.run, [one.metric for one in found.metrics]) == ("dense", ["dcg@1", "ndcg@10"])
    assert len(shop.run("bm25")[1]) == 2


def test_of_one_dataset(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="bm25", dataset="other", labels=labels_frame())
    assert [(run.run, run.dataset) for run in shop.rescore(dataset="other", metrics=["dcg@9"])] == [("bm25", "other")]
    assert [run.dataset for run in shop.rescore(metrics=["dcg@8"])] == ["default", "default", "other"]


def test_one_metric_that_refuses_leaves_nothing_behind(shop: nt.Tracker, ready_url: str) -> None:
    before = row_counts(ready_url)
    with pytest.raises(nt.MetricError):
        shop.rescore(metrics=["dcg@7", "ndcg(missing=error)@10"])
    assert row_counts(ready_url) == before


def test_what_is_not_there_is_refused(shop: nt.Tracker) -> None:
    for references, dataset, message in [
        (["densee"], None, "no run 'densee'; did you mean 'dense'?"),
        ([], "defalt", "no dataset 'defalt'; did you mean 'default'?"),
        (["dense"], "shop", "no dataset 'shop'; there is only 'default': name it with dataset='default'"),
    ]:
        with pytest.raises(nt.ReferenceNotFoundError) as caught:
            shop.rescore(references, dataset=dataset)
        assert str(caught.value) == message


def test_coverage_follows_the_labels(shop: nt.Tracker) -> None:
    shop.rescore(["bm25"], metrics=["dcg@3"])
    frame = shop.sql(
        "SELECT label_set_version, judged_share FROM label_coverage WHERE run = 'bm25' AND cutoff = 3 "
        "ORDER BY label_set_version"
    )
    before, after = frame["judged_share"]
    assert (before, after) == (pytest.approx(11 / 15), pytest.approx((1 + 1 + 1 / 2 + 1 + 1 / 2) / 5))


def test_labels_and_the_evaluations_under_them_come_together(tracker: nt.Tracker, ready_url: str) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "dcg@3"])
    tracker.ingest(frame_of(DENSE), name="dense", metrics=["ndcg@10", "ndcg(extra=error)@10"])
    before = row_counts(ready_url)
    with pytest.raises(nt.MetricError, match="group 'q1'"):
        tracker.add_labels({"q2": {"a": 1}}, replace=True, rescore=True)  # dense has groups without labels then
    assert row_counts(ready_url) == before
    added = tracker.add_labels(NEW_LABELS, rescore=True)
    assert added == (2, True)
    assert (added.version, added.is_new) == (2, True)
    assert [(run.run, run.label_set_version, [one.metric for one in run.metrics]) for run in added.rescored] == [
        ("bm25", 2, ["ndcg@10", "dcg@3"]),
        ("dense", 2, ["ndcg@10", "ndcg(extra=error)@10"]),
    ]
    for run, ranking in zip(added.rescored, (BM25, DENSE), strict=True):
        assert [one.mean for one in run.metrics] == [
            results(one.metric, ranking, NEW_LABELS).mean for one in run.metrics
        ]
    again = tracker.add_labels(NEW_LABELS, rescore=True)
    assert again == (2, False)
    assert [run.metrics for run in again.rescored] == [(), ()]
    older = tracker.add_labels(LABELS, rescore=True)  # those that are given, not the newest
    assert older == (1, False)
    assert [run.label_set_version for run in older.rescored] == [1, 1]
    copied = pickle.loads(pickle.dumps(added))
    assert isinstance(copied, LabelsAdded)
    assert (copied, copied.rescored) == (added, added.rescored)


def test_only_runs_of_the_dataset_are_rescored_with_its_labels(shop: nt.Tracker) -> None:
    shop.ingest(frame_of(BM25), name="bm25", dataset="other", labels=labels_frame())
    added = shop.add_labels({"q1": {"a": 1}}, dataset="other", replace=True, rescore=True)
    assert [(run.run, run.dataset, run.label_set_version) for run in added.rescored] == [("bm25", "other", 2)]
    assert shop.add_labels(LABELS, dataset="third", rescore=True).rescored == ()


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("n_held", [0, 20, 1 << 20])
def test_it_is_the_same_however_much_is_computed_ahead(
    shop: nt.Tracker, monkeypatch: pytest.MonkeyPatch, n_held: int
) -> None:
    monkeypatch.setattr(rescoring, "HELD_RESULTS", n_held)
    query = "SELECT run, metric, group_key, value FROM group_history WHERE label_set_version = {} ORDER BY 1, 2, 3"
    shop.rescore()
    shop.add_labels(NEW_LABELS, dataset="default", judge="other", rescore=True)
    one, other = (shop.sql(query.format(version)).to_dict("records") for version in (2, 3))
    assert one
    assert one == other


class Meanwhile(Store):
    """A store in which others write something each time before its own writer begins."""

    others: Callable[[], object]

    @contextmanager
    def write(self, *turn: object, **more: object) -> Iterator[WriteTransaction]:
        self.others()
        with super().write(*turn, **more) as tx:  # type: ignore[arg-type]
            yield tx


def test_what_others_store_meanwhile_counts(shop: nt.Tracker, ready_url: str) -> None:
    changed: Run = {**DENSE, "q1": {"a": 1.0, "x": 2.0}}

    def others() -> None:
        with nt.Tracker(ready_url) as other:
            other.ingest(frame_of(changed), name="dense", replace=True)
            other.ingest(frame_of(BM25), name="late")
            other.delete_run("bm25")

    newest: Run = {**NEW_LABELS, "q3": {"c": 3}}
    with Meanwhile.open(ready_url) as store:
        store.others = others
        added = store_labels(store, LabelsKept(rescore=True), labels_of(newest), LabelOrigin())
    wanted = {"dense": changed, "late": BM25}
    assert {run.run: [(one.metric, one.mean) for one in run.metrics] for run in added.rescored} == {
        name: [("ndcg@10", results("ndcg@10", run, newest).mean)] for name, run in wanted.items()
    }


def test_labels_that_others_add_meanwhile_are_in_the_union(shop: nt.Tracker, ready_url: str) -> None:
    theirs, ours = {"q2": {"w": 1.0}}, {"q1": {"w": 2.0}}

    def others() -> None:
        with nt.Tracker(ready_url) as other:
            other.add_labels(theirs, extend=True)

    with Meanwhile.open(ready_url) as store:
        store.others = others
        added = store_labels(store, LabelsKept(extend=True, rescore=True), labels_of(ours), LabelOrigin())
    union = {**NEW_LABELS, "q1": {**NEW_LABELS["q1"], "w": 2.0}, "q2": {**NEW_LABELS["q2"], "w": 1.0}}
    assert added == (4, True)
    assert [run.metrics[0].mean for run in added.rescored] == [
        results("ndcg@10", run, union).mean for run in (BM25, DENSE)
    ]

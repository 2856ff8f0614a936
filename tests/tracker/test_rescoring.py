"""``Tracker.rescore``: stored runs under further metrics or newer labels."""

import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame
from stored_rows import row_counts

import ndcg_tracker as nt

pytestmark = pytest.mark.both_engines

NEW_LABELS: Run = {**LABELS, "q2": {"a": 3, "d": 1, "x": 2}}


@pytest.fixture
def shop(tracker: nt.Tracker) -> nt.Tracker:
    """Two runs under labels version 1, and newer labels that neither was evaluated under."""
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), metrics=["ndcg@10", "dcg@3"])
    tracker.ingest(frame_of(DENSE), name="dense")
    tracker.add_labels(labels_of(NEW_LABELS))
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

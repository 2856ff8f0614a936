"""``Tracker.history``: a metric over the runs of a dataset."""

import pandas as pd
import pytest
from rankings_of import labels_of, results
from small_shop import BM25, DENSE, LABELS, Run, frame_of, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.comparison import t_interval

NEW_LABELS: Run = {**LABELS, "q2": {"a": 3, "d": 1}}


def test_one_row_per_run_oldest_first(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="b", labels=labels_frame(), dataset="shop")
    tracker.ingest(frame_of(DENSE), name="a", dataset="shop")
    tracker.ingest(frame_of(DENSE), name="without", dataset="shop", metrics="dcg@3")
    tracker.ingest(frame_of(BM25), name="elsewhere", labels=labels_frame())
    frame = tracker.history("ndcg(gain=linear)@10", dataset="shop")
    assert list(frame.columns) == ["run", "run_id", "created_at_utc", "metric", "mean", "ci_low", "ci_high"]
    assert list(frame["run"]) == ["b", "a"]
    assert set(frame["metric"]) == {"ndcg@10"}
    for row, ranking in zip(frame.itertuples(), (BM25, DENSE), strict=True):
        expected = results("ndcg@10", ranking, LABELS)
        assert row.mean == expected.mean
        low, high = t_interval(expected.mean or 0.0, float(expected.values.std(ddof=1)), 5) or (0, 0)
        assert (row.ci_low, row.ci_high) == (pytest.approx(low), pytest.approx(high))


def test_a_run_stands_once_under_the_newest_labels_it_was_held_to(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    tracker.ingest(frame_of(DENSE), name="dense")
    tracker.add_labels(labels_of(NEW_LABELS))
    tracker.rescore(["bm25"])
    frame = tracker.history()
    assert list(frame["run"]) == ["bm25", "dense"]
    assert list(frame["mean"]) == [
        results("ndcg@10", BM25, NEW_LABELS).mean,
        results("ndcg@10", DENSE, LABELS).mean,
    ]


def test_what_has_no_interval_has_none(tracker: nt.Tracker) -> None:
    tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [0]}, name="one", metrics=[
        "ndcg@10", "ndcg(empty=skip)@10",
    ])  # fmt: skip
    assert tracker.history_rows("ndcg@10")[0]["ci"] is None
    assert tracker.history_rows("ndcg(empty=skip)@10")[0]["mean"] is None
    frame = tracker.history("ndcg(empty=skip)@10")
    assert frame[["mean", "ci_low", "ci_high"]].isna().all(axis=None)


def test_a_metric_that_no_run_has_is_an_empty_frame(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame())
    frame = tracker.history("dcg@3")
    assert isinstance(frame, pd.DataFrame)
    assert (len(frame), frame.columns[0]) == (0, "run")


def test_an_unknown_dataset_and_a_wrong_metric_are_refused(tracker: nt.Tracker) -> None:
    tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), dataset="shop")
    with pytest.raises(nt.ReferenceNotFoundError, match=r"^no dataset 'default'; there are shop$"):
        tracker.history()
    with pytest.raises(nt.MetricError):
        tracker.history("ndgc@10", dataset="shop")

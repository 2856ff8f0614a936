"""The requested text of a metric: kept with the evaluation, whatever happens to the run."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from rankings_of import labels_of
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame, write_trec

import ndcg_tracker as nt
from ndcg_tracker.errors import InputError, MetricError

ASKED = ["ndcg@10", "map,P_1,2", "lightgbm:ndcg@2"]
TEXTS = ["ndcg@10", "map", "P_1", "P_2", "lightgbm:ndcg@2"]
EVERY = "SELECT run, label_set_version, metric, requested_as FROM run_summary ORDER BY run, label_set_version, metric"


def fill_asked(url: str) -> None:
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), labels=labels_frame(), name="bm25", metrics=ASKED)


@pytest.fixture
def asked(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker) -> nt.Tracker:
    """A run whose metrics were requested by other names."""
    fill_as(fill_asked)
    return tracker


def requested(tracker: nt.Tracker, run: str, version: int = 1) -> dict[str, str]:
    """Return the text that each metric of a run was requested as."""
    return {row[2]: row[3] for row in tracker.query(EVERY).rows if row[:2] == (run, version)}


def test_results_have_the_names_that_were_given() -> None:
    found = nt.evaluate(frame_of(BM25), "ndcg@10, map", labels=labels_frame())
    assert list(found.per_group.columns) == ["ndcg@10", "map"]
    assert list(nt.evaluate(frame_of(BM25), [*ASKED, "AP"], labels=labels_frame()).mean.index) == [*TEXTS, "AP"]
    both = nt.evaluate(frame_of(BM25), ["map", "AP"], labels=labels_frame()).mean
    assert both["map"] == both["AP"]
    with pytest.raises(InputError, match=r"^no metric was given; name at least one, such as ndcg@10$"):
        nt.evaluate(frame_of(BM25), [], labels=labels_frame())


def test_the_first_text_stays(asked: nt.Tracker) -> None:
    before = requested(asked, "bm25")
    assert len(before) == len(TEXTS)
    assert set(before.values()) == set(TEXTS)
    again = asked.ingest(frame_of(BM25), name="bm25", metrics="AP,precision@1,nDCG@10")
    assert [(one.metric, one.requested_as, one.is_new) for one in again.metrics] == [
        ("AP", "map", False),
        ("P@1", "P_1", False),
        ("ndcg@10", "ndcg@10", False),
    ]
    assert requested(asked, "bm25") == before
    twice = asked.ingest(frame_of(DENSE), name="dense", metrics=["MAP", "AP", "map"])
    assert [one.requested_as for one in twice.metrics] == ["MAP"]


def test_a_run_read_in_blocks_keeps_it_too(tracker: nt.Tracker, tmp_path: Path) -> None:
    from ndcg_tracker.ingest.reading import stream_run
    from ndcg_tracker.runs.ingest import RunDetails

    write_trec(tmp_path / "bm25.run", BM25)
    blocks = stream_run(str(tmp_path / "bm25.run"))
    found = tracker.ingest_stream(blocks, labels_of(LABELS), RunDetails("bm25", "default"), ["map", "P_1"])
    assert [one.requested_as for one in found.metrics] == ["map", "P_1"]


def test_rescore_carries_it_to_newer_labels(asked: nt.Tracker) -> None:
    before = requested(asked, "bm25")
    asked.add_labels(labels_of({**LABELS, "q1": {"a": 1}}))
    (rescored,) = asked.rescore(["bm25"])
    assert {one.metric: one.requested_as for one in rescored.metrics} == before
    assert requested(asked, "bm25", 2) == requested(asked, "bm25", 1) == before
    (named,) = asked.rescore(["bm25"], metrics="mrr,recall_5,10")
    assert {one.metric: one.requested_as for one in named.metrics} == {
        "RR": "mrr",
        "R@5": "recall_5",
        "R@10": "recall_10",
    }


def test_an_export_carries_it(asked: nt.Tracker, tmp_path: Path) -> None:
    asked.export_runs(tmp_path / "out", ["bm25"])
    with nt.Tracker(tmp_path / "other.db") as other:
        other.ingest(frame_of(DENSE), labels=labels_frame(), name="dense")
        other.import_runs(tmp_path / "out")
        assert requested(other, "bm25") == requested(asked, "bm25")


def test_an_export_of_an_older_program_is_read(asked: nt.Tracker, tmp_path: Path) -> None:
    asked.export_runs(tmp_path / "out", ["bm25"])
    path = tmp_path / "out" / "evaluations.parquet"
    pq.write_table(pq.read_table(path).drop_columns("requested_as"), path)
    with nt.Tracker(tmp_path / "other.db") as other:
        other.ingest(frame_of(DENSE), labels=labels_frame(), name="dense")
        other.import_runs(tmp_path / "out")
        found = requested(other, "bm25")
        assert found == {metric: metric for metric in requested(asked, "bm25")}


def test_an_export_with_what_nobody_can_type_is_refused(asked: nt.Tracker, tmp_path: Path) -> None:
    asked.export_runs(tmp_path / "out", ["bm25"])
    path = tmp_path / "out" / "evaluations.parquet"
    table = pq.read_table(path)
    column = table.schema.get_field_index("requested_as")
    pq.write_table(table.set_column(column, "requested_as", [["a\0b"] * table.num_rows]), path)
    with nt.Tracker(tmp_path / "other.db") as other:
        other.ingest(frame_of(DENSE), labels=labels_frame(), name="dense")
        with pytest.raises(InputError, match=r"row 1 has a text with a NUL character in requested_as"):
            other.import_runs(tmp_path / "out")


def test_compare_and_history_tell_it(asked: nt.Tracker) -> None:
    asked.ingest(frame_of(DENSE), name="dense", metrics="AP,precision@1,lightgbm:ndcg@2")
    found = asked.compare("bm25", "dense", metrics="MAP,P_1,lightgbm:ndcg@2", missing="zero")
    told = {one["metric"]: one["requested_as"] for one in found.to_dict()["metrics"]}
    assert list(told.values()) == ["map", "precision@1", "lightgbm:ndcg@2"]
    assert list(told)[:2] == ["AP", "P@1"]
    assert list(asked.history("map")["requested_as"]) == ["map", "AP"]
    decided = asked.gate("dense", baseline="bm25", metric="map", scope="set", dry_run=True)
    assert decided.to_dict()["metrics"][0]["requested_as"] == "map"


def test_one_metric_is_one(asked: nt.Tracker) -> None:
    for ask in (
        lambda: asked.history("map,mrr"),
        lambda: asked.gate("bm25", baseline="bm25", metric="map,mrr", scope="set"),
        lambda: asked.explain("bm25", "bm25", metric="map,mrr"),
    ):
        with pytest.raises(MetricError, match=r"^'map,mrr' names 2 metrics \(map and mrr\); give one of them$"):
            ask()

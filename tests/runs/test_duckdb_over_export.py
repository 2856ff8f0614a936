"""The real DuckDB over the Parquet files of an export: SQL gives the numbers that the views give, on either engine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest
from small_shop import BM25, DENSE, LABELS, frame_of

import ndcg_tracker as nt

NEWER = {**LABELS, "q5": {"h": 1, "x": 2}}
QUESTIONS = {
    "means": (
        "SELECT run, metric, label_set_version, mean, n_groups, n_missing, n_undefined FROM 'evaluations.parquet'",
        "SELECT run, metric, label_set_version, mean, n_groups, n_missing, n_undefined FROM run_summary",
    ),
    "values of groups": (
        "SELECT run, metric, label_set_version, group_key, value FROM 'group_results.parquet'",
        "SELECT run, metric, label_set_version, group_key, value FROM group_history",
    ),
    "differences": (
        """SELECT o.metric, o.label_set_version, group_key, n.value - o.value FROM 'group_results.parquet' o
           JOIN 'group_results.parquet' n USING (dataset, metric, label_set_version, group_key)
           WHERE o.run = 'bm25' AND n.run = 'it''s dense'""",
        """SELECT metric, label_set_version, group_key, delta FROM group_diff
           WHERE baseline = 'bm25' AND candidate = 'it''s dense'""",
    ),
    "items": (
        "SELECT run, group_key, rank, item_key, score FROM 'items.parquet'",
        "SELECT run, group_key, rank, item_key, score FROM items",
    ),
    "labels": (
        "SELECT label_set_version, group_key, item_key, grade FROM 'labels.parquet'",
        "SELECT label_set_version, group_key, item_key, grade FROM labels",
    ),
    "coverage": (
        """SELECT r.name, l.version, nullif(cutoff, 0), judged_share FROM 'coverages.parquet' c
           JOIN 'runs.parquet' r ON r.id = c.run_id JOIN 'label_sets.parquet' l ON l.id = c.label_set_id""",
        "SELECT run, label_set_version, cutoff, judged_share FROM label_coverage",
    ),
    "attributes": (
        "SELECT key, attributes ->> 'device' FROM 'groups.parquet' WHERE attributes IS NOT NULL",
        "SELECT group_key, value FROM group_attributes WHERE attribute = 'device'",
    ),
    "parameters": (
        "SELECT name, parameters ->> 'k1' FROM 'runs.parquet' WHERE parameters ->> 'k1' IS NOT NULL",
        "SELECT run, value FROM run_parameters WHERE name = 'k1'",
    ),
}


def fill(url: str) -> None:
    asked: dict[str, Any] = {"dataset": "shop", "metrics": ["ndcg@10", "ndcg(missing=skip)@3", "AP"]}
    with nt.Tracker(url) as tracker:
        tracker.ingest(frame_of(BM25), labels=frame_of(LABELS, "label"), name="bm25", parameters={"k1": "0.9"}, **asked)
        tracker.ingest(frame_of(DENSE), name="it's dense", **asked)
        tracker.ingest(frame_of(BM25), labels=frame_of(NEWER, "label"), name="bm25", **asked)
        tracker.set_groups({"group": ["q1", "q2"], "device": ["phone", "tv"]}, dataset="shop")


@pytest.fixture
def exported(fill_as: Callable[[Callable[[str], object]], None], tracker: nt.Tracker, tmp_path: Path) -> Path:
    """The export of two runs under two versions of the labels, with an undefined group and an unjudged item."""
    fill_as(fill)
    tracker.export_runs(tmp_path / "export")
    return tmp_path / "export"


def sortable(rows: list[tuple[object, ...]]) -> list[tuple[tuple[bool, object], ...]]:
    """Return rows in one order, whatever is NULL in them."""
    return sorted(tuple((value is None, 0 if value is None else value) for value in row) for row in rows)


@pytest.mark.nightly
def test_duckdb_gives_the_numbers_of_the_views(tracker: nt.Tracker, exported: Path) -> None:
    for question, (over_files, over_views) in QUESTIONS.items():
        with duckdb.connect() as duck:
            duck.execute(f"SET file_search_path = '{exported}'")
            found = duck.execute(over_files).fetchall()
        expected = [tuple(row) for row in tracker.query(over_views).rows]
        assert expected, question
        assert sortable(found) == sortable(expected), question


@pytest.mark.nightly
def test_duckdb_averages_to_the_mean(tracker: nt.Tracker, exported: Path) -> None:
    with duckdb.connect() as duck:
        duck.execute(f"SET file_search_path = '{exported}'")
        averages = duck.execute(
            "SELECT run, metric, label_set_version, avg(value), count(value) FROM 'group_results.parquet' GROUP BY ALL"
        ).fetchall()
    stored = tracker.query("SELECT run, metric, label_set_version, mean, n_groups FROM run_summary").rows
    means = {tuple(row[:3]): tuple(row[3:]) for row in stored}
    assert {row[:3]: row[3:] for row in averages} == {
        key: (pytest.approx(mean, rel=1e-15), n_groups) for key, (mean, n_groups) in means.items()
    }

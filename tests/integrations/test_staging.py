"""A run staged by several tasks and published as one, on a real Postgres, without Spark: test_spark.py has that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest

import ndcg_tracker as nt
from ndcg_tracker.errors import DatabaseError, InputError, NameTakenError
from ndcg_tracker.integrations.batches import SIDE
from ndcg_tracker.integrations.staging import Items, StagedPart, Staging, kept_share, logged, stage_groups
from ndcg_tracker.tracker.ingest import IngestResult, RunDetails

pytestmark = pytest.mark.usefixtures("postgres_schema")
METRICS = ["ndcg@3", "RR", "AP(ties=pessimistic)"]


def rows_of(n_groups: int = 12, seed: int = 1) -> pa.Table:
    """Return rows sorted by group, with ties, unjudged items, items that were not retrieved, and a group without labels."""
    rng = np.random.default_rng(seed)
    n = 8 * n_groups
    columns = {
        "group": pa.array([f"q{number:02}" for number in np.repeat(np.arange(n_groups), 8)]),
        "item": pa.array([f"é{item}" if item % 2 else str(item) for item in np.tile(np.arange(8), n_groups)]),
        "score": pa.array(rng.normal(size=n).round(1), mask=rng.random(n) < 0.1),
        "label": pa.array(rng.integers(0, 3, n).astype(float), mask=(rng.random(n) < 0.3) | (np.arange(n) < 8)),
    }
    return pa.table(columns)


def partitions(rows: pa.Table, n: int = 3) -> list[pa.Table]:
    """Return the rows in as many parts of whole groups."""
    parts = np.array([int(group[1:]) % n for group in rows["group"].to_pylist()])
    return [rows.filter(pa.array(parts == number)) for number in range(n)]


def staged(tables: Sequence[pa.Table]) -> Callable[[Staging], list[StagedPart]]:
    """Return what stages each table once."""
    return lambda staging: [stage_groups(table.to_batches(5), staging, at) for at, table in enumerate(tables)]


def log(url: str, stage: Callable[[Staging], Sequence[StagedPart]], items: Items = "none", **more: Any) -> IngestResult:
    given = {"labels": "with", "kept_share": kept_share(items, 0.5)} | more
    details = RunDetails(given.pop("name", "run"), "shop")
    with nt.Tracker(url) as tracker:
        return logged(tracker.store(), stage, details, given.pop("metrics", METRICS), **given)


def counts(url: str) -> dict[str, int]:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        names = ("runs", "ranked_lists", "label_lists", "group_results", "staged_runs", "staged_batches")
        return {name: connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()[0] for name in names}  # type: ignore[index]


def content(url: str) -> dict[str, list[Any]]:
    """Return all that is stored, without ids and times."""
    queries = {
        "runs": "SELECT name, digest, n_groups, n_items FROM runs ORDER BY name",
        "labels": "SELECT version, digest, n_groups, n_labels, by_row_number, judge FROM label_sets ORDER BY version",
        "lists": "SELECT g.key, l.item_keys, l.scores FROM ranked_lists l JOIN groups g ON g.id = group_id ORDER BY 1",
        "grades": "SELECT label_set_version, group_key, item_key, grade FROM labels ORDER BY 1, 2, 3",
        "evaluations": "SELECT metric, mean, worst_mean, best_mean, std_dev, n_groups, n_missing, n_undefined, "
        "requested_as FROM evaluations ORDER BY 1",
        "results": "SELECT metric, g.key, value, dcg, ideal_dcg, undefined_reason FROM group_results r JOIN evaluations e "
        "ON e.id = evaluation_id JOIN groups g ON g.id = group_id ORDER BY 1, 2",
        "coverages": "SELECT cutoff, judged_share FROM coverages ORDER BY 1",
    }
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return {name: connection.execute(query.encode()).fetchall() for name, query in queries.items()}


@pytest.fixture
def other_url(postgres_server: Any, postgres_template: str) -> Iterator[str]:
    postgres_server.create_database("staging_other", postgres_template)
    yield postgres_server.url("staging_other")
    postgres_server.drop_database("staging_other")


def test_a_staged_run_is_stored_as_an_ingested_one(postgres_url: str, other_url: str) -> None:
    rows = rows_of()
    result = log(postgres_url, staged(partitions(rows)), "all")
    with nt.Tracker(other_url) as tracker:
        wanted = tracker.ingest(rows, name="run", dataset="shop", metrics=METRICS)
        assert replace(result, run_id=wanted.run_id) == wanted
    assert content(postgres_url) == content(other_url)
    assert counts(postgres_url) == counts(other_url)
    with nt.Tracker(postgres_url) as tracker:
        assert tracker.ingest(rows, name="run", dataset="shop", metrics=METRICS).outcome == "already stored"

"""The questions of docs/questions.md on a year that is smaller: the same answers on both engines, and work in bounds.

Time decides nothing: how many rows Postgres has looked at does, with and without statistics, and which tables SQLite
reads from end to end.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from postgres_server import PostgresServer
from relabelled import check_nothing_counts_twice
from thorough import LONG

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.storage.database import upgrade

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.append(str(REPOSITORY / "benchmarks"))

from year import Question, Year, fill, questions  # noqa: E402

YEAR = Year(100, 500) if LONG else Year(36, 80)
ENGINES = ("sqlite", "postgres")
N_METRICS = 2
WRITER = "year_writer"
N_NIGHTS = {
    "One item in all groups and runs": YEAR.n_runs + 3,
    "Mean grade at rank 1, the year": YEAR.n_runs + 3,
    "Mean grade at rank 1, 7 runs": 7,
    "Unjudged items at the top, 7 nights": 7,
    "Unjudged items at the top, of runs in a list": 7,
}
"""How many runs' lists a question has to unfold."""


@pytest.fixture(scope="module")
def urls(postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The year on each engine; on Postgres it is written by a role that owns no table."""
    made = {
        "sqlite": f"sqlite:///{tmp_path_factory.mktemp('year') / 'year.db'}",
        "postgres": postgres_server.url("year"),
    }
    postgres_server.create_database("year")
    for url in made.values():
        upgrade(url)
    with psycopg.connect(postgres_server.conninfo("year"), autocommit=True) as owner:
        owner.execute(f"CREATE ROLE {WRITER} LOGIN".encode())
        owner.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {WRITER}".encode())
    try:
        fill(made["sqlite"], YEAR)
        fill(made["postgres"].replace("//ndcg@", f"//{WRITER}@"), YEAR)
        yield made
    finally:
        with psycopg.connect(postgres_server.conninfo("year"), autocommit=True) as owner:
            owner.execute(f"DROP OWNED BY {WRITER}; DROP ROLE {WRITER}".encode())
        postgres_server.drop_database("year")


def rows_of(url: str, query: str) -> list[tuple[object, ...]]:
    with Tracker(url) as tracker:
        return tracker.query(query).rows


def same(one: object, other: object) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return one == pytest.approx(other, rel=1e-12, abs=1e-12)
    return one == other


@pytest.mark.nightly
@pytest.mark.parametrize("question", questions(), ids=lambda question: question.name)
def test_both_engines_give_the_same_answer(urls: dict[str, str], question: Question) -> None:
    one, other = (rows_of(urls[engine], question.query) for engine in ENGINES)
    assert one
    if "alias" in question.name:  # the times are not the same
        one, other = ([row[:2] for row in rows] for rows in (one, other))
    assert len(one) == len(other)
    assert [pair for pair in zip(one, other, strict=True) if not all(map(same, *pair))] == []


@pytest.mark.nightly
def test_a_relabelling_changes_no_answer(postgres_schema: None, database_url: str) -> None:
    """A night of a year that was rescored counts once, under labels of whichever version, and judges do not count."""
    upgrade(database_url)
    fill(database_url, Year(12, 24))
    with Tracker(database_url) as tracker:

        def answers() -> dict[str, list[dict[str, Any]]]:
            found = {question.name: tracker.query(question.query) for question in questions()[:: 1 if LONG else 2]}
            return {name: [dict(zip(one.columns, row, strict=True)) for row in one.rows] for name, one in found.items()}

        check_nothing_counts_twice(tracker, answers)


def test_the_page_on_sql_asks_for_the_worst_groups_as_that_of_a_year_does() -> None:
    assert questions()[0].query in (REPOSITORY / "docs" / "sql.md").read_text(encoding="utf-8").replace(
        'LIMIT 3"', "LIMIT 3"
    )


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_answers_are_right(urls: dict[str, str], engine: str) -> None:
    """Against the results of groups as the program itself reads them."""
    by_name = {question.name: rows_of(urls[engine], question.query) for question in questions()}
    with Tracker(urls[engine]) as tracker:
        runs = tracker.runs("shop")
        of_run = {}
        store = tracker.store()
        with store.read() as tx:
            for run in runs:
                of_metric = (one for one in tx.evaluations.of_run(run.id) if one.metric == "ndcg@10")
                evaluation = max(of_metric, key=lambda one: one.label_set_version)
                found = tx.evaluations.results(evaluation.id)
                of_run[run.name] = dict(
                    zip(tx.groups.keys(run.dataset_id, found.group_ids).to_list(), found.values, strict=True)
                )
    relabelled = [YEAR.name(number) for number in range(YEAR.rescored.start, YEAR.n_runs)]
    baseline = of_run[YEAR.name(YEAR.relabelled + 3)]
    worst = sorted(
        (of_run[run][key] - baseline[key], run, key)
        for run in relabelled
        for key in baseline
        if of_run[run] is not baseline
    )
    for name in ("Worst groups of all runs against @baseline", "Worst groups, from run_regressions"):
        assert [row[-1] for row in by_name[name]] == [pytest.approx(delta) for delta, _, _ in worst[:3]]
    last = of_run[YEAR.name(YEAR.n_runs - 1)]
    fell = sorted((last[key] - baseline[key], key) for key in baseline)[:20]
    assert [row[0] for row in by_name["Worst groups of one night"]] == [key for _, key in fell]
    failing = {key: [run[key] for run in of_run.values() if run[key] < 0.2] for key in baseline}
    expected = sorted((-len(values), key) for key, values in failing.items() if values)[:20]
    assert [(-int(str(row[1])), row[0]) for row in by_name["Groups that keep failing"]] == expected
    for name in ("Night over night, 30 nights", "Night over night from run_regressions"):
        nights = [YEAR.name(number) for number in range(YEAR.n_runs - 30, YEAR.n_runs)]
        pairs = [(one, other) for one, other in pairwise(nights) if (one in relabelled) == (other in relabelled)]
        deltas = {other: np.mean([of_run[other][key] - of_run[one][key] for key in baseline]) for one, other in pairs}
        found = {str(row[0]): row[1] for row in by_name[name]}
        assert {run: found[run] for run in deltas} == {run: pytest.approx(delta) for run, delta in deltas.items()}
    assert [row[0] for row in by_name["Lists for the filters of a dashboard"]][:2] == [
        YEAR.name(YEAR.n_runs - 1),
        YEAR.name(YEAR.n_runs - 2),
    ]
    assert {row[0] for row in by_name["Metrics of a dataset"]} == {"ndcg@10", "P(rel=2)@5"}
    assert by_name["Datasets"] == [("books",), ("shop",)]
    assert [row[:2] for row in by_name["What an alias pointed at, and when"]] == [
        ("baseline", YEAR.name(YEAR.relabelled + 3)),
        ("prod", YEAR.name(YEAR.n_runs - 2)),
    ]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


def most_rows(connection: psycopg.Connection[Any], query: str) -> float:
    """Return how many rows a step of Postgres's plan has made, all its repetitions together: of the step with most."""
    connection.execute("SET max_parallel_workers_per_gather = 0; SET jit = off; SET statement_timeout = '60s'")
    connection.execute("SET join_collapse_limit = 11")  # as for those who ask by ndcg-track sql
    row = connection.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {query}".encode()).fetchone()
    assert row is not None
    return max(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0))
        * node["Actual Loops"]
        for node in nodes(row[0][0]["Plan"])
    )


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("question", questions(), ids=lambda question: question.name)
def test_postgres_looks_at_few_rows(urls: dict[str, str], question: Question) -> None:
    """Less than all results of groups twice: all pairs of runs would be ten times as many."""
    n_results = (YEAR.n_runs + len(YEAR.rescored)) * YEAR.n_groups * N_METRICS
    n_items = N_NIGHTS.get(question.name, 1) * YEAR.n_groups * 50
    with psycopg.connect(urls["postgres"].replace("+psycopg", ""), autocommit=True) as connection:
        looked_at = most_rows(connection, question.query)
    assert looked_at <= max(n_items, 2 * n_results)


def test_whoever_writes_lets_the_owner_look_at_the_tables(urls: dict[str, str]) -> None:
    """The role that has written owns nothing, and autovacuum is off."""
    with psycopg.connect(urls["postgres"].replace("+psycopg", "")) as connection:
        known = dict(
            connection.execute(
                "SELECT relname, reltuples FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
            ).fetchall()
        )
        columns = {
            tuple(row)
            for row in connection.execute("SELECT tablename, attname FROM pg_stats WHERE schemaname = 'public'")
        }
    expected = {"datasets": 2, "metrics": 2, "label_sets": 3, "runs": YEAR.n_runs + 3}
    assert {name: known[name] for name in expected} == expected
    n_results = (YEAR.n_runs + len(YEAR.rescored)) * YEAR.n_groups * N_METRICS
    assert known["group_results"] == pytest.approx(n_results, rel=0.2)
    assert {("metrics", "text"), ("evaluations", "metric"), ("group_results", "evaluation_id")} <= columns
    assert ("ranked_lists", "item_keys") not in columns


@pytest.mark.parametrize("question", questions(), ids=lambda question: question.name)
@pytest.mark.nightly(but=2)
def test_sqlite_reads_no_large_table_from_end_to_end(urls: dict[str, str], question: Question) -> None:
    with Tracker(urls["sqlite"]) as tracker:
        plan = [str(line).strip() for (line,) in tracker.query(question.query, explain=True).rows]
    read = {found[1] for line in plan if (found := re.match(r"SCAN (\w+)(?! VIRTUAL)", line))}
    assert not read & {"v", "vb", "vc", "l", "group_results", "ranked_lists", "label_lists"}, plan

"""``ndcg-track sql``: read-only, and the same on both engines."""

import csv
import io
import json

import pytest
from command_line import CommandLine
from stored_rows import row_counts

from ndcg_tracker.storage.database import upgrade

pytestmark = pytest.mark.both_engines

QUERIES = [
    "SELECT run, dataset, metric, label_set_version, mean, n_groups, n_missing, n_undefined FROM run_summary",
    "SELECT run, group_key, value FROM group_history ORDER BY run, group_key",
    "SELECT * FROM group_diff WHERE baseline = 'bm25' AND candidate = 'dense' ORDER BY delta, group_key",
    "SELECT * FROM items ORDER BY run_id, group_key, rank",
    "SELECT * FROM labels ORDER BY group_key, item_key",
    "SELECT run, dataset, label_set_version, cutoff, judged_share FROM label_coverage ORDER BY run",
    "SELECT count(*), sum(n_groups), avg(mean), 'x', 1 = 1, NULL FROM run_summary",
    "SELECT run AS a, run AS a FROM run_summary WHERE 1 = 2",
]


def test_both_engines_print_the_same(
    postgres_schema: None, sqlite_url: str, postgres_url: str, files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    upgrade(postgres_url)
    one, other = CommandLine(sqlite_url, capsys), CommandLine(postgres_url, capsys)
    for command in (one, other):
        command.done("ingest", "bm25.csv", "dense.run", "--labels", "labels.csv")
    for query in QUERIES[:-2]:
        for form in ("text", "json", "markdown", "csv"):
            printed = one.done("sql", query, "--format", form)
            assert printed == other.done("sql", query, "--format", form)
            assert printed
    for command in (one, other):
        assert command.done("sql", QUERIES[-1], "--format", "csv").splitlines() == ["a,a_2"]
    values = [list(row.values()) for row in (command.rows("sql", QUERIES[-2])[0] for command in (one, other))]
    assert values[0] == values[1]
    assert values[0][:2] + values[0][3:] == [2, 10, "x", 1, None]


def test_the_formats(shop: CommandLine) -> None:
    query = "SELECT run, n_missing, mean, NULL AS empty FROM run_summary ORDER BY run_id"
    rows = shop.rows("sql", query)
    assert [list(row) for row in rows] == [["run", "n_missing", "mean", "empty"]] * 2
    assert rows[1]["n_missing"] == 1
    assert rows[0]["empty"] is None
    table = list(csv.DictReader(io.StringIO(shop.done("sql", query, "--format", "csv"))))
    assert [float(row["mean"]) for row in table] == [row["mean"] for row in rows]
    assert shop.done("sql", query).splitlines()[1].split() == ["bm25", "0", f"{rows[0]['mean']:.6g}", "-"]
    assert shop.done("sql", query, "--format", "markdown").splitlines()[2].startswith("| bm25 | 0 |")
    assert json.loads(shop.done("sql", "SELECT run FROM run_summary WHERE 1 = 2", "--format", "json")) == []


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM runs", "sql only reads: it takes one SELECT, not 'DELETE'"),
        ("DROP VIEW items", "sql only reads: it takes one SELECT, not 'DROP'"),
        ("", "sql: the query is empty; try 'SELECT run, metric, mean FROM run_summary WHERE is_newest_labels'"),
        ("SELECT 1; DELETE FROM runs", "sql"),
        ("WITH gone AS (DELETE FROM runs RETURNING id) SELECT * FROM gone", "sql"),
        ("SELECT * FROM rum_summary", "sql: "),
        ("SELECT nope FROM run_summary", "sql: "),
    ],
)
def test_what_is_refused_changes_nothing(shop: CommandLine, query: str, message: str) -> None:
    before = row_counts(shop.url)
    assert shop.refused("sql", query).startswith(message)
    assert row_counts(shop.url) == before


def test_a_query_without_end_is_stopped(shop: CommandLine) -> None:
    query = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    assert shop.refused("sql", query, "--timeout", "0.1") == (
        "sql: stopped after 0.1 s; narrow the query with WHERE or LIMIT, or allow it more time"
    )


def test_a_plan_is_shown_and_the_query_is_not_run(shop: CommandLine) -> None:
    query = "SELECT * FROM group_diff WHERE baseline = 'bm25' ORDER BY delta"
    lines = shop.done("sql", "--explain", query).splitlines()
    assert len(lines) > 3
    assert not [line for line in lines if "…" in line]
    assert [row["plan"] for row in shop.rows("sql", "--explain", query)] == lines
    assert shop.refused("sql", "--explain", "DELETE FROM runs").startswith("sql only reads: ")

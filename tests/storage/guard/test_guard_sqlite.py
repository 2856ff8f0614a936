"""More than sixty ways to make `sql` do something else than read a SQLite file, and the proof that nothing happened."""

import contextlib
import os
import re
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from thorough import LONG

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.guard import sqlite as guard_sqlite
from ndcg_tracker.storage.guard import sqlite_reader
from ndcg_tracker.storage.guard.query_result import QueryResult
from ndcg_tracker.storage.guard.sqlite import run_guarded_sqlite

NO_VALUES = "errors show no values of rows: select them to see which one it is"
SCHEMA = """
CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, digest BLOB);
CREATE TABLE ranked_lists (run_id INTEGER, item_keys TEXT, scores TEXT);
CREATE INDEX runs_name ON runs (name);
CREATE VIEW items AS
    SELECT run_id, key + 1 AS rank, value AS item_key, json_extract(scores, '$[' || key || ']') AS score
    FROM ranked_lists, json_each(item_keys);
CREATE VIEW writable AS SELECT id, name FROM runs;
CREATE TRIGGER writable_insert INSTEAD OF INSERT ON writable BEGIN INSERT INTO runs (name) VALUES (new.name); END;
CREATE TRIGGER runs_deleted AFTER DELETE ON runs BEGIN DELETE FROM ranked_lists; END;
INSERT INTO runs (name, digest) VALUES ('bm25', x'00ff'), ('dense', NULL);
INSERT INTO ranked_lists VALUES (1, '["d1","d2"]', '[2.5,1]'), (2, '["d2"]', '[0.5]');
"""

ESCAPES = [
    # plain statements
    "INSERT INTO runs (name) VALUES ('x')",
    "REPLACE INTO runs (id, name) VALUES (1, 'x')",
    "INSERT OR REPLACE INTO runs (id, name) VALUES (1, 'x') RETURNING id",
    "UPDATE runs SET name = 'x'",
    "DELETE FROM runs",
    "DELETE FROM runs RETURNING *",
    "DROP TABLE runs",
    "DROP VIEW items",
    "DROP INDEX runs_name",
    "DROP TRIGGER runs_deleted",
    "ALTER TABLE runs RENAME TO walks",
    "ALTER TABLE runs ADD COLUMN x",
    "ALTER TABLE runs DROP COLUMN digest",
    "CREATE TABLE evil (a)",
    "CREATE TABLE evil AS SELECT * FROM runs",
    "CREATE TEMP TABLE evil AS SELECT * FROM runs",
    "CREATE INDEX evil ON runs (digest)",
    "CREATE VIEW evil AS SELECT 1",
    "CREATE TEMP VIEW evil AS SELECT 1",
    "CREATE TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
    "CREATE TEMP TRIGGER evil AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
    "CREATE VIRTUAL TABLE evil USING fts5(a)",
    "CREATE VIRTUAL TABLE evil USING rtree(a, b, c)",
    "ATTACH DATABASE 'evil.db' AS evil",
    "ATTACH DATABASE ':memory:' AS evil",
    "DETACH DATABASE main",
    "VACUUM",
    "VACUUM INTO 'evil.db'",
    "REINDEX",
    "ANALYZE",
    "BEGIN IMMEDIATE",
    "BEGIN EXCLUSIVE",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT evil",
    "PRAGMA journal_mode = WAL",
    "PRAGMA user_version = 7",
    "PRAGMA application_id = 7",
    "PRAGMA query_only = OFF",
    "PRAGMA writable_schema = ON",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA temp_store_directory = '.'",
    "PRAGMA optimize",
    "PRAGMA incremental_vacuum",
    "PRAGMA hard_heap_limit = 1",
    "EXPLAIN DELETE FROM runs",
    # hidden behind what reads
    "WITH x AS (SELECT 1) INSERT INTO runs (name) SELECT 'x' FROM x",
    "WITH x AS (SELECT 1) UPDATE runs SET name = 'x'",
    "WITH x AS (SELECT 1) DELETE FROM runs",
    "WITH x AS (SELECT 1) REPLACE INTO runs (id, name) SELECT 1, 'x' FROM x",
    "WITH x AS (SELECT 1) INSERT INTO writable (name) SELECT 'x' FROM x",
    "WITH x AS (SELECT 1) UPDATE sqlite_master SET sql = ''",
    "WITH x AS (SELECT 1) DELETE FROM sqlite_sequence",
    "WITH x AS (DELETE FROM runs RETURNING id) SELECT * FROM x",
    "SELECT * FROM (DELETE FROM runs RETURNING id)",
    "SELECT 1; DELETE FROM runs",
    "SELECT 1;\n-- fine\nDROP TABLE runs;",
    "SELECT 1; ATTACH DATABASE 'evil.db' AS evil",
    "SELECT 1; VACUUM INTO 'evil.db'",
    "SELECT 1; PRAGMA query_only = OFF; DELETE FROM runs",
    "/* SELECT */ DELETE FROM runs",
    "-- SELECT\nDELETE FROM runs",
    "SELECT 1 INTO evil",
    # functions and table functions
    "SELECT load_extension('evil')",
    "SELECT load_extension('evil', 'sqlite3_evil_init')",
    "SELECT writefile('evil.txt', 'x')",
    "SELECT readfile('ndcg-track.db')",
    "SELECT edit('x')",
    "SELECT fts3_tokenizer('simple')",
    "SELECT fts3_tokenizer('simple', x'0000000000000000')",
    "SELECT fts5(NULL)",
    "SELECT sqlite_log(1, 'x')",
    "SELECT randomblob(1000)",
    "SELECT zeroblob(1000000000)",
    "SELECT sqlite_rename_table('main', 'table', 'runs', '', 'runs', 'evil', 0)",
    "SELECT sqlite_drop_column(0, 'x', 1)",
    "SELECT last_insert_rowid()",
    "SELECT \"load_extension\"('evil')",
    "SELECT (SELECT load_extension(name) FROM runs LIMIT 1)",
    "SELECT name FROM runs ORDER BY load_extension(name)",
    "SELECT * FROM pragma_table_info('runs')",
    "SELECT count(*) FROM pragma_table_info('runs')",
    "SELECT * FROM pragma_journal_mode('wal')",
    "SELECT * FROM pragma_user_version(7)",
    "SELECT * FROM pragma_query_only(0)",
    "SELECT * FROM pragma_database_list",
    "SELECT * FROM runs, pragma_optimize",
    "SELECT * FROM sqlite_dbpage",
    "SELECT * FROM dbstat",
    "SELECT * FROM temp.sqlite_master",
    "SELECT * FROM sqlite_temp_master",
    "SELECT * FROM fsdir('.')",
    "SELECT * FROM zipfile('evil.zip')",
]  # fmt: skip


COUNTS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r"
ONE_LONG_STEP = "SELECT instr(printf('%090000000d', 0), printf('%040000000d', 0) || '1')"  # eight minutes


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "ndcg-track.db"
    connection = sqlite3.connect(file)
    connection.executescript(SCHEMA)
    connection.close()
    return file


def ask(path: Path, query: str, *, timeout: float = 20, max_rows: int | None = None) -> QueryResult:
    return run_guarded_sqlite(str(path), query, timeout_seconds=timeout, max_rows=max_rows)


def everything_in(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_there_are_enough_attempts() -> None:
    assert len(set(ESCAPES)) == len(ESCAPES) >= 60


@pytest.mark.parametrize("query", ESCAPES)
def test_an_escape_fails_and_leaves_no_trace(path: Path, query: str) -> None:
    before = everything_in(path.parent)
    with pytest.raises(InputError, match=r"^sql(:| only reads:) ") as caught:
        ask(path, query)
    assert "\n" not in str(caught.value)
    assert everything_in(path.parent) == before


def test_no_plan_of_an_escape_leaves_a_trace(path: Path) -> None:
    before = everything_in(path.parent)
    for query in ESCAPES if LONG else ESCAPES[::4]:
        with contextlib.suppress(InputError):
            run_guarded_sqlite(str(path), query, timeout_seconds=20, max_rows=None, explain=True)
    assert everything_in(path.parent) == before


def test_a_plan_is_told_line_by_line(path: Path) -> None:
    query = "SELECT * FROM (SELECT name, count(*) FROM runs GROUP BY name);"
    found = run_guarded_sqlite(str(path), query, timeout_seconds=20, max_rows=None, explain=True)
    assert found.columns == ["plan"]
    assert any(str(line).startswith("  SCAN runs") for (line,) in found.rows), found.rows


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("query", ESCAPES)
def test_the_guard_does_not_rest_on_the_look_at_the_first_word(
    path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard_sqlite, "checked_text", lambda text: text)
    before = everything_in(path.parent)
    with pytest.raises(InputError, match=r"^sql(:| only reads:) "):
        ask(path, query)
    assert everything_in(path.parent) == before


@pytest.mark.parametrize(
    "query",
    [
        "INSERT INTO runs (name) VALUES ('x')",
        "DELETE FROM runs",
        "CREATE TABLE evil (a)",
        "VACUUM",
        "PRAGMA user_version = 7",
    ],
)
def test_without_the_authorizer_the_file_still_cannot_be_written(
    path: Path, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_reader._Authorizer, "__call__", lambda *_: sqlite3.SQLITE_OK)
    before = everything_in(path.parent)
    request = {"uri": path.as_uri(), "query": query, "max_rows": None, "cache_kib": 1024}
    kind, (_, told) = list(sqlite_reader.answers(**request))[-1]
    assert kind == "failed"
    assert re.search("readonly database|attached databases", told)
    assert everything_in(path.parent) == before


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("DELETE FROM runs", "sql only reads: it takes one SELECT, not 'DELETE'"),
        ("WITH x AS (SELECT 1) DELETE FROM runs",
         "sql only reads: it takes one SELECT from tables and views of this database"),
        ("SELECT 1; SELECT 2", "sql only reads: it takes one statement at a time"),
        (
            "SELECT load_extension('x')",
            "sql only reads: the function load_extension is not among those allowed",
        ),
        ("SELECT nam FROM items", "sql: no such column: nam; items has run, run_id, dataset, group_key, rank, "
         "item_key, score"),
        ("SELECT * FROM nope", "sql: no such table: nope; the views are run_summary, group_history, group_diff, "
         "items, labels, label_coverage, run_details, "
         "run_parameters, run_tags, run_aliases, group_attributes, gate_decisions, gate_resets, drawn_labels, "
         "suite_gate_decisions, run_regressions, alias_history, dataset_list, group_list, run_list, metric_list, "
         "labels_or_ranking, label_details"),
        ("SELECT * FROM runs WHERE", "sql: incomplete input"),
        ('SELECT "group" FROM items', 'sql: no such column: "group" (write text in single quotes); items has run, '
         "run_id, dataset, group_key, rank, item_key, score"),
        ('SELECT nam AS "name" FROM items', "sql: no such column: nam; items has run, run_id, dataset, group_key, "
         "rank, item_key, score"),
        ("SELECT ?", "sql: the query has parameters such as ? or :name; write the values themselves"),
        ("SELECT :x", "sql: the query has parameters such as ? or :name; write the values themselves"),
        ("SELECT CAST(x'ff' AS TEXT)", "sql: a text is not valid UTF-8; select hex(COLUMN) instead"),
    ],
)  # fmt: skip
def test_messages(path: Path, query: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(path, query)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("query", "columns", "rows"),
    [
        ("SELECT id, name FROM runs ORDER BY id", ["id", "name"], [(1, "bm25"), (2, "dense")]),
        ("SELECT digest FROM runs ORDER BY id", ["digest"], [("00ff",), (None,)]),
        ("SELECT item_key, rank, score FROM items ORDER BY run_id, rank", ["item_key", "rank", "score"],
         [("d1", 1, 2.5), ("d2", 2, 1), ("d2", 1, 0.5)]),
        ("SELECT count(*) AS n FROM items", ["n"], [(3,)]),
        ('SELECT "item_key" AS "the ""item", ' "'\"x\" it''s' AS s, 1 /* \" */ AS n FROM \"items\" -- \"\n"
         'ORDER BY "the ""item", "score" LIMIT 1', ['the "item', "s", "n"], [("d1", "\"x\" it's", 1)]),
        ("SELECT 1 AS `a`, [score] AS \"b`c\" FROM items WHERE \"run_id\" = 2", ["a", "b`c"], [(1, 0.5)]),
        ("WITH x AS (SELECT 1 AS a) SELECT count(*) AS n FROM x", ["n"], [(1,)]),
        ("SELECT count(*) AS n FROM (SELECT 1)", ["n"], [(1,)]),
        ("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 3) SELECT n FROM r", ["n"],
         [(1,), (2,), (3,)]),
        ("VALUES (1, 'a'), (2, 'b')", ["column1", "column2"], [(1, "a"), (2, "b")]),
        ("SELECT name, row_number() OVER (ORDER BY id DESC) AS r FROM runs ORDER BY r", ["name", "r"],
         [("dense", 1), ("bm25", 2)]),
        ("SELECT 1 AS a;", ["a"], [(1,)]),
        ("SELECT 1 AS a ; ;", ["a"], [(1,)]),
        ("-- first\nSELECT 1 AS a; -- last", ["a"], [(1,)]),
        ("SELECT ';' AS a /* ; */", ["a"], [(";",)]),
        ("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'r%' ORDER BY name", ["name"],
         [("ranked_lists",), ("runs",)]),
        ("SELECT round(avg(score), 2) AS s, group_concat(item_key) AS k FROM items WHERE run_id = 1", ["s", "k"],
         [(1.75, "d1,d2")]),
        ("SELECT name FROM runs WHERE 0", ["name"], []),
    ],
)  # fmt: skip
def test_reading(path: Path, query: str, columns: list[str], rows: list[tuple[object, ...]]) -> None:
    before = everything_in(path.parent)
    assert ask(path, query) == QueryResult(columns, rows)
    assert everything_in(path.parent) == before


def test_the_limit_of_rows(path: Path) -> None:
    query = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"
    result = ask(path, query, max_rows=1200)
    assert (len(result.rows), result.rows[-1], result.truncated) == (1200, (1200,), True)
    assert ask(path, "SELECT id FROM runs", max_rows=2).truncated is False
    assert ask(path, "SELECT id FROM runs", max_rows=0).rows == []


@pytest.mark.parametrize(
    "query",
    [
        COUNTS,
        ONE_LONG_STEP,
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 90) "
        "SELECT length(group_concat(printf('%050000000d', n)) OVER (ORDER BY n)) FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r) SELECT max(n) FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r WHERE n < 0",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 9999) "
        "SELECT count(*) FROM r a, r b, r c, r d",
    ],
)
@pytest.mark.nightly(but=2)
def test_a_runaway_query_stops(path: Path, query: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(path, query, timeout=0.2)
    expected = "sql: stopped after 0.2 s; narrow the query with WHERE or LIMIT, or allow it more time"
    assert str(caught.value) == expected


def test_a_value_longer_than_the_limit_is_refused(path: Path) -> None:
    doubling = (
        "WITH RECURSIVE r(t) AS (SELECT 'xxxxxxxxxx' UNION ALL SELECT t || t FROM r LIMIT 40) SELECT length(t) FROM r"
    )
    with pytest.raises(InputError, match=f"^sql: string or blob too big; {NO_VALUES}$"):
        ask(path, doubling)


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("SELECT json_extract('{}', item_key) FROM items", "JSON path error"),
        ("SELECT json_extract(item_key, '$') FROM items", "malformed JSON"),
        ("SELECT json_set('{}', item_key, 1) FROM items", "JSON path error"),
        ("SELECT e.key FROM items, json_each('{}', item_key) e", "JSON path error"),
        ("SELECT abs(-9223372036854775807 - rank) FROM items", "integer overflow"),
        (
            "SELECT item_key FROM items WHERE item_key LIKE 'd' ESCAPE item_key || 'x'",
            "ESCAPE expression must be a single character",
        ),
    ],
)
def test_an_error_on_rows_tells_its_kind_and_no_value(path: Path, query: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(path, query)
    told = re.sub("^sql: bad JSON path;", "sql: JSON path error;", str(caught.value))  # the words of some versions
    assert told == f"sql: {kind}; {NO_VALUES}"


def test_a_program_that_cannot_start_python_says_so(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(DatabaseError) as caught:
        ask(path, "SELECT 1")
    assert str(caught.value) == "sql needs Python to start a process for the query; run it with ndcg-track"


@pytest.mark.parametrize("query", [COUNTS, ONE_LONG_STEP])
def test_an_interrupt_gets_through(path: Path, query: str) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            ask(path, query, timeout=3600)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


WRITER = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 5")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE runs SET name = 'half done'")
connection.executemany("INSERT INTO runs (name) VALUES (?)", (("x" * 500,) for _ in range(5000)))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_journal_of_a_killed_writer_is_rolled_back_first(path: Path) -> None:
    size = path.stat().st_size
    subprocess.run([sys.executable, "-c", WRITER, str(path)], check=False)
    assert path.with_name("ndcg-track.db-journal").stat().st_size > 0
    assert path.stat().st_size > size  # pages of the unfinished transaction have reached the file
    read_only = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    with pytest.raises(sqlite3.OperationalError):
        read_only.execute("SELECT count(*) FROM runs")
    read_only.close()
    assert ask(path, "SELECT name FROM runs ORDER BY id").rows == [("bm25",), ("dense",)]
    assert not path.with_name("ndcg-track.db-journal").exists()


def test_the_write_ahead_log_of_a_killed_writer_is_read_up_to_its_last_commit(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    committed = WRITER.replace(
        'connection.execute("BEGIN', 'connection.execute("DELETE FROM ranked_lists")\nconnection.execute("BEGIN'
    )
    subprocess.run([sys.executable, "-c", committed, str(path)], check=False)
    assert path.with_name("ndcg-track.db-wal").stat().st_size > 0
    assert ask(path, "SELECT name FROM runs ORDER BY id").rows == [("bm25",), ("dense",)]
    assert ask(path, "SELECT count(*) FROM ranked_lists").rows == [(0,)]


def test_a_path_with_the_characters_of_a_uri(tmp_path: Path) -> None:
    folder = tmp_path / "100% a?b#c&mode=rwc ü"
    folder.mkdir()
    file = folder / "x;y.db"
    connection = sqlite3.connect(file)
    connection.executescript(SCHEMA)
    connection.close()
    assert ask(file, "SELECT count(*) FROM runs").rows == [(2,)]
    assert [entry.name for entry in folder.iterdir()] == ["x;y.db"]


def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=r"nope\.db: no such database; ndcg-track ingest creates one$"):
        ask(tmp_path / "nope.db", "SELECT 1")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "notes.db"
    file.write_bytes(b"these are notes, not a database " * 100)
    with pytest.raises(DatabaseError, match="cannot be read as a database: file is not a database; ndcg-track doctor"):
        ask(file, "SELECT 1")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_only_be_read(path: Path) -> None:
    path.chmod(0o400)
    path.parent.chmod(0o500)
    try:
        assert ask(path, "SELECT count(*) FROM runs").rows == [(2,)]
    finally:
        path.parent.chmod(0o700)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT * FROM run_sumary", "sql: no such table: run_sumary; did you mean run_summary?"),
        (
            "SELECT * FROM items WHERE group = 'q'",
            'sql: near "group": syntax error; the column of the group is group_key',
        ),
    ],
)
def test_what_was_meant_is_named(path: Path, query: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        ask(path, query)
    assert str(caught.value) == message

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import PostgresServer
from psycopg.pq import TransactionStatus
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.guard.postgres import scanned


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT a", {"select", "a"}),
        ("SELECT Pg_Sleep /* c */ (1)", {"select", "pg_sleep"}),
        ('SELECT "Pg_Sleep"(1)', {"select", "Pg_Sleep"}),
        ('SELECT pg_catalog."pg_sleep"(1)', {"select", "pg_catalog", "pg_sleep"}),
        ('SELECT "a""b"', {"select", 'a"b'}),
        ("SELECT 'pg_sleep' || 'it''s pg_sleep'", {"select"}),
        ("SELECT E'it\\'s pg_sleep'", {"select"}),
        ("SELECT 'backslash\\', pg_sleep(1)", {"select", "pg_sleep"}),
        ("SELECT $$pg_sleep$$, $a$ $$ pg_sleep $b$ $a$, b", {"select", "b"}),
        ("SELECT a$b$c, d", {"select", "a$b$c", "d"}),
        ("SELECT 1 -- pg_sleep\n, b", {"select", "b"}),
        ("SELECT 1 -- pg_sleep\r, b", {"select", "b"}),
        ("SELECT 1 /* a /* b */ pg_sleep */, c", {"select", "c"}),
        ("SELECT 1 /*/* */*/, c", {"select", "c"}),
        ("SELECT 2*/**/c", {"select", "c"}),
        ("SELECT 1-- pg_sleep", {"select"}),
        ("SELECT 1e5, 0x1F, 1_000", {"select", "e5", "x1F".lower(), "_000"}),
        ("SELECT B'01', x'ff', N'pg_sleep'", {"select", "b", "x", "n"}),
        ("SELECT größe, Ärger", {"select", "größe", "Ärger"}),
        ("SELECT a\u00a0b", {"select", "a\u00a0b"}),
        ("SELECT " + "a" * 70, {"select", "a" * 63}),
        ("SELECT TREAT(1 AS pg_sleep)", {"select", "treat", "as", "pg_sleep"}),
        ("SELECT 1;", {"select"}),
        ("SELECT 1; ; -- end", {"select"}),
    ],
)
def test_identifiers(query: str, expected: set[str]) -> None:
    assert scanned(query)[0] == expected


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT 'a", "sql: the string that begins at character 8 does not end"),
        ("SELECT 'a''", "sql: the string that begins at character 8 does not end"),
        ("SELECT E'a\\'", "sql: the string that begins at character 9 does not end"),
        ("SELECT $a$ $A$", "sql: the string that begins at character 8 does not end"),
        ('SELECT "a', "sql: the quoted name that begins at character 8 does not end"),
        ("SELECT 1 /* /* */", "sql: the comment that begins at character 10 does not end"),
        ("SELECT 1; SELECT 2", "sql only reads: it takes one statement at a time"),
        ('SELECT U&"pg\\005fsleep"(1)', "sql: the U& at character 8 is not supported; write the characters themselves"),
        ("SELECT u&'x'", "sql: the U& at character 8 is not supported; write the characters themselves"),
        ("SELECT E'a'\n'\\', b'", "sql: a string that continues after character 11 is not supported; write one piece"),
        ("SELECT (1)) AS q, (SELECT 2", "sql: the ) at character 11 closes nothing"),
        ("SELECT E'a' -- c\n 'b'", "sql: a string that continues after character 11 is not supported; write one piece"),
    ],
)
def test_what_cannot_be_followed_is_refused(query: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        scanned(query)
    assert str(caught.value) == message


def test_a_long_query_is_scanned_in_one_go() -> None:
    assert scanned("SELECT " + "'" + "x''" * 300_000 + "'")[0] == {"select"}
    assert scanned("SELECT /* " + "/* */" * 100_000 + "*/ b")[0] == {"select", "b"}


CALLS = [
    "set_config('ndcg.probe', 'called', true)",
    "\"set_config\"('ndcg.probe', 'called', true)",
    "pg_catalog . SET_CONFIG /**/ ('ndcg.probe', 'called', true)",
    "set_config($$ndcg.probe$$, $a$called$a$, true)",
]
EDGES = [
    "'", "''", '"', '""', "$$", "$a$", "$b$", "$1", "\\", "\\'", "E'", "e'", "U&'", 'U&"', "N'", "b'", "--", "--\n",
    "\n", "\r", "/*", "*/", "*", "/", "-", " ", "1", "1E", "a", "null", "&", "é", "\u00a0", ", ", "||",
]  # fmt: skip
fragments = st.lists(st.sampled_from(EDGES), max_size=5).map("".join)


@pytest.fixture(scope="module")
def connection(postgres_server: PostgresServer) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres_server.conninfo(), autocommit=True) as opened:
        yield opened


@settings(max_examples=examples(1500), deadline=None)
@given(before=fragments, middle=fragments, call=st.sampled_from(CALLS), separator=st.sampled_from(["", ", ", "||"]))
def test_no_spelling_hides_a_call_that_postgres_makes(
    connection: psycopg.Connection, before: str, middle: str, call: str, separator: str
) -> None:
    """Postgres itself is the judge: if it calls the function, the scanner must have seen its name."""
    query = f"SELECT {before}{separator}{middle}{separator}{call}"
    if _calls_set_config(connection, query):
        try:
            words, _ = scanned(query)
        except InputError:
            return
        assert "set_config" in words


def _calls_set_config(connection: psycopg.Connection, query: str) -> bool:
    connection.execute("BEGIN")
    try:
        connection.pgconn.exec_params(query.encode(), None)
        if connection.info.transaction_status == TransactionStatus.INERROR:
            return False
        return connection.execute("SELECT current_setting('ndcg.probe', true)").fetchone() == ("called",)
    finally:
        connection.execute("ROLLBACK")

from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_server import PostgresServer
from psycopg.pq import TransactionStatus
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.guard.postgres import _words


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT Pg_Sleep /* c */ (1)", "pg_sleep"),
        ('SELECT "Pg_Sleep"(1)', "Pg_Sleep"),
        ('SELECT pg_catalog."pg_sleep"(1)', "pg_sleep"),
        ('SELECT "a b"', "a b"),
        ("SELECT '\"', pg_sleep(1), '\"'", "pg_sleep"),
        ("SELECT a$b$c, d", "a$b$c"),
        ("SELECT 1pg_sleep, 1e5pg_sleep", "pg_sleep"),
        ("SELECT größe, Ärger", "größe"),
        ("SELECT größe, Ärger", "Ärger"),
        ("SELECT a\u00a0b", "a\u00a0b"),
        ("SELECT " + "a" * 70, "a" * 63),
        ("SELECT '" + "é" * 40 + "'", "é" * 31),
        ('SELECT "' + "a" * 70 + '"', "a" * 63),
        ("SELECT TREAT(1 AS pg_sleep)", "pg_sleep"),
    ],
)
def test_whatever_may_be_a_name(query: str, expected: str) -> None:
    assert expected in _words(query)


def test_a_name_in_another_spelling_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        _words('SELECT U&"pg\\005fsleep"(1)')
    assert str(caught.value) == ("sql: the U& at character 8 is not supported; write the characters themselves")


def test_a_long_query_is_looked_at_in_one_go() -> None:
    assert "x" in _words("SELECT " + "'" + "x''" * 300_000 + "'")
    assert "a1" * 31 + "a" in _words("SELECT " + "a1" * 300_000)


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
    """Postgres itself is the judge: if it calls the function, its name must have been seen."""
    query = f"SELECT {before}{separator}{middle}{separator}{call}"
    if _calls_set_config(connection, query):
        try:
            words = _words(query)
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

"""Every kind of database is recognised, in the right direction, and nothing is written."""

import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from migrated import NEWEST, PLANTED

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep.handshake import Kind, State

NEXT = f"{int(NEWEST) + 1:04}"


def execute(url: str, *statements: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            for statement in statements:
                connection.execute(statement)
    else:
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            for statement in statements:
                connection.execute(statement.encode())


def content_of(url: str) -> object:
    if url.startswith("sqlite"):
        path = Path(url.removeprefix("sqlite:///"))
        return path.read_bytes(), sorted(path.parent.iterdir())
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return connection.execute(
            "SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"
        ).fetchall()


def shown(url: str) -> str:
    return url.removeprefix("sqlite:///")


def refused(url: str, message: str, *, also_upgrade: bool = True) -> None:
    """Require that opening (and upgrading) is refused with this message and writes nothing."""
    before = content_of(url)
    attempts = [lambda: Store.open(url), lambda: Store.open(url, create=True)]
    for attempt in [*attempts, lambda: database.upgrade(url)] if also_upgrade else attempts[:1]:
        with pytest.raises(DatabaseError) as caught:
            attempt()
        assert str(caught.value) == f"{shown(url)}: {message}"
    assert content_of(url) == before


def test_missing(sqlite_url: str) -> None:
    path = shown(sqlite_url)
    with pytest.raises(DatabaseError) as caught:
        Store.open(path)
    assert str(caught.value) == (
        f"{path}: the database does not exist; create it with: ndcg-track --db {path} ingest FILE --labels LABELS"
    )
    assert not Path(path).exists()


def test_a_postgres_that_is_not_there(postgres_url: str) -> None:
    with pytest.raises(DatabaseError) as caught:
        Store.open(postgres_url.replace("/test_", "/none_"))
    assert str(caught.value).endswith(": the database does not exist; create it with createdb")
    with pytest.raises(DatabaseError, match="no server answers there; is it running"):
        Store.open("postgresql://127.0.0.1:1/shop")


def test_empty(database_url: str) -> None:
    execute(database_url)
    if database_url.startswith("sqlite"):
        Path(shown(database_url)).touch()
    quoted = shown(database_url) if database_url.startswith("sqlite") else f"'{database_url}'"
    refused(
        database_url,
        f"the database is empty; create its tables with: ndcg-track --db {quoted} db upgrade",
        also_upgrade=False,
    )


def test_an_empty_file_becomes_a_database(sqlite_url: str) -> None:
    Path(shown(sqlite_url)).touch()
    Store.open(sqlite_url, create=True).close()
    assert database.current(sqlite_url) == State(Kind.CURRENT, NEWEST)


def test_postgres_is_never_made_by_opening(postgres_url: str) -> None:
    before = content_of(postgres_url)
    with pytest.raises(
        DatabaseError, match=r"the database is empty; create its tables with: ndcg-track --db .* db upgrade"
    ):
        Store.open(postgres_url, create=True)
    assert content_of(postgres_url) == before


def test_foreign(database_url: str) -> None:
    execute(
        database_url,
        "CREATE TABLE experiments (id INTEGER)",
        "CREATE TABLE alembic_version (version_num VARCHAR(32))",
        "INSERT INTO alembic_version VALUES ('0001')",
    )
    refused(
        database_url,
        "the database belongs to another program (it has a table 'alembic_version'); "
        "give location= a separate database",
    )


def test_newer(postgres_schema: None, database_url: str) -> None:
    database.upgrade(database_url)
    execute(database_url, f"UPDATE ndcg_tracker_version SET version_num = '{NEXT}'")
    refused(
        database_url,
        f"the database has the newer schema {NEXT}; this program knows up to {NEWEST}; "
        "upgrade the program with: pip install --upgrade ndcg-tracker",
    )


def test_an_upgrade_while_it_is_open(postgres_schema: None, database_url: str) -> None:
    database.upgrade(database_url)
    with Store.open(database_url) as store:
        execute(
            database_url,
            f"UPDATE ndcg_tracker_version SET version_num = '{NEXT}'",
            "ALTER TABLE runs RENAME COLUMN name TO title",
        )
        before = content_of(database_url)
        message = (
            f"{store.display_url}: the database has the newer schema {NEXT}; this program knows up to {NEWEST}; "
            "upgrade the program with: pip install --upgrade ndcg-tracker"
        )
        with pytest.raises(DatabaseError) as reading, store.read() as tx:
            tx.runs.all()
        with pytest.raises(DatabaseError) as writing, store.write():
            pass
        assert str(reading.value) == str(writing.value) == message
        assert content_of(database_url) == before
        execute(database_url, f"UPDATE ndcg_tracker_version SET version_num = '{NEWEST}'")
        with pytest.raises(DatabaseError, match=r"no such column|does not exist"), store.read() as tx:
            tx.runs.all()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("UPDATE ndcg_tracker_version SET version_num = 'abc'", "abc"),
        ("UPDATE ndcg_tracker_version SET version_num = '0000'", "0000"),
        ("DELETE FROM ndcg_tracker_version", "none"),
        (f"INSERT INTO ndcg_tracker_version VALUES ('{PLANTED}')", f"{NEWEST}, {PLANTED}"),
        ("INSERT INTO ndcg_tracker_version VALUES ('0001')", f"0001, {NEWEST}"),
    ],
)
def test_unknown(postgres_schema: None, database_url: str, change: str, found: str) -> None:
    database.upgrade(database_url)
    execute(database_url, change)
    refused(
        database_url,
        f"the database has a schema that no version of ndcg-tracker has ({found}); restore a backup of it or "
        "give location= another path",
    )


@pytest.mark.parametrize("content", [b"x", b"q1 0 d1 1\n" * 200, bytes(5000), b"SQLite format 4\0" + bytes(4096)])
def test_not_a_database(sqlite_url: str, content: bytes) -> None:
    Path(shown(sqlite_url)).write_bytes(content)
    refused(sqlite_url, "not a SQLite database, it is a file of another kind; give location= another path")


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError) as caught:
        Store.open(str(tmp_path))
    assert str(caught.value) == f"{tmp_path}: not a SQLite database, it is a folder; give location= another path"


def test_views_and_extensions_of_postgres_are_no_foreign_tables(postgres_url: str) -> None:
    execute(postgres_url, "CREATE VIEW statistics AS SELECT 1 AS n")
    assert database.current(postgres_url) == State(Kind.EMPTY)
    database.upgrade(postgres_url)
    Store.open(postgres_url).close()


def test_tables_of_others_may_come_later(postgres_schema: None, database_url: str) -> None:
    database.upgrade(database_url)
    execute(database_url, "CREATE TABLE a_note (id INTEGER)")
    Store.open(database_url).close()

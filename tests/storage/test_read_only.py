"""A store that is opened for reading only: nothing gets through, and what a killed writer left does not stop it."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage import database, schema
from ndcg_tracker.storage.store import Store

KILLED_WRITER = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size = 5")
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE datasets SET name = 'half done'")
rows = ((str(n), "x" * 500) for n in range(5000))
connection.executemany("INSERT INTO datasets (name, created_at_utc) VALUES (?, ?)", rows)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def shop_url(postgres_schema: None, database_url: str) -> str:
    """The URL of a store with one dataset."""
    if database_url.startswith("sqlite"):
        database.upgrade(database_url)
    with Store.open(database_url) as store, store.write() as tx:
        tx.write.datasets.ensure("shop")
    return database_url


def names(url: str) -> list[str]:
    """Return the datasets that a reader sees."""
    with Store.open(url, read_only=True) as store, store.read() as tx:
        return [one.name for one in tx.datasets.all()]


def test_writing_is_refused(shop_url: str) -> None:
    with Store.open(shop_url, read_only=True) as store:
        with pytest.raises(DatabaseError, match="it was opened for reading only; nothing was stored"), store.write():
            pass
        for statement in (sa.delete(schema.datasets), sa.text("CREATE TABLE x (y INTEGER)")):
            with pytest.raises(DatabaseError), store.read() as tx:
                tx._session.execute(statement)
    assert names(shop_url) == ["shop"]


def test_opening_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="the database does not exist"):
        Store.open(str(tmp_path / "none.db"), create=True, read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("journal", ["DELETE", "WAL"])
def test_what_a_killed_writer_left_is_not_seen(sqlite_url: str, journal: str) -> None:
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    database.upgrade(sqlite_url)
    with Store.open(sqlite_url) as store, store.write() as tx:
        tx.write.datasets.ensure("shop")
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.close()
    subprocess.run([sys.executable, "-c", KILLED_WRITER, str(path)], check=False)
    assert path.with_name(path.name + ("-wal" if journal == "WAL" else "-journal")).stat().st_size > 0
    assert names(sqlite_url) == ["shop"]


def test_a_write_ahead_log_is_read_with_nobody_else_there(sqlite_url: str) -> None:
    database.upgrade(sqlite_url)
    connection = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"))
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert names(sqlite_url) == []

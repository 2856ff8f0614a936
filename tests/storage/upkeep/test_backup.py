"""Copies of a database in use."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import REPOSITORY
from migrated import rows_of
from stored_samples import BM25, add_run

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage import database
from ndcg_tracker.storage.store import Store


def test_a_backup_is_a_database(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with Store.open(sqlite_url, create=True) as store:
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
        with store.write() as tx:
            add_run(tx, "unfinished", BM25)
            assert database.backup(sqlite_url, str(target)) == target
    assert database.check(str(target)) == []
    with Store.open(str(target)) as copy, copy.read() as rx:
        assert [run.name for run in rx.runs.all()] == ["bm25"]
    assert len(rows_of(sqlite_url)["runs"]) == 2


KILLED = """
import os, signal, sys
from ndcg_tracker.storage import database
database.backup(*sys.argv[1:], progress=lambda *_: os.kill(os.getpid(), signal.SIGKILL))
"""


def test_a_killed_backup_stops_no_other(sqlite_url: str, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    with Store.open(sqlite_url, create=True) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    words = [sys.executable, "-c", KILLED, sqlite_url, str(target)]
    path = {"PYTHONPATH": str(REPOSITORY)}
    done = subprocess.run(words, check=False, env=os.environ | path)
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    assert database.backup(sqlite_url, str(target)) == target
    assert database.check(str(target)) == []


def test_backups_that_are_refused(sqlite_url: str, tmp_path: Path) -> None:
    Store.open(sqlite_url, create=True).close()
    there = tmp_path / "there.db"
    there.write_text("mine")
    nowhere = tmp_path / "nowhere" / "copy.db"
    for target, message in (
        (there, f"{there}: the file already exists; give the backup a new name"),
        (nowhere, f"{nowhere}: the folder does not exist; create it or give another path"),
    ):
        with pytest.raises(InputError) as caught:
            database.backup(sqlite_url, str(target))
        assert str(caught.value) == message
    assert there.read_text() == "mine"


def test_a_backup_of_something_else(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database" * 100)
    for name in ("text.db", "missing.db"):
        with pytest.raises(DatabaseError):
            database.backup(str(tmp_path / name), str(tmp_path / "copy.db"))
        assert not (tmp_path / "copy.db").exists()


def test_postgres_has_its_own_tool(postgres_url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="back up a Postgres database with its own tool, pg_dump"):
        database.backup(postgres_url, str(tmp_path / "copy.db"))

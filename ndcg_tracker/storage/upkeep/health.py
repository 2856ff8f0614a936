"""What ``doctor`` tells of a database: version, revision, integrity and space, with advice for each problem."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from sqlalchemy import Connection

from ndcg_tracker.storage.bulk.sqlite import ArrowChoice
from ndcg_tracker.storage.connection import FailedDatabaseError, opened, read_transaction
from ndcg_tracker.storage.database_url import Location, parsed_location
from ndcg_tracker.storage.session import Session
from ndcg_tracker.storage.store import ReadTransaction
from ndcg_tracker.storage.upkeep.handshake import Kind, State, found_state, refusal

Health = Literal["ok", "note", "bad"]

LITTLE_ROOM = 1 << 28  # bytes
MUCH_FREE, FEW_BYTES = 0.3, 1 << 26
"""The share of a file that may be free without a note, and the size below which free space never matters."""
_SECOND_WRITER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    sys.exit(error.sqlite_errorcode)
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One health check: its state, the finding, and what to do ("" for nothing).

    The texts hold arguments that are not worded yet (see ``errors.worded``).
    """

    check: str
    state: Health
    found: str
    advice: str = ""


def examine(location: str) -> Iterator[Finding]:
    """Yield the health checks of a location (``doctor``), whatever is there, without writing.

    It skips checks that an earlier finding makes impossible.
    """
    where = parsed_location(location)
    check = "schema"
    try:
        with opened(where) as engine:
            state = found_state(engine, where)
            yield _of_state(state, where)
            if state.kind is not Kind.CURRENT:
                return
            with read_transaction(engine, where) as connection:
                check = "version"
                yield _version(connection, where)
                check = "space"
                yield _space(connection, where)
                check = "integrity"
                yield _integrity(ReadTransaction(Session(connection, ArrowChoice())))
    except FailedDatabaseError as error:
        reason = error.reason
        if not reason.is_missing_right:
            yield Finding(check, "bad", reason.what, reason.advice)
        else:
            what = f"{reason.what}, so this was not checked"
            yield Finding(check, "note", what, "run doctor as a role that reads the tables")


def _of_state(state: State, location: Location) -> Finding:
    if state.kind is Kind.CURRENT:
        where = "" if state.schema is None else f"; its tables are in schema {state.schema!r} of search_path"
        return Finding("schema", "ok", f"{state.detail}, the latest that this program knows{where}")
    reason = refusal(state, location).reason
    is_usual = state.kind in (Kind.MISSING, Kind.EMPTY, Kind.OLDER)
    return Finding("schema", "note" if is_usual else "bad", reason.what, reason.advice)


def _version(connection: Connection, location: Location) -> Finding:
    if location.url is None:
        return Finding("version", "ok", f"SQLite {sqlite3.sqlite_version}")
    return Finding("version", "ok", f"Postgres {connection.exec_driver_sql('SHOW server_version').scalar()}")


def _space(connection: Connection, location: Location) -> Finding:
    """Return the size of the database; of a file also how much deleted rows have left, and how full the disk is."""
    if location.path is None:
        n_bytes = connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one()
        return Finding("space", "ok", f"{n_bytes / 1e6:,.1f} MB")
    n_pages, n_free, page_size = (
        connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
        for name in ("page_count", "freelist_count", "page_size")
    )
    room = shutil.disk_usage(location.path.absolute().parent).free
    share = n_free / max(n_pages, 1)
    what = f"{share:.0%} of {n_pages * page_size / 1e6:,.1f} MB is free for new rows; {room / 1e9:,.1f} GB on the disk"
    if room < LITTLE_ROOM:
        return Finding("space", "bad", what, "free some space before the next ingest")
    if n_pages * page_size < FEW_BYTES or share <= MUCH_FREE:
        return Finding("space", "ok", what)
    return Finding("space", "note", what, "new runs use it; to give it back to the disk: ndcg-track db vacuum")


def _integrity(tx: ReadTransaction) -> Finding:
    damage, n_runs = tx.damage(), len(tx.runs.without_facts())
    if damage:
        return Finding("integrity", "bad", "; ".join(damage), "restore a backup, or report what was found")
    runs = f"{n_runs:,} {'run' if n_runs == 1 else 'runs'}, with all that they must have"
    return Finding("integrity", "ok", runs, "to compute digests and results again, type: ndcg-track db check")


def unlocked(path: Path) -> list[str]:
    """Return one sentence if the file system lets a second process write at the same time (``db check``)."""
    with TemporaryDirectory(prefix=".ndcg-track-", dir=path.absolute().parent) as folder:
        trial = str(Path(folder) / "trial.db")
        with closing(sqlite3.connect(trial, isolation_level=None)) as first:
            first.execute("BEGIN IMMEDIATE")
            command = [sys.executable, "-c", _SECOND_WRITER, trial]
            second = subprocess.run(command, capture_output=True, check=False)
    if second.returncode == sqlite3.SQLITE_BUSY:
        return []
    return ["the file system does not lock out a second writer: put the database on a local disk, or use Postgres"]

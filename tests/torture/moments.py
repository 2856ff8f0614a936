"""Where a writing process is: outside of its transaction, inside, or writing pages into the database file."""

from __future__ import annotations

import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import Literal

import psycopg

from ndcg_tracker.storage.connection import wal_is_safe

Where = Literal["outside", "inside", "writing the file"]

_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_IN_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'ndcg-tracker'
    AND backend_xid IS NOT NULL AND upper(query) NOT LIKE 'COMMIT%' AND query NOT LIKE '%ndcg_tracker_analyze%'
"""
"""What renews the planner's statistics is a transaction of its own, after the run is committed."""


class PostgresMoments:
    """The server is asked whether a transaction of the program has written and has not been told to end."""

    poll_seconds = 0.003
    leaves_traces = False
    inside_is_undone = True

    def __init__(self, url: str) -> None:
        self._conninfo = url.replace("+psycopg", "")

    def where(self) -> Where:
        """Return where the only writer is."""
        with psycopg.connect(self._conninfo) as connection:
            row = connection.execute(_IN_TRANSACTION).fetchone()
        return "inside" if row is not None and row[0] else "outside"


class WalMoments:
    """Another write transaction is tried: it cannot begin while one is open."""

    poll_seconds = 0.003
    leaves_traces = False
    inside_is_undone = False  # the lock is let go a moment after the transaction is committed

    def __init__(self, url: str) -> None:
        self._path = url.removeprefix("sqlite:///")

    def where(self) -> Where:
        """Return where the only writer is."""
        with closing(sqlite3.connect(self._path, timeout=0, isolation_level=None)) as other:
            try:
                other.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                return "inside" if "locked" in str(error) else "outside"
            other.execute("ROLLBACK")
            return "outside"


class JournalMoments:
    """The rollback journal is looked at: it is there while a transaction writes, and a killed one leaves it.

    Its header says how many pages it holds once they are safely in it, which is when the database file itself begins
    to be written.
    """

    poll_seconds = 0.0002
    leaves_traces = True
    inside_is_undone = True

    def __init__(self, url: str) -> None:
        self._journal = Path(url.removeprefix("sqlite:///") + "-journal")

    def where(self) -> Where:
        """Return where the only writer is, or was when it was killed."""
        try:
            with self._journal.open("rb") as file:
                header = file.read(12)
        except FileNotFoundError:
            return "outside"
        if not header:
            return "outside"
        is_synced = len(header) == 12 and header[:8] == _JOURNAL_MAGIC and struct.unpack(">I", header[8:])[0] > 0
        return "writing the file" if is_synced else "inside"


Moments = PostgresMoments | WalMoments | JournalMoments


def moments(url: str) -> Moments:
    """Return what tells where the writer of a database is."""
    if not url.startswith("sqlite"):
        return PostgresMoments(url)
    return WalMoments(url) if wal_is_safe() else JournalMoments(url)

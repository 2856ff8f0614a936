"""Copies of a SQLite database that is in use."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.connection import database_errors, sqlite_connection
from ndcg_tracker.storage.database_url import Location


def backup_to(location: Location, target: Path) -> Path:
    """Copy a SQLite database, as it is at one moment, into a new file and return that file's path.

    Raises: InputError where the target exists or the database is on Postgres; DatabaseError where copying fails, and
    then the target is removed.
    """
    if location.path is None:
        raise InputError("back up a Postgres database with its own tool, pg_dump", where=location.display_url)
    if target.exists():
        raise InputError("the file already exists", where=target, advice="give the backup a new name")
    if not target.absolute().parent.is_dir():
        raise InputError("the folder does not exist", where=target, advice="create it or give another path")
    try:
        with (
            database_errors(location),
            closing(sqlite_connection(location.path)) as source,
            closing(sqlite_connection(target, create=True)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            verdict = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise DatabaseError(f"the backup is damaged ({verdict}); nothing was changed", where=location.display_url)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def backup_beside(location: Location, revision: str) -> Path:
    """Back a SQLite database up next to itself, before its upgrade from ``revision``, and return the copy's path."""
    path = location.path
    if path is None:
        raise ValueError("only a SQLite database is backed up next to itself")
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    return backup_to(location, path.with_name(f"{path.name}.{revision}-{moment}.backup"))

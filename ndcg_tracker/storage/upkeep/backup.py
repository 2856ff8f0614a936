"""Copies of a SQLite database that is in use, and a database of such a copy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.connection import database_errors, sqlite_connection, use_best_journal
from ndcg_tracker.storage.database_url import Location

Progress = Callable[[int, int | None], None]
"""Called with how many bytes are done, and how many there are."""
_PAGES_AT_ONCE = 4096


def backup_to(location: Location, target: Path, progress: Progress | None = None) -> Path:
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
            page_size = source.execute("PRAGMA page_size").fetchone()[0]

            def told(_: int, remaining: int, total: int) -> None:
                if progress is not None:
                    progress((total - remaining) * page_size, total * page_size)

            source.execute("BEGIN")
            source.execute("SELECT count(*) FROM sqlite_master").fetchone()  # or the copy begins again after a write
            source.backup(copy, pages=_PAGES_AT_ONCE, progress=told)
            source.execute("COMMIT")
            copy.execute("PRAGMA journal_mode = DELETE")
            verdict = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise DatabaseError(f"the backup is damaged ({verdict}); nothing was changed", where=location.display_url)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return target


def restore_from(location: Location, source: Location, progress: Progress | None = None) -> Path:
    """Make a new SQLite database of a backup, and return its path (see ``backup_to``).

    Raises: InputError where there is a database already, or one of the two is on Postgres.
    """
    if location.path is None or source.path is None:
        raise InputError(
            "restore a Postgres database with its own tools, pg_restore or psql",
            where=(location if location.path is None else source).display_url,
            advice="see then whether all is well with: ndcg-track doctor",
        )
    path = backup_to(source, location.path, progress)
    use_best_journal(path)
    return path


def backup_beside(location: Location, revision: str) -> Path:
    """Back a SQLite database up next to itself, before its upgrade from ``revision``, and return the copy's path."""
    path = location.path
    if path is None:
        raise ValueError("only a SQLite database is backed up next to itself")
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    return backup_to(location, path.with_name(f"{path.name}.{revision}-{moment}.backup"))

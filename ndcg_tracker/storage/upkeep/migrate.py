"""Create and upgrade the schema with the migrations, one process at a time, after a copy of a SQLite file."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from ndcg_tracker.errors import DatabaseError, InputError, argument, full_disk
from ndcg_tracker.storage.connection import (
    DISK_FULL,
    FailedDatabaseError,
    database_errors,
    opened,
    sqlite_connection,
    use_best_journal,
    write_transaction,
)
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.upkeep.handshake import (
    Kind,
    found_state,
    migrations_folder,
    newest_revision,
    refusal,
    snapshot_statements,
    state_within,
)

Progress = Callable[[int, int | None], None]
"""Called with the number of bytes done, and of all bytes."""
_PAGES_AT_ONCE = 4096


def backup_to(location: Location, target: Path, progress: Progress | None = None) -> Path:
    """Copy one state of a SQLite database into a new file and return that file's path.

    Raises: InputError if the target exists, the disk is full or the database is on Postgres; DatabaseError if copying
    fails otherwise. The file appears when it is complete.
    """
    if location.path is None:
        raise InputError("back up a Postgres database with its own tool, pg_dump", where=location.display_url)
    if target.exists():
        raise InputError("the file already exists", where=target, advice="give the backup a new name")
    if not target.absolute().parent.is_dir():
        raise InputError("the folder does not exist", where=target, advice="create it or give another path")
    beside = target.with_name(f".ndcg-track-{secrets.token_hex(8)}")  # as ``render/whole_file`` names files
    try:
        with (
            database_errors(location),
            closing(sqlite_connection(location.path)) as source,
            closing(sqlite_connection(beside, create=True)) as copy,
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
        beside.rename(target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, FailedDatabaseError) and error.reason is DISK_FULL:
            raise full_disk(target, location.path.stat().st_size) from None
        raise
    return target


def restore_from(location: Location, source: Location, progress: Progress | None = None) -> Path:
    """Create a new SQLite database from a backup, and return its path (see ``backup_to``)."""
    if location.path is None or source.path is None:
        raise InputError(
            "restore a Postgres database with its own tools, pg_restore or psql",
            where=(location if location.path is None else source).display_url,
            advice="then check it with: ndcg-track doctor",
        )
    path = backup_to(source, location.path, progress)
    use_best_journal(path)
    return path


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """The result of an upgrade. ``before``: the revision found, None if none; ``backup``: the copy made."""

    before: str | None
    after: str
    backup: Path | None

    @property
    def changed(self) -> bool:
        """Whether the schema was created or changed."""
        return self.before != self.after


def upgrade_database(location: Location) -> UpgradeResult:
    """Upgrade the database to the latest schema, or create it.

    Any number of processes may do so at once: one does the work, and the others find it done. A SQLite file with a
    schema is backed up first. Raises: DatabaseError for a newer or unknown database, or one of another program.
    """
    if location.path is not None and not location.path.absolute().parent.is_dir():
        advice = f"create it or give {argument('location')} another path"
        raise DatabaseError("its folder does not exist", where=location.display_url, advice=advice)
    with opened(location, create=True) as engine:
        state = found_state(engine, location)
        if state.kind is Kind.CURRENT:
            return UpgradeResult(state.detail, state.detail, None)
        if state.kind not in (Kind.MISSING, Kind.EMPTY, Kind.OLDER):
            raise refusal(state, location)
        result = filled(engine, location)
        if location.path is not None and result.before is None:
            use_best_journal(location.path)
        return result


def filled(engine: Engine, location: Location) -> UpgradeResult:
    """Upgrade the open database to the latest schema, or create it (see ``upgrade_database``)."""
    with write_transaction(engine, location, migrating=True) as connection:
        state = state_within(connection)
        if state.kind is Kind.CURRENT:
            return UpgradeResult(state.detail, state.detail, None)
        if state.kind not in (Kind.EMPTY, Kind.OLDER):
            raise refusal(state, location)
        _check_encoding(connection, location)
        backup = None
        if location.path is not None and state.kind is Kind.OLDER:
            named = f"{location.path.name}.{state.detail}-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.backup"
            backup = backup_to(location, location.path.with_name(named))
        if not (state.kind is Kind.EMPTY and location.path is not None and _made_at_once(connection)):
            before = _row_counts(connection)
            run_alembic(connection, "upgrade", "head")
            _check_nothing_lost(connection, location, before)
        return UpgradeResult(state.detail or None, newest_revision(), backup)


def _made_at_once(connection: Connection) -> bool:
    """Create the latest schema in a new SQLite database without Alembic; return whether a snapshot fits."""
    is_new = connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar() == 0
    statements = snapshot_statements() if is_new else None
    for statement in statements or ():
        connection.exec_driver_sql(statement)
    return statements is not None


def run_alembic(connection: Connection, command: str, revision: str) -> None:
    """Run Alembic's ``upgrade`` or ``downgrade`` within the transaction that the connection is in."""
    from alembic import command as commands
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(migrations_folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    {"upgrade": commands.upgrade, "downgrade": commands.downgrade}[command](config, revision)


def _check_encoding(connection: Connection, location: Location) -> None:
    if connection.dialect.name == "postgresql":
        encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
        if encoding != "UTF8":
            what = f"the database is encoded in {encoding}, which cannot hold every id"
            advice = "create one with: createdb --encoding UTF8 --template template0 NAME"
            raise DatabaseError(what, where=location.display_url, advice=advice)


def _row_counts(connection: Connection) -> dict[str, int]:
    """Return how many rows each of our tables has; other programs may have tables in the same schema."""
    inspector = sa.inspect(connection)  # without a schema it lists those of the whole search_path
    names = set(inspector.get_table_names(inspector.default_schema_name)).intersection(metadata.tables)
    return {name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in sorted(names)}


def _check_nothing_lost(connection: Connection, location: Location, before: dict[str, int]) -> None:
    """Raise if the migration lost rows or broke a reference; the transaction is then rolled back."""
    after = _row_counts(connection)
    lost = sorted(name for name, count in before.items() if name in after and after[name] < count)
    broken: list[str] = []
    if connection.dialect.name == "sqlite":
        broken = sorted({str(row[0]) for row in connection.exec_driver_sql("PRAGMA foreign_key_check")})
    if lost or broken:
        what = f"the upgrade would damage {', '.join(lost or broken)}; nothing was changed"
        raise DatabaseError(what, where=location.display_url, advice="please report this", joint=": ")

"""The operations on a database: a function for each command ``db``."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from glob import escape
from pathlib import Path

from sqlalchemy import Connection, Engine

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.connection import (
    database_errors,
    notices,
    opened,
    read_transaction,
    sqlite_connection,
)
from ndcg_tracker.storage.database_url import Location, parsed_location
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep.grants import Roles, granted
from ndcg_tracker.storage.upkeep.handshake import Kind, State, found_state, refusal
from ndcg_tracker.storage.upkeep.migrate import (
    Progress,
    UpgradeResult,
    backup_to,
    restore_from,
    upgrade_database,
)


@dataclass(frozen=True, slots=True)
class VacuumResult:
    """The bytes of the database before and after."""

    before: int
    after: int


def vacuum(location: str, *, full: bool = False) -> VacuumResult:
    """Return free space to the disk and renew statistics (``db vacuum``); return the old and the new size.

    SQLite rewrites the file, which needs as much free space again, while others wait. Postgres frees the space of
    deleted rows for new ones and renews the statistics, while others work; ``full`` rewrites the tables, while others
    wait. Raises: DatabaseError for a database without the latest schema, or if
    the role does not own it.
    """
    where = parsed_location(location)
    with opened(where) as engine:
        state = found_state(engine, where)
        if state.kind is not Kind.CURRENT:
            raise refusal(state, where)
        return _in_postgres(engine, where, full=full) if where.path is None else _in_file(where, where.path)


def _in_file(location: Location, path: Path) -> VacuumResult:
    before = path.stat().st_size
    with database_errors(location), closing(sqlite_connection(path)) as connection:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return VacuumResult(before, path.stat().st_size)


def _in_postgres(engine: Engine, location: Location, *, full: bool) -> VacuumResult:
    with read_transaction(engine, location) as connection:
        size = _n_bytes(connection)
    with database_errors(location), engine.connect() as connection:
        autocommit = connection.execution_options(isolation_level="AUTOCOMMIT")
        with notices(autocommit, lambda diagnostic: diagnostic.severity_nonlocalized == "WARNING") as refused:
            for table in metadata.sorted_tables:
                autocommit.exec_driver_sql(f"VACUUM ({'FULL, ' if full else ''}ANALYZE) {table.name}")
        if refused:
            raise DatabaseError(refused[0], where=location.display_url, advice="run it as the owner of the tables")
        return VacuumResult(size, _n_bytes(autocommit))


def _n_bytes(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())


def upgrade(location: str) -> UpgradeResult:
    """Create or upgrade the schema (``db upgrade``) and return the result."""
    return upgrade_database(parsed_location(location))


def current(location: str) -> State:
    """Return what is at the location (``db current``), without writing."""
    where = parsed_location(location)
    with opened(where) as engine:
        return found_state(engine, where)


def restore(location: str, source: str, progress: Progress | None = None) -> Path:
    """Create a new SQLite database from a backup (``db restore``), and return its path."""
    return restore_from(parsed_location(location), parsed_location(source), progress)


def delete_backups(location: str, dataset: str) -> list[str]:
    """Delete the backups next to a SQLite file that have a dataset; return their names."""
    path = parsed_location(location).path
    deleted = []
    for backup in sorted(path.parent.glob(f"{escape(path.name)}.*.backup")) if path is not None else ():
        with closing(sqlite_connection(backup)) as connection:
            if connection.execute("SELECT 1 FROM datasets WHERE name = ?", (dataset,)).fetchone():
                deleted.append(backup)
    for backup in deleted:
        backup.unlink()
    return [backup.name for backup in deleted]


def check(location: str) -> list[str]:
    """Return the damage in a database with the latest schema (``db check``), nothing if it is intact."""
    with Store.open(location, opens="any") as store, store.read() as transaction:
        return transaction.damage()


def backup(location: str, target: str, progress: Progress | None = None) -> Path:
    """Copy a SQLite database, in use or not, into a new file (``db backup``), and return its path."""
    return backup_to(parsed_location(location), Path(target), progress)


def grant(location: str, roles: Roles, *, apply: bool = False) -> list[str]:
    """Return the statements that give a team's roles their rights (``db grant``); ``apply`` runs them."""
    return granted(parsed_location(location), roles, apply=apply)

"""What is done to a database as a whole: a function for each command ``db``."""

from __future__ import annotations

from pathlib import Path

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.upkeep.backup import Progress, backup_to, restore_from
from ndcg_tracker.storage.upkeep.grants import Roles, granted
from ndcg_tracker.storage.upkeep.handshake import Kind, State
from ndcg_tracker.storage.upkeep.migrate import UpgradeResult, database_state, upgrade_database
from ndcg_tracker.storage.upkeep.vacuum import VacuumResult, vacuumed


def upgrade(location: str) -> UpgradeResult:
    """Create or upgrade the schema (``db upgrade``) and return what was done."""
    return upgrade_database(parsed_location(location))


def current(location: str) -> State:
    """Return what is at the location (``db current``); nothing is written."""
    return database_state(parsed_location(location))


def restore(location: str, source: str, progress: Progress | None = None) -> tuple[Path, int | None]:
    """Make a new SQLite database of a backup (``db restore``); return its path and how many runs it has (see below)."""
    return _checked_copy(restore_from(parsed_location(location), parsed_location(source), progress))


def _checked_copy(path: Path) -> tuple[Path, int | None]:
    """Return the path of a copy, and how many runs it has, each with all its lists and results.

    None for a copy of another schema, of which only the file is checked. A copy that is damaged is removed.
    """
    if database_state(parsed_location(str(path))).kind is not Kind.CURRENT:
        return path, None
    with Store.open(str(path), read_only=True) as store, store.read() as tx:
        damage, n_runs = tx.damage(), len(tx.runs.all())
    if damage:
        path.unlink()
        raise DatabaseError(
            f"the copy is damaged ({'; '.join(damage)}) and was removed", where=path, advice="copy another backup"
        )
    return path, n_runs


def vacuum(location: str, *, full: bool = False) -> VacuumResult:
    """Give free space back and renew statistics (``db vacuum``)."""
    return vacuumed(parsed_location(location), full=full)


def check(location: str) -> list[str]:
    """Return the damage in a database of the newest schema (``db check``), nothing if it is intact."""
    with Store.open(location) as store, store.read() as transaction:
        return transaction.damage()


def backup(location: str, target: str, progress: Progress | None = None) -> tuple[Path, int | None]:
    """Copy a SQLite database, in use or not, into a new file (``db backup``); return what ``restore`` does."""
    return _checked_copy(backup_to(parsed_location(location), Path(target), progress))


def grant(location: str, roles: Roles, *, apply: bool = False) -> list[str]:
    """Return the statements that give a team's roles their rights (``db grant``); ``apply`` runs them."""
    return granted(parsed_location(location), roles, apply=apply)

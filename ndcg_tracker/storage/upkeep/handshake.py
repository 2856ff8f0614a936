"""Find out what kind of database is at a location, without writing, and which revisions the program knows."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import OperationalError

from ndcg_tracker.errors import argument
from ndcg_tracker.storage.connection import FailedDatabaseError, Reason, read_transaction
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.schema import VERSION_TABLE

_PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS = (_PACKAGE / "migrations", _PACKAGE.parent / "migrations")
"""Where the migrations may be: inside the package in a wheel, next to it in a checkout."""

SEPARATOR = "\n;\n"
"""Separates the statements of a snapshot."""


_SEARCH_PATH = re.compile(r"(?:-c\s*|--)search[_-]path=((?:\\.|[^\s\\])+)", re.DOTALL)
_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
_HEADER = b"SQLite format 3\0"
_SMALLEST_DATABASE = 512  # bytes: the smallest page that SQLite has
_POSTGRES_TABLES = """
    SELECT relname FROM pg_class c
    WHERE relkind IN ('r', 'p') AND relnamespace = quote_ident(current_schema())::regnamespace
    AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
    )
"""
_OTHER_SCHEMAS = """
    SELECT n.nspname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = %(table)s AND n.nspname = ANY (%(path)s) ORDER BY array_position(%(path)s, n.nspname::text)
"""


def migrations_folder() -> Path:
    """Return the first of ``FOLDERS`` that contains the migrations."""
    for folder in FOLDERS:
        if (folder / "env.py").is_file():
            return folder
    raise RuntimeError(f"ndcg_tracker is installed without its migrations: none next to {_PACKAGE}")


def known_revisions() -> list[str]:
    """Return the ids of all revisions, oldest first, from the file names, because Alembic is slow to import."""
    return sorted(path.name[:4] for path in (migrations_folder() / "versions").glob("[0-9][0-9][0-9][0-9]_*.py"))


def newest_revision() -> str:
    """Return the id of the revision that this program reads and writes."""
    return known_revisions()[-1]


def snapshot_file(folder: Path) -> Path:
    """Return the path of the SQL snapshot of the latest SQLite schema in a folder of migrations."""
    return folder / "newest.sqlite.sql"


def snapshot_statements() -> list[str] | None:
    """Return the statements that create the latest schema in an empty SQLite database, None if no snapshot fits.

    With Alembic and all migrations the first ``ingest`` into a new file takes 0.48 s of processor time instead of 0.36
    s (``benchmarks/tricks.py``).
    """
    file = snapshot_file(migrations_folder())
    statements = file.read_text(encoding="utf-8").removesuffix("\n").split(SEPARATOR) if file.is_file() else [""]
    return statements if statements[-1].endswith(f"VALUES ('{newest_revision()}')") else None


class Kind(Enum):
    """The kinds of content that a location can have."""

    MISSING = "missing"
    EMPTY = "empty"
    CURRENT = "current"
    OLDER = "older"
    NEWER = "newer"
    UNKNOWN = "unknown"
    FOREIGN = "foreign"
    NOT_A_DATABASE = "not a database"
    BEHIND = "behind another schema"


@dataclass(frozen=True, slots=True)
class State:
    """The content of a location.

    ``detail``: our revision, a table of another program, the problem, or another schema in ``search_path``.
    ``schema``: the Postgres schema that was inspected, the first in ``search_path``; None if that has only ``public``.
    """

    kind: Kind
    detail: str = ""
    schema: str | None = None


def found_state(engine: Engine, location: Location) -> State:
    """Return what is at the location, without writing (except the rollback of a killed writer's transaction)."""
    path = location.path
    if path is not None:
        if not path.exists():
            return State(Kind.MISSING)
        if not path.is_file():
            return State(Kind.NOT_A_DATABASE, "it is a folder" if path.is_dir() else "it is not a regular file")
        # SQLite takes any file of a few bytes for an empty database, and would overwrite it.
        if 0 < path.stat().st_size < _SMALLEST_DATABASE or _is_no_sqlite(path):
            return State(Kind.NOT_A_DATABASE, "it is a file of another kind")
    with read_transaction(engine, location) as connection:
        _check_options(connection, location)
        return state_within(connection)


def _is_no_sqlite(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return not _HEADER.startswith(file.read(len(_HEADER)))
    except OSError:  # opening it as a database says why
        return False


def _check_options(connection: Connection, location: Location) -> None:
    """Refuse a search_path in the URL that a pooler such as PgBouncer has dropped."""
    asked = [] if location.url is None else _SEARCH_PATH.findall(str(location.url.query.get("options", "")))
    if asked:
        present, wanted = str(connection.exec_driver_sql("SHOW search_path").scalar()), asked[-1].replace("\\", "")
        if _names(wanted) != _names(present):
            what = f"?options= in the URL asks for search_path {wanted}, but the connection has {present}"
            advice = "a pooler such as PgBouncer drops them: remove them, and use ALTER ROLE ... SET"
            raise FailedDatabaseError(location, Reason(what, advice))


def _names(path: str) -> list[str]:
    return [name.strip(' "') for name in path.split(",")]


def state_within(connection: Connection) -> State:
    """Return what the database of this connection holds, as its transaction sees it.

    On Postgres this inspects only the first schema of ``search_path``, where tables are created. Names are found in the
    first schema that has them, so our tables in a later schema could be mistaken for those of other programs.
    """
    if connection.dialect.name == "sqlite":
        with suppress(OperationalError):  # without such a table, what is there says more
            if _revisions(connection) == [newest_revision()]:
                return State(Kind.CURRENT, newest_revision())
        return _state_of(connection, sorted(connection.exec_driver_sql(_SQLITE_TABLES).scalars()))
    path = connection.exec_driver_sql("SELECT current_schemas(false)").scalar_one()
    schema = path[0] if path else None
    tables = sorted(connection.exec_driver_sql(_POSTGRES_TABLES).scalars())
    if VERSION_TABLE not in tables:
        role, named = connection.exec_driver_sql("SELECT current_user::text, current_setting('search_path')").one()
        given = {"table": VERSION_TABLE, "path": [role if name == "$user" else name for name in _names(named)]}
        other = connection.exec_driver_sql(_OTHER_SCHEMAS, given).scalars().first()
        if other is not None:
            return State(Kind.BEHIND, other, schema)
    return replace(_state_of(connection, tables), schema=None if path == ["public"] else schema)


def _state_of(connection: Connection, tables: list[str]) -> State:
    if VERSION_TABLE not in tables:
        return State(Kind.FOREIGN, tables[0]) if tables else State(Kind.EMPTY)
    revisions = _revisions(connection)
    if not revisions and tables == [VERSION_TABLE]:
        return State(Kind.EMPTY)
    if len(revisions) != 1:
        return State(Kind.UNKNOWN, ", ".join(revisions) or "none")
    return State(_age(revisions[0]), revisions[0])


def _revisions(connection: Connection) -> list[str]:
    return sorted(connection.exec_driver_sql(f"SELECT version_num FROM {VERSION_TABLE}").scalars())


def _age(revision: str) -> Kind:
    if revision == newest_revision():
        return Kind.CURRENT
    if revision in known_revisions():
        return Kind.OLDER
    is_number = len(revision) == 4 and revision.isascii() and revision.isdigit()
    return Kind.NEWER if is_number and revision > newest_revision() else Kind.UNKNOWN


def refusal(state: State, location: Location) -> FailedDatabaseError:
    """Return the error for a database that cannot be used, with the command that fixes it."""
    ours, detail = newest_revision(), state.detail
    another_path = f"give {argument('location')} another path"
    schema = None if state.schema is None else f"schema {state.schema!r} of search_path"
    holder, within = schema or "the database", "" if schema is None else f" in {schema}"
    own_schema = "create a schema for it alone, make that the first of search_path, and run db upgrade; or "
    reasons = {
        Kind.MISSING: Reason(
            "the database does not exist", f"create it with: {location.command('ingest FILE --labels LABELS')}"
        ),
        Kind.EMPTY: Reason(f"{holder} is empty", f"create its tables with: {location.command('db upgrade')}"),
        Kind.OLDER: Reason(
            f"the database has the older schema {detail}{within}; this program needs {ours}",
            f"upgrade it with: {location.command('db upgrade')}",
        ),
        Kind.NEWER: Reason(
            f"the database has the newer schema {detail}{within}; this program knows up to {ours}",
            "upgrade the program with: pip install --upgrade ndcg-tracker",
        ),
        Kind.UNKNOWN: Reason(
            f"the database has a schema that no version of ndcg-tracker has ({detail}){within}",
            f"restore a backup of it or {another_path}",
        ),
        Kind.FOREIGN: Reason(
            f"{holder} belongs to another program (it has a table {detail!r})",
            f"{'' if schema is None else own_schema}give {argument('location')} a separate database",
        ),
        Kind.BEHIND: Reason(
            f"the tables are in schema {detail!r}, which is not the first of search_path that this role may use",
            f"make it the first: ALTER ROLE ... SET search_path = {detail}; or ask its owner to run: GRANT USAGE ON "
            f"SCHEMA {detail} TO ...; GRANT SELECT ON ALL TABLES IN SCHEMA {detail} TO ...",
        ),
        Kind.NOT_A_DATABASE: Reason(f"not a SQLite database, {detail}", another_path),
    }
    return FailedDatabaseError(location, reasons[state.kind])

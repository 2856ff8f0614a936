"""Health checks for a database: its file or server, its schema and its integrity, with advice for each problem."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from sqlalchemy import Connection

from ndcg_tracker.errors import argument
from ndcg_tracker.storage.bulk.sqlite import ArrowChoice
from ndcg_tracker.storage.connection import (
    FailedDatabaseError,
    opened,
    read_transaction,
    wal_is_safe,
)
from ndcg_tracker.storage.database_url import Location, parsed_location
from ndcg_tracker.storage.locks import CONTENT, CREATION, MARKS, Holder, holders
from ndcg_tracker.storage.schema import metadata
from ndcg_tracker.storage.session import Session
from ndcg_tracker.storage.store import ReadTransaction
from ndcg_tracker.storage.upkeep.catalogue import expected_catalogue
from ndcg_tracker.storage.upkeep.handshake import Kind, State, refusal
from ndcg_tracker.storage.upkeep.migrate import database_state

Health = Literal["ok", "note", "bad"]

LITTLE_ROOM = 1 << 28  # bytes
_NETWORK = ("nfs", "cifs", "smb", "9p", "afs", "ceph", "gluster", "lustre", "fuse.sshfs", "fuse.s3fs", "davfs")
_FIRST_BYTES_WAL = (18, 19)  # file format versions in the header: 2 is a write-ahead log
_SECOND_WRITER = """
import sqlite3, sys
try:
    sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
except sqlite3.OperationalError as error:
    sys.exit(error.sqlite_errorcode)
"""
MUCH_FREE, FEW_BYTES = 0.3, 1 << 26
"""The share of a database that may be free without a note, and the size below which free space never matters."""
PLANNED = ("datasets", "metrics", "label_sets", "runs", "evaluations", "groups", "group_results", "ranked_lists")
"""The tables whose statistics the query plans of the views need."""
LONG_SECONDS = 300
_MORE = "this does not compute digests and results again; to do so, type: ndcg-track db check"

_TABLES = """
    SELECT c.relname::text, c.reltuples < 0 AND pg_relation_size(c.oid) > 0, pg_table_size(c.oid)::bigint,
        least(100, 100.0 * %(pages)s / greatest(pg_relation_size(c.oid) / current_setting('block_size')::int, 1))
    FROM pg_class c
    WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r'
    AND c.relname = ANY (%(names)s)
    ORDER BY c.relname
"""
"""For each table: whether it lacks statistics, its bytes, and the percentage to sample for a few pages."""
_SAMPLED_PAGES, _SAMPLED_BYTES, _BYTES_BESIDE_ROW = 400, 1 << 18, 32


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
    if where.path is not None:
        yield from _file_findings(where.path)
    try:
        state = database_state(where)
    except FailedDatabaseError as error:
        yield Finding("database", "bad", error.reason.what, error.reason.advice)
        return
    yield _of_state(state, where)
    if state.kind is not Kind.CURRENT:
        return
    of_server = where.url is not None
    lacking: dict[str, str] = {}
    for name, findings, is_run in (
        ("server", _server_findings, of_server),
        ("space", _space_findings, True),
        ("integrity", lambda location: iter([_integrity(location)]), True),
    ):
        try:
            yield from findings(where) if is_run else ()
        except FailedDatabaseError as error:
            if not error.reason.is_missing_right:
                yield Finding(name, "bad", error.reason.what, error.reason.advice)
                break
            lacking[name] = error.reason.what
    if lacking:
        yield Finding(
            "rights", "note", f"{next(iter(lacking.values()))}, so these were not checked: {', '.join(lacking)}",
            "run doctor as a role that reads the tables",
        )  # fmt: skip


def _of_state(state: State, location: Location) -> Finding:
    if state.kind is Kind.CURRENT:
        where = "" if state.schema is None else f"; its tables are in schema {state.schema!r} of search_path"
        return Finding("schema", "ok", f"{state.detail}, the latest that this program knows{where}")
    reason = refusal(state, location).reason
    is_usual = state.kind in (Kind.MISSING, Kind.EMPTY, Kind.OLDER)
    return Finding("schema", "note" if is_usual else "bad", reason.what, reason.advice)


def _integrity(location: Location) -> Finding:
    with opened(location) as engine:
        expected = expected_catalogue(engine)
        with read_transaction(engine, location) as connection:
            tx = ReadTransaction(Session(connection, ArrowChoice()))
            damage, n_runs = tx.damage(), len(tx.runs.without_facts())
            damage += [] if expected is None else tx.schema_damage(expected)
            prunings = tx.runs.prunings().values()
    if damage:
        return Finding("integrity", "bad", "; ".join(damage), "restore a backup, or report what was found")
    runs = f"{n_runs:,} {'run' if n_runs == 1 else 'runs'}"
    schema = "" if expected is None else "; views, indexes and triggers are those of the schema"
    n_pruned = sum(pruning.holds.is_pruned for pruning in prunings)
    counts = {"pruned": n_pruned, "stored without all their items": len(prunings) - n_pruned}
    if prunings:
        lacking = " and ".join(f"{n:,} {how}" for how, n in counts.items() if n)
        return Finding("integrity", "ok", f"{runs}, of which {lacking}; nothing else is missing{schema}", _MORE)
    return Finding("integrity", "ok", f"{runs}, each with all its lists and results{schema}", _MORE)


def _space_findings(location: Location) -> Iterator[Finding]:
    """Yield the free space of the database, and on Postgres whether the planner has statistics of its tables."""
    with opened(location) as engine, read_transaction(engine, location) as connection:
        if location.url is None:
            n_pages, n_free, page_size = (
                connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("page_count", "freelist_count", "page_size")
            )
            yield _space(n_free * page_size, n_pages * page_size, is_sqlite=True)
            return
        given = {"names": sorted(metadata.tables), "pages": _SAMPLED_PAGES}
        tables = connection.exec_driver_sql(_TABLES, given).all()
        n_free = sum(_free_bytes(connection, name, n, part) for name, _, n, part in tables)
    unknown = [name for name, is_unknown, *_ in tables if is_unknown and name in PLANNED]
    if unknown:
        yield Finding(
            "planner", "note", f"no statistics of {', '.join(unknown)}: queries may take minutes",
            "as the owner of the tables, type: ndcg-track db vacuum",
        )  # fmt: skip
    else:
        yield Finding("planner", "ok", "it has statistics of the tables")
    yield _space(n_free, sum(n_bytes for _, _, n_bytes, *_ in tables))


def _free_bytes(connection: Connection, table: str, n_bytes: int, percent: Decimal) -> int:
    """Return the free share of a large table, estimated from the rows in some of its pages.

    The server's own count of rows does not help, because a crash loses it.
    """
    if n_bytes < _SAMPLED_BYTES:
        return 0
    stored = " + ".join(f"coalesce(pg_column_size({column.name}), 0)" for column in metadata.tables[table].columns)
    query = (
        f"SELECT coalesce(sum({stored} + {_BYTES_BESIDE_ROW}), 0)::float8 "
        f"FROM {table} TABLESAMPLE SYSTEM ({percent}) REPEATABLE (1)"
    )
    sampled: float = connection.exec_driver_sql(query).scalar_one()
    return max(0, n_bytes - int(sampled * 100 / float(percent)))


def _space(n_free: int, n_bytes: int, *, is_sqlite: bool = False) -> Finding:
    """Return how much space of a database deleted rows have left."""
    share = n_free / n_bytes if n_bytes else 0.0
    what = f"{'' if is_sqlite else 'about '}{share:.0%} of {n_bytes / 1e6:,.1f} MB is free for new rows"
    if n_bytes < FEW_BYTES or share <= MUCH_FREE:
        return Finding("space", "ok", what)
    command = "ndcg-track db vacuum" if is_sqlite else "ndcg-track db vacuum --full"
    return Finding("space", "note", what, f"new runs use it; to give it back to the disk: {command}")


def _file_findings(path: Path) -> Iterator[Finding]:
    """Yield the checks of a SQLite file that may not exist yet: library, journal, disk and locks."""
    folder = path.absolute().parent
    exists = path.is_file()
    yield _file(path, folder, exists=exists)
    yield _library()
    if exists:
        yield _journal(path)
    if folder.is_dir():
        yield _room(path, folder, exists=exists)
        if os.access(folder, os.W_OK):
            yield _locks(folder)


def _file(path: Path, folder: Path, *, exists: bool) -> Finding:
    if not folder.is_dir():
        return Finding(
            "file",
            "bad",
            f"the folder {folder} does not exist",
            f"create it, or give {argument('location')} another path",
        )
    if not os.access(folder, os.W_OK):
        return Finding(
            "file", "bad", f"the folder {folder} cannot be written to, so neither can the database",
            f"get permission to write there, or give {argument('location')} another path",
        )  # fmt: skip
    if not exists:
        return Finding("file", "note", f"{path} does not exist yet", "the first ingest creates it")
    if not os.access(path, os.W_OK):
        return Finding("file", "bad", f"{path} cannot be written to", "get permission to write to it")
    return Finding("file", "ok", f"{path}, {path.stat().st_size / 1e6:,.1f} MB")


def _library() -> Finding:
    version = sqlite3.sqlite_version
    if wal_is_safe():
        return Finding("SQLite", "ok", f"{version}, with a write-ahead log: readers and a writer work at once")
    return Finding(
        "SQLite", "note", f"{version}, whose write-ahead log can be corrupted: the rollback journal is used, and "
        "readers and writers wait for each other",
        "no action needed; with SQLite 3.51.3 or newer they do not wait",
    )  # fmt: skip


def _journal(path: Path) -> Finding:
    with path.open("rb") as file:
        header = file.read(20)
    is_wal = len(header) == 20 and header[_FIRST_BYTES_WAL[0]] == 2
    if is_wal and not wal_is_safe():
        return Finding(
            "journal", "bad", "write-ahead log, which this SQLite may corrupt",
            "close other programs that use the file; the next write turns it off",
        )  # fmt: skip
    return Finding("journal", "ok", "write-ahead log" if is_wal else "rollback journal")


def _room(path: Path, folder: Path, *, exists: bool) -> Finding:
    free = shutil.disk_usage(folder).free
    size = path.stat().st_size if exists else 0
    what = f"{free / 1e9:,.1f} GB free"
    if free < LITTLE_ROOM:
        return Finding("room", "bad", what, "free some space before the next ingest")
    if free < size:
        return Finding("room", "note", f"{what}, less than the database has", "an upgrade and db backup need as much")
    return Finding("room", "ok", what)


def _locks(folder: Path) -> Finding:
    """Test whether the file system keeps a second process from writing at the same time."""
    kind = _file_system(folder)
    with TemporaryDirectory(prefix=".ndcg-track-", dir=folder) as trial:
        path = str(Path(trial) / "trial.db")
        with closing(sqlite3.connect(path, isolation_level=None)) as first:
            first.execute("BEGIN IMMEDIATE")
            command = [sys.executable, "-c", _SECOND_WRITER, path]
            second = subprocess.run(command, capture_output=True, check=False)
            first.execute("ROLLBACK")
    if second.returncode != sqlite3.SQLITE_BUSY:
        return Finding(
            "locks", "bad", f"the file system{_of(kind)} does not lock out a second writer",
            "put the database on a local disk, or use Postgres",
        )  # fmt: skip
    if kind.startswith(_NETWORK):
        return Finding(
            "locks", "note", f"they work, but SQLite is not safe on a network file system ({kind})",
            "put the database on a local disk, or use Postgres",
        )  # fmt: skip
    return Finding("locks", "ok", f"a second writer waits{_of(kind)}")


def _of(kind: str) -> str:
    return f" ({kind})" if kind else ""


def _file_system(folder: Path, mounts: Path = Path("/proc/mounts")) -> str:
    """Return the type of the file system that a folder is on, "" if the system does not say."""
    try:
        lines = mounts.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    best = ("", "")
    for line in lines:
        words = line.split(" ")
        if len(words) > 2:
            point = words[1].replace("\\040", " ")
            if folder.is_relative_to(point) and len(point) >= len(best[0]):
                best = (point, words[2])
    return best[1]


def _server_findings(location: Location) -> Iterator[Finding]:
    """Yield the checks of the server that the role may make: encoding, role and who is writing."""
    with opened(location) as engine, read_transaction(engine, location) as connection:
        version, encoding, size, role, quoted_role, is_superuser, is_replica = connection.exec_driver_sql(
            "SELECT current_setting('server_version'), current_setting('server_encoding'), "
            "pg_database_size(current_database()), current_user::text, quote_ident(current_user), "
            "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user), pg_is_in_recovery()"
        ).one()
        kind = ", a replica: what writes needs the primary" if is_replica else ""
        yield Finding("server", "ok", f"Postgres {version}, {encoding}, {size / 1e6:,.1f} MB{kind}")
        if is_superuser:
            yield Finding("role", "note", f"{role} is a superuser", "give readers a read-only role (docs/sql.md)")
        else:
            yield Finding("role", "ok", role)
        writers = holders(connection, CONTENT, CREATION, MARKS)
    if not writers:
        yield Finding("writer", "ok", "nobody")
        return
    yield _writer(writers[0], len(writers) - 1, quoted_role)


def _writer(writer: Holder, n_others: int, role: str) -> Finding:
    pid, seconds = writer.pid, writer.seconds
    others = f", and {n_others} more" if n_others else ""
    if seconds is None:
        return Finding(
            "writer", "ok", f"process {pid} ({writer.program}), of another role: {role} may not see its start{others}",
            f"to see it, ask a superuser to run: GRANT pg_read_all_stats TO {role}",
        )  # fmt: skip
    idle = f", idle since {writer.idle_since}" if writer.idle_since else ""
    what = f"process {pid} ({writer.program}), writing for {seconds:,.0f} s{idle}{others}"
    if seconds < LONG_SECONDS:
        return Finding("writer", "ok", what)
    return Finding(
        "writer",
        "note",
        f"{what}; others may wait for it",
        f"if that process hangs: SELECT pg_terminate_backend({pid})",
    )

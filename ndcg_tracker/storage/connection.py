"""Connections to the database, and what a transaction is on each engine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event

from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.failures import database_errors, lost_answers

if TYPE_CHECKING:
    import psycopg

WAIT_SECONDS = 60
"""How long a writer waits for another one before it gives up."""
WRITER_LOCK = 0x6E646367  # "ndcg"
"""The key of the Postgres advisory lock that every writer and every migration holds."""
CACHE_KIB = 65536

_BEGIN = "ndcg_begin"
_FIXED_IN_SERIES = {(3, 50): 7, (3, 44): 6}


def wal_is_safe(version: tuple[int, ...] = sqlite3.sqlite_version_info) -> bool:
    """Return whether this SQLite may use a write-ahead log.

    Before 3.51.3 (and 3.50.7, 3.44.6 in their series) two connections that write and checkpoint at once can corrupt it.

    >>> wal_is_safe((3, 40, 1)), wal_is_safe((3, 44, 6)), wal_is_safe((3, 51, 3))
    (False, True, True)
    """
    if version >= (3, 51, 3):
        return True
    patch = _FIXED_IN_SERIES.get((version[0], version[1]))
    return patch is not None and version[2] >= patch


def sqlite_connection(path: Path, *, create: bool = False) -> sqlite3.Connection:
    """Return a connection that begins no transaction by itself and waits for other writers."""
    uri = f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"
    connection = sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def database_engine(location: Location, *, create: bool = False) -> Engine:
    """Return the engine of a location; nothing is opened yet.

    Parameters: ``create``, whether connecting makes a missing SQLite file.
    """
    if location.url is not None:
        return sa.create_engine(
            location.url,
            connect_args={
                "client_encoding": "utf8",
                "application_name": "ndcg-tracker",
                **dict(location.driver_options),
            },
            pool_size=1,
            pool_pre_ping=True,
            hide_parameters=True,
        )
    path = location.path
    if path is None:
        raise ValueError("a location has a path or a URL")
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: sqlite_connection(path, create=create),
        poolclass=sa.NullPool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    connection.exec_driver_sql(f"BEGIN {connection.get_execution_options().get(_BEGIN, 'DEFERRED')}")


@contextmanager
def read_transaction(engine: Engine, location: Location) -> Iterator[Connection]:
    """Yield a connection that sees one state of the database, whatever others write meanwhile."""
    with database_errors(location), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with connection.begin(), _given_up_when_interrupted(connection):
            yield connection


@contextmanager
def write_transaction(engine: Engine, location: Location, *, migrating: bool = False) -> Iterator[Connection]:
    """Yield the connection of the only writer; committed at the end, rolled back on any exception.

    A deferred BEGIN that reads before it writes fails beside other writers, whatever the timeout; so SQLite begins
    IMMEDIATE, and Postgres takes one lock for the whole database, which also makes ids follow the order of commits.
    ``migrating``: SQLite's tables can be rebuilt. Raises: LostAnswerError where the connection was lost while it was
    committed; DatabaseError for everything else that the engine says.
    """
    with database_errors(location), engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            # Each statement must see what the writer before committed, whatever the server's default is.
            connection.execution_options(isolation_level="READ COMMITTED")
            with connection.begin() as transaction, _given_up_when_interrupted(connection):
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WAIT_SECONDS}s'")
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER_LOCK})")
                yield connection
                with lost_answers(location):
                    transaction.commit()
            return
        connection.execution_options(**{_BEGIN: "IMMEDIATE"})
        prepare_journal(connection)
        if migrating:
            _pragma(connection, "foreign_keys = OFF")  # else the rebuilding of a table deletes what refers to it
            _pragma(connection, "legacy_alter_table = ON")  # else it fails for a table that a view reads
        with connection.begin():
            yield connection


@contextmanager
def _given_up_when_interrupted(connection: Connection) -> Iterator[None]:
    """Close a Postgres connection that an exception has left in the middle of a statement; the server rolls it back.

    SQLAlchemy does so for its own statements; psycopg, used directly, cancels a statement for KeyboardInterrupt alone.
    After what another handler of a signal raises, it still runs, and not even a rollback can be sent.
    """
    try:
        yield
    except BaseException:
        if connection.dialect.name == "postgresql" and not connection.invalidated:
            driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
            if driver.info.transaction_status.name == "ACTIVE":
                with suppress(Exception):  # where the server is gone, so is the statement
                    driver.cancel()
                connection.invalidate()
        raise


def prepare_journal(connection: Connection) -> None:
    """Leave the write-ahead log where this SQLite may corrupt it; impossible while others read, then as it was."""
    if not wal_is_safe() and _pragma(connection, "journal_mode") == "wal":
        _pragma(connection, "journal_mode = DELETE")


def use_best_journal(path: Path) -> None:
    """Turn the write-ahead log on for a new file, where it is safe."""
    if wal_is_safe():
        with closing(sqlite_connection(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")


def _pragma(connection: Connection, words: str) -> object:
    """Run a PRAGMA outside of any transaction and return its first value."""
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        raise TypeError("PRAGMA is SQLite's")
    row = driver.execute(f"PRAGMA {words}").fetchone()
    return None if row is None else row[0]

"""Connections to the database, transactions on each engine, and the drivers' errors, each as one line."""

from __future__ import annotations

import logging
import re
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ndcg_tracker.errors import DatabaseError, argument
from ndcg_tracker.storage import locks
from ndcg_tracker.storage.database_url import MASK, MEMORY, Location
from ndcg_tracker.storage.locks import TURNS, Holder, Lock, LockedError, WriterLocks

if TYPE_CHECKING:
    import psycopg

CACHE_KIB = 65536

_BEGIN = "ndcg_begin"
_SLICE_SECONDS = 0.5
"""How long SQLite waits before Python looks for signals, such as Ctrl-C."""
_FIXED_IN_SERIES = {(3, 50): 7, (3, 44): 6}


@dataclass(frozen=True, slots=True)
class Reason:
    """The problem with a database, what to do about it ("" for nothing), and whether a write failed.

    ``is_missing_right``: the database is fine, but the role may not do this.
    """

    what: str
    advice: str = ""
    nothing_was_stored: bool = False
    is_missing_right: bool = False


class FailedDatabaseError(DatabaseError):
    """A database that cannot be used: ``reason`` has the facts, the message says it in one line."""

    def __init__(self, location: Location, reason: Reason) -> None:
        stored, joint = ("; nothing was stored", ": ") if reason.nothing_was_stored else ("", "; ")
        super().__init__(f"{reason.what}{stored}", where=location.display_url, advice=reason.advice, joint=joint)
        self.reason = reason


class ReadOnlyDatabaseError(FailedDatabaseError):
    """A database that this connection may only read: a replica, or a role, database or server set to read-only."""


class LostAnswerError(DatabaseError):
    """The connection was lost during a commit, so it is not known whether the transaction was committed."""

    def __init__(self, location: Location) -> None:
        super().__init__(
            "the connection to the server broke during the commit, so it is not known whether it was stored",
            where=location.display_url,
            advice="run the same command again: a run that is stored is not stored twice",
        )


_AGAIN = "run the same command again"
DISK_FULL = Reason("the disk is full", f"free some space and {_AGAIN}", True)
_SQLITE_REASONS = (
    ("database or disk is full", DISK_FULL),
    ("locked", Reason("another process has been writing for too long", _AGAIN, True)),
    ("readonly", Reason("it cannot be written", "check the permissions of the file and its folder", True)),
    ("not a database", Reason("it is not a SQLite database", f"give {argument('location')} another path")),
    ("malformed", Reason("it is damaged", "restore a backup of it", True)),
    ("unable to open", Reason("it cannot be opened", "check that the folder exists and its permissions")),
    (
        "disk i/o error",
        Reason(
            "the disk cannot be read or written",
            f"look for a quota, a limit on the size of files (ulimit -f) or a failing disk, then {_AGAIN}",
            True,
        ),
    ),
)
"""By SQLite's messages: errors of its backup have no error code."""
_LATER = "try again later"
_OTHER_ROLE = "give another role in the URL"
_POSTGRES_REASONS = tuple(
    (words, Reason(what, advice))
    for messages, (what, advice) in {
        "password authentication failed": ("the server refused the user or the password", ""),
        "no password supplied": ("the server asks for a password", "put it into the URL or into ~/.pgpass"),
        "is not permitted to log in": ("this role may not log in (NOLOGIN)", _OTHER_ROLE),
        "permission denied for database": (
            "this role may not connect to the database",
            "ask its owner to run: GRANT CONNECT ON DATABASE ...",
        ),
        "is not currently accepting connections": (
            "the database is closed to connections (ALLOW_CONNECTIONS false)",
            "ask its owner to run: ALTER DATABASE ... ALLOW_CONNECTIONS true",
        ),
        "too many connections for database": ("the database has all the connections that it may have", _LATER),
        "too many connections for role": ("this role has all the connections that it may have", _LATER),
        "too many clients|slots are reserved": ("the server has no free connection", _LATER),
        "hot standby mode is disabled": ("this is a replica that does not accept queries", "connect to the primary"),
        "the database system is starting up": ("the server is starting up", "try again in a moment"),
        "the database system is shutting down": ("the server is shutting down", "try again in a moment"),
        "the database system is in recovery mode": ("the server is recovering from a crash", "try again in a moment"),
        "the database system is not yet accepting": ("the server is starting up", "try again in a moment"),
        "no encryption": (
            "the server does not let this user connect from here without SSL",
            "put sslmode=require into the URL, or ask for an entry in pg_hba.conf",
        ),
        "pg_hba.conf": ("the server does not let this user connect from here", "ask for an entry in pg_hba.conf"),
        "root certificate file": (
            "sslmode= in the URL asks to verify the server, but there is no root certificate for it",
            "put the root certificate of the server's authority into ~/.postgresql/root.crt, or add sslrootcert=FILE "
            "or sslrootcert=system to the URL",
        ),
        "certificate verify failed": (
            "the server's certificate is not signed by an authority that is trusted here",
            "name the root certificate of its authority in the URL with sslrootcert=FILE",
        ),
        "does not match host name": (
            "the server's certificate is for another host name",
            "use the host name in the certificate",
        ),
        "does not support ssl": (
            "sslmode= in the URL asks for SSL, but the server has none",
            "remove it, or enable SSL on the server",
        ),
        "expected authentication request|invalid response to ssl negotiation": (
            "the program that answers there is not a Postgres server",
            "correct the host and the port",
        ),
        "could not translate host name|failed to resolve host": ("the host name is unknown", "correct it"),
        "connection refused|no such file or directory": ("no server answers there", "is it running?"),
        "timeout expired": (
            "the server did not answer in time",
            "is it overloaded, or behind a firewall? connect_timeout=SECONDS in the URL waits longer",
        ),
        'database "" does not exist': ("the database does not exist", "create it with createdb"),
        'role "" does not exist': ("the user does not exist", "create it with createuser"),
        "does not exist": ("the database or the user does not exist", "create it with createdb or createuser"),
        "unsupported startup parameter": (
            "a connection pooler does not accept ?options=",
            "remove it from the URL, and set it with ALTER ROLE ... SET",
        ),
        'unrecognized configuration parameter|invalid value for parameter ""': (
            "the server does not accept a setting in ?options= or PGOPTIONS",
            "correct its name and its value",
        ),
        'invalid uri query parameter|invalid connection option|bad value for|value: ""': (
            "the URL has an option that libpq does not know",
            "correct its name and its value",
        ),
        "ssl": ("the server and this URL do not agree about SSL", "see sslmode"),
    }.items()
    for words in messages.split("|")
)
"""By libpq's messages, without the names in them: a failed connection has no SQLSTATE."""
_NAMES = re.compile(r'"[^"]*"')
_NO_RIGHT = "42501"
_DEADLOCK = "40P01"
_CANCELED = "57014"
_POSTGRES_STATES = {
    "53100": Reason("the server's disk is full", f"free some space there and {_AGAIN}", True),
    "53200": Reason("the server is out of memory", _AGAIN, True),
    locks.LOCKED: Reason("another process has been writing for too long", _AGAIN, True),
    _DEADLOCK: Reason("another process and this one waited for each other", _AGAIN, True),
    _NO_RIGHT: Reason("this user may not do that", "ask for the rights, or give another user in the URL", True),
    "25006": Reason("the server is read-only", "connect to a writable one", True),
    "25P03": Reason("the server ended a session that sent nothing (idle_in_transaction_session_timeout)", _AGAIN, True),
    "25P04": Reason(
        "the server ended a transaction that took too long (transaction_timeout)",
        "ask for a longer one: ALTER ROLE ... SET transaction_timeout",
        True,
    ),
    "40001": Reason(
        "the replica ended a query that kept it from following its primary", f"{_AGAIN}, or on the primary"
    ),
    "57P01": Reason("the server was stopped", "run the same command again: it says whether something was stored"),
}
_BROKEN = Reason("the connection to the server broke", f"{_AGAIN}: what is stored is not stored twice")
_BROKEN_WORDS = ("server closed the connection", "connection is lost", "the connection is closed")
_LOST_STATES = ("08", "57P")
"""Connection exceptions, and a server or session that is stopping."""
_RIGHTS = {"SELECT": "SELECT", "WITH": "SELECT", "INSERT": "INSERT", "COPY": "INSERT"}
_RIGHTS |= {"UPDATE": "UPDATE", "DELETE": "DELETE"}
"""The right that a statement needs, by its first word."""
_GIVEN = "writers then store, tag and gate runs, and replace their own that no alias, gate or design names"
_WRITER = """
    SELECT set_config('lock_timeout', %(milliseconds)s, true), pg_is_in_recovery(),
        current_setting('transaction_read_only')::boolean
"""
_WHAT_IS_READ_ONLY = """
    SELECT current_user::text, current_database()::text,
        (SELECT source FROM pg_settings WHERE name = 'default_transaction_read_only')
"""
_WHO_WAITS = "SELECT quote_ident(current_user), current_setting('statement_timeout')"
_WHO_OWNS = """
    SELECT current_user::text, CASE c.relkind WHEN 'v' THEN 'view ' ELSE 'table ' END || c.relname,
        pg_get_userbyid(c.relowner)::text
    FROM (SELECT) asked LEFT JOIN pg_class c ON c.relnamespace = quote_ident(current_schema())::regnamespace
    AND c.relkind IN ('r', 'v') AND c.relname = ANY (%(words)s) LIMIT 1
"""


_WAITING = "%s: waiting up to %g s for another writer%s"
_log = logging.getLogger("ndcg_tracker")


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
    connection = _connected(path, "rwc" if create else "rw")
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


def reading_connection(path: Path) -> sqlite3.Connection:
    """Return a connection that cannot write; it first rolls back what a killed writer left, as any reader does."""
    with closing(sqlite_connection(path)) as recovering:  # open meanwhile, or a write-ahead log could not be read
        recovering.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection = _connected(path, "ro")
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?mode={mode}" if str(path) != MEMORY else "file::memory:"
    connection = sqlite3.connect(
        uri, uri=True, timeout=locks.WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def database_engine(location: Location, *, create: bool = False, read_only: bool = False) -> Engine:
    """Return the engine of a location; nothing is opened yet.

    Parameters: ``create``, whether connecting makes a missing SQLite file. ``read_only``: a SQLite file is opened so
    that it cannot be written; on Postgres every read transaction is read-only anyway.
    """
    if location.url is not None:
        return sa.create_engine(
            location.url,
            connect_args={
                "client_encoding": "utf8",
                "application_name": "ndcg-tracker",
                "prepare_threshold": None,  # a pooler of transactions would lose what is prepared
            },
            pool_size=1,
            pool_pre_ping=True,
            hide_parameters=True,
        )
    path = location.path
    if path is None:
        raise ValueError("a location has a path or a URL")
    in_memory = str(path) == MEMORY  # the database lives as long as its one connection
    engine = sa.create_engine(
        "sqlite://",
        creator=lambda: reading_connection(path) if read_only else sqlite_connection(path, create=create or in_memory),
        poolclass=sa.StaticPool if in_memory else sa.NullPool,
        hide_parameters=True,
    )
    event.listen(engine, "begin", partial(_begin_sqlite, location))
    return engine


@contextmanager
def opened(location: Location, *, create: bool = False) -> Iterator[Engine]:
    """Yield the engine of a location, and close its connections at the end (see ``database_engine``)."""
    engine = database_engine(location, create=create)
    try:
        yield engine
    finally:
        engine.dispose()


@contextmanager
def notices(connection: Connection, are_kept: Callable[[Any], bool]) -> Iterator[list[str]]:
    """Yield the list of the notices that Postgres sends from now on, if they are to be kept."""
    kept: list[str] = []
    driver: Any = connection.connection.driver_connection

    def note(diagnostic: Any) -> None:
        if are_kept(diagnostic):
            kept.append(f"{diagnostic.message_primary}")

    driver.add_notice_handler(note)
    try:
        yield kept
    finally:
        driver.remove_notice_handler(note)


def _begin_sqlite(location: Location, connection: Connection) -> None:
    """Begin, and wait in short steps: SQLite itself would neither say that it waits nor stop at Ctrl-C."""
    if connection.get_execution_options().get(_BEGIN) != "IMMEDIATE":
        connection.exec_driver_sql("BEGIN DEFERRED")
        return
    begun, is_told = time.monotonic(), False
    while True:
        left = begun + locks.WAIT_SECONDS - time.monotonic()
        _pragma(connection, f"busy_timeout = {max(0, int(1000 * min(left, _SLICE_SECONDS)))}")
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            break
        except DBAPIError as error:
            if left <= _SLICE_SECONDS or getattr(error.orig, "sqlite_errorname", "") != "SQLITE_BUSY":
                raise
        if not is_told and time.monotonic() - begun >= locks.TOLD_AFTER_SECONDS:
            is_told = True
            _log.warning(_WAITING, location.display_url, locks.WAIT_SECONDS, "")
    _pragma(connection, f"busy_timeout = {int(1000 * locks.WAIT_SECONDS)}")


@contextmanager
def read_transaction(engine: Engine, location: Location) -> Iterator[Connection]:
    """Yield a connection that sees one state of the database, whatever others write meanwhile."""
    with database_errors(location), engine.connect() as connection, _refusals(connection, location):
        if engine.dialect.name == "postgresql":
            connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        with connection.begin(), _given_up_when_interrupted(connection):
            yield connection


def writer_locks(location: Location, turn: tuple[Lock, ...] = TURNS["alone"]) -> WriterLocks:
    """Return the locks of a writer, which logs whom it waits for, by default on standard error."""

    def tell(holder: Holder) -> None:
        _log.warning(_WAITING, location.display_url, locks.WAIT_SECONDS, f": {_words_of(holder)}")

    return WriterLocks(turn, tell)


@contextmanager
def write_transaction(
    engine: Engine, location: Location, *, migrating: bool = False, taking: WriterLocks | None = None
) -> Iterator[Connection]:
    """Yield the connection of a writer; committed at the end, rolled back on any exception.

    A deferred BEGIN that reads before it writes fails next to other writers, whatever the timeout. So SQLite begins
    IMMEDIATE, and there is one writer. On Postgres it takes the locks in ``taking``, by default those of the only
    writer. ``migrating``: SQLite's tables can be rebuilt. Raises: LostAnswerError if the connection was lost during the
    commit; ReadOnlyDatabaseError if the Postgres server accepts no writes from it; DatabaseError for every other error
    of the engine.
    """
    with database_errors(location), engine.connect() as connection, _refusals(connection, location, writing=True):
        if engine.dialect.name == "postgresql":
            # Each statement must see what the previous writer committed, whatever the server's default is.
            connection.execution_options(isolation_level="READ COMMITTED")
            # SQLAlchemy leaves READ WRITE behind a read-only transaction, which overrules the setting of the server.
            cast("psycopg.Connection[Any]", connection.connection.driver_connection).read_only = None
            with connection.begin() as transaction, _given_up_when_interrupted(connection):
                _begin_writing(connection, location)
                (taking or writer_locks(location)).begin(connection)
                yield connection
                try:
                    transaction.commit()
                except DBAPIError as error:
                    state = getattr(error.orig, "sqlstate", None) or ""
                    if not error.connection_invalidated and not state.startswith(_LOST_STATES):
                        raise
                    raise LostAnswerError(location) from None  # the driver's message may repeat parts of the URL
            return
        connection.execution_options(**{_BEGIN: "IMMEDIATE"})
        if not wal_is_safe() and _pragma(connection, "journal_mode") == "wal":
            _pragma(connection, "journal_mode = DELETE")  # not possible while others read
        if migrating:
            _pragma(connection, "foreign_keys = OFF")  # otherwise rebuilding a table deletes the rows that refer to it
            _pragma(connection, "legacy_alter_table = ON")  # otherwise it fails for a table that a view reads
        with connection.begin():
            yield connection


def _begin_writing(connection: Connection, location: Location) -> None:
    """Limit how long a transaction of Postgres waits for locks; ReadOnlyDatabaseError where it may not write."""
    given = {"milliseconds": str(int(1000 * locks.WAIT_SECONDS))}
    _, is_replica, is_read_only = connection.exec_driver_sql(_WRITER, given).one()
    if is_replica:
        raise ReadOnlyDatabaseError(location, Reason("this is a replica", "connect to the primary", True))
    if is_read_only:
        role, name, source = connection.exec_driver_sql(_WHAT_IS_READ_ONLY).one()
        what, advice = {
            "user": (f"role {role!r} is", "connect as a role that may write"),
            "database user": (f"role {role!r} is, in this database,", "connect as a role that may write"),
            "database": (f"database {name!r} is", "connect to another database"),
            "client": ("this connection is, by its URL or PGOPTIONS,", "leave that out"),
        }.get(source, ("the server is", "connect to one that may be written"))
        raise ReadOnlyDatabaseError(
            location, Reason(f"{what} set to read-only (default_transaction_read_only)", advice, True)
        )


@contextmanager
def _given_up_when_interrupted(connection: Connection) -> Iterator[None]:
    """Close a Postgres connection that an exception has left in the middle of a statement; the server rolls it back.

    SQLAlchemy does so for its own statements; psycopg, used directly, cancels a statement only for KeyboardInterrupt.
    After an exception from another signal handler the statement still runs, and not even a rollback can be sent.
    """
    try:
        yield
    except BaseException:
        if connection.dialect.name == "postgresql" and not connection.invalidated:
            driver = cast("psycopg.Connection[Any]", connection.connection.driver_connection)
            if driver.info.transaction_status.name == "ACTIVE":
                with suppress(Exception):  # if the server is gone, so is the statement
                    driver.cancel()
                connection.invalidate()
        raise


@contextmanager
def _refusals(connection: Connection, location: Location, *, writing: bool = False) -> Iterator[None]:
    """Describe the missing right of a role, the limit that ended a statement, or the holder of a lock.

    This asks the server after the transaction has ended. The table is found among the words of the server's message,
    which may be in any language.
    """
    try:
        yield
        return
    except LockedError as error:
        raise FailedDatabaseError(location, _held(error.holder)) from None
    except Exception as error:
        refused = error.orig if isinstance(error, DBAPIError) else error
        state = getattr(refused, "sqlstate", None)
        if state not in (_NO_RIGHT, _CANCELED):
            raise
        statement = (error.statement or "").strip() if isinstance(error, DBAPIError) else ""
        said = str(getattr(refused, "diag").message_primary)  # noqa: B009  # the driver is not imported here
    if state == _CANCELED:
        raise FailedDatabaseError(location, _ended_early(connection, writing=writing))
    words = {"words": re.findall(r"\w+", said)}
    role, table, owner = connection.exec_driver_sql(_WHO_OWNS, words).one()
    right = _RIGHTS.get(statement.split(maxsplit=1)[0].upper()) if statement else None
    advice = f"ask its owner {owner!r} to do it, or to run ndcg-track db grant: {_GIVEN}"
    if table is None:
        what, advice = f"role {role!r} may not do that ({said})", "ask the owner of the schema, or a superuser"
    elif right is not None:
        what = f"role {role!r} has no {right} right on {table}"
    elif statement:
        what, advice = f"role {role!r} does not own {table}", f"ask its owner {owner!r} to do it"
    else:  # a statement of the bulk protocol, which went to the driver directly
        what = f"role {role!r} has no right to {'change' if writing else 'read'} {table}"
    raise FailedDatabaseError(location, Reason(what, advice, nothing_was_stored=writing, is_missing_right=True))


def _ended_early(connection: Connection, *, writing: bool) -> Reason:
    """Return the limit that ended a statement, if any."""
    role, limit = connection.exec_driver_sql(_WHO_WAITS).one()
    if limit == "0":
        return Reason("somebody had the server end the statement (pg_cancel_backend)", _AGAIN, writing)
    return Reason(
        f"the server ended a statement that took longer than statement_timeout ({limit})",
        f"ask for a longer one: ALTER ROLE {role} SET statement_timeout = '10min'",
        writing,
    )


def _held(holder: Holder | None) -> Reason:
    """Return who has been writing, and since when, as far as this role may know."""
    usual = _POSTGRES_STATES[locks.LOCKED]
    if holder is None:  # it has ended meanwhile
        return usual
    advice = f"{usual.advice}, or, if that process hangs, SELECT pg_terminate_backend({holder.pid})"
    return Reason(f"{usual.what} ({_words_of(holder)})", advice, usual.nothing_was_stored)


def _words_of(holder: Holder) -> str:
    """Return who holds a lock, in words."""
    since = f", since {holder.since}" if holder.since else " (only members of pg_read_all_stats see when it began)"
    idle = f", idle since {holder.idle_since}" if holder.idle_since else ""
    return f"process {holder.pid}, {holder.program} of role {holder.role!r}{since}{idle}"


def use_best_journal(path: Path) -> None:
    """Turn the write-ahead log on for a new file, if it is safe."""
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


@contextmanager
def database_errors(location: Location) -> Iterator[None]:
    """Turn errors of the drivers within into one DatabaseError without secrets."""
    try:
        yield
        return
    except DBAPIError as error:
        reason = _reason(error.orig, location)
    except SQLAlchemyError as error:
        reason = Reason(f"{type(error).__name__}: {_one_line(error)}")
    except sqlite3.Error as error:
        reason = _reason(error, location)
    except Exception as error:
        if type(error).__module__.partition(".")[0] != "psycopg":
            raise
        reason = _reason(error, location)
    # From None: a traceback of the driver's own error may repeat parts of the URL.
    raise FailedDatabaseError(location, reason) from None


def _reason(error: BaseException | None, location: Location) -> Reason:
    text = _one_line(error)
    if isinstance(error, sqlite3.Error):
        return _first(_SQLITE_REASONS, text) or Reason(text)
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return _POSTGRES_STATES.get(state) or Reason(text)
    reason = _first(_POSTGRES_REASONS, _NAMES.sub('""', text))
    if reason is not None:
        return reason
    if any(words in text for words in _BROKEN_WORDS):
        return _BROKEN
    return Reason("the server cannot be reached" if MASK in location.display_url else text)


def _first(reasons: tuple[tuple[str, Reason], ...], text: str) -> Reason | None:
    return next((reason for words, reason in reasons if words in text.lower()), None)


def _one_line(error: BaseException | None) -> str:
    return " ".join(str(error).split())

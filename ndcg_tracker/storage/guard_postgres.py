"""Runs a query of the user on Postgres so that it can only read.

`default_transaction_read_only` is no guard, since the query could turn it off. What holds: a connection of its own,
thrown away afterwards; a read-only transaction whose first statement has run, which nothing can make writable
again; the query as part of DECLARE ... CURSOR in the extended protocol, which takes one SELECT and nothing else; a
statement time-out; and, because read-only transactions still admit them, no volatile function (they end sessions,
take locks, write files, call `set_config`).
"""

from __future__ import annotations

import time
from contextlib import closing

import psycopg
from psycopg import pq

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.postgres_words import identifiers
from ndcg_tracker.storage.query_result import (
    QueryResult,
    ResultBuilder,
    checked_text,
    only_reads,
    query_error,
    took_too_long,
)

_ROWS_AT_ONCE = 2_000
_CONNECT_SECONDS = 30

_HARMLESS_VOLATILE = [
    "bernoulli",
    "clock_timestamp",
    "gen_random_uuid",
    "pg_database_size",
    "pg_indexes_size",
    "pg_relation_size",
    "pg_table_size",
    "pg_total_relation_size",
    "random",
    "random_normal",
    "system",
    "timeofday",
    "uuidv4",
    "uuidv7",
]
_REFUSED_FUNCTIONS = """
    SELECT DISTINCT proname::text FROM pg_catalog.pg_proc
    WHERE proname = ANY(%s) AND provolatile = 'v' AND NOT proname = ANY(%s) ORDER BY 1
"""

_QUERY_CANCELED = "57014"
_PROTOCOL_VIOLATION = "08P01"  # a parameter without a value
_READ_ONLY_TRANSACTION = "25006"
_UNDEFINED_TABLE = "42P01"
_UNDEFINED_COLUMN = "42703"


def run_guarded_postgres(conninfo: str, query: str, *, timeout_seconds: float, max_rows: int | None) -> QueryResult:
    """Run one reading query on Postgres and change nothing, whatever the query says.

    Readers who should not see other schemas or tables need a role of their own that may SELECT from the views only.

    Parameters
    ----------
    conninfo
        A libpq connection string or URL, or SQLAlchemy's `postgresql+psycopg://` URL; a connection of its own is
        opened and closed.
    query
        One SELECT, WITH ... SELECT, VALUES or TABLE; a trailing semicolon and comments are allowed.
    timeout_seconds
        Above 0; the query is stopped after so many seconds.
    max_rows
        How many rows to return at most; None returns all.

    Returns
    -------
    QueryResult
        Values as `ndcg_tracker.storage.query_result.normal_value` describes them.

    Raises
    ------
    InputError
        If the query does not parse, would do anything but read, or takes too long.
    DatabaseError
        If the server cannot be reached or goes away.
    """
    words = identifiers(checked_text(query))
    with closing(_connect(conninfo)) as connection:
        deadline = time.monotonic() + timeout_seconds
        builder = ResultBuilder(max_rows)
        try:
            _begin_reading(connection, timeout_seconds)
            _refuse_acting_functions(connection, words)
            _declare(connection, query, timeout_seconds)
            while (remaining := deadline - time.monotonic()) > 0:
                _set_timeout(connection, remaining)
                if (result := _fetch_next(connection, builder)) is not None:
                    return result
            raise took_too_long(timeout_seconds)
        except psycopg.Error as error:
            state, message = error.sqlstate, error.diag.message_primary or str(error)
            raise _explained(state, message, timeout_seconds) from error


def _connect(conninfo: str) -> psycopg.Connection:
    scheme, separator, rest = conninfo.partition("://")
    plain = f"postgresql://{rest}" if separator and scheme.startswith("postgresql") else conninfo
    try:
        return psycopg.connect(
            plain,
            autocommit=True,
            client_encoding="utf8",
            connect_timeout=_CONNECT_SECONDS,
            application_name="ndcg-track sql",
        )
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise DatabaseError(f"cannot connect to Postgres: {reason}; ndcg-track doctor says more") from None


def _begin_reading(connection: psycopg.Connection, timeout_seconds: float) -> None:
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    connection.execute("SET LOCAL standard_conforming_strings = on")  # postgres_words counts on it
    connection.execute("SET LOCAL jit = off")  # compiling takes longer than most of these queries
    _set_timeout(connection, timeout_seconds)


def _set_timeout(connection: psycopg.Connection, seconds: float) -> None:
    connection.execute(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}".encode())


def _refuse_acting_functions(connection: psycopg.Connection, words: set[str]) -> None:
    """Refuse every volatile function, and so run the transaction's first statement, which seals it."""
    found = connection.execute(_REFUSED_FUNCTIONS, (sorted(words), _HARMLESS_VOLATILE)).fetchone()
    if found is not None:
        raise only_reads(f"the function {found[0]} may act, not only read")


def _declare(connection: psycopg.Connection, query: str, timeout_seconds: float) -> None:
    # libpq's exec_params always speaks the extended protocol, in which a second statement is an error.
    command = b"DECLARE answer NO SCROLL CURSOR FOR " + query.encode()
    result = connection.pgconn.exec_params(command, None)
    if result.status != pq.ExecStatus.COMMAND_OK:
        state, message = (
            (result.error_field(field) or b"").decode(errors="replace")
            for field in (pq.DiagnosticField.SQLSTATE, pq.DiagnosticField.MESSAGE_PRIMARY)
        )
        raise _explained(state, message or result.error_message.decode(errors="replace"), timeout_seconds)


def _fetch_next(connection: psycopg.Connection, builder: ResultBuilder) -> QueryResult | None:
    """Fetch some rows; return the result once they were the last."""
    wanted = builder.wanted(_ROWS_AT_ONCE)
    cursor = connection.execute(f"FETCH FORWARD {wanted} FROM answer".encode())
    rows = cursor.fetchall()
    for row in rows:
        builder.add(row)
    if len(rows) == wanted and builder.wanted(1) > 0:
        return None
    return builder.result([column.name for column in cursor.description or ()])


def _explained(state: str | None, message: str, timeout_seconds: float) -> InputError | DatabaseError:
    """Return what to raise instead of Postgres' error."""
    if state == _QUERY_CANCELED and "timeout" in message:
        return took_too_long(timeout_seconds)
    if state == _READ_ONLY_TRANSACTION or "data-modifying statements in WITH" in message:
        return only_reads(" ".join(message.split()))
    if "multiple commands" in message:
        return only_reads("it takes one statement at a time")
    if state == _PROTOCOL_VIOLATION:
        return InputError("sql: the query has parameters such as $1; write the values themselves")
    if not state or state.startswith(("08", "57P")):
        return DatabaseError(f"Postgres went away: {' '.join(message.split())}; run the same command again")
    return query_error(message, unknown_name=state in (_UNDEFINED_TABLE, _UNDEFINED_COLUMN))

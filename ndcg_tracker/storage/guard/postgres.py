"""Run a query of the user on Postgres so that it can only read.

`default_transaction_read_only` is not a guard, because the query could turn it off. The guards: a separate connection,
closed afterwards; a read-only transaction whose first statement has run, which nothing can make writable again; the
query as part of DECLARE ... CURSOR in the extended protocol, which takes one SELECT and nothing else; a statement
time-out; and, because read-only transactions still admit them, no volatile function (they end sessions, take locks,
write files, call `set_config`).

Every word of the query counts as the name of a function, also in a text or a comment: so nothing has to follow
Postgres' own lexer. Only `U&"..."`, which spells a name in another way, is refused.
"""

from __future__ import annotations

import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from typing import Literal

import psycopg
from psycopg import pq

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.guard.query_result import (
    PLAN,
    QueryResult,
    ResultBuilder,
    checked_text,
    failed_on_rows,
    only_reads,
    query_error,
    took_too_long,
)

MAX_ROW_BYTES = 1 << 27
"""The largest row, as Postgres holds it: three copies of it and a whole result are 1.5 GiB in this program."""

_ROWS_AT_ONCE = 2_000
_PATIENCE_SECONDS = 0.5
"""How long after its time-out the server may still be in a step that it does not interrupt, such as a write of 1 GB."""

_TABLES_IN_ANY_ORDER = b"SET LOCAL from_collapse_limit = 11; SET LOCAL join_collapse_limit = 11"
"""Two views have 8 tables: up to this number Postgres finds the best join order with its default settings."""
_HARMLESS_VOLATILE = """
bernoulli clock_timestamp gen_random_uuid pg_database_size pg_indexes_size pg_relation_size pg_table_size
pg_total_relation_size random random_normal system timeofday uuidv4 uuidv7
"""
_WITHIN_A_ROW = f"""
    DECLARE answer NO SCROLL CURSOR FOR SELECT a.* FROM (SELECT * FROM (%s
    ) AS q OFFSET 0) AS a
    WHERE CASE WHEN pg_catalog.pg_column_size(a.*) > {MAX_ROW_BYTES}
        THEN ('a row of ' || pg_catalog.pg_column_size(a.*) || ' bytes')::pg_catalog.int4 END IS NULL
"""
"""libpq holds a complete row before its size is known, so the server checks it. OFFSET 0 computes each value once."""
_LARGE_ROW = re.compile(r'"a row of (\d+) bytes"')
_REFUSED_FUNCTIONS = """
    SELECT DISTINCT proname::text FROM pg_catalog.pg_proc
    WHERE proname = ANY(%s) AND provolatile = 'v' AND NOT proname = ANY(%s) ORDER BY 1
"""

_LETTER = r"A-Za-z_\u0080-\U0010ffff"
_WORDS = re.compile(rf"(?<![{_LETTER}])(?=([{_LETTER}][{_LETTER}0-9$]{{0,62}}))")
"""Words, also within others after a digit, where Postgres before 15 begins one; Postgres cuts names after 63 bytes."""
_LONGEST_NAME = 63

_BLANKS = "; \t\r\n\f\v"

_QUERY_CANCELED = "57014"
_PROTOCOL_VIOLATION = "08P01"  # a parameter without a value
_NO_NUMBER = "22P02"  # a text that is cast to a number is not one
_READ_ONLY_TRANSACTION = "25006"
_NO_RIGHT = "42501"
_UNKNOWN: Mapping[str | None, Literal["view", "column"]] = {"42P01": "view", "42703": "column"}
"""The kind of name that does not exist, by SQLSTATE."""


def run_guarded_postgres(
    conninfo: str, query: str, *, timeout_seconds: float, max_rows: int | None, explain: bool = False
) -> QueryResult:
    """Run one reading query on Postgres and change nothing, whatever the query says.

    Readers who should not see other schemas or tables need a role that may only SELECT from the views. Parameters:
    ``conninfo``, a libpq connection string or URL; a separate connection is opened and closed. ``query``: one SELECT,
    WITH ... SELECT, VALUES or TABLE; a trailing semicolon and comments are allowed. ``timeout_seconds``: above 0; then
    the query is stopped. ``max_rows``: None returns all rows. Raises: InputError for a query that does not parse, would
    do more than read, or takes too long; DatabaseError for a server that cannot be reached or goes away.
    """
    words = _words(checked_text(query))
    with (
        closing(_connect(conninfo)) as connection,
        _left_after(connection, timeout_seconds + _PATIENCE_SECONDS) as left,
    ):
        deadline = time.monotonic() + timeout_seconds
        builder, is_parsed = ResultBuilder(max_rows), False
        try:
            _begin_reading(connection, timeout_seconds)
            _refuse_acting_functions(connection, words)
            _sent(connection, f"PREPARE written AS {query}")
            _sent(connection, "DEALLOCATE written")
            is_parsed = True
            if explain:
                for line in _sent(connection, f"EXPLAIN (COSTS) {query}"):
                    builder.add(line)
                return builder.result([PLAN])
            _declare(connection, query)
            columns = [column.name for column in connection.execute("FETCH 0 FROM answer").description or ()]
            while (remaining := deadline - time.monotonic()) > 0:
                _set_timeout(connection, remaining)
                if not _fetch_next(connection, builder):
                    return builder.result(columns)
            raise took_too_long(timeout_seconds)
        except psycopg.Error as error:
            if left.is_set():
                raise took_too_long(timeout_seconds) from error
            told = _explained(error, query, timeout_seconds, connection.info.user, is_parsed=is_parsed)
            raise told from (None if is_parsed else error)
        except BaseException:
            _cancel(connection)
            raise


def _connect(conninfo: str) -> psycopg.Connection:
    try:
        return psycopg.connect(
            conninfo,
            autocommit=True,
            client_encoding="utf8",
            application_name="ndcg-track sql",
            prepare_threshold=None,  # a pooler of transactions would lose what is prepared
        )
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise DatabaseError(f"cannot connect to Postgres: {reason}", advice="ndcg-track doctor says more") from None


@contextmanager
def _left_after(connection: psycopg.Connection, seconds: float) -> Iterator[threading.Event]:
    """Shut the connection down if the work takes longer than so many seconds; the event says whether it did."""
    left = threading.Event()

    def leave() -> None:
        left.set()
        with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()
    try:
        yield left
    finally:
        timer.cancel()


def _begin_reading(connection: psycopg.Connection, timeout_seconds: float) -> None:
    connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
    connection.execute("SET LOCAL jit = off")  # compiling takes longer than most of these queries
    connection.execute(_TABLES_IN_ANY_ORDER)
    connection.execute("SET LOCAL cursor_tuple_fraction = 1")  # all rows are fetched, not the first tenth
    _set_timeout(connection, timeout_seconds)


def _set_timeout(connection: psycopg.Connection, seconds: float) -> None:
    connection.execute(f"SET LOCAL statement_timeout = {max(1, round(seconds * 1000))}".encode())


def _refuse_acting_functions(connection: psycopg.Connection, words: set[str]) -> None:
    """Refuse every volatile function; as the first statement, this query keeps the transaction read-only."""
    row = connection.execute(_REFUSED_FUNCTIONS, (sorted(words), _HARMLESS_VOLATILE.split())).fetchone()
    if row is not None:
        raise only_reads(f"the function {row[0]} may write, not only read")


def _declare(connection: psycopg.Connection, query: str) -> None:
    """Open the cursor ``answer``; errors refer to the query as the user wrote it.

    The server has parsed the query as one statement before it is put into another, so it closes no parenthesis of that.
    """
    connection.execute("SAVEPOINT written")
    errors = []
    for statement in (query.rstrip(_BLANKS), query.rpartition(";")[0]):  # a comment may follow the semicolon
        try:
            _sent(connection, _WITHIN_A_ROW % statement)
            return
        except psycopg.Error as error:
            if error.sqlstate is None or error.sqlstate == _QUERY_CANCELED:
                raise
            connection.execute("ROLLBACK TO written")
            errors.append(error)
    _sent(connection, f"DECLARE answer NO SCROLL CURSOR FOR {query}")
    raise errors[0]


def _sent(connection: psycopg.Connection, statement: str) -> psycopg.Cursor:
    """Send one statement in the extended protocol, in which a second one is an error."""
    return connection.execute(statement.encode(), binary=True)  # this selects that protocol


def _fetch_next(connection: psycopg.Connection, builder: ResultBuilder) -> bool:
    """Fetch some rows, one by one because each may be large; return whether there may be more."""
    wanted = builder.wanted(_ROWS_AT_ONCE)
    n_rows = 0
    with connection.cursor() as cursor:
        for row in cursor.stream(f"FETCH FORWARD {wanted} FROM answer".encode()):
            builder.add(row)
            n_rows += 1
    return n_rows == wanted and builder.wanted(1) > 0


def _cancel(connection: psycopg.Connection) -> None:
    """Tell the server to stop; psycopg does so by itself only for KeyboardInterrupt."""
    if connection.info.transaction_status == pq.TransactionStatus.ACTIVE:
        with suppress(psycopg.Error):
            connection.cancel()


def _explained(
    error: psycopg.Error, query: str, timeout_seconds: float, role: str, *, is_parsed: bool
) -> InputError | DatabaseError:
    """Return the error to raise instead of the Postgres error; of a query that was parsed it shows only the kind."""
    state, message = error.sqlstate, error.diag.message_primary or str(error)
    if state == _NO_RIGHT:
        advice = "query the views, or ask the owner, who gives rights with: ndcg-track db grant"
        return InputError(
            f"role {role!r} may not SELECT this ({query_error(message).what})", where="sql", advice=advice
        )
    if state == _QUERY_CANCELED and "timeout" in message:
        return took_too_long(timeout_seconds)
    if state == _NO_NUMBER and (row := _LARGE_ROW.search(message)):
        what = f"a row of {int(row[1]) / 1e6:,.0f} MB; at most {MAX_ROW_BYTES / 1e6:,.0f} MB are returned"
        return InputError(what, where="sql", advice="select fewer columns, or substr of them")
    if state == _READ_ONLY_TRANSACTION or "data-modifying statements in WITH" in message:
        return only_reads(" ".join(message.split()))
    if "multiple commands" in message:
        return only_reads("it takes one statement at a time")
    if state == _PROTOCOL_VIOLATION:
        return InputError("the query has parameters such as $1", where="sql", advice="write the values themselves")
    if not state or state.startswith(("08", "57P")):
        return DatabaseError(f"Postgres went away: {' '.join(message.split())}", advice="run the same command again")
    if is_parsed:  # the message may hold a value of a row
        return failed_on_rows(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", type(error).__name__.rstrip("_")).lower())
    return query_error(message, query, unknown=_UNKNOWN.get(state))


def _words(query: str) -> set[str]:
    """Return whatever in the query may be a name, in quotes or not, as Postgres would look it up.

    >>> sorted(_words('"Ab"(x)'))
    ['', '(x)', 'Ab', 'ab', 'x']
    """
    if (spelled := query.lower().find('u&"')) >= 0:
        what = f"the U& at character {spelled + 1} is not supported"
        raise InputError(what, where="sql", advice="write the characters themselves")
    names = {name.encode() for name in (*_WORDS.findall(query), *query.split('"'))}
    folded = names | {name.lower() for name in names}  # of bytes only ASCII changes, as in Postgres
    return {name[:_LONGEST_NAME].decode(errors="ignore") for name in folded}

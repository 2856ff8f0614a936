"""Runs a query of the user on a SQLite file so that it can only read.

Four independent guards: the file is opened read-only, `query_only` is on, an authorizer admits only the
actions listed here, and a progress handler stops what runs too long. `mode=ro` alone would still admit
ATTACH and VACUUM INTO.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.connection import CACHE_KIB
from ndcg_tracker.storage.guard.query_result import (
    PLAN,
    QueryResult,
    ResultBuilder,
    checked_text,
    only_reads,
    query_error,
    took_too_long,
)

MAX_VALUE_BYTES = 100_000_000
"""The largest value: about twice the list of a run with a million items in a group."""

_STEPS_BETWEEN_CHECKS = 2_000
_ROWS_AT_ONCE = 500
_BUSY_SECONDS = 60.0

_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree"})
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema"})

_FUNCTION_NAMES = """
abs char coalesce concat concat_ws format glob hex if ifnull iif instr length like likelihood likely lower ltrim
max min nullif octet_length printf quote random replace round rtrim sign soundex sqlite_version substr substring
trim typeof unhex unicode unistr unistr_quote unlikely upper
current_date current_time current_timestamp date datetime julianday strftime time timediff unixepoch
avg count group_concat median percentile percentile_cont percentile_disc string_agg sum total
cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank row_number
acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power
radians sin sinh sqrt tan tanh trunc
-> ->> json json_array json_array_length json_error_position json_extract json_group_array json_group_object
json_insert json_object json_patch json_pretty json_quote json_remove json_replace json_set json_type json_valid
jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object jsonb_insert jsonb_object jsonb_patch
jsonb_remove jsonb_replace jsonb_set
"""
_FUNCTIONS = frozenset(_FUNCTION_NAMES.split())

_ACTION_NAMES = """
ALTER_TABLE ANALYZE ATTACH CREATE_INDEX CREATE_TABLE CREATE_TEMP_INDEX CREATE_TEMP_TABLE CREATE_TEMP_TRIGGER
CREATE_TEMP_VIEW CREATE_TRIGGER CREATE_VIEW CREATE_VTABLE DELETE DETACH DROP_INDEX DROP_TABLE DROP_TEMP_INDEX
DROP_TEMP_TABLE DROP_TEMP_TRIGGER DROP_TEMP_VIEW DROP_TRIGGER DROP_VIEW DROP_VTABLE INSERT PRAGMA REINDEX SAVEPOINT
TRANSACTION UPDATE
"""
_ACTIONS = {getattr(sqlite3, f"SQLITE_{name}"): name.replace("_", " ") for name in _ACTION_NAMES.split()}


def run_guarded_sqlite(
    path: str, query: str, *, timeout_seconds: float, max_rows: int | None, explain: bool = False
) -> QueryResult:
    """Run one reading query on a SQLite file and change nothing, whatever the query says.

    A transaction that a killed writer left unfinished is rolled back first, as the next opening would do. Parameters:
    ``path``, of a file that exists. ``query``: one SELECT, WITH ... SELECT or VALUES; a trailing semicolon and comments
    are allowed. ``timeout_seconds``: above 0, when the query is stopped. ``max_rows``: None returns all rows.
    ``explain``: return the plan instead, one line per row, indented by its depth. Raises:
    InputError for a query that does not parse, would do anything but read, or takes too long; DatabaseError for a file
    that is missing, is not a SQLite database or cannot be opened.
    """
    checked_text(query)
    uri = _uri_of(path)
    # Kept open while the query runs: without it, a reader could not open a database in WAL mode.
    with closing(_recovered(path, uri)), closing(_open(path, f"{uri}?mode=ro")) as connection:
        watch = _Watch(timeout_seconds)
        answers = watch.answers()
        next(answers)
        _restrict(connection)
        authorizer = _Authorizer(connection, path)
        connection.set_authorizer(authorizer)
        connection.set_progress_handler(answers.__next__, _STEPS_BETWEEN_CHECKS)
        try:
            text = query.rstrip("; \t\r\n")
            _refuse_unknown_quoted(connection, text)
            return (_plan if explain else _fetch)(connection, text, ResultBuilder(max_rows))
        except (sqlite3.Error, sqlite3.Warning, MemoryError) as error:
            raise _explained(error, query, authorizer, watch) from error


class _Watch:
    """Stops SQLite when the time is over, and when a signal handler raises (Ctrl-C, SIGTERM)."""

    def __init__(self, timeout_seconds: float) -> None:
        self.timeout_seconds = timeout_seconds
        self._end = time.monotonic() + timeout_seconds
        self.expired = False
        self.interrupt: BaseException | None = None

    def answers(self) -> Iterator[bool]:
        """Yield whether to stop.

        A generator, because Python runs signal handlers as a function is entered, before any `try` in it; what they
        raise then is swallowed by sqlite3. A generator is entered inside its `try`.
        """
        while True:
            try:
                yield self.expired or self.interrupt is not None
                self.expired = time.monotonic() > self._end
            except GeneratorExit:
                return
            except BaseException as interrupt:
                self.interrupt = interrupt


class _Authorizer:
    """SQLite asks it about every action of a statement while compiling it; it remembers the refusal."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        try:
            names = connection.execute("SELECT lower(name) FROM sqlite_master WHERE type IN ('table', 'view')")
            self._readable = {name for (name,) in names} | _TABLE_FUNCTIONS | _SCHEMA_TABLES
            for name in _TABLE_FUNCTIONS:  # their first use asks for an UPDATE of sqlite_master before SQLite 3.41
                connection.execute(f"SELECT key FROM {name}('[]')")
        except sqlite3.Error as error:
            raise _unreadable(path, error) from error
        self.refusal: str | None = None

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, _inner: str | None
    ) -> int:
        refusal = self._refusal_of(action, first, second, database)
        if refusal is None:
            return sqlite3.SQLITE_OK
        self.refusal = refusal
        return sqlite3.SQLITE_DENY

    def _refusal_of(self, action: int, first: str | None, second: str | None, database: str | None) -> str | None:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return None
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            return None if name in _FUNCTIONS else f"the function {name} is not among those allowed"
        if action == sqlite3.SQLITE_READ:
            table = (first or "").lower()
            # No column is named for count(*) over anything, also over a WITH name or a subquery.
            if database != "temp" and (table in self._readable or (not second and not _is_internal(table))):
                return None
            return f"{table} is not a table or view of this database"
        name = _ACTIONS.get(action, f"action {action}")
        if first == "sqlite_master":  # also asked for when a table function such as pragma_... is first used
            return "only tables and views of this database can be named"
        return f"{name} {first} is refused" if first else f"{name} is refused"


def _is_internal(table: str) -> bool:
    return table.startswith(("pragma_", "sqlite_", "fts", "rtree")) or table in ("dbstat", "bytecode", "tables_used")


def _uri_of(path: str) -> str:
    if not Path(path).is_file():
        raise DatabaseError("no such database", where=path, advice="ndcg-track ingest creates one")
    return Path(path).absolute().as_uri()


def _open(path: str, uri: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error


def _recovered(path: str, uri: str) -> sqlite3.Connection:
    """Open for reading and writing and read once, which rolls a hot journal back; a read-only connection could not."""
    connection = _open(path, f"{uri}?mode=rw")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        raise _unreadable(path, error) from error
    return connection


def _unreadable(path: str, error: sqlite3.Error) -> DatabaseError:
    return DatabaseError(f"cannot be read as a database: {error}", where=path, advice="ndcg-track doctor says more")


def _restrict(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")  # what is sorted stays in memory up to this size, too
    for limit, value in (
        (sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    ):
        connection.setlimit(limit, value)


_QUOTED_NAME = re.compile(
    r"'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^]]*\]"  # texts, and names in other quotes
    r"|--[^\n]*|/\*.*?(?:\*/|\Z)"
    r'|"(?P<name>(?:[^"]|"")*)"',
    re.DOTALL,
)


def _refuse_unknown_quoted(connection: sqlite3.Connection, query: str) -> None:
    """Refuse a name in double quotes that names nothing: SQLite takes it for a text, Postgres and SQL do not.

    In backticks a name is a name; the query with these is compiled and not run.
    """
    names: list[str] = []

    def in_backticks(token: re.Match[str]) -> str:
        if token["name"] is None:
            return token[0]
        names.append(token["name"].replace('""', '"'))
        return "`" + names[-1].replace("`", "``") + "`"

    strict = _QUOTED_NAME.sub(in_backticks, query)
    if not names:
        return
    try:
        connection.execute(f"EXPLAIN {strict}").close()
    except sqlite3.OperationalError as error:
        unknown = next((name for name in names if str(error) == f"no such column: {name}"), None)
        if unknown is None:
            raise
        what = f'no such column: "{unknown}" (a text stands in single quotes)'
        raise query_error(what, query, unknown="column") from None


def _fetch(connection: sqlite3.Connection, query: str, builder: ResultBuilder) -> QueryResult:
    with closing(connection.execute(query)) as cursor:
        while (wanted := builder.wanted(_ROWS_AT_ONCE)) > 0:
            rows = cursor.fetchmany(wanted)
            for row in rows:
                builder.add(row)
            if len(rows) < wanted:
                break
        return builder.result([column[0] for column in cursor.description or ()])


def _plan(connection: sqlite3.Connection, query: str, builder: ResultBuilder) -> QueryResult:
    depths: dict[int, int] = {}
    with closing(connection.execute(f"EXPLAIN QUERY PLAN {query}")) as cursor:
        for step, above, _, words in cursor:
            depths[step] = depths.get(above, -1) + 1
            builder.add((f"{'  ' * depths[step]}{words}",))
    return builder.result([PLAN])


def _explained(error: Exception, query: str, authorizer: _Authorizer, watch: _Watch) -> BaseException:
    """Return the error to raise instead of SQLite's."""
    if watch.interrupt is not None:
        return watch.interrupt
    if watch.expired:
        return took_too_long(watch.timeout_seconds)
    if authorizer.refusal is not None:
        return only_reads(authorizer.refusal)
    if isinstance(error, MemoryError):
        return InputError(
            "the query needs more memory than there is", where="sql", advice="narrow it with WHERE or LIMIT"
        )
    message = str(error)
    if message.startswith("Could not decode"):
        return InputError("a text is not valid UTF-8", where="sql", advice="select hex(COLUMN) instead")
    if "one statement at a time" in message:
        return only_reads("it takes one statement at a time")
    if "number of bindings" in message or "binding parameter" in message:
        return InputError(
            "the query has parameters such as ? or :name", where="sql", advice="write the values themselves"
        )
    if message.startswith("no such column"):
        return query_error(message, query, unknown="column")
    return query_error(message, query, unknown="view" if message.startswith("no such table") else None)

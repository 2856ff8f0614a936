"""Run one query on a SQLite file so that it can only read, in a separate process (see ``own_process``).

Three independent guards: the file is opened read-only, `query_only` is on, and an authorizer admits only the actions
listed here. `mode=ro` alone would still admit ATTACH and VACUUM INTO. The process has limits on memory and temporary
files, and its parent ends it if the query runs too long.

That process imports only this module, which imports nothing of the package and little else, because every query pays
for each import.
"""

from __future__ import annotations

import marshal
import os
import sqlite3
import sys
from _thread import start_new_thread
from collections.abc import Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

MAX_VALUE_BYTES = 100_000_000
"""The largest value: about twice the list of a run with a million items in a group."""
MAX_SQLITE_BYTES = 1 << 30
"""How much memory SQLite may hold at once, if its build counts it."""
BUSY_SECONDS = 60.0

_MAX_ADDRESSES = 3 << 29  # bytes: SQLite's, and a row as Python has it
_MAX_FILE_BYTES = 4 << 30  # of a temporary file: what is sorted, or kept by WITH
_ROWS_AT_ONCE = 500
_BYTES_AT_ONCE = 1 << 20

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

Answer = tuple[str, "Any"]
"""``began``, None; then ``rows``, some of them, any number of times; at last ``columns``, the names, or ``failed``."""


def answers(*, uri: str, query: str, max_rows: int | None, cache_kib: int) -> Iterator[Answer]:
    """Yield the result of one reading query, whose last part says how it ended; change nothing, whatever it is.

    Parameters: ``uri``, of a file that has no hot journal. ``max_rows``: how many to send, None for all.
    ``cache_kib``: how much of the file SQLite keeps in memory, and sorts there. A failure has a kind (``unreadable``,
    ``refused``, ``memory``, ``sqlite``, ``rows`` on values of rows) and a text.
    """
    try:
        connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        _restrict(connection, cache_kib)
        authorizer = _Authorizer(connection)
    except sqlite3.Error as error:
        yield "failed", ("unreadable", str(error))
        return
    connection.set_authorizer(authorizer)
    yield "began", None
    try:
        yield from _fetched(connection, query, max_rows)
    except (sqlite3.Error, sqlite3.Warning, MemoryError) as error:
        if authorizer.refusal is not None:
            yield "failed", ("refused", authorizer.refusal)
        elif isinstance(error, MemoryError):
            yield "failed", ("memory", "")
        elif _is_of_rows(connection, query):
            yield "failed", ("rows", str(error))
        else:
            yield "failed", ("sqlite", str(error))


def _is_of_rows(connection: sqlite3.Connection, query: str) -> bool:
    """Return whether a query that failed compiles, so that its error may hold a value of a row."""
    try:
        connection.execute(f"EXPLAIN {query}").close()
    except (sqlite3.Error, sqlite3.Warning, MemoryError):
        return False
    return True


def main() -> NoReturn:
    """Read the request from standard input and answer on standard output; end when the caller closes them."""
    code = 1
    try:
        size = int.from_bytes(sys.stdin.buffer.read(8), "little")
        request = marshal.loads(sys.stdin.buffer.read(size))
        start_new_thread(_end_with_the_asker, ())
        _limit_this_process()
        for answer in answers(**request):
            _send(answer)
        code = 0
    except MemoryError:
        _send(("failed", ("memory", "")))
    except BaseException:
        import traceback

        _send(("failed", ("defect", traceback.format_exc())))
    finally:
        os._exit(code)


def _end_with_the_asker() -> None:
    os.read(0, 1)
    os._exit(1)


def _send(answer: Answer) -> None:
    packed = marshal.dumps(answer)
    sys.stdout.buffer.write(len(packed).to_bytes(8, "little"))
    sys.stdout.buffer.write(packed)
    sys.stdout.buffer.flush()


class _Authorizer:
    """SQLite asks it about every action of a statement while compiling; it remembers the refusal."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        rows = connection.execute("SELECT type, lower(name) FROM sqlite_master WHERE type IN ('table', 'view')")
        named: dict[str, set[str]] = {"table": set(), "view": set()}
        for kind, name in rows:
            named[kind].add(name)
        self._readable = named["table"] | named["view"] | _TABLE_FUNCTIONS | _SCHEMA_TABLES
        for name in _TABLE_FUNCTIONS:  # before SQLite 3.41 their first use requests an UPDATE of sqlite_master
            connection.execute(f"SELECT key FROM {name}('[]')")
        self.refusal: str | None = None

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, _inner: str | None
    ) -> int:
        refusal = self._refusal_of(action, (first or "").lower(), (second or "").lower(), database)
        self.refusal = refusal or self.refusal
        return sqlite3.SQLITE_DENY if refusal else sqlite3.SQLITE_OK

    def _refusal_of(self, action: int, table: str, name: str, database: str | None) -> str:
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return ""
        if action == sqlite3.SQLITE_FUNCTION:
            return "" if name in _FUNCTIONS else f"the function {name} is not among those allowed"
        if action != sqlite3.SQLITE_READ:
            return "it takes one SELECT from tables and views of this database"
        # count(*) over anything does not name a column, even over a WITH name or a subquery.
        is_known = table in self._readable or (not name and not _is_internal(table))
        return "" if is_known and database != "temp" else f"{table} is not a table or view of this database"


def _is_internal(table: str) -> bool:
    return table.startswith(("pragma_", "sqlite_", "fts", "rtree")) or table in ("dbstat", "bytecode", "tables_used")


def _restrict(connection: sqlite3.Connection, cache_kib: int) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute(f"PRAGMA cache_size = -{cache_kib}")  # what is sorted stays in memory up to this size, too
    for limit, value in (
        (sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES),
        (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000),
        (sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
        (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
    ):
        connection.setlimit(limit, value)


def _limit_this_process() -> None:
    sqlite3.connect(":memory:").execute(f"PRAGMA hard_heap_limit = {MAX_SQLITE_BYTES}")  # of all connections
    try:
        import resource
    except ImportError:  # Windows
        return
    for what, most in ((resource.RLIMIT_AS, _MAX_ADDRESSES), (resource.RLIMIT_FSIZE, _MAX_FILE_BYTES)):
        soft, hard = resource.getrlimit(what)
        given = [limit for limit in (soft, hard, most) if limit != resource.RLIM_INFINITY]
        try:
            resource.setrlimit(what, (min(given), hard))
        except (OSError, ValueError):  # macOS accepts no limit below the addresses that a process already has
            continue


def _fetched(connection: sqlite3.Connection, query: str, max_rows: int | None) -> Iterator[Answer]:
    cursor = connection.execute(query)
    rows: list[tuple[object, ...]] = []
    n_bytes = n_rows = 0
    while max_rows is None or n_rows < max_rows:
        row = cursor.fetchone()
        if row is None:
            break
        rows.append(row)
        n_rows += 1
        n_bytes += sum([len(value) for value in row if type(value) is str or type(value) is bytes])
        if len(rows) == _ROWS_AT_ONCE or n_bytes > _BYTES_AT_ONCE:
            yield "rows", rows
            rows, n_bytes = [], 0
    yield "rows", rows
    yield "columns", [column[0] for column in cursor.description or ()]

"""Run a query of the user on a SQLite file so that it can only read, in a separate process that can be killed.

SQLite checks the clock only between the steps of a query, and one step may take minutes and gigabytes. So the process
is killed when its time is over, or when nobody waits for it: on Ctrl-C, on an error, or when the caller ends.

This module prepares the query and describes its outcome; ``sqlite_reader`` runs it, guarded, in that process.
"""

from __future__ import annotations

import marshal
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, Any, Literal, cast

from ndcg_tracker.errors import DatabaseError, InputError, NdcgTrackerError
from ndcg_tracker.storage.connection import CACHE_KIB
from ndcg_tracker.storage.guard import sqlite_reader
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
from ndcg_tracker.storage.guard.sqlite_reader import BUSY_SECONDS, MAX_SQLITE_BYTES

_GRACE_SECONDS = 0.5
"""How long to wait for the end of a killed process."""
_START_SECONDS = 30.0
_IMPORTED = f"import sys; sys.path.append({{!r}}); from {sqlite_reader.__name__.rpartition('.')[2]} import main; main()"


def answered(request: dict[str, Any], timeout_seconds: float) -> Generator[sqlite_reader.Answer]:
    """Yield what ``sqlite_reader.answers`` yields, from a separate process; close this generator, or exhaust it.

    A process that was killed after its time has failed as ``expired``; one that ended without a message has failed as
    ``ended``. Raises: DatabaseError in a frozen program, or one that embeds Python, which cannot start it.
    """
    folder = str(Path(sqlite_reader.__file__).parent)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        process = subprocess.Popen(
            [_python(), "-P", "-s", "-S", "-c", _IMPORTED.format(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        what = f"cannot start a process for the query ({error.strerror or error})"
        raise DatabaseError(what, advice="end other processes, then run the same command again") from None
    seconds = _START_SECONDS + sqlite_reader.BUSY_SECONDS
    deadline = time.monotonic() + seconds
    timer = _killing(process, seconds)
    try:
        for answer in _spoken(process, request):
            if answer[0] == "began":
                timer.cancel()
                deadline = time.monotonic() + timeout_seconds
                timer = _killing(process, timeout_seconds)
            yield answer
            if answer[0] in ("columns", "failed"):
                return
        yield "failed", ("expired", "") if time.monotonic() >= deadline else ("ended", _words_of_end(process.wait()))
    finally:
        timer.cancel()
        process.kill()
        _reap(process)
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # it ended before it read all of its input
                cast("IO[bytes]", stream).close()


def _killing(process: subprocess.Popen[bytes], seconds: float) -> threading.Timer:
    """Return a thread that kills a process after its time, so that no system has to interrupt a read from a pipe."""
    timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), process.kill)
    timer.daemon = True
    timer.start()
    return timer


def _python() -> str:
    """Return the program to start: the running one, which must be plain Python."""
    program = sys.executable or ""
    if os.name == "nt":  # in a virtual environment the running program only starts this one
        program = getattr(sys, "_base_executable", program)
    if getattr(sys, "frozen", False) or "py" not in Path(program).name.lower():
        raise DatabaseError("sql needs Python to start a process for the query", advice="run it with ndcg-track")
    return program


def _spoken(process: subprocess.Popen[bytes], request: dict[str, Any]) -> Iterator[sqlite_reader.Answer]:
    """Send the request, and yield the replies until the process sends no more."""
    stdin, stdout = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    packed = marshal.dumps(request)
    try:
        stdin.write(len(packed).to_bytes(8, "little") + packed)
        stdin.flush()
    except OSError:  # it ended before it could be asked
        return
    while len(size := stdout.read(8)) == 8:
        part = stdout.read(int.from_bytes(size, "little"))
        if len(part) < int.from_bytes(size, "little"):
            return
        yield marshal.loads(part)


def _reap(process: subprocess.Popen[bytes]) -> None:
    """Wait for the end of a killed process, but not while the system frees gigabytes of its temporary files."""
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, daemon=True).start()


def _words_of_end(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


_OUT_OF_MEMORY = "signal 9"  # how the kernel ends a process when memory runs out


def run_guarded_sqlite(
    path: str, query: str, *, timeout_seconds: float, max_rows: int | None, explain: bool = False
) -> QueryResult:
    """Run one reading query on a SQLite file and change nothing, whatever the query is.

    This first rolls back a transaction that a killed writer left unfinished, as the next opening would do. Parameters:
    ``path``, of a file that exists. ``query``: one SELECT, WITH ... SELECT or VALUES; a trailing semicolon and comments
    are allowed. ``timeout_seconds``: above 0; then the query is stopped. ``max_rows``: None returns all rows.
    ``explain``: return the plan instead, one line per row, indented by its depth. Raises: InputError for a query that
    does not parse, would do more than read, or takes too long or too much memory; DatabaseError for a file that is
    missing, is not a SQLite database or cannot be opened.
    """
    checked_text(query)
    uri = _uri_of(path)
    text = query.rstrip("; \t\r\n")
    text, quoted = _with_names_in_backticks(text)
    request = {
        "uri": uri,
        "query": f"EXPLAIN QUERY PLAN {text}" if explain else text,
        "max_rows": None if max_rows is None or explain else max_rows + 1,  # one more, so that a cut is noticed
        "cache_kib": CACHE_KIB,
    }
    builder = ResultBuilder(max_rows)
    depths: dict[object, int] = {}
    # Kept open while the query runs: without it, a reader could not open a database in WAL mode.
    with closing(_recovered(path, uri)), closing(answered(request, timeout_seconds)) as answers:
        for kind, part in answers:
            if kind == "rows":
                for row in part:
                    if explain:  # a step of the plan, indented below its parent
                        depths[row[0]] = depths.get(row[1], -1) + 1
                        row = (f"{'  ' * depths[row[0]]}{row[3]}",)
                    builder.add(row)
            elif kind == "columns":
                return builder.result([PLAN] if explain else part)
            elif kind == "failed":
                raise _explained(part, path, query, timeout_seconds, quoted)
    raise RuntimeError("a query ends with an answer")


def _uri_of(path: str) -> str:
    if not Path(path).is_file():
        raise DatabaseError("no such database", where=path, advice="ndcg-track ingest creates one")
    return Path(path).absolute().as_uri()


def _recovered(path: str, uri: str) -> sqlite3.Connection:
    """Open the file for writing and read once, which rolls back a hot journal; a read-only connection could not."""
    try:
        connection = sqlite3.connect(f"{uri}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error
    return connection


def _unreadable(path: str, error: object) -> DatabaseError:
    return DatabaseError(f"cannot be read as a database: {error}", where=path, advice="ndcg-track doctor says more")


_QUOTED_NAME = re.compile(
    r"'(?:[^']|'')*'|`(?:[^`]|``)*`|\[[^]]*\]"  # texts, and names in other quotes
    r"|--[^\n]*|/\*.*?(?:\*/|\Z)"
    r'|"(?P<name>(?:[^"]|"")*)"',
    re.DOTALL,
)


def _with_names_in_backticks(query: str) -> tuple[str, list[str]]:
    """Return the query with names in backticks instead of double quotes, and these names.

    SQLite treats an unknown name in double quotes as a text; Postgres and standard SQL do not. In backticks a name is
    always a name.
    """
    names: list[str] = []

    def in_backticks(token: re.Match[str]) -> str:
        if token["name"] is None:
            return token[0]
        names.append(token["name"].replace('""', '"'))
        return "`" + names[-1].replace("`", "``") + "`"

    return _QUOTED_NAME.sub(in_backticks, query), names


def _explained(
    failure: tuple[str, str], path: str, query: str, timeout_seconds: float, quoted: list[str]
) -> NdcgTrackerError:
    """Return the error for a failed query (see ``sqlite_reader.answers``)."""
    kind, message = failure
    if kind == "unreadable":
        return _unreadable(path, message)
    if kind == "expired":
        return took_too_long(timeout_seconds)
    if kind == "refused":
        return only_reads(message)
    if kind == "memory" or (kind == "ended" and message == _OUT_OF_MEMORY):
        what = f"the query needs more memory than the {MAX_SQLITE_BYTES >> 20} MiB that it may have"
        return InputError(what, where="sql", advice="narrow it with WHERE or LIMIT")
    if kind == "ended":
        what = f"SQLite ended without an answer ({message})"
        return DatabaseError(what, where=path, advice="run ndcg-track db check")
    if kind == "defect":
        raise RuntimeError(f"the process of the query has failed:\n{message}")
    if message.startswith("Could not decode"):
        return InputError("a text is not valid UTF-8", where="sql", advice="select hex(COLUMN) instead")
    if kind == "rows" and "binding" not in message:
        return failed_on_rows(re.split(r" near\b|['\":]", message)[0].strip())
    unknown = next((name for name in quoted if message == f"no such column: {name}"), None)
    if unknown is not None:
        return query_error(f'no such column: "{unknown}" (write text in single quotes)', query, unknown="column")
    if "one statement at a time" in message:
        return only_reads("it takes one statement at a time")
    if "binding" in message:
        what = "the query has parameters such as ? or :name"
        return InputError(what, where="sql", advice="write the values themselves")
    kinds: dict[str, Literal["view", "column"]] = {"no such column": "column", "no such table": "view"}
    return query_error(message, query, unknown=kinds.get(message.partition(":")[0]))

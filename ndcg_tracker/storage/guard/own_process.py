"""A query in a process of its own, which can be ended in the middle of whatever SQLite does.

SQLite looks at the clock between the steps of a query alone, and one step may take minutes and gigabytes. So the
process is killed when its time is over, and when nobody waits for it: on Ctrl-C, on an error, at the caller's end.
"""

from __future__ import annotations

import marshal
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.guard import sqlite_reader

_GRACE_SECONDS = 0.5
"""What the process gets to stop by itself, with what it knows."""
_START_SECONDS = 30.0
_IMPORTED = f"import sys; sys.path.append({{!r}}); from {sqlite_reader.__name__.rpartition('.')[2]} import main; main()"


def answered(request: dict[str, Any]) -> Generator[sqlite_reader.Answer]:
    """Yield what ``sqlite_reader.answers`` yields, from a process of its own; close this, or use it up.

    A process that was killed after its time has failed as ``expired``; another that ended without a word as ``ended``.
    Where Python cannot be started (a frozen program, or one that embeds it), the query runs in this process.
    """
    python = _python()
    if python is None:
        yield from sqlite_reader.answers(**request)
        return
    folder = str(Path(sqlite_reader.__file__).parent)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        process = subprocess.Popen(
            [python, "-P", "-s", "-S", "-c", _IMPORTED.format(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        )
    except OSError as error:
        what = f"cannot start a process for the query ({error.strerror or error})"
        raise DatabaseError(what, advice="end other processes, then run the same command again") from None
    limit = _TimeLimit(process)
    try:
        limit.begin(_START_SECONDS + sqlite_reader.BUSY_SECONDS)
        for answer in _spoken(process, request):
            if answer[0] == "began":
                limit.begin(request["timeout_seconds"] + _GRACE_SECONDS)
            yield answer
            if answer[0] in ("columns", "failed"):
                return
        yield "failed", ("expired", "") if limit.is_over else ("ended", _words_of_end(process.wait()))
    finally:
        limit.end()
        process.kill()
        _reap(process)
        for stream in (process.stdin, process.stdout):
            _closed(stream)


class _TimeLimit:
    """Kills a process after its time, from a thread: no read from a pipe need be interrupted, on no system."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._timer: threading.Timer | None = None
        self.is_over = False

    def begin(self, seconds: float) -> None:
        """Let the time begin anew."""
        self.end()
        self._timer = threading.Timer(min(seconds, threading.TIMEOUT_MAX), self._kill)
        self._timer.daemon = True
        self._timer.start()

    def end(self) -> None:
        """Let the process live."""
        if self._timer is not None:
            self._timer.cancel()

    def _kill(self) -> None:
        self.is_over = True
        self._process.kill()


def _python() -> str | None:
    """Return the program to start: what runs here, if that is Python and nothing else."""
    program = sys.executable or ""
    if os.name == "nt":  # in a virtual environment what runs here only starts this one
        program = getattr(sys, "_base_executable", program)
    is_python = not getattr(sys, "frozen", False) and "py" in Path(program).name.lower()
    return program if is_python and Path(program).is_file() else None


def _spoken(process: subprocess.Popen[bytes], request: dict[str, Any]) -> Iterator[sqlite_reader.Answer]:
    """Ask, and yield what comes back until the process falls silent."""
    stdin, stdout = process.stdin, process.stdout
    if stdin is None or stdout is None:
        raise TypeError("the process has pipes")
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
    """Wait for the end of a killed process, yet not while the system takes back gigabytes of its temporary files."""
    try:
        process.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        threading.Thread(target=process.wait, daemon=True).start()


def _words_of_end(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"


def _closed(stream: IO[bytes] | None) -> None:
    try:
        if stream is not None:
            stream.close()
    except OSError:  # what it did not read
        pass

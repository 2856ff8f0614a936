"""Running things and measuring them: whole processes, and workers that keep their data between rounds.

This module and those that import it load no more than the standard library: the peak memory that the system reports
for a child includes what its parent held when it was started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = Path(os.environ.get("BENCHMARK_DATA", HERE / "data")).resolve()

Means = dict[str, float]
Figures = dict[str, object]


class TaskError(Exception):
    """A process that was to be measured did not do its work; the text says why."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One measurement: seconds of wall time, of processor time, peak memory in MB, and the means it found."""

    seconds: float
    cpu_seconds: float | None = None
    peak_mb: float | None = None
    means: Means = field(default_factory=dict)
    figures: Figures = field(default_factory=dict)


def environment() -> dict[str, str]:
    """Return the environment of every child: this checkout comes first, and no setting of the user's leaks in."""
    uncached = "PYTHONDONTWRITEBYTECODE"  # a checkout would be compiled anew in every process, an installed tool not
    dropped = ("NDCG_TRACK_", uncached)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    before = kept.get("PYTHONPATH")
    return kept | {"PYTHONPATH": os.pathsep.join([str(ROOT), *([before] if before else [])])}


def measured(command: Sequence[str], read: Callable[[TextIO], Means] | None = None, limit: float = 1e9) -> Sample:
    """Run a command once. ``read`` gets what it printed. Raises: TaskError where it fails or outlasts the limit."""
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=printed, stderr=said, stdin=subprocess.DEVNULL, env=environment(), cwd=DATA
        )
        watch = threading.Timer(limit, process.send_signal, [signal.SIGKILL])
        watch.start()
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        watch.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            if seconds >= limit:
                raise TaskError(f"stopped after {limit:.0f} s")
            said.seek(0)
            raise TaskError(f"ended with {process.returncode}: {last_line(said.read())}")
        printed.seek(0)
        means = read(printed) if read else {}
    per_mb = 1024 if sys.platform != "darwin" else 1024**2
    return Sample(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / per_mb, means)


def done(command: Sequence[str]) -> str:
    """Run a command that is not measured and return what it printed. Raises: TaskError."""
    process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment(), cwd=DATA)
    if process.returncode:
        raise TaskError(f"{' '.join(command[:4])} ended with {process.returncode}: {last_line(process.stderr)}")
    return process.stdout


def last_line(text: str) -> str:
    """Return the last line that says something, which is where Python names the error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:300] if lines else "it said nothing"


class Worker:
    """A process that makes its data ready once and then does its work each time it is asked to.

    It speaks JSON lines: first what it found in a round that does not count, then one answer per line it reads.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            env=environment(),
            cwd=DATA,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        try:
            self.first = self._answer()
        except TaskError:
            self.close()
            raise

    def ask(self, what: str = "go") -> dict[str, object]:
        """Send a line and return the answer. Raises: TaskError where the worker has ended."""
        with contextlib.suppress(BrokenPipeError):  # the answer that does not come says why
            self._input.write(what + "\n")
            self._input.flush()
        return self._answer()

    def close(self) -> None:
        """Let the worker end and wait for it."""
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self._process.wait()
        self._output.close()
        self._said.close()

    def _answer(self) -> dict[str, object]:
        for line in self._output:
            if line.startswith("{"):  # some tools print greetings
                answer = json.loads(line)
                if "failed" in answer:
                    raise TaskError(str(answer["failed"]))
                return dict(answer)
        self._process.wait()
        self._said.seek(0)
        raise TaskError(f"ended with {self._process.returncode}: {last_line(self._said.read())}")


def serve(work: Callable[[], object], first: Mapping[str, object]) -> None:
    """Be a worker: tell what was found first, then do the work once per line that is read and tell the seconds.

    Work of less than a tenth of a second is repeated within a round, and the round's figure is the median.
    """
    say(first)
    for _ in sys.stdin:
        times: list[float] = []
        while not times or (sum(times) < 0.1 and len(times) < 9):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        say({"seconds": statistics.median(times)})


def say(answer: Mapping[str, object]) -> None:
    """Write one answer."""
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def read_into_cache(path: Path) -> None:
    """Read a file once, so that it is in the system's cache for all contenders alike."""
    with path.open("rb") as file:
        while file.read(1 << 18):
            pass

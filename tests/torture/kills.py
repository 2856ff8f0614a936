"""Row 1: SIGKILL at random moments of an ingest."""

from __future__ import annotations

import random
import signal
import sqlite3
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ndcg_tracker.storage.connection import wal_is_safe

from .aftermath import Aftermath
from .databases import contents, database, engine_name
from .forked import Forked
from .material import Material, write_material
from .moments import Where, moments
from .programs import Process, checked, cold, ended, here
from .report import Outcome, Setting

SEED = 20_260_101
_COLD_EVERY = 10  # every so many-th process is started from cold: kills before the database is opened
_AIMED_EVERY = 5  # with a rollback journal every so many-th kill waits until pages go into the database file
_MOST = 0.5
_START_SECONDS = 0.6  # what a start from cold adds, about
_INSIDE = 0.75  # so many of the kills wait for the transaction to begin, whatever else the machine does


@dataclass(frozen=True)
class _Sizes:
    n_kills: int
    n_groups: int
    items_per_group: int
    kinds: tuple[str, ...]
    at_random: bool  # else each kill waits until the process is inside its transaction


_SIZES = {
    "full": _Sizes(200, 400, 500, ("new", "streamed", "first of its dataset", "replacing"), at_random=True),
    "quick": _Sizes(2, 200, 200, ("streamed", "replacing"), at_random=False),
}


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the kills came to on each engine."""
    sizes = _SIZES[setting.size]
    large = write_material(setting.folder, "killed", sizes.n_groups, sizes.items_per_group, SEED)
    small = write_material(setting.folder, "kept", 50, 20, SEED + 1)
    for engine in setting.engines:
        with database(setting, engine) as url:
            yield _Series(setting, engine, url, large, small).outcome()


@dataclass(frozen=True)
class Kill:
    """Where a kill came; ``is_undone``: what the process was storing must not be there."""

    where: Where
    is_acknowledged: bool
    is_undone: bool


class Killer:
    """Kills processes that write to one database, at random moments of their work or as soon as they write.

    ``counts``: "kills", and how many of them were "inside" the transaction, "writing" pages into the file, and after
    the process had "acknowledged" what it did.
    """

    def __init__(self, folder: Path, url: str, *, at_random: bool) -> None:
        self._folder, self._at_random = folder, at_random
        self.moments = moments(url)
        self._random = random.Random(SEED)
        self.counts: Counter[str] = Counter()

    def times(
        self, command: list[str], restore: Callable[[], None], codes: Collection[int] = (0,)
    ) -> tuple[float, float]:
        """Return how long a command takes, all of it and once it writes: medians of three; (0, 0) if nobody asks.

        ``codes``: the exit codes of a command that was done.
        """
        if not self._at_random:
            return 0.0, 0.0
        whole, inside = [], []
        for _ in range(3):
            started = time.monotonic()
            process = Forked(self._folder, *command)
            self._wait(process, {"inside", "writing the file"})
            began = time.monotonic()
            if (printed := ended(process)).code not in codes:
                raise RuntimeError(f"the command to kill fails: {printed}")
            whole.append(time.monotonic() - started)
            inside.append(time.monotonic() - began)
            restore()
        return statistics.median(whole), statistics.median(inside)

    def killed(self, number: int, command: list[str], times: tuple[float, float], told: bytes) -> Kill | None:
        """Kill a process and return what the kill met, None where it was too late.

        It is stopped first, so that what is seen of it is what the kill meets. ``told``: how the output ends of one
        that has told of its success.
        """
        start = cold if self._is_cold(number) else Forked
        process = start(self._folder, *command)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=self._delay(number, process, times))
        process.send_signal(signal.SIGSTOP)
        where = self.moments.where()
        process.kill()
        out, err = process.communicate()
        if self.moments.leaves_traces:
            where = self.moments.where()
        if process.returncode != -signal.SIGKILL:
            return None
        is_acknowledged = (out + err).rstrip().endswith(told)
        self.counts["kills"] += 1
        self.counts["inside"] += where != "outside"
        self.counts["writing"] += where == "writing the file"
        self.counts["acknowledged"] += is_acknowledged
        return Kill(where, is_acknowledged, is_undone=where != "outside" and self.moments.inside_is_undone)

    def figure(self, what: str) -> str:
        """Return how many kills met what; ``what``: is acknowledged."""
        count = self.counts
        of_them = f" ({count['writing']} while pages went into the file)" if self.moments.leaves_traces else ""
        return (
            f"{count['kills']} kills, {count['inside']} inside the transaction{of_them}, {count['acknowledged']} after "
            f"{what} acknowledged"
        )

    @property
    def most_inside(self) -> bool:
        """Whether most kills met an open transaction."""
        return self.counts["inside"] > _MOST * self.counts["kills"]

    def _is_cold(self, number: int) -> bool:
        return self._at_random and number % _COLD_EVERY == 1

    def _delay(self, number: int, process: Process, times: tuple[float, float]) -> float:
        """Return after how many seconds to kill, having waited for what the kill is to meet."""
        if not self._at_random:
            self._wait(process, {"inside", "writing the file"})
            return 0.0
        whole, inside = times
        if self.moments.leaves_traces and number % _AIMED_EVERY == 0:
            self._wait(process, {"writing the file"})
            return self._random.uniform(0, 0.02)
        if self._random.random() < _INSIDE:
            self._wait(process, {"inside", "writing the file"})
            return self._random.uniform(0, 0.9 * inside)
        return self._random.uniform(0, 0.98 * whole + _START_SECONDS * self._is_cold(number))

    def _wait(self, process: Process, places: set[Where]) -> None:
        while process.poll() is None and self.moments.where() not in places:
            time.sleep(self.moments.poll_seconds)


def note_of(engine: str) -> str:
    """Return what cannot be claimed of kills on an engine, and why."""
    seed = f"seed {SEED}"
    if engine != "sqlite":
        return f"{seed}; what is killed is the client (the server's own death is row 7)"
    if wal_is_safe():
        return f"{seed}; SQLite {sqlite3.sqlite_version}"
    return (
        f"{seed}; SQLite {sqlite3.sqlite_version}, whose write-ahead log can be corrupted, so the program does not "
        "use it and WAL is not tested"
    )


class _Series:
    """One database through all its kills."""

    def __init__(self, setting: Setting, engine: str, url: str, large: Material, small: Material) -> None:
        self._engine, self._url = engine, url
        self._sizes, self._large, self._small = _SIZES[setting.size], large, small
        self._killer = Killer(setting.folder, url, at_random=self._sizes.at_random)

    def outcome(self) -> Outcome:
        """Kill as often as the size says and return what it came to."""
        for name in ("first", "second", "replaced"):
            checked(here(*self._command(self._small, "shop", name)))
        kinds = self._sizes.kinds
        expected = {kind: self._expected(kind) for kind in kinds}
        times = {kind: self._timed(kind) for kind in kinds}
        self._aftermath = Aftermath(self._url)
        number = 0
        while self._killer.counts["kills"] < self._sizes.n_kills and not self._aftermath.counts["not again"]:
            kind, run, command = self._numbered(number)
            kill = self._killer.killed(number, command, times[kind], b"]")
            if kill is None:
                self._restore(kind, run)
            else:
                self._look(number, kill, expected[kind])
            number += 1
        return self._outcome()

    def _outcome(self) -> Outcome:
        n_kills, found = self._killer.counts["kills"], self._aftermath.counts
        figure = (
            f"{self._killer.figure('the run was')}: {found['partial']} partial, {found['lost']} lost, "
            f"{found['whole']}/{n_kills} databases whole, the same command then stored it {found['again']}/{n_kills}"
        )
        return Outcome(
            1,
            f"SIGKILL at {self._sizes.n_kills} {'random ' if self._sizes.at_random else ''}points of an ingest of "
            f"{self._large.n_items:,} items",
            engine_name(self._engine),
            "0 partial, 0 acknowledged lost, integrity ok, most inside the transaction",
            figure + self._aftermath.first_fault,
            met=not self._aftermath.faults and self._killer.most_inside,
            note=note_of(self._engine),
        )

    def _command(self, material: Material, dataset: str, name: str, *further: str) -> list[str]:
        files = ["ingest", str(material.run), "--labels", str(material.labels), "--dataset", dataset, "--name", name]
        metrics = ["--metric", "ndcg@10", "--metric", "AP", "--metric", "RR@10"]
        return ["--db", self._url, *files, *metrics, "--git-commit", "none", "--format", "json", *further]

    def _ingest(self, kind: str, number: int) -> tuple[tuple[str, str], list[str]]:
        """Return the (dataset, name) of a run and the command that stores it."""
        dataset = f"dataset {number}" if kind == "first of its dataset" else "shop"
        name = "replaced" if kind == "replacing" else f"killed {number}"
        further = {"streamed": ["--stream"], "replacing": ["--replace"]}.get(kind, [])
        return (dataset, name), self._command(self._large, dataset, name, *further)

    def _numbered(self, number: int) -> tuple[str, tuple[str, str], list[str]]:
        kind = self._sizes.kinds[number % len(self._sizes.kinds)]
        return kind, *self._ingest(kind, number)

    def _expected(self, kind: str) -> str:
        """Return the checksum that a killed run has when it is whole."""
        run, command = self._ingest(kind, -1)
        checked(here(*command))
        found = contents(self._url)[run]
        self._restore(kind, run)
        return found

    def _timed(self, kind: str) -> tuple[float, float]:
        run, command = self._ingest(kind, -2)
        return self._killer.times(command, lambda: self._restore(kind, run))

    def _restore(self, kind: str, run: tuple[str, str]) -> None:
        """Bring the database back to what it held before a run was stored."""
        dataset, name = run
        if kind == "replacing":
            checked(here(*self._command(self._small, dataset, name, "--replace")))
        else:
            checked(here("--db", self._url, "runs", "delete", name, "--dataset", dataset, "--yes"))

    def _look(self, number: int, kill: Kill, expected: str) -> None:
        kind, run, command = self._numbered(number)
        place = f"{kind} {number}, {kill.where}"
        told = {"acknowledged": kill.is_acknowledged, "undone": kill.is_undone}
        self._aftermath.look(place, run, command, expected, **told)
        if not self._aftermath.counts["not again"]:
            self._restore(kind, run)

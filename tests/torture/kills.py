"""Row 1: SIGKILL at random moments of an ingest."""

from __future__ import annotations

import random
import signal
import sqlite3
import statistics
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

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


class _Series:
    """One database through all its kills."""

    def __init__(self, setting: Setting, engine: str, url: str, large: Material, small: Material) -> None:
        self._folder, self._engine, self._url = setting.folder, engine, url
        self._sizes, self._large, self._small = _SIZES[setting.size], large, small
        self._moments = moments(url)
        self._random = random.Random(SEED)
        self._counts: Counter[str] = Counter()

    def outcome(self) -> Outcome:
        """Kill as often as the size says and return what it came to."""
        for name in ("first", "second", "replaced"):
            checked(here(*self._command(self._small, "shop", name)))
        kinds = self._sizes.kinds
        expected = {kind: self._expected(kind) for kind in kinds}
        times = {kind: self._timed(kind) for kind in kinds} if self._sizes.at_random else {}
        self._aftermath = Aftermath(self._url)
        number = 0
        while self._counts["kills"] < self._sizes.n_kills and not self._aftermath.counts["not again"]:
            kind = kinds[number % len(kinds)]
            where, acknowledged, killed = self._killed(number, times.get(kind))
            if killed:
                self._note_kill(where, acknowledged=acknowledged)
                self._look(number, where, expected[kind], acknowledged=acknowledged)
            else:
                self._restore(kind, self._numbered(number)[1])
            number += 1
        return self._outcome()

    def _outcome(self) -> Outcome:
        count, found = self._counts, self._aftermath.counts
        n_kills = count["kills"]
        of_them = f" ({count['writing']} while pages went into the file)" if self._moments.leaves_traces else ""
        figure = (
            f"{n_kills} kills, {count['inside']} inside the transaction{of_them}, {count['acknowledged']} after the "
            f"run was acknowledged: {found['partial']} partial, {found['lost']} lost, "
            f"{found['whole']}/{n_kills} databases whole, the same command then stored it {found['again']}/{n_kills}"
        )
        return Outcome(
            1,
            f"SIGKILL at {self._sizes.n_kills} {'random ' if self._sizes.at_random else ''}points of an ingest of "
            f"{self._large.n_items:,} items",
            engine_name(self._engine),
            "0 partial, 0 acknowledged lost, integrity ok, most inside the transaction",
            figure + self._aftermath.first_fault,
            met=not self._aftermath.faults and count["inside"] > _MOST * n_kills,
            note=self._note(),
        )

    def _note(self) -> str:
        seed = f"seed {SEED}"
        if self._engine != "sqlite":
            return f"{seed}; what is killed is the client (the server's own death is row 7)"
        if wal_is_safe():
            return f"{seed}; SQLite {sqlite3.sqlite_version}"
        return (
            f"{seed}; SQLite {sqlite3.sqlite_version}, whose write-ahead log can be corrupted, so the program does not "
            "use it and WAL is not tested"
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
        """Return how long such an ingest takes, all of it and once it writes: medians of three."""
        whole, inside = [], []
        for _ in range(3):
            run, command = self._ingest(kind, -2)
            started = time.monotonic()
            process = Forked(self._folder, *command)
            self._wait(process, {"inside", "writing the file"})
            began = time.monotonic()
            checked(ended(process))
            whole.append(time.monotonic() - started)
            inside.append(time.monotonic() - began)
            self._restore(kind, run)
        return statistics.median(whole), statistics.median(inside)

    def _restore(self, kind: str, run: tuple[str, str]) -> None:
        """Bring the database back to what it held before a run was stored."""
        dataset, name = run
        if kind == "replacing":
            checked(here(*self._command(self._small, dataset, name, "--replace")))
        else:
            checked(here("--db", self._url, "runs", "delete", name, "--dataset", dataset, "--yes"))

    def _is_cold(self, number: int) -> bool:
        return self._sizes.at_random and number % _COLD_EVERY == 1

    def _killed(self, number: int, times: tuple[float, float] | None) -> tuple[Where, bool, bool]:
        """Kill a process; return where it was, whether it had told of success, and whether it was alive to be killed.

        It is stopped first, so that what is seen of it is what the kill meets.
        """
        start = cold if self._is_cold(number) else Forked
        process = start(self._folder, *self._numbered(number)[2])
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=self._delay(number, process, times))
        process.send_signal(signal.SIGSTOP)
        where = self._moments.where()
        process.kill()
        out, _ = process.communicate()
        if self._moments.leaves_traces:
            where = self._moments.where()
        return where, out.rstrip().endswith(b"]"), process.returncode == -signal.SIGKILL

    def _delay(self, number: int, process: Process, times: tuple[float, float] | None) -> float:
        """Return after how many seconds to kill, having waited for what the kill is to meet."""
        if times is None:
            self._wait(process, {"inside", "writing the file"})
            return 0.0
        whole, inside = times
        if self._moments.leaves_traces and number % _AIMED_EVERY == 0:
            self._wait(process, {"writing the file"})
            return self._random.uniform(0, 0.02)
        if self._random.random() < _INSIDE:
            self._wait(process, {"inside", "writing the file"})
            return self._random.uniform(0, 0.9 * inside)
        return self._random.uniform(0, 0.98 * whole + _START_SECONDS * self._is_cold(number))

    def _wait(self, process: Process, places: set[Where]) -> None:
        while process.poll() is None and self._moments.where() not in places:
            time.sleep(self._moments.poll_seconds)

    def _note_kill(self, where: Where, *, acknowledged: bool) -> None:
        count = self._counts
        count["kills"] += 1
        count["inside"] += where != "outside"
        count["writing"] += where == "writing the file"
        count["acknowledged"] += acknowledged

    def _look(self, number: int, where: Where, expected: str, *, acknowledged: bool) -> None:
        kind, run, command = self._numbered(number)
        undone = where != "outside" and self._moments.inside_is_undone
        place = f"{kind} {number}, {where}"
        self._aftermath.look(place, run, command, expected, acknowledged=acknowledged, undone=undone)
        if not self._aftermath.counts["not again"]:
            self._restore(kind, run)

"""Row 2: SIGINT and SIGTERM during an ingest, then the same command again."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from command_line import Printed, Program
from test_cli_signals import MOMENTS, SIGNALLED

from .aftermath import Aftermath
from .databases import contents, database, engine_name
from .forked import Forked
from .material import Material, write_material
from .programs import checked, cold, ended, here, outcome
from .report import Outcome, Setting

SEED = 20_260_102
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOPPED = "stopped; nothing is half done\n"
_COLD_EVERY = 4
_START_SECONDS = 0.6
# Prints which functions of the program an ingest calls, in the order of their first calls.
_CALLED = """
import atexit, json, sys
from ndcg_tracker.cli.app import main

called = {}

def note(frame, event, argument):
    if event == "call" and "ndcg_tracker" in frame.f_code.co_filename:
        called.setdefault(frame.f_code.co_qualname)

atexit.register(lambda: (sys.setprofile(None), sys.stderr.write(json.dumps(list(called)))))
sys.setprofile(note)
main()
"""


@dataclass(frozen=True)
class _Sizes:
    n_places: int
    n_random: int
    n_groups: int


_SIZES = {"full": _Sizes(20, 30, 300), "quick": _Sizes(1, 0, 20)}


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the signals came to on each engine."""
    material = write_material(setting.folder, "signalled", _SIZES[setting.size].n_groups, 200, SEED)
    for engine in setting.engines:
        with database(setting, engine) as url:
            yield _Series(setting, engine, url, material).outcome()


class _Series:
    """One database through all its signals."""

    def __init__(self, setting: Setting, engine: str, url: str, material: Material) -> None:
        self._folder, self._engine, self._url, self._material = setting.folder, engine, url, material
        self._sizes = _SIZES[setting.size]
        self._random = random.Random(SEED)
        self._counts: Counter[str] = Counter()

    def outcome(self) -> Outcome:
        """Send all signals and return what they came to."""
        run, command = self._ingest("kept")
        places = self._places(command)
        checked(here(*command))
        expected = contents(self._url)[run]
        self._aftermath = Aftermath(self._url)
        for place in places:
            for number in _SIGNALS:
                run, command = self._ingest(f"{place} {number}")
                self._look(place, number, run, command, expected, self._signalled(place, number, command))
        duration = self._duration() if self._sizes.n_random else 0.0
        for count in range(self._sizes.n_random):
            number = _SIGNALS[count % 2]
            run, command = self._ingest(f"random {count}")
            printed = self._struck(count, number, command, duration)
            self._look(f"random {count}", number, run, command, expected, printed)
        return self._outcome(len(places))

    def _outcome(self, n_places: int) -> Outcome:
        count, found = self._counts, self._aftermath.counts
        n_random = self._sizes.n_random
        return Outcome(
            2,
            f"SIGINT and SIGTERM at {n_places} places of the program each, and at {n_random} random moments",
            engine_name(self._engine),
            "exit 130 / 143, 0 partial, exactly 1 run after the same command",
            f"{count['signals']} signals, {count['right exit']} exits of 130 or 143 ({count['start-up']} during "
            f"start-up); {found['partial']} partial, {found['lost']} lost; {count['one run']}/{count['signals']} with "
            f"exactly 1 run after the same command{self._aftermath.first_fault}",
            met=not self._aftermath.faults and count["right exit"] == count["one run"] == count["signals"] > 0,
            note=f"seed {SEED}; {count['too late']} random signals came after the end and are not counted",
        )

    def _ingest(self, name: str) -> tuple[tuple[str, str], list[str]]:
        """Return the (dataset, name) of a run, the first of its dataset, and the command that stores it."""
        files = [str(self._material.run), "--labels", str(self._material.labels), "--dataset", name, "--name", "run"]
        command = ["--db", self._url, "ingest", *files, "--git-commit", "none", "--format", "json"]
        return (name, "run"), command

    def _places(self, command: list[str]) -> list[str]:
        """Return the functions that signals come in: those of the normal suite, and others evenly over an ingest."""
        known = [name for name, _ in MOMENTS]
        if self._sizes.n_places <= len(known):
            return known[len(known) // 2 :][: self._sizes.n_places]
        called = self._called(command)
        return list(dict.fromkeys([*known, *called[:: max(1, len(called) // (self._sizes.n_places - len(known)))]]))

    def _called(self, command: list[str]) -> list[str]:
        """Return the names of the functions that an ingest calls, but for the first, which sets signals up."""
        printed = checked(self._run(_CALLED, *command))
        called: list[str] = json.loads(printed.err)
        return [name for name in called if name != "main"]

    def _run(self, script: str, *arguments: str) -> Printed:
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=self._folder,
            env=Program(self._folder).environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        return Printed(done.returncode, done.stdout, done.stderr)

    def _signalled(self, place: str, number: signal.Signals, command: list[str]) -> Printed:
        return self._run(SIGNALLED, place, str(int(number)), *command)

    def _duration(self) -> float:
        run, command = self._ingest("timed")
        started = time.monotonic()
        checked(ended(Forked(self._folder, *command)))
        seconds = time.monotonic() - started
        self._delete(run)
        return seconds

    def _struck(self, count: int, number: signal.Signals, command: list[str], duration: float) -> Printed:
        """Send a signal to a process at a random moment."""
        is_cold = count % _COLD_EVERY == 1
        process = cold(self._folder, *command) if is_cold else Forked(self._folder, *command)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=self._random.uniform(0, duration + _START_SECONDS * is_cold))
        process.send_signal(number)
        return ended(process)

    def _look(
        self,
        place: str,
        number: signal.Signals,
        run: tuple[str, str],
        command: list[str],
        expected: str,
        printed: Printed,
    ) -> None:
        count = self._counts
        if printed.code == 0 and place.startswith("random"):
            count["too late"] += 1
            self._delete(run)
            return
        count["signals"] += 1
        # Before the program has set its signals up, Python ends by the signal: 130 or 143 for the shell, too.
        count["start-up"] += printed.code == -number
        if (printed.code, printed.err) == (128 + number, _STOPPED) or printed.code == -number:
            count["right exit"] += 1
        else:
            self._aftermath.fault("exit", f"{place}, {number.name}: {printed}")
        self._aftermath.look(f"{place}, {number.name}", run, command, expected)
        count["one run"] += outcome(here(*command)) == "already stored" and list(contents(self._url)).count(run) == 1
        if run in contents(self._url):
            self._delete(run)

    def _delete(self, run: tuple[str, str]) -> None:
        checked(here("--db", self._url, "runs", "delete", run[1], "--dataset", run[0], "--yes"))

"""Row 26: SIGKILL in the middle of other commands that write: each has done all of its work or none of it."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from migrated import rows_of

from .databases import damage, database, engine_name, restorable
from .kills import SEED, Killer, note_of
from .material import write_material
from .programs import checked, here
from .report import Outcome, Setting

_N_KILLS = {"full": 20, "quick": 1}
_DONE = {"gate": {0, 3, 4}}
"""The exit codes of commands that were done, where there are others than 0."""
_TIME = re.compile(r"datetime\.datetime\([^)]*\)|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^']*")


@dataclass(frozen=True)
class _State:
    """What a database holds: every row, but for the times in it."""

    rows: dict[str, str]
    n_rows: dict[str, int]

    @classmethod
    def of(cls, url: str) -> _State:
        """Return what a database holds now."""
        tables = rows_of(url)
        rows = {name: "\n".join(sorted(_TIME.sub("T", repr(row)) for row in found)) for name, found in tables.items()}
        return cls(rows, {name: len(found) for name, found in tables.items()})


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the kills came to on each engine."""
    materials = [write_material(setting.folder, f"run {number}", 100, 20, SEED) for number in range(3)]
    newer = write_material(setting.folder, "newer", 100, 20, SEED + 1)
    groups = setting.folder / "groups.csv"
    groups.write_text("group,weight,kind\n" + "".join(f"q{n},{n + 1},{'ab'[n % 2]}\n" for n in range(100)), "utf-8")
    exported = setting.folder / "exported"
    commands = {
        "rescore": ["rescore", "--all", "--metric", "AP"],
        "labels add": ["labels", "add", str(newer.labels)],
        "groups set": ["groups", "set", str(groups)],
        "gate": ["gate", "new", "--baseline", "base", "--margin", "0.1", "--unjudged", "zero"],
        "runs prune": ["runs", "prune", "--older-than", "2021-01-01", "--apply"],
        "import": ["import", str(exported)],
    }
    labels = ["--labels", str(materials[0].labels), "--git-commit", "none"]
    for engine in setting.engines:
        with database(setting, engine) as other, database(setting, engine) as url:
            if not exported.exists():
                far = ["--name", "far", "--dataset", "far"]
                checked(here("--db", other, "ingest", str(newer.run), "--labels", str(newer.labels), *far))
                checked(here("--db", other, "export", "far", "--output", str(exported)))
            for material, name, further in zip(
                materials, ("base", "new", "old"), ([], [], ["--created-at", "2020-01-01"]), strict=True
            ):
                checked(here("--db", url, "ingest", str(material.run), "--name", name, *labels, *further))
            with restorable(setting, engine, url) as restore:
                yield _Series(setting, engine, url, restore).outcome(commands)


class _Series:
    """One database, brought back after each kill."""

    def __init__(self, setting: Setting, engine: str, url: str, restore: Callable[[], None]) -> None:
        self._setting, self._engine, self._url, self._restore = setting, engine, url, restore
        self._counts: Counter[str] = Counter()
        self._faults: list[str] = []

    def outcome(self, commands: dict[str, list[str]]) -> Outcome:
        """Kill each command as often as the size says and return what it came to."""
        n_kills = _N_KILLS[self._setting.size]
        for name, words in commands.items():
            self._kill(name, ["--db", self._url, *words], n_kills)
        found, n_tried = self._counts, n_kills * len(commands)
        return Outcome(
            26,
            f"SIGKILL at {n_kills} points of each of {', '.join(commands)}",
            engine_name(self._engine),
            "all of a command's work or none of it, integrity ok",
            f"{found['kills']} kills, {found['inside']} inside the transaction: {found['none']} did nothing and "
            f"{found['all']} everything, {found['partial']} partial, {found['whole']}/{n_tried} databases whole, the "
            f"same command then completed it {found['again']}/{n_tried}"
            + (f"; first fault: {self._faults[0]}" if self._faults else ""),
            met=not self._faults and found["whole"] == found["again"] == n_tried,
            note=note_of(self._engine),
        )

    def _kill(self, name: str, command: list[str], n_kills: int) -> None:
        before = _State.of(self._url)
        printed = here(*command)
        after = _State.of(self._url)
        if printed.code not in _DONE.get(name, {0}) or before == after:
            raise RuntimeError(f"{name} does nothing: {printed}")
        self._restore()
        killer = Killer(self._setting.folder, self._url, at_random=self._setting.size == "full")
        times = killer.times(command, self._restore, codes=_DONE.get(name, {0}))
        for number in itertools.count():
            if killer.counts["kills"] == n_kills or number > 50 * n_kills:
                break
            kill = killer.killed(number, command, times, b"\0")
            if kill is not None:
                self._look(f"{name}, kill {number}, {kill.where}", command, before, after, _DONE.get(name, {0}))
            self._restore()
        self._counts.update(killer.counts)

    def _look(self, place: str, command: list[str], before: _State, after: _State, codes: set[int]) -> None:
        found, damaged = _State.of(self._url), damage(self._url)
        self._counts["none"] += found == before
        self._counts["all"] += found == after
        self._counts["whole"] += not damaged
        if found not in (before, after) or damaged:
            self._counts["partial"] += 1
            self._faults.append(f"{place}: {damaged} {_differing(found, before)}")
        again = here(*command)
        is_done = again.code in codes and (_State.of(self._url).n_rows == after.n_rows or found == after)
        self._counts["again"] += is_done
        if not is_done:
            self._faults.append(f"{place}: the same command came to {again}")


def _differing(found: _State, before: _State) -> list[str]:
    return [f"{name}: {found.n_rows[name]} rows" for name in found.rows if found.rows[name] != before.rows[name]]

"""Row 25: SIGKILL at random moments of labels that are added together with the evaluations of all stored runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .databases import contents, damage, database, engine_name, label_versions, restorable
from .kills import SEED, Kill, Killer, note_of
from .material import Material, write_material
from .programs import checked, here
from .report import Outcome, Setting


@dataclass(frozen=True)
class _Sizes:
    n_kills: int
    n_runs: int
    n_groups: int
    items_per_group: int
    at_random: bool  # else each kill waits until the process is inside its transaction


_SIZES = {"full": _Sizes(100, 8, 200, 100, at_random=True), "quick": _Sizes(1, 2, 100, 20, at_random=False)}


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield what the kills came to on each engine."""
    sizes = _SIZES[setting.size]
    size = (sizes.n_groups, sizes.items_per_group)
    materials = [write_material(setting.folder, f"run {number}", *size, SEED) for number in range(sizes.n_runs)]
    newer = write_material(setting.folder, "newer", *size, SEED + 1)
    for engine in setting.engines:
        with database(setting, engine) as url:
            ingest = ["--db", url, "ingest", *(str(one.run) for one in materials), "--labels", str(materials[0].labels)]
            checked(here(*ingest, "--metric", "ndcg@10", "--metric", "AP", "--git-commit", "none"))
            with restorable(setting, engine, url) as restore:
                yield _Series(setting, engine, url, newer, restore).outcome()


class _Series:
    """One database, brought back after each of its kills to runs under one version of the labels."""

    def __init__(self, setting: Setting, engine: str, url: str, newer: Material, restore: Callable[[], None]) -> None:
        self._sizes, self._engine, self._url, self._restore = _SIZES[setting.size], engine, url, restore
        self._command = ["--db", url, "labels", "add", str(newer.labels), "--rescore"]
        self._killer = Killer(setting.folder, url, at_random=self._sizes.at_random)
        self._counts: Counter[str] = Counter()
        self._faults: list[str] = []

    def outcome(self) -> Outcome:
        """Kill as often as the size says and return what it came to."""
        before = self._state()
        checked(here(*self._command))
        after = self._state()
        self._restore()
        times = self._killer.times(self._command, self._restore)
        told = f"rescored {self._sizes.n_runs} of {self._sizes.n_runs} runs".encode()
        number = 0
        while self._killer.counts["kills"] < self._sizes.n_kills:
            kill = self._killer.killed(number, self._command, times, told)
            if kill is not None:
                self._look(f"kill {number}, {kill.where}", kill, before, after)
            self._restore()
            number += 1
        return self._outcome()

    def _state(self) -> tuple[object, object]:
        return label_versions(self._url), contents(self._url)

    def _look(self, place: str, kill: Kill, before: tuple[object, object], after: tuple[object, object]) -> None:
        found, damaged = self._state(), damage(self._url)
        if found not in (before, after):
            self._fault("partial", f"{place}: labels without all evaluations, or these without the labels")
        if found == after and kill.is_undone:
            self._fault("partial", f"{place}: the labels are there though their transaction never ended")
        if kill.is_acknowledged and found != after:
            self._fault("lost", f"{place}: the labels were acknowledged and are gone")
        if damaged:
            self._fault("damaged", f"{place}: {damaged}")
        self._counts["whole"] += not damaged
        again = here(*self._command)
        if again.code == 0 and self._state() == after:
            self._counts["again"] += 1
        else:
            self._fault("not again", f"{place}: the same command came to {again}")

    def _fault(self, kind: str, what: str) -> None:
        self._counts[kind] += 1
        self._faults.append(what)

    def _outcome(self) -> Outcome:
        sizes, found, n_kills = self._sizes, self._counts, self._killer.counts["kills"]
        figure = (
            f"{self._killer.figure('the labels were')}: {found['partial']} partial, {found['lost']} lost, "
            f"{found['whole']}/{n_kills} databases whole, the same command then completed it {found['again']}/{n_kills}"
        )
        return Outcome(
            25,
            f"SIGKILL at {sizes.n_kills} {'random ' if sizes.at_random else ''}points of labels add --rescore: labels "
            f"of {sizes.n_groups} groups and {sizes.n_runs} runs under them",
            engine_name(self._engine),
            "0 labels without evaluations, 0 acknowledged lost, integrity ok, most inside the transaction",
            figure + (f"; first fault: {self._faults[0]}" if self._faults else ""),
            met=not self._faults and self._killer.most_inside,
            note=note_of(self._engine),
        )

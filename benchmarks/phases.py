"""What is measured: phases of tasks that take turns, round by round."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from processes import Figures, Means, Sample, TaskError, Worker

Row = dict[str, object]


@dataclass(slots=True)
class Task:
    """One thing to measure.

    ``measure``: measures it once, given the number of the round. ``reference``: the means it must agree with, within
    ``tolerance``, if any. ``left_out``: why it is not measured, "" if it is.
    """

    name: str
    what: str
    measure: Callable[[int], Sample] | None = None
    reference: str = ""
    tolerance: float = 0.0
    convention: str = ""
    left_out: str = ""


@dataclass(slots=True)
class Phase:
    """Tasks that are measured side by side.

    ``opened``: what is done before the first round, it may leave tasks out; ``closed``: after the last one.
    ``references``: means by name, and ``figures``: what else was found, for the tables.
    """

    section: str
    workload: str
    title: str
    tasks: list[Task]
    opened: Callable[[Phase], None] = lambda _: None
    closed: Callable[[Phase], None] = lambda _: None
    references: dict[str, Means] = field(default_factory=dict)
    figures: Figures = field(default_factory=dict)
    most_rounds: int = 1_000


def worked(worker: Worker) -> Callable[[int], Sample]:
    """Return what measures a worker."""

    def measure(_: int) -> Sample:
        return Sample(float(str(worker.ask()["seconds"])))

    return measure


def rows_of(phase: Phase, rounds: int) -> list[Row]:
    """Measure a phase and return one row per task: medians over the rounds, every sample, and how its means agree."""
    note(f"{phase.title}: making ready")
    try:
        try:
            phase.opened(phase)
        except TaskError as failure:  # the other phases go on
            note(f"{phase.title}: {failure}")
            for task in phase.tasks:
                task.left_out = task.left_out or f"its data could not be made ready: {failure}"
        samples = _samples(phase, min(rounds, phase.most_rounds))
    finally:
        phase.closed(phase)
    rows: list[Row] = []
    for task in phase.tasks:
        row: Row = {"name": task.name, "what": task.what}
        found = samples.get(task.name, [])
        if task.left_out or not found:
            rows.append(row | {"left_out": task.left_out or "not measured"})
            continue
        row |= {
            "seconds": statistics.median(sample.seconds for sample in found),
            "samples": [round(sample.seconds, 6) for sample in found],
            "means": found[0].means,
            "check": _check(task, found[0].means, phase.references),
        }
        for name in ("cpu_seconds", "peak_mb"):
            values = [value for sample in found if (value := getattr(sample, name)) is not None]
            row |= {name: statistics.median(values)} if values else {}
        rows.append(row | {name: value for sample in found for name, value in sample.figures.items()})
    return rows


def _samples(phase: Phase, rounds: int) -> dict[str, list[Sample]]:
    """Run the rounds, each in an order of its own; a task that fails is left out from then on."""
    found: dict[str, list[Sample]] = {}
    shuffle = Random(0).shuffle
    for round_ in range(rounds):
        turn = [task for task in phase.tasks if not task.left_out]
        shuffle(turn)
        for task in turn:
            assert task.measure is not None, task.name
            start = time.monotonic()
            try:
                found.setdefault(task.name, []).append(task.measure(round_))
            except TaskError as failure:
                task.left_out = str(failure)
                note(f"{phase.title}: {task.name} is left out: {failure}")
            else:
                note(f"{phase.title}: round {round_ + 1}, {task.name} ({time.monotonic() - start:.1f} s)")
    return found


def _check(task: Task, means: Means, references: dict[str, Means]) -> str:
    """Return "same", the convention in which a tool differs, or by how much it is off."""
    reference = references.get(task.reference)
    if not reference or not means:
        return ""
    off = max(abs(means[name] - value) for name, value in reference.items())
    if off > task.tolerance:
        return f"OFF BY {off:.2g}"
    return task.convention or "same"


def note(text: str) -> None:
    """Say how far the run is."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stderr.flush()


def kept(tasks: Sequence[Task], only: Sequence[str], always: Sequence[str] = ()) -> list[Task]:
    """Return the requested tasks, and those that the others are compared with."""
    if not only:
        return list(tasks)
    return [task for task in tasks if task.name in always or any(task.name.startswith(name) for name in only)]

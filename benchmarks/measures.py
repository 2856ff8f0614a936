"""The phases that are compared with other tools, and growth."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from contenders import CONTENDERS, Call, Contender, ndcg_track
from frames import CONTENDERS as FRAME_CONTENDERS
from frames import left_out
from kernel_entry import TIES
from kernels import KERNELS
from machine import Postgres
from phases import Phase, Task, kept, worked
from processes import DATA, HERE, Figures, Sample, TaskError, Worker, done, measured, read_into_cache

OURS = "evaluate"
GROWTH = (1, 3, 10)


@dataclass(frozen=True)
class Choice:
    """What to measure and with what.

    ``pythons``: the Python of a contender that has one of its own. ``available``: the modules that each Python has.
    ``folder``: where databases are made. ``no_postgres``: why there is no server. ``limit``: seconds.
    """

    folder: Path
    only: Sequence[str] = ()
    pythons: Mapping[str, str] = field(default_factory=dict)
    available: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    trec_eval: str = ""
    postgres: Postgres | None = None
    no_postgres: str = ""
    limit: float = 900.0
    quick: bool = False

    def python(self, name: str) -> str:
        """Return the Python of a contender."""
        return self.pythons.get(name, sys.executable)

    def without(self, name: str, module: str) -> str:
        """Return why a contender cannot run, "" if it can."""
        if module and module not in self.available.get(self.python(name), {}):
            return f"there is no module {module}"
        return ""


def files(choice: Choice, workload: str) -> Phase:
    """Return the phase of whole processes from files to numbers."""
    entries = {name: one for name, one in CONTENDERS.items() if not one.only_on or workload in one.only_on}
    tasks = [_from_files(choice, workload, name, one) for name, one in entries.items()]

    def opened(phase: Phase) -> None:
        paths = [Path(path) for path in done([sys.executable, str(HERE / "workloads.py"), workload]).split()]
        small = done([sys.executable, str(HERE / "workloads.py"), "tiny"]).split()
        for task in phase.tasks:  # once without the clock: compiled code and modules into their caches
            if task.left_out:
                continue
            try:
                call = _call(choice, task.name, Path(small[0]), Path(small[1]))
                _once(choice, CONTENDERS[task.name], call)
            except TaskError as failure:
                task.left_out = str(failure)
        for path in paths:
            read_into_cache(path)
        found = _once(choice, CONTENDERS[OURS], _call(choice, OURS, paths[0], paths[1]))
        phase.references["ours"] = found.means

    title = f"{workload.upper()}, file to numbers"
    return Phase("files", workload, title, kept(tasks, choice.only, ("interpreter",)), opened)


def _call(choice: Choice, name: str, run: Path, qrels: Path) -> Call:
    return Call(choice.python(name), run, qrels, trec_eval=choice.trec_eval)


def _from_files(choice: Choice, workload: str, name: str, one: Contender) -> Task:
    left_out = one.left_out.get(workload, "") or choice.without(name, one.needs)
    if name == "trec_eval" and not choice.trec_eval:
        left_out = "no --trec-eval PATH was given"
    if one.stores == "postgres" and choice.postgres is None:
        left_out = choice.no_postgres
    call = _call(choice, name, DATA / f"{workload}.run", DATA / f"{workload}.qrels")
    return Task(
        name, one.what, lambda _: _once(choice, one, call), "ours",
        one.tolerance, one.convention, left_out,
    )  # fmt: skip


def _once(choice: Choice, one: Contender, call: Call, *further: str) -> Sample:
    """Run a contender once, with a fresh database if it stores; the sample then says how large that became."""
    if not one.stores:
        return measured(one.command(call), one.read, choice.limit)
    with fresh_database(choice, one.stores) as (url, megabytes):
        if one.ready:
            done(ndcg_track(call.python, "--db", url, "db", "upgrade"))
        sample = measured([*one.command(replace(call, database=url)), *further], one.read, choice.limit)
        return replace(sample, figures={"database_mb": megabytes()})


@contextmanager
def fresh_database(choice: Choice, engine: str) -> Iterator[tuple[str, Callable[[], float]]]:
    """Yield the URL of a database that is not there yet (Postgres: empty), and what weighs it."""
    if engine == "postgres":
        assert choice.postgres is not None
        name = "ndcg_bench"
        try:
            yield choice.postgres.create(name), partial(choice.postgres.megabytes, name)
        finally:
            choice.postgres.drop(name)
    else:
        path = choice.folder / "bench.db"
        try:
            yield str(path), lambda: path.stat().st_size / 1e6
        finally:
            removed(path)


def removed(path: Path) -> None:
    """Remove a SQLite file and the files next to it."""
    for beside in path.parent.glob(path.name + "*"):
        beside.unlink()


def kernels(choice: Choice, workload: str) -> Phase:
    """Return the phase of workers that hold the data in memory."""
    tasks = [
        Task(
            name, one.what, None, one.reference, one.tolerance, one.convention,
            one.left_out.get(workload, "") or choice.without(name, one.needs),
        )
        for name, one in KERNELS.items()
    ]  # fmt: skip
    workers: list[Worker] = []

    def command(name: str) -> list[str]:
        return [choice.python(name), str(HERE / "kernels.py"), name, workload]

    def opened(phase: Phase) -> None:
        done([sys.executable, str(HERE / "workloads.py"), workload])
        phase.references |= json.loads(done(command("references")))["means"]
        for task in phase.tasks:
            if not task.left_out:
                task.measure = started(task, command(task.name), workers)

    def closed(_: Phase) -> None:
        for worker in workers:
            worker.close()

    kept_tasks = kept(tasks, choice.only, ("ndcg_tracker, any order",))
    return Phase("kernel", workload, f"{workload.upper()}, in memory", kept_tasks, opened, closed)


def frames(choice: Choice, workload: str, form: str, order: str) -> Phase:
    """Return the phase of workers that hold a frame."""
    tasks = [
        Task(
            name, str(evaluate.__doc__), None, "ndcg_tracker", TIES,
            "same" if name in ("ndcg_tracker", "pytrec_eval") else "ties in input order",
            left_out(name, form) or choice.without(name, module),
        )
        for name, (evaluate, module) in FRAME_CONTENDERS.items()
    ]  # fmt: skip
    workers: list[Worker] = []

    def opened(phase: Phase) -> None:
        done([sys.executable, str(HERE / "workloads.py"), workload])
        for task in phase.tasks:
            if task.left_out:
                continue
            command = [choice.python(task.name), str(HERE / "frames.py"), task.name, workload, form, order]
            measure = started(task, command, workers)
            if measure is None:
                continue
            figures = dict(workers[-1].first["figures"])  # type: ignore[call-overload]
            task.measure = partial(_with_figures, measure, figures)
            if task.name == "ndcg_tracker":
                phase.references["ndcg_tracker"] = dict(workers[-1].first["means"])  # type: ignore[call-overload]

    def closed(_: Phase) -> None:
        for worker in workers:
            worker.close()

    title = f"{workload.upper()}, {form}, {order}"
    return Phase(
        "frames", f"{workload} {form} {order}", title, kept(tasks, choice.only, ("ndcg_tracker",)), opened, closed
    )


def _with_figures(measure: Callable[[int], Sample], figures: Figures, round_: int) -> Sample:
    return replace(measure(round_), figures=figures)


def started(task: Task, command: list[str], workers: list[Worker]) -> Callable[[int], Sample] | None:
    """Start a worker for a task and return what measures it; the task is left out where it does not start."""
    try:
        worker = Worker(command)
    except TaskError as failure:
        task.left_out = str(failure)
        return None
    workers.append(worker)
    ask, means = worked(worker), dict(worker.first.get("means", {}))  # type: ignore[call-overload]
    return lambda round_: replace(ask(round_), means=means)


def growth(choice: Choice) -> Phase:
    """Return the phase of files of 1, 3 and 10 times the rows."""
    base = "tiny" if choice.quick else "w1"
    tasks = []
    for times in GROWTH:
        name = base if times == 1 else f"{base}x{times}"
        for engine in ("SQLite", "Postgres"):
            for how in ((), ("--no-stream",)):
                left_out = choice.no_postgres if engine == "Postgres" and choice.postgres is None else ""
                title = " ".join([f"{times}x", "ingest", *how]) + f", {engine}"
                one = CONTENDERS[f"ingest, {engine}"]
                call = Call(sys.executable, DATA / f"{name}.run", DATA / f"{name}.qrels")
                tasks.append(
                    Task(title, f"{times} times the rows of {base.upper()}", _grown(choice, one, call, how), "ours",
                         1e-9, left_out=left_out)
                )  # fmt: skip

    def opened(phase: Phase) -> None:
        asked_for = {task.name.partition("x")[0] for task in phase.tasks} | {"1"}
        for times in GROWTH:
            if str(times) not in asked_for:
                continue
            name = base if times == 1 else f"{base}x{times}"
            paths = [Path(path) for path in done([sys.executable, str(HERE / "workloads.py"), name]).split()]
            for path in paths:
                read_into_cache(path)
            if times == 1:
                call = _call(choice, OURS, *paths)
                phase.references["ours"] = _once(choice, CONTENDERS[OURS], call).means

    def closed(_: Phase) -> None:
        for path in DATA.glob(f"{base}x*"):
            path.unlink()

    title = f"growth of {base.upper()}"
    return Phase("growth", base, title, kept(tasks, choice.only), opened, closed, most_rounds=3)


def _grown(choice: Choice, one: Contender, call: Call, how: tuple[str, ...]) -> Callable[[int], Sample]:
    def measure(_: int) -> Sample:
        read_into_cache(call.run)
        return _once(choice, one, call, *how)

    return measure


def all_modules() -> list[tuple[str, str]]:
    """Return the modules that contenders need, each with its distribution."""
    both = [*CONTENDERS.values(), *KERNELS.values()]
    found = {one.needs: one.distribution or one.needs for one in both if one.needs}
    found |= {module: module for _, module in FRAME_CONTENDERS.values() if module not in found}
    return sorted(found.items())

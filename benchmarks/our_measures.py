"""Our own phases: commands on prepared databases, the upkeep of a database, and what each trick saves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from contenders import ndcg_track
from measures import Choice, fresh_database, removed, started
from phases import Phase, Task, kept
from processes import DATA, HERE, Sample, Worker, done, measured, read_into_cache
from tricks import WHOLE, WITHIN


def commands(choice: Choice) -> Phase:
    """Return the phase of our own commands on prepared databases, and of the permutation test."""
    many, few = ("tiny", "tiny") if choice.quick else ("w4", "w1")
    n_runs = 5 if choice.quick else 1_000
    n_flipped = 1_000 if choice.quick else 6_980
    of_many, of_few, of_history = (choice.folder / f"{name}.db" for name in ("many", "few", "history"))
    program, workers = [sys.executable, str(HERE / "prepared.py")], list[Worker]()

    def asked(database: Path, *arguments: str) -> Callable[[int], Sample]:
        command = ndcg_track(sys.executable, "--db", str(database), *arguments)
        return lambda _: measured(command, limit=choice.limit)

    compare = ("compare", "run0", "run1", "--format", "json")
    tasks = [
        Task("interpreter", "Python starts and ends", lambda _: measured([sys.executable, "-c", ""])),
        Task(
            "import numpy", "what every comparison imports",
            lambda _: measured([sys.executable, "-c", "import numpy"]),
        ),
        Task(
            "import scipy.special", "imported on request only",
            lambda _: measured([sys.executable, "-c", "import numpy, scipy.special"]),
        ),
        Task("--help", "`ndcg-track --help`", lambda _: measured(ndcg_track(sys.executable, "--help"))),
        Task("compare, 7,000 groups", "two stored runs of W1's groups, SQLite", asked(of_few, *compare)),
        *(
            Task(
                f"start: {words.split()[0]}", f"`ndcg-track {words}` on W1's groups, SQLite: all start alike",
                asked(of_few, *words.split()),
            )
            for words in (
                "compare run0 run1 --top 0", "gate run1 --baseline run0 --margin .9 --dry-run", "leaderboard run0 run1",
                "show run1", "history",
            )
        ),
        Task("compare, 1,000,000 groups", "two stored runs of W4's groups, SQLite", asked(of_many, *compare)),
        Task("compare, 1,000,000 groups: statistics", "the part of it that computes"),
        Task(
            "history, 1,000 runs", "`ndcg-track history` over 1,000 runs of W1's groups, SQLite",
            asked(of_history, "history", "--metric", "ndcg@10", "--format", "json"),
        ),
        Task("permutation", "10,000 sign flips of 6,980 differences", reference="p", tolerance=0.02),
        Task("permutation: scipy", "the same by `scipy.stats.permutation_test`", reference="p", tolerance=0.02),
    ]  # fmt: skip

    def opened(phase: Phase) -> None:
        asked_for = {task.name for task in phase.tasks}
        if any("1,000,000" in name for name in asked_for):
            done([*program, "runs", str(of_many), many, "2", "20"])
        if any(name == "compare, 7,000 groups" or name.startswith("start: ") for name in asked_for):
            done([*program, "runs", str(of_few), few, "2", "100"])
        if "history, 1,000 runs" in asked_for:
            found = json.loads(done([*program, "runs", str(of_history), few, str(n_runs), "10"]))
            phase.figures["history_mb"] = found["bytes"][-1] / 1e6
        own = {
            "compare, 1,000,000 groups: statistics": ["statistics", str(of_many)],
            "permutation": ["permutation", str(n_flipped)],
            "permutation: scipy": ["scipy", str(n_flipped)],
        }
        for task in phase.tasks:
            if task.name in own:
                task.measure = started(task, [*program, *own[task.name]], workers)
        if "permutation: scipy" in asked_for and len(workers):
            phase.references["p"] = dict(workers[-1].first.get("means", {}))  # type: ignore[call-overload]

    def closed(_: Phase) -> None:
        for worker in workers:
            worker.close()
        for path in (of_many, of_few, of_history):
            removed(path)

    return Phase("commands", "", "our own commands", kept(tasks, choice.only, ("interpreter",)), opened, closed)


def housekeeping(choice: Choice, rounds: int) -> Phase:
    """Return the phase of what keeps a database in order: sizes, deleting, rescoring."""
    workload = "tiny" if choice.quick else "w1"
    n_rescored = 3 if choice.quick else 100
    of_runs, of_rescored = choice.folder / "runs.db", choice.folder / "rescored.db"
    program = [sys.executable, str(HERE / "prepared.py"), "runs"]

    def delete(round_: int) -> Sample:
        command = ndcg_track(sys.executable, "--db", str(of_runs), "runs", "delete", f"run{round_}", "--yes")
        return measured(command, limit=choice.limit)

    def rescore(round_: int) -> Sample:
        metric = f"ndcg@{20 + round_}"  # one that no run has yet
        database = ("--db", str(of_rescored))
        command = ndcg_track(sys.executable, *database, "rescore", "--all", "--metric", metric, "--format", "csv")
        return measured(command, limit=choice.limit)

    def opened(phase: Phase) -> None:
        asked_for = {task.name for task in phase.tasks}
        if "delete a run" in asked_for:
            found = json.loads(done([*program, str(of_runs), workload, str(rounds + 1), "1000"]))
            sizes, n_items = found["bytes"], found["n_items"]
            further = sizes[1] - sizes[0]
            phase.figures |= {
                "first_run_mb": sizes[0] / 1e6,
                "further_run_mb": further / 1e6,
                "bytes_per_item": further / n_items,
                "mb_before_deleting": sizes[-1] / 1e6,
            }
        if "rescore 100 runs" in asked_for:
            done([*program, str(of_rescored), workload, str(n_rescored), "100"])

    def closed(phase: Phase) -> None:
        if of_runs.exists():
            phase.figures["mb_after_deleting"] = of_runs.stat().st_size / 1e6
        removed(of_runs)
        removed(of_rescored)

    tasks = [
        Task("delete a run", "`ndcg-track runs delete`, a run of W1 among several, SQLite", delete),
        Task("rescore 100 runs", "`ndcg-track rescore --all` under a new metric: W1's groups, 100 items each", rescore),
    ]
    return Phase("housekeeping", "", "housekeeping", kept(tasks, choice.only), opened, closed)


def fleet(choice: Choice) -> Phase:
    """Return the phase of many runs at once: files ingested by one command, and stored runs rescored."""
    workload = "tiny" if choice.quick else "fleet"
    n_files, n_rescored = (3, 3) if choice.quick else (100, 400)
    of_rescored, folder = choice.folder / "fleet.db", DATA / f"{workload}-runs"
    files = [str(folder / f"run{number:03}.run") for number in range(n_files)]
    metrics = ("--metric", "ndcg@10", "--metric", "ndcg@100", "--format", "csv")

    def ingest(engine: str, *jobs: str) -> Callable[[int], Sample]:
        def measure(_: int) -> Sample:
            with fresh_database(choice, engine) as (url, megabytes):
                done(ndcg_track(sys.executable, "--db", url, "db", "upgrade"))
                words = ("ingest", *files, "--labels", str(folder / "qrels.txt"), *metrics, *jobs)
                sample = measured(ndcg_track(sys.executable, "--db", url, *words), limit=choice.limit)
                figures = {"database_mb": megabytes(), "seconds_a_file": sample.seconds / n_files}
                return replace(sample, figures=figures)

        return measure

    def rescore(round_: int) -> Sample:
        words = ("rescore", "--all", "--metric", f"ndcg@{20 + round_}", "--format", "csv")  # one that no run has yet
        sample = measured(ndcg_track(sys.executable, "--db", str(of_rescored), *words), limit=choice.limit)
        return replace(sample, figures={"database_mb": of_rescored.stat().st_size / 1e6})

    def opened(phase: Phase) -> None:
        done([sys.executable, str(HERE / "workloads.py"), f"{workload}-{n_files}"])
        for path in files:
            read_into_cache(Path(path))
        if any(task.name.startswith("rescore") for task in phase.tasks):
            done([sys.executable, str(HERE / "prepared.py"), "runs", str(of_rescored), workload, str(n_rescored), "20"])

    no_postgres = "" if choice.postgres is not None else choice.no_postgres
    what = "`ndcg-track ingest` of 100 files of 100,000 items each, two metrics"
    tasks = [
        Task("ingest, SQLite", what, ingest("sqlite")),
        Task("ingest --jobs 1, SQLite", "the same, one file after the other", ingest("sqlite", "--jobs", "1")),
        Task("ingest, Postgres", what, ingest("postgres"), left_out=no_postgres),
        Task(
            "ingest --jobs 1, Postgres", "the same, one file after the other", ingest("postgres", "--jobs", "1"),
            left_out=no_postgres,
        ),
        Task("rescore 400 runs", "`ndcg-track rescore --all` of 400 such runs under a new metric, SQLite", rescore),
    ]  # fmt: skip
    return Phase("fleet", "", "many runs at once", kept(tasks, choice.only), opened, lambda _: removed(of_rescored))


def tricks(choice: Choice) -> Phase:
    """Return the phase of the same work with and without each trick: two tasks each."""
    n_rows, n_small = (2_000, 1_000) if choice.quick else (500_000, 50_000)
    few, workers = choice.folder / "tricks.db", list[Worker]()
    program = [sys.executable, str(HERE / "tricks.py")]

    def whole(name: str, patch: str) -> Callable[[int], Sample]:
        def measure(round_: int) -> Sample:
            new = choice.folder / f"new-{name.replace(' ', '-')}-{bool(patch)}-{round_}.db"
            files = {
                "few": few,
                "new": new,
                "run": DATA / f"trick-{n_small}.run",
                "qrels": DATA / f"trick-{n_small}.qrels",
                "tiny_run": DATA / "tiny.run",
                "tiny_qrels": DATA / "tiny.qrels",
            }
            arguments = [argument.format(**files) for argument in WHOLE[name][2]]
            sample = measured([*program, "run", patch, *arguments], limit=choice.limit)
            removed(new)
            return sample

        return measure

    tasks = []
    for name, what in WITHIN.items():
        tasks += [Task(name, what), Task(f"{name}: without", what)]
    for name, (what, patch, _) in WHOLE.items():
        tasks += [Task(name, what, whole(name, "")), Task(f"{name}: without", what, whole(name, patch))]

    def opened(phase: Phase) -> None:
        done([sys.executable, str(HERE / "workloads.py"), "tiny"])
        done([*program, "files", "", str(n_small)])
        done([sys.executable, str(HERE / "prepared.py"), "runs", str(few), "tiny" if choice.quick else "w3", "2", "20"])
        for task in phase.tasks:
            name, _, without = task.name.partition(": ")
            if name in WITHIN:
                command = [*program, name, without or "with", str(n_rows)]
                task.measure = started(task, command, workers)

    def closed(_: Phase) -> None:
        for worker in workers:
            worker.close()
        removed(few)

    return Phase("tricks", "", "what each trick saves", kept(tasks, choice.only), opened, closed)

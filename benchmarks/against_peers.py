"""From a file to the NDCG of every group, beside other tools: time and peak memory of whole processes.

    python benchmarks/against_peers.py                       # W1 and W3
    python benchmarks/against_peers.py w2 --rounds 5 --json peers.json

Every round runs every contender once, each in a process of its own, in an order of its own; the figures are medians.
This program imports no more than the standard library: a child's peak memory would count what its parent holds.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

from contenders import CONTENDERS

HERE = Path(__file__).resolve().parent
METRICS = ("ndcg@10", "ndcg@100", "ndcg")
REFERENCE = "pytrec_eval"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run of a contender: seconds of wall time, peak memory in MB, and the means it found."""

    seconds: float
    peak_mb: float
    means: dict[str, float]


def files(workload: str) -> tuple[Path, Path]:
    """Return the run and the qrels of a workload, made by a process that ends before anything is measured."""
    program = [sys.executable, str(HERE / "workloads.py"), workload]
    paths = subprocess.run(program, check=True, capture_output=True, text=True).stdout.split()
    for path in paths:
        with Path(path).open("rb") as file:  # into the system's cache, for all contenders alike
            while file.read(1 << 24):
                pass
    return Path(paths[0]), Path(paths[1])


def outcome(name: str, run: Path, qrels: Path) -> Outcome:
    """Run a contender once."""
    program = [sys.executable, str(HERE / "contenders.py"), name, str(run), str(qrels), *METRICS]
    with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as said:
        start = time.perf_counter()
        process = subprocess.Popen(program, stdout=printed, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        said.seek(0)
        if process.returncode:
            raise SystemExit(f"{name} on {run.name} ended with {process.returncode}: {said.read().strip()}")
        means = dict(line.rstrip("\n").split("\t") for line in printed)
    per_mb = 1024 if sys.platform != "darwin" else 1024**2
    return Outcome(seconds, used.ru_maxrss / per_mb, {metric: float(mean) for metric, mean in means.items()})


def medians(workload: str, names: list[str], rounds: int) -> dict[str, Outcome]:
    """Return the median outcome of each contender on a workload over interleaved rounds."""
    run, qrels = files(workload)
    found: dict[str, list[Outcome]] = {name: [] for name in names}
    order = list(names)
    shuffle = Random(0).shuffle
    for _ in range(rounds):
        shuffle(order)
        for name in order:
            found[name].append(outcome(name, run, qrels))
    return {
        name: Outcome(
            statistics.median(one.seconds for one in outcomes),
            statistics.median(one.peak_mb for one in outcomes),
            outcomes[0].means,
        )
        for name, outcomes in found.items()
    }


def report(workload: str, found: dict[str, Outcome]) -> str:
    """Return a Markdown table of one workload, with ratios to the reference: above 1 is faster or smaller."""
    reference = found.get(REFERENCE)
    lines = [
        f"## {workload.upper()}: file to {', '.join(METRICS)} of every group",
        "",
        f"| contender | s | {REFERENCE} takes times | peak MB | {METRICS[0]} | what |",
        "|---|--:|--:|--:|--:|---|",
    ]
    for name, one in sorted(found.items(), key=lambda entry: entry[1].seconds):
        ratio = f"{reference.seconds / one.seconds:.1f}" if reference else ""
        mean = f"{one.means[METRICS[0]]:.6f}" if one.means else ""
        lines.append(f"| {name} | {one.seconds:.2f} | {ratio} | {one.peak_mb:.0f} | {mean} | {CONTENDERS[name].what} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """Measure the chosen contenders on the chosen workloads and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("workloads", nargs="*", default=["w1", "w3"], help="w1 to w4")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(CONTENDERS), default=list(CONTENDERS), metavar="CONTENDER")
    parser.add_argument("--json", type=Path, help="write the figures to this file, too")
    arguments = parser.parse_args()
    names = [name for name in arguments.only if importlib.util.find_spec(CONTENDERS[name].needs) is not None]
    for name in arguments.only:
        if name not in names:
            sys.stderr.write(f"{name} is left out: there is no module {CONTENDERS[name].needs}\n")
    found = {}
    for workload in arguments.workloads:
        found[workload] = medians(workload, names, arguments.rounds)
        sys.stdout.write(report(workload, found[workload]) + "\n")
        sys.stdout.flush()
    if arguments.json:
        figures = {workload: {name: asdict(one) for name, one in of.items()} for workload, of in found.items()}
        arguments.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()

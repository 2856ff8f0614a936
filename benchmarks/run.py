"""One command for every figure: ndcg_tracker and other tools side by side, in one run, on the same data.

    python benchmarks/run.py --trec-eval PATH --json run.json --markdown run.md --docs --chart
    python benchmarks/run.py --sections files --workloads w1 w3 --rounds 1 --only evaluate pytrec_eval
    python benchmarks/run.py --quick                       # everything once, on small data: does it work?
    python benchmarks/run.py --from run.json --docs        # no measuring: the pages from a run that was kept

Sections: files (whole processes, from a TREC run and its qrels to the numbers of every group), kernel (in memory),
frames (what Python users hold), commands (ours, on stored runs), housekeeping, fleet (many runs at once), growth
(1, 3 and 10 times W1), tricks (the same work with and without each trick of ours). Within a section and workload every
round runs everything once, in an order of its own; the figures are medians. This program loads no more than the
standard library: a child's peak memory would count what its parent holds.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chart import svg
from frames import CASES, QUICK_CASES
from machine import Postgres, described, trec_eval_version, versions
from measures import Choice, all_modules, files, frames, growth, kernels
from our_measures import commands, fleet, housekeeping, tricks
from phases import Phase, note, rows_of
from processes import DATA, ROOT, TaskError
from tables import markdown, rewrite

SECTIONS = ("files", "kernel", "frames", "commands", "housekeeping", "fleet", "growth", "tricks")
PAGES = (ROOT / "docs" / "performance.md", ROOT / "benchmarks" / "RESULTS.md")
CHART = ROOT / "docs" / "images" / "benchmark.svg"


def parsed() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--sections", nargs="+", choices=SECTIONS, default=list(SECTIONS), metavar="SECTION")
    add("--workloads", nargs="+", choices=["w1", "w2", "w3", "w4"], metavar="W", help="of files and kernel; else all")
    add("--only", nargs="+", default=[], metavar="NAME", help="names begin with one of these (the references stay)")
    add("--rounds", type=int, default=5)
    add("--limit", type=float, default=900.0, help="stop what takes longer than these seconds, and leave it out")
    add("--quick", action="store_true", help="one round on small data")
    add("--trec-eval", default=os.environ.get("TREC_EVAL", ""), metavar="PATH", help="else $TREC_EVAL")
    add("--postgres", default="", metavar="URL", help="a server to make databases on; else one is started")
    add("--python", nargs="+", default=[], metavar="NAME=PATH", help="the Python of a contender, if not this one")
    add("--json", type=Path, metavar="FILE", help="write every figure and sample (after each phase)")
    add("--markdown", type=Path, metavar="FILE", help="write the tables; else they are printed")
    add("--docs", type=Path, nargs="*", metavar="PAGE", help="rewrite the tables of docs/performance.md and RESULTS.md")
    add("--chart", type=Path, nargs="?", const=CHART, metavar="FILE", help="draw docs/images/benchmark.svg")
    add("--from", type=Path, dest="kept", metavar="FILE", help="take a run that --json kept instead of measuring")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.workloads = 1, ["tiny"]
    return arguments


def phases(arguments: argparse.Namespace, choice: Choice) -> Iterator[Phase]:
    """Yield what is to be measured."""
    for section in arguments.sections:
        if section == "files":
            yield from (files(choice, workload) for workload in arguments.workloads or ("w1", "w2", "w3", "w4"))
        elif section == "kernel":
            yield from (kernels(choice, workload) for workload in arguments.workloads or ("w1", "w2", "w4"))
        elif section == "frames":
            cases = QUICK_CASES if arguments.quick else CASES
            chosen = arguments.workloads or [workload for workload, _, _ in cases]
            yield from (frames(choice, *case) for case in cases if case[0] in chosen)
        elif section == "commands":
            yield commands(choice)
        elif section == "housekeeping":
            yield housekeeping(choice, arguments.rounds)
        elif section == "fleet":
            yield fleet(choice)
        elif section == "tricks":
            yield tricks(choice)
        else:
            yield growth(choice)


def measured(arguments: argparse.Namespace) -> dict[str, Any]:
    """Make the requested measurements and return them."""
    DATA.mkdir(exist_ok=True)
    pythons = dict(entry.split("=", 1) for entry in arguments.python)
    available = {python: versions(python, all_modules()) for python in {sys.executable, *pythons.values()}}
    tools = {name: version for found in available.values() for name, version in found.items()}
    trec_eval = str(Path(arguments.trec_eval).resolve()) if arguments.trec_eval else ""
    if trec_eval:
        tools["trec_eval"] = trec_eval_version(trec_eval)
    postgres, no_postgres = None, "its section was not requested"
    if {"files", "fleet", "growth"} & set(arguments.sections):
        try:
            postgres = Postgres(sys.executable, arguments.postgres)
        except TaskError as failure:
            no_postgres = f"no Postgres server: {failure}"
            note(no_postgres)
    results: dict[str, Any] = {
        "machine": described(tools, postgres.version if postgres else ""),
        "rounds": arguments.rounds,
        "quick": arguments.quick,
        "phases": [],
    }
    try:
        with tempfile.TemporaryDirectory(prefix="bench-", dir=DATA) as folder:
            choice = Choice(
                Path(folder), arguments.only, pythons, available, trec_eval, postgres, no_postgres,
                arguments.limit, arguments.quick,
            )  # fmt: skip
            for phase in phases(arguments, choice):
                if not phase.tasks:
                    continue
                rows = rows_of(phase, arguments.rounds)
                entry = {"section": phase.section, "workload": phase.workload, "title": phase.title}
                results["phases"].append(entry | {"rows": rows, "figures": phase.figures})
                if arguments.json:
                    arguments.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    finally:
        if postgres is not None:
            postgres.close()
    return results


def main() -> None:
    """Measure, or read earlier measurements, and write the requested output."""
    arguments = parsed()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as with SIGINT, databases and servers are cleared away
    if arguments.kept:
        results = json.loads(arguments.kept.read_text(encoding="utf-8"))
    else:
        try:
            results = measured(arguments)
        except TaskError as failure:
            raise SystemExit(f"nothing can be measured: {failure}") from None
    if arguments.markdown:
        arguments.markdown.write_text(markdown(results), encoding="utf-8")
    else:
        sys.stdout.write(markdown(results))
    if arguments.docs is not None:
        for page in arguments.docs or PAGES:
            rewrite(page, results)
            note(f"wrote {page}")
    if arguments.chart:
        arguments.chart.parent.mkdir(parents=True, exist_ok=True)
        arguments.chart.write_text(svg(results), encoding="utf-8")
        note(f"wrote {arguments.chart}")
    off = [
        f"{phase['title']}: {row['name']} {row['check']}"
        for phase in results["phases"]
        for row in phase["rows"]
        if str(row.get("check", "")).startswith("OFF")
    ]
    if off:
        raise SystemExit("means that do not agree: " + "; ".join(off))


if __name__ == "__main__":
    main()

"""From a TREC run and its qrels to the NDCG of every group: one program per tool, each run in a process of its own.

    python benchmarks/contenders.py NAME RUN QRELS [METRIC...]

A contender reads both files and computes the metrics for every group; what it prints is their means, so that a table
of times can show that all of them did the same work. To add one, write a function with ``@contender`` before it and
import its tool within it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Means = dict[str, float]


@dataclass(frozen=True, slots=True)
class Contender:
    """One way from files to numbers: ``needs`` is the module it cannot do without, ``measure`` does the work."""

    needs: str
    what: str
    measure: Callable[[str, str, list[str]], Means]


CONTENDERS: dict[str, Contender] = {}


def contender(name: str, needs: str, what: str) -> Callable[[Callable[[str, str, list[str]], Means]], None]:
    """Return the decorator that enters a function of (run, qrels, metrics such as ndcg@10) under a name."""

    def enter(measure: Callable[[str, str, list[str]], Means]) -> None:
        CONTENDERS[name] = Contender(needs, what, measure)

    return enter


@contender("interpreter", "sys", "Python starts and ends")
def _interpreter(run: str, qrels: str, metrics: list[str]) -> Means:
    return {}


@contender("evaluate", "ndcg_tracker", "ndcg-track evaluate: numbers of every group, nothing stored")
def _evaluate(run: str, qrels: str, metrics: list[str]) -> Means:
    return _ndcg_track("evaluate", run, qrels, metrics)


@contender("ingest into SQLite", "ndcg_tracker", "ndcg-track ingest: items, labels and numbers of every group stored")
def _ingest(run: str, qrels: str, metrics: list[str]) -> Means:
    with tempfile.TemporaryDirectory(dir=Path(run).parent) as folder:
        return _ndcg_track("--db", f"{folder}/runs.db", "ingest", run, qrels, metrics)


def _ndcg_track(*arguments: str | list[str]) -> Means:
    """Run our command line and read the means that it prints as CSV."""
    import contextlib
    import csv
    import io

    from ndcg_tracker.cli.app import main

    *command, run, qrels, metrics = arguments
    options = [part for metric in metrics for part in ("--metric", metric)]
    sys.argv = ["ndcg-track", *command, run, "--labels", qrels, *options, "--format", "csv"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    return {row["metric"]: float(row["mean"]) for row in csv.DictReader(io.StringIO(printed.getvalue()))}


@contender("pytrec_eval", "pytrec_eval", "pytrec_eval: its own reader, numbers of every group as dictionaries")
def _pytrec_eval(run: str, qrels: str, metrics: list[str]) -> Means:
    import pytrec_eval

    native = {metric: metric.replace("@", "_cut_") for metric in metrics}
    asked = {name.replace("_cut_", "_cut.") for name in native.values()}
    with Path(qrels).open() as labels, Path(run).open() as items:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(labels), asked)
        found = evaluator.evaluate(pytrec_eval.parse_run(items))
    return {metric: sum(group[name] for group in found.values()) / len(found) for metric, name in native.items()}


if __name__ == "__main__":
    chosen, run_file, qrels_file, *wanted = sys.argv[1:]
    for text, mean in CONTENDERS[chosen].measure(run_file, qrels_file, wanted).items():
        sys.stdout.write(f"{text}\t{mean!r}\n")

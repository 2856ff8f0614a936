"""How many labels settle a comparison: `labels needed` against judging by depth and at random.

    python benchmarks/judging.py FOLDER [--seeds 10] [--first-seed 0] [--batch 10]

FOLDER holds runs (*.run, TREC format) and the labels qrels.txt and qrels-complete.txt, as TREC-COVID's first round
has them (irgroup/trec-covid and NIST). Labels are hidden, asked for in batches, and given back from the complete ones;
items that those do not have stay unjudged and cost nothing. Counted is after how many labels the verdict on ndcg@10 is,
and stays, that of the complete labels, and how far delta is on the way from where it ends, on average.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import ndcg_tracker as nt
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists

Labels = dict[tuple[str, str], float]
CUTOFF = 10
RULES = ("needed", "depth", "random")


def read_labels(path: Path, groups: set[str]) -> Labels:
    """Return the labels of some groups of a TREC file."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {(row[0], row[2]): float(row[3]) for row in rows if len(row) == 4 and row[0] in groups}


def first_items(path: Path) -> dict[tuple[str, str], int]:
    """Return the rank of the first items of each group of a TREC run, as trec_eval ranks them."""
    lists: dict[str, list[tuple[float, str]]] = {}
    for row in map(str.split, path.read_text().splitlines()):
        lists.setdefault(row[0], []).append((float(row[4]), row[2]))
    return {
        (group, item): rank
        for group, items in lists.items()
        for rank, (_, item) in enumerate(sorted(items, reverse=True)[:CUTOFF], 1)
    }


def columns(labels: Labels) -> LabelLists:
    """Return labels as the tracker takes them."""
    return LabelLists.from_rows(
        Keys.from_strings([group for group, _ in labels]),
        Keys.from_strings([item for _, item in labels]),
        np.array(list(labels.values())),
    )


class Study:
    """Two runs in a database of their own, to which labels are added."""

    def __init__(self, folder: str, runs: tuple[Path, Path], labels: Labels) -> None:
        self.tracker = nt.Tracker(f"{folder}/judging.db")
        self.names = [run.stem for run in runs]
        self.known = dict(labels)
        self.tracker.add_labels(columns(labels))
        for run in runs:
            self.tracker.ingest(run, name=run.stem)

    def add(self, labels: Labels) -> None:
        """Add labels, and evaluate the runs under them."""
        self.known |= labels
        self.tracker.add_labels(columns(labels), extend=True)
        self.tracker.rescore()

    def verdict(self) -> tuple[str, float]:
        """Return the verdict and delta."""
        (metric,) = self.tracker.compare(*self.names).comparisons[0].metrics
        return str(metric.verdict), float(metric.delta or 0.0)

    def needed(self) -> list[tuple[str, str]]:
        """Return all items to judge, those first that could move delta most."""
        found = self.tracker.labels_needed(*self.names, budget=10**6).needed.items
        return [(one.group, one.item) for one in found]


def course(study: Study, rule: str, complete: Labels, ranks: dict[tuple[str, str], int], batch: int, seed: int) -> list:
    """Return (number of labels, verdict, delta) after each batch, until no item is left to ask for."""
    rng = np.random.default_rng(seed)
    found, n_asked = [(0, *study.verdict())], 0
    while True:
        left = [pair for pair in ranks if pair not in study.known and pair in complete]
        if not left:
            return found
        order = [left[at] for at in rng.permutation(len(left))]
        if rule == "depth":
            order.sort(key=lambda pair: ranks[pair])
        elif rule == "needed":
            place = {pair: at for at, pair in enumerate(study.needed())}
            order.sort(key=lambda pair: place.get(pair, len(place)))
        study.add({pair: complete[pair] for pair in order[:batch]})
        n_asked += len(order[:batch])
        found.append((n_asked, *study.verdict()))


def n_until(course: list, verdict: str) -> int:
    """Return after how many labels the verdict is the given one and stays so; all of them if it never does."""
    wrong = [at for at, (_, found, _) in enumerate(course) if found != verdict]
    return int(course[min(wrong[-1] + 1, len(course) - 1)][0]) if wrong else 0


def starts(folder: Path, complete: Labels, groups: set[str], seeds: range) -> Iterator[tuple[str, int, Labels]]:
    """Yield what is known in the beginning: the labels of the first round, a half and a tenth of the complete ones."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        yield "round 1", seed, read_labels(folder / "qrels.txt", groups)
        for name, share in (("half", 0.5), ("a tenth", 0.1)):
            yield name, seed, {pair: grade for pair, grade in complete.items() if rng.random() < share}


def main() -> None:
    """Print a table of the numbers of labels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=10)
    asked = parser.parse_args()
    runs = sorted(asked.folder.glob("*.run"))
    tops = {run: first_items(run) for run in runs}
    groups = {group for top in tops.values() for group, _ in top}
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    complete = read_labels(asked.folder / "qrels-complete.txt", groups)
    counts: dict[tuple[str, str], list[tuple[int, float, int]]] = {}
    for pair in itertools.combinations(runs, 2):
        ranks = dict(tops[pair[1]])
        for item, rank in tops[pair[0]].items():
            ranks[item] = min(rank, ranks.get(item, rank))
        with tempfile.TemporaryDirectory() as folder:
            verdict, delta = Study(folder, pair, complete).verdict()
        print(f"{pair[0].stem} {pair[1].stem}: {verdict} {delta:+.4f}", flush=True)
        for start, seed, labels in starts(asked.folder, complete, groups, seeds):
            for rule in RULES:
                with tempfile.TemporaryDirectory() as folder:
                    found = course(Study(folder, pair, labels), rule, complete, ranks, asked.batch, seed)
                error = statistics.mean(abs(one[2] - found[-1][2]) for one in found)
                counts.setdefault((start, rule), []).append((n_until(found, verdict), error, found[-1][0]))
    print(f"{'known':8}  {'rule':7}  labels until the verdict stays   of   mean error of delta   needed: fewer, more")
    for (start, rule), known in counts.items():
        n_labels, error, of_all = (statistics.mean(column) for column in zip(*known, strict=True))
        pairs = [(one[0], other[0]) for one, other in zip(counts[start, "needed"], known, strict=True)]
        fewer, more = sum(one < other for one, other in pairs), sum(one > other for one, other in pairs)
        print(f"{start:8}  {rule:7}  {n_labels:30.1f}  {of_all:5.0f}  {error:19.4f}   {fewer:13}, {more:4}")


if __name__ == "__main__":
    main()

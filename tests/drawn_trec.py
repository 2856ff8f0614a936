"""Drawn queries on real runs and labels: ``python tests/drawn_trec.py FOLDER [DRAWS]``.

FOLDER has three runs that a team submitted to TREC-COVID's first round (30 topics), the labels of that round,
``qrels.txt``, and those after all rounds, ``qrels-complete.txt`` (irgroup on GitHub, and NIST). The complete labels are
what people say; an item without one is not relevant to them. What is there without asking is a judge that is made from
them by a table of confusions (where it is biased it gives a grade more to half of what the candidate alone shows), or
the labels of the first round with their holes. Printed is, over many orders of the topics, how far the mean of the
estimates lies from the difference by answers to all topics. ``tests/statistics/test_drawn_query_real.py`` is its test.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
from drawn_rates import World
from drawn_worlds import DISCOUNTS, K, Population, Ranks, holes
from populations import Floats

from ndcg_tracker.statistics.drawn_queries import draw_order

Pair = tuple[str, str]
Grades = dict[Pair, float]
RUNS = ("entrez", "pmc", "pubmed")
TOPICS = [str(topic) for topic in range(1, 31)]
WITHOUT_ASKING = ("judge", "biased judge", "labels of round 1")
DRAWN = (10, 20)
CONFUSION = np.array([[0.75, 0.2, 0.05], [0.25, 0.5, 0.25], [0.1, 0.3, 0.6]])
FAVOURED, GREATEST = 0.5, 2.0


def read_run(path: Path) -> dict[str, list[str]]:
    """Return the ten best items of each topic, the best first."""
    lists: dict[str, list[tuple[float, str]]] = {}
    for line in path.read_text().splitlines():
        topic, _, item, _, score, _ = line.split()
        lists.setdefault(topic, []).append((float(score), item))
    return {topic: [item for _, item in sorted(items, reverse=True)[:K]] for topic, items in lists.items()}


def read_labels(path: Path) -> Grades:
    """Return the grades of the topics of the first round; some rows are below 0, which is not relevant."""
    rows = (line.split() for line in path.read_text().splitlines())
    return {(row[0], row[2]): max(float(row[3]), 0.0) for row in rows if row[0] in TOPICS}


@dataclass(frozen=True)
class Draws:
    """What many orders say of one pair.

    ``without_asking``: the difference by what is there. ``answers``: by answers to all topics. ``complete``: by all
    labels, whose ideals are larger. ``estimates``: of each order.
    """

    pair: Pair
    source: str
    n: int
    n_known: int
    without_asking: float
    answers: float
    complete: float
    estimates: Floats
    is_outside: Floats

    @property
    def bias_in_errors(self) -> float:
        """The mean estimate minus the difference by all answers, in standard errors of that mean."""
        apart = float(self.estimates.mean()) - self.answers
        return apart / float(self.estimates.std(ddof=1) / self.estimates.size**0.5)


def draws(folder: Path, n_draws: int = 100) -> Iterator[Draws]:
    """Return what draws of 10 and of 20 topics say of each pair, by each source of what is there without asking."""
    people, first = (read_labels(folder / name) for name in ("qrels-complete.txt", "qrels.txt"))
    runs = {name: read_run(folder / f"irc_{name}.run") for name in RUNS}
    for pair, source in product(combinations(RUNS, 2), WITHOUT_ASKING):
        population, complete = topics(runs[pair[0]], runs[pair[1]], people, first, source)
        facts = population.facts()
        every = np.arange(len(TOPICS))
        for n in DRAWN:
            estimates, is_outside = [], []
            for number in range(n_draws):
                order = draw_order(f"draw {number}", [topic.encode() for topic in TOPICS])
                of = World(every, order[~facts.known[order]]).drawn(facts, n)
                found = of.mean()
                low, high = found.interval or (-np.inf, np.inf)
                estimates.append(found.estimate)
                is_outside.append(not low <= facts.truth <= high)
            yield Draws(
                pair,
                source,
                n,
                int(facts.known.sum()),
                float(facts.control.mean()),
                facts.truth,
                complete,
                np.array(estimates),
                np.array(is_outside, np.float64),
            )


def topics(
    old: dict[str, list[str]], new: dict[str, list[str]], people: Grades, first: Grades, source: str
) -> tuple[Population, float]:
    """Return the topics as a population, and the difference under all labels of people.

    Without a judge the other labels of round 1 count too, in the ideal; under one only those of what both runs show.
    """
    width = 3 * K
    a, b = (np.zeros((len(TOPICS), width), dtype=np.int64) for _ in range(2))
    grades, known = np.zeros((len(TOPICS), width)), np.zeros((len(TOPICS), width), dtype=np.bool_)
    ideals, at_first = [], np.zeros((len(TOPICS), width))
    for row, topic in enumerate(TOPICS):
        items = list(dict.fromkeys(old[topic] + new[topic]))
        if source == "labels of round 1":
            others = [item for of, item in first if of == topic and item not in items]
            items += sorted(others, key=lambda item: -first[topic, item])[:K]
        for ranks, run in ((a, old), (b, new)):
            ranks[row, : len(items)] = [run[topic].index(item) + 1 if item in run[topic] else 0 for item in items]
        grades[row, : len(items)] = [people.get((topic, item), 0.0) for item in items]
        at_first[row, : len(items)] = [first.get((topic, item), 0.0) for item in items]
        known[row, : len(items)] = [(topic, item) in first for item in items]
        best = sorted((grade for (of, _), grade in people.items() if of == topic), reverse=True)[:K]
        ideals.append(float(np.array(best) @ DISCOUNTS[1 : 1 + len(best)]))
    gained = ((DISCOUNTS[b] - DISCOUNTS[a]) * grades).sum(axis=1)
    complete = float((gained / np.maximum(ideals, 1e-9)).mean())
    if source == "labels of round 1":  # what they say stands
        return holes(np.where(known, at_first, grades), known, a, b, greatest=GREATEST), complete
    judged = _judged(grades, a, b, is_biased=source == "biased judge")
    seen = (a > 0) | (b > 0)
    return Population(grades, (a, b), judged, judged, seen, np.arange(len(TOPICS)), GREATEST), complete


def _judged(grades: Floats, a: Ranks, b: Ranks, *, is_biased: bool) -> Floats:
    rng = np.random.default_rng(int(is_biased))
    below = rng.random(grades.shape)[..., None] > CONFUSION.cumsum(axis=1)[grades.astype(np.int64)]
    judged = below.sum(axis=2)
    liked = is_biased & (b > 0) & (a == 0) & (rng.random(grades.shape) < FAVOURED)
    return np.where((a > 0) | (b > 0), np.minimum(judged + liked, GREATEST), 0.0)


if __name__ == "__main__":
    for one in draws(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 100):
        cells = (
            " to ".join(one.pair),
            one.source,
            f"{one.n} of {len(TOPICS) - one.n_known}",
            f"{one.without_asking:+.4f}",
            f"{one.answers:+.4f}",
            f"{one.complete:+.4f}",
            f"{one.estimates.mean():+.4f} ({one.bias_in_errors:+.1f})",
            f"{one.estimates.std(ddof=1):.4f}",
            f"{one.is_outside.mean():.2f}",
        )
        print("|", " | ".join(cells), "|", flush=True)

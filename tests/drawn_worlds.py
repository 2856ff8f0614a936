"""Queries of two systems whose true differences are known, and what is there without asking: a judge, or few labels.

A population is 12,000 queries of 60 items. ``questions`` draws them: half of the queries have one relevant item, half
20 to 30, and the candidate is better in one kind and worse in the other, so that a control that errs by kind turns the
sign. ``facts`` are the arrays from which a world, a sample of queries, takes its numbers (``tests/drawn_rates.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
import pooled_worlds
from numpy.typing import NDArray
from populations import Floats

from ndcg_tracker.statistics.drawn_queries import without_asking, worth_of_holes

Ranks = NDArray[np.int64]
Mask = NDArray[np.bool_]
Measure = Literal["ndcg", "R", "RR", "Success"]

K, N_ITEMS, N_QUERIES = 10, 60, 12_000
GREATEST = 3.0
DISCOUNTS = np.append(0.0, 1 / np.log2(np.arange(K) + 2))  # by rank, 0 for outside
MEASURES: tuple[Measure, ...] = ("ndcg", "R", "RR", "Success")
JUDGES = ("symmetric", "lenient", "strict", "misses", "binary", "for A", "for B", "unfair to A")
PEOPLE = ("one grade off in 10%", "one grade off in 20%", "lenient")
SKILLS = {"two nights": 1.21, "two nights, less alike": 1.2, "newcomer": 1.05, "semantic": 0.95, "finder": 0.5}


@dataclass(frozen=True)
class Facts:
    """The queries of a population under one metric: float64, and ``known`` a mask, shape (n,).

    ``true``: the difference by people's labels, B minus A. ``control``: without asking. ``known``: nothing is open, and
    the control is the truth. ``guessed``: A's value without asking. ``costs``: what open items could cost B. ``value``:
    A's by people. ``n_asked``: how many items are open. ``cluster``: int64, the number of the question that a query
    paraphrases.
    """

    true: Floats
    control: Floats
    known: Mask
    guessed: Floats
    costs: Floats
    value: Floats
    n_asked: Ranks
    cluster: Ranks

    @property
    def truth(self) -> float:
        """The mean difference of all queries."""
        return float(self.true.mean())


def ndcg(gains: Floats, ranks: Ranks) -> Floats:
    ideal = -np.sort(-gains, axis=1)[:, :K] @ DISCOUNTS[1:]
    return np.asarray(np.where(ideal > 0, (DISCOUNTS[ranks] * gains).sum(axis=1) / np.where(ideal > 0, ideal, 1), 0))


def recall(gains: Floats, ranks: Ranks) -> Floats:
    return np.asarray(((gains > 0) & (ranks > 0)).sum(axis=1) / np.maximum((gains > 0).sum(axis=1), 1))


def reciprocal_rank(gains: Floats, ranks: Ranks) -> Floats:
    first = np.where((gains > 0) & (ranks > 0), ranks, N_ITEMS).min(axis=1)
    return np.where(first <= K, 1 / first, 0)


def success(gains: Floats, ranks: Ranks) -> Floats:
    return ((gains > 0) & (ranks > 0)).any(axis=1).astype(np.float64)


VALUES: dict[Measure, Callable[[Floats, Ranks], Floats]] = {
    "ndcg": ndcg,
    "R": recall,
    "RR": reciprocal_rank,
    "Success": success,
}


def first_ranks(scores: Floats) -> Ranks:
    """Return the rank of each item from 1, 0 outside of the first ten."""
    ranks = np.zeros(scores.shape, dtype=np.int64)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :K]
    np.put_along_axis(ranks, best, np.arange(1, K + 1)[None], axis=1)
    return ranks


@dataclass(frozen=True)
class Population:
    """Queries in rows, items in columns: gains by people, ranks of A and B, what is known without asking.

    ``guess``: gains without asking; ``without``: for metrics that know no fractions of a gain. ``is_open``: the items
    that people are asked about. ``greatest``: the greatest gain. ``judged``: the items that have a label, None under a
    judge, who has graded all.
    """

    gains: Floats
    ranks: tuple[Ranks, Ranks]
    guess: Floats
    without: Floats
    is_open: Mask
    cluster: Ranks
    greatest: float = GREATEST
    judged: Mask | None = None

    def facts(self, measure: Measure = "ndcg") -> Facts:
        """Return the differences of a metric, its controls and stakes."""
        a, b = self.ranks
        of, guess = VALUES[measure], self.guess if measure == "ndcg" else self.without
        value, true = of(self.gains, a), of(self.gains, b) - of(self.gains, a)
        lead = DISCOUNTS[b] - DISCOUNTS[a]
        control, guessed, costs = without_asking(
            lambda gains: (of(gains, a), of(gains, b)), guess, self.is_open, lead, self.greatest
        )
        known = ~self.is_open.any(axis=1) | (a == b).all(axis=1)
        control = np.where(known, true, control)
        return Facts(true, control, known, guessed, costs, value, self.is_open.sum(axis=1), self.cluster)

    def harmed(self, share: float, *, blank: bool = False, seed: int = 17) -> Population:
        """Return the queries where B shows ten other items in a share of them: A's equals without asking, but no good.

        Under a judge each has the grade of A's item at its rank. Without one nobody has judged them.
        """
        rows = np.flatnonzero(np.random.default_rng(seed).random(len(self.gains)) < share)
        a, b = self.ranks
        of_a = np.argsort(np.where(a[rows] > 0, a[rows], N_ITEMS), axis=1, kind="stable")
        shown, other = of_a[:, :K], of_a[:, K : 2 * K]
        parts = {name: getattr(self, name).copy() for name in ("gains", "guess", "without", "is_open")}
        new, at, instead = np.zeros_like(b[rows]), (rows[:, None], other), (rows[:, None], shown)
        np.put_along_axis(new, other, np.arange(1, K + 1)[None], axis=1)
        b = b.copy()
        b[rows] = new
        parts["gains"][at] = 0.0
        if self.judged is None:
            for name in ("guess", "without"):
                parts[name][at] = parts[name][instead]
                if blank:
                    parts[name][rows] = 0.0
            parts["is_open"][rows] = (a[rows] > 0) | (new > 0)
            return replace(self, ranks=(a, b), **parts)
        judged = self.judged.copy()
        judged[at] = False
        return holes(parts["gains"], judged, a, b)


def questions(
    rng: np.random.Generator, better_in: str = "heavy", sizes: Ranks | None = None, n: int = N_QUERIES
) -> tuple[Floats, Floats, Floats, Ranks]:
    """Return the grades, both systems' scores and the clusters of n queries, or of clusters of some sizes.

    B's skill is half as much again in the one kind, and half in the other; in "equal" it is A's, and in "alike" its
    scores are A's and a little noise. Queries of a cluster have the same items, and scores that differ by noise.
    """
    n = n if sizes is None else sizes.size
    heavy, shape = rng.random(n) < 0.5, (n, N_ITEMS)
    grades = np.zeros(shape)
    grades[:, 0] = 3
    drawn = rng.choice([1, 2, 3], shape, p=[0.5, 0.3, 0.2])
    grades = np.where(heavy[:, None] & (rng.random(shape) < 0.42), drawn, grades)
    common = rng.normal(size=shape)
    skill = {"heavy": np.where(heavy, 1.5, 0.5), "light": np.where(heavy, 0.5, 1.5)}.get(better_in, np.ones(n))
    a, b = (0.65 * of[:, None] * grades + 0.7 * common + 0.71 * rng.normal(size=shape) for of in (np.ones(n), skill))
    if better_in == "alike":
        b = a + 0.3 * rng.normal(size=shape)
    cluster = np.arange(n)
    if sizes is not None:
        cluster = np.repeat(cluster, sizes)
        grades = grades[cluster]
        a, b = (scores[cluster] + 0.15 * rng.normal(size=grades.shape) for scores in (a, b))
    return grades, a, b, cluster


def judged_by(kind: str, grades: Floats, a: Ranks, b: Ranks, rng: np.random.Generator) -> Floats:
    """Return the grades of a judge; the last ones like the items of one side better than they are."""
    u = rng.random(grades.shape)
    found = {
        "symmetric": np.clip(grades + (u < 0.05) - (u > 0.95), 0, 3),
        "lenient": np.where(grades == 0, u < 0.15, np.clip(grades + (u < 0.5), 0, 3)),
        "strict": np.clip(grades - (u < 0.6), 0, 3),
        "misses": np.where((rng.random(len(grades)) < 0.3)[:, None] & (u < 0.85), 0, grades),
        "binary": np.where(grades + (u < 0.1) >= 1, 1, 0),
        "for A": np.clip(grades + ((DISCOUNTS[a] > DISCOUNTS[b]) & (u < 0.5)), 0, 3),
        "for B": np.clip(grades + ((DISCOUNTS[b] > DISCOUNTS[a]) & (u < 0.5)), 0, 3),
        "unfair to A": np.where((DISCOUNTS[a] > DISCOUNTS[b]) & (u < 0.8), 0, grades),
    }
    return np.asarray(found[kind], dtype=np.float64)


def said_by(people: str, grades: Floats, rng: np.random.Generator) -> Floats:
    """Return the grades of people who err."""
    u = rng.random(grades.shape)
    if people == "lenient":
        return np.asarray(np.clip(grades + (u < 0.2), 0, 3))
    share = 0.1 if people.endswith("10%") else 0.2
    return np.asarray(np.clip(grades + (u < share / 2) - (u > 1 - share / 2), 0, 3))


@lru_cache(maxsize=1)
def under_a_judge(
    kind: str, better_in: str = "heavy", *, exponential: bool = False, people: str = "", sizes: str = ""
) -> Population:
    """Return queries under a judge's labels.

    ``exponential``: gains of 2^grade - 1. ``people``: how they err. ``sizes``: of clusters (``cluster_sizes``).
    """
    rng = np.random.default_rng([1, *kind.encode(), *better_in.encode()])
    grades, *scores, cluster = questions(rng, better_in, cluster_sizes(sizes, rng) if sizes else None)
    a, b = map(first_ranks, scores)
    seen = (a > 0) | (b > 0)
    judged = judged_by(kind, grades, a, b, rng)
    if sizes:  # paraphrases have the same items, so the judge's grades are the same
        judged = judged[np.unique(cluster, return_index=True)[1]][cluster]
    said = said_by(people, grades, rng) if people else grades
    by_grade = np.exp2(np.arange(4)) - 1 if exponential else np.arange(4.0)
    gains, guess = (np.where(seen, by_grade[of.astype(np.int64)], 0.0) for of in (said, judged))
    return Population(gains, (a, b), guess, guess, seen, cluster, float(by_grade[-1]))


@lru_cache(maxsize=1)
def candidates(kind: str, count: int, better_in: str = "equal") -> list[Population]:
    """Return the same queries and the same A with several candidates, under a judge."""
    rng = np.random.default_rng([3, *kind.encode()])
    grades, a, _, cluster = questions(rng, better_in)
    shared, found = 0.7 * rng.normal(size=a.shape), []
    for _ in range(count):
        b = a if better_in == "alike" else 0.65 * grades + shared
        b = b + (0.3 if better_in == "alike" else 0.71) * rng.normal(size=a.shape)
        ranks = first_ranks(a), first_ranks(b)
        seen = (ranks[0] > 0) | (ranks[1] > 0)
        guess = np.where(seen, judged_by(kind, grades, *ranks, np.random.default_rng(4)), 0.0)
        found.append(Population(np.where(seen, grades, 0.0), ranks, guess, guess, seen, cluster))
    return found


def cluster_sizes(name: str, rng: np.random.Generator) -> Ranks:
    """Return the sizes of clusters of about 12,000 queries: "4" each, or unequal ones."""
    if name.isdigit():
        return np.full(N_QUERIES // int(name), int(name))
    choices = {"1 to 8": [1, 2, 3, 4, 5, 6, 7, 8], "1 or 20": [1] * 19 + [20]}[name]
    return rng.choice(choices, int(N_QUERIES / np.mean(choices)))


@lru_cache(maxsize=1)
def with_holes(name: str) -> Population:
    """Return queries whose labels have holes: four fifths of A's first ten are judged, or the worlds of the gate."""
    rng = np.random.default_rng([2, *name.encode()])
    if name in SKILLS:
        make = {
            "two nights": lambda rng, n, skill: pooled_worlds.changed(rng, n, skill, shared_part=0.97),
            "two nights, less alike": lambda rng, n, skill: pooled_worlds.changed(rng, n, skill, shared_part=0.8),
            "newcomer": pooled_worlds.newcomer,
            "semantic": pooled_worlds.semantic,
            "finder": pooled_worlds.finder,
        }[name]
        world = make(np.random.default_rng(5), N_QUERIES, SKILLS[name])
        a, b = (first_ranks(scores) for scores in (world.old, world.new))
        is_there = np.isfinite(world.old) | np.isfinite(world.new)
        return holes(np.where(is_there, world.grades, 0.0), np.asarray(world.is_judged), a, b)
    grades, *scores, _ = questions(rng, name)
    a, b = map(first_ranks, scores)
    is_judged = ((a > 0) & (rng.random(grades.shape) < 0.8)) | (rng.random(grades.shape) < 0.1)
    is_judged[np.arange(len(grades)), grades.argmax(axis=1)] = True  # without a relevant label a query has no value
    return holes(grades, is_judged, a, b)


def holes(grades: Floats, is_judged: Mask, a: Ranks, b: Ranks, greatest: float = GREATEST) -> Population:
    """Return a population; an item at the same place in both stays as judged: it moves only the ideal."""
    seen = (a > 0) | (b > 0)
    is_open = ~is_judged & seen & (a != b)
    labelled = np.where(is_judged, grades, 0.0)
    query = np.broadcast_to(np.arange(len(grades))[:, None], grades.shape)
    gains = np.where(is_judged, grades, np.nan)
    worth = worth_of_holes(query[seen], (a[seen], b[seen]), gains[seen])
    guess = labelled.copy()
    guess[seen] = worth
    guess = np.where(is_open, guess, labelled)
    people = np.where(is_judged | is_open, grades, 0.0)
    return Population(people, (a, b), guess, labelled, is_open, np.arange(len(grades)), greatest, is_judged)

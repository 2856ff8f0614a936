"""How much the spread of older answers narrows the interval of a difference that people's answers correct.

Two systems of equal quality rank 25 items by what they are worth and by a quirk of their own; the judge grades by the
worth, by noise, and by the second system's quirk.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from populations import LONG, Floats, Record

from ndcg_tracker.statistics.drawn import (
    DrawnLabels,
    inclusion_probabilities,
    permanent_folds,
    probabilities_by_spread,
    spread_of_gains,
)
from ndcg_tracker.statistics.t_test import paired_t

N_ITEMS, CUTOFF = 25, 10
DISCOUNTS = np.append(1 / np.log2(np.arange(2, CUTOFF + 2)), np.zeros(N_ITEMS - CUTOFF))
CUTS = np.array([0.9, 1.6, 2.2])
Grades = NDArray[np.int64]


@dataclass(frozen=True)
class Cell:
    """How many groups, the budget, how far the judge likes the candidate's quirk, its noise, how much worse that is."""

    n: int
    budget: int
    bias: float
    noise: float = 0.6
    worse: float = 0.0


CELLS = {
    "no bias": Cell(300, 300, 0.0),
    "biased": Cell(300, 300, 0.8),
    "few groups": Cell(100, 200, 0.8),
    "many labels": Cell(600, 800, 0.8),
    "noisy": Cell(300, 300, 0.5, noise=1.2),
    "worse": Cell(300, 400, 0.8, worse=0.4),
}
WORLDS = 2000 if LONG else 120


@dataclass(frozen=True)
class World:
    """The weights of the items that matter, what the judge and people would say of them, and their groups."""

    n: int
    groups: NDArray[np.int64]
    weights: Floats
    judged: Grades
    true: Grades

    @property
    def true_delta(self) -> float:
        """The mean difference under complete labels of people."""
        return float((self.weights * self.true).sum() / self.n)


def world(rng: np.random.Generator, cell: Cell, *, with_ideal: bool) -> World:
    """Return one world."""
    shape = (cell.n, N_ITEMS)
    worth, quirk, other = (rng.normal(size=shape) for _ in range(3))
    true = np.searchsorted(CUTS, worth)
    judged = np.searchsorted(CUTS, worth + cell.noise * rng.normal(size=shape) + cell.bias * quirk)
    discounts = []
    for scores in (worth + other, (1 - cell.worse) * worth + quirk):
        ranks = np.argsort(np.argsort(-scores, axis=1), axis=1)
        discounts.append(DISCOUNTS[ranks])
    weights = discounts[1] - discounts[0]
    if with_ideal:
        ideals = np.sort(judged, axis=1)[:, ::-1] @ DISCOUNTS
        weights /= np.maximum(ideals, 1.0)[:, None]
    groups, items = np.nonzero(weights)
    return World(cell.n, groups, weights[groups, items], judged[groups, items], true[groups, items])


def drawn(rng: np.random.Generator, of: World, budget: int) -> DrawnLabels:
    """Return what is known after people graded a sample."""
    return answered(of, inclusion_probabilities(of.weights, budget), rng.random(of.weights.size))


def answered(of: World, probabilities: Floats, numbers: Floats) -> DrawnLabels:
    """Return what is known after people graded the items whose number is below their probability."""
    rows = np.flatnonzero(numbers < probabilities)
    gains = of.true[rows].astype(np.float64)
    return DrawnLabels(of.n, of.groups, of.weights, of.judged, np.arange(4.0), rows, gains, probabilities[rows])


@pytest.mark.parametrize("name", CELLS)
def test_probabilities_by_the_spread_of_older_answers_narrow_the_interval(name: str, record_property: Record) -> None:
    """The older answers are to another pair of the same groups, drawn with the same numbers by half the budget."""
    cell = CELLS[name]
    rng = np.random.default_rng([*name.encode(), 2])
    folds = permanent_folds(f"q{group}".encode() for group in range(cell.n))
    widths, held, errors = [], [0, 0], []
    for _ in range(WORLDS):
        of = world(rng, cell, with_ideal=True)
        numbers, other_weights = rng.random(of.weights.size), of.weights * rng.lognormal(0, 1, of.weights.size)
        older = inclusion_probabilities(other_weights, cell.budget / 2)
        asked = np.flatnonzero(numbers < older)
        spread = spread_of_gains(folds[of.groups[asked]], of.judged[asked], of.true[asked].astype(np.float64), 4)
        of_items = spread[of.judged, folds[of.groups]]
        by_weight = inclusion_probabilities(of.weights, cell.budget)
        by_spread = probabilities_by_spread(of.weights, cell.budget, folds[of.groups], of_items)
        results = [
            paired_t(answered(of, np.maximum(one, older), numbers).corrected_deltas()) for one in (by_weight, by_spread)
        ]
        for place, found in enumerate(results):
            assert found.ci is not None
            held[place] += found.ci[0] <= of.true_delta <= found.ci[1]
            widths.append(found.ci[1] - found.ci[0])
        errors.append((results[1].mean or 0.0) - of.true_delta)
    plain, spread_out = np.mean(widths[::2]), np.mean(widths[1::2])
    record_property("width", float(spread_out))
    record_property("width by the weights alone", float(plain))
    record_property("coverage of the world's own difference", held[1] / WORLDS)
    record_property("by the weights alone", held[0] / WORLDS)
    assert spread_out < 0.99 * plain
    assert abs(np.mean(errors)) <= 4 * np.std(errors) * WORLDS**-0.5

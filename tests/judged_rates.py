"""How often verdicts under a judge that people checked are wrong, counted in many worlds of which all is known.

A population is 40,000 groups of 25 items, and a world is a sample of them, so the true difference is known to the last
digit. Two systems rank the items by what they are worth and by a quirk of their own; the judge grades them by their
worth, by noise, and by the candidate's quirk. All items have its grade; people grade a drawn part.
``tests/statistics/test_drawn_rates.py`` holds the rates within limits, ``tests/rate_tables.py judges`` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from populations import Floats
from scipy.special import stdtrit

from ndcg_tracker.statistics.drawn import DrawnLabels, inclusion_probabilities
from ndcg_tracker.statistics.t_test import FEW_DIFFERENCES, TTest, paired_t

Grades = NDArray[np.int64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]
Kind = Literal["equal", "equal in ndcg", "equal in dcg", "different"]

N_ITEMS, CUTOFF = 25, 10
DISCOUNTS = np.append(1 / np.log2(np.arange(2, CUTOFF + 2)), np.zeros(N_ITEMS - CUTOFF))
CUTS = np.array([0.5, 1.2, 1.9])
GAINS = np.arange(4.0)
KINDS: tuple[Kind, ...] = ("equal", "equal in ndcg", "equal in dcg", "different")
SIZES, BUDGETS = (100, 600, 3000), (100, 400, 800)
GROUPS = 40_000
FEW_FOR_GATE = 100
WORSE = 0.85
"""How much the different candidate makes of what an item is worth."""


@dataclass(frozen=True)
class Judge:
    """How far a judge likes the candidate's quirk, its noise, and of which share of the items it grades by them.

    It gives people's grade to the others. ``agreement``: the share of equal grades among items that matter.
    """

    bias: float
    agreement: float
    noise: float
    share: float = 1.0

    @property
    def name(self) -> str:
        return f"bias {self.bias:g}, agreement {self.agreement:g}"


JUDGES = (
    Judge(0.0, 0.5, 1.07),
    Judge(0.0, 0.7, 0.437),
    Judge(0.0, 0.9, 0.135),
    Judge(0.5, 0.5, 0.73),
    Judge(0.5, 0.7, 0.0, 0.82),
    Judge(0.5, 0.9, 0.0, 0.273),
    Judge(0.8, 0.5, 0.0, 0.98),
    Judge(0.8, 0.7, 0.0, 0.587),
    Judge(0.8, 0.9, 0.0, 0.196),
)
UNBIASED, BIASED = JUDGES[1], JUDGES[7]


def discounts(scores: Floats) -> Floats:
    """Return the discount of each item's rank, one group a row."""
    order = np.argsort(-scores, axis=-1)
    found = np.zeros(scores.shape)
    np.put_along_axis(found, order[..., :CUTOFF], DISCOUNTS[:CUTOFF].reshape((1,) * (scores.ndim - 1) + (-1,)), axis=-1)
    return found


def ideals(grades: Grades) -> Floats:
    """Return the ideal of each group, at least that of one item of the least positive gain."""
    return np.maximum(np.sort(grades, axis=-1)[..., ::-1] @ DISCOUNTS, 1.0)


@dataclass(frozen=True)
class Population:
    """Groups, one a row, and their items: what these are worth, both systems' quirks, and the grades.

    ``weights``: of the candidate's difference, by the judge's ideal. ``size_of_cluster``: so many rows in turn are of
    one user.
    """

    worth: Floats
    other: Floats
    quirk: Floats
    true: Grades
    judged: Grades
    weights: Floats
    size_of_cluster: int = 1

    @property
    def truth(self) -> float:
        """The frozen delta: the mean difference under complete labels of people."""
        return float((self.weights * self.true).sum() / len(self.true))

    @property
    def agreement(self) -> float:
        """The share of equal grades among the items that matter."""
        return float((self.true == self.judged)[self.weights != 0].mean())

    @property
    def delta_in_ndcg(self) -> float:
        """The mean difference in ndcg by people's own ideal."""
        return self.truth_of(self.weights * (ideals(self.judged) / ideals(self.true))[:, None])

    def truth_of(self, weights: Floats) -> float:
        """Return the mean difference of another candidate."""
        return float((weights * self.true).sum() / len(self.true))

    def rows(self, rng: np.random.Generator, n: int) -> Index:
        """Return the groups of a world: as many independent draws."""
        first = rng.integers(0, len(self.true) // self.size_of_cluster, n // self.size_of_cluster)
        return np.asarray((first[:, None] * self.size_of_cluster + np.arange(self.size_of_cluster)).ravel())

    def world(self, rows: Index, weights: Floats | None = None) -> World:
        """Return the world of some groups; ``weights``: of another candidate in these."""
        found = self.weights[rows] if weights is None else weights
        groups, items = np.nonzero(found)
        of = (rows[groups], items)
        return World(rows.size, groups, items, found[groups, items], self.judged[of], self.true[of])


@lru_cache(maxsize=2)
def population(judge: Judge, kind: Kind, *, spread: float = 0.0, size_of_cluster: int = 1) -> Population:
    """Return groups: each twice, with the quirks of both systems exchanged, so that equal systems are exactly equal.

    ``equal``: the frozen delta in ndcg is 0. ``equal in ndcg``: their ndcg by people's own ideal is the same. ``equal
    in dcg``: the metric is dcg, of which the frozen delta is 0. ``spread``: the standard deviation, over users, of how
    much the candidate makes of what an item is worth.
    """
    rng = np.random.default_rng([int(100 * judge.bias), int(100 * judge.agreement)])
    shape = (GROUPS // 2, N_ITEMS)
    worth, other, quirk = (rng.normal(size=shape) for _ in range(3))
    worth, other, quirk = np.tile(worth, (2, 1)), np.vstack([other, quirk]), np.vstack([quirk, other])
    true = np.searchsorted(CUTS, worth)
    seen = np.searchsorted(CUTS, worth + judge.noise * rng.normal(size=worth.shape) + judge.bias * quirk)
    judged = np.where(rng.random(worth.shape) < judge.share, seen, true)
    of_user = np.repeat(spread * rng.normal(size=GROUPS // size_of_cluster), size_of_cluster)[:, None]
    before = discounts(worth + other)
    ideal = np.ones((1, 1)) if kind == "equal in dcg" else ideals(judged)[:, None]

    def with_quality(quality: float) -> Population:
        weights = (discounts((quality + of_user) * worth + quirk) - before) / ideal
        return Population(worth, other, quirk, true, judged, weights, size_of_cluster)

    if kind == "different":
        return with_quality(WORSE)
    if kind != "equal":
        return with_quality(1.0)
    low, high = 0.7, 1.4
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (middle, high) if with_quality(middle).truth < 0 else (low, middle)
    return with_quality(high)


@dataclass(frozen=True)
class World:
    """The items that matter: their groups and places, their weights, and what the judge and people say of them."""

    n: int
    groups: Index
    items: Index
    weights: Floats
    judged: Grades
    true: Grades

    @property
    def own_delta(self) -> float:
        """The mean difference of these groups under complete labels of people."""
        return float((self.weights * self.true).sum() / self.n)

    def probabilities(self, budget: float) -> Floats:
        return inclusion_probabilities(self.weights, budget)

    def labels(self, rows: Index, probabilities: Floats) -> DrawnLabels:
        """Return what is known after people graded some of the items; ``probabilities``: of all."""
        gains = self.true[rows].astype(np.float64)
        return DrawnLabels(self.n, self.groups, self.weights, self.judged, GAINS, rows, gains, probabilities[rows])

    def drawn(self, rng: np.random.Generator, budget: float) -> DrawnLabels:
        """Return what is known after people graded a drawn sample."""
        probabilities = self.probabilities(budget)
        return self.labels(np.flatnonzero(rng.random(probabilities.size) < probabilities), probabilities)

    def spread_out(self, numbers: Floats) -> Floats:
        """Return a number of each item that matters as one of every item: float64, shape (n, 25)."""
        found = np.zeros((self.n, N_ITEMS))
        found[self.groups, self.items] = numbers
        return found


@dataclass(frozen=True)
class ManyTests:
    """The t-tests of many worlds: of each the mean, its standard error and degrees of freedom."""

    means: Floats
    errors: Floats
    df: Floats

    @classmethod
    def of(cls, tests: Sequence[TTest]) -> ManyTests:
        numbers = [(test.mean, test.standard_error, test.df) for test in tests]
        return cls(*np.array(numbers, dtype=np.float64).T)

    def half(self, alpha: float) -> Floats:
        """Return how far the bound at a one-sided level lies from the mean."""
        return np.asarray(stdtrit(self.df, 1 - alpha) * self.errors)

    def refute(self, truth: float | Floats, alpha: float = 0.05) -> Mask:
        """Return where the two-sided test refutes that the mean difference is the truth."""
        return np.asarray(np.abs(self.means - truth) > self.half(alpha / 2))

    def lie_above(self, truth: float | Floats, alpha: float) -> Mask:
        """Return where the lower bound lies above the truth: a gate whose margin is the true drop says PASS."""
        return np.asarray(self.means - truth > self.half(alpha))

    def lie_below(self, truth: float | Floats, alpha: float) -> Mask:
        """Return where the upper bound lies below the truth: of equal systems the gate says FAIL."""
        return np.asarray(truth - self.means > self.half(alpha))

    @property
    def width(self) -> float:
        """The mean width of the 95% interval."""
        return 2 * float(self.half(0.025).mean())


@dataclass(frozen=True)
class Cell:
    """One budget in many worlds: the true difference, the tests, and the numbers of labels and of informative ones."""

    n: int
    budget: int
    truth: float | Floats
    judge: ManyTests
    people: ManyTests
    corrected: ManyTests
    n_drawn: Floats
    n_informative: Floats

    @property
    def informative(self) -> float:
        """How many informative labels a world has on average."""
        return float(self.n_informative.mean())

    @property
    def is_low(self) -> bool:
        """Whether there are so few that a verdict is marked."""
        return self.informative < FEW_DIFFERENCES

    @property
    def false(self) -> float:
        """The share of verdicts other than the true difference, at 5%; the rest of the intervals cover it."""
        return float(self.corrected.refute(self.truth).mean())

    @property
    def coverage(self) -> float:
        return 1 - self.false

    @property
    def verdicts(self) -> float:
        """The share of worlds in which the systems are said to differ."""
        return float(self.corrected.refute(0.0).mean())

    @property
    def false_by_judge(self) -> float:
        return float(self.judge.refute(self.truth).mean())

    @property
    def false_by_people(self) -> float:
        return float(self.people.refute(self.truth).mean())

    @property
    def is_gated(self) -> Mask:
        """In which worlds the gate may say PASS or FAIL."""
        return np.asarray(self.n_informative >= FEW_FOR_GATE)

    @property
    def gated(self) -> float:
        return float(self.is_gated.mean())

    @property
    def false_pass(self) -> float | None:
        """The share of PASSes where the candidate is worse by the margin, of worlds in which the gate decides."""
        return self._of_gated(self.corrected.lie_above(self.truth, 0.05))

    @property
    def false_fail(self) -> float | None:
        """The share of FAILs of equal systems, of worlds in which the gate decides."""
        return self._of_gated(self.corrected.lie_below(self.truth, 0.01))

    @property
    def work(self) -> float:
        """How many labels of people alone would have been needed for intervals as narrow."""
        return float(self.n_drawn.mean()) * (self.people.width / self.corrected.width) ** 2

    @property
    def bias(self) -> float:
        """The mean of the estimates minus the truth."""
        return float(np.mean(self.corrected.means - self.truth))

    @property
    def bias_in_errors(self) -> float:
        """The same in standard errors of that mean."""
        errors = self.corrected.means - self.truth
        return float(errors.mean() / errors.std(ddof=1) * errors.size**0.5)

    def _of_gated(self, found: Mask) -> float | None:
        """Return the share, where the gate decides in half of the worlds at least."""
        return float(found[self.is_gated].mean()) if self.gated >= 0.5 else None


@dataclass(frozen=True)
class Observed:
    """What one world says after people answered; ``truth``: its true difference, where worlds differ in it."""

    judge: TTest
    people: TTest
    corrected: TTest
    n_drawn: int
    n_informative: int
    truth: float = 0.0

    @classmethod
    def of(cls, labels: DrawnLabels, truth: float = 0.0, test: Callable[[Floats], TTest] = paired_t) -> Observed:
        people = labels.by_people_alone().corrected_deltas()
        tests = (test(deltas) for deltas in (labels.judged_deltas(), people, labels.corrected_deltas()))
        return cls(*tests, labels.rows.size, int(labels.informative.sum()), truth)


def cell_of(n: int, budget: int, found: Sequence[Observed], truth: float | None) -> Cell:
    """Return what was found in many worlds; ``truth``: None where each has its own."""
    return Cell(
        n,
        budget,
        np.array([world.truth for world in found]) if truth is None else truth,
        ManyTests.of([world.judge for world in found]),
        ManyTests.of([world.people for world in found]),
        ManyTests.of([world.corrected for world in found]),
        np.array([float(world.n_drawn) for world in found]),
        np.array([float(world.n_informative) for world in found]),
    )


def cells(
    judge: Judge, kind: Kind, n: int, worlds: int, budgets: Sequence[int] = BUDGETS, *, again: bool = False
) -> list[Cell]:
    """Return what verdicts say in so many worlds, after each of some budgets; ``again``: in others."""
    of = population(judge, kind)
    rng = np.random.default_rng([JUDGES.index(judge), KINDS.index(kind), n, *[1] * again])
    found: dict[int, list[Observed]] = {budget: [] for budget in budgets}
    for _ in range(worlds):
        world = of.world(of.rows(rng, n))
        for budget in budgets:
            found[budget].append(Observed.of(world.drawn(rng, budget)))
    return [cell_of(n, budget, observed, of.truth) for budget, observed in found.items()]

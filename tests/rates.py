"""What ``compare`` and the gate decide of many samples at once, one a row, and how often that is wrong.

The rules stand in ``t_test.Information`` and ``gate.decide.Bounds``; here they are written for whole columns, which is
a hundred times as fast. ``tests/questions/gate/test_gate_rates.py`` holds both against each other.
``tests/rate_tables.py`` prints the tables of docs/verdicts.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from populations import NOISE, Floats, Null

from ndcg_tracker.statistics.distribution_free import CAP
from ndcg_tracker.statistics.t_distribution import quantile
from ndcg_tracker.statistics.t_test import FEW_DIFFERENCES, MUCH_SKEWNESS, enough_for, skewness_for

Mask = NDArray[np.bool_]
SIZES = (20, 35, 50, 100, 150, 200, 300, 1000)
PASS_ALPHA = 0.05
FAIL_ALPHAS = (0.05, 0.01, 0.00125, 0.0001)
MARGIN = 0.01
_NUMBERS = 1_000_000  # as many at once


@dataclass(frozen=True)
class Rule:
    """When a one-sided t bound at a level decides: from how many nonzero differences on, up to which skewness."""

    enough: Callable[[float], float]
    skewness: Callable[[float], float]


NEW = Rule(enough_for, skewness_for)
OLD = Rule(lambda _: 100, lambda _: 0.1)
BEFORE = Rule(
    lambda alpha: round(50 * math.log(1 / alpha)), lambda alpha: (2 if alpha < 0.01 else 1) * skewness_for(alpha)
)
UNSCALED = Rule(BEFORE.enough, lambda _: 0.1)
BETTING = Rule(lambda alpha: enough_for(alpha) if alpha >= 0.01 else math.inf, skewness_for)
"""What stood or could stand below the level 1%: half of the differences and twice the skewness, which was the rule;
one limit of skewness; no t at all."""


@dataclass(frozen=True)
class Variant:
    """Which image of a population samples are drawn from."""

    is_mirrored: bool = False
    noise: float = 0.0


PLAIN = Variant()


@dataclass(frozen=True)
class Columns:
    """What a rule looks at, of each row: float64, shape (rows,)."""

    n: int
    mean: Floats
    sd: Floats
    n_nonzero: NDArray[np.int64]
    skewness: Floats

    @classmethod
    def of(cls, rows: Floats) -> Columns:
        """Return those of samples, one a row."""
        n, mean = rows.shape[1], rows.mean(axis=1)
        centred = rows - mean[:, None]
        square = centred * centred
        variance = square.mean(axis=1)
        third = np.einsum("ij,ij->i", square, centred) / n
        skewness = np.divide(third, variance**1.5, out=np.zeros_like(third), where=variance > 0)
        return cls(n, mean, np.sqrt(variance * n / (n - 1)), np.count_nonzero(rows, axis=1), skewness)

    @property
    def mirrored(self) -> Columns:
        """Those of the rows with the other sign."""
        return Columns(self.n, -self.mean, self.sd, self.n_nonzero, -self.skewness)

    @property
    def varies(self) -> Mask:
        """Whether t says anything."""
        return self.sd > 1e-12 * np.abs(self.mean)

    def t_refutes(self, mean: float, alpha: float) -> Mask:
        """Whether the lower t bound at level ``alpha`` lies above a mean."""
        return self.varies & (self.mean - quantile(1 - alpha, self.n - 1.0) * self.sd / math.sqrt(self.n) > mean)

    def trusted(self, alpha: float, rule: Rule) -> Mask:
        """Whether a t bound at level ``alpha`` decides."""
        is_skewed = np.abs(self.skewness) / math.sqrt(self.n) > rule.skewness(alpha)
        return np.asarray(self.varies & (self.n_nonzero >= rule.enough(alpha)) & ~is_skewed)

    @property
    def are_few(self) -> Mask:
        """Whether compare flags a row by the count alone."""
        return np.asarray((self.n_nonzero > 0) & (self.n_nonzero < FEW_DIFFERENCES))

    @property
    def is_low(self) -> Mask:
        """Whether compare flags a row."""
        is_skewed = (np.abs(self.skewness) > MUCH_SKEWNESS) & (self.n < 25 * self.skewness**2)
        return np.asarray(self.are_few | is_skewed)


def betting_refutes(rows: Floats, mean: float, alpha: float) -> Mask:
    """Return whether the lower betting bound at level ``alpha`` lies above a mean; the bets go from left to right."""
    found = np.zeros(rows.shape[0], np.bool_)
    above = np.flatnonzero(rows.mean(axis=1) > mean)
    for first in range(0, above.size, step := max(1, _NUMBERS // rows.shape[1])):
        places = above[first : first + step]
        numbers, m = (rows[places] + 1) / 2, (mean + 1) / 2
        count = np.arange(1, rows.shape[1] + 1)
        seen = np.cumsum(numbers, axis=1)
        spread = np.cumsum((numbers - (0.5 + seen) / (1 + count)) ** 2, axis=1)
        before = (0.25 + np.concatenate([np.zeros((places.size, 1)), spread[:, :-1]], axis=1)) / count
        bets = np.minimum(np.sqrt(-2 * math.log(alpha) / rows.shape[1] / before), CAP / m)
        capital = np.cumsum(np.log1p(bets * (numbers - m)), axis=1).max(axis=1)
        found[places] = capital >= -math.log(alpha)
    return found


def passes(
    rows: Floats, margin: float, rule: Rule = NEW, columns: Columns | None = None, *, alpha: float = PASS_ALPHA
) -> Mask:
    """Return whether the gate passes each row at level ``alpha``; one of zeros counts as of lists that differ."""
    columns = columns or Columns.of(rows)
    by_t = columns.trusted(alpha, rule)
    found = by_t & columns.t_refutes(-margin, alpha)
    found[~by_t] = betting_refutes(rows[~by_t], -margin, alpha)
    return found


def fails(rows: Floats, alpha: float, rule: Rule = NEW, columns: Columns | None = None, *, below: float = 0.0) -> Mask:
    """Return whether the gate fails each row at a margin of 0, as a wider one passes some; ``below``: of a slice."""
    turned = -rows
    columns = columns.mirrored if columns else Columns.of(turned)
    found = columns.t_refutes(below, alpha) | ~columns.varies
    both = np.flatnonzero(found & ~columns.trusted(alpha, rule))
    found[both] = betting_refutes(turned[both], below, alpha)
    return found


def suite_fails(rows: Floats, n_datasets: int, alpha: float, margin: float, rule: Rule = NEW) -> Mask:
    """Return whether some dataset of a suite fails at a margin of its own; as many rows after one another are a suite.

    Holm's method begins with the one that stands lowest: where that does not fail none does.
    """
    columns = Columns.of(rows)
    standing = np.divide(columns.mean + margin, columns.sd, out=np.full(len(rows), np.inf), where=columns.sd > 0)
    lowest = standing.reshape(-1, n_datasets).argmin(axis=1) + n_datasets * np.arange(len(rows) // n_datasets)
    return fails(rows[lowest], alpha / n_datasets, rule, below=margin)


VARIANTS: dict[str, Variant] = {
    "as it is": Variant(),
    "mirrored": Variant(is_mirrored=True),
    "noisy": Variant(noise=NOISE),
    "mirrored, noisy": Variant(is_mirrored=True, noise=NOISE),
}


def drawn(
    null: Null, n: int, samples: int, mean: float = 0.0, of: Variant = PLAIN, *, seed: int = 0
) -> Iterator[Floats]:
    """Return samples of n differences in batches; the same arguments draw the same ones."""
    rng = np.random.default_rng([n, of.is_mirrored, of.noise > 0, mean < 0, seed])
    left = samples
    while left:
        size = min(left, max(1, _NUMBERS // n))
        yield null.samples(rng, (size, n), mean=mean, is_mirrored=of.is_mirrored, noise=of.noise)
        left -= size


def false_passes(null: Null, n: int, samples: int, of: Variant = PLAIN, rule: Rule = NEW) -> float:
    """Return the share of PASSes where the drop is the margin."""
    batches = drawn(null, n, samples, -MARGIN, of)
    return sum(int(passes(rows, MARGIN, rule).sum()) for rows in batches) / samples


def false_fails(
    null: Null, n: int, samples: int, of: Variant = PLAIN, rule: Rule = NEW, alphas: Sequence[float] = FAIL_ALPHAS
) -> list[float]:
    """Return the share of FAILs at each level where nothing differs on average, at a margin of 0."""
    found = np.zeros(len(alphas))
    for rows in drawn(null, n, samples, 0.0, of):
        columns = Columns.of(rows)
        found += [fails(rows, alpha, rule, columns).sum() for alpha in alphas]
    return [float(rate) for rate in found / samples]


@dataclass(frozen=True)
class Verdicts:
    """Shares of all samples of mean 0.

    ``wrong``: in which ``compare`` finds a difference and raises no flag. ``by_count``: the same if only the count of
    nonzero differences raised one. ``few``: flagged by that count. ``skewed``: flagged by skewness alone.
    """

    wrong: float
    by_count: float
    few: float
    skewed: float


def verdicts(null: Null, n: int, samples: int, of: Variant = PLAIN) -> Verdicts:
    """Return what ``compare`` says where nothing differs on average; a mirror image has the same."""
    counts = np.zeros(4)
    for rows in drawn(null, n, samples, 0.0, of):
        columns = Columns.of(rows)
        found = columns.t_refutes(0.0, 0.025) | columns.mirrored.t_refutes(0.0, 0.025)
        few, low = columns.are_few, columns.is_low
        counts += [float(mask.sum()) for mask in (found & ~low, found & ~few, few, low & ~few)]
    return Verdicts(*(counts / samples).tolist())

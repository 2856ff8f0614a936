"""Labels that people gave to a drawn sample, on top of those that a judge gave to all: a difference that stays true.

The difference of a group is linear in the gains of its items, sum of w_i * gain_i, with weights that do not depend on
what people say (``metrics.contributions.items_apart``). With f the gain that is expected from the judge's grade,

    delta_g = sum_i w_i f_i + sum over drawn i of (w_i / p_i) * (gain_i - f_i)

is unbiased for every judge and every f that does not depend on the group's own answers, where each item was drawn
independently with probability p_i. So the paired t-test over groups applies to it. Source: Horvitz and Thompson,
JASA 47, 1952; Angelopoulos et al., "Prediction-powered inference", Science 382, 2023.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np

from ndcg_tracker.rankings import Floats, Index

_FOLDS = 10
_PSEUDO_LABELS = 2.0
_BITS = 53


def permanent_numbers(seed: str, pairs: Iterable[tuple[bytes, bytes]]) -> Floats:
    """Return the number of each (group, item), in [0, 1), uniform and for good: a keyed hash of seed and ids.

    An item is drawn where its number is below its probability, so that a larger budget contains a smaller one.
    Parameters: ``seed``: any text. ``pairs``: the ids of group and item. Returns: float64, shape (n,).

    >>> permanent_numbers("a", [(b"q", b"x"), (b"q", b"y")]).round(4).tolist()
    [0.3716, 0.0699]
    """
    key = blake2b(seed.encode("utf-8", "surrogatepass")).digest()
    bits = [
        int.from_bytes(blake2b(len(group).to_bytes(8, "big") + group + item, digest_size=8, key=key).digest(), "big")
        for group, item in pairs
    ]
    return np.array([number >> (64 - _BITS) for number in bits], dtype=np.float64) / 2.0**_BITS


def inclusion_probabilities(weights: Floats, budget: float) -> Floats:
    """Return with which probability to draw each item: in proportion to the size of its weight, 1 at most.

    They sum to the budget, or are all 1 where it is at least their number, and grow with it. Parameters: ``weights``:
    float64, shape (n,), finite, not 0. ``budget``: > 0. Returns: float64, shape (n,), in (0, 1].

    >>> inclusion_probabilities(np.array([1.0, -2.0, 5.0]), 2.0).round(4).tolist()
    [0.3333, 0.6667, 1.0]
    """
    sizes = np.abs(weights)
    if budget >= sizes.size:
        return np.ones(sizes.size)
    ordered = np.sort(sizes)[::-1]
    rest = np.cumsum(ordered[::-1])[::-1]  # of the sizes from each place on
    factors = (budget - np.arange(sizes.size)) / rest  # with so many of the largest drawn for sure
    n_sure = int(np.argmax(factors * ordered <= 1.0))
    return np.asarray(np.minimum(factors[n_sure] * sizes, 1.0))


@dataclass(frozen=True)
class DrawnLabels:
    """The items of a metric's difference, a judge's grades of all of them, and what people said of the drawn ones.

    ``n_groups``: how many groups count, also those without an item here. ``groups``: int64, shape (n,), the place of
    each item's group. ``weights``: float64, shape (n,). ``levels``: int64, shape (n,), the number of the judge's grade
    of each item, one of them for items without a grade. ``judged_gains``: float64, shape (n_levels,), what an item of
    each of these gains. ``rows``: int64, shape (m,), the drawn items; ``gains``: float64, shape (m,), what people's
    grades of them gain; ``probabilities``: float64, shape (m,), in (0, 1], with which they were drawn.
    """

    n_groups: int
    groups: Index
    weights: Floats
    levels: Index
    judged_gains: Floats
    rows: Index
    gains: Floats
    probabilities: Floats

    @property
    def informative(self) -> Index:
        """How many drawn items of each group gain something else than by the judge: int64, shape (n_groups,)."""
        differs = self.gains != self.judged_gains[self.levels[self.rows]]
        return np.bincount(self.groups[self.rows[differs]], minlength=self.n_groups)

    def judged_deltas(self) -> Floats:
        """Return the difference of each group as the judge has it: float64, shape (n_groups,)."""
        return self._summed(self.groups, self.weights * self.judged_gains[self.levels])

    def corrected_deltas(self) -> Floats:
        """Return the difference of each group by the judge's grades and what people said: float64, shape (n_groups,).

        The gain that is expected from a grade of the judge is the mean that people gave at it in the other folds of
        groups, each drawn item weighing 1 / p, with two labels more at the judge's own gain.
        """
        expected = self._expected()
        of_drawn = self._summed(self.groups[self.rows], self._residuals(expected))
        return self._summed(self.groups, self.weights * expected) + of_drawn

    def drawn_variances(self) -> Floats:
        """Return the part of each group's variance that comes from the draw: float64, shape (n_groups,).

        It is estimated by the sum over drawn items of (1 - p) (w (gain - f) / p)^2, and falls with the budget; the rest
        of the variance, that of the groups, does not.
        """
        squares = (1 - self.probabilities) * self._residuals(self._expected()) ** 2
        return self._summed(self.groups[self.rows], squares)

    def by_people_alone(self) -> DrawnLabels:
        """Return the same sample without the judge: the mean gain that people gave is expected, whatever it said."""
        return replace(self, levels=np.zeros_like(self.levels), judged_gains=np.zeros(1))

    def _residuals(self, expected: Floats) -> Floats:
        return self.weights[self.rows] / self.probabilities * (self.gains - expected[self.rows])

    def _expected(self) -> Floats:
        n_folds, n_levels = min(_FOLDS, self.n_groups), self.judged_gains.size
        folds = self.groups % max(n_folds, 1)
        counts, worth = 1.0 / self.probabilities, self.gains / self.probabilities
        cells = self.levels[self.rows] * n_folds + folds[self.rows]

        def outside(numbers: Floats) -> Floats:
            by_cell = np.bincount(cells, numbers, n_levels * n_folds).reshape(n_levels, n_folds)
            return np.asarray(by_cell.sum(axis=1, keepdims=True) - by_cell)

        n_outside, weight, total = outside(np.ones(counts.size)), outside(counts), outside(worth)
        usual = weight.sum(axis=0) / np.maximum(n_outside.sum(axis=0), 1.0)  # the weight of one label, in each fold
        pseudo = _PSEUDO_LABELS * np.where(usual > 0, usual, 1.0)
        expected = (total + pseudo * self.judged_gains[:, None]) / (weight + pseudo)
        return np.asarray(expected[self.levels, folds])

    def _summed(self, groups: Index, numbers: Floats) -> Floats:
        return np.asarray(np.bincount(groups, numbers, self.n_groups), dtype=np.float64)

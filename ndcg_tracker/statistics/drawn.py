"""Correct a judge's difference between two runs, without bias, by the labels that people gave to a drawn sample.

The difference of a group is linear in the gains of its items, sum of w_i * gain_i, with weights that do not depend on
people's answers (``metrics.contributions.items_apart``). With f the gain that is expected from the judge's grade,

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
_LEAST_SPREAD = 0.25
_BITS = 53


def permanent_numbers(seed: str, pairs: Iterable[tuple[bytes, bytes]]) -> Floats:
    """Return the permanent number of each (group, item), uniform in [0, 1): a keyed hash of seed and ids.

    An item is drawn if its number is below its probability, so the sample of a larger budget contains a smaller one.
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
    """Return the probability to draw each item: in proportion to the size of its weight, 1 at most.

    The probabilities sum to the budget and grow with it; all are 1 if the budget is at least the number of items.
    Parameters: ``weights``: float64, shape (n,), finite, not 0. ``budget``: > 0. Returns: float64, shape (n,), in (0,
    1].

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


def permanent_folds(groups: Iterable[bytes]) -> Index:
    """Return the permanent fold of each group, a hash of its id: int64, shape (n,), from 0 to 9.

    >>> permanent_folds([b"q1", b"q2", b"q3"]).tolist()
    [6, 4, 5]
    """
    return np.array(
        [int.from_bytes(blake2b(group, digest_size=8).digest(), "big") % _FOLDS for group in groups], dtype=np.int64
    )


def spread_of_gains(folds: Index, levels: Index, gains: Floats, n_levels: int) -> Floats:
    """Return how far the gains that people gave at each grade of a judge spread, in all folds but one.

    It is the standard deviation at a grade, with two labels more of the variance within grades, and at least a quarter
    of its mean over the answers, so that no drawn item weighs too much. The answers count equally, however they were
    drawn: within a grade, people's answers have little to do with the weight of an item. And earlier answers stay the
    same, while probabilities grow with further looks. Parameters: of each answer ``folds``, int64, shape (n,), of its
    group; ``levels``, int64, shape (n,), the number of the judge's grade; ``gains``, float64, shape (n,). Returns:
    float64, shape (n_levels, 10), by fold, above 0: 1 where nothing spreads.

    >>> spread = spread_of_gains(np.arange(4), np.array([0, 0, 1, 1]), np.array([0.0, 0.0, 1.0, 3.0]), 2)
    >>> spread[:, 9].round(4).tolist()
    [0.5, 0.866]
    """
    unit = np.frexp(np.abs(gains).max(initial=0.0))[1]
    gains = np.ldexp(gains, -unit)  # exact, and no square is infinite
    cells = levels * _FOLDS + folds
    counts, sums, squares = (
        _outside(cells, numbers, n_levels, _FOLDS) for numbers in (np.ones(gains.size), gains, gains**2)
    )
    deviations = np.maximum(squares - sums**2 / np.maximum(counts, 1.0), 0.0)
    n_outside = np.maximum(counts.sum(axis=0), 1.0)
    pooled = deviations.sum(axis=0) / n_outside
    spread = np.sqrt((deviations + _PSEUDO_LABELS * pooled) / (counts + _PSEUDO_LABELS))
    spread = np.maximum(spread, _LEAST_SPREAD * (spread * counts).sum(axis=0) / n_outside)
    return np.where(spread > 0, np.ldexp(spread, unit), 1.0)


def probabilities_by_spread(weights: Floats, budget: float, folds: Index, spread: Floats) -> Floats:
    """Return the probability to draw each item: within a fold, by the size of its weight times its spread.

    Each fold gets the part of the budget that the weights alone give it, so that its probabilities do not depend on its
    own answers if its spread does not (``spread_of_gains``). So a difference that is corrected by drawn items stays
    unbiased, even if the same permanent numbers drew older answers, as long as the probabilities of those answers did
    not depend on answers. The probabilities sum to the budget and grow with it. Parameters: ``weights``, ``budget``:
    see ``inclusion_probabilities``. ``folds``: int64, shape (n,). ``spread``: float64, shape (n,), above 0. Returns:
    float64, shape (n,), in (0, 1].

    >>> one_fold, spread = np.zeros(3, dtype=np.int64), np.array([1.0, 1.0, 2.0])
    >>> probabilities_by_spread(np.array([1.0, -2.0, 1.0]), 1.0, one_fold, spread).round(4).tolist()
    [0.2, 0.4, 0.4]
    """
    probabilities = inclusion_probabilities(weights, budget)
    sizes = np.abs(weights) * spread
    for fold in np.unique(folds):
        rows = np.flatnonzero(folds == fold)
        probabilities[rows] = inclusion_probabilities(sizes[rows], probabilities[rows].sum())
    return probabilities


def _outside(cells: Index, numbers: Floats, n_levels: int, n_folds: int) -> Floats:
    """Return the sums of numbers by level over all folds but one: shape (n_levels, n_folds)."""
    by_cell = np.bincount(cells, numbers, n_levels * n_folds).reshape(n_levels, n_folds)
    return np.asarray(by_cell @ (1.0 - np.eye(n_folds)))


@dataclass(frozen=True)
class DrawnLabels:
    """The items of a metric's difference, a judge's grades of all of them, and people's grades of the drawn ones.

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
        """How many drawn items of each group have another gain than by the judge: int64, shape (n_groups,)."""
        differs = self.gains != self.judged_gains[self.levels[self.rows]]
        return np.bincount(self.groups[self.rows[differs]], minlength=self.n_groups)

    def judged_deltas(self) -> Floats:
        """Return the difference of each group by the judge's grades: float64, shape (n_groups,)."""
        return self._summed(self.groups, self.weights * self.judged_gains[self.levels])

    def corrected_deltas(self) -> Floats:
        """Return the difference of each group by the judge's and people's grades: float64, shape (n_groups,).

        The expected gain of a judge's grade is the mean gain of people's grades for it in the other folds of groups.
        Each drawn item has weight 1 / p, and two further labels have the judge's own gain.
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
        """Return the same sample without the judge: the expected gain is people's mean gain at all grades."""
        return replace(self, levels=np.zeros_like(self.levels), judged_gains=np.zeros(1))

    def _residuals(self, expected: Floats) -> Floats:
        return self.weights[self.rows] / self.probabilities * (self.gains - expected[self.rows])

    def _expected(self) -> Floats:
        n_folds, n_levels = min(_FOLDS, self.n_groups), self.judged_gains.size
        folds = self.groups % max(n_folds, 1)
        counts, worth = 1.0 / self.probabilities, self.gains / self.probabilities
        cells = self.levels[self.rows] * n_folds + folds[self.rows]

        n_outside, weight, total = (
            _outside(cells, numbers, n_levels, n_folds) for numbers in (np.ones(counts.size), counts, worth)
        )
        usual = weight.sum(axis=0) / np.maximum(n_outside.sum(axis=0), 1.0)  # the weight of one label, in each fold
        pseudo = _PSEUDO_LABELS * np.where(usual > 0, usual, 1.0)
        expected = (total + pseudo * self.judged_gains[:, None]) / (weight + pseudo)
        return np.asarray(expected[self.levels, folds])

    def _summed(self, groups: Index, numbers: Floats) -> Floats:
        return np.asarray(np.bincount(groups, numbers, self.n_groups), dtype=np.float64)

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
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.t_test import TTest, paired_t

FEW_INFORMATIVE = 25
"""With fewer drawn items whose gain is another one than the judge's, the t-test says too little."""
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
    def n_informative(self) -> int:
        """How many of the drawn items gain something else than the judge's grade does."""
        return int((self.gains != self.judged_gains[self.levels[self.rows]]).sum())

    def judged_deltas(self) -> Floats:
        """Return the difference of each group as the judge has it: float64, shape (n_groups,)."""
        return self._summed(self.groups, self.weights * self.judged_gains[self.levels])

    def corrected_deltas(self) -> Floats:
        """Return the difference of each group by the judge's grades and what people said: float64, shape (n_groups,).

        The gain that is expected from a grade of the judge is the mean that people gave at it in the other folds of
        groups, each drawn item weighing 1 / p, with two labels more at the judge's own gain.
        """
        expected = self._expected()
        drawn = self.rows
        residuals = self.weights[drawn] / self.probabilities * (self.gains - expected[drawn])
        return self._summed(self.groups, self.weights * expected) + self._summed(self.groups[drawn], residuals)

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


@dataclass(frozen=True, slots=True)
class CheckedDelta:
    """The mean difference by a judge alone, and corrected by what people said of drawn items.

    ``favour``: by how much the judge favours the candidate: its difference minus the corrected one, group by group.
    ``n_drawn``: how many items people graded; ``n_informative``: how many of these gain something else than by the
    judge.
    """

    judged: TTest
    corrected: TTest
    favour: TTest
    n_drawn: int
    n_informative: int

    @property
    def has_low_information(self) -> bool:
        """Whether the test rests on few informative labels."""
        return self.n_informative < FEW_INFORMATIVE


def checked_delta(labels: DrawnLabels) -> CheckedDelta:
    """Return the mean difference by the judge alone and corrected, with the t-tests over groups.

    >>> two = np.array([0, 1])
    >>> one = np.ones(2)
    >>> found = checked_delta(DrawnLabels(2, two, one, two, np.array([1.0, 0.0]), two, np.array([0.0, 0.5]), one))
    >>> found.judged.mean, found.corrected.mean, found.favour.mean, found.n_informative
    (0.5, 0.25, 0.25, 2)
    """
    judged, corrected = labels.judged_deltas(), labels.corrected_deltas()
    tests = (paired_t(judged), paired_t(corrected), paired_t(judged - corrected))
    return CheckedDelta(*tests, labels.rows.size, labels.n_informative)

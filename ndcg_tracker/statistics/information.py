"""When the differences hold too little information to trust a t-test: one rule for two sides, one for one side."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats

FEW_DIFFERENCES = 25
"""Fewer nonzero differences are low information for a two-sided t-test at 5%."""
FEW_FOR_ONE_SIDE = 100
MUCH_SKEWNESS = 0.1


def skewness(values: Floats) -> float:
    """Return the skewness of a sample: its third central moment over the second to the power 3/2, 0 if all are equal.

    >>> round(skewness(np.array([0.0, 0.0, 0.0, 4.0])), 6)
    1.154701
    """
    centred = values - values.mean() if values.size else values
    square = centred * centred
    variance = float(square.mean()) if values.size else 0.0
    scale = variance**1.5
    return float((square * centred).mean()) / scale if scale else 0.0


@dataclass(frozen=True, slots=True)
class Information:
    """The information in the differences of ``n`` groups, or clusters of them: how many are nonzero, their skewness.

    ``of_strata``: whether it is that of ``stratified.strata_information``.
    """

    n: int
    n_nonzero: int
    skewness: float
    of_clusters: bool = False
    of_strata: bool = False

    @property
    def is_low(self) -> bool:
        """Whether a two-sided t-test may err too often: fewer than 25 differences are nonzero, though some are.

        Their number alone decides: a sample of a skewed population is most dangerous where it looks harmless, for it
        lacks the rare large losses (``tests/compare/test_error_rates.py``).
        """
        return 0 < self.n_nonzero < FEW_DIFFERENCES

    @property
    def are_few_for_one_side(self) -> bool:
        """Whether fewer than 100 differences are nonzero, though some are."""
        return 0 < self.n_nonzero < FEW_FOR_ONE_SIDE

    @property
    def is_low_for_one_side(self) -> bool:
        """Whether a one-sided bound, or a far tail of t, may err too often.

        Fewer than 100 nonzero, or |skewness| / sqrt(n) above 0.1: on one side skewness does not cancel.
        """
        is_skewed = self.n_nonzero > 0 and abs(self.skewness) / math.sqrt(self.n) > MUCH_SKEWNESS
        return self.are_few_for_one_side or is_skewed

    @property
    def groups_for_one_side(self) -> int:
        """How many groups would be enough for one side, if further ones are like these; 0 if nothing differs."""
        if not self.n_nonzero:
            return 0
        by_count = math.ceil(FEW_FOR_ONE_SIDE * self.n / self.n_nonzero)
        return max(by_count, math.ceil((self.skewness / MUCH_SKEWNESS) ** 2))


def information_in(delta: Floats, weights: Floats | None = None) -> Information:
    """Return the information in the differences.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), >= 0: groups of weight 0 do
    not count, and the skewness is that of w (d - mean), how far each group pulls the mean. Returns: the counts, and
    the skewness, 0 where all differences are equal.

    >>> found = information_in(np.repeat([0.25, 0.0], [60, 240]))
    >>> found.is_low, found.is_low_for_one_side, found.n_nonzero, found.groups_for_one_side
    (False, True, 60, 500)
    """
    if weights is None:
        return Information(delta.size, int(np.count_nonzero(delta)), skewness(delta))
    delta, weights = delta[weights > 0], weights[weights > 0]
    mean = float((weights * delta).sum() / weights.sum()) if delta.size else 0.0
    return Information(delta.size, int(np.count_nonzero(delta)), skewness(weights * (delta - mean)))

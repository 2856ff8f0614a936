"""What is left of differences when only their sums are kept: mergeable, and enough for a t interval."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.t_test import TTest, finite, t_test


@dataclass(frozen=True, slots=True)
class Summary:
    """The sums of some numbers, such as paired differences of groups.

    ``n``: how many. ``mean``: 0 where there is none. ``m2``: the sum of their squared distances from the mean; never
    the sum of squares, from which nearly equal numbers leave no digit. ``wins`` and ``losses``: how many are above and
    below 0.
    """

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0
    wins: int = 0
    losses: int = 0

    @classmethod
    def of(cls, numbers: Floats) -> Summary:
        """Return the summary of some numbers: float64, shape (n,). Raises: ValueError for a NaN or an infinity.

        >>> Summary.of(np.array([0.5, 0.0, -0.25, 0.75]))
        Summary(n=4, mean=0.25, m2=0.625, wins=2, losses=1)
        """
        values = finite(numbers)
        if not values.size:
            return cls()
        mean = math.fsum(values) / values.size
        m2 = math.fsum(np.square(values - mean))
        return cls(values.size, mean, m2, int((values > 0).sum()), int((values < 0).sum()))

    @classmethod
    def merged(cls, parts: Iterable[Summary]) -> Summary:
        """Return the summary of all the numbers of several summaries, each in one of them.

        Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
        COMPSTAT 1982.

        >>> Summary.merged([Summary.of(np.array([0.5, 0.0])), Summary.of(np.array([-0.25, 0.75]))])
        Summary(n=4, mean=0.25, m2=0.625, wins=2, losses=1)
        """
        found = [part for part in parts if part.n]
        n = sum(part.n for part in found)
        if not n:
            return cls()
        mean = math.fsum(part.n * part.mean for part in found) / n
        m2 = math.fsum(part.m2 + part.n * (part.mean - mean) ** 2 for part in found)
        return cls(n, mean, m2, sum(part.wins for part in found), sum(part.losses for part in found))

    @property
    def n_nonzero(self) -> int:
        """How many are not 0."""
        return self.wins + self.losses

    @property
    def ties(self) -> int:
        """How many are 0."""
        return self.n - self.n_nonzero

    def test(self, *, level: float = 0.95) -> TTest:
        """Return the t-test of the mean with its interval: ``paired_t`` of the numbers, but for the last digits.

        >>> test = Summary.of(np.array([0.0, 0.25, 0.5, -0.25])).test()
        >>> test.mean, round(test.p_value, 6)
        (0.125, 0.495025)
        """
        if self.n < 2:
            return TTest(self.n, self.mean if self.n else None, None)
        return t_test(self.n, self.mean, math.sqrt(self.m2 / (self.n - 1)), level=level)

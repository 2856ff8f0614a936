"""How many groups would decide, if further ones are like those at hand, and what a number of groups can promise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.distribution_free import CAP, condensed, settled
from ndcg_tracker.statistics.small_sets import Spread
from ndcg_tracker.statistics.t_distribution import quantile
from ndcg_tracker.statistics.t_test import Information, information_in

if TYPE_CHECKING:
    from ndcg_tracker.statistics.repeats import RunVariance

POWER = 0.8
"""The chance with which what is planned comes true: 4 times in 5."""
MOST = 10**9
_STRETCHES = 16
_ROOT_2, _LOG_ROOT_2_PI = math.sqrt(2), math.log(2 * math.pi) / 2
_FAR = 30.0  # beyond, the normal tail is too small for a float
_LEAST = 1e-10


@dataclass(frozen=True, eq=False)
class Pilot:
    """What some groups show of further ones: how their differences scatter, whatever their mean.

    ``numbers``: their distinct differences from the mean, or the means of bins; ``counts``: how many each stands for.
    ``information``: in all of them. ``reach``: how far from 0 a difference may lie, infinity if no bet is possible.
    ``runs``: how repeats vary, which more groups do not change, each with the number of runs that share it. ``size``:
    how many groups each difference is of.
    """

    numbers: Floats
    counts: NDArray[np.int64]
    information: Information
    reach: float = 1.0
    runs: Sequence[tuple[float, RunVariance]] = ()
    size: float = 1.0

    @classmethod
    def of(
        cls,
        delta: Floats,
        weights: Floats | None = None,
        *,
        reach: float = 1.0,
        information: Information | None = None,
        runs: Sequence[tuple[float, RunVariance]] = (),
        size: float = 1.0,
    ) -> Pilot:
        """Return what differences show.

        Parameters: ``delta``: float64, shape (n,), n > 0, finite. ``weights``: float64, shape (n,), > 0: a difference
        counts as many times its share of the mean weight. ``information``: by default that in ``delta``. The
        others: see ``Pilot``.
        """
        moves = delta - np.average(delta, weights=weights)
        if weights is not None:
            moves, reach = moves * weights / weights.mean(), reach * float(weights.max() / weights.mean())
        of = condensed(np.sort(settled(moves)))
        return cls(of.values, of.counts, information or information_in(delta, weights), reach, runs, size)

    @classmethod
    def typical(cls, spread: Spread) -> Pilot:
        """Return a pilot of 10,000 groups with the spread of ``small_sets.typical``: -a, 0 and a, where a^2 = tail."""
        n, size = round(5000 * spread.square / spread.tail), math.sqrt(spread.tail)
        counts = np.array([n, 10_000 - 2 * n, n])
        return cls(np.array([-size, 0.0, size]), counts, Information(10_000, round(10_000 * spread.differ), 0.0))

    @property
    def turned(self) -> Pilot:
        """The same where the other side is better."""
        skewness = -self.information.skewness
        return replace(self, numbers=-self.numbers, information=replace(self.information, skewness=skewness))

    @property
    def sd(self) -> float:
        """The standard deviation of the differences."""
        n = int(self.counts.sum())
        return math.sqrt(float(self.counts @ np.square(self.numbers)) / max(n - 1, 1))

    @property
    def off_by(self) -> float:
        """By which factor the variance, and so the number of groups, is off in a tenth of samples, or by its inverse.

        exp(1.28 sqrt((kurtosis - 1) / n)), from the variance of a variance. Source: Wilks, "Mathematical statistics",
        1962, section 8.2; the range holds the truth in .84 or more of pilots of 40 (tests/questions/plan).
        """
        n, square = float(self.counts.sum()), np.square(self.numbers)
        mean = float(self.counts @ square) / n
        kurtosis = float(self.counts @ np.square(square)) / n / mean**2 if mean else 1.0
        return math.exp(1.2816 * math.sqrt(max(kurtosis - 1, 0.0) / n))

    def share_found(self, n: float, distance: float, alpha: float = 0.05) -> float:
        """Return in which share of samples of n groups the lower bound of the mean is less than a distance below it.

        ``distance``: from the true mean, > 0. ``alpha``: the level of the bound, which is that of t where information
        is enough for it (``Information.is_low_at``), else the betting bound. By t, it is P(T > t) of noncentral t. By
        betting, the log of the capital is a sum of n small numbers that moves as a Brownian motion with their mean and
        variance; the share is the chance that it ever reaches log(1 / alpha). Sources: Johnson and Welch, Biometrika
        31, 1940 (noncentral t); Siegmund, "Sequential analysis", 1985, chapter 3; as of ``betting_lower_bound``. Both
        lie within .05 of simulation (tests/statistics/test_planned.py).
        """
        sd, n = self.sd, n / self.size
        if sd and n > 1 and n >= self.information.groups_for(alpha):
            error, df = self._error(n)
            t = quantile(1 - alpha, df)
            off = distance / error - t * (1 - 0.25 / df)
            return 1 - math.exp(_log_tail(off / math.sqrt(1 + t * t / (2 * df))))
        if not math.isfinite(self.reach):
            return 0.0
        for of, runs in self.runs:
            beyond = quantile(1 - alpha, runs.n_runs - 1.0) ** 2 * runs.component / of
            distance = math.sqrt(max(distance**2 - beyond, 0.0))
        if distance >= self.reach:
            return 1.0
        halves, mean, level = self.numbers / self.reach / 2, 0.5 - distance / self.reach / 2, -math.log(alpha)
        shares = self.counts / self.counts.sum()
        places = (np.arange(_STRETCHES) + 0.5) * n / _STRETCHES + 0.5
        variances = (0.25 + (places - 1) * float(shares @ np.square(halves))) / places
        bets = np.minimum(np.sqrt(2 * level / n / variances), CAP / max(mean, _LEAST))
        logs = np.log1p(np.outer(bets, np.maximum(halves + 0.5 - mean, -mean)))
        means = logs @ shares
        drift, spread = (
            n * float(means.mean()),
            math.sqrt(n * float((np.square(logs - means[:, None]) @ shares).mean())),
        )
        spread = max(spread, _LEAST)
        earlier = 2 * drift * level / spread**2 + _log_tail((level + drift) / spread)
        return min(1.0, math.exp(_log_tail((level - drift) / spread)) + math.exp(min(0.0, earlier)))

    def _error(self, n: float) -> tuple[float, float]:
        """Return the standard error of the mean of n differences, and its degrees of freedom."""
        if not self.runs:
            return self.sd / math.sqrt(n), n - 1.0
        from ndcg_tracker.statistics.repeats import variance_of_more

        at_hand = int(self.counts.sum())
        variance, df = variance_of_more(self.sd**2 / at_hand, at_hand, self.runs, n / at_hand)
        return math.sqrt(variance), df

    def groups_for(self, distance: float, alpha: float = 0.05, *, power: float = POWER) -> int | None:
        """Return how many groups are enough for ``share_found`` to be ``power``, None if a billion are not.

        >>> Pilot.of(np.tile([0.25, -0.25, 0.0, 0.0], 100)).groups_for(0.02), Pilot.of(np.zeros(9)).groups_for(0.02)
        (486, 172)
        """
        if distance <= 0 or self.share_found(MOST, distance, alpha) < power:
            return None
        return _first(lambda n: self.share_found(n, distance, alpha) >= power)

    def promised(self, n: int, alpha: float = 0.05, *, power: float = POWER) -> float:
        """Return the smallest margin, to .0001, that n groups keep with this power if both runs are equally good.

        >>> Pilot.of(np.tile([0.25, -0.25, 0.0, 0.0], 100)).promised(486)
        0.02
        """
        steps = 10_000
        return _first(lambda step: step >= steps or self.share_found(n, step / steps, alpha) >= power) / steps


def _first(is_enough: Callable[[int], bool]) -> int:
    """Return the smallest number from 1 on that is enough, as are all above it."""
    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _log_tail(z: float) -> float:
    """Return the log of the chance that a normal number is above z."""
    return math.log(math.erfc(z / _ROOT_2) / 2) if z < _FAR else -z * z / 2 - math.log(z) - _LOG_ROOT_2_PI

"""The mean difference of all queries, from the exact differences of whole queries that were drawn at random.

People label what is open in the first queries of one permanent random order. So the difference of such a query is
exact, for any metric. The others are estimated from these, by a control that needs nobody: the difference by the labels
of a judge, or with each unjudged item at what such items are usually worth. No judge can turn the estimate, because the
drawn queries say how far the control errs. Source: the regression estimator of survey sampling, Cochran, "Sampling
Techniques", 1977, 7.1, with one further query on the unfavourable side, for losses too rare to be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b

import numpy as np

from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.statistics.t_distribution import lower_tail, quantile
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, finite

LEAST_DRAWN = 30
"""From so many answered queries on a verdict is given, or when all that are open are answered."""
LEAST_APART = 5
"""Success@k, which is 0 or 1, needs so many drawn queries in which both runs differ."""
MOST_LEFT_OUT = 1 / 8
"""If more of the drawn queries are not fully answered, those left out may be the ones that differ."""
LEVELS_OF_LOOKS = (0.04, 0.005, 0.0025, 0.0025)
"""The level of the lower bound at each decision about one pair and metric; the upper bound has a fifth of it."""

_PSEUDO_QUERIES = 5  # in which the control is taken to be right, added to the drawn ones
_LARGEST_WEIGHT = 1.2
_AT_STAKE = 2.5  # of the queries that each drawn one stands for, so many may lose all without being seen
_PSEUDO_ITEMS = 2
_ROUNDING = 1e-12  # as in t_test: a spread below this share of the mean is the rounding of subtractions


def draw_order(seed: str, groups: Sequence[bytes]) -> Index:
    """Return the places of queries in their permanent random order: by a keyed hash of their ids.

    Two queries keep their order whatever other queries there are. So a larger sample contains a smaller one, and a
    query that is labelled for one pair of runs is labelled for all. Parameters: ``seed``: any text. ``groups``: the
    ids, all different. Returns: int64, shape (n,).

    >>> draw_order("a", [b"q1", b"q2", b"q3", b"q4"]).tolist()
    [0, 3, 2, 1]
    """
    key = blake2b(seed.encode("utf-8", "surrogatepass")).digest()
    numbers = [(blake2b(group, digest_size=16, key=key).digest(), group) for group in groups]
    return np.array(sorted(range(len(numbers)), key=numbers.__getitem__), dtype=np.int64)


def worth_of_holes(queries: Index, ranks: tuple[Index, Index], gains: Floats) -> Floats:
    """Return the gains of the items in the first ranks of two runs, with what an unjudged item may be worth.

    It is half the mean gain of the judged items at its rank (the mean of both runs', if both have it). This is scaled
    by what the judged items of its query gain over what their ranks let expect, with two items of the usual gain. It is
    a guess that costs nobody a label: how far it errs is what drawn queries tell. Parameters: ``queries``: int64, shape
    (n,), the number of each item's query. ``ranks``: of each item in both runs, from 1, 0 where it is not in the first
    ranks. ``gains``: float64, shape (n,), NaN for an unjudged item. Returns: float64, shape (n,).

    >>> ranks = np.array([1, 2, 1, 2]), np.array([2, 1, 1, 2])
    >>> worth_of_holes(np.array([0, 0, 1, 1]), ranks, np.array([3.0, 1.0, 3.0, np.nan])).round(4).tolist()
    [3.0, 1.0, 3.0, 1.0714]
    """
    judged, n_ranks = ~np.isnan(gains), 1 + max(int(of_run.max(initial=0)) for of_run in ranks)
    got, usual = np.where(judged, gains, 0.0), np.zeros(gains.size)
    for of_run in ranks:
        counts, sums = np.bincount(of_run[judged], minlength=n_ranks), np.bincount(of_run, got, n_ranks)
        usual += np.where(of_run > 0, (sums / np.maximum(counts, 1))[of_run], 0.0)
    usual /= np.maximum((ranks[0] > 0) * 1 + (ranks[1] > 0), 1)
    pseudo = _PSEUDO_ITEMS * _mean(usual)
    if not pseudo > 0:
        return got
    gained, expected = np.bincount(queries, got) + pseudo, np.bincount(queries, usual * judged) + pseudo
    return np.where(judged, gains, usual * (gained / expected)[queries] / 2)


def without_asking(
    values: Callable[[Floats], tuple[Floats, Floats]], guess: Floats, is_open: Mask, lead: Floats, greatest: float
) -> tuple[Floats, Floats, Floats]:
    """Return of each query the difference B minus A without asking, A's value, and what open items could cost B.

    The cost is how far the difference falls if each open item that helps A has the greatest gain, and each that helps B
    has none; at least 0. Parameters: ``values``: returns the values of A and of B in each query, from the gains (or
    grades) of the items. ``guess``: float64, shape (n,), of the items without asking. ``is_open``: whether people are
    asked about them. ``lead``: float64, shape (n,), above 0 where B ranks the item higher, below 0 where A does.
    Returns: float64, one for each query.

    >>> def values(gains):  # one query, whose first item A ranks first, and whose second B
    ...     return gains[:1], gains[1:]
    >>> without_asking(values, np.array([1.0, 2.0]), np.ones(2, bool), np.array([-1.0, 1.0]), 3.0)
    (array([1.]), array([1.]), array([4.]))
    """
    a, b = values(guess)
    worst_a, worst_b = values(np.where(is_open & (lead < 0), greatest, np.where(is_open & (lead > 0), 0.0, guess)))
    return b - a, a, np.maximum(b - a - (worst_b - worst_a), 0.0)


def stakes_of(values: Floats, costs: Floats, answered_values: Floats) -> Floats:
    """Return what each open query could cost B at most, at least 0: A's value, if open items can cost that much.

    Where A's value without asking is below its mean value in the answered queries, that mean counts: a judge that finds
    nothing in some queries knows nothing of what can be lost there. Parameters: ``values``, ``costs``: float64, one for
    each open query (``without_asking``). ``answered_values``: float64, A's exact values in the answered queries.

    >>> stakes_of(np.array([0.0, 0.75, 0.75]), np.array([1.0, 1.0, 0.25]), np.array([0.25, 0.75])).tolist()
    [0.5, 0.75, 0.25]
    """
    return np.maximum(np.minimum(np.maximum(values, _mean(np.sort(answered_values))), costs), 0.0)


@dataclass(frozen=True, slots=True)
class DrawnMean:
    """What drawn queries say about the mean difference of all queries.

    ``weight``: of the control, in [0, 1.2]. ``allowance``: what one further query on the unfavourable side, and those
    left out, may move the mean; both bounds have it. ``error``: the standard error of the estimate, which includes the
    allowance, with ``df`` degrees of freedom. With ``df`` below 1 nothing can be inferred.
    """

    estimate: float
    weight: float
    allowance: float
    error: float
    df: int

    def lower(self, level: float = 0.05) -> float:
        """Return the bound that the true mean is below in a share ``level`` of the draws; -inf without an inference."""
        return self.estimate - self._half(level)

    def upper(self, level: float = 0.01) -> float:
        """Return the bound that the true mean is above in a share ``level`` of the draws; inf without an inference."""
        return self.estimate + self._half(level)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval at 95%; None where nothing can be inferred, also where nothing varies."""
        return (self.lower(0.025), self.upper(0.025)) if self._varies else None

    def p_value(self, n_tests: int = 1) -> float | None:
        """Return the smallest level, above 0, whose two-sided interval excludes 0; None where there is no interval.

        ``n_tests``: how many tests are corrected together (``many_tests.holm``). At smaller levels a larger share of
        the queries may lose all without being drawn, so the allowance grows with their number, in proportion to log(20
        n_tests).
        """
        if not self._varies:
            return None
        beyond = abs(self.estimate) - self.allowance * (1 + math.log(n_tests) / math.log(20))
        return min(max(2 * lower_tail(-beyond / self.error, self.df), SMALLEST_P_VALUE), 1.0)

    @property
    def _varies(self) -> bool:
        return self.df >= 1 and self.error > _ROUNDING * abs(self.estimate)

    def _half(self, level: float) -> float:
        if self.df < 1:
            return math.inf
        return self.allowance + quantile(1 - level, self.df) * self.error


@dataclass(frozen=True)
class DrawnQueries:
    """The queries of two runs: known ones, and open ones, the first of whose random order people answered.

    All are differences, B minus A, of one metric. ``answered``: float64, shape (n,), exact, of the drawn queries that
    are fully answered. ``control``: float64, shape (n,), of the same queries without asking. ``others``: float64, of
    the open queries that are not among these, without asking. ``stakes``: float64, what each open query could cost B
    at most, in any order (``stakes_of``). ``known``: float64, exact, of queries in which nothing is open.
    ``left_out``: float64, the stakes of queries that were drawn before the last answered one and are not fully
    answered. They are among the others.
    ``cluster_sizes``: how many of all queries, also of the known ones, each cluster has, None where each is one.
    """

    answered: Floats
    control: Floats
    others: Floats
    stakes: Floats
    known: Floats
    left_out: Floats = field(default_factory=lambda: np.empty(0))
    cluster_sizes: Index | None = None

    @property
    def n_open(self) -> int:
        """How many queries are not known: the answered ones and the others."""
        return self.answered.size + self.others.size

    @property
    def is_complete(self) -> bool:
        """Whether all open queries are answered: the ordinary comparison decides, under the labels with the answers."""
        return self.others.size == 0

    @property
    def n_missing(self) -> int:
        """How many more answered queries a verdict needs: 30 in all, or all that are open."""
        return max(min(LEAST_DRAWN, self.n_open) - self.answered.size, 0)

    @property
    def are_many_left_out(self) -> bool:
        """Whether more than one in eight of the drawn queries are not fully answered."""
        return self.left_out.size > MOST_LEFT_OUT * (self.answered.size + self.left_out.size)

    def decides(self, *, least_apart: int = 0) -> bool:
        """Whether a verdict can be given; ``least_apart``: how many drawn queries must differ, 5 for Success@k."""
        is_enough = np.count_nonzero(self.answered) >= least_apart or self.is_complete
        return self.n_missing == 0 and not self.are_many_left_out and bool(is_enough)

    def mean(self) -> DrawnMean:
        """Return the estimate and what its bounds consist of.

        With R open of N queries, y answered and j the control: estimate = R/N (mean(y - w j) + w mean_R(j)) +
        sum(known)/N. The weight w of the control is the slope of y on j, with 5 queries of slope 1. The allowance
        stands for one further query that loses the standard deviation of a query, or the mean stake of the 2.5 R/n
        queries with most at stake; and for those left out, which lose their stakes. The variance is that of y - w j
        among the drawn ones, and that of all N queries as a sample of such queries (or of clusters). The order of the
        queries does not change a bit.
        Raises: ValueError without any query, for arrays that do not fit, and for a NaN or an infinity.

        >>> y, j = np.array([0.5, -0.25, 0.0, 0.25]), np.array([0.25, -0.5, 0.0, 0.5])
        >>> found = DrawnQueries(y, j, np.array([0.25, 0.0]), np.full(6, 0.25), np.zeros(2)).mean()
        >>> round(found.estimate, 4), round(found.weight, 4), round(found.lower(), 4), round(found.upper(), 4)
        (0.1066, 0.8203, -0.2808, 0.9896)
        """
        n, n_open, total = self.answered.size, self.n_open, self.n_open + self.known.size
        if total == 0 or self.control.size != n or self.stakes.size != n_open:
            raise ValueError("each drawn query needs a control, each open one a stake, and there must be a query")
        parts = (self.answered, self.control, self.others, self.stakes, self.known, self.left_out)
        every = [finite(part) for part in parts]
        unit = int(np.frexp(max(np.abs(part).max(initial=0.0) for part in every))[1])  # no square is infinite
        y, j, *rest = (np.ldexp(part, -unit) for part in every)
        others, stakes, known, left_out = map(np.sort, rest)
        order = np.lexsort((j, y))
        y, j = y[order], j[order]
        control, share = np.sort(np.concatenate([j, others])), n_open / total
        of_control, of_known = _variance(control), float(known.var()) if known.size else 0.0
        weight = _weight(y, j, of_control)
        e = y - weight * j
        mean = _mean(e) + weight * _mean(control)
        estimate = share * mean + float(known.sum()) / total
        spread = max(_variance(y), of_control)
        n_at_stake = math.ceil(_AT_STAKE * n_open / n) if n else n_open
        unseen = 1 - n / n_open if n_open else 0.0
        further = max(math.sqrt(spread), _mean(stakes[-n_at_stake:])) * math.sqrt(unseen) / (n + 1)
        allowance = share * (further + float(left_out.sum()) / max(n + left_out.size, 1))
        between = share * spread + (1 - share) * of_known + share * (1 - share) * (mean - _mean(known, mean)) ** 2
        of_draw = float(np.square(e - _mean(e)).sum()) / max(n - 2, 1) * unseen / max(n, 1) * share**2
        error = math.sqrt(of_draw + between / self._n_independent(total) + allowance**2)
        estimate, allowance, error = np.ldexp([estimate, allowance, error], unit).tolist()
        return DrawnMean(estimate, weight, allowance, error, n - 2)

    def _n_independent(self, total: int) -> float:
        """Return how many clusters of one size say as much as these: a large one weighs by the square of its size."""
        if self.cluster_sizes is None:
            return float(total)
        return float(self.cluster_sizes.sum()) ** 2 / float(np.square(self.cluster_sizes).sum())


def _mean(values: Floats, of_none: float = 0.0) -> float:
    return float(values.mean()) if values.size else of_none


def _variance(values: Floats) -> float:
    found = float(values.var(ddof=1)) if values.size > 1 else 0.0
    return found if found > (_ROUNDING * np.abs(values).max(initial=0.0)) ** 2 else 0.0


def _weight(y: Floats, j: Floats, of_control: float) -> float:
    """Return the weight of the control: the slope of y on j, in part 1, and 1 where the control does not vary."""
    if not of_control > 0:
        return 1.0
    apart, pseudo = j - _mean(j), _PSEUDO_QUERIES * of_control
    slope = (float(((y - _mean(y)) * apart).sum()) + pseudo) / (float(np.square(apart).sum()) + pseudo)
    return min(max(slope, 0.0), _LARGEST_WEIGHT)

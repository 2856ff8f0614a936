"""Systems that were trained or run several times: how much their runs vary, and tests that allow for it."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, TTest, VarianceParts, paired_t, t_test, weighted_t

_LEAST_DF = 1.0


@dataclass(frozen=True, slots=True)
class RunVariance:
    """How ``n_runs`` runs of one system differ: the variance of their means, and its part that residuals explain.

    The residuals are those of run by group: they shrink with more groups, and a comparison of groups includes them.
    """

    n_runs: int
    means: float = 0.0
    residual: float = 0.0

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> RunVariance:
        """Return the variance of one row of group results per run; it is not known for a single run.

        >>> RunVariance.of(np.array([[0.5, 0.25], [0.75, 0.5]])).component
        0.03125
        """
        k, n = values.shape
        if k < 2 or n < 2:
            return cls(k)
        w = np.ones(n) if weights is None else weights
        total = float(w.sum())
        means = values @ w / total
        residuals = values - means[:, None] - values.mean(axis=0) + means.mean()
        square = float(np.square(residuals * w).sum())
        return cls(k, float(means.var(ddof=1)), n / (n - 1) * square / ((k - 1) * total * total))

    @property
    def component(self) -> float:
        """The variance of a run's mean that more groups do not shrink."""
        return max(0.0, self.means - self.residual)

    @property
    def part(self) -> float:
        """Its part of the variance of a difference."""
        return self.component / self.n_runs


def with_runs(test: TTest, runs: RunVariance, *, level: float = 0.95) -> TTest:
    """Return the t-test of two single runs, each one training out of many like ``runs``.

    Its variance is 2 max(0, V - E) plus that of the groups, its degrees of freedom are those of ``crossed_t``.

    >>> test = paired_t(np.array([0.5, 0.25, 0.75, 0.5]))
    >>> with_runs(test, RunVariance(5, 0.01)).standard_error > test.standard_error
    True
    """
    if test.mean is None or test.sd is None or test.standard_error is None:
        return test
    groups = test.standard_error**2
    variance = groups + 2 * runs.component
    df = _df(variance, [(groups, test.df), (2 * runs.means, runs.n_runs - 1)])
    return t_test(test.n, test.mean, test.sd, math.sqrt(variance), df, level=level)


def crossed_t(baseline: Floats, candidate: Floats, weights: Floats | None = None, *, level: float = 0.95) -> TTest:
    """Return the t-test of the difference of two arms' means, which covers both other groups and other trainings.

    The variance is s^2 / n over the groups' differences of arm means, plus for each arm max(0, V - E) / k: V the
    variance of its k run means, E the part of it that the residuals (run by group) explain. Satterthwaite's degrees of
    freedom have that variance in the numerator, and the squares of the unreduced mean squares in the denominator:
    df = variance^2 / ((s^2 / n)^2 / (n - 1) + sum (V / k)^2 / (k - 1)). An arm of one run adds no part, so other
    trainings of it are not covered.

    Parameters: ``baseline``, ``candidate``: float64, shapes (k_a, n) and (k_b, n), finite, one row per run, the same
    groups in the same order. ``weights``: of the groups, float64, shape (n,), finite, > 0. ``level``: of the interval.
    Returns: the test, its ``n`` and ``sd`` over groups; without ``parts`` where nothing can be inferred. Raises:
    ValueError for any other number or shape. Source: Satterthwaite, Biometrics Bulletin 2, 1946; the error rates of
    other degrees of freedom are in docs/verdicts.md.

    >>> one = np.array([[0.5, 0.25, 0.75, 0.5], [0.5, 0.375, 0.75, 0.5]])
    >>> test = crossed_t(one, one + np.array([[0.25], [0.125]]))
    >>> round(test.mean, 4), round(test.df, 2), round(test.parts.runs / test.standard_error ** 2, 2)
    (0.1875, 1.0, 1.0)
    """
    if baseline.ndim != 2 or candidate.ndim != 2 or baseline.shape[1] != candidate.shape[1] or not baseline.size:
        raise ValueError(f"arms must be runs by the same groups, not {baseline.shape} and {candidate.shape}")
    delta = candidate.mean(axis=0) - baseline.mean(axis=0)
    plain = paired_t(delta) if weights is None else weighted_t(delta, weights)
    if plain.mean is None or plain.sd is None or plain.standard_error is None:
        return plain
    arms = RunVariance.of(baseline, weights), RunVariance.of(candidate, weights)
    groups, n = plain.standard_error**2, plain.n
    variance, df = _with_runs(groups, n, arms)
    if not variance:
        return plain
    by_groups = min(groups, sum(arm.residual / arm.n_runs for arm in arms))  # an estimate may exceed the whole
    test = t_test(n, plain.mean, plain.sd, math.sqrt(variance), df, level=level)
    parts = VarianceParts(
        groups,
        arms[0].part,
        arms[1].part,
        by_groups,
        df,
        _half_width(variance, df, level),
        _half_width(*_with_runs(groups - by_groups / 2, n, arms, 2), level),
        _half_width(*variance_of_more(groups, n, [(arm.n_runs, arm) for arm in arms], 2), level),
    )
    return replace(test, parts=parts)


def _df(variance: float, squares: list[tuple[float, float]]) -> float:
    """Return Satterthwaite's degrees of freedom of a variance from mean squares, each with its own."""
    below = sum(square * square / df for square, df in squares if df and square)
    return max(_LEAST_DF, variance * variance / below) if below else squares[0][1]


def _half_width(variance: float, df: float, level: float) -> float:
    return two_sided_t(1 - level, df) * math.sqrt(variance)


def _with_runs(groups: float, n: int, arms: tuple[RunVariance, RunVariance], times: int = 1) -> tuple[float, float]:
    """Return about the variance with ``times`` the runs, and its degrees of freedom; one run alone stays one.

    ``groups``: the part of the groups then.
    """
    variance = groups + sum(arm.part for arm in arms) / times
    of_arms = ((arm.means / (times * arm.n_runs), times * arm.n_runs - 1) for arm in arms)
    return variance, _df(variance, [(groups, n - 1), *of_arms])


def variance_of_more(
    groups: float, n: int, runs: Sequence[tuple[float, RunVariance]], times: float
) -> tuple[float, float]:
    """Return about the variance of a difference with ``times`` as many groups, and its degrees of freedom.

    ``groups``: the part of the n groups now. ``runs``: how runs vary, each with the number of runs that share it.
    """
    variance = groups / times + sum(of.component / share for share, of in runs)
    own = ((max(of.component, of.means - of.residual * (1 - 1 / times)) / share, of.n_runs - 1) for share, of in runs)
    return variance, _df(variance, [(groups / times, times * n - 1), *own])


FEWEST_CHANGES = 8
"""This many runs must differ from the run before for an estimate of how much the runs of a series vary."""
_MEDIAN_TO_SD = 1.4826
_DF_PER_DIFFERENCE = 0.25  # a median has 37% of the information, and neighbouring differences share a run
STRONG, _POSITIVE = 6.0, 2.0  # evidence in BIC, as Kass and Raftery name it (J. Am. Stat. Assoc. 90, 1995)
_FAIR = 4.0  # in BIC, how much better steps must be than runs that resemble the one before: chosen in docs/verdicts.md
_AHEAD = 2  # a pair of steps, up and down, may be worth its parameters where either alone is not
_CLEAR = 10.0  # in BIC, how much better two lines must be than one
_LINE_PARAMETERS = 2
_STRONGEST_DEPENDENCE = 0.99


@dataclass(frozen=True, slots=True)
class RunScatter:
    """How much the mean of a run varies around its true value.

    ``variance``: the variance of one run's mean. ``own``: the part of it that the t-test over groups already includes,
    because the groups of a run vary independently. ``df``: the degrees of freedom of ``variance``.
    """

    variance: float
    own: float
    df: float

    @property
    def beyond(self) -> float:
        """The variance that all groups of a run share, which no number of groups averages out."""
        return max(0.0, self.variance - self.own)

    def within(self, variance: float, df: float) -> Self:
        """Return the scatter by the runs of a window, if they give a better estimate of it than the series."""
        return replace(self, variance=variance, df=df) if df > self.df else self

    def p_value(self, mean: float, error: float, n_groups: int, share: float) -> float:
        """Return the p-value of a difference of means of runs: the larger one of two t-tests.

        The first adds ``beyond`` to the variance over groups; the second is over runs alone, which holds where
        ``beyond`` happened to come out too small.

        Parameters: ``error``: the standard error of ``mean`` over its ``n_groups``, >= 2. ``share``: by what the
        variance of one run is multiplied: 1 / (runs before) + 1 / (runs after). Source: the degrees of freedom are
        those of Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin
        2, 1946, from the variances before ``own`` is subtracted.

        >>> round(RunScatter(4e-4, 1e-4, 10.0).p_value(0.12, 0.01, 600, 2.0), 6)
        0.002138
        """
        if not mean:
            return 1.0
        ps = [two_sided_p(mean / spread, df) if spread else 0.0 for spread, df in self._spreads(error, n_groups, share)]
        return max(*ps, SMALLEST_P_VALUE)

    def interval(self, mean: float, error: float, n_groups: int, share: float) -> tuple[float, float]:
        """Return the 95% interval of a difference, the wider one of those of the two tests of ``p_value``."""
        half = max(two_sided_t(0.05, df) * spread for spread, df in self._spreads(error, n_groups, share))
        return mean - half, mean + half

    def _spreads(self, error: float, n_groups: int, share: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the standard error and the degrees of freedom of both tests."""
        both, runs = error**2 + self.beyond * share, self.variance * share
        unsure = error**4 / (n_groups - 1) + (runs**2 / self.df if self.beyond else 0.0)
        df = max(1.0, both**2 / unsure) if unsure else n_groups - 1.0
        return (math.sqrt(both), df), (math.sqrt(runs), max(1.0, self.df))


def scatter_of_series(mean: Floats, error: Floats, changed: Mask) -> RunScatter | None:
    """Return how much runs vary, estimated robustly from differences of neighbours, so that a few steps do not matter.

    Parameters, one per run, of which the first is ignored: ``mean``: the mean difference to the run before. ``error``:
    its standard error over groups. ``changed``: whether the run changed at all. Returns: None if runs do not vary more
    than their groups explain, by the medians or because half of the runs equal the run before; and below 8 differences.

    >>> signs = np.tile([1.0, -1.0], 6)
    >>> scatter = scatter_of_series(0.01 * signs, np.full(12, 0.002), np.ones(12, dtype=bool))
    >>> round(scatter.variance**0.5, 4), round(scatter.own**0.5, 4), scatter.df
    (0.0105, 0.0014, 3.0)
    >>> scatter_of_series(0.001 * signs, np.full(12, 0.002), np.ones(12, dtype=bool)) is None
    True
    """
    n = int(np.count_nonzero(changed))
    if n < FEWEST_CHANGES or is_deterministic(changed):
        return None
    variance = (_MEDIAN_TO_SD * _median(np.abs(mean[changed]))) ** 2 / 2
    own = _median(np.square(error[changed])) / 2
    return RunScatter(variance, own, _DF_PER_DIFFERENCE * n) if variance > own else None


def is_deterministic(changed: Mask) -> bool:
    """Return whether these runs mostly repeat: at least half of them equal the run before."""
    return bool(2 * np.count_nonzero(changed) < changed.size)


def scatter_of_repeats(families: Sequence[Floats], weights: Floats | None = None) -> RunScatter | None:
    """Return how much runs vary, from repeats of unchanged systems; None if no system has two repeats.

    Parameters: ``families``: of each system the results, float64, shape (n_repeats, n_groups). ``weights``: of the
    groups.

    >>> found = scatter_of_repeats([np.array([[0.5, 0.7], [0.6, 0.8], [0.4, 0.6]])])
    >>> round(found.variance, 6), round(found.own, 6), found.df
    (0.01, 0.0, 2.0)
    """
    parts = [RunVariance.of(values, weights) for values in families if len(values) > 1 and values.shape[1] > 1]
    df = sum(part.n_runs - 1 for part in parts)
    if not df:
        return None
    variance = sum((part.n_runs - 1) * part.means for part in parts) / df
    own = sum((part.n_runs - 1) * part.residual for part in parts) / df
    return RunScatter(variance, own, float(df))


class RunMeans:
    """The means of the runs of a history, and statistics of windows; equal consecutive runs count as one."""

    def __init__(self, means: Floats, changed: Mask) -> None:
        self._means = means - _median(means)
        self._block = np.cumsum(changed).astype(np.int64)
        first = np.concatenate([[True], changed[1:]])
        self._start = np.concatenate([np.flatnonzero(first), [means.size]]).astype(np.int64)
        of_blocks = self._means[self._start[:-1]]
        self._sums, self._squares = _cumulated(of_blocks), _cumulated(np.square(of_blocks))
        self._sizes = _cumulated(np.square(np.diff(self._start)).astype(np.float64))
        self._total = _cumulated(self._means)

    def windows(self, place: Index, left: Index, right: Index) -> tuple[Floats, Floats, Floats, Floats]:
        """Return each window's difference of means, the share of one run's variance in that of the difference (see
        ``RunScatter.p_value``), the variance of the runs within both sides, and its degrees of freedom.

        >>> runs = RunMeans(np.array([0.1, 0.2, 0.2, 0.6]), np.array([False, True, False, True]))
        >>> [numbers.round(4).tolist() for numbers in runs.windows(np.array([3]), np.array([3]), np.array([1]))]
        [[0.4333], [1.5556], [0.005], [1.0]]
        """
        before, after = self._side(place - left, place), self._side(place, place + right)
        df = np.maximum(before[2] + after[2] - 2, 0.0)
        variance = np.maximum(before[1] + after[1], 0.0) / np.maximum(df, 1.0)
        share = before[3] / np.square(left) + after[3] / np.square(right)
        return after[0] - before[0], share, variance, df

    def _side(self, first: Index, end: Index) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the mean of some runs, the sum of squares about it, how many differ, and the sum of the squares of
        how often each of these is there."""
        low, high = self._block[first], self._block[end - 1]
        n = (high - low + 1).astype(np.float64)
        sums = self._sums[high + 1] - self._sums[low]
        squares = self._squares[high + 1] - self._squares[low] - np.square(sums) / n
        inner = self._sizes[high] - self._sizes[np.minimum(low + 1, high)]
        cut = np.square(self._start[low + 1] - first) + np.square(end - self._start[high]) + inner
        sizes = np.where(low == high, np.square(end - first), cut)
        return (self._total[end] - self._total[first]) / (end - first), squares, n, sizes

    def between(self, scatter: RunScatter, places: Sequence[int]) -> RunScatter:
        """Return the scatter of the runs about the mean between any two steps, which are known by now; ``places``: the
        first run after each step."""
        cuts = sorted({*self._block[list(places)].tolist()} - {0})
        parts = np.split(self._means[self._start[:-1]], cuts)
        squares = sum(float(np.square(part - part.mean()).sum()) for part in parts)
        df = float(len(self._start) - 1 - len(parts))
        return scatter.within(squares / max(df, 1.0), df)

    def lead_of_line(self, first: int, end: int, places: Sequence[int], *, may_depend: bool = True) -> float:
        """Return by how much a straight line explains the means from ``first`` to before ``end`` better than steps.

        It compares Bayesian information criteria: a line has two parameters, steps have one for each level and each
        place. A single step is placed where it fits best. Return -inf if nothing can be decided, and if neighbours that
        resemble each other explain the means as well as the line. ``places``: the first run after each step.
        ``may_depend``: whether neighbours may resemble each other.
        """
        y = self._means[first:end]
        n_steps = 2 * len(places) + 1
        if len(y) <= n_steps + 1:
            return -math.inf
        level = y - y.mean()
        if len(places) == 1:
            n = np.arange(1, len(y))
            sums = np.cumsum(level)[:-1]
            steps = float((level @ level - np.square(sums) * (1 / n + 1 / (len(y) - n))).min())
        else:
            steps = sum(float(np.square(part - part.mean()).sum()) for part in np.split(y, np.array(places) - first))
        line = _about_a_line(y)
        wanders = may_depend and len(y) * math.log(_after_neighbours(level)[0] / line) <= _POSITIVE
        if wanders or steps <= 1e-12 * float(level @ level):
            return -math.inf
        return len(y) * math.log(steps / line) + (n_steps - _LINE_PARAMETERS) * math.log(len(y))

    def explained_by_neighbours(
        self, places: Collection[int], lines: Sequence[tuple[int, int]]
    ) -> tuple[list[int], float]:
        """Return the steps that the resemblance of neighbouring runs explains as well, and that autocorrelation, >= 0.

        By the Bayesian information criterion, the model of all steps, with independent runs between them, must explain
        the means better than the model without the step and with autocorrelated runs (of order 1). The second model may
        also have further steps that help it, because a step that no window found is not a resemblance. The weakest step
        is left out first, and so on. If the autocorrelation is 0, the scatter of single runs explains as much.
        ``places``: the first run after each step. ``lines``: the first and the last run of each drift.
        """
        y = self._means[self._start[:-1]]
        ends = [(int(self._block[first]), int(self._block[last]) + 1) for first, last in lines]
        for first, end in ends:
            y[first:end] = _residuals(y[first:end]) + y[first:end].mean()
        fixed = {at for pair in ends for at in pair}
        tested = {int(self._block[place]): place for place in places if int(self._block[place]) not in fixed}
        dropped, resemblance = list[int](), 0.0
        while tested:
            cuts = sorted({*tested, *fixed} - {0, len(y)})
            without = {at: _after_neighbours(_about_levels(y, [cut for cut in cuts if cut != at])) for at in tested}
            weakest = min(tested, key=lambda at: without[at][0])
            left, found = without[weakest]
            if len(y) * math.log(left) - math.log(len(y)) - _criterion_of_steps(y, cuts) > _FAIR:
                break
            resemblance = found
            dropped.append(tested.pop(weakest))
        return dropped, resemblance

    def break_in_line(self, first: int, end: int, places: Sequence[int]) -> int | None:
        """Return the place at which two lines explain the means clearly better than one does, None if none does."""
        y = self._means[first:end]
        apart = {place: _about_a_line(y[: place - first]) + _about_a_line(y[place - first :]) for place in places}
        best = min(apart, key=apart.__getitem__)
        gain = len(y) * math.log(_about_a_line(y) / apart[best])
        return best if gain > _CLEAR + (_LINE_PARAMETERS + 1) * math.log(len(y)) else None

    def about_a_line(self, first: int, end: int) -> tuple[float, float]:
        """Return the variance of runs about their straight line, and its degrees of freedom."""
        return _about_a_line(self._means[first:end]) / max(1, end - first - 2), float(end - first - 2)


def _about_a_line(y: Floats) -> float:
    """Return the sum of squares about the straight line, > 0."""
    return max(float(np.square(_residuals(y)).sum()), 1e-300)


def _residuals(y: Floats) -> Floats:
    """Return how far numbers are from their straight line."""
    x, level = np.arange(len(y)) - (len(y) - 1) / 2, y - y.mean()
    slope = x @ level / (x @ x) if len(y) > 1 else 0.0
    return np.asarray(level - x * slope)


def _about_levels(y: Floats, cuts: Sequence[int]) -> Floats:
    """Return how far numbers are from the mean between the cuts."""
    return np.concatenate([part - part.mean() for part in np.split(y, list(cuts))])


def _criterion_of_steps(y: Floats, cuts: Sequence[int]) -> float:
    """Return the Bayesian information criterion of levels between the cuts and, where that is less, further ones.

    Each further cut goes where it leaves the least squares; it costs a level and a place, the ``cuts`` nothing.
    """
    n, floor, found = len(y), max(1e-12 * float(y @ y), 1e-300), list[float]()
    while True:
        residuals = _about_levels(y, cuts)
        squares = max(float(residuals @ residuals), floor)
        found.append(n * math.log(squares) + 2 * len(found) * math.log(n))
        if len(found) - found.index(min(found)) > _AHEAD or len(cuts) + 2 >= n / 2 or squares == floor:
            return min(found)
        edges = np.array([0, *cuts, n])
        size, begin = np.repeat(np.diff(edges), np.diff(edges)), np.repeat(edges[:-1], np.diff(edges))
        before = np.arange(n) - begin
        sums = np.concatenate([[0.0], np.cumsum(residuals)[:-1]])  # those of a level add up to 0
        gain = np.square(sums) * size / np.maximum(before * (size - before), 1)
        cuts = sorted([*cuts, int(np.where(before > 0, gain, -1.0).argmax())])


def _after_neighbours(residuals: Floats) -> tuple[float, float]:
    """Return the sum of squares, > 0, that is left where each residual resembles the one before, and by how much."""
    before, after = residuals[:-1], residuals[1:]
    below = float(before @ before)
    resemblance = min(_STRONGEST_DEPENDENCE, max(0.0, float(after @ before) / below)) if below else 0.0
    left = (1 - resemblance**2) * residuals[0] ** 2 + float(np.square(after - resemblance * before).sum())
    return max(float(left), 1e-300), resemblance


def _median(numbers: Floats) -> float:
    """Return the median; NumPy's imports masked arrays."""
    ordered = np.sort(numbers)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _cumulated(numbers: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(numbers)])

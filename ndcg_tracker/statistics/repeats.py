"""The t-test of two systems that were trained or run several times: groups and repeats crossed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.t_distribution import two_sided_t
from ndcg_tracker.statistics.t_test import TTest, paired_t, t_test, weighted_t

_LEAST_DF = 1.0


@dataclass(frozen=True, slots=True)
class VarianceParts:
    """Where the variance of a difference of two arms' means comes from.

    ``groups``, ``runs_baseline``, ``runs_candidate``: its parts, each >= 0; they add up to the square of the standard
    error. ``runs_by_groups``: what of ``groups`` comes from runs that help some groups and hurt others, which more runs
    shrink as well; at most all of it. ``df``: its degrees of freedom. ``half_width``: of the 95% interval;
    ``with_twice_the_runs`` and ``with_twice_the_groups``: what it would be about, with twice as many of either.
    """

    groups: float
    runs_baseline: float
    runs_candidate: float
    runs_by_groups: float
    df: float
    half_width: float
    with_twice_the_runs: float
    with_twice_the_groups: float

    @property
    def runs(self) -> float:
        """The part of both arms' runs."""
        return self.runs_baseline + self.runs_candidate


@dataclass(frozen=True, slots=True)
class RunVariance:
    """How ``n_runs`` runs of one system differ: the variance of their means, and what of it the residuals explain.

    The residuals are those of run by group: they shrink with more groups, and a comparison of groups has them already.
    """

    n_runs: int
    means: float = 0.0
    residual: float = 0.0

    @classmethod
    def of(cls, values: Floats, weights: Floats | None = None) -> RunVariance:
        """Return the variance of one row of group results per run; of a single run nothing is known.

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

    Its variance has 2 max(0, V - E) beside that of the groups, its degrees of freedom are those of ``crossed_t``.

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


def crossed_t(
    baseline: Floats, candidate: Floats, weights: Floats | None = None, *, level: float = 0.95
) -> tuple[TTest, VarianceParts | None]:
    """Return the t-test of the difference of two arms' means, which covers other groups and other trainings alike.

    The variance is s^2 / n over the groups' differences of arm means, plus for each arm max(0, V - E) / k: V the
    variance of its k run means, E the part of it that the residuals (run by group) explain. Satterthwaite's degrees of
    freedom have that variance above, and the squares of the mean squares as they are, with nothing subtracted, below:
    df = variance^2 / ((s^2 / n)^2 / (n - 1) + sum (V / k)^2 / (k - 1)). An arm of one run adds no part: its training
    is taken as it is.

    Parameters: ``baseline``, ``candidate``: float64, shapes (k_a, n) and (k_b, n), finite, one row per run, the same
    groups in the same order. ``weights``: of the groups, float64, shape (n,), finite, > 0. ``level``: of the interval.
    Returns: the test, its ``n`` and ``sd`` over groups, and the parts, None where nothing can be inferred. Raises:
    ValueError for any other number or shape. Source: Satterthwaite, Biometrics Bulletin 2, 1946; the error rates of
    other degrees of freedom are in docs/verdicts.md.

    >>> one = np.array([[0.5, 0.25, 0.75, 0.5], [0.5, 0.375, 0.75, 0.5]])
    >>> test, parts = crossed_t(one, one + np.array([[0.25], [0.125]]))
    >>> round(test.mean, 4), round(test.df, 2), round(parts.runs / test.standard_error ** 2, 2)
    (0.1875, 1.0, 1.0)
    """
    if baseline.ndim != 2 or candidate.ndim != 2 or baseline.shape[1] != candidate.shape[1] or not baseline.size:
        raise ValueError(f"arms must be runs by the same groups, not {baseline.shape} and {candidate.shape}")
    delta = candidate.mean(axis=0) - baseline.mean(axis=0)
    plain = paired_t(delta) if weights is None else weighted_t(delta, weights)
    if plain.mean is None or plain.sd is None or plain.standard_error is None:
        return plain, None
    arms = RunVariance.of(baseline, weights), RunVariance.of(candidate, weights)
    groups, n = plain.standard_error**2, plain.n
    variance = groups + sum(arm.part for arm in arms)
    if not variance:
        return plain, None
    df = _df(variance, [(groups, n - 1), *((arm.means / arm.n_runs, arm.n_runs - 1) for arm in arms)])
    by_groups = min(groups, sum(arm.residual / arm.n_runs for arm in arms))  # an estimate may exceed the whole
    test = t_test(n, plain.mean, plain.sd, math.sqrt(variance), df, level=level)
    return test, VarianceParts(
        groups,
        arms[0].part,
        arms[1].part,
        by_groups,
        df,
        _half_width(variance, df, level),
        _with_twice_the_runs(groups - by_groups / 2, n, arms, level),
        _with_twice_the_groups(groups, n, arms, level),
    )


def _df(variance: float, squares: list[tuple[float, float]]) -> float:
    """Return Satterthwaite's degrees of freedom of a variance from mean squares, each with its own."""
    below = sum(square * square / df for square, df in squares if df and square)
    return max(_LEAST_DF, variance * variance / below) if below else squares[0][1]


def _half_width(variance: float, df: float, level: float) -> float:
    return two_sided_t(1 - level, df) * math.sqrt(variance)


def _with_twice_the_runs(groups: float, n: int, arms: tuple[RunVariance, RunVariance], level: float) -> float:
    """Return about how wide half the interval would be with twice the runs: an arm of one run stays as it is.

    ``groups``: the part of the groups that is left then.
    """
    variance = groups + sum(arm.part for arm in arms) / 2
    df = _df(variance, [(groups, n - 1), *((arm.means / (2 * arm.n_runs), 2 * arm.n_runs - 1) for arm in arms)])
    return _half_width(variance, df, level)


def _with_twice_the_groups(groups: float, n: int, arms: tuple[RunVariance, RunVariance], level: float) -> float:
    """Return about how wide half the interval would be with twice the groups."""
    variance = groups / 2 + sum(arm.part for arm in arms)
    own = ((max(arm.component, arm.means - arm.residual / 2) / arm.n_runs, arm.n_runs - 1) for arm in arms)
    return _half_width(variance, _df(variance, [(groups / 2, 2 * n - 1), *own]), level)

"""The paired t-test of a mean difference, its interval and its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.t_distribution import quantile, two_sided_p, two_sided_t

SMALLEST_P_VALUE = math.ulp(0.0)
_ROUNDING = 1e-12  # a spread below this share of the mean is the rounding of subtractions, not variation


@dataclass(frozen=True, slots=True)
class TTest:
    """The result of the t-test of a mean difference.

    ``n``: the differences that count. ``mean``: None where n is 0. ``sd``: their standard deviation, None where n <
    2. ``t``, ``p_value`` (two-sided, never 0) and ``ci`` (low, high) are None where nothing can be inferred: with n <
    2, and if all differences are equal.
    """

    n: int
    mean: float | None
    sd: float | None
    t: float | None
    p_value: float | None
    ci: tuple[float, float] | None

    @property
    def effect_size(self) -> float | None:
        """The standardised mean difference d_z = mean / sd = t / sqrt(n), None without t."""
        return None if self.t is None else self.t / math.sqrt(self.n)


def paired_t(delta: Floats, *, level: float = 0.95) -> TTest:
    """Return the two-sided paired t-test of differences, with the confidence interval of their mean.

    Parameters: ``delta``: float64, shape (n,), finite. ``level``: of the interval, in (0, 1). Raises: ValueError for
    a NaN or an infinity. Source: Student, "The probable error of a mean", Biometrika 6, 1908. Agrees with:
    scipy.stats.ttest_rel.

    >>> test = paired_t(np.array([0.0, 0.25, 0.5, -0.25]))
    >>> test.mean, round(test.t, 6), round(test.p_value, 6)
    (0.125, 0.774597, 0.495025)
    >>> paired_t(np.zeros(3)).p_value is None
    True
    """
    values = finite(delta)
    mean = float(values.mean()) if values.size else None
    if mean is None or values.size < 2:
        return TTest(values.size, mean, None, None, None, None)
    sd = math.sqrt(float(np.square(values - mean).sum()) / (values.size - 1))
    return _t_test(values.size, mean, sd, level)


def weighted_t(delta: Floats, weights: Floats, *, level: float = 0.95) -> TTest:
    """Return the t-test of the weighted mean of differences.

    The standard error is sqrt(n / (n - 1) * sum(w^2 (d - mean)^2)) / sum(w), with n - 1 degrees of freedom; ``sd`` is
    that standard error times sqrt(n), so that equal weights give ``paired_t``. Groups of weight 0 do not count in n.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), finite, >= 0. ``level``: of
    the interval. Raises: ValueError for any other number or shape.

    >>> weighted_t(np.array([0.25, -0.5, 0.5, 9.0]), np.array([2.0, 1.0, 1.0, 0.0])).mean
    0.125
    """
    values, w = finite(delta), checked_weights(delta, weights)
    values, w = values[w > 0], w[w > 0]
    if not values.size:
        return TTest(0, None, None, None, None, None)
    n, total = values.size, float(w.sum())
    mean = float((w * values).sum()) / total
    if n < 2:
        return TTest(n, mean, None, None, None, None)
    standard_error = math.sqrt(n / (n - 1) * float(np.square(w * (values - mean)).sum())) / total
    return _t_test(n, mean, standard_error * math.sqrt(n), level)


def t_interval(mean: float, sd: float, n: int, *, level: float = 0.95) -> tuple[float, float] | None:
    """Return the t interval of a mean from its standard deviation; None where n < 2 or nothing varies.

    >>> t_interval(0.5, 0.0, 10) is None
    True
    """
    if n < 2 or sd <= _ROUNDING * abs(mean):
        return None
    half = two_sided_t(1 - level, n - 1.0) * sd / math.sqrt(n)
    return mean - half, mean + half


def limited(interval: tuple[float, float] | None, limits: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return an interval cut to the possible values of the number; unchanged if they are not known.

    >>> limited((-0.25, 0.5), (0.0, 1.0)), limited((-0.25, 0.5), None)
    ((0.0, 0.5), (-0.25, 0.5))
    """
    if interval is None or limits is None:
        return interval
    return max(interval[0], limits[0]), min(interval[1], limits[1])


def t_lower_bound(test: TTest, *, level: float = 0.95) -> float | None:
    """Return the one-sided lower confidence bound of the mean, None where nothing can be inferred.

    Parameters: ``test``: of ``paired_t`` or ``weighted_t``. ``level``: of the bound, in (0, 1).

    >>> test = paired_t(np.array([0.0, 0.25, 0.5, -0.25]))
    >>> round(t_lower_bound(test), 4), round(t_upper_bound(test, level=0.99), 4)
    (-0.2548, 0.8578)
    """
    return _t_bound(test, -1, level)


def t_upper_bound(test: TTest, *, level: float = 0.95) -> float | None:
    """Return the one-sided upper confidence bound of the mean, None where nothing can be inferred.

    Parameters: as ``t_lower_bound``, with an example there.
    """
    return _t_bound(test, 1, level)


def checked_weights(delta: Floats, weights: Floats) -> Floats:
    """Return valid weights of differences unchanged.

    Raises: ValueError unless there is one finite weight >= 0 for each difference.

    >>> checked_weights(np.array([0.5, 0.25]), np.array([1.0, 0.0])).tolist()
    [1.0, 0.0]
    """
    if finite(weights).shape != delta.shape or (weights < 0).any():
        raise ValueError("weights must be one number >= 0 for each difference")
    return weights


def _t_test(n: int, mean: float, sd: float, level: float) -> TTest:
    """Return the test of a mean whose standard error is sd / sqrt(n)."""
    ci = t_interval(mean, sd, n, level=level)
    if ci is None:
        return TTest(n, mean, sd, None, None, None)
    t = mean / (sd / math.sqrt(n))
    return TTest(n, mean, sd, t, max(two_sided_p(t, n - 1.0), SMALLEST_P_VALUE), ci)


def _t_bound(test: TTest, side: int, level: float) -> float | None:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    if test.t is None or test.mean is None or test.sd is None:
        return None
    return test.mean + side * quantile(level, test.n - 1.0) * test.sd / math.sqrt(test.n)


def finite(numbers: Floats) -> Floats:
    """Return valid numbers unchanged.

    Raises: ValueError for a NaN, an infinity, or more than one dimension.

    >>> finite(np.array([0.5, 0.25])).tolist()
    [0.5, 0.25]
    """
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError("differences and weights must be finite numbers in one dimension; NaN is refused")
    return numbers

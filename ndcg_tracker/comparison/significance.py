"""Is a mean difference more than chance: the paired t-test, its interval, its power, and Holm's correction.

scipy.special is enough for all of it; scipy.stats would cost three quarters of a second at start-up. And it is
imported where it is used: 0.2 seconds that commands without a comparison need not pay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.comparison.student_t import two_sided_p, two_sided_t

Floats = NDArray[np.float64]

SMALLEST_P_VALUE = math.ulp(0.0)
_ROUNDING = 1e-12  # a spread below this share of the mean is the rounding of subtractions, not variation


@dataclass(frozen=True, slots=True)
class TTest:
    """What the t-test says about a mean difference.

    ``n``: the differences that count. ``mean``: None where n is 0. ``sd``: their standard deviation, None where n <
    2. ``t``, ``p_value`` (two-sided, never 0) and ``ci`` (low, high) are None where nothing can be inferred: with n <
    2, and where all differences are the same.
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
    """Return an interval cut to where the number can lie at all; as it is where that is not known.

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


def mean_interval(values: Floats, weights: Floats | None = None, *, level: float = 0.95) -> tuple[float, float] | None:
    """Return the confidence interval of the mean of one run's group results.

    Parameters: ``values``: float64, shape (n,), NaN = undefined and left out, never infinite. ``weights``: float64,
    shape (n,), finite, >= 0. Returns: (low, high), or None where fewer than two results are defined or all are equal.

    >>> low, high = mean_interval(np.array([0.0, 1.0, np.nan, 1.0, 0.0]))
    >>> round(low, 6), round(high, 6)
    (-0.418693, 1.418693)
    """
    defined = ~np.isnan(values)
    if weights is None:
        return paired_t(values[defined], level=level).ci
    return weighted_t(values[defined], weights[defined], level=level).ci


def detectable_delta(n: int, sd: float, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest true mean difference that a two-sided paired t-test finds with this power.

    It solves power = P(|T| > t_crit), T noncentral t with n - 1 degrees of freedom and noncentrality
    delta * sqrt(n) / sd.

    Parameters: ``n``: how many differences. ``sd``: their standard deviation. ``alpha``: in (0, 1). ``power``: in
    (alpha, 1). Returns: a difference > 0, None where n < 2 or sd is 0. Source: Cohen, "Statistical power analysis for
    the behavioral sciences", 2nd ed., ch. 2.

    >>> round(detectable_delta(25, 1.0), 4)
    0.584
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha and power must be 0 < alpha < power < 1, not {alpha} and {power}")
    if n < 2 or not sd > 0:
        return None
    from scipy.special import stdtrit

    df = n - 1.0
    critical = float(stdtrit(df, 1 - alpha / 2))
    low, high = 0.0, 1.0
    while _power(df, high, critical) < power:
        low, high = high, high * 2
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high * sd / math.sqrt(n)
        if _power(df, middle, critical) < power:
            low = middle
        else:
            high = middle


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values corrected for their number by Holm's step-down procedure.

    Parameters: ``p_values``: each in [0, 1]; None takes no part and stays None. Raises: ValueError for a NaN or a
    number outside. Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6,
    1979.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    given = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(given):
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value lies between 0 and 1, not at {p}")
        largest = max(largest, min(p * (len(given) - rank), 1.0))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the q-values of p-values: the false discovery rate at which each would just be listed.

    Parameters: ``p_values``: each in [0, 1]; None takes no part and stays None. Raises: ValueError for a NaN or a
    number outside. Source: Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57,
    1995. By: scipy.stats.false_discovery_control.

    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    [0.03, None, 0.04, 0.04]
    """
    given = [p for p in p_values if p is not None]
    for p in given:
        if not 0 <= p <= 1:
            raise ValueError(f"a p-value lies between 0 and 1, not at {p}")
    if not given:
        return [None] * len(p_values)
    from scipy.stats import false_discovery_control

    q_values = iter(false_discovery_control(given).tolist())
    return [None if p is None else next(q_values) for p in p_values]


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


def checked_weights(delta: Floats, weights: Floats) -> Floats:
    """Return the weights of differences as they are, or refuse them.

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
        raise ValueError(f"level must lie between 0 and 1, not at {level}")
    if test.t is None or test.mean is None or test.sd is None:
        return None
    from scipy.special import stdtrit

    return test.mean + side * float(stdtrit(test.n - 1.0, level)) * test.sd / math.sqrt(test.n)


def _power(df: float, noncentrality: float, critical: float) -> float:
    """Return how often the two-sided test rejects at this noncentrality."""
    from scipy.special import nctdtr

    opposite = float(nctdtr(df, noncentrality, -critical))
    # far out, nctdtr returns NaN for a tail that is too small to matter
    return 1 - float(nctdtr(df, noncentrality, critical)) + (0.0 if math.isnan(opposite) else opposite)


def finite(numbers: Floats) -> Floats:
    """Return the numbers as they are, or refuse them.

    Raises: ValueError for a NaN, an infinity, or more than one dimension.

    >>> finite(np.array([0.5, 0.25])).tolist()
    [0.5, 0.25]
    """
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise ValueError("differences and weights must be finite numbers in one dimension; NaN is refused")
    return numbers

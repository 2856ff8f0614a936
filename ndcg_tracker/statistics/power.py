"""The smallest difference that a test finds, and how many groups a decision needs."""

from __future__ import annotations

import math
from typing import Literal

from ndcg_tracker.statistics.information import Information
from ndcg_tracker.statistics.t_distribution import noncentrality_found, normal_quantile, quantile
from ndcg_tracker.statistics.t_test import TTest

_MANY = 10**12


def detectable_delta(test: TTest, *, alpha: float = 0.05, power: float = 0.8) -> float | None:
    """Return the smallest true mean difference that a two-sided t-test finds with this power.

    It solves power = P(|T| > t_crit), T noncentral t with the test's degrees of freedom and noncentrality
    delta / standard error.

    Parameters: ``test``: of the differences. ``alpha``: in (0, 1). ``power``: in (alpha, 1). Returns: a difference
    > 0, None where nothing varies. Source: Cohen, "Statistical power analysis for
    the behavioral sciences", 2nd ed., ch. 2.

    >>> from ndcg_tracker.statistics.t_test import t_test
    >>> round(detectable_delta(t_test(25, 0.0, 1.0)), 4)
    0.584
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha and power must be 0 < alpha < power < 1, not {alpha} and {power}")
    if not test.standard_error:
        return None
    return noncentrality_found(test.df, alpha, power) * test.standard_error


def groups_needed(
    test: TTest, known: Information, margin: float, fail_alpha: float, *, pass_level: float = 0.95
) -> tuple[int, Literal["pass", "fail"]] | tuple[None, None]:
    """Return about how many groups would decide a gate, and how, if further groups are like these.

    Mean, standard deviation, skewness and the share of nonzero differences are taken as they are: PASS comes at the
    first n at which mean - t(n - 1) sd / sqrt(n) > -margin, FAIL at the first one at which mean + t(n - 1) sd / sqrt(n)
    < 0, both not before information is no longer low; the earlier one counts.

    Parameters: ``test`` and ``known``: of the differences. ``margin``, ``fail_alpha``, ``pass_level``: of the gate.
    Returns: n, and "pass" or "fail"; (None, None) where no number of groups would decide, or nothing varies.

    >>> groups_needed(TTest(200, 0.0, 0.138, 0.0, 1.0, (-0.02, 0.02)), Information(200, 150, 0.0), 0.01, 0.01)
    (518, 'pass')
    """
    if test.mean is None or test.t is None or not test.sd:
        return None, None
    for_pass = _first(test.mean + margin, test.sd, pass_level)
    for_fail = _first(-test.mean, test.sd, 1 - fail_alpha)
    if for_pass is not None:
        for_pass = max(for_pass, known.groups_for_one_side)
    if for_fail is not None:
        for_fail = max(for_fail, known.groups_for_one_side)
    if for_fail is not None and (for_pass is None or for_fail < for_pass):
        return for_fail, "fail"
    return (None, None) if for_pass is None else (for_pass, "pass")


def _first(effect: float, sd: float, level: float) -> int | None:
    """Return the smallest n >= 2 with effect > t(level; n - 1) sd / sqrt(n), None if none is below 10^12."""

    def is_enough(n: int) -> bool:
        return effect * math.sqrt(n) > quantile(level, n - 1.0) * sd

    if effect <= 0:
        return None
    z = normal_quantile(level)
    if z * sd > effect * math.sqrt(2 * _MANY):  # of the least effects the square below would be infinite
        return None
    least = (z * sd / effect) ** 2 * (1 - 1e-9)  # not enough, as t is above z; the first that is lies close above
    if least > _MANY:
        return None
    low = max(1, int(least))
    step = 1
    while not is_enough(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high

"""Equivalence: whether the absolute mean difference is shown to be smaller than a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ndcg_tracker.errors import InputError
from ndcg_tracker.statistics.t_distribution import lower_tail
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, TTest, t_lower_bound, t_upper_bound


@dataclass(frozen=True, slots=True)
class Equivalence:
    """What two one-sided t-tests say about |mean difference| < ``margin``.

    ``p_value``: the larger of the two, in (0, 1], None where nothing can be inferred. ``ci``: both one-sided bounds at
    1 - alpha; the interval is within the margins if and only if p < alpha. ``equivalent``: whether p < alpha, or the
    runs are identical (then there is no p).
    """

    margin: float
    p_value: float | None
    ci: tuple[float, float] | None
    equivalent: bool


def equivalence_test(test: TTest, margin: float, *, alpha: float = 0.05) -> Equivalence:
    """Return whether a mean difference is equivalent to 0: two one-sided paired t-tests (TOST).

    p = max(P(T >= (margin - mean) / se), P(T >= (mean + margin) / se)), T Student with the test's degrees of freedom.

    Parameters: ``test``: any t-test. ``margin``: finite, > 0. ``alpha``: in (0, .5). Raises:
    InputError for another margin. Source: Schuirmann, "A comparison of the two one-sided tests procedure and the power
    approach", J. Pharmacokinet. Biopharm. 15, 1987. Agrees with: statsmodels' ``ttost_paired``, pingouin's ``tost``.

    >>> from ndcg_tracker.statistics.t_test import paired_t
    >>> import numpy as np
    >>> found = equivalence_test(paired_t(np.tile([0.02, -0.01, 0.0, -0.01], 50)), 0.005)
    >>> found.equivalent, found.p_value < 1e-7
    (True, True)
    """
    checked_margin(margin, "the equivalence margin", zero=False)
    low, high = t_lower_bound(test, level=1 - alpha), t_upper_bound(test, level=1 - alpha)
    if low is None or high is None or test.mean is None or test.standard_error is None:
        return Equivalence(margin, None, None, False)
    nearest = (abs(test.mean) - margin) / test.standard_error
    p_value = max(lower_tail(nearest, test.df), SMALLEST_P_VALUE)
    return Equivalence(margin, p_value, (low, high), p_value < alpha)


def checked_margin(margin: float, name: str, *, zero: bool = True) -> float:
    """Return a valid margin unchanged; raise InputError if it is not finite, negative, or 0 where that is not allowed.

    >>> checked_margin(0.01, "the margin")
    0.01
    """
    if not math.isfinite(margin) or margin < 0 or (margin == 0 and not zero):
        least = "0 or more" if zero else "above 0"
        raise InputError(
            f"{name} must be a number {least}, not {margin}", advice="give it in absolute points, such as 0.01"
        )
    return margin

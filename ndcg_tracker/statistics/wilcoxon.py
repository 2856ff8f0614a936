"""The Wilcoxon signed-rank test, for those who need it."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, finite

_DECIMALS = 12  # sizes that differ by rounding share a rank


def wilcoxon_p_value(delta: Floats) -> float | None:
    """Return the two-sided p-value of the Wilcoxon signed-rank test of paired differences.

    It tests whether the differences are symmetric around 0, **not whether their mean is 0**: on differences of mean 0
    that are not symmetric (many small gains, few large losses) it rejects far more often than its level, at n = 7,000
    nearly always.

    Zeros are left out before SciPy sees the differences, so that only the others decide how p is computed: exactly
    where there are at most 50 of different sizes, by all sign flips where there are at most 13, else by the normal
    distribution. Given the zeros, SciPy leaves them out as well (``zero_method="wilcox"``), but takes the normal
    distribution for that reason alone.

    Parameters: ``delta``: float64, shape (n,), finite. Returns: p in (0, 1], None where n < 2 or all are zero. Raises:
    ValueError for a NaN or an infinity. Source: Wilcoxon, "Individual comparisons by ranking methods", Biometrics
    Bulletin 1, 1945. Agrees with: ``scipy.stats.wilcoxon(d[d != 0])`` of the differences d rounded to 12 decimals
    (tests/compare/test_oracles.py).

    >>> wilcoxon_p_value(np.array([0.25, 0.5, 0.125, -0.0625, 0.0]))
    0.25
    """
    values = np.round(finite(delta), _DECIMALS)
    if values.size < 2 or not values.any():
        return None
    from scipy.stats import wilcoxon

    return max(float(wilcoxon(values[values != 0]).pvalue), SMALLEST_P_VALUE)

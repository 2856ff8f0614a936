"""Means of several strata together, generalized to their groups or to other strata like these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t
from ndcg_tracker.statistics.t_test import Information, TTest, skewness, t_test

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class StratumMean:
    """The mean of one stratum: ``standard_error`` None where it is not known, with ``df`` degrees of freedom."""

    n: int
    mean: float
    standard_error: float | None
    df: float


def stratum_mean(
    n: int, mean: float, error: float | None, df: float | None = None, *, is_same: bool = False
) -> StratumMean:
    """Return the mean of a stratum: its standard error is not known if all its numbers are equal.

    Parameters: ``error``, ``df``: as a t-test has them. ``is_same``: whether they are differences of the same lists,
    which are known to be 0.

    >>> stratum_mean(2, 0.3, 0.0).standard_error is None, stratum_mean(2, 0.0, 0.0, is_same=True).standard_error
    (True, 0.0)
    """
    if is_same:
        return StratumMean(n, 0.0, 0.0, max(n - 1.0, 1.0))
    test = t_test(n, mean, 0.0, error, df)
    return StratumMean(n, mean, None if test.t is None else test.standard_error, test.df)


def strata_information(deltas: Sequence[Floats]) -> Information:
    """Return the information that the differences of strata carry on their macro mean, where each stratum counts once.

    A difference in a stratum of n groups has weight w = 1/n. ``n_nonzero`` is the number of differences of equal weight
    that carry as much information as the nonzero ones, (sum of w^2)^2 / sum of w^4. It is at most their number, and a
    small stratum, whose groups have large weights, determines most of it. ``skewness`` is that of w (d - mean of the
    stratum). Parameters: ``deltas``: float64, shapes (n,), n > 0, finite. Source: Kish, "Survey Sampling", 1965, 11.7.

    >>> strata_information([np.full(200, 0.25), np.full(200, -0.5)]).n_nonzero
    400
    >>> strata_information([np.full(2000, 0.25), np.full(20, -0.5)]).n_nonzero
    20
    """
    weights = np.repeat([1.0 / delta.size for delta in deltas], [delta.size for delta in deltas])
    squares = np.square(weights[np.concatenate(list(deltas)) != 0])
    effective = int(squares.sum() ** 2 / np.square(squares).sum() + 1e-9) if squares.size else 0
    pulls = np.concatenate([(delta - delta.mean()) / delta.size for delta in deltas])
    return Information(weights.size, max(effective, int(squares.size > 0)), skewness(pulls), of_strata=True)


def stratified(strata: Sequence[StratumMean], weights: Sequence[float]) -> TTest:
    """Return the weighted mean of strata, for other groups of these strata.

    mean = sum of w mean / W, W = sum of w; variance = sum of (w se / W)^2, with Welch's and Satterthwaite's degrees of
    freedom, v^2 / sum of ((w se / W)^4 / df). Parameters: ``weights``: >= 0, one per stratum; 1 each for the macro
    mean, n for the micro mean. Raises: ValueError without a stratum. Source: Cochran, "Sampling Techniques", 1977, 5.4;
    Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2, 1946.

    >>> found = stratified([StratumMean(50, 0.25, 0.03, 49.0), StratumMean(300, 0.75, 0.04, 299.0)], [1.0, 1.0])
    >>> found.mean, round(found.standard_error, 6), round(found.df, 1)
    (0.5, 0.025, 249.1)
    """
    total, n = sum(weights), sum(stratum.n for stratum in strata)
    if not strata or not total > 0:
        raise ValueError("there is no stratum")
    shares = [weight / total for weight in weights]
    mean = math.fsum(share * stratum.mean for share, stratum in zip(shares, strata, strict=True))
    errors = [stratum.standard_error for stratum in strata]
    given = [error for error in errors if error is not None]
    if len(given) < len(errors):
        return TTest(n, mean, None)
    parts = [(share * error) ** 2 for share, error in zip(shares, given, strict=True)]
    below = math.fsum(part**2 / stratum.df for part, stratum in zip(parts, strata, strict=True) if part)
    return _test(n, mean, math.sqrt(math.fsum(parts)), math.fsum(parts) ** 2 / below if below else 0.0)


def of_strata(means: Sequence[float]) -> TTest:
    """Return the mean of strata, for other strata like these: a t interval over their means, which count equally.

    Raises: ValueError without a stratum.

    >>> found = of_strata([0.02, 0.04, 0.06])
    >>> round(found.mean, 4), round(found.ci[0], 4), round(found.ci[1], 4)
    (0.04, -0.0097, 0.0897)
    """
    n = len(means)
    mean = math.fsum(means) / n if n else math.nan
    if n == 0:
        raise ValueError("there is no stratum")
    if n == 1:
        return TTest(n, mean, None)
    variance = math.fsum((value - mean) ** 2 for value in means) / (n - 1)
    return _test(n, mean, math.sqrt(variance / n), n - 1.0)


def _test(n: int, mean: float, error: float, df: float) -> TTest:
    if not error > 0 or not df > 0:
        return TTest(n, mean, None, standard_error=error, df=df)
    half, t = two_sided_t(ALPHA, max(df, 1.0)) * error, mean / error
    return TTest(n, mean, None, t, two_sided_p(t, df), (mean - half, mean + half), error, df)

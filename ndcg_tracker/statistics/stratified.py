"""Means of several strata together: of their groups, and of strata like these."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class StratumMean:
    """The mean of one stratum: ``standard_error`` None where it is not known, with ``df`` degrees of freedom."""

    n: int
    mean: float
    standard_error: float | None
    df: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its 95% interval and two-sided p-value against 0; None where nothing can be inferred."""

    mean: float
    standard_error: float | None
    df: float
    ci: tuple[float, float] | None
    p_value: float | None


def stratified(strata: Sequence[StratumMean], weights: Sequence[float]) -> Estimate:
    """Return the weighted mean of strata, for other groups of these strata.

    mean = sum of w mean / W, W = sum of w; variance = sum of (w se / W)^2, with Welch's and Satterthwaite's degrees of
    freedom, v^2 / sum of ((w se / W)^4 / df). Parameters: ``weights``: >= 0, one per stratum; 1 each for the macro
    mean, n for the micro mean. Raises: ValueError without a stratum. Source: Cochran, "Sampling Techniques", 1977, 5.4;
    Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2, 1946.

    >>> found = stratified([StratumMean(50, 0.25, 0.03, 49.0), StratumMean(300, 0.75, 0.04, 299.0)], [1.0, 1.0])
    >>> found.mean, round(found.standard_error, 6), round(found.df, 1)
    (0.5, 0.025, 249.1)
    """
    total = sum(weights)
    if not strata or not total > 0:
        raise ValueError("there is no stratum")
    shares = [weight / total for weight in weights]
    mean = math.fsum(share * one.mean for share, one in zip(shares, strata, strict=True))
    errors = [one.standard_error for one in strata]
    known = [error for error in errors if error is not None]
    if len(known) < len(errors):
        return Estimate(mean, None, 0.0, None, None)
    parts = [(share * error) ** 2 for share, error in zip(shares, known, strict=True)]
    below = math.fsum(part**2 / one.df for part, one in zip(parts, strata, strict=True) if part)
    return _estimate(mean, math.sqrt(math.fsum(parts)), math.fsum(parts) ** 2 / below if below else 0.0)


def of_strata(means: Sequence[float]) -> Estimate:
    """Return the mean of strata, for other strata like these: a t interval over their means, each of which counts once.

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
        return Estimate(mean, None, 0.0, None, None)
    variance = math.fsum((one - mean) ** 2 for one in means) / (n - 1)
    return _estimate(mean, math.sqrt(variance / n), n - 1.0)


def _estimate(mean: float, error: float, df: float) -> Estimate:
    if not error > 0 or not df > 0:
        return Estimate(mean, error, df, None, None)
    half = two_sided_t(ALPHA, max(df, 1.0)) * error
    return Estimate(mean, error, df, (mean - half, mean + half), two_sided_p(mean / error, df))

"""Many tests at once: p-values corrected for their number, and tests of every pair of many runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.distribution_free import content_generator
from ndcg_tracker.statistics.t_distribution import two_sided_p
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values corrected for multiple tests by Holm's step-down procedure.

    Parameters: ``p_values``: each in [0, 1]; None is left out and stays None. Raises: ValueError for a NaN or a
    number outside. Source: Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6,
    1979.

    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    return _corrected(p_values, _step_down)


def _step_down(ascending: Floats) -> Floats:
    """Return ascending p-values, times how many are left of them, up to 1 and never falling."""
    return np.maximum.accumulate(np.minimum(ascending * np.arange(ascending.size, 0, -1), 1.0))


def _corrected(p_values: Sequence[float | None], correction: Callable[[Floats], Floats]) -> list[float | None]:
    """Return what a correction makes of the given p-values in ascending order, each in its place."""
    places = [place for place, p in enumerate(p_values) if p is not None]
    given = np.array([p for p in p_values if p is not None], dtype=np.float64)
    wrong = given[~((given >= 0) & (given <= 1))]
    if wrong.size:
        raise ValueError(f"a p-value must be between 0 and 1, not {wrong[0]}")
    order = np.argsort(given, kind="stable")
    corrected: list[float | None] = [None] * len(p_values)
    for place, p in zip(order.tolist(), correction(given[order]).tolist(), strict=True):
        corrected[places[place]] = p
    return corrected


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Return the q-values of p-values: the smallest false discovery rate at which each is a discovery.

    Parameters: ``p_values``: each in [0, 1]; None is left out and stays None. Raises: ValueError for a NaN or a
    number outside. Source: Benjamini and Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57,
    1995. Equals: scipy.stats.false_discovery_control, whose import takes 0.4 s.

    >>> benjamini_hochberg([0.01, None, 0.04, 0.03])
    [0.03, None, 0.04, 0.04]
    """

    def of_ascending(ascending: Floats) -> Floats:
        raised = ascending * (ascending.size / np.arange(1, ascending.size + 1))
        return np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)

    return _corrected(p_values, of_ascending)


Matrix = NDArray[np.float64]
_ROUNDING = 1e-12  # as in t_test: a spread below this share of the mean is the rounding of subtractions
_EXACT = 1e-6  # variances below this share of both runs' own are computed from the differences, not from products
_FLIPS_AT_ONCE = 500
_NUMBERS_AT_ONCE = 1 << 21


@dataclass(frozen=True, slots=True)
class AllPairs:
    """The differences of all pairs of m runs over n groups.

    ``n``: the groups that count. ``means``: float64, shape (m,). ``delta``: shape (m, m), the mean of row minus that of
    column. ``standard_error``: of delta, and ``p_value``: two-sided, NaN where nothing can be inferred: fewer than 2
    groups, or all differences equal. ``half_width``: of the 95% intervals of delta, NaN there too; None for t with
    ``df`` degrees of freedom, None for n - 1.
    """

    n: int
    means: Floats
    delta: Matrix
    standard_error: Matrix
    p_value: Matrix
    half_width: Matrix | None = None
    df: Matrix | None = None


def all_pairs(values: Matrix, weights: Floats | None = None) -> AllPairs:
    """Return the paired t-tests of all pairs of runs.

    The variance of x - y is that of x, plus that of y, minus twice their covariance, so one product of matrices gives
    those of all pairs; where little is left of it the differences themselves are used. Parameters: ``values``: float64,
    shape (m, n), finite. ``weights``: float64, shape (n,), >= 0; groups of weight 0 do not count. Agrees with:
    ``paired_t`` and ``weighted_t`` of each pair.

    >>> found = all_pairs(np.array([[0.0, 0.25, 0.5, 0.5], [0.0, 0.0, 0.0, 0.75], [0.0, 0.25, 0.5, 0.5]]))
    >>> found.delta[0].tolist(), round(float(found.p_value[0, 1]), 6), bool(np.isnan(found.p_value[0, 2]))
    ([0.0, 0.125, 0.0], 0.495025, True)
    """
    if weights is not None:
        counts = weights > 0
        values, weights = values[:, counts], weights[counts]
    n = values.shape[1]
    total = float(n if weights is None else weights.sum())
    means = values.mean(axis=1) if weights is None else values @ weights / total
    delta = means[:, None] - means[None, :]
    if n < 2:
        unknown = np.full_like(delta, np.nan)
        return AllPairs(n, means, delta, unknown, unknown)
    residuals = values - means[:, None]
    residuals = residuals if weights is None else residuals * weights
    residuals -= residuals.mean(axis=0)  # what all runs share takes digits from the products, and no difference has it
    products = residuals @ residuals.T
    own = np.diag(products)
    squares = own[:, None] + own[None, :] - 2 * products
    small = squares < _EXACT * (own[:, None] + own[None, :])
    for row, column in np.argwhere(np.triu(small, 1)):
        squares[row, column] = squares[column, row] = float(np.square(residuals[row] - residuals[column]).sum())
    np.fill_diagonal(squares, 0.0)
    error = np.sqrt(np.maximum(squares, 0.0) * n / (n - 1)) / total
    is_constant = error * np.sqrt(n) <= _ROUNDING * np.maximum(np.abs(delta), np.abs(means)[:, None])
    error[is_constant] = np.nan
    return AllPairs(n, means, delta, error, _two_sided(delta / error, n - 1.0))


def all_pairs_of_strata(strata: Sequence[AllPairs], same: Sequence[NDArray[np.bool_]]) -> AllPairs:
    """Return the tests of all pairs on the mean of strata, in which each counts once: see ``stratified.stratified``.

    ``n``: of all strata together. Two runs whose differences in a stratum are all equal have no test, except those
    known to be the same there, which have variance 0. Parameters: ``same``: these pairs in each stratum, shape (m, m).

    >>> one = all_pairs(np.array([[0.0, 0.25, 0.5, 0.5], [0.0, 0.0, 0.0, 0.75]]))
    >>> both = all_pairs_of_strata([one, one], [np.eye(2, dtype=bool)] * 2)
    >>> float(both.delta[0, 1]), bool(both.p_value[0, 1] < one.p_value[0, 1])
    (0.125, True)
    """
    from scipy.special import stdtr

    k = len(strata)
    means = np.mean([stratum.means for stratum in strata], axis=0)
    delta = np.mean([stratum.delta for stratum in strata], axis=0)
    parts = [
        np.square(np.where(are_same, 0.0, stratum.standard_error) / k)
        for stratum, are_same in zip(strata, same, strict=True)
    ]
    variance = np.sum(parts, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.square(variance) / np.sum(
            [np.square(part) / max(stratum.n - 1, 1) for part, stratum in zip(parts, strata, strict=True)], axis=0
        )
        t = delta / np.sqrt(variance)
    error = np.where(variance > 0, np.sqrt(variance), np.nan)
    defined = np.isfinite(t) & (variance > 0)
    p_value = np.where(defined, np.maximum(2 * stdtr(df, -np.abs(t)), SMALLEST_P_VALUE), np.nan)
    return AllPairs(sum(stratum.n for stratum in strata), means, delta, error, p_value, df=df)


def all_pairs_of_arms(arms: Sequence[Matrix], weights: Floats | None = None) -> AllPairs:
    """Return the tests of all pairs of arms, which cross groups and repeats (see ``repeats.crossed_t``).

    Parameters: ``arms``: float64, shapes (k, n), finite, a row per run. ``weights``: float64, shape (n,), > 0.

    >>> one = np.array([[0.5, 0.25, 0.75, 0.5], [0.5, 0.375, 0.75, 0.5]])
    >>> found = all_pairs_of_arms([one, one[:1] - 0.25])
    >>> float(found.delta[0, 1]), bool(found.half_width[0, 1] == found.half_width[1, 0])
    (0.265625, True)
    """
    from ndcg_tracker.statistics.repeats import crossed_t

    m, n = len(arms), arms[0].shape[1]
    means = np.array([np.average(arm.mean(axis=0), weights=weights) for arm in arms])
    error, p_value, half = (np.full((m, m), np.nan) for _ in range(3))
    for row, column in itertools.permutations(range(m), 2):
        test = crossed_t(arms[column], arms[row], weights)
        if test.p_value is not None and test.ci is not None:
            error[row, column], p_value[row, column] = test.standard_error or np.nan, test.p_value
            half[row, column] = (test.ci[1] - test.ci[0]) / 2
    return AllPairs(n, means, means[:, None] - means[None, :], error, p_value, half)


def _two_sided(t: Matrix, df: float) -> Matrix:
    """Return the p-value of each t, NaN for NaN."""
    p_values = np.full_like(t, np.nan)
    defined = np.isfinite(t)
    if defined.sum() <= 1000:
        p_values[defined] = [two_sided_p(number, df) for number in t[defined].tolist()]
    else:
        from scipy.special import stdtr

        p_values[defined] = 2 * stdtr(df, -np.abs(t[defined]))
    return np.where(defined, np.maximum(p_values, SMALLEST_P_VALUE), np.nan)


def largest_t(values: Matrix, *, flips: int = 10_000) -> Matrix:
    """Return the p-values of all pairs by sign flips, corrected for all of them: shape (m, m), NaN where undefined.

    p = (1 + how many flips have a largest |t| over all pairs that is as large) / (1 + flips). A flip changes the sign
    of a group's differences in all pairs at once, which keeps how they depend on each other. The seed comes from the
    content. Parameters: ``values``: as ``all_pairs`` takes them, unweighted. Source: Westfall and Young,
    "Resampling-based multiple testing", Wiley 1993, single-step maxT.

    >>> rng = np.random.default_rng(1)
    >>> values = rng.normal(size=(3, 50)) + np.array([[0.0], [0.0], [1.0]])
    >>> (largest_t(values) < 0.05).tolist()
    [[False, False, True], [False, False, True], [True, True, False]]
    """
    pairs = all_pairs(values)
    n_runs, n = values.shape
    centred = values - values.mean(axis=0)
    generator = content_generator(np.sort(centred, axis=1))
    rows, columns = np.triu_indices(n_runs, 1)
    squares = np.array([float(np.square(centred[a] - centred[b]).sum()) for a, b in zip(rows, columns, strict=True)])
    defined = np.isfinite(pairs.standard_error[rows, columns])
    rows, columns, squares = rows[defined], columns[defined], squares[defined]
    observed = np.abs(pairs.delta[rows, columns] / pairs.standard_error[rows, columns])
    counts = np.ones(observed.size)
    at_once = max(1, min(_FLIPS_AT_ONCE, _NUMBERS_AT_ONCE // max(observed.size, n)))
    for first in range(0, flips, at_once):
        signs = generator.integers(0, 2, size=(min(at_once, flips - first), n)) * 2.0 - 1.0
        sums = signs @ centred.T
        differences = sums[:, rows] - sums[:, columns]
        variance = np.maximum(squares - np.square(differences) / n, 0.0) * n / (n - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.abs(differences) / np.sqrt(variance)
        largest = np.nan_to_num(t, nan=0.0, posinf=np.inf).max(axis=1, initial=0.0)
        counts += (largest[:, None] >= observed[None, :] * (1 - 1e-12)).sum(axis=0)
    p_values = np.full((n_runs, n_runs), np.nan)
    p_values[rows, columns] = p_values[columns, rows] = counts / (flips + 1)
    return p_values


def holm_of_pairs(p_values: Matrix) -> Matrix:
    """Return the p-values of all pairs corrected by Holm's procedure over them; see ``holm``.

    >>> holm_of_pairs(np.array([[np.nan, 0.01, 0.04], [0.01, np.nan, 0.03], [0.04, 0.03, np.nan]]))[0].tolist()
    [nan, 0.03, 0.06]
    """
    rows, columns = np.triu_indices(p_values.shape[0], 1)
    given = p_values[rows, columns]
    defined = np.flatnonzero(~np.isnan(given))
    order = defined[np.argsort(given[defined], kind="stable")]
    adjusted = np.full(given.size, np.nan)
    adjusted[order] = _step_down(given[order])
    corrected = np.full_like(p_values, np.nan)
    corrected[rows, columns] = corrected[columns, rows] = adjusted
    return corrected

"""The bootstrap interval of a mean difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.content_seed import content_generator
from ndcg_tracker.statistics.information import skewness
from ndcg_tracker.statistics.t_test import checked_weights, finite

RESAMPLES = 10_000
_BINS = 256
_BLOCK = 1000


@dataclass(frozen=True, slots=True)
class _Condensed:
    """Many numbers in few bins: ``values`` (ascending), how many numbers each represents, and their variance."""

    values: Floats
    counts: NDArray[np.int64]
    variances: Floats


def bootstrap_interval(
    delta: Floats, weights: Floats | None = None, *, level: float = 0.95, resamples: int = RESAMPLES
) -> tuple[float, float] | None:
    """Return the bias-corrected and accelerated (BCa) bootstrap interval of the (weighted) mean difference.

    BCa and not the percentile interval, because differences are skewed: BCa is second-order accurate (the coverage of
    each side errs by O(1/n), not O(1/sqrt(n))), and for a mean both its corrections are known without simulation or
    jackknife: bias correction = acceleration = skewness / (6 sqrt(n)). Both intervals lack the n/(n-1) of the t
    interval and are too narrow with fewer than some 50 nonzero differences: that is why t is the default.

    A resample of n groups is a multinomial draw over the distinct differences. More than 256 distinct ones are put
    into 256 bins of equal width; the spread within a bin is added as a normal number of the same variance, which moves
    the skewness of the mean by at most 1/256. Under weights the influences w (d - mean) n / sum(w) are
    resampled, to the first order as in the weighted t-test. The random numbers come from the content: the same
    differences give the same interval in any order of groups, and swapping the runs mirrors it.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), finite, >= 0. ``level``: in
    (0, 1). ``resamples``: at least 1. Returns: (low, high), None where n < 2 or nothing varies. Raises: ValueError for
    any other number or shape. Sources: Efron, "Better bootstrap confidence intervals", JASA 82, 1987; DiCiccio
    and Efron, "Bootstrap confidence intervals", Statist. Sci. 11, 1996, section 4 (both corrections of a mean). Agrees
    with: scipy.stats.bootstrap(method="BCa"), up to the random numbers and O(1/n) in the bias correction.

    >>> low, high = bootstrap_interval(np.tile([0.5, -0.25, 0.0, 0.25], 25))
    >>> 0.05 < low < 0.08, 0.17 < high < 0.20
    (True, True)
    """
    if resamples < 1 or not 0 < level < 1:
        raise ValueError(f"resamples must be at least 1 and level between 0 and 1, not {resamples} and {level}")
    centre, offsets = _offsets(finite(delta), weights)
    if offsets.size < 2 or not float(np.abs(offsets).max()) > 1e-12 * abs(centre):
        return None
    offsets = np.sort(offsets)
    mirrored = -offsets[::-1]
    differs = np.flatnonzero(offsets != mirrored)
    if not differs.size:
        low, high = _interval(offsets, level, resamples)
        half = (high - low) / 2
        return centre - half, centre + half
    if offsets[differs[0]] > mirrored[differs[0]]:
        low, high = _interval(offsets, level, resamples)
        return centre + low, centre + high
    low, high = _interval(mirrored, level, resamples)
    return centre - high, centre - low


def _offsets(delta: Floats, weights: Floats | None) -> tuple[float, Floats]:
    """Return the mean, and numbers of mean 0 that a resample averages."""
    if weights is None:
        mean = float(delta.mean()) if delta.size else 0.0
        return mean, delta - mean
    checked_weights(delta, weights)
    delta, weights = delta[weights > 0], weights[weights > 0]
    total = float(weights.sum())
    mean = float((weights * delta).sum()) / total if delta.size else 0.0
    return mean, weights * (delta - mean) * (delta.size / total)


def _interval(offsets: Floats, level: float, resamples: int) -> tuple[float, float]:
    """Return the BCa interval of the mean of ascending numbers of mean 0, as moves from that mean."""
    from scipy.special import ndtr, ndtri

    means = _resampled_means(offsets, resamples)
    bias = acceleration = skewness(offsets) / (6 * math.sqrt(offsets.size))
    ends = bias + float(ndtri(0.5 + level / 2)) * np.array([-1.0, 1.0])
    low, high = np.quantile(means, ndtr(bias + ends / (1 - acceleration * ends)))
    return float(low), float(high)


def _resampled_means(ascending: Floats, resamples: int) -> Floats:
    """Return the mean of each resample: float64, shape (resamples,)."""
    n, generator = ascending.size, content_generator(ascending)
    condensed = _condensed(ascending)
    shares = condensed.counts / n
    has_spread = bool(condensed.variances.any())
    means = np.empty(resamples)
    for first in range(0, resamples, _BLOCK):
        counts = generator.multinomial(n, shares, min(_BLOCK, resamples - first))
        block = counts @ condensed.values / n
        if has_spread:
            block += np.sqrt(counts @ condensed.variances) / n * generator.standard_normal(block.size)
        means[first : first + _BLOCK] = block
    return means


def _condensed(ascending: Floats) -> _Condensed:
    """Return ascending numbers as at most 256: themselves if so few are distinct, else the means of bins."""
    new = np.concatenate([[True], ascending[1:] != ascending[:-1]])
    if int(new.sum()) > _BINS:
        low, width = ascending[0], (ascending[-1] - ascending[0]) / _BINS
        edges = np.searchsorted(ascending, low + width * np.arange(1, _BINS))
        starts = np.unique(np.concatenate([[0], edges[edges < ascending.size]]))
    else:
        starts = np.flatnonzero(new)
    counts = np.diff(starts, append=ascending.size)
    values = ascending[starts] if starts.size == new.sum() else np.add.reduceat(ascending, starts) / counts
    rest = np.add.reduceat(np.square(ascending - np.repeat(values, counts)), starts) / counts
    return _Condensed(values, counts, rest)

"""Distribution-free tests and bounds: permutation, Wilcoxon, bootstrap, betting (valid at every n), shares."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, checked_weights, finite, skewness

FLIPS = 10_000
ENUMERATED = 12
"""With up to this many nonzero differences, all their signs are tried."""
_SAME_SUM = 1e-12  # sums this close, relative to the sum of sizes, are equal: .1 + .2 ties with .3
_OFTEN = 400  # sizes this frequent take one draw from the binomial distribution, which beats 50 look-ups
_BLOCK_BYTES = 1 << 20
_SIGNS = 1.0 - 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[None, :], axis=0)  # (8, 256): the bits of each byte
RESAMPLES = 10_000
_BINS = 256
_BLOCK = 1000
_DECIMALS = 12
_DECIMALS_OF_SEED = 9  # fewer, since a number close to the middle between two others of 12 decimals has two roundings


def settled(numbers: Floats) -> Floats:
    """Return finite numbers rounded to 12 decimals, so that nothing hangs on how a subtraction rounded.

    Raises: ValueError for a NaN, an infinity, or more than one dimension.

    >>> settled(np.array([0.3 - 0.1, 0.2])).tolist()
    [0.2, 0.2]
    """
    return np.asarray(np.round(finite(numbers), _DECIMALS) + 0.0)


def content_generator(*columns: Floats) -> np.random.Generator:
    """Return a generator of random numbers whose seed is the digest of these columns.

    The same numbers in the same order give the same generator on every machine, and so do numbers that are equal to 9
    decimals. Sort them first if their order must not matter. -0.0 counts as 0.0.

    Parameters: ``columns``: float64, any shape, at least one. Returns: a generator over SFC64, the fastest of NumPy's
    bit generators. Raises: nothing.

    >>> one, same = content_generator(np.array([0.5, 0.0])), content_generator(np.array([0.5, -0.0]))
    >>> bool(one.random() == same.random())
    True
    """
    digest = hashlib.blake2b(digest_size=16)
    for column in columns:
        digest.update((np.round(column, _DECIMALS_OF_SEED) + 0.0).astype("<f8", copy=False).tobytes())
    return np.random.Generator(np.random.SFC64(int.from_bytes(digest.digest(), "little")))


def sign_flip_p_value(delta: Floats, weights: Floats | None = None, *, flips: int = FLIPS) -> float | None:
    """Return the two-sided p-value, in (0, 1], of the paired permutation test of the (weighted) mean difference.

    Under the null hypothesis swapping the two runs in any group changes nothing, so every difference keeps its size
    and takes either sign with probability 1/2. With b of m random sign vectors giving a sum at least as far from 0 as
    the one seen, p = (b + 1) / (m + 1); with at most 12 nonzero differences all 2^n vectors are tried and p is their
    share. Sums that differ by rounding only count as equal. The random numbers come from the content: the same
    differences give the same p in any order of groups, and if the runs are swapped. It is None for fewer than two
    groups, and if all differences are zero.

    Differences of one size need one binomial draw per sign vector. The others go eight at a time through a table of
    their 256 signed sums, one random byte choosing the signs of all eight; memory grows with m only.

    Parameters: ``delta``: float64, shape (n,), finite. ``weights``: float64, shape (n,), finite, >= 0; groups of
    weight 0 do not count. ``flips``: m, at least 1. Raises: ValueError for any other number or shape. Sources: Fisher,
    "The design of experiments", 1935, section 21; Phipson and Smyth, "Permutation p-values should never be zero",
    Stat. Appl. Genet. Mol. Biol. 9, 2010, eq. 2. Agrees with: scipy.stats.permutation_test(permutation_type="samples").

    >>> sign_flip_p_value(np.array([0.25, 0.5, 0.125, 0.0]))
    0.25
    >>> 0.01 < sign_flip_p_value(np.tile([0.5, -0.25, 0.125], 10)) < 0.1
    True
    """
    if flips < 1:
        raise ValueError(f"flips must be at least 1, not {flips}")
    moves, n = settled(delta), delta.size
    if weights is not None:
        checked_weights(moves, weights)
        moves, n = moves * weights, int(np.count_nonzero(weights))
    sizes = np.sort(np.abs(moves[moves != 0]))
    if n < 2 or not sizes.size:
        return None
    seen = abs(float(moves.sum())) - _SAME_SUM * float(sizes.sum())
    if sizes.size <= ENUMERATED:
        return float((np.abs(_all_sums(sizes)) >= seen).mean())
    b = int((np.abs(_random_sums(sizes, flips)) >= seen).sum())
    return (b + 1) / (flips + 1)


def _all_sums(sizes: Floats) -> Floats:
    """Return the sum of the sizes under every choice of signs: float64, shape (2^n,)."""
    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums + size, sums - size])
    return sums


def _random_sums(sizes: Floats, flips: int) -> Floats:
    """Return the sum of the ascending sizes under random signs: float64, shape (flips,)."""
    generator = content_generator(sizes)
    starts = np.flatnonzero(np.concatenate([[True], sizes[1:] != sizes[:-1]]))
    counts = np.diff(starts, append=sizes.size)
    often = counts >= _OFTEN
    sums = np.zeros(flips)
    for size, count in zip(sizes[starts[often]].tolist(), counts[often].tolist(), strict=True):
        sums += size * (2.0 * generator.binomial(count, 0.5, flips) - count)
    seldom = sizes[np.repeat(~often, counts)]
    eights = np.concatenate([seldom, np.zeros(-seldom.size % 8)]).reshape(-1, 8)
    rows = max(1, _BLOCK_BYTES // flips)
    chosen = np.empty(flips)
    for first in range(0, eights.shape[0], rows):
        tables = eights[first : first + rows] @ _SIGNS
        n_bytes = tables.shape[0] * flips
        words = generator.bit_generator.random_raw(-(-n_bytes // 8)).astype("<u8", copy=False)
        signs = words.view(np.uint8)[:n_bytes].reshape(-1, flips)
        for table, row in zip(tables, signs, strict=True):
            np.take(table, row, out=chosen, mode="clip")  # no byte is out of range; "raise" would copy
            sums += chosen
    return sums


@dataclass(frozen=True, slots=True)
class Condensed:
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
    centre, offsets = _offsets(settled(delta), weights)
    if offsets.size < 2 or not float(np.abs(offsets).max()) > 1e-12 * abs(centre):
        return None
    offsets = np.sort(offsets)
    mirrored = -offsets[::-1]
    differs = np.flatnonzero(offsets != mirrored)
    is_mirrored = differs.size > 0 and bool(offsets[differs[0]] < mirrored[differs[0]])
    low, high = _interval(mirrored if is_mirrored else offsets, level, resamples)
    if not differs.size:
        low, high = (low - high) / 2, (high - low) / 2
    return (centre - high, centre - low) if is_mirrored else (centre + low, centre + high)


def _offsets(delta: Floats, weights: Floats | None) -> tuple[float, Floats]:
    """Return the mean, and numbers of mean 0 that a resample averages."""
    if weights is None:
        mean = float(delta.mean()) if delta.size else 0.0
        return mean, settled(delta - mean)
    checked_weights(delta, weights)
    delta, weights = delta[weights > 0], weights[weights > 0]
    total = float(weights.sum())
    mean = float((weights * delta).sum()) / total if delta.size else 0.0
    return mean, settled(weights * (delta - mean) * (delta.size / total))


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
    few = condensed(ascending)
    shares = few.counts / n
    has_spread = bool(few.variances.any())
    means = np.empty(resamples)
    for first in range(0, resamples, _BLOCK):
        counts = generator.multinomial(n, shares, min(_BLOCK, resamples - first))
        block = counts @ few.values / n
        if has_spread:
            block += np.sqrt(counts @ few.variances) / n * generator.standard_normal(block.size)
        means[first : first + _BLOCK] = block
    return means


def condensed(ascending: Floats) -> Condensed:
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
    return Condensed(values, counts, rest)


def wilcoxon_p_value(delta: Floats) -> float | None:
    """Return the two-sided p-value of the Wilcoxon signed-rank test of paired differences.

    It tests whether the differences are symmetric around 0, **not whether their mean is 0**: on differences of mean 0
    that are not symmetric (many small gains, few large losses) it rejects far more often than its level, at n = 7,000
    nearly always.

    Zeros are left out before SciPy sees the differences, so that only the others decide how p is computed. It is exact
    for at most 50 differences of different sizes, by all sign flips for at most 13, else by the normal distribution.
    Given the zeros, SciPy leaves them out as well (``zero_method="wilcox"``), but takes the normal distribution for
    that reason alone.

    Parameters: ``delta``: float64, shape (n,), finite. Returns: p in (0, 1], None where n < 2 or all are zero. Raises:
    ValueError for a NaN or an infinity. Source: Wilcoxon, "Individual comparisons by ranking methods", Biometrics
    Bulletin 1, 1945. Agrees with: ``scipy.stats.wilcoxon(d[d != 0])`` of the differences d rounded to 12 decimals
    (tests/compare/test_oracles.py).

    >>> wilcoxon_p_value(np.array([0.25, 0.5, 0.125, -0.0625, 0.0]))
    0.25
    """
    values = settled(delta)
    if values.size < 2 or not values.any():
        return None
    from scipy.stats import wilcoxon

    return max(float(wilcoxon(values[values != 0]).pvalue), SMALLEST_P_VALUE)


CAP = 0.9
"""The share of the capital that one bet may lose; at .75, bounds of 50 to 300 small differences are 1/7 wider."""
_PRECISION = 1e-10


@dataclass(frozen=True, slots=True)
class _Game:
    """Numbers in [0, 1] in the order of the bets, the share of a bet that each moves, and the bets.

    ``mean``: the weighted mean.
    """

    numbers: Floats
    shares: Floats
    bets: Floats
    mean: float

    @classmethod
    def of(cls, numbers: Floats, shares: Floats, alpha: float) -> _Game:
        """Return the game that is sharp at level ``alpha``."""
        places = np.arange(1.0, numbers.size + 1)
        sums, weight_sums = np.cumsum(shares * numbers), np.cumsum(shares)
        squares = np.cumsum(np.square(shares * (numbers - (0.5 + sums) / (1 + weight_sums))))
        before = np.concatenate([[0.0], squares[:-1]])  # no looking ahead
        bets = np.sqrt(-2 * math.log(alpha) / places.size / ((0.25 + before) / places))
        return cls(numbers, shares, bets, float(sums[-1] / weight_sums[-1]))

    def log_capital(self, mean: float) -> float:
        """Return the log of the largest capital reached by betting that the numbers are above this mean, > 0."""
        stakes = np.minimum(self.bets, CAP / mean)
        stakes *= self.numbers - mean
        stakes *= self.shares
        return float(np.cumsum(np.log1p(stakes, out=stakes), out=stakes).max(initial=0.0))


def betting_lower_bound(delta: Floats, weights: Floats | None = None, *, level: float = 0.95) -> float:
    """Return the one-sided lower confidence bound of the mean difference, valid for any distribution on [-1, 1].

    With x = (d + 1) / 2, a gambler who bets that the mean is above m owns K(m) = prod(1 + lambda_i (x_i - m)), which
    ever exceeds 1 / alpha with probability at most alpha if it is not (Ville). The bound is the largest m at which it
    did, or the sample mean if that is less. The bets are the predictable plug-in ones, lambda_i =
    min(sqrt(2 log(1 / alpha) / (n s_i^2)), c / m) with c = .9 and s_i^2 the variance of the numbers before i. K falls
    as m grows, so false position finds the bound, and its safe end is returned. The order of the bets is drawn from
    the content, whatever the order of the groups.

    Under weights each number moves the share w_i / max(w) of its bet, which bounds the weighted mean (the capital is
    a martingale where E[w (x - m)] = 0), the largest weight taken as known beforehand.

    Parameters: ``delta``: float64, shape (n,), within [-1, 1]. ``weights``: float64, shape (n,), finite, >= 0.
    ``level``: 1 - alpha, in (0, 1). Returns: a number in [-1, 1], -1 where n is 0. Raises: ValueError for any other
    number or shape. Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", J. R.
    Statist. Soc. B 86, 2024 (read 2023), theorem 3 (hedged capital) and its predictable plug-in bets.

    >>> round(betting_lower_bound(np.tile([0.25, -0.125, 0.0, 0.125], 100)), 3)
    0.045
    """
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, not {level}")
    game = _game(delta, weights, 1 - level)
    return -1.0 if game is None else 2 * _largest_refuted(game, -math.log1p(-level)) - 1


def betting_upper_bound(delta: Floats, weights: Floats | None = None, *, level: float = 0.95) -> float:
    """Return the one-sided upper confidence bound of the mean difference: the mirrored lower bound of -delta.

    >>> betting_upper_bound(np.array([0.5, -0.25])) == -betting_lower_bound(np.array([-0.5, 0.25]))
    True
    """
    return -betting_lower_bound(-delta, weights, level=level)


def betting_interval(delta: Floats, weights: Floats | None = None, *, level: float = 0.95) -> tuple[float, float]:
    """Return the two-sided interval: the hedged capital, half of it on each side, so both bounds at (1 + level) / 2.

    Parameters, returns and source: as ``betting_lower_bound``.

    >>> low, high = betting_interval(np.zeros(1000))
    >>> low == -high and high < 0.02
    True
    """
    side = (1 + level) / 2
    return betting_lower_bound(delta, weights, level=side), betting_upper_bound(delta, weights, level=side)


def betting_p_value(delta: Floats, weights: Floats | None = None, *, alpha: float = 0.05) -> float:
    """Return the two-sided p-value of a mean difference of 0: 2 / capital, at most 1, valid at every n.

    Parameters: ``alpha``: the level for which the bets are made; others are valid too, less sharp. The rest as
    ``betting_lower_bound``.

    >>> betting_p_value(np.zeros(9)), betting_p_value(np.full(200, 0.25)) < 1e-6
    (1.0, True)
    """
    capital = 0.0
    for side in (delta, -delta):
        game = _game(side, weights, alpha / 2)
        if game is not None:
            capital = max(capital, game.log_capital(0.5))
    return min(1.0, max(2 * math.exp(-min(capital, 740.0)), SMALLEST_P_VALUE))


def share_upper_bound(k: int, n: int, *, level: float = 0.95) -> float:
    """Return the exact one-sided upper confidence bound of a share, of which k of n independent draws are.

    With k = 0 it is 1 - (1 - level)^(1 / n), about 3 / n at 95%.

    Parameters: ``k``: 0 to ``n``. ``n``: >= 1. ``level``: in (0, 1). Returns: a share in (0, 1]. Source: Clopper and
    Pearson, Biometrika 26, 1934. Agrees with: scipy.stats.binomtest(k, n, alternative="less").proportion_ci().

    >>> round(share_upper_bound(0, 100), 4), share_upper_bound(0, 149) < 0.02 < share_upper_bound(0, 148)
    (0.0295, True)
    """
    if not k:
        return -math.expm1(math.log1p(-level) / n)
    from scipy.special import betaincinv

    return 1.0 if k == n else float(betaincinv(k + 1, n - k, level))


def share_lower_bound(k: int, n: int, *, level: float = 0.95) -> float:
    """Return the exact one-sided lower confidence bound of a share: the mirrored ``share_upper_bound``.

    >>> share_lower_bound(0, 50), round(share_lower_bound(6, 50, level=0.99), 4)
    (0.0, 0.0369)
    """
    return 1 - share_upper_bound(n - k, n, level=level) if k else 0.0


def share_p_value(k: int, n: int, share: float) -> float:
    """Return the exact one-sided p-value of k of n draws, or more, where the share is ``share``, in (0, 1).

    It is below alpha if and only if ``share_lower_bound`` at 1 - alpha lies above the share.

    >>> round(share_p_value(2, 3, 0.5), 6), share_p_value(0, 9, 0.1)
    (0.5, 1.0)
    """
    if not k:
        return 1.0
    from scipy.special import betainc

    return float(betainc(k, n - k + 1, share))


def _game(delta: Floats, weights: Floats | None, alpha: float) -> _Game | None:
    """Return the bets on these differences; None without differences."""
    delta = settled(delta)
    if (np.abs(delta) > 1).any():
        raise ValueError("a betting bound needs differences within -1 to 1")
    if weights is None:
        ordered = np.sort(delta)
        content_generator(ordered).shuffle(ordered)
        shares = np.ones(delta.size)
    else:
        checked_weights(delta, weights)
        order = np.lexsort((delta, weights))
        order = order[weights[order] > 0]
        order = content_generator(delta[order], weights[order]).permutation(order)
        ordered, shares = delta[order], weights[order] / weights.max(initial=0.0)
    if not ordered.size:
        return None
    return _Game.of((ordered + 1) / 2, shares, alpha)


def _largest_refuted(game: _Game, threshold: float) -> float:
    """Return the largest mean that the capital refutes, or up to 1e-10 less, and never more than the sample mean."""
    high = game.mean
    above = game.log_capital(max(high, _PRECISION)) - threshold
    if above >= 0:  # by chance; no bound exceeds the sample mean
        return high
    step = 0.1 / math.sqrt(game.numbers.size)
    while True:
        low = max(high - step, _PRECISION)
        below = game.log_capital(low) - threshold
        if below >= 0:
            break
        if low == _PRECISION:
            return 0.0
        high, above, step = low, below, 2 * step
    while high - low > _PRECISION:
        middle = low + (high - low) * below / (below - above)
        middle = min(max(middle, low + _PRECISION / 2), high - _PRECISION / 2)
        value = game.log_capital(middle) - threshold
        if value >= 0:
            low, below, above = middle, value, above / 2
        else:
            high, above, below = middle, value, below / 2
    return low

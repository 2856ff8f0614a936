"""Student's t distribution: its tails and quantiles, and the power of its test.

A comparison, a gate and a history need nothing else from SciPy, and without it they end 0.1 s sooner or more
(``benchmarks/tricks.py``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

_PRECISION = 4e-16
_ENOUGH = 1e-12
_SETTLED = 1e-14  # of the logarithm of t: the rounding of the tail moves it by as much
_SERIES = 1e-3  # below this z^2 / df the expansion is exact to a double, and takes 2 us, not ms
_EXPANSION: tuple[Callable[[float], float], ...] = (
    lambda z: z,
    lambda z: (z**3 + z) / 4,
    lambda z: (5 * z**5 + 16 * z**3 + 3 * z) / 96,
    lambda z: (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    lambda z: (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
)
_LEAST = 1e-300
_MANY = 10.0
_FAR_OUT = 1e-150
_STEPS = 200
_FARTHEST = 700.0  # the largest t whose exponential is finite
_PLACES = 257
_FURTHER_PLACES = 16_000  # over df^2: few differences give wide densities and large quantiles
_NEGLIGIBLE = 45.0  # a density of exp(-45) of the maximum adds nothing
_ROOT_2, _ROOT_2_PI = math.sqrt(2), math.sqrt(2 * math.pi)
_DIFFERENCE = (-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224)


def two_sided_p(t: float, df: float) -> float:
    """Return the probability that |T| exceeds |t|: I_x(df / 2, 1 / 2) with x = df / (df + t^2).

    Parameters: ``t``: a number or an infinity. ``df``: degrees of freedom, > 0. Returns: a number in [0, 1], 0 only
    where it is below the smallest double; its relative error is below 1e-12 up to 5,000 degrees of freedom, and below
    1e-9 up to 10 million. Raises: ValueError for NaN. Source: the continued fraction of the incomplete beta function,
    DLMF 8.17.22 (https://dlmf.nist.gov/8.17.v), by Lentz's method. Agrees with: scipy.special.stdtr.

    >>> round(two_sided_p(2.0, 10.0), 12), two_sided_p(0.0, 3.0)
    (0.073388034771, 1.0)
    """
    if math.isnan(t) or not df > 0:
        raise ValueError(f"t = {t} with {df} degrees of freedom has no probability")
    square = t * t
    if math.isinf(square):
        return math.exp(min(0.0, _log_front(df) - df * (math.log(abs(t)) - math.log(df) / 2) - math.log(df / 2)))
    a, x, y = df / 2, df / (df + square), square / (df + square)
    if y == 0:
        return 1.0
    front = math.exp(_log_front(df) - a * math.log1p(square / df) + math.log(y) / 2)
    if x < (a + 1) / (a + 2.5):
        return min(1.0, front * _fraction(a, 0.5, x) / a)
    return max(0.0, 1 - front * _fraction(0.5, a, y) * 2)


@lru_cache(maxsize=4096)
def two_sided_t(p: float, df: float) -> float:
    """Return the t > 0 that |T| exceeds with probability p: ``two_sided_p(t, df) == p``.

    Parameters: ``p``: in [1e-100, 1). ``df``: >= 1. Raises: ValueError for any other. Agrees with:
    scipy.special.stdtrit at 1 - p / 2. Source, for many degrees of freedom: Abramowitz and Stegun, 26.7.5.

    >>> round(two_sided_t(0.05, 10.0), 6), round(two_sided_t(0.05, 1e6), 6)
    (2.228139, 1.959966)
    """
    if not 1e-100 <= p < 1 or not df >= 1:
        raise ValueError(f"p must be between 1e-100 and 1, with 1 degree of freedom or more, not {p} with {df}")
    z = _normal(p)
    if max(z * z, 1.0) < df * _SERIES:
        return sum(polynomial(z) / df**power for power, polynomial in enumerate(_EXPANSION))
    # log p over log t is concave and falls, so Newton's steps come down to the root after the first
    wanted, place, step = math.log(p), 0.0, 1.0
    log_density = _log_front(df) + math.log(2 / math.sqrt(df))
    for _ in range(_STEPS):
        t = math.exp(place)
        tail = two_sided_p(t, df)
        if tail < _FAR_OUT:  # too far out to evaluate: back by half
            step = abs(step) / 2
        else:
            slope = -math.exp(log_density - (df + 1) / 2 * math.log1p(t * t / df) + place) / tail
            step = (math.log(tail) - wanted) / slope
        place = min(place - step, _FARTHEST)
        if abs(step) <= _SETTLED:
            break
    return math.exp(place)


@lru_cache(maxsize=64)
def _log_front(df: float) -> float:
    """Return -log B(df / 2, 1 / 2), by its asymptotic series where the gamma functions would cancel."""
    a = df / 2
    shift = 0.0
    while a < _MANY:  # G(a + 1/2) / G(a) = G(a + 3/2) / G(a + 1) * a / (a + 1/2)
        shift += math.log(a / (a + 0.5))
        a += 1
    series = sum(term / a ** (2 * place + 1) for place, term in enumerate(_DIFFERENCE))
    return shift + math.log(a) / 2 + series - math.log(math.pi) / 2


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of I_x(a, b), for x below (a + 1) / (a + b + 2)."""
    c, d = 1.0, 1 / _away_from_0(1 - (a + b) * x / (a + 1))
    fraction = d
    m = 0
    while True:
        m += 1
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d = 1 / _away_from_0(1 + even * d)
        c = _away_from_0(1 + even / c)
        fraction *= c * d
        d = 1 / _away_from_0(1 + odd * d)
        c = _away_from_0(1 + odd / c)
        change = c * d
        fraction *= change
        if abs(change - 1) <= _PRECISION:
            return fraction


def normal_quantile(level: float) -> float:
    """Return the z that Z does not exceed with probability ``level``, in (0.5, 1). Agrees with: scipy.special.ndtri.

    >>> round(normal_quantile(0.975), 6)
    1.959964
    """
    return _normal(2 * (1 - level))


@lru_cache(maxsize=256)
def _normal(p: float) -> float:
    """Return the z > 0 that |Z| exceeds with probability p."""
    wanted = math.log(p)
    z = math.sqrt(-2 * wanted)  # above the root: the tail is below exp(-z^2 / 2), and Newton's steps come down
    for _ in range(_STEPS):
        tail = math.erfc(z / _ROOT_2)
        step = (math.log(tail) - wanted) * tail * _ROOT_2_PI / (2 * math.exp(-z * z / 2))
        z += step
        if abs(step) <= _PRECISION * z:
            break
    return z


def lower_tail(t: float, df: float) -> float:
    """Return the probability that T is t or less.

    Parameters and precision: as ``two_sided_p``. Agrees with: scipy.special.stdtr.

    >>> round(lower_tail(-2.0, 10.0), 6), lower_tail(0.0, 3.0)
    (0.036694, 0.5)
    """
    outside = two_sided_p(t, df) / 2
    return outside if t <= 0 else 1 - outside


def quantile(level: float, df: float) -> float:
    """Return the t that T does not exceed with probability ``level``.

    Parameters: ``level``: in (0, 1). ``df``: >= 1. Raises: ValueError for any other. Agrees with:
    scipy.special.stdtrit.

    >>> round(quantile(0.95, 10.0), 6), quantile(0.5, 10.0)
    (1.812461, 0.0)
    """
    if level == 0.5:
        return 0.0
    return two_sided_t(2 * (1 - level), df) if level > 0.5 else -two_sided_t(2 * level, df)


@lru_cache(maxsize=4096)
def noncentrality_found(df: float, alpha: float, power: float) -> float:
    """Return the noncentrality that the two-sided test at ``alpha`` finds with this power.

    With T = (Z + d) / S, S^2 = chi^2(df) / df, the power is the mean of P(|Z + d| > S t) over S, by the trapezoidal
    rule on log S, whose density is smooth and vanishes at both ends. Newton's steps solve it for d.

    Parameters: ``df``: >= 1. ``alpha``, ``power``: 0 < alpha < power < 1. Returns: a number > 0, with a relative error
    below 1e-9 up to 10 million degrees of freedom, for ``alpha`` of 0.01 or more. Agrees with: scipy.special.nctdtr.

    >>> round(noncentrality_found(24.0, 0.05, 0.8), 4)
    2.9201
    """
    wide = math.sqrt(_NEGLIGIBLE / df)
    low = -wide
    while df * (low - math.expm1(2 * low) / 2) > -_NEGLIGIBLE:
        low *= 1.25
    log_s = np.linspace(low, wide, _PLACES + int(_FURTHER_PLACES / df**2))
    density = np.exp(df * (log_s - np.expm1(2 * log_s) / 2))
    shares = (density / density.sum()).tolist()
    criticals = (two_sided_t(alpha, df) * np.exp(log_s)).tolist()
    below, above, d = 0.0, math.inf, two_sided_t(alpha, df)
    for _ in range(_STEPS):
        reached, slope = 0.0, 0.0
        for share, critical in zip(shares, criticals, strict=True):
            over, under = critical - d, critical + d
            reached += share * (math.erfc(over / _ROOT_2) + math.erfc(under / _ROOT_2)) / 2
            slope += share * (math.exp(-over * over / 2) - math.exp(-under * under / 2)) / _ROOT_2_PI
        below, above = (d, above) if reached < power else (below, d)
        following = d - (reached - power) / slope if slope > 0 else math.inf
        if not below < following < above:
            following = (below + above) / 2 if above < math.inf else 2 * d
        if abs(following - d) <= _ENOUGH * d:
            break
        d = following
    return float(d)


def _away_from_0(number: float) -> float:
    return number if abs(number) > _LEAST else _LEAST

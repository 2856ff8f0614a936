"""Confidence bounds of a mean that hold at every n, from the capital of a gambler who bets against each mean."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.distribution_free import content_generator
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, checked_weights, finite

_CAP = 0.75  # how much of the capital one bet may lose
_PRECISION = 1e-10


@dataclass(frozen=True, slots=True)
class _Game:
    """Numbers in [0, 1] in the order of the bets, the bet on each, the share of it that each moves, and the mean."""

    numbers: Floats
    bets: Floats
    shares: Floats
    mean: float

    def log_capital(self, mean: float) -> float:
        """Return the log of the largest capital reached by betting that the numbers are above this mean, > 0."""
        stakes = np.minimum(self.bets, _CAP / mean)
        stakes *= self.numbers - mean
        stakes *= self.shares
        return float(np.cumsum(np.log1p(stakes, out=stakes), out=stakes).max(initial=0.0))


def betting_lower_bound(delta: Floats, weights: Floats | None = None, *, level: float = 0.95) -> float:
    """Return the one-sided lower confidence bound of the mean difference, valid for any distribution on [-1, 1].

    With x = (d + 1) / 2, a gambler who bets that the mean is above m owns K(m) = prod(1 + lambda_i (x_i - m)), which
    ever exceeds 1 / alpha with probability at most alpha if it is not (Ville). The bound is the largest m at which it
    did, or the sample mean if that is less. The bets are the predictable plug-in ones, lambda_i =
    min(sqrt(2 log(1 / alpha) / (n s_i^2)), c / m) with c = 3/4 and s_i^2 the variance of the numbers before i. K falls
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


def _game(delta: Floats, weights: Floats | None, alpha: float) -> _Game | None:
    """Return the bets on these differences; None without differences."""
    if (np.abs(finite(delta)) > 1).any():
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
    numbers, places = (ordered + 1) / 2, np.arange(1.0, ordered.size + 1)
    sums = np.cumsum(shares * numbers)
    weight_sums = np.cumsum(shares)
    squares = np.cumsum(np.square(shares * (numbers - (0.5 + sums) / (1 + weight_sums))))
    variances = (0.25 + np.concatenate([[0.0], squares[:-1]])) / places  # before each bet, without looking ahead
    bets = np.sqrt(-2 * math.log(alpha) / numbers.size / variances)
    return _Game(numbers, bets, shares, float(sums[-1] / weight_sums[-1]))


def _largest_refuted(game: _Game, threshold: float) -> float:
    """Return the largest mean that the capital refutes, or up to 1e-10 less, and never more than the sample mean."""
    high, above = game.mean, game.log_capital(max(game.mean, _PRECISION)) - threshold
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

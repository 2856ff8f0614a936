"""The margin that repeats teach, and the share of an alpha budget that a decision may spend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.statistics.repeats import RunVariance
from ndcg_tracker.statistics.t_distribution import two_sided_t

FEWEST_REPEATS = 3
ROUNDING = 1e-12
"""The rounding error of a mean difference, which must decide nothing."""


@dataclass(frozen=True, slots=True)
class LearnedMargin:
    """A margin and what it was learned from.

    ``margin``: the most that the means of two further repeats differ by, with confidence ``level``. ``runs``: the names
    of the repeats. ``n_pairs``: the pairs they make. ``sd``: the standard deviation of their means. ``largest``: the
    largest difference of means among the pairs. ``run_variance``: how much of it other groups would not change.
    """

    margin: float
    runs: tuple[str, ...]
    n_pairs: int
    sd: float
    largest: float
    level: float
    run_variance: RunVariance | None = None


def learned_margin(runs: Sequence[str], means: Sequence[float], *, level: float = 0.95) -> LearnedMargin:
    """Return the margin that repeats of one system teach: the upper bound of |difference| between two of them.

    margin = t((1 + level) / 2; k - 1) * sd * sqrt(2), sd the standard deviation of the k means: the difference of two
    further repeats, which has the variance 2 sd^2, lies within it with this confidence. Few repeats give a wide one.

    Parameters: ``runs``: the names of k >= 3 repeats. ``means``: the mean of each, finite, over the same groups.
    ``level``: in (0, 1). Returns: the margin, > 0. Raises: InputError below 3 repeats, and where all means are equal.
    Source: the prediction interval of a difference of two normal numbers; Student, Biometrika 6, 1908.

    >>> learned = learned_margin(["a", "b", "c"], [0.650, 0.652, 0.651])
    >>> round(learned.margin, 4), learned.n_pairs, round(learned.largest, 3)
    (0.0061, 3, 0.002)
    """
    k = len(means)
    if k < FEWEST_REPEATS:
        raise InputError(f"a margin is learned from {FEWEST_REPEATS} repeats or more, not from {k}")
    mean = math.fsum(means) / k
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in means) / (k - 1))
    differences = [abs(first - second) for first, second in combinations(means, 2)]
    if max(differences) <= ROUNDING:
        raise InputError(
            f"the {k} repeats have the same mean, so there is no chance to learn a margin from",
            advice=(
                f"for a system that always gives the same results use {argument('scope', 'set')}, or give "
                f"{argument('margin')} a number"
            ),
        )
    margin = two_sided_t(1 - level, k - 1.0) * sd * math.sqrt(2)
    return LearnedMargin(margin, tuple(runs), len(differences), sd, max(differences), level)


def spent_alpha(decision_number: int, alpha: float) -> float:
    """Return the share of an alpha budget that the i-th decision of a gate may spend, in the place of FAIL's 1%.

    alpha_i = alpha * 6 / (pi^2 i^2); all of them add up to alpha, so a gate that judges harmless changes for ever
    gives a false FAIL with probability alpha at most.

    Parameters: ``decision_number``: i, from 1. ``alpha``: the budget, in (0, .5). Raises: InputError for any other.
    Source: Foster and Stine, "Alpha-investing", J. R. Statist. Soc. B 70, 2008, section 2 (alpha spending); Euler's
    sum of 1 / i^2.

    >>> round(spent_alpha(1, 0.05), 4), round(spent_alpha(10, 0.05), 6)
    (0.0304, 0.000304)
    """
    if decision_number < 1:
        raise InputError(f"the number of a gate's decision must be 1 or more, not {decision_number}")
    if not 0 < alpha < 0.5:
        raise InputError(f"an alpha budget must lie between 0 and 0.5, not at {alpha}", advice="give for example 0.05")
    return alpha * 6 / (math.pi * decision_number) ** 2

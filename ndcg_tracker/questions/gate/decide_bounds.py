"""The basis of a gate's decision: a margin learned from repeats, and the level of a look."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.statistics.repeats import RunVariance
from ndcg_tracker.statistics.t_distribution import two_sided_t

FEWEST_REPEATS = 3
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class LearnedMargin:
    """A margin and the repeats that it was learned from.

    ``margin``: the largest difference between the means of two further repeats, with confidence ``level``. ``runs``:
    the names of the repeats. ``n_pairs``: the number of their pairs. ``sd``: the standard deviation of their means.
    ``largest``: the largest difference of means among the pairs. ``run_variance``: the part of the variance that other
    groups would not change.
    """

    margin: float
    runs: tuple[str, ...]
    n_pairs: int
    sd: float
    largest: float
    level: float
    run_variance: RunVariance | None = None


def learned_margin(runs: Sequence[str], means: Sequence[float], *, level: float = 0.95) -> LearnedMargin:
    """Return the margin learned from repeats of one system: the upper bound of |difference| between two of them.

    margin = t((1 + level) / 2; k - 1) * sd * sqrt(2), where sd is the standard deviation of the k means. The difference
    of two further repeats has the variance 2 sd^2 and lies within the margin with this confidence. Few repeats give a
    wide margin.

    Parameters: ``runs``: the names of k >= 3 repeats. ``means``: the mean of each, finite, over the same groups.
    ``level``: in (0, 1). Returns: the margin, > 0. Raises: InputError for fewer than 3 repeats, and if all means are
    equal. Source: the prediction interval of a difference of two normal numbers; Student, Biometrika 6, 1908.

    >>> learned = learned_margin(["a", "b", "c"], [0.650, 0.652, 0.651])
    >>> round(learned.margin, 4), learned.n_pairs, round(learned.largest, 3)
    (0.0061, 3, 0.002)
    """
    k = len(means)
    if k < FEWEST_REPEATS:
        raise InputError(f"learning a margin needs at least {FEWEST_REPEATS} repeats, not {k}")
    mean = math.fsum(means) / k
    sd = math.sqrt(math.fsum((value - mean) ** 2 for value in means) / (k - 1))
    differences = [abs(first - second) for first, second in combinations(means, 2)]
    if max(differences) <= _ROUNDING:
        raise InputError(
            f"the {k} repeats have the same mean, so they show no chance to learn a margin from",
            advice=(
                f"for a system that always gives the same results, use {argument('scope', 'set')}, or give "
                f"{argument('margin')} a number"
            ),
        )
    margin = two_sided_t(1 - level, k - 1.0) * sd * math.sqrt(2)
    return LearnedMargin(margin, tuple(runs), len(differences), sd, max(differences), level)


LEAST_BUDGET, MOST_LOOKS = 1e-9, 1_000_000_000
LEAST_LEVEL = 1e-15
"""Below this, 1 - level is 1 in double precision, and nothing can PASS."""


def look_level(look: int, budget: float, looks: int | None = None, n_passed: int | None = None) -> float:
    """Return the level of the i-th look under a budget, for PASS and likewise for FAIL.

    a_i = budget / looks, or without a number of looks budget * 6 / (pi^2 i^2). All levels add up to the budget at most.
    So with probability 1 - budget, no candidate that is worse by its margin PASSes at any look, if the candidates do
    not depend on these groups.

    At sealed data, after j of the looks before it PASSed, the level is w_j a_i / C(i - 1, j), w_j = 6 / (pi^2
    (j + 1)^2). Anyone who sees only PASS and NOT PASSED knows i - 1 bits before look i. There are C(i - 1, j) ways that
    j of them are PASS, and each way fixes the candidate. So P(any false PASS) <= sum over i and j of C(i - 1, j) *
    level <= budget, however the candidates are chosen.

    Parameters: ``look``: i, from 1 (to ``looks``). ``budget``: in (0, .5). ``looks``: >= 1. ``n_passed``: j, from 0 to
    i - 1; None for open data. Raises: InputError for another budget, look or number of looks. Source: Bonferroni 1936;
    Foster and Stine, "Alpha-investing", J. R. Statist. Soc. B 70, 2008, section 2; Blum and Hardt, "The Ladder", ICML
    2015, section 3 (the count of transcripts).

    >>> look_level(17, 0.05, 40), round(look_level(17, 0.05), 6), round(look_level(1, 0.05, 40, n_passed=0), 6)
    (0.00125, 0.000105, 0.00076)
    """
    if not LEAST_BUDGET <= budget < 0.5:
        raise InputError(f"a budget must lie between 0 and 0.5, not at {budget:g}", advice="give for example 0.05")
    if not 1 <= (looks or look) <= MOST_LOOKS or looks == 0:
        raise InputError(f"a budget has 1 to {MOST_LOOKS:,} looks, not {look if looks is None else looks}")
    level = budget * 6 / (math.pi * look) ** 2 if looks is None else budget / looks
    if n_passed is not None:
        level *= 6 / (math.pi * (n_passed + 1)) ** 2 / math.comb(look - 1, n_passed)
    return level

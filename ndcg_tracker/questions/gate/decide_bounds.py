"""The basis of a gate's decision: bounds of the mean difference, a margin learned from repeats, the share of alpha."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from ndcg_tracker.compare.inference import GROUPS_ONLY, Chance
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.distribution_free import betting_lower_bound, betting_upper_bound, settled
from ndcg_tracker.statistics.repeats import RunVariance, with_runs
from ndcg_tracker.statistics.t_distribution import quantile, two_sided_t
from ndcg_tracker.statistics.t_test import (
    Information,
    TTest,
    t_lower_bound,
    t_upper_bound,
)

BoundMethod = Literal["t", "betting"]
PASS_LEVEL = 0.95
FAIL_ALPHA = 0.01
FEWEST_REPEATS = 3
ROUNDING = 1e-12
"""The rounding error of a mean difference, which must not decide anything."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """One-sided bounds of a mean difference by t and by betting, and those that decide; None if unknown."""

    information: Information
    t_lower: float | None
    t_upper: float | None
    betting_lower: float | None = None
    betting_upper: float | None = None
    lower: float | None = None
    lower_method: BoundMethod | None = None
    upper: float | None = None
    upper_method: BoundMethod | None = None

    @classmethod
    def deciding(
        cls,
        information: Information,
        by_t: tuple[float | None, float | None],
        by_betting: Callable[[], tuple[float | None, float | None]],
        alphas: tuple[float, float],
    ) -> Bounds:
        """Return the bounds that decide: t bounds if information is enough for their level, else betting bounds.

        ``by_betting``: computes both betting bounds if they are needed. ``alphas``: the levels of the lower and the
        upper bound.
        """
        is_known = None not in by_t
        lower_by_t, upper_by_t = (is_known and not information.is_low_at(alpha) for alpha in alphas)
        betting = (None, None) if lower_by_t and upper_by_t else by_betting()
        method: BoundMethod | None = "t" if lower_by_t else None if betting[0] is None else "betting"
        lower = by_t[0] if lower_by_t else betting[0]
        upper: tuple[float | None, BoundMethod | None] = (by_t[1], "t")
        if not upper_by_t:
            upper = _upper_of_both(by_t[1], betting[1])
        return cls(information, *by_t, *betting, lower, method, *upper)


UNBOUNDED = (-math.inf, math.inf)
"""The limits of differences if the metric has no range."""


def reach_of(delta: Floats, limits: tuple[float, float] | None) -> float:
    """Return how far from 0 a difference may lie; without limits this is 1, or infinity if a difference lies beyond."""
    if limits is not None:
        return max(-limits[0], limits[1])
    return 1.0 if float(np.abs(settled(delta)).max()) <= 1 else math.inf


def bounds_of(
    test: TTest,
    delta: Floats,
    weights: Floats | None,
    fail_alpha: float = FAIL_ALPHA,
    *,
    pass_level: float = PASS_LEVEL,
    limits: tuple[float, float] | None = None,
    chance: Chance = GROUPS_ONLY,
    runs: RunVariance | None = None,
) -> Bounds:
    """Return the bounds that a gate decides by: below at ``pass_level``, above at 1 - ``fail_alpha``.

    Parameters: ``test``: of the differences, by ``chance``. ``delta``: not empty. ``weights``: > 0. The others: see
    ``population_decision``.

    >>> delta = np.tile([0.125, -0.125, 0.0], 100)
    >>> bounds = bounds_of(GROUPS_ONLY.test(delta, None)[0], delta, None)
    >>> bounds.lower_method, round(bounds.lower, 4)
    ('t', -0.0097)
    """
    information = chance.information(delta, weights)
    if runs is not None:
        test = with_runs(test, runs)
    lowest, highest = limits or (-math.inf, math.inf)
    t_lower, t_upper = t_lower_bound(test, level=pass_level), t_upper_bound(test, level=1 - fail_alpha)
    t_lower = None if t_lower is None else max(t_lower, lowest)
    t_upper = None if t_upper is None else min(t_upper, highest)

    def by_betting() -> tuple[float | None, float | None]:
        reach = reach_of(delta, limits)
        if not math.isfinite(reach) or not chance.may_bet:
            return None, None
        bets = chance.independent(delta / reach, weights)
        lower = reach * betting_lower_bound(*bets, level=pass_level)
        upper = reach * betting_upper_bound(*bets, level=1 - fail_alpha)
        return _widened(lower, test, runs, pass_level), _widened(upper, test, runs, 1 - fail_alpha)

    return Bounds.deciding(information, (t_lower, t_upper), by_betting, (1 - pass_level, fail_alpha))


def _widened(bound: float, test: TTest, runs: RunVariance | None, level: float) -> float:
    """Widen a bound that covers groups, so that it covers another training as well."""
    if runs is None or test.mean is None:
        return bound
    of_runs = quantile(level, runs.n_runs - 1.0) * math.sqrt(2 * runs.component)
    return test.mean + math.copysign(math.hypot(bound - test.mean, of_runs), bound - test.mean)


def _upper_of_both(t_upper: float | None, betting_upper: float | None) -> tuple[float | None, BoundMethod | None]:
    """Return the bound that FAIL needs below 0 if information is low: the higher of both, or the only one.

    If information is low, a t bound below 0 does not suffice alone.
    """
    if betting_upper is not None and (t_upper is None or betting_upper >= t_upper):
        return betting_upper, "betting"
    if betting_upper is None and t_upper is not None and t_upper < 0:
        return None, None
    return t_upper, None if t_upper is None else "t"


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
    if max(differences) <= ROUNDING:
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

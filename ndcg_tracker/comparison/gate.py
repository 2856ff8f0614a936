"""May the candidate replace the baseline: three-way non-inferiority, or plain arithmetic on a fixed set."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ndcg_tracker.comparison.decisions import ROUNDING, BoundMethod, GateDecision
from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.betting import betting_lower_bound, betting_upper_bound
from ndcg_tracker.statistics.equivalence import checked_margin
from ndcg_tracker.statistics.information import information_in
from ndcg_tracker.statistics.power import groups_needed
from ndcg_tracker.statistics.t_test import checked_weights, finite, paired_t, t_lower_bound, t_upper_bound, weighted_t

PASS_LEVEL = 0.95
FAIL_ALPHA = 0.01


def population_decision(
    delta: Floats,
    margin: float,
    *,
    weights: Floats | None = None,
    fail_alpha: float = FAIL_ALPHA,
    limits: tuple[float, float] | None = None,
) -> GateDecision:
    """Return whether the candidate may replace the baseline on all groups like these.

    PASS if the one-sided 95% lower bound of the mean difference lies above -margin (a "small but real drop" if the
    upper bound below also lies under 0); FAIL if not PASS and the one-sided 1 - ``fail_alpha`` upper bound lies below
    0; else INCONCLUSIVE, with the number of groups or the margin that would decide. Both are paired t bounds, but
    where information is low (``information_in``) the betting bound decides PASS, and FAIL needs it below 0 beside the t
    bound: on skewed differences of mean 0 the t bound alone gave a false FAIL in 3 to 5% instead of 1% of all cases.
    Where all differences are the same the betting bounds decide alone. All differences zero: PASS.

    Parameters: ``delta``: float64, shape (n,), finite, candidate minus baseline. ``margin``: the drop that is allowed,
    finite, >= 0. ``weights``: float64, shape (n,), finite, >= 0; groups of weight 0 do not count. ``fail_alpha``: how
    often FAIL may strike where nothing differs, in (0, .5); ``spent_alpha`` for repeated gating. ``limits``: between
    which numbers any difference lies, if known: no bound lies beyond. Raises: InputError for another margin; ValueError
    for any other number or shape. Source: Schuirmann 1987 (one of the two tests); ICH E9, 1998, section 3.3.2.

    >>> clear = np.tile([0.125, -0.125, 0.0], 1000)
    >>> population_decision(clear, 0.01).decision, population_decision(clear - 0.03, 0.01).decision
    ('pass', 'fail')
    >>> open_one = population_decision(clear[:300] - 0.003, 0.01)
    >>> open_one.decision, open_one.n_needed, round(open_one.margin_needed, 4)
    ('inconclusive', 579, 0.0127)
    """
    checked_margin(margin, "the margin")
    if not 0 < fail_alpha < 0.5:
        raise ValueError(f"fail_alpha must lie between 0 and .5, not at {fail_alpha}")
    if weights is not None:
        checked_weights(delta, weights)
        delta, weights = delta[weights > 0], weights[weights > 0]
    test = paired_t(delta) if weights is None else weighted_t(delta, weights)
    if test.mean is None:
        return GateDecision("inconclusive", "no group has a result in both runs", "population", margin, 0, None)
    if not delta.any():
        return GateDecision("pass", _identical(test.n), "population", margin, test.n, 0.0)
    known = information_in(delta, weights)
    lowest, highest = limits or (-math.inf, math.inf)
    t_lower = t_lower_bound(test, level=PASS_LEVEL)
    t_lower = None if t_lower is None else max(t_lower, lowest)
    lower, betting_lower, lower_method = t_lower, None, _method(t_lower, "t")
    is_bounded = float(np.abs(delta).max()) <= 1
    if known.is_low or t_lower is None:
        betting_lower = betting_lower_bound(delta, weights, level=PASS_LEVEL) if is_bounded else None
        lower, lower_method = betting_lower, _method(betting_lower, "betting")
    t_upper = t_upper_bound(test, level=1 - fail_alpha)
    t_upper = None if t_upper is None else min(t_upper, highest)
    upper, betting_upper, upper_method = t_upper, None, _method(t_upper, "t")
    if known.is_low or t_upper is None:
        betting_upper = betting_upper_bound(delta, weights, level=1 - fail_alpha) if is_bounded else None
        upper, upper_method = _upper_of_both(t_upper, betting_upper)
    passes = lower is not None and lower > -margin
    fails = not passes and upper is not None and upper < 0
    n_needed, purpose = (None, None) if passes or fails else groups_needed(test, known, margin, fail_alpha)
    found = GateDecision(
        decision="pass" if passes else "fail" if fails else "inconclusive",
        reason="",
        scope="population",
        margin=margin,
        n=test.n,
        delta=test.mean,
        lower=lower,
        lower_method=lower_method,
        upper=upper,
        upper_method=upper_method,
        t_lower=t_lower,
        betting_lower=betting_lower,
        t_upper=t_upper,
        betting_upper=betting_upper,
        pass_level=PASS_LEVEL,
        fail_alpha=fail_alpha,
        low_information=known.warning,
        is_small_drop=passes and upper is not None and upper < 0,
        n_needed=n_needed,
        n_needed_for=purpose,
        margin_needed=None if passes or lower is None else -lower,
    )
    found = replace(found, to_decide=_ways(found))
    return replace(found, reason=_reason(found) + (f"; {found.to_decide}" if found.to_decide else ""))


def set_decision(
    delta: Floats, tolerance: float, *, weights: Floats | None = None, mean: float | None = None
) -> GateDecision:
    """Return whether the candidate holds on just these groups: PASS if the mean difference is at least -tolerance.

    For a fixed set of groups and a deterministic scorer: arithmetic, no inference and no p-value. The sum is exact
    (each difference is rounded once), so the order of the groups cannot decide, and 1e-12 of rounding in the results
    does not either.

    Parameters: ``delta``: float64, shape (n,), finite. ``tolerance``: finite, >= 0. ``weights``: float64, shape (n,),
    finite, >= 0. ``mean``: the mean difference where it is no (weighted) mean of the groups. Raises: InputError for
    another tolerance; ValueError for any other number or shape.

    >>> set_decision(np.array([-0.3, 0.1, 0.2]), 0.0).decision, set_decision(np.array([-0.5, 0.25]), 0.1).decision
    ('pass', 'fail')
    """
    checked_margin(tolerance, "the tolerance")
    finite(delta)
    n = delta.size if weights is None else int(np.count_nonzero(checked_weights(delta, weights)))
    if not n:
        return GateDecision("inconclusive", "no group has a result in both runs", "set", tolerance, 0, None)
    if mean is None and weights is None:
        mean = math.fsum(delta.tolist()) / n
    elif mean is None and weights is not None:
        mean = math.fsum((weights * delta).tolist()) / math.fsum(weights.tolist())
    if mean is None or not math.isfinite(mean):
        raise ValueError(f"the mean difference must be a finite number, not {mean}")
    if not delta.any() and mean == 0:
        return GateDecision("pass", _identical(n), "set", tolerance, n, 0.0)
    passes = mean >= -tolerance - ROUNDING
    relation = "not below" if passes else "below"
    groups = "this 1 group" if n == 1 else f"these {n:,} groups"
    reason = f"the mean difference on {groups}, {mean:.4g}, is {relation} {_negative(tolerance)}"
    return GateDecision("pass" if passes else "fail", reason, "set", tolerance, n, mean)


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
        raise InputError(f"an alpha budget must lie between 0 and 0.5, not at {alpha}; give for example 0.05")
    return alpha * 6 / (math.pi * decision_number) ** 2


def _identical(n: int) -> str:
    return f"identical on all {n:,} groups" if n > 1 else "identical on the one group there is"


def _upper_of_both(t_upper: float | None, betting_upper: float | None) -> tuple[float | None, BoundMethod | None]:
    """Return the bound that FAIL needs below 0 where information is low: the higher of both, or the one there is.

    A t bound below 0 does not stand alone where information is low.
    """
    if betting_upper is not None and (t_upper is None or betting_upper >= t_upper):
        return betting_upper, "betting"
    if betting_upper is None and t_upper is not None and t_upper < 0:
        return None, None
    return t_upper, _method(t_upper, "t")


def _method(bound: float | None, method: BoundMethod) -> BoundMethod | None:
    return None if bound is None else method


def _reason(found: GateDecision) -> str:
    """Return why a population decision fell as it did."""
    allowed = _negative(found.margin)
    fail_level = f"{1 - (found.fail_alpha or 0.0):.4%}".rstrip("%").rstrip("0").rstrip(".") + "%"
    cause = "information is low" if found.low_information else "all differences are the same"
    kind = f"one-sided betting bound, as {cause}" if found.lower_method == "betting" else "one-sided t bound"
    if found.lower is None:
        above = f"delta is not shown to be above {allowed} (low information, and differences beyond 1 know no bound)"
    elif found.decision == "pass":
        above = f"with {PASS_LEVEL:.0%} confidence delta is above {allowed}: at least {found.lower:.4g} ({kind})"
    else:
        above = f"delta is not shown to be above {allowed}: its {PASS_LEVEL:.0%} bound is {found.lower:.4g} ({kind})"
    if found.decision == "pass":
        drop = f"; a small but real drop: with {fail_level} confidence at most {found.upper:.4g}"
        return above + (drop if found.is_small_drop else "")
    if found.upper is None:
        unknown = "nor below 0, where the t bound alone does not count" if found.t_upper is not None else ""
        return ", ".join(filter(None, (above, unknown)))
    by = _upper_kind(found, cause)
    if found.decision == "fail":
        return f"with {fail_level} confidence delta is below 0: at most {found.upper:.4g}{by}; and {above}"
    return f"{above}, nor below 0: its {fail_level} bound is {found.upper:.4g}{by}"


def _upper_kind(found: GateDecision, cause: str) -> str:
    """Return how the upper bound was found, "" where it is no other than the lower one."""
    if found.upper_method == found.lower_method or found.lower is None:
        return ""
    return f" (betting bound, as {cause})" if found.upper_method == "betting" else " (t bound)"


def _ways(found: GateDecision) -> str:
    """Return what would decide an open question, "" where nothing is known to."""
    ways = []
    if found.decision == "inconclusive" and found.n_needed is not None and found.n_needed_for is not None:
        ways.append(f"about {found.n_needed:,} groups like these would decide ({found.n_needed_for.upper()})")
    if found.decision == "inconclusive" and found.margin_needed is not None:
        ways.append(f"a margin above {found.margin_needed:.4g} would PASS")
    return ", ".join(ways)


def _negative(margin: float) -> str:
    return f"{-margin:.4g}" if margin else "0"

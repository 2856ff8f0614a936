"""May a candidate replace the baseline on a suite: a decision on the macro mean, and a floor for each dataset."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ndcg_tracker.comparison.gate import (
    FAIL_ALPHA,
    FEWEST_IN_SLICE,
    PASS_LEVEL,
    BoundMethod,
    Bounds,
    GateDecision,
    GateSlices,
    after_slices,
    bounds_of,
    by_bounds,
    upper_of_both,
)
from ndcg_tracker.comparison.gate_result import Acknowledgement
from ndcg_tracker.comparison.inference import GROUPS_ONLY
from ndcg_tracker.comparison.suite import SuiteComparison
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.equivalence import checked_margin
from ndcg_tracker.statistics.stratified import strata_information, stratified, stratum_mean
from ndcg_tracker.statistics.t_test import TTest, limited, paired_t, t_lower_bound, t_upper_bound

Limits = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SuiteGated:
    """A decision on a suite with all that a report tells of it.

    ``comparison``: of both systems, in which none lacks a run. ``decision``: on the macro mean; its ``slices`` are the
    datasets, where each is allowed a drop of its own. ``number``: which decision of this gate it is (of this suite,
    metric and baseline), from 1. ``decision_id``: its number in the database, None where it was not recorded.
    ``alpha_budget``: of all decisions of this gate, None without. ``acknowledgement``: None where nobody overrode it.
    """

    comparison: SuiteComparison
    decision: GateDecision
    number: int
    decision_id: int | None = None
    alpha_budget: float | None = None
    acknowledgement: Acknowledgement | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.decision.decision == "pass" or self.acknowledgement is not None


def macro_decision(
    deltas: Sequence[Floats], margin: float, *, fail_alpha: float = FAIL_ALPHA, limits: Limits = None
) -> GateDecision:
    """Return what ``gate.population_decision`` decides, on the mean of datasets, in which each counts once.

    The t bounds are those of ``statistics.stratified``. Where the information in all datasets together is low
    (``strata_information``), those that make it low get bounds of their own, found as for one population, and the rest
    t bounds together; with k such parts each gets a k-th of the error, so that their sum holds however they depend on
    each other. Parameters: ``deltas``: of each dataset, float64, shapes (n,), finite, gains where lower values are
    better. ``limits``: between which numbers any difference lies. The rest and what is raised: ``population_decision``.

    >>> import numpy as np
    >>> clear = np.tile([0.125, -0.125, 0.0], 400)
    >>> macro_decision([clear, clear[:600] + 0.01], 0.01).decision
    'pass'
    >>> few = macro_decision([clear, clear[:30]], 0.01)
    >>> few.decision, few.lower_method
    ('inconclusive', 'betting')
    """
    checked_margin(margin, "the margin")
    n = sum(delta.size for delta in deltas)
    if not deltas or not all(delta.size for delta in deltas):
        return GateDecision("inconclusive", "population", margin, n, None)
    if not any(delta.any() for delta in deltas):
        return GateDecision("pass", "population", margin, n, 0.0, is_identical=True)
    macro, known = _macro_test(deltas), strata_information(deltas)
    t_lower, t_upper = _t_bounds(macro, PASS_LEVEL, fail_alpha, limits)
    if not known.is_low_for_one_side and t_lower is not None and t_upper is not None:
        found = Bounds(known, t_lower, t_upper, lower=t_lower, lower_method="t", upper=t_upper, upper_method="t")
        return by_bounds(macro, found, margin, fail_alpha, None, plans_groups=False)
    lower, upper = _bounds_of_parts(deltas, fail_alpha, limits)
    method: BoundMethod | None = None if lower is None else "betting"
    found = Bounds(known, t_lower, t_upper, lower, upper, lower, method, *upper_of_both(t_upper, upper))
    return by_bounds(macro, found, margin, fail_alpha, None, plans_groups=False)


def _macro_test(deltas: Sequence[Floats]) -> TTest:
    strata = [stratum_mean(paired_t(delta), delta) for delta in deltas]
    found = stratified(strata, [1.0] * len(strata))
    n, error = sum(one.n for one in strata), found.standard_error or None
    t = None if error is None else found.mean / error
    return TTest(n, found.mean, None, t, found.p_value, found.ci, error, found.df)


def _t_bounds(test: TTest, pass_level: float, fail_alpha: float, limits: Limits) -> tuple[float | None, float | None]:
    lower, upper = t_lower_bound(test, level=pass_level), t_upper_bound(test, level=1 - fail_alpha)
    if lower is None or upper is None:
        return None, None
    return limited((lower, upper), limits) or (lower, upper)


def _bounds_of_parts(deltas: Sequence[Floats], fail_alpha: float, limits: Limits) -> tuple[float | None, float | None]:
    """Return bounds of the macro mean from those of its parts, None where one of them has none."""
    tests = [paired_t(delta) for delta in deltas]
    is_low = [
        bool(delta.any()) and (test.t is None or GROUPS_ONLY.information(delta, None).is_low_for_one_side)
        for delta, test in zip(deltas, tests, strict=True)
    ]
    rest = [delta for delta, low in zip(deltas, is_low, strict=True) if not low]
    has_chance = any(delta.any() for delta in rest)
    k = sum(is_low) + has_chance
    levels = 1 - (1 - PASS_LEVEL) / k, fail_alpha / k
    parts = []
    for delta, test, low in zip(deltas, tests, is_low, strict=True):
        if low:
            bounds = bounds_of(test, delta, None, levels[1], pass_level=levels[0], limits=limits)
            parts.append((1.0, bounds.lower, bounds.upper))
    if has_chance:
        parts.append((float(len(rest)), *_t_bounds(_macro_test(rest), *levels, limits)))
    lowers = [weight * lower for weight, lower, _ in parts if lower is not None]
    uppers = [weight * upper for weight, _, upper in parts if upper is not None]
    return (
        math.fsum(lowers) / len(deltas) if len(lowers) == len(parts) else None,
        math.fsum(uppers) / len(deltas) if len(uppers) == len(parts) else None,
    )


def with_datasets(
    decision: GateDecision,
    deltas: Mapping[str, Floats],
    margin: float,
    *,
    is_strict: bool = False,
    limits: Limits = None,
) -> GateDecision:
    """Return a decision as ``gate.with_slices`` does: each dataset is a slice that is allowed a drop of its own.

    >>> import numpy as np
    >>> clear = np.tile([0.125, -0.125, 0.0], 400)
    >>> deltas = {"fiqa": clear + 0.05, "scifact": clear - 0.05}
    >>> whole = macro_decision(list(deltas.values()), 0.01)
    >>> whole.decision, with_datasets(whole, deltas, 0.02).decision
    ('pass', 'fail')
    """
    checked_margin(margin, "the margin of datasets")
    alpha = FAIL_ALPHA if decision.fail_alpha is None else decision.fail_alpha
    found = []
    for dataset, delta in deltas.items():
        if delta.size >= FEWEST_IN_SLICE:
            test = paired_t(delta)
            found.append((dataset, test, partial(bounds_of, test, delta, None, limits=limits)))
    n_small = len(deltas) - len(found)
    asked = GateSlices("dataset", margin, is_strict, (), n_small, decision.decision)
    return after_slices(decision, found, alpha, asked)

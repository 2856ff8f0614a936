"""Whether a candidate may replace the baseline on a suite: the macro mean decides, each dataset is a slice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ndcg_tracker.compare.decide_suite import SuiteComparison
from ndcg_tracker.compare.inference import GROUPS_ONLY, Chance
from ndcg_tracker.compare.slices import SliceTest
from ndcg_tracker.questions.gate.decide import (
    GateDecision,
    GateSlices,
    after_slices,
    by_bounds,
)
from ndcg_tracker.questions.gate.decide_bounds import FAIL_ALPHA, PASS_LEVEL, Bounds, bounds_of, reach_of
from ndcg_tracker.questions.gate.question import Acknowledgement
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.distribution_free import betting_lower_bound, betting_upper_bound
from ndcg_tracker.statistics.stratified import strata_information, stratified, stratum_mean
from ndcg_tracker.statistics.t_test import TTest, checked_margin, limited, t_lower_bound, t_upper_bound
from ndcg_tracker.words.notes import Note

Limits = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class SuiteGated:
    """A decision on a suite with everything that a report says about it.

    ``comparison``: of both systems, which have runs on every dataset. ``decision``: on the macro mean; its ``slices``
    are the datasets, if each has its own allowed drop. ``number``: which decision of this gate it is (of this suite,
    metric and baseline), from 1. ``decision_id``: its number in the database, None if it was not recorded.
    ``acknowledgement``: None if nobody overrode it. ``judge_alone``, ``decided_before``, ``outside``: see ``Gated``.
    """

    comparison: SuiteComparison
    decision: GateDecision
    number: int
    decision_id: int | None = None
    acknowledgement: Acknowledgement | None = None
    judge_alone: str = ""
    decided_before: bool = False
    outside: str = ""

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.decision.decision == "pass" or self.acknowledgement is not None


def macro_decision(
    deltas: Sequence[Floats],
    margin: float,
    *,
    fail_alpha: float = FAIL_ALPHA,
    limits: Limits = None,
    chances: Sequence[Chance] = (),
    same: Sequence[bool] = (),
) -> GateDecision:
    """Return the decision of ``gate.population_decision`` on the mean over datasets, in which each dataset counts once.

    The t bounds are those of ``statistics.stratified``. If the information in all datasets together is low
    (``strata_information``), betting bounds decide as in ``population_decision``, from all differences, each weighted
    by 1/n of its dataset. They hold for differences drawn from all datasets at random. Because each dataset has a fixed
    share of the differences, the sum varies less, and the bounds err less often (simulated in the tests). Parameters:
    ``deltas``: of each dataset, float64, shapes (n,), finite, gains where lower values are better. ``limits``: the
    range of differences. ``chances``: of each dataset, none for independent groups. ``same``: whether all lists of each
    dataset are known to be the same, none if that is not known. Other parameters and raises: see
    ``population_decision``.

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
    same = same or [False] * len(deltas)
    if all(same):
        return GateDecision("pass", "population", margin, n, 0.0, is_identical=True)
    chances = chances or [GROUPS_ONLY] * len(deltas)
    macro = _macro_test(deltas, chances, same)
    bets = [chance.independent(delta, None) for delta, chance in zip(deltas, chances, strict=True)]
    information = strata_information([delta for delta, _ in bets])
    by_t = _t_bounds(macro, PASS_LEVEL, fail_alpha, limits)
    is_repeated = not all(chance.may_bet for chance in chances)

    def by_betting() -> tuple[float | None, float | None]:
        return (None, None) if is_repeated else _betting_bounds(bets, fail_alpha, limits)

    alphas = (1 - PASS_LEVEL, fail_alpha)
    bounds = Bounds.deciding(information, by_t, by_betting, alphas)
    decision = by_bounds(macro, bounds, margin, alphas, None, plans_groups=False)
    if by_t == (None, None):
        decision = replace(decision, low_information=Note("equal_values"))
    return replace(decision, of_repeats=is_repeated)


def _macro_test(deltas: Sequence[Floats], chances: Sequence[Chance], same: Sequence[bool]) -> TTest:
    tests = [chance.test(delta, None)[0] for delta, chance in zip(deltas, chances, strict=True)]
    strata = [
        stratum_mean(test.n, test.mean or 0.0, test.standard_error, test.df, is_same=is_same)
        for test, is_same in zip(tests, same, strict=True)
    ]
    macro = stratified(strata, [1.0] * len(strata))
    n, error = sum(stratum.n for stratum in strata), macro.standard_error or None
    t = None if error is None else macro.mean / error
    return TTest(n, macro.mean, None, t, macro.p_value, macro.ci, error, macro.df)


def _t_bounds(test: TTest, pass_level: float, fail_alpha: float, limits: Limits) -> tuple[float | None, float | None]:
    lower, upper = t_lower_bound(test, level=pass_level), t_upper_bound(test, level=1 - fail_alpha)
    if lower is None or upper is None:
        return None, None
    return limited((lower, upper), limits) or (lower, upper)


def _betting_bounds(
    bets: Sequence[tuple[Floats, Floats | None]], fail_alpha: float, limits: Limits
) -> tuple[float | None, float | None]:
    """Return betting bounds of the macro mean, from all differences weighted by 1/n of their dataset; None beyond 1.

    ``bets``: the independent differences of each dataset, and their weights (of clusters: how many groups each has).
    """
    pooled = np.concatenate([delta for delta, _ in bets])
    shares = [np.full(delta.size, 1 / delta.size) if own is None else own / own.sum() for delta, own in bets]
    weights = np.concatenate(shares)
    reach = reach_of(pooled, limits)
    if not math.isfinite(reach):
        return None, None
    counted = weights if np.unique(weights).size > 1 else None
    return (
        reach * betting_lower_bound(pooled / reach, counted, level=PASS_LEVEL),
        reach * betting_upper_bound(pooled / reach, counted, level=1 - fail_alpha),
    )


def pooled(each: Sequence[tuple[str, Floats, Index | None]]) -> tuple[str | None, Floats, Index | None]:
    """Return the gains of all datasets in a row, and their clusters, which never span datasets."""
    clusters, n = [np.zeros(0, dtype=np.int64)], 0
    for _, gain, own in each:
        clusters.append(n + (np.arange(gain.size) if own is None else own))
        n += gain.size
    is_clustered = any(own is not None for _, _, own in each)
    return None, np.concatenate([gain for _, gain, _ in each]), np.concatenate(clusters) if is_clustered else None


def with_datasets(
    decision: GateDecision,
    deltas: Mapping[str, Floats],
    margin: float,
    *,
    is_strict: bool = False,
    limits: Limits = None,
    chances: Mapping[str, Chance] | None = None,
    same: Mapping[str, bool] | None = None,
) -> GateDecision:
    """Return a decision as ``gate.with_slices`` does, with each dataset as a slice that has its own allowed drop.

    >>> clear = np.tile([0.125, -0.125, 0.0], 400)
    >>> deltas = {"fiqa": clear + 0.05, "scifact": clear - 0.05}
    >>> whole = macro_decision(list(deltas.values()), 0.01)
    >>> whole.decision, with_datasets(whole, deltas, 0.02).decision
    ('pass', 'fail')
    """
    checked_margin(margin, "the margin of datasets")
    alpha = FAIL_ALPHA if decision.fail_alpha is None else decision.fail_alpha
    tests = []
    for dataset, delta in deltas.items():
        chance = GROUPS_ONLY if chances is None else chances[dataset]
        test, _ = chance.test(delta, None)
        is_same = same is not None and same[dataset]
        slice_test = SliceTest("dataset", dataset, test, chance.information(delta, None), is_same)
        tests.append((slice_test, partial(bounds_of, test, delta, None, limits=limits, chance=chance)))
    return after_slices(decision, tests, alpha, GateSlices("dataset", margin, is_strict, (), 0, decision.decision))

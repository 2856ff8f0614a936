"""Runs on several datasets: means of each and of all together, and whether a candidate may replace the baseline."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ndcg_tracker.compare.results import ALPHA, MetricComparison
from ndcg_tracker.compare.slices import SliceTest
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.questions.gate.decide import (
    FAIL_ALPHA,
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
from ndcg_tracker.questions.gate.result import Acknowledgement
from ndcg_tracker.questions.leaderboard.decide import Standing, standings_of
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.distribution_free import betting_lower_bound, betting_upper_bound
from ndcg_tracker.statistics.many_tests import Matrix, all_pairs, all_pairs_of_strata, holm, holm_of_pairs
from ndcg_tracker.statistics.stratified import (
    Estimate,
    StratumMean,
    of_strata,
    strata_information,
    stratified,
    stratum_mean,
)
from ndcg_tracker.statistics.t_test import (
    TTest,
    checked_margin,
    information_in,
    limited,
    paired_t,
    t_lower_bound,
    t_upper_bound,
)
from ndcg_tracker.words.notes import Note

SuiteVerdict = Literal["improved", "regressed", "no_difference_detected", "identical"]


@dataclass(frozen=True, slots=True)
class SuiteNote:
    """What else to know of one dataset."""

    dataset: str
    note: Note


@dataclass(frozen=True, slots=True)
class SuiteCell:
    """The mean of a run on one dataset; ``standard_error``: None where n is below 2."""

    run: str
    run_id: int
    n: int
    mean: float
    standard_error: float | None


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One system on every dataset of a suite.

    ``cells``: by dataset, None where it has no run there. ``macro``: the mean of datasets, each counting once, for
    other queries of these datasets; ``over_datasets``: the same for other datasets like these; ``micro``: the mean of
    all queries. All three are None where a cell is missing: means over other datasets cannot be ranked. ``standing``:
    by the macro mean among the systems without a missing cell, for other queries of these datasets; None without, and
    where groups have no test.
    """

    system: str
    cells: tuple[SuiteCell | None, ...]
    macro: Estimate | None
    over_datasets: Estimate | None
    micro: Estimate | None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """Systems by the macro mean, the best first, those with missing cells last; ``versions``: of labels, by dataset."""

    suite: str
    metric: str
    datasets: tuple[str, ...]
    versions: tuple[int | None, ...]
    rows: tuple[SuiteRow, ...]
    notes: tuple[SuiteNote, ...] = ()
    direction: Direction = "higher"


@dataclass(frozen=True, slots=True)
class SuiteDelta:
    """A comparison on one dataset; ``p_adjusted``: Holm-corrected over the datasets."""

    dataset: str
    label_set_version: int | None
    baseline: str
    candidate: str
    n: int
    baseline_mean: float | None
    candidate_mean: float | None
    delta: float | None
    ci: tuple[float, float] | None
    p_value: float | None
    p_adjusted: float | None
    verdict: SuiteVerdict
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class SuiteComparison:
    """Two systems on the datasets of a suite.

    ``macro``: the mean of the datasets' differences, for other queries of these datasets; the verdict rests on it.
    ``over_datasets``: the same for other datasets like these. ``micro``: the mean difference of all queries.
    ``missing``: datasets on which one of the two has no run.
    """

    suite: str
    metric: str
    baseline: str
    candidate: str
    verdict: SuiteVerdict
    macro: Estimate
    over_datasets: Estimate
    micro: Estimate
    deltas: tuple[SuiteDelta, ...]
    missing: tuple[str, ...]
    notes: tuple[SuiteNote, ...] = ()
    direction: Direction = "higher"


def suite_row(system: str, cells: Sequence[SuiteCell | None], limits: tuple[float, float] | None) -> SuiteRow:
    """Return the row of a system, with the means of all datasets where none is missing.

    Parameters: ``limits``: between which values of the metric lie, and so intervals of its mean, None for any.
    """
    known = [cell for cell in cells if cell is not None]
    if len(known) < len(cells):
        return SuiteRow(system, tuple(cells), None, None, None)
    strata = [StratumMean(cell.n, cell.mean, cell.standard_error, cell.n - 1.0) for cell in known]
    return SuiteRow(
        system,
        tuple(cells),
        _within(stratified(strata, [1.0] * len(strata)), limits),
        _within(of_strata([cell.mean for cell in known]), limits),
        _within(stratified(strata, [float(cell.n) for cell in known]), limits),
    )


def with_standings(rows: Sequence[SuiteRow], values: Sequence[Matrix], direction: Direction) -> list[SuiteRow]:
    """Return rows without a missing cell with where each stands; ``values``: of each dataset, a row per system."""
    found = all_pairs_of_strata([all_pairs(one) for one in values])
    intervals = [None if row.macro is None else row.macro.ci for row in rows]
    standings = standings_of(found, holm_of_pairs(found.p_value), direction, intervals)
    return [replace(row, standing=one) for row, one in zip(rows, standings, strict=True)]


def _within(one: Estimate, limits: tuple[float, float] | None) -> Estimate:
    if one.ci is None or limits is None:
        return one
    return replace(one, ci=(max(one.ci[0], limits[0]), min(one.ci[1], limits[1])))


def suite_comparison(
    suite: str,
    names: tuple[str, str],
    found: Mapping[str, tuple[tuple[str, str], int | None, MetricComparison]],
    missing: Sequence[str],
    notes: Sequence[SuiteNote] = (),
) -> SuiteComparison:
    """Return the comparison on a suite.

    Parameters: ``names``: of the systems. ``found``: by dataset the names of both runs, the labels, the comparison.
    """
    metrics = [one for _, _, one in found.values()]
    adjusted = holm([one.p_value for one in metrics])
    deltas = tuple(
        SuiteDelta(
            dataset,
            version,
            *runs,
            one.n,
            one.baseline,
            one.candidate,
            one.delta,
            one.ci,
            one.p_value,
            p_adjusted,
            verdict_of(one.delta, p_adjusted, one.direction) if one.verdict != "identical" else "identical",
            one.wins,
            one.ties,
            one.losses,
        )
        for (dataset, (runs, version, one)), p_adjusted in zip(found.items(), adjusted, strict=True)
    )
    strata = [
        StratumMean(one.n, one.delta or 0.0, 0.0 if one.verdict == "identical" else one.standard_error, one.df)
        for one in metrics
    ]
    macro = stratified(strata, [1.0] * len(strata))
    is_identical = all(one.verdict == "identical" for one in metrics)
    return SuiteComparison(
        suite,
        metrics[0].metric,
        *names,
        "identical" if is_identical else verdict_of(macro.mean, macro.p_value, metrics[0].direction),
        macro,
        of_strata([one.mean for one in strata]),
        stratified(strata, [float(one.n) for one in strata]),
        deltas,
        tuple(missing),
        tuple(notes),
        metrics[0].direction,
    )


def verdict_of(delta: float | None, p_value: float | None, direction: Direction) -> SuiteVerdict:
    """Return what a p-value says of a difference."""
    if delta is None or p_value is None or p_value >= ALPHA:
        return "no_difference_detected"
    return "improved" if (delta > 0) == (direction == "higher") else "regressed"


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
    (``strata_information``), betting bounds decide as in ``population_decision``, from all differences, each weighted
    by 1/n of its dataset. They hold for differences drawn from all datasets at random; that each dataset has its fixed
    share of them makes the sum vary less, and the bounds err less often (simulated in the tests). Parameters:
    ``deltas``: of each dataset, float64, shapes (n,), finite, gains where lower values are better. ``limits``: between
    which numbers any difference lies. The rest and what is raised: ``population_decision``.

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
    lower, upper = _betting_bounds(deltas, fail_alpha, limits)
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


def _betting_bounds(deltas: Sequence[Floats], fail_alpha: float, limits: Limits) -> tuple[float | None, float | None]:
    """Return betting bounds of the macro mean, from all differences weighted by 1/n of their dataset; None beyond 1."""
    pooled = np.concatenate(list(deltas))
    sizes = [delta.size for delta in deltas]
    weights = np.repeat([1.0 / size for size in sizes], sizes) if len(set(sizes)) > 1 else None
    lowest, highest = limits or (-math.inf, math.inf)
    reach = 1.0 if float(np.abs(pooled).max()) <= 1 else max(-lowest, highest)
    if not math.isfinite(reach):
        return None, None
    return (
        reach * betting_lower_bound(pooled / reach, weights, level=PASS_LEVEL),
        reach * betting_upper_bound(pooled / reach, weights, level=1 - fail_alpha),
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
        test = paired_t(delta)
        one = SliceTest("dataset", dataset, test, information_in(delta))
        found.append((one, partial(bounds_of, test, delta, None, limits=limits)))
    return after_slices(decision, found, alpha, GateSlices("dataset", margin, is_strict, (), 0, decision.decision))

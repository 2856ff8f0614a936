"""May the candidate replace the baseline: three-way non-inferiority, or plain arithmetic on a fixed set."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np

from ndcg_tracker.compare.decide import are_same
from ndcg_tracker.compare.drawn import DrawnCheck
from ndcg_tracker.compare.inference import GROUPS_ONLY, Chance, few_note, skewed_note
from ndcg_tracker.compare.limits import Harm, HarmLimit, LimitCheck, SliceStatus, checked_harm
from ndcg_tracker.compare.options import Scope, Unjudged
from ndcg_tracker.compare.results import JudgedShare, OpenStop
from ndcg_tracker.compare.slices import RegressedSlice, SliceTest, Slicing, regressed_slices
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.questions.gate.decide_bounds import (
    FAIL_ALPHA,
    PASS_LEVEL,
    ROUNDING,
    BoundMethod,
    Bounds,
    bounds_of,
    reach_of,
)
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.statistics.distribution_free import zeros_needed
from ndcg_tracker.statistics.repeats import RunVariance
from ndcg_tracker.statistics.t_test import (
    Information,
    TTest,
    checked_margin,
    checked_weights,
    enough_for,
    finite,
    groups_needed,
)
from ndcg_tracker.words.notes import Note

Decision = Literal["pass", "fail", "inconclusive"]
FEWEST_IN_SLICE = 25


@dataclass(frozen=True, slots=True)
class SliceDecision:
    """One slice at the gate.

    ``value``: of the attribute, None for the groups without one. ``n``: its groups. ``delta``: their (weighted) mean
    difference. ``lower``: its bound at 95%; ``upper``: its bound at 1 - ``alpha``, the share of FAIL's level that
    Holm's method gives this slice. ``status``: "fails" if upper is below -margin, "within" if lower is above it, else
    "open".
    """

    value: str | None
    n: int
    delta: float
    lower: float | None
    upper: float | None
    alpha: float
    status: SliceStatus


@dataclass(frozen=True, slots=True)
class GateSlices:
    """The slices of a gate, the worst first.

    ``attribute``: the attribute whose values define the slices. ``margin``: the allowed drop of each slice.
    ``is_strict``: whether an open slice or the lack of any slice with bounds blocks PASS. ``rows``: the slices of
    ``FEWEST_IN_SLICE`` groups or more. ``n_small``: how many have fewer. ``of_whole``: the decision without slices.
    ``regressed``: the slices that block PASS, because they regressed by the corrected test of ``compare``: open ones,
    and smaller ones whose mean dropped by more than the margin.
    """

    attribute: str
    margin: float
    is_strict: bool
    rows: tuple[SliceDecision, ...]
    n_small: int
    of_whole: Decision
    regressed: tuple[RegressedSlice, ...] = ()

    def of_status(self, status: SliceStatus) -> list[SliceDecision]:
        """Return the slices with a status."""
        return [row for row in self.rows if row.status == status]


@dataclass(frozen=True, slots=True)
class OpenLabels:
    """How far unjudged items leave a decision open.

    ``share``: the judged share of the first ranks of both runs. ``worth``: the rule for what an unjudged item is worth.
    ``n_items``: how many items are unjudged there.
    ``low``, ``high``: the mean difference at both ends of what they may be worth, None if it is not known, for the
    reason in ``stop``. ``of_zero``: the decision if they were worth nothing.
    """

    share: JudgedShare
    worth: Unjudged = "range"
    n_items: int = 0
    low: float | None = None
    high: float | None = None
    of_zero: Decision | None = None
    stop: OpenStop | None = None


@dataclass(frozen=True, slots=True)
class GateDecision:
    """A decision with everything it rests on; an undefined number is None.

    ``decision``: the decision. ``scope``: "population" or "set". ``margin``: the allowed drop (the tolerance of a set).
    ``n``: the groups that count. ``delta``: their (weighted) mean difference. ``lower``: the one-sided bound at
    ``pass_level`` that decided about PASS, ``lower_method``: how it was found; ``upper``, ``upper_method``: the same
    for FAIL, at 1 - ``fail_alpha``. ``t_lower``, ``betting_lower``, ``t_upper``, ``betting_upper``: both kinds of
    bounds; betting bounds only if information is low or all differences are the same. ``low_information``: why the t
    bounds were not trusted alone, None if they were. ``is_small_drop``: a PASS whose upper bound is below 0.
    ``n_needed``: about how many groups like these would decide, ``n_needed_for``: the decision that they would give.
    ``margin_needed``: the margin above which these groups would PASS. ``is_identical``: whether all lists are the same.
    ``fail_below``: FAIL also needs delta below this: minus the margin if that was learned from repeats, else 0.
    ``slices``: the decisions on slices, None without them; they can turn a PASS. ``direction``: which values are
    better; if these are the lower ones, ``upper`` is the bound of PASS and ``lower`` that of FAIL. ``limits``: limits
    on other numbers of the runs; an unmet limit gives FAIL. ``of_metric``: the decision without them. ``of_sums``:
    whether the groups are unknown, so that there are no betting bounds; ``of_repeats``: whether runs are repeated,
    which no betting bound covers. ``open``: how far unjudged items leave the decision open, None if they do not.
    ``harm``: whether few enough groups lose much, None without such a limit; ``of_mean``: the decision without it.
    ``is_spent``: whether all looks of a budget are spent, so that nothing is decided. ``unreached``: a note that
    labels do not reach both runs, so that nothing is decided; None if they do. ``drawn``: what drawn answers say, None
    without any; ``drawn_look``: which decision by them it is, 0 where they do not decide or a budget gives the level.
    ``judge_alone``: the judge whom nobody checks, so that nothing is decided.
    """

    decision: Decision
    scope: Scope
    margin: float
    n: int
    delta: float | None
    lower: float | None = None
    lower_method: BoundMethod | None = None
    upper: float | None = None
    upper_method: BoundMethod | None = None
    t_lower: float | None = None
    betting_lower: float | None = None
    t_upper: float | None = None
    betting_upper: float | None = None
    pass_level: float | None = None
    fail_alpha: float | None = None
    low_information: Note | None = None
    is_small_drop: bool = False
    n_needed: int | None = None
    n_needed_for: Literal["pass", "fail"] | None = None
    margin_needed: float | None = None
    is_identical: bool = False
    fail_below: float = 0.0
    slices: GateSlices | None = None
    direction: Direction = "higher"
    of_repeats: bool = False
    open: OpenLabels | None = None
    limits: tuple[LimitCheck, ...] = ()
    of_metric: Decision | None = None
    harm: Harm | None = None
    of_mean: Decision | None = None
    is_spent: bool = False
    unreached: Note | None = None
    drawn: DrawnCheck | None = None
    drawn_look: int = 0
    judge_alone: str = ""

    @property
    def worth(self) -> Unjudged | None:
        """What an unjudged item was worth; None if nothing was unjudged, or the question was not asked."""
        if self.open is None:
            return None
        return "zero" if self.open.low is None else self.open.worth

    @property
    def open_delta(self) -> tuple[float | None, float | None]:
        """The mean difference at both ends of what unjudged items may be worth, None if they leave nothing open."""
        return (None, None) if self.open is None else (self.open.low, self.open.high)

    def in_direction(self, direction: Direction) -> GateDecision:
        """Return a decision on gains as one on differences, which are minus the gains if lower values are better.

        The bounds then change sides: ``upper``, at ``pass_level``, decided about PASS.

        >>> decision = GateDecision("pass", "population", 0.01, 9, 0.25, lower=0.125, upper=0.5).in_direction("lower")
        >>> decision.delta, decision.lower, decision.upper
        (-0.25, -0.5, -0.125)
        """
        if direction == self.direction:
            return self
        slices = self.slices
        if slices is not None:
            rows = [
                replace(row, delta=0.0 - row.delta, lower=_negated(row.upper), upper=_negated(row.lower))
                for row in slices.rows
            ]
            regressed = tuple(replace(row, delta=0.0 - row.delta) for row in slices.regressed)
            slices = replace(slices, rows=tuple(rows), regressed=regressed)
        return replace(
            self,
            delta=_negated(self.delta),
            lower=_negated(self.upper),
            lower_method=self.upper_method,
            upper=_negated(self.lower),
            upper_method=self.lower_method,
            t_lower=_negated(self.t_upper),
            t_upper=_negated(self.t_lower),
            betting_lower=_negated(self.betting_upper),
            betting_upper=_negated(self.betting_lower),
            slices=slices,
            direction=direction,
        )

    def moved(self, by: float) -> Decision:
        """Return what the decision would have been with delta and its bounds moved by an amount.

        >>> GateDecision("pass", "population", 0.01, 9, 0.0, lower=-0.005, upper=0.005).moved(-0.25)
        'fail'
        """
        if self.delta is None:
            return self.decision
        if self.scope == "set":
            return "pass" if self.delta + by >= -self.margin - ROUNDING else "fail"
        if self.lower is None and self.upper is None and not self.delta:  # identical, without a known bound
            return "inconclusive" if by < -self.margin else self.decision
        if self.lower is not None and self.lower + by > -self.margin:
            return "pass"
        is_below = self.delta + by < self.fail_below
        return "fail" if self.upper is not None and self.upper + by < 0 and is_below else "inconclusive"


def with_harm(
    decision: GateDecision,
    limit: HarmLimit | None,
    gains: Sequence[tuple[str | None, Floats, Index | None]],
    *,
    is_strict: bool = False,
) -> GateDecision:
    """Return a decision after checking the limit on how many groups lose much: ``limits.checked_harm`` at FAIL's level.

    >>> passed = GateDecision("pass", "population", 0.01, 150, 0.0)
    >>> few = with_harm(passed, HarmLimit.of(".3:2%"), [(None, np.append(-0.5, np.zeros(149)), None)])
    >>> few.decision, few.harm.whole.status
    ('inconclusive', 'open')
    """
    counted = [part for part in gains if part[1].size]
    if limit is None or decision.delta is None or decision.is_identical or not gains[0][1].size:
        return decision
    alpha = FAIL_ALPHA if decision.fail_alpha is None else decision.fail_alpha
    level = PASS_LEVEL if decision.pass_level is None else decision.pass_level
    harm = replace(checked_harm(limit, counted, alpha, level), is_strict=is_strict)
    statuses = {row.status for row in harm.slices}
    after = decision.decision
    if harm.whole.status == "fails" or "fails" in statuses:
        after = "fail"
    elif after == "pass":
        is_within = harm.whole.status == "within" and not (is_strict and "open" in statuses)
        after = "pass" if is_within else "inconclusive"
    return replace(decision, decision=after, harm=harm, of_mean=decision.decision)


def with_limits(decision: GateDecision, limits: tuple[LimitCheck, ...]) -> GateDecision:
    """Return a decision after checking the limits on other numbers: an unmet limit gives FAIL."""
    if not limits:
        return decision
    of_all: Decision = decision.decision if all(check.is_met for check in limits) else "fail"
    return replace(decision, decision=of_all, limits=limits, of_metric=decision.decision)


def _negated(number: float | None) -> float | None:
    return None if number is None else 0.0 - number


def population_decision(
    delta: Floats,
    margin: float,
    *,
    weights: Floats | None = None,
    fail_alpha: float = FAIL_ALPHA,
    pass_level: float = PASS_LEVEL,
    limits: tuple[float, float] | None = None,
    chance: Chance = GROUPS_ONLY,
    runs: RunVariance | None = None,
    same_lists: Mask | None = None,
) -> GateDecision:
    """Return whether the candidate may replace the baseline on all groups like these.

    PASS if the one-sided lower bound (95%) of the mean difference is above -margin (a "small but real drop" if the
    upper bound is also below 0). FAIL if not PASS and the one-sided upper bound at 1 - ``fail_alpha`` is below 0.
    Otherwise INCONCLUSIVE, with the number of groups or the margin that would decide. Both are paired t bounds. But if
    information is too low for their level (``Information.is_low_at``), the betting bound decides about PASS, and FAIL
    needs both the betting bound and the t bound below 0. Otherwise gates would err: if few groups lose much, most small
    samples do not contain them. If all differences are the same, the betting bounds decide alone. Equal lists in all
    groups: PASS.

    Parameters: ``delta``: float64, shape (n,), finite, candidate minus baseline. ``margin``: the allowed drop, finite,
    >= 0. ``weights``: float64, shape (n,), finite, >= 0; groups of weight 0 do not count. ``fail_alpha``: how often
    FAIL may occur if nothing differs, in (0, .5); ``look_level`` for repeated gating. ``pass_level``: of the lower
    bound, in (.5, 1); 1 - ``look_level`` for the looks of a budget. ``limits``: the range of differences, None for -1
    to 1; no bound lies beyond. ``chance``: clusters of the groups, or repeats; no betting bound covers repeats, so with
    low information the decision is INCONCLUSIVE. ``runs``: how trainings of one system differ, if known; all bounds
    then also cover another training of both, and a drop within the margin does not FAIL. ``same_lists``: bool, shape
    (n,), whether the lists of both are the same, None if that is not known. Raises: InputError for another margin;
    ValueError for any other number or shape. Source: Schuirmann 1987 (one of the two tests); ICH E9, 1998, section
    3.3.2.

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
        counts = weights > 0
        delta, weights, chance = delta[counts], weights[counts], chance.of(counts)
        same_lists = None if same_lists is None else same_lists[counts]
    test, _ = chance.test(delta, weights)
    if test.mean is None:
        return GateDecision("inconclusive", "population", margin, 0, None)
    if not delta.any() and are_same(same_lists):
        return GateDecision("pass", "population", margin, test.n, 0.0, is_identical=True)
    of_level = partial(bounds_of, limits=limits, chance=chance, runs=runs, pass_level=pass_level)
    bounds, is_repeated = of_level(test, delta, weights, fail_alpha), chance.repeats is not None
    alphas = 1 - pass_level, fail_alpha
    decision = by_bounds(test, bounds, margin, alphas, runs, plans_groups=chance.may_bet)
    if decision.decision == "inconclusive" and not delta.any() and weights is None and chance.is_plain:
        reach = reach_of(delta, limits)
        n_needed = zeros_needed(margin / reach, level=pass_level)
        decision = replace(decision, n_needed=n_needed, n_needed_for=None if n_needed is None else "pass")
    return replace(decision, of_repeats=is_repeated)


def by_bounds(
    test: TTest,
    bounds: Bounds,
    margin: float,
    alphas: tuple[float, float],
    runs: RunVariance | None,
    *,
    plans_groups: bool = True,
) -> GateDecision:
    """Return what the bounds of a mean difference decide, and with ``plans_groups``, how many groups would decide.

    ``alphas``: the levels of PASS and of FAIL.
    """
    assert test.mean is not None
    pass_alpha, fail_alpha = alphas
    passes = bounds.lower is not None and bounds.lower > -margin
    fail_below = 0.0 if runs is None else -margin
    fails = not passes and bounds.upper is not None and bounds.upper < 0 and test.mean < fail_below
    would_fail = not passes and bounds.t_upper is not None and bounds.t_upper < 0
    is_known = passes or fails or runs is not None or bounds.information.of_clusters or not plans_groups
    n_needed, purpose = (
        (None, None)
        if is_known
        else groups_needed(test, bounds.information, margin, fail_alpha, pass_level=1 - pass_alpha)
    )
    return GateDecision(
        decision="pass" if passes else "fail" if fails else "inconclusive",
        scope="population",
        margin=margin,
        n=test.n,
        delta=test.mean,
        lower=bounds.lower,
        lower_method=bounds.lower_method,
        upper=bounds.upper,
        upper_method=bounds.upper_method,
        t_lower=bounds.t_lower,
        betting_lower=bounds.betting_lower,
        t_upper=bounds.t_upper,
        betting_upper=bounds.betting_upper,
        pass_level=1 - pass_alpha,
        fail_alpha=fail_alpha,
        low_information=_low_information(bounds.information, pass_alpha, "passed" if passes else "pass")
        or (_low_information(bounds.information, fail_alpha, "fail") if would_fail and not fails else None),
        is_small_drop=passes and bounds.upper is not None and bounds.upper < 0,
        n_needed=n_needed,
        n_needed_for=purpose,
        margin_needed=None if passes or bounds.lower is None else -bounds.lower,
        fail_below=fail_below,
    )


def with_slices(
    decision: GateDecision,
    delta: Floats,
    slicing: Slicing,
    margin: float,
    *,
    is_strict: bool = False,
    weights: Floats | None = None,
    limits: tuple[float, float] | None = None,
    chance: Chance = GROUPS_ONLY,
    runs: RunVariance | None = None,
    same_lists: Mask | None = None,
) -> GateDecision:
    """Return a decision on all groups after checking each slice of ``FEWEST_IN_SLICE`` groups or more.

    A slice fails if its upper bound, at FAIL's level shared by Holm's method over the slices, is below -margin; the
    candidate then FAILs, whatever all groups together say. A slice whose 95% lower bound is not above -margin is open.
    If it regressed (``slices.regressed_slices``), it keeps the candidate from PASS, and so does a smaller slice that
    regressed by more than the margin. With ``is_strict`` every open slice does, and so does the lack of any slice that
    is large enough for bounds.

    Parameters: ``slicing``: a value for each difference. ``margin``: the allowed drop of a slice, finite, >= 0. The
    others: see ``population_decision``. Raises: InputError for another margin. Source: Holm, Scand. J. Statist. 6,
    1979, in terms of bounds.

    >>> noise = np.tile([0.125, -0.125], 100)
    >>> by = Slicing("device", ["tv"] * 50 + ["phone"] * 150)
    >>> delta = noise - np.repeat([0.4, -0.15], [50, 150])
    >>> whole = population_decision(delta, 0.05)
    >>> whole.decision, with_slices(whole, delta, by, 0.05).decision
    ('pass', 'fail')
    """
    checked_margin(margin, "the margin of slices")
    alpha = FAIL_ALPHA if decision.fail_alpha is None else decision.fail_alpha
    pass_level = PASS_LEVEL if decision.pass_level is None else decision.pass_level
    tests = []
    for value, places in slicing.places(weights):
        own, w, of_slice = delta[places], None if weights is None else weights[places], chance.of(places)
        test, _ = of_slice.test(own, w)
        at_level = partial(bounds_of, pass_level=pass_level, limits=limits, chance=of_slice, runs=runs)
        bounds = partial(at_level, test, own, w)
        is_same = not own.any() and are_same(None if same_lists is None else same_lists[places])
        tests.append((SliceTest(slicing.attribute, value, test, of_slice.information(own, w), is_same), bounds))
    asked = GateSlices(slicing.attribute, margin, is_strict, (), 0, decision.decision)
    return after_slices(decision, tests, alpha, asked)


def _standing(test: TTest, mean: float, margin: float) -> float:
    """Return by how many standard errors a slice is above its margin, which orders the slices for Holm's method."""
    return (mean + margin) / test.standard_error if test.standard_error else math.copysign(math.inf, mean + margin)


def after_slices(
    decision: GateDecision,
    slices: Sequence[tuple[SliceTest, Callable[[float], Bounds]]],
    alpha: float,
    asked: GateSlices,
) -> GateDecision:
    """Return a decision after checking slices; ``slices``: the test of each, and its bounds at a level of FAIL."""
    margin = asked.margin
    judged = [
        (_standing(slice_test.test, slice_test.test.mean or 0.0, margin), slice_test, bounds)
        for slice_test, bounds in slices
        if slice_test.test.n >= FEWEST_IN_SLICE
    ]
    judged.sort(key=lambda row: (row[0], row[1].value is None, row[1].value or ""))
    rows, is_open = [], False
    for number, (_, slice_test, bounds_at) in enumerate(judged):
        value, test = slice_test.value, slice_test.test
        share, mean = alpha / (len(judged) - number), test.mean or 0.0
        if slice_test.is_same:
            rows.append(SliceDecision(value, test.n, 0.0, 0.0, 0.0, share, "within"))
            continue
        bounds = bounds_at(share)
        is_open = is_open or bounds.upper is None or bounds.upper >= -margin
        is_within = bounds.lower is not None and bounds.lower > -margin
        status: SliceStatus = "within" if is_within else "open" if is_open else "fails"
        rows.append(SliceDecision(value, test.n, mean, bounds.lower, bounds.upper, share, status))
    rows.sort(key=lambda row: row.delta)
    known = {row.value for row in rows if row.status != "open"}
    regressed = [
        row
        for row in regressed_slices([slice_test for slice_test, _ in slices])
        if row.value not in known and (row.n >= FEWEST_IN_SLICE or row.delta < -margin)
    ]
    n_small = len(slices) - len(judged)
    slices_found = replace(asked, rows=tuple(rows), n_small=n_small, regressed=tuple(regressed))
    after = decision.decision
    if slices_found.of_status("fails"):
        after = "fail"
    elif after == "pass" and not decision.is_identical:
        is_unknown = asked.is_strict and (not rows or slices_found.of_status("open"))
        after = "inconclusive" if regressed or is_unknown else after
    return replace(decision, decision=after, slices=slices_found)


def set_decision(
    delta: Floats, tolerance: float, *, weights: Floats | None = None, mean: float | None = None
) -> GateDecision:
    """Return whether the candidate holds on just these groups: PASS if the mean difference is at least -tolerance.

    For a fixed set of groups and a deterministic scorer: arithmetic, without inference and p-value. The sum is exact
    (each difference is rounded once), so the order of the groups cannot decide, and neither can a rounding error of
    1e-12 in the results.

    Parameters: ``delta``: float64, shape (n,), finite. ``tolerance``: finite, >= 0. ``weights``: float64, shape (n,),
    finite, >= 0. ``mean``: the mean difference if it is not a (weighted) mean of the groups. Raises: InputError for
    another tolerance; ValueError for any other number or shape.

    >>> set_decision(np.array([-0.3, 0.1, 0.2]), 0.0).decision, set_decision(np.array([-0.5, 0.25]), 0.1).decision
    ('pass', 'fail')
    """
    checked_margin(tolerance, "the tolerance")
    finite(delta)
    n = delta.size if weights is None else int(np.count_nonzero(checked_weights(delta, weights)))
    if not n:
        return GateDecision("inconclusive", "set", tolerance, 0, None)
    if mean is None and weights is None:
        mean = math.fsum(delta.tolist()) / n
    elif mean is None and weights is not None:
        mean = math.fsum((weights * delta).tolist()) / math.fsum(weights.tolist())
    if mean is None or not math.isfinite(mean):
        raise ValueError(f"the mean difference must be a finite number, not {mean}")
    if not delta.any() and mean == 0:
        return GateDecision("pass", "set", tolerance, n, 0.0, is_identical=True)
    passes = mean >= -tolerance - ROUNDING
    return GateDecision("pass" if passes else "fail", "set", tolerance, n, mean)


def _low_information(information: Information, alpha: float, decides: Literal["pass", "passed", "fail"]) -> Note | None:
    """Return a note if the differences say too little for the t bound at this level to decide, else None."""
    if not information.is_low_at(alpha):
        return None
    enough = enough_for(alpha)
    if information.of_strata and information.are_few_at(alpha):
        return Note("few_in_strata", {"n": information.n, "n_nonzero": information.n_nonzero, "enough": enough})
    note = few_note(information, enough) if information.are_few_at(alpha) else skewed_note(information)
    return replace(note, facts={**note.facts, "decides": decides})

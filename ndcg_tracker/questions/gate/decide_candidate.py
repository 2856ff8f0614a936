"""From the facts on a candidate to the decision with everything that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.decide import PairedResults, closing_note
from ndcg_tracker.compare.limits import SliceStatus, checked_limits
from ndcg_tracker.compare.results import Comparison, NotComparable, OpenDeltas, ties_note
from ndcg_tracker.compare.slices import RegressedSlice, SliceTest, regressed_slices, slice_tests
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.gate.decide import (
    FEWEST_IN_SLICE,
    Decision,
    GateDecision,
    GateSlices,
    OpenLabels,
    population_decision,
    set_decision,
    with_harm,
    with_limits,
    with_slices,
)
from ndcg_tracker.questions.gate.decide_bounds import FAIL_ALPHA, UNBOUNDED
from ndcg_tracker.questions.gate.question import Acknowledgement
from ndcg_tracker.questions.gate.result import Gated, GateFacts, drift_since_pin
from ndcg_tracker.statistics.drawn_queries import LEVELS_OF_LOOKS
from ndcg_tracker.words.notes import Kind, Note, carry_command, command_line, sentence

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair, Side
    from ndcg_tracker.questions.gate.question import GateQuestion


def decided(question: GateQuestion, facts: GateFacts, acknowledgement: Acknowledgement | None) -> Gated:
    """Return the decision. Raises: NotComparableError if a run has no judged item; see ``GateQuestion``."""
    basis, comparison, results = facts.basis, facts.comparison, facts.results
    runs, direction = basis.runs, basis.runs.metric.direction
    if not comparison.is_comparable and comparison.metrics[0].not_comparable in _WITHOUT_JUDGED:
        raise _nothing_judged(runs, question.metric, _WITHOUT_JUDGED[comparison.metrics[0].not_comparable])
    decision = _of_all(question, facts).in_direction(direction)
    decision = advisable(decision, None if basis.policy else comparison.metrics[0].baseline)
    checks = checked_limits(question.limits, *(arm.tags for arm in runs.arms))
    is_open = _hangs_on_ties(decision, results) and all(check.is_met for check in checks)
    decision = with_limits(decision, checks)
    regressed: tuple[RegressedSlice, ...] = ()
    if _names_slices(question, decision):
        regressed = regressed_slices(_slice_tests(facts), direction=direction)
    # a note on ties is about the verdict of a comparison; the gate has its own note on its decision
    covered = {"ties", "unjudged_open", *(["retraining"] if basis.learned is not None else [])}
    covered |= set() if decision.unreached is None else {decision.unreached.kind, "unjudged_zero"}
    notes = [note for note in comparison.notes if note.kind not in covered]
    notes += _no_alias(question, runs)
    notes += _of_slices(question, runs, decision, regressed)
    notes += _same_run(runs)
    notes += _open_labels(question, runs, decision, comparison)
    if is_open and results.tie_effect is not None:
        notes.append(ties_note(results.tie_effect))
    comparison = replace(comparison, notes=tuple(notes))
    return Gated(
        _without_inference(comparison) if question.scope == "set" else comparison,
        decision,
        basis.number,
        learned_margin=basis.learned,
        drift=None if basis.pin is None else drift_since_pin(basis.pin, basis.earlier, decision.delta),
        acknowledgement=None if decision.decision == "pass" else acknowledgement,
        candidate_means=_candidate_means(runs.sides_of[1]),
        ties_could_change_decision=is_open,
        regressed_slices=regressed,
        judge_alone=basis.judge_alone,
        look=basis.look,
        policy=basis.policy,
        restarted=basis.restarted,
        outside=basis.outside,
    )


ADVISED = 0.1
"""No margin is advised that is larger than this share of the baseline's mean."""


def advisable(decision: GateDecision, mean: float | None) -> GateDecision:
    """Return a decision without the margin that would PASS, if that is large; ``mean``: of the baseline, None for any.

    >>> undecided = GateDecision("inconclusive", "population", 0.01, 50, 0.0, margin_needed=0.04)
    >>> advisable(undecided, 0.5).margin_needed, advisable(undecided, 0.3).margin_needed
    (0.04, None)
    """
    is_small = mean is not None and decision.margin_needed is not None and decision.margin_needed <= ADVISED * abs(mean)
    return decision if is_small else replace(decision, margin_needed=None)


def _of_all(question: GateQuestion, facts: GateFacts) -> GateDecision:
    """Return the decision on all groups and the requested slices that holds whatever unjudged items are worth."""
    look, metric = facts.basis.look, facts.comparison.metrics[0]
    if look is not None and not look.level:
        n = facts.results.gain.size
        return GateDecision("inconclusive", "population", float(question.margin or 0.0), n, metric.delta, is_spent=True)
    check, number = facts.results.check, 0
    if facts.results.is_drawn and look is None:
        number = facts.basis.drawn_look
    if check is not None and (not check.decides or number > len(LEVELS_OF_LOOKS)):
        undecided = GateDecision("inconclusive", "population", float(question.margin or 0.0), metric.n, metric.delta)
        return replace(undecided, drawn=check, drawn_look=number)
    decision = replace(_of_parts(question, facts), drawn=check, drawn_look=number)
    if facts.results.unreached is not None and not decision.is_identical:
        return without_reach(decision, facts.results.unreached)
    if facts.basis.judge_alone and not question.trust_judge and not decision.is_identical:
        return replace(
            decision, decision="inconclusive", judge_alone=facts.basis.judge_alone, n_needed=None, margin_needed=None
        )
    left = facts.results.open
    if left is None:
        return decision
    ends = []
    if left.low is not None and left.high is not None:
        for delta in (left.low, left.high):
            moved = facts.with_deltas(delta)
            ends.append(_of_parts(question, moved))
    return with_open_labels(decision, left, *ends)


def without_reach(decision: GateDecision, why: Note) -> GateDecision:
    """Return a decision about runs that labels do not both reach; it has no number but the difference."""
    return GateDecision("inconclusive", decision.scope, decision.margin, decision.n, decision.delta, unreached=why)


def _of_parts(question: GateQuestion, facts: GateFacts) -> GateDecision:
    """Return the decision on all groups, the requested slices and the groups that lose most."""
    decision = _of_slices_asked(question, facts, _of_whole(question, facts))
    results = facts.results
    if question.max_harm is None:
        return decision
    if results.weights is not None:
        raise InputError(
            f"{argument('max_harm')} counts all groups equally, but {question.metric} weighs them",
            advice="leave one out",
        )
    every = np.flatnonzero(results.seen)
    parts = [] if facts.by is None else list(facts.by.places())
    gains = [
        (value, results.gain[places], results.chance.of(places).clusters)
        for value, places in [(None, every), *((value, np.intersect1d(of_part, every)) for value, of_part in parts)]
        if places.size
    ]
    return with_harm(decision, question.max_harm, gains, is_strict=question.strict_slices)


def with_open_labels(
    decision: GateDecision, left: OpenDeltas, low: GateDecision | None = None, high: GateDecision | None = None
) -> GateDecision:
    """Return a decision that holds whatever unjudged items are worth: PASS if ``low`` passes, FAIL if ``high`` fails.

    Parameters: ``decision``: with unjudged items worth nothing. ``low``, ``high``: the decisions on the differences at
    both ends of ``left``, None if these are not known; then the decision is unchanged.
    """
    opened = OpenLabels(left.share, stop=left.stop)
    if low is None or high is None:
        return replace(decision, open=opened)
    opened = replace(opened, n_items=left.n_items, low=low.delta, high=high.delta, of_zero=decision.decision)
    return _between_ends(decision, low, high, opened)


def _between_ends(decision: GateDecision, low: GateDecision, high: GateDecision, opened: OpenLabels) -> GateDecision:
    """Return the decision that holds at both ends."""
    of_all = _whole(low.decision, high.decision)
    ways = [of for of, way in ((low, "pass"), (high, "fail")) if of_all == "inconclusive" and of.n_needed_for == way]
    return replace(
        low,
        decision=of_all,
        low_information=decision.low_information or low.low_information or high.low_information,
        delta=decision.delta,
        upper=high.upper,
        upper_method=high.upper_method,
        t_upper=high.t_upper,
        betting_upper=high.betting_upper,
        is_small_drop=of_all == "pass" and high.upper is not None and high.upper < 0,
        is_identical=low.is_identical and high.is_identical,
        n_needed=ways[0].n_needed if ways else None,
        n_needed_for=ways[0].n_needed_for if ways else None,
        slices=_between(decision.slices, low.slices, high.slices),
        open=opened,
        harm=low.harm if low.harm is None or high.harm is None else low.harm.between(high.harm),
        of_mean=None if low.of_mean is None or high.of_mean is None else _whole(low.of_mean, high.of_mean),
    )


def _whole(low: Decision, high: Decision) -> Decision:
    """Return the decision that holds at both ends."""
    return "pass" if low == "pass" else "fail" if high == "fail" else "inconclusive"


def _between(slices: GateSlices | None, low: GateSlices | None, high: GateSlices | None) -> GateSlices | None:
    """Return the decisions on slices that hold whatever unjudged items are worth."""
    if slices is None or low is None or high is None:
        return slices
    lowest, highest = ({row.value: row for row in ends.rows} for ends in (low, high))
    rows = []
    for row in slices.rows:
        below, above = lowest[row.value], highest[row.value]
        status: SliceStatus = "within" if below.status == "within" else "fails" if above.status == "fails" else "open"
        rows.append(replace(row, lower=below.lower, upper=above.upper, status=status))
    of_whole = _whole(low.of_whole, high.of_whole)
    return replace(slices, rows=tuple(rows), of_whole=of_whole, regressed=low.regressed)


def _of_whole(question: GateQuestion, facts: GateFacts) -> GateDecision:
    """Return the decision of the arithmetic on the gains of all groups."""
    results, learned = facts.results, facts.basis.learned
    tolerance, look = question.tolerance or 0.0, facts.basis.look
    alphas = {"fail_alpha": FAIL_ALPHA}
    if look is not None:
        n_ways = (
            1 + (question.by is not None) + (question.max_harm is not None)
        )  # that lead to FAIL; PASS needs all of them
        alphas = {"fail_alpha": look.level / n_ways, "pass_level": 1 - look.level}
    elif results.is_drawn:
        level = LEVELS_OF_LOOKS[facts.basis.drawn_look - 1]
        alphas = {"fail_alpha": level / 5, "pass_level": 1 - level}
    margin = learned.margin if learned is not None else float(question.margin or 0.0)
    if question.scope == "set":
        sign = -1.0 if facts.is_lower_better else 1.0
        mean = None if results.means is None else sign * (results.means[1] - results.means[0])
        return set_decision(results.gain, tolerance, weights=results.weights, mean=mean)
    if results.no_inference is not None:
        raise InputError(
            f"{sentence(results.no_inference)}; so no bound applies to further groups",
            where=question.metric,
            advice=f"use {argument('scope', 'set')}, which judges the stored means of these groups",
            joint=": ",
        )
    return _of_groups(facts, population_decision)(results.gain, margin, **alphas)


def _of_groups(facts: GateFacts, decide: Callable[..., GateDecision]) -> Callable[..., GateDecision]:
    """Return a deciding function with the weights, limits and sources of chance of the groups filled in."""
    results, learned = facts.results, facts.basis.learned
    return partial(
        decide,
        weights=results.weights,
        limits=results.limits or UNBOUNDED,
        chance=results.chance_of_gain,
        runs=None if learned is None else learned.run_variance,
        same_lists=results.same_lists,
    )


def _of_slices_asked(question: GateQuestion, facts: GateFacts, decision: GateDecision) -> GateDecision:
    """Return the decision after checking each requested slice."""
    margin, is_strict = question.slice_margin or 0.0, question.strict_slices
    if facts.by is None:
        return decision
    return _of_groups(facts, partial(with_slices, decision))(facts.results.gain, facts.by, margin, is_strict=is_strict)


def _slice_tests(facts: GateFacts) -> list[SliceTest]:
    """Return the test of each slice of every attribute."""
    results = facts.results
    chance = results.chance_of_gain
    each = [slice_tests(results.gain, slicing, results.weights, chance=chance) for slicing in facts.slicings]
    return [slice_test for of_attribute in each for slice_test in of_attribute if slice_test.value is not None]


def _names_slices(question: GateQuestion, decision: GateDecision) -> bool:
    """Return whether to name slices that regressed: all groups together pass, and no other part fails."""
    of_whole = (decision.of_mean or decision.decision) if decision.slices is None else decision.slices.of_whole
    is_named = decision.slices is not None and bool(decision.slices.of_status("fails"))
    return of_whole == "pass" and not is_named and question.scope == "population"


def _of_slices(
    question: GateQuestion, runs: RunPair, decision: GateDecision, regressed: tuple[RegressedSlice, ...]
) -> list[Note]:
    """Return a note on slices that regressed although all groups together pass, and one on slices of few groups."""
    baseline = runs.baseline.run
    notes = []
    kinds: tuple[tuple[bool, Kind], ...] = ((False, "slices_regressed"), (True, "small_slices_regressed"))
    for is_low, kind in kinds:
        rows = [row for row in regressed if row.low_information == is_low]
        if rows:
            of_runs = (*(arm.name for arm in runs.arms), "--dataset", baseline.dataset)
            words = (*of_runs, *question.options.words(), "--by", rows[0].attribute)
            named = [(row.attribute, row.value or "", row.delta, row.n) for row in rows]
            notes.append(Note(kind, {"slices": named}, ("ndcg-track", "compare", *words)))
    slices = decision.slices
    if slices is not None and slices.is_strict and not slices.rows and not decision.is_identical:
        command = ("ndcg-track", "groups", "set", "FILE", "--dataset", baseline.dataset)
        notes.append(Note("slices_too_small", {"attribute": slices.attribute, "fewest": FEWEST_IN_SLICE}, command))
    return notes


def _open_labels(question: GateQuestion, runs: RunPair, decision: GateDecision, comparison: Comparison) -> list[Note]:
    """Return a note with the command that settles what unjudged items leave open."""
    left = decision.open
    if left is None or left.low is None or decision.decision != "inconclusive" or left.of_zero == "inconclusive":
        return []
    names = [side.run.name for side in runs.sides]  # people label items of runs, not of arms
    metric, n_items = str(question.metric), None if runs.is_repeated else left.n_items
    return [closing_note(comparison, metric, names, n_items)]


def _hangs_on_ties(decision: GateDecision, results: PairedResults) -> bool:
    """Return whether another order of tied items could change the decision, by the rule that gave this one."""
    effect, delta = results.tie_effect, decision.delta
    if effect is None or not effect.is_open or delta is None:
        return False
    if decision.harm is not None:  # how far ties move single groups is not known
        return True
    return any(decision.moved(bound - delta) != decision.moved(0.0) for bound in effect.delta)


def _no_alias(question: GateQuestion, runs: RunPair) -> list[Note]:
    baseline = runs.baseline.run
    command = ("ndcg-track", "alias", "set", "baseline", baseline.name, "--dataset", baseline.dataset)
    return [Note("no_alias", command=command)] if question.alias is None and not runs.is_repeated else []


def _same_run(runs: RunPair) -> list[Note]:
    return [Note("same_run")] if runs.arms[0] == runs.arms[1] else []


def _candidate_means(sides: Sequence[Side]) -> tuple[tuple[str, float | None], ...]:
    """Return the means of a candidate under all metrics that it has; of an arm, those of its runs."""
    candidate_means = []
    for metric in sides[0].evaluations:
        means = [side.evaluations[metric].mean if metric in side.evaluations else None for side in sides]
        defined = [mean for mean in means if mean is not None]
        candidate_means.append((metric, sum(defined) / len(defined) if len(defined) == len(means) else None))
    return tuple(candidate_means)


_WITHOUT_JUDGED: dict[NotComparable | None, tuple[int, ...]] = {
    "nothing_judged": (0, 1),
    "baseline_not_judged": (0,),
    "candidate_not_judged": (1,),
}
"""The sides without a judged item: 0 is the baseline, 1 the candidate."""


def _nothing_judged(runs: RunPair, metric: Metric, which: tuple[int, ...]) -> NotComparableError:
    labels = command_line(carry_command(runs.baseline.run.dataset))
    names = [repr(runs.arms[place].name) for place in which]
    of_both = len(names) == 2
    who, whom = (f"runs {' and '.join(names)} have", "either") if of_both else (f"run {names[0]} has", "it")
    return NotComparableError(
        f"{who} no judged item that {metric} counts, so nothing is known about {whom}",
        advice=f"were {'their' if of_both else 'its'} ids renamed? Then carry the labels to them with: {labels}",
    )


def _without_inference(comparison: Comparison) -> Comparison:
    """Return the comparison of a fixed set of groups: the same numbers, without those about further groups."""
    metrics = tuple(
        replace(
            metric,
            ci=None,
            p_value=None,
            p_adjusted=None,
            effect_size=None,
            detectable_delta=None,
            ties_could_change_verdict=False,
            warnings=(),
            rare_loss=None,
            verdict=metric.verdict if metric.verdict in ("identical", "not_comparable") else "no_difference_detected",
        )
        for metric in comparison.metrics
    )
    return replace(comparison, metrics=metrics)

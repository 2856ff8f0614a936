"""From the facts on a candidate to the decision with everything that belongs to it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ndcg_tracker.asked import words
from ndcg_tracker.compare.decide import Results, closing_note
from ndcg_tracker.compare.estimate import without_inference
from ndcg_tracker.compare.limits import checked_limits
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.compare.results import ENDS, Comparison, NotComparable, ties_note
from ndcg_tracker.compare.sample import AnySample, Sample, Strata
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.gate.decide import (
    UNBOUNDED,
    Decision,
    Levels,
    Part,
    Rules,
    Slices,
    Ways,
    between,
    decide,
    decide_set,
    harm_of,
    regressed,
    slices_of,
    with_limits,
)
from ndcg_tracker.questions.gate.question import Acknowledgement
from ndcg_tracker.questions.gate.result import Gated, GateFacts, drift_since_pin
from ndcg_tracker.rules import refuse
from ndcg_tracker.statistics.drawn_queries import LEVELS_OF_LOOKS
from ndcg_tracker.statistics.t_test import TTest
from ndcg_tracker.words.notes import Kind, Note, carry_command, command_line, sentence

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.gate.question import GateQuestion


def decided(question: GateQuestion, facts: GateFacts, acknowledgement: Acknowledgement | None) -> Gated:
    """Return the decision. Raises: NotComparableError if a run has no judged item; see ``GateQuestion``."""
    basis, comparison, results = facts.basis, facts.comparison, facts.results
    runs, direction, is_suite = basis.runs, basis.runs.metric.direction, question.suite is not None
    if not comparison.is_comparable and comparison.metrics[0].about.not_comparable in _WITHOUT_JUDGED:
        raise _nothing_judged(runs, question.metric, _WITHOUT_JUDGED[comparison.metrics[0].about.not_comparable])
    decision = replace(_of_all(question, facts), direction=direction)
    decision = advisable(decision, None if basis.policy else comparison.metrics[0].baseline)
    checks = tuple(
        replace(check, name=check.name + where)
        for where, both in basis.on_each.items()
        for check in checked_limits(question.limits, *(arm.tags for arm in both.arms))
    )
    is_open = _hangs_on_ties(decision, results) and all(check.is_met for check in checks)
    decision = with_limits(decision, checks)
    fallen = _fallen_slices(facts) if _names_slices(question, decision) else ()
    # a note on ties is about the verdict of a comparison; the gate has its own note on its decision
    covered = {"ties", "equal_values", "judge_unchecked", *(["retraining"] if basis.learned is not None else [])}
    is_turned = decision.of_zero not in (None, decision.decision)
    covered |= set() if is_turned and is_suite else {"unjudged_open"}
    covered |= set() if results.unreached is None else {results.unreached.kind, "unjudged_zero"}
    notes = [note for note in comparison.notes if note.kind not in covered]
    if not is_suite:
        notes += _no_alias(question, runs)
        notes += _of_slices(question, runs, decision, fallen)
        notes += _open_labels(question, runs, decision, comparison)
    notes += [Note("same_run")] if all(both.arms[0] == both.arms[1] for both in basis.on_each.values()) else []
    if is_open and results.about.tie_effect is not None:
        notes.append(ties_note(results.about.tie_effect))
    comparison = replace(comparison, notes=tuple(notes))
    if question.scope == "set":
        comparison = replace(comparison, metrics=tuple(map(without_inference, comparison.metrics)))
    return Gated(
        comparison,
        decision,
        basis,
        drift=None if basis.pin is None else drift_since_pin(basis.pin, basis.earlier, decision.delta),
        acknowledgement=None if decision.decision == "pass" else acknowledgement,
        ties_could_change_decision=is_open,
        regressed_slices=fallen,
    )


ADVISED = 0.1
"""No margin is advised that is larger than this share of the baseline's mean."""


def advisable(decision: Decision, mean: float | None) -> Decision:
    """Return a decision without the margin that would PASS, if that is large; ``mean``: of the baseline, None for any.

    >>> undecided = Decision(rules=Rules(0.01), t=TTest(50, 0.0, None), ways=Ways(margin=0.04))
    >>> advisable(undecided, 0.5).ways.margin, advisable(undecided, 0.3).ways.margin
    (0.04, None)
    """
    ways = decision.ways
    is_small = mean is not None and ways.margin is not None and ways.margin <= ADVISED * abs(mean)
    return decision if is_small else replace(decision, ways=replace(ways, margin=None))


def _of_all(question: GateQuestion, facts: GateFacts) -> Decision:
    """Return the decision on all groups and the requested parts that holds whatever unjudged items are worth."""
    results, look, metric = facts.results, facts.basis.look, facts.comparison.metrics[0]
    check, is_drawn = results.about.check, results.every.drawn is not None
    number = facts.basis.drawn_look if is_drawn and look is None else 0
    rules = _rules(question, facts)
    undecided = Decision(rules=rules, t=TTest(results.sample.n, metric.gain, None))
    if look is not None and not look.level:
        return replace(undecided, barred=Note("budget_spent"))
    if check is not None and (not check.decides or number > len(LEVELS_OF_LOOKS)):
        why = Note("looks_spent", {"n": len(LEVELS_OF_LOOKS)}) if check.decides else None
        return replace(undecided, check=check, barred=why)
    learned = facts.basis.learned

    def gains_of(sample: AnySample) -> AnySample:
        gains = sample.gains.within(UNBOUNDED)
        return gains if learned is None or isinstance(gains, Strata) else replace(gains, training=learned.run_variance)

    gains = gains_of(results.sample)
    found = replace(_of_parts(question, facts, gains, rules), check=check)
    if results.unreached is not None and not found.is_identical:
        return replace(undecided, barred=results.unreached)
    if facts.basis.judge_alone and not question.trust_judge and not found.is_identical:
        why = Note("judge_unchecked", {"judge": facts.basis.judge_alone})
        return replace(found, barred=why, ways=Ways())
    if results.ends:
        found = between(found, *(_of_parts(question, facts, gains_of(results.at(end)), rules) for end in ENDS))
    return replace(found, unjudged=results.about.unjudged)


def _rules(question: GateQuestion, facts: GateFacts) -> Rules:
    learned = facts.basis.learned
    margin = learned.margin if learned is not None else float(question.margin or 0.0)
    by = None if facts.by is None else facts.by.attribute
    return Rules(margin, question.scope, by, question.slice_margin or 0.0, question.max_harm)


def _of_parts(question: GateQuestion, facts: GateFacts, gains: AnySample, rules: Rules) -> Decision:
    """Return the decision on all groups, the requested slices and the groups that lose most."""
    results, levels = facts.results, _levels(question, facts)
    if rules.scope == "set" and isinstance(gains, Sample):
        sign = -1.0 if facts.basis.runs.metric.direction == "lower" else 1.0
        return decide_set(gains, rules, None if results.means is None else sign * (results.means[1] - results.means[0]))
    if results.no_inference is not None:
        raise InputError(
            f"{sentence(results.no_inference)}; so no bound applies to further groups",
            where=question.metric,
            advice=f"use {argument('scope', 'set')}, which judges the stored means of these groups",
            joint=": ",
        )
    refuse("gate", {"max_harm": rules.max_harm, "weights": results.every.weights is not None})
    found = decide(gains, rules, levels)
    return with_parts(found, gains, [] if facts.by is None else list(gains.slices(results.counted(facts.by))), levels)


def with_parts(decision: Decision, gains: AnySample, each: Slices, levels: Levels) -> Decision:
    """Return a decision on all groups with its slices or datasets, and with the groups that lose much."""
    rules, levels = decision.rules, decision.levels or levels
    slices = () if rules.by is None else slices_of(rules, each, levels)
    is_known = decision.t.mean is not None and not decision.is_identical
    harmed = harm_of(rules, [(None, gains), *each], levels) if is_known else ()
    return replace(decision, parts=(*slices, *harmed))


def _levels(question: GateQuestion, facts: GateFacts) -> Levels:
    """Return the levels of the bounds."""
    look = facts.basis.look
    if look is not None:
        # the ways that lead to FAIL; PASS needs all of them
        n_ways = 1 + (question.by is not None) + (question.max_harm is not None)
        return Levels(1 - look.level, look.level / n_ways)
    if facts.results.every.drawn is not None:
        level = LEVELS_OF_LOOKS[facts.basis.drawn_look - 1]
        return Levels(1 - level, level / 5)
    return Levels()


def _fallen_slices(facts: GateFacts) -> tuple[Part, ...]:
    """Return the slices of every attribute that regressed by the test of ``compare``, of low information last."""
    results, direction = facts.results, facts.basis.runs.metric.direction
    each = [
        (slicing.attribute, value, sample)
        for slicing in facts.slicings
        for value, sample in results.sample.gains.slices(results.counted(slicing))
        if value is not None
    ]
    parts = regressed("", [(value, sample) for _, value, sample in each])
    named = [replace(part, attribute=attribute) for part, (attribute, _, _) in zip(parts, each, strict=True)]
    fallen = [part for part in named if part.p_adjusted is not None]
    fallen.sort(key=lambda part: (part.low_information, part.delta, part.attribute, part.value or ""))
    return tuple(fallen if direction == "higher" else [part.turned() for part in fallen])


def _names_slices(question: GateQuestion, decision: Decision) -> bool:
    """Return whether to name slices that regressed: all groups together pass, and no other part fails."""
    is_named = any(part.status == "fails" for part in decision.slices)
    return decision.without("slice", "harm") == "pass" and not is_named and question.scope == "population"


def _of_slices(question: GateQuestion, runs: RunPair, decision: Decision, fallen: tuple[Part, ...]) -> list[Note]:
    """Return a note on slices that regressed although all groups together pass, and one on slices of few groups."""
    baseline = runs.baseline.run
    notes = []
    kinds: tuple[tuple[bool, Kind], ...] = ((False, "slices_regressed"), (True, "small_slices_regressed"))
    for is_low, kind in kinds:
        rows = [row for row in fallen if row.low_information == is_low]
        if rows:
            asked = replace(question.options, dataset=baseline.dataset, by=(rows[0].attribute,), top=CompareOptions.top)
            command = ("ndcg-track", "compare", *(arm.name for arm in runs.arms), *words(asked))
            named = [(row.attribute, row.value or "", row.delta, row.n) for row in rows]
            notes.append(Note(kind, {"slices": named}, command))
    return notes


def _open_labels(question: GateQuestion, runs: RunPair, decision: Decision, comparison: Comparison) -> list[Note]:
    """Return a note with the command that settles what unjudged items leave open."""
    left, (low, high) = decision.unjudged, decision.open_delta
    if left is None or not left.n_items or decision.decision != "inconclusive" or low == high:
        return []
    names = [side.run.name for side in runs.sides]  # people label items of runs, not of arms
    metric, n_items = str(question.metric), None if runs.is_repeated else left.n_items
    return [closing_note(comparison, metric, names, n_items, left.n_groups)]


def _hangs_on_ties(decision: Decision, results: Results) -> bool:
    """Return whether another order of tied items could change the decision, by the rule that gave this one."""
    effect, delta = results.about.tie_effect, decision.delta
    if effect is None or not effect.is_open or delta is None:
        return False
    if decision.harm:  # how far ties move single groups is not known
        return True
    return any(decision.moved(bound - delta) != decision.moved(0.0) for bound in effect.delta)


def _no_alias(question: GateQuestion, runs: RunPair) -> list[Note]:
    baseline = runs.baseline.run
    command = ("ndcg-track", "alias", "set", "baseline", baseline.name, "--dataset", baseline.dataset)
    return [Note("no_alias", command=command)] if question.alias is None and not runs.is_repeated else []


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

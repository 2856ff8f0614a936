"""A candidate at the gate on a suite: the runs of two systems on every dataset, a decision, and its record."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndcg_tracker.compare.decide_suite import moved_strata
from ndcg_tracker.compare.gather_suite import compared_pairs, comparisons_of, pairs_on_suite, suite_metric
from ndcg_tracker.compare.limits import checked_limits
from ndcg_tracker.compare.reach import joined
from ndcg_tracker.compare.run_pair import RunPair
from ndcg_tracker.compare.sample import Strata
from ndcg_tracker.errors import InputError, NotComparableError
from ndcg_tracker.questions.gate.decide import UNBOUNDED, Decision, Levels, Rules, Ways, between, decide, with_limits
from ndcg_tracker.questions.gate.decide_candidate import advisable, barred, with_parts
from ndcg_tracker.questions.gate.gather import GatedAnswer, decided_again, with_acknowledgement
from ndcg_tracker.questions.gate.gather_policy import outside_policy, refuse_policy
from ndcg_tracker.questions.gate.question import Acknowledgement, GateQuestion
from ndcg_tracker.questions.gate.result import SuiteGated, decided_and_recorded, question_digest
from ndcg_tracker.questions.gate.say import recorded_reason
from ndcg_tracker.questions.gate.say_suite import suite_gate_said
from ndcg_tracker.render.formats import Said
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Note, sentence

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import SuiteDecisionRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction


@dataclass(frozen=True, slots=True)
class _Basis:
    """The basis of a decision that others may change: the runs, their labels and means, and earlier decisions."""

    pairs: dict[str, RunPair]
    earlier: tuple[SuiteDecisionRecord, ...]
    outside: str


def gated_suite(
    store: Store, question: GateQuestion, acknowledgement: Acknowledgement | None = None, *, dry_run: bool = False
) -> SuiteGated:
    """Return what the gate decides on a suite, and record it unless ``dry_run``; see ``gate.gated``.

    Raises: ReferenceNotFoundError; NotComparableError if a system lacks a run on a dataset, with what to type;
    InputError for a metric that allows no inference.
    """
    outcome = decided_and_recorded(
        store,
        lambda tx: _basis(tx, question),
        lambda tx, basis: _decided(tx, question, basis, acknowledgement),
        lambda tx, basis, outcome: _recorded(tx, question, basis, outcome),
        lambda tx: _decided_before(tx, question, acknowledgement),
        dry_run=dry_run,
    )
    return with_acknowledgement(store, outcome, acknowledgement, on_suite=True)


def _decided_before(
    tx: ReadTransaction, question: GateQuestion, acknowledgement: Acknowledgement | None
) -> SuiteGated | None:
    """Return the recorded decision on the same question, None if anything that it rests on has changed since."""
    basis = _basis(tx, question)
    asked = question_digest(question, basis.pairs.values())
    place = next((place for place, of in enumerate(basis.earlier) if of.question == asked), None)
    if place is None:
        return None
    record = basis.earlier[place]
    outcome = _decided(tx, question, replace(basis, earlier=basis.earlier[:place]), acknowledgement)
    return decided_again(outcome, record, recorded_reason(outcome))


def _basis(tx: ReadTransaction, question: GateQuestion) -> _Basis:
    metric = suite_metric(tx, tx.suites.known(question.suite), question.metric)
    options = replace(question.options, metrics=(metric,))
    pairs, lacking = pairs_on_suite(tx, question.suite, question.systems, options, question.by_tag)
    if lacking:
        raise NotComparableError(
            f"{question.candidate!r} or {question.baseline!r} has no run on {', '.join(lacking)}, but a gate decides "
            f"on every dataset of suite {question.suite!r}",
            advice=f"see the systems with: ndcg-track leaderboard --suite {shlex.quote(question.suite)}",
        )
    refuse_policy(tx, question, pairs)
    of_gate = str(metric), question.baseline, _judge_of(pairs)
    earlier = [
        record
        for record in tx.decisions.on_suite(question.suite)
        if (record.metric, record.baseline, record.judge) == of_gate
    ]
    return _Basis(pairs, tuple(earlier), outside_policy(tx, pairs.values()))


def _judge_of(pairs: Mapping[str, RunPair]) -> str:
    """Return the judges of the labels on the datasets of a suite, in a row if there are several."""
    judges = dict.fromkeys(both.baseline.label_set.judge for both in pairs.values())
    return ", ".join(judge for judge in judges if judge and judge not in NO_LABELS_HERE)


def _decided(
    tx: ReadTransaction, question: GateQuestion, basis: _Basis, acknowledgement: Acknowledgement | None
) -> SuiteGated:
    pairs = compared_pairs(tx, question.systems, basis.pairs, question.options, with_other_ids=True)
    (comparison,) = comparisons_of(question.suite, question.systems, pairs, ())
    results = {dataset: pair.results[0] for dataset, pair in pairs.items()}
    for dataset, paired in results.items():
        if paired.no_inference is not None:
            raise InputError(f"{sentence(paired.no_inference)}; so no bound applies to further groups", where=dataset)
    first = next(iter(results.values())).sample
    limits = UNBOUNDED if any(paired.limits is None for paired in results.values()) else first.limits
    rules = Rules(
        float(question.margin or 0.0),
        by=question.by,
        part_margin=question.slice_margin or 0.0,
        is_strict=question.strict_slices,
        max_harm=question.max_harm,
    )
    strata = Strata({dataset: replace(of.sample, limits=limits) for dataset, of in results.items()}, limits)

    def of_parts(moved: Strata) -> Decision:
        gains, levels = moved.gains, Levels()
        each = list(gains.parts.items()) if rules.by is not None else []
        return with_parts(decide(gains, rules, levels), gains, each, levels)

    decision = of_parts(strata)
    ends = moved_strata(strata, results)
    if ends:
        decision = between(decision, of_parts(ends["low"]), of_parts(ends["high"]))
    decision = replace(decision, unjudged=joined(of.unjudged for of in results.values()), direction=first.direction)
    unreached = next((paired.unreached for paired in results.values() if paired.unreached is not None), None)
    if unreached is not None and not decision.is_identical:
        decision = barred(decision, unreached)
    judge_alone = comparison.macro.about.judge_alone
    if judge_alone and not decision.is_identical and unreached is None:
        decision = replace(decision, barred=Note("judge_unchecked", {"judge": judge_alone}), ways=Ways())
    checks = [
        replace(check, name=f"{check.name} on {dataset}")
        for dataset, both in basis.pairs.items()
        for check in checked_limits(question.limits, *(arm.tags for arm in both.arms))
    ]
    decision = with_limits(decision, tuple(checks))
    decision = advisable(decision, sum(on.found.baseline or 0.0 for on in comparison.deltas) / len(comparison.deltas))
    is_turned = decision.of_zero not in (None, decision.decision)
    covered = {"equal_values", "judge_unchecked", *(() if is_turned else ("unjudged_open",))}
    covered |= set() if decision.barred is None else {decision.barred.kind, "unjudged_zero"}
    comparison = replace(comparison, notes=tuple(note for note in comparison.notes if note.note.kind not in covered))
    return SuiteGated(
        comparison,
        decision,
        1 + len(basis.earlier),
        acknowledgement=None if decision.decision == "pass" else acknowledgement,
        judge_alone=judge_alone,
        outside=basis.outside,
    )


def _recorded(tx: WriteTransaction, question: GateQuestion, basis: _Basis, outcome: SuiteGated) -> SuiteGated:
    decision, acknowledgement = outcome.decision, outcome.acknowledgement
    runs = {
        dataset: {
            "label_set_version": both.baseline.label_set.version,
            "baseline_run_id": both.baseline.run.id,
            "candidate_run_id": both.candidate.run.id,
        }
        | ({"repeats": both.run_ids} if both.is_repeated else {})
        for dataset, both in basis.pairs.items()
    }
    record = tx.write.decisions.insert_on_suite(
        suite=question.suite,
        baseline=question.baseline,
        candidate=question.candidate,
        by_tag=question.by_tag,
        runs=runs,
        metric=outcome.comparison.metric,
        margin=decision.margin,
        dataset_margin=question.slice_margin,
        delta=decision.delta,
        ci_low=decision.lower,
        ci_high=decision.upper,
        alpha=decision.fail_alpha,
        decision=decision.decision,
        reason=recorded_reason(outcome),
        acknowledged_reason=None if acknowledgement is None else acknowledgement.reason,
        acknowledged_by=None if acknowledgement is None else acknowledgement.by,
        unjudged=decision.worth or question.unjudged,
        delta_low=decision.open_delta[0],
        delta_high=decision.open_delta[1],
        judge=_judge_of(basis.pairs),
        question=question_digest(question, basis.pairs.values()),
    )
    return replace(outcome, decision_id=record.id)


@dataclass(frozen=True, repr=False)
class SuiteGateResult(GatedAnswer):
    """The decision on one system on a suite; notebooks show it as a report, and ``print`` prints it.

    ``gated``: the typed numbers.
    """

    gated: SuiteGated

    def _said(self) -> Said:
        return suite_gate_said(self.gated)

"""A candidate at the gate: two stored runs, one metric, a decision, and its record."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import arms_of
from ndcg_tracker.compare.attributes import attribute_values, attributes_of
from ndcg_tracker.compare.decide import labels_command
from ndcg_tracker.compare.families import AA_TAG, family_of, tagged
from ndcg_tracker.compare.gather import ComparedPair, asked_attributes, check_arms, compared_pair
from ndcg_tracker.compare.gather_sums import summed_results, summed_slices
from ndcg_tracker.compare.limits import checked_limits
from ndcg_tracker.compare.pair import places_of_ids
from ndcg_tracker.compare.report_facts import MOST_SLICES
from ndcg_tracker.compare.results import Comparison, ties_note
from ndcg_tracker.compare.run_pair import RunPair, Side, adding_command, resolved_pair
from ndcg_tracker.compare.slices import RegressedSlice, SliceTest, Slicing, regressed_slices, slice_tests
from ndcg_tracker.compare.sums import refuse_groups
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.gate.decide import (
    FAIL_ALPHA,
    FEWEST_IN_SLICE,
    GateDecision,
    population_decision,
    set_decision,
    sums_decision,
    with_limits,
    with_slices,
    with_summed_slices,
)
from ndcg_tracker.questions.gate.decide_margin import FEWEST_REPEATS, LearnedMargin, learned_margin, spent_alpha
from ndcg_tracker.questions.gate.drift import drift_since_pin, of_gate
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.recording import decided_and_recorded
from ndcg_tracker.questions.gate.result import Acknowledgement, Gated
from ndcg_tracker.questions.gate.say import gate_row, gate_said, reason, recorded_reason
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.runs.known_metrics import known_metric
from ndcg_tracker.statistics.repeats import RunVariance
from ndcg_tracker.words.notes import Kind, Note, command_line, in_words, sentence

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.decide import PairedResults
    from ndcg_tracker.questions.gate.decide import Decision
    from ndcg_tracker.storage.records import AliasRecord, DecisionRecord, RunRecord
    from ndcg_tracker.storage.store import Store
    from ndcg_tracker.storage.transactions import ReadTransaction, WriteTransaction


HOW_TO_REPEAT = (
    "score the same groups again with the unchanged system, ingest each run with the tag aa=NAME, and give "
    f"{argument('margin', 'auto')} and {argument('aa', 'NAME')}"
)


def gated(
    store: Store, question: GateQuestion, acknowledgement: Acknowledgement | None = None, *, dry_run: bool = False
) -> Gated:
    """Return what the gate decides on two stored runs, and record it unless ``dry_run``.

    The decision is made while others may write. Where they have changed what it rests on before it is recorded, the
    gate decides again, so that every decision is the one of its number in the series. Raises: ReferenceNotFoundError;
    NotComparableError, with the command that fixes it; InputError for a margin that cannot be learned, and for a metric
    that allows no inference in the scope "population".
    """
    if question.metric.is_external:
        with store.read() as tx:
            dataset_id = arms_of(tx, [question.baseline], question.dataset)[0].runs[0].dataset_id
            question = replace(question, metric=known_metric(tx, dataset_id, question.metric))
    return decided_and_recorded(
        store,
        lambda tx: _basis(tx, question),
        lambda tx, basis: _decided(tx, question, basis, acknowledgement),
        lambda tx, basis, found: _recorded(tx, question, basis, found),
        dry_run=dry_run,
    )


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a decision rests on and others may change: runs, labels, means, the alias, decisions and repeats.

    ``earlier``: the decisions of this gate, oldest first. ``pin``: the alias of the baseline, None where it was given
    otherwise. ``learned``: None for a margin that was given.
    """

    runs: RunPair
    earlier: tuple[DecisionRecord, ...]
    pin: AliasRecord | None
    learned: LearnedMargin | None


def _basis(tx: ReadTransaction, question: GateQuestion) -> _Basis:
    """Return what the decision rests on as the database has it now; no group results are read."""
    arms = arms_of(tx, [question.baseline, question.candidate], question.dataset)
    check_arms(arms[0], arms[1], question.options)
    runs = resolved_pair(tx, arms[0], arms[1], [question.metric], question.labels)
    baseline, alias = runs.baseline.run, question.alias
    if question.margin == "auto" and runs.is_repeated:
        raise InputError(
            f"{argument('margin', 'auto')} learns from repeats of a single run, and the test of arms has theirs in it",
            advice="give a margin in absolute points, such as 0.01",
        )
    return _Basis(
        runs,
        tuple(of_gate(tx.decisions.all(baseline.dataset_id), str(question.metric), alias)),
        None
        if alias is None
        else next(
            one
            for one in tx.aliases.all(question.dataset)
            if one.name == alias and one.dataset_id == baseline.dataset_id
        ),
        _learned(tx, question, runs) if question.margin == "auto" else None,
    )


def _decided(
    tx: ReadTransaction, question: GateQuestion, basis: _Basis, acknowledgement: Acknowledgement | None
) -> Gated:
    """Return the decision; the group results of both runs are read once."""
    runs = basis.runs
    baseline, options = runs.baseline.run, question.options
    compared = compared_pair(tx, runs, options, asked_attributes(tx, baseline, options))
    if compared.sums is not None:
        return _decided_by_sums(tx, question, basis, compared, acknowledgement)
    comparison, (results,) = compared.comparison, compared.results
    if not comparison.is_comparable and comparison.metrics[0].not_comparable == "nothing_judged":
        raise _nothing_judged(runs, question.metric)
    number = 1 + sum(decision.scope == question.scope for decision in basis.earlier)
    decision = _decision(question, results, number, basis.learned)
    if question.by is not None:
        by = attribute_values(tx, baseline, question.by).of(results.pairing.group_ids)
        decision = with_slices(
            decision,
            results.gain,
            by,
            question.slice_margin or 0.0,
            is_strict=question.strict_slices,
            weights=results.weights,
            limits=results.limits,
            chance=results.chance_of_gain,
            runs=None if basis.learned is None else basis.learned.run_variance,
        )
    decision = decision.in_direction(results.direction)
    checks = checked_limits(question.limits, *(arm.tags for arm in runs.arms))
    is_open = _hangs_on_ties(decision, results) and all(one.is_met for one in checks)
    decision, effect = with_limits(decision, checks), results.tie_effect
    covered = (
        ("ties", "retraining") if basis.learned is not None else ("ties",)
    )  # of ties, nobody asked for the verdict
    notes = [note for note in comparison.notes if note.kind not in covered]
    notes += _no_alias(question, runs)
    regressed: tuple[RegressedSlice, ...] = ()
    if _names_slices(question, decision):
        tests = [test for one in _slicings(tx, baseline, results) for test in one]
        regressed = regressed_slices(tests, direction=results.direction)
    notes += _of_slices(question, runs, decision, regressed)
    notes += _same_run(runs)
    notes += [ties_note(effect)] if effect is not None and is_open else []
    comparison = replace(comparison, notes=tuple(notes))
    if question.scope == "set":
        comparison = _without_inference(comparison)
    found = _gated(question, basis, comparison, decision, number, acknowledgement)
    return replace(found, ties_could_change_decision=is_open, regressed_slices=regressed)


def _gated(
    question: GateQuestion,
    basis: _Basis,
    comparison: Comparison,
    decision: GateDecision,
    number: int,
    acknowledgement: Acknowledgement | None,
) -> Gated:
    """Return a decision with all that belongs to it."""
    return Gated(
        comparison,
        decision,
        number,
        alpha_budget=question.alpha_budget,
        learned_margin=basis.learned,
        drift=None if basis.pin is None else drift_since_pin(basis.pin, basis.earlier, decision.delta),
        acknowledgement=None if decision.decision == "pass" else acknowledgement,
        candidate_means=_candidate_means(basis.runs.sides_of[1]),
    )


def _candidate_means(sides: Sequence[Side]) -> tuple[tuple[str, float | None], ...]:
    """Return the means of a candidate under all metrics that it has; of an arm, those of its runs."""
    found = []
    for metric in sides[0].evaluations:
        means = [side.evaluations[metric].mean if metric in side.evaluations else None for side in sides]
        known = [mean for mean in means if mean is not None]
        found.append((metric, sum(known) / len(known) if len(known) == len(means) else None))
    return tuple(found)


def _decided_by_sums(
    tx: ReadTransaction,
    question: GateQuestion,
    basis: _Basis,
    compared: ComparedPair,
    acknowledgement: Acknowledgement | None,
) -> Gated:
    """Return the decision on two runs that were stored as sums."""
    runs, comparison = basis.runs, compared.comparison
    (results,) = summed_results(tx, runs, by=question.by, cluster=question.cluster)
    refuse_groups(margin=question.margin == "auto" and "auto")
    number = 1 + sum(decision.scope == question.scope for decision in basis.earlier)
    if question.scope == "set":
        decision = set_decision(np.array([results.whole.differences.mean]), question.tolerance or 0.0)
        decision = replace(decision, n=results.whole.differences.n)
        comparison = _without_inference(comparison)
    else:
        budget = question.alpha_budget
        alpha = FAIL_ALPHA if budget is None else spent_alpha(number, budget)
        decision = sums_decision(results.whole, float(question.margin or 0.0), fail_alpha=alpha)
    if results.sliced_by is not None and results.slices is not None:
        margin = question.slice_margin or 0.0
        asked = (results.sliced_by, results.slices, margin)
        decision = with_summed_slices(decision, *asked, is_strict=question.strict_slices)
    decision = with_limits(decision, checked_limits(question.limits, *(arm.tags for arm in runs.arms)))
    regressed: tuple[RegressedSlice, ...] = ()
    if _names_slices(question, decision):
        regressed = regressed_slices(_summed_slices(tx, runs, question.cluster))
    of_slices = _of_slices(question, runs, decision, regressed)
    notes = (*comparison.notes, *_no_alias(question, runs), *of_slices, *_same_run(runs))
    found = _gated(question, basis, replace(comparison, notes=notes), decision, number, acknowledgement)
    return replace(found, regressed_slices=regressed)


def _no_alias(question: GateQuestion, runs: RunPair) -> list[Note]:
    baseline = runs.baseline.run
    command = ("ndcg-track", "alias", "set", "baseline", baseline.name, "--dataset", baseline.dataset)
    return [Note("no_alias", command=command)] if question.alias is None and not runs.is_repeated else []


def _same_run(runs: RunPair) -> list[Note]:
    return [Note("same_run")] if runs.arms[0] == runs.arms[1] else []


def _recorded(tx: WriteTransaction, question: GateQuestion, basis: _Basis, found: Gated) -> Gated:
    """Record a decision and return it with its number in the database."""
    decision, runs = found.decision, basis.runs
    acknowledgement = found.acknowledgement
    record = tx.write.decisions.insert(
        runs.dataset_id,
        runs.baseline.run.id,
        runs.candidate.run.id,
        metric=str(question.metric),
        label_set_id=runs.baseline.label_set.id,
        scope=decision.scope,
        decision=decision.decision,
        reason=recorded_reason(found),
        baseline_alias=question.alias,
        margin=decision.margin,
        delta=decision.delta,
        ci=(decision.lower, decision.upper),
        alpha=decision.fail_alpha,
        acknowledged_reason=None if acknowledgement is None else acknowledgement.reason,
        acknowledged_by=None if acknowledgement is None else acknowledgement.by,
        arms=_recorded_arms(runs),
    )
    return replace(found, decision_id=record.id)


def _recorded_arms(runs: RunPair) -> tuple[tuple[str, list[int]], tuple[str, list[int]]] | None:
    """Return the names and the run ids of both sides where one has several runs."""
    if not runs.is_repeated:
        return None
    baseline, candidate = zip((arm.name for arm in runs.arms), runs.run_ids.values(), strict=True)
    return baseline, candidate


def _decision(
    question: GateQuestion, results: PairedResults, number: int, learned: LearnedMargin | None
) -> GateDecision:
    """Return what the arithmetic decides, on the gains of the groups."""
    gain, weights = results.gain, results.weights
    if question.scope == "set":
        mean = None if results.means is None else results.means[1] - results.means[0]
        return set_decision(gain, question.tolerance or 0.0, weights=weights, mean=mean)
    if results.no_inference is not None:
        raise InputError(
            f"{sentence(results.no_inference)}; so no bound says anything about further groups",
            where=question.metric,
            advice=f"use {argument('scope', 'set')}, which judges the stored means of these groups",
            joint=": ",
        )
    margin = learned.margin if learned is not None else float(question.margin or 0.0)
    budget = question.alpha_budget
    alpha = FAIL_ALPHA if budget is None else spent_alpha(number, budget)
    return population_decision(
        gain,
        margin,
        weights=weights,
        fail_alpha=alpha,
        limits=results.limits,
        chance=results.chance_of_gain,
        runs=None if learned is None else learned.run_variance,
    )


def _names_slices(question: GateQuestion, decision: GateDecision) -> bool:
    """Return whether slices that regressed are to be named: the whole passes, and no other part fails."""
    of_whole = decision.decision if decision.slices is None else decision.slices.of_whole
    return of_whole == "pass" and decision.decision != "fail" and question.scope == "population"


def _slicings(tx: ReadTransaction, baseline: RunRecord, results: PairedResults) -> Iterator[list[SliceTest]]:
    """Yield what each slice says, by attribute; attributes of more than ``MOST_SLICES`` values make none here."""
    for attribute, values in attributes_of(tx, baseline.dataset_id, results.pairing.group_ids).items():
        if len(set(values)) <= MOST_SLICES:
            chance = results.chance_of_gain
            tests = slice_tests(results.gain, Slicing(attribute, values), results.weights, chance=chance)
            yield [one for one in tests if one.value is not None]


def _summed_slices(tx: ReadTransaction, runs: RunPair, cluster: str | None) -> list[SliceTest]:
    """Return what each slice says of which sums are stored."""
    attribute, slices = summed_slices(tx, runs, cluster)
    found = [(value, sums) for value, sums in slices.items() if value is not None and sums.differences.n]
    return [SliceTest(attribute or "", value, sums.test(), sums.information()) for value, sums in found]


def _of_slices(
    question: GateQuestion, runs: RunPair, decision: GateDecision, regressed: tuple[RegressedSlice, ...]
) -> list[Note]:
    """Return a note that names the slices which regressed though the whole passes, and one on slices too small."""
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


def _hangs_on_ties(decision: GateDecision, results: PairedResults) -> bool:
    """Return whether another order of tied items could give another decision, by the rule that gave this one."""
    effect, delta = results.tie_effect, decision.delta
    if effect is None or not effect.is_open or delta is None:
        return False
    return any(decision.moved(bound - delta) != decision.moved(0.0) for bound in effect.delta)


def _learned(tx: ReadTransaction, question: GateQuestion, both: RunPair) -> LearnedMargin:
    """Return the margin that the repeats teach under the labels of the comparison."""
    baseline, candidate = both.baseline.run, both.candidate.run
    label_set = both.baseline.label_set
    if question.repeats:
        named = [tx.runs.resolve(reference, baseline.dataset) for reference in question.repeats]
        runs = list({run.id: run for run in named}.values())
        if any(run.id == candidate.id for run in runs):
            raise InputError(
                f"run {candidate.name!r} is the candidate and cannot be a repeat as well", advice="leave it out"
            )
        where = f"with {argument('repeats')}"
    else:
        aa, every = question.aa, tx.runs.all(baseline.dataset)
        family = family_of(baseline, every) if aa is None else tagged(aa, every)
        if not family and aa is None:
            raise InputError(
                f"{argument('margin', 'auto')} needs at least {FEWEST_REPEATS} runs of one unchanged system, and "
                f"baseline {baseline.name!r} has no tag {AA_TAG}",
                advice=f"name them with {argument('repeats', 'RUN')}, or {HOW_TO_REPEAT}",
                joint=": ",
            )
        runs = [run for run in family if run.id != candidate.id]
        aa = baseline.tags.get(AA_TAG) if aa is None else aa
        of_family = f"with the parameters of {baseline.name!r} but for the seed," if aa is None else None
        where = f"{of_family or f'with the tag {AA_TAG}={aa}'} beside the candidate"
    if len(runs) < FEWEST_REPEATS:
        names = f" ({', '.join(run.name for run in runs)})" if runs else ""
        raise InputError(
            f"{argument('margin', 'auto')} needs at least {FEWEST_REPEATS} runs of one unchanged system, and there "
            f"{'is' if len(runs) == 1 else 'are'} {len(runs)} {where}{names}",
            advice=HOW_TO_REPEAT,
        )
    text, found = str(question.metric), []
    for run in runs:
        evaluation = Side.of(run, label_set, tx.evaluations.of_run(run.id)).evaluations.get(text)
        if evaluation is None or evaluation.mean is None:
            raise NotComparableError(
                f"repeat {run.name!r} has no {text} under labels version {label_set.version}, which the runs share",
                advice=f"type: {shlex.join(adding_command([run], [text]))}",
            )
        found.append(evaluation)
    if len({evaluation.n_groups for evaluation in found}) > 1:
        counts = ", ".join(f"{run.name}: {one.n_groups}" for run, one in zip(runs, found, strict=True))
        raise InputError(
            f"the repeats have {text} for different numbers of groups ({counts})", advice="repeat all groups"
        )
    tx.runs.require("results", *runs)
    learned = learned_margin([run.name for run in runs], [one.mean or 0.0 for one in found])
    results = tx.evaluations.results_of([one.id for one in found])
    ids = reduce(np.intersect1d, [ids[~np.isnan(values)] for ids, values in results])
    values = np.array([values[places_of_ids(ids_of_run, ids)] for ids_of_run, values in results])
    weights_of = tx.groups.weights_by_id(both.dataset_id) if question.metric["weights"] != "none" else None
    weights = None if weights_of is None or not weights_of.ids.size else weights_of.weights_of(ids)
    return replace(learned, run_variance=RunVariance.of(values, weights))


def _nothing_judged(runs: RunPair, metric: Metric) -> NotComparableError:
    labels = command_line(labels_command(runs.baseline.run.dataset))
    baseline, candidate = (arm.name for arm in runs.arms)
    return NotComparableError(
        f"runs {baseline!r} and {candidate!r} have no judged item that {metric} counts, so nothing is known of either",
        advice=f"are their ids spelled as in the labels? See those with: {labels}",
    )


def _without_inference(comparison: Comparison) -> Comparison:
    """Return the comparison of a fixed set of groups: the same numbers, and none about further groups."""
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
            verdict=metric.verdict if metric.verdict in ("identical", "not_comparable") else "no_difference_detected",
        )
        for metric in comparison.metrics
    )
    return replace(comparison, metrics=metrics)


@dataclass(frozen=True, repr=False)
class GateResult(Answer):
    """The decision on one candidate; notebooks show it as a report.

    ``gated``: the typed row with everything the decision stands on.
    """

    gated: Gated

    @property
    def decision(self) -> Decision:
        """What was decided: "pass", "fail" or "inconclusive"."""
        return self.gated.decision.decision

    @property
    def reason(self) -> str:
        """Why, in words, and what would decide an open question."""
        return reason(self.gated.decision)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.gated.comparison.notes)

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.gated.is_accepted

    def _said(self) -> Said:
        return gate_said(self.gated)

    def to_frame(self) -> pd.DataFrame:
        """Return one row: both runs, the metric, and the decision with its numbers."""
        import pandas as pd

        return pd.DataFrame([gate_row(self.gated)])

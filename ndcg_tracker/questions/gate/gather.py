"""A candidate at the gate: two stored runs, one metric, a decision, its record, and the drift of accepted runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.arms import (
    AA_TAG,
    DATA,
    FEATURES,
    Unlike,
    arms_of,
    family_of,
    other_data,
    tags_of,
    unlike,
    without_checkpoints,
)
from ndcg_tracker.compare.gather import (
    asked_attributes,
    asked_pair,
    compared_on_suite,
    compared_pair,
    judge_alone,
    pairs_on_suite,
)
from ndcg_tracker.compare.gather_results import with_same_lists
from ndcg_tracker.compare.options import LabelView
from ndcg_tracker.compare.pair import places_of_ids
from ndcg_tracker.compare.run_pair import RunPair, Side, adding_command, known_metric, suite_metric
from ndcg_tracker.compare.shares import weights_for
from ndcg_tracker.compare.slices import MOST_SLICES, Slicing, attribute_values, slicings_of
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.questions.gate.decide_bounds import FEWEST_REPEATS, LearnedMargin, learned_margin
from ndcg_tracker.questions.gate.decide_candidate import decided
from ndcg_tracker.questions.gate.gather_policy import look_of, outside_policy, refuse_policy, restarted, under_policy
from ndcg_tracker.questions.gate.question import Acknowledgement, GateQuestion
from ndcg_tracker.questions.gate.result import (
    Basis,
    Gated,
    GateFacts,
    decided_and_recorded,
    of_gate,
    question_digest,
    recording,
)
from ndcg_tracker.questions.gate.say import gate_said, reason, recorded_reason
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.rules import refuse
from ndcg_tracker.statistics.repeats import RunVariance
from ndcg_tracker.storage.checks import finite_or_none
from ndcg_tracker.storage.marks import Decided, DecisionRecord
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.storage.references import ARM
from ndcg_tracker.words.notes import in_words
from ndcg_tracker.words.texts import shown

if TYPE_CHECKING:
    from ndcg_tracker.questions.gate.decide import Word
    from ndcg_tracker.questions.gate.result import Look
    from ndcg_tracker.storage.marks import PolicyRecord
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction

HOW_TO_REPEAT = (
    "score the same groups again with the unchanged system, ingest each run with the tag aa=NAME, and give "
    f"{argument('margin', 'auto')} and {argument('repeats', 'tag:aa=NAME')}"
)


def gated(
    store: Store, question: GateQuestion, acknowledgement: Acknowledgement | None = None, *, dry_run: bool = False
) -> Gated:
    """Return what the gate decides on two stored runs, and record it unless ``dry_run``.

    The gate decides while others may write. If they change the basis of the decision before it is recorded, the gate
    decides again, so that every decision keeps its number in the series. Raises: ReferenceNotFoundError;
    NotComparableError, with the command that fixes it; InputError for a margin that cannot be learned, and for a metric
    that allows no inference in the scope "population".
    """

    def basis(tx: ReadTransaction) -> Basis:
        asked, policy = _asked(tx, question)
        return basis_of(tx, asked, lambda *_: look_of(tx, asked, policy, dry_run=dry_run), policy=policy)

    outcome = decided_and_recorded(
        store,
        basis,
        lambda tx, basis: decided(basis.question, facts_of(tx, basis), acknowledgement),
        _recorded,
        lambda tx: _decided_before(tx, *_asked(tx, question), acknowledgement),
        dry_run=dry_run,
    )
    given = acknowledgement
    if outcome.decided_before and outcome.decision_id is not None and outcome.acknowledgement is given is not None:
        with recording(store, "marks") as tx:
            is_on_suite = question.suite is not None
            tx.write.decisions.acknowledge(outcome.decision_id, given.reason, given.by, on_suite=is_on_suite)
    return outcome


def _asked(tx: ReadTransaction, question: GateQuestion) -> tuple[GateQuestion, PolicyRecord | None]:
    """Return the question with its metric as stored, and under the policy of its alias; and the policy."""
    if question.suite is not None:
        return replace(question, metric=suite_metric(tx, tx.suites.known(question.suite), question.metric)), None
    asked, policy = under_policy(tx, question)
    if asked.metric.is_external:
        dataset_id = arms_of(tx, [asked.baseline], asked.dataset)[0].runs[0].dataset_id
        asked = replace(asked, metric=known_metric(tx, dataset_id, asked.metric))
    return asked, policy


def pairs_of(tx: ReadTransaction, question: GateQuestion) -> dict[str, RunPair]:
    """Return the runs of a question by dataset, under the labels that it asks for.

    Raises: NotComparableError if a system lacks a run on a dataset of the suite, with what to type.
    """
    if question.suite is None:
        arms = arms_of(tx, [question.baseline, question.candidate], question.dataset)
        both = asked_pair(tx, arms[0], arms[1], question.options)
        return {both.baseline.run.dataset: both}
    pairs, lacking = pairs_on_suite(tx, question.systems, question.options)
    if lacking:
        raise NotComparableError(
            f"{question.candidate!r} or {question.baseline!r} has no run on {', '.join(lacking)}, but a gate decides "
            f"on every dataset of suite {question.suite!r}",
            advice=f"see the systems with: ndcg-track leaderboard --suite {shlex.quote(question.suite)}",
        )
    return pairs


def _decided_before(
    tx: ReadTransaction, question: GateQuestion, policy: PolicyRecord | None, acknowledgement: Acknowledgement | None
) -> Gated | None:
    """Return the recorded decision on the same question, None if anything that it rests on has changed since."""
    pairs = pairs_of(tx, question)
    asked = question_digest(question, pairs.values())
    record = next((of for of in reversed(_on_record(tx, question, pairs)) if of.question == asked), None)
    if record is None:
        return None
    look, since = look_of(tx, question, policy, until=record.id), restarted(tx, policy)
    if isinstance(record, DecisionRecord):
        budget = {"budget": record.budget, "looks": record.looks, "look": record.look}
        if budget != (dict.fromkeys(budget) if look is None else look.columns) or (
            since is not None and since.after_decision_id >= record.id
        ):
            return None  # the budget was restarted, or is another one
    basis = basis_of(tx, question, lambda *_: look, until=record.id, policy=policy)
    outcome = decided(question, facts_of(tx, basis), acknowledgement)
    return decided_again(outcome, record, recorded_reason(outcome))


def decided_again(outcome: Gated, record: Decided, why: str) -> Gated | None:
    """Return a decision as the one that was recorded before, None if its numbers or its reason differ from that."""
    decision = outcome.decision
    numbers = [finite_or_none(of) for of in (decision.delta, decision.lower, decision.upper, decision.fail_alpha)]
    recorded = [record.delta, record.ci_low, record.ci_high, record.alpha]
    if (decision.decision, why, numbers) != (record.decision, record.reason, recorded):
        return None
    given = outcome.acknowledgement
    if given is None and record.acknowledged_reason is not None:
        given = Acknowledgement(record.acknowledged_reason, record.acknowledged_by or "unknown")
    return replace(outcome, decision_id=record.id, acknowledgement=given, decided_before=True)


def _on_record(tx: ReadTransaction, question: GateQuestion, pairs: Mapping[str, RunPair]) -> Sequence[Decided]:
    """Return the decisions on the dataset or on the suite, oldest first."""
    if question.suite is not None:
        return tx.decisions.on_suite(question.suite)
    return tx.decisions.all(next(iter(pairs.values())).dataset_id)


def _judge_of(pairs: Mapping[str, RunPair]) -> str:
    """Return the judges of the labels on the datasets of a suite, in a row if there are several."""
    judges = dict.fromkeys(both.baseline.label_set.judge for both in pairs.values())
    return ", ".join(judge for judge in judges if judge and judge not in NO_LABELS_HERE)


def basis_of(
    tx: ReadTransaction,
    question: GateQuestion,
    look_of_runs: Callable[[RunPair, Sequence[DecisionRecord]], Look | None],
    until: int | None = None,
    policy: PolicyRecord | None = None,
) -> Basis:
    """Return the basis of the decision as the database has it now, without reading group results.

    ``look_of_runs``: returns which look at the runs it is, after all decisions on the dataset. ``until``: the
    number of the recorded decision that this is, None for a new one. ``policy``: that the question obeys.
    """
    pairs = pairs_of(tx, question)
    question.refuse_incomplete()
    runs, alias, text = next(iter(pairs.values())), question.alias, str(question.metric)
    decisions, earlier, alike = list[DecisionRecord](), list[DecisionRecord](), list[Decided]()
    if question.suite is not None:
        refuse_policy(tx, question, pairs)
        asked, alias = (text, question.baseline, _judge_of(pairs)), None
        alike += [of for of in tx.decisions.on_suite(question.suite) if (of.metric, of.baseline, of.judge) == asked]
    else:
        refuse("gate", {"margin": question.margin, "arms": runs.is_repeated})
        decisions, checked_by = tx.decisions.all(runs.dataset_id), runs.checked_by
        earlier = of_gate(decisions, text, alias)
        judge_of = {label_set.id: label_set.judge for label_set in tx.labels.sets(runs.dataset_id, None)}
        scope = question.scope, runs.baseline.label_set.judge
        alike += [
            of
            for of in earlier
            if (of.scope, judge_of[of.label_set_id]) == scope and (not checked_by or of.checked_by == checked_by)
        ]
    before = [of for of in alike if until is None or of.id < until]
    sides = runs.baseline.run.id, runs.candidate.run.id
    n_looks = sum(
        of.checked_by is not None and of.alpha is not None and (of.baseline_run_id, of.candidate_run_id) == sides
        for of in earlier
        if until is None or of.id < until
    )
    return Basis(
        question,
        pairs,
        tuple(earlier),
        None if alias is None else tx.aliases.known(alias, runs.baseline.run.dataset),
        _learned(tx, question, runs) if question.margin == "auto" else None,
        1 + len(before),
        next(filter(None, (judge_alone(tx, both) for both in pairs.values())), ""),
        look_of_runs(runs, decisions),
        policy,
        restarted(tx, policy),
        "" if policy is not None else outside_policy(tx, pairs.values()),
        1 + n_looks,
    )


def facts_of(tx: ReadTransaction, basis: Basis) -> GateFacts:
    """Return the facts that the decision rests on; this reads the group results of both runs once."""
    question, runs, options = basis.question, basis.runs, basis.question.options
    if question.suite is not None:
        found, (on_suite,) = compared_on_suite(tx, question.systems, basis.pairs, options, with_other_ids=True)
        return GateFacts(basis, found.comparison, on_suite, None if question.by is None else Slicing.of("dataset", ()))
    baseline = runs.baseline.run
    pair = compared_pair(tx, runs, options, asked_attributes(tx, baseline, options, are_sliced=False))
    (results,) = pair.results
    ids = results.pairing.group_ids
    by = None if question.by is None else attribute_values(tx, baseline, question.by).of(ids)
    every = [] if question.scope == "set" else slicings_of(tx, baseline.dataset_id, ids)
    results = with_same_lists(tx, runs, results, by)
    slicings = tuple(of for of in every if len(of.names) <= MOST_SLICES)
    return GateFacts(basis, pair.comparison, results, by, slicings)


def _recorded(tx: WriteTransaction, basis: Basis, outcome: Gated) -> Gated:
    """Record a decision and return it with its number in the database."""
    question, decision, runs, pairs = basis.question, outcome.decision, basis.runs, basis.pairs.values()
    acknowledgement, look = outcome.acknowledgement, basis.look
    columns: dict[str, Any] = {
        "metric": str(question.metric),
        "decision": decision.decision,
        "reason": recorded_reason(outcome),
        "margin": decision.margin,
        "delta": decision.delta,
        "ci_low": decision.lower,
        "ci_high": decision.upper,
        "alpha": decision.fail_alpha,
        "acknowledged_reason": None if acknowledgement is None else acknowledgement.reason,
        "acknowledged_by": None if acknowledgement is None else acknowledgement.by,
        "unjudged": decision.worth or question.unjudged,
        "delta_low": decision.open_delta[0],
        "delta_high": decision.open_delta[1],
        "question": question_digest(question, pairs),
    }
    write = tx.write.decisions
    if question.suite is not None:
        of_suite = {name: getattr(question, name) for name in ("suite", "baseline", "candidate", "by_tag")}
        of_runs = {dataset: _recorded_runs(both) for dataset, both in basis.pairs.items()}
        of_suite |= {"runs": of_runs, "dataset_margin": question.slice_margin, "judge": _judge_of(basis.pairs)}
        return replace(outcome, decision_id=write.insert_on_suite(**columns, **of_suite).id)
    record = write.insert(
        runs.dataset_id,
        runs.baseline.run.id,
        runs.candidate.run.id,
        label_set_id=runs.baseline.label_set.id,
        scope=decision.scope,
        baseline_alias=question.alias,
        arms=tuple((arm.name, [run.id for run in arm.runs]) for arm in runs.arms),
        checked_by=runs.checked_by if decision.check is None else decision.check.checked_by,
        **({} if look is None else look.columns),
        **columns,
    )
    return replace(outcome, decision_id=record.id)


def _recorded_runs(both: RunPair) -> dict[str, object]:
    """Return the labels and the runs on one dataset of a suite."""
    sides = {"baseline_run_id": both.baseline.run.id, "candidate_run_id": both.candidate.run.id}
    repeats = {"repeats": both.run_ids} if both.is_repeated else {}
    return {"label_set_version": both.baseline.label_set.version, **sides, **repeats}


def _repeats(tx: ReadTransaction, question: GateQuestion, baseline: RunRecord, candidate: RunRecord) -> list[RunRecord]:
    """Return the repeats to learn a margin from, without the candidate: named, tagged, or similar runs.

    Raises: InputError if they are too few, or may not be repeats.
    """
    needs, doubt = f"{argument('margin', 'auto')} needs at least {FEWEST_REPEATS} runs of one unchanged system", None
    aa = f"{ARM}{AA_TAG}={baseline.tags[AA_TAG]}" if AA_TAG in baseline.tags else None
    references = question.repeats or (() if aa is None else (aa,))
    if references:
        named = [run for reference in references for run in _named(tx, reference, baseline, candidate)]
        runs = list({run.id: run for run in named}.values())
        tags = references[0].removeprefix(ARM)
        is_tag = len(references) == 1 and tags != references[0]
        where = f"with the tag {tags} apart from the candidate" if is_tag else f"with {argument('repeats')}"
    else:
        every, measures = tx.runs.all(baseline.dataset), {limit.name for limit in question.limits}
        runs = family_of(baseline, every, measures)
        if not runs:
            advice = f"name them with {argument('repeats', 'RUN')}, or {HOW_TO_REPEAT}"
            raise InputError(f"{needs}, and baseline {baseline.name!r} has no tag {AA_TAG}", advice=advice, joint=": ")
        against = unlike(baseline, candidate, measures)
        if against is not None and all(one.is_open for one in against):
            told = f"; only {_difference(against[0])}" if against else ""
            are = "may be" if against else "are"
            raise InputError(
                f"baseline {baseline.name!r} and candidate {candidate.name!r} {are} of one recipe (parameters and tags "
                f"are equal except for the seed{told}), so similar runs may be repeats of either",
                advice=f"name those of the baseline with {argument('repeats', 'RUN')}, or {_how_to_tag(baseline)}",
            )
        where = f"with the parameters and tags of {baseline.name!r} except for the seed"
        others = [found for run in every if run.id != candidate.id and (found := unlike(baseline, run, measures))]
        doubt = min((found[0] for found in others), key=lambda one: not one.is_open, default=None)
    if len(runs) >= FEWEST_REPEATS:
        return runs
    names = f" ({', '.join(run.name for run in runs)})" if runs else ""
    few = f"{needs}, and there {'is' if len(runs) == 1 else 'are'} {len(runs)} {where}{names}"
    if doubt is None:
        raise InputError(few, advice=HOW_TO_REPEAT)
    raise InputError(
        f"{few}; {doubt.runs[1]!r} does not count: {_difference(doubt)}",
        advice=f"if it is a repeat, name all repeats with {argument('repeats', 'RUN')}, or {_how_to_tag(baseline)}",
    )


def _named(tx: ReadTransaction, reference: str, baseline: RunRecord, candidate: RunRecord) -> list[RunRecord]:
    """Return the repeats that a reference names: one run, or those with a tag, of one system (InputError)."""
    if not reference.startswith(ARM):
        run = tx.runs.resolve(reference, baseline.dataset)
        if run.id == candidate.id:
            raise InputError(f"run {run.name!r} is the candidate and cannot be a repeat as well", advice="leave it out")
        return [run]
    tagged, _ = without_checkpoints(tx.runs.all(baseline.dataset), tags_of(reference))
    runs = [run for run in tagged if run.id != candidate.id]
    if other := next(other_data(runs), None):
        raise InputError(
            f"runs {other.runs[0]!r} and {other.runs[1]!r} with the tag {reference.removeprefix(ARM)} are not repeats "
            f"of one system: {_difference(other)}",
            advice=f"name the repeats of one system with {argument('repeats', 'RUN')}, or correct the tags",
        )
    return runs


def _how_to_tag(run: RunRecord) -> str:
    command = shlex.join(["ndcg-track", "runs", "tag", run.name, f"{AA_TAG}=NAME", "--dataset", run.dataset])
    return f"tag them and the baseline, each as in: {command}"


def _difference(found: Unlike) -> str:
    """Return in words why two runs may not be repeats."""
    (one, other), (value, its) = found.runs, found.values
    if None in found.values:
        lacks, has, told = (one, other, its) if value is None else (other, one, value)
        old = ", like runs that an older version stored" if found.name in DATA else ""
        return f"{found.name} is {shown(str(told))} in {has!r}, and {lacks!r} has none{old}"
    told = f"{found.name} is {shown(str(value))} in {one!r} and {shown(str(its))} in {other!r}"
    if found.name != FEATURES:
        return told
    of_one, of_other = ([name for name in str(text).partition(": ")[2].split(", ") if name] for text in found.values)
    alone = {one: [name for name in of_one if name not in of_other], other: [n for n in of_other if n not in of_one]}
    return "; ".join([told, *(f"only {run!r} has {shown(', '.join(names))}" for run, names in alone.items() if names)])


def _learned(tx: ReadTransaction, question: GateQuestion, both: RunPair) -> LearnedMargin:
    """Return the margin that the repeats teach under the labels of the comparison."""
    label_set = both.baseline.label_set
    runs = _repeats(tx, question, both.baseline.run, both.candidate.run)
    text, evaluations = str(question.metric), []
    for run in runs:
        evaluation = Side.of(run, label_set, tx.evaluations.of_run(run.id)).evaluations.get(text)
        if evaluation is None or evaluation.mean is None:
            adding = adding_command([run], [question.metric.requested_as], LabelView(labels=label_set.version))
            raise NotComparableError(
                f"repeat {run.name!r} has no {text} under labels version {label_set.version}, which the runs share",
                advice=f"type: {shlex.join(adding)}",
            )
        evaluations.append(evaluation)
    if len({evaluation.n_groups for evaluation in evaluations}) > 1:
        counts = ", ".join(
            f"{run.name}: {evaluation.n_groups}" for run, evaluation in zip(runs, evaluations, strict=True)
        )
        raise InputError(
            f"the repeats have {text} for different numbers of groups ({counts})", advice="repeat all groups"
        )
    tx.runs.require("results", *runs)
    learned = learned_margin([run.name for run in runs], [evaluation.mean or 0.0 for evaluation in evaluations])
    results = tx.evaluations.results_of([evaluation.id for evaluation in evaluations])
    ids = reduce(np.intersect1d, [ids[~np.isnan(values)] for ids, values in results])
    values = np.array([values[places_of_ids(ids_of_run, ids)] for ids_of_run, values in results])
    weights_of = weights_for(tx, both.dataset_id, question.metric)
    weights = None if weights_of is None else weights_of.weights_of(ids)
    return replace(learned, run_variance=RunVariance.of(values, weights))


@dataclass(frozen=True, repr=False)
class GateResult(Answer):
    """The decision on one candidate; notebooks show it as a report.

    ``gated``: the typed row with everything that the decision rests on.
    """

    gated: Gated

    @property
    def decision(self) -> Word:
        """The decision: "pass", "fail" or "inconclusive"."""
        return self.gated.decision.decision

    @property
    def reason(self) -> str:
        """The reason in words, and what would decide an open question."""
        return reason(self.gated.decision)

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.gated.is_accepted

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, in words."""
        return in_words(self.gated.comparison.notes, self.gated.comparison.dataset)

    def _said(self) -> Said:
        return gate_said(self.gated)

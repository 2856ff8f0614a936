"""A candidate at the gate of a sealed dataset: one bit, at a level that the seal has fixed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ndcg_tracker.errors import InputError, NdcgTrackerError, NotComparableError, argument
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.gate.decide_bounds import LEAST_LEVEL, look_level, sealed_level
from ndcg_tracker.questions.gate.decide_candidate import decided
from ndcg_tracker.questions.gate.gather import basis_of, facts_of, runs_of
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.result import (
    Basis,
    Look,
    SealedDecision,
    SealedGated,
    decided_and_recorded,
    question_digest,
)
from ndcg_tracker.questions.gate.say_looks import sealed_said
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.runs.parts import check_telling
from ndcg_tracker.runs.sealing import BUDGET
from ndcg_tracker.statistics.t_test import checked_margin
from ndcg_tracker.storage.checks import checked_name
from ndcg_tracker.words.texts import counted

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.storage.records import DecisionRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction


def checked_rules(metric: str, margin: float, looks: int | None, baseline: str | None) -> dict[str, Any]:
    """Return the rules of all gates on a sealed database as a caller gives them, checked. Raises: InputError."""
    parsed = parse_metric(metric)
    check_telling([parsed], "the sealed part")
    look_level(1, BUDGET, looks)
    GateQuestion("candidate", "baseline", parsed, margin=checked_margin(margin, "the margin"))
    named = None if baseline is None else checked_name("run", baseline)
    return {"metric": str(parsed), "margin": float(margin), "looks": looks, "baseline_run": named}


def sealed_gated(store: Store, candidate: str, dataset: str, baseline: str | None) -> SealedGated:
    """Return PASS or NOT PASSED of a candidate on a sealed dataset by the rules of its split, and record it.

    An error in the arithmetic also gives NOT PASSED, because it would be a bit that no level pays for. Raises:
    InputError for a dataset that is not sealed, and for runs that lack the metric or groups, which does not depend on
    labels; ReferenceNotFoundError for an unknown run. These errors spend no look.
    """
    with store.read("sealed") as tx:
        question = _question(tx, candidate, dataset, baseline)
    return decided_and_recorded(
        store,
        lambda tx: _named_alone(question, lambda: _basis(tx, question)),
        lambda tx, basis: _outcome(question, basis.look, lambda: _passes(tx, question, basis)),
        lambda tx, basis, outcome: _recorded(tx, question, basis, outcome),
        lambda tx: _decided_before(tx, question),
        opens="sealed",
    )


def _question(tx: ReadTransaction, candidate: str, dataset: str, baseline: str | None) -> GateQuestion:
    """Return what a gate asks by the rules of the seal (InputError for open data, and another baseline)."""
    sealed = next((record for record in tx.datasets.sealed() if record.name == dataset), None)
    seal = None if sealed is None else tx.datasets.seal_of(sealed.id)
    if seal is None or seal.metric is None:
        tx.datasets.known(dataset)
        raise InputError(f"dataset {dataset!r} is not sealed", advice="use gate, which takes open data")
    if baseline is not None and seal.baseline_run is not None:
        raise InputError(
            f"{argument('baseline')} does not go with sealed dataset {dataset!r}, whose split fixed the baseline "
            f"{seal.baseline_run!r}",
            advice="leave it out",
        )
    against = seal.baseline_run if baseline is None else baseline
    if against is None:
        raise InputError(f"the gate needs {argument('baseline', 'RUN')}: the run to compare against")
    cluster = None if seal.split is None else seal.split["cluster"]
    metric = parse_metric(seal.metric)
    return GateQuestion(candidate, against, metric, margin=seal.margin, dataset=dataset, cluster=cluster)


def _basis(tx: ReadTransaction, question: GateQuestion) -> Basis:
    basis = basis_of(tx, question, partial(_look, tx))
    text, arms = str(basis.runs.metric), basis.runs.arms
    if [run.digest for run in arms[0].runs] == [run.digest for run in arms[1].runs]:
        raise ToldError(
            f"{question.candidate!r} and {question.baseline!r} have the same lists; no look was spent",
            advice="gate a candidate that changes something",
        )
    lacking = [
        side.run.name for side in basis.runs.sides if (found := side.evaluations.get(text)) is None or found.n_missing
    ]
    if lacking:
        raise NotComparableError(f"run {lacking[0]!r} lacks {text} or groups")
    return basis


def _look(tx: ReadTransaction, runs: RunPair, looks: Sequence[DecisionRecord]) -> Look:
    """Return which look at sealed data comes next. Raises: InputError if the seal has no more looks."""
    seal = tx.datasets.seal_of(runs.dataset_id)
    assert seal is not None
    assert seal.budget is not None
    number, n_passed = len(looks) + 1, sum(look.decision == "pass" for look in looks)
    if seal.looks is not None and number > seal.looks:
        spent = f"all {counted(seal.looks, 'look')} of the seal are spent" if seal.looks > 1 else "its look is spent"
        raise ToldError(spent, advice="split fresh data")
    return Look(number, seal.budget, seal.looks, sealed_level(number, n_passed, seal.budget, seal.looks), n_passed)


class ToldError(InputError):
    """An error on sealed data that does not depend on labels, and so may be shown."""


def _named_alone(question: GateQuestion, ask: Callable[[], Basis]) -> Basis:
    """Return the result of ``ask``; an error shows only names that the caller has given."""
    try:
        return ask()
    except ToldError:
        raise
    except NdcgTrackerError:
        told = NotComparableError(
            f"{question.candidate!r} and {question.baseline!r} are not both runs of sealed dataset "
            f"{question.dataset!r} with {question.metric} for all its groups, and of the same sample if one is a "
            "sample; no look was spent",
            advice=f"ingest both completely with: ndcg-track ingest FILE --dataset {question.dataset}",
        )
    raise told


def _passes(tx: ReadTransaction, question: GateQuestion, basis: Basis) -> bool:
    return decided(question, facts_of(tx, basis), None).decision.decision == "pass"


def _outcome(question: GateQuestion, look: Look | None, passes: Callable[[], bool]) -> SealedGated:
    assert look is not None
    try:
        has_passed = look.level >= LEAST_LEVEL and passes()
    except NdcgTrackerError:
        has_passed = False
    decision: SealedDecision = "pass" if has_passed else "not_passed"
    asked = question.candidate, question.baseline, question.dataset or "", str(question.metric)
    return SealedGated(decision, *asked, float(question.margin or 0.0), look)


def _decided_before(tx: ReadTransaction, question: GateQuestion) -> SealedGated | None:
    """Return the recorded bit of the same question, None if there is none."""
    try:
        runs = runs_of(tx, question)
    except NdcgTrackerError:
        return None  # told with the names that the caller has given, when the basis is read
    asked = question_digest(question, [runs])
    n_passed = 0
    for of in tx.decisions.all(runs.dataset_id):
        has_passed = of.decision == "pass"
        if of.question == asked and of.look is not None and of.budget is not None:
            look = Look(of.look, of.budget, of.looks, of.alpha or 0.0, n_passed)
            return replace(_outcome(question, look, partial(bool, has_passed)), decided_before=True)
        n_passed += has_passed
    return None


def _recorded(tx: WriteTransaction, question: GateQuestion, basis: Basis, outcome: SealedGated) -> SealedGated:
    """Record the bit, without the numbers behind it."""
    runs, look = basis.runs, outcome.look
    has_passed = outcome.decision == "pass"
    tx.write.decisions.insert(
        runs.dataset_id,
        runs.baseline.run.id,
        runs.candidate.run.id,
        metric=outcome.metric,
        label_set_id=runs.baseline.label_set.id,
        scope="population",
        decision="pass" if has_passed else "inconclusive",
        reason="PASS" if has_passed else "NOT PASSED",
        baseline_alias=question.alias,
        margin=outcome.margin,
        alpha=look.level,
        budget=(look.budget, look.looks, look.number),
        question=question_digest(question, [runs]),
    )
    return outcome


@dataclass(frozen=True, repr=False)
class SealedGateResult(Answer):
    """PASS or NOT PASSED of a candidate on a sealed dataset; ``gated``: with the look and its level."""

    gated: SealedGated

    @property
    def decision(self) -> SealedDecision:
        """The decision: "pass" or "not_passed"."""
        return self.gated.decision

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline."""
        return self.decision == "pass"

    def _said(self) -> Said:
        return sealed_said(self.gated)

"""A candidate at the gate of a sealed database: the rules of the split, and one bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.asked import checked_margin, made
from ndcg_tracker.errors import InputError, NdcgTrackerError, NotComparableError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.gate.decide_bounds import LEAST_LEVEL, look_level
from ndcg_tracker.questions.gate.decide_candidate import decided
from ndcg_tracker.questions.gate.gather import basis_of, facts_of, pairs_of
from ndcg_tracker.questions.gate.gather_policy import look_after
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.result import Basis, Look, SealedDecision, decided_and_recorded, question_digest
from ndcg_tracker.questions.gate.say import look_words
from ndcg_tracker.render.formats import Answer, Said, as_object, paths, picked
from ndcg_tracker.render.report import Line, Report, Table
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.rules import refuse
from ndcg_tracker.runs.sealing import BUDGET, check_telling
from ndcg_tracker.storage.checks import checked_name
from ndcg_tracker.words.texts import points

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import SealRecord
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction


_COLUMNS = paths("decision candidate baseline dataset metric margin look=look.number level=look.level")


@dataclass(frozen=True, repr=False)
class SealedGateResult(Answer):
    """PASS or NOT PASSED of a candidate on a sealed dataset, and what was known before.

    ``look``: which look at the sealed data it is, and its level. ``decided_before``: see ``Gated``.
    """

    decision: SealedDecision
    candidate: str
    baseline: str
    dataset: str
    metric: str
    margin: float
    look: Look
    decided_before: bool = False

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline."""
        return self.decision == "pass"

    def _said(self) -> Said:
        return sealed_said(self)


def sealed_said(gated: SealedGateResult) -> Said:
    """Return the output for a decision on sealed data."""
    verdict = Painted("PASS", "good") if gated.is_accepted else Painted("NOT PASSED", "bold")
    asked = f"{gated.candidate} against {gated.baseline} on sealed dataset {gated.dataset}"
    rules = f"{gated.metric}, margin {points(gated.margin)}"
    lines = [Line("  ", rules), Line("  look ", look_words(gated.look, "split fresh data"))]
    if gated.decided_before:
        lines.append(Line("  ", "decided before: the same question again spends no look"))
    report = Report(asked, verdict=verdict, under=lines)
    return Said(gated, lambda: [report], lambda: Table.of_rows([picked(_COLUMNS, as_object(gated))]))


def checked_rules(metric: str, margin: float, looks: int | None, baseline: str | None) -> dict[str, Any]:
    """Return the rules of all gates on a sealed database as a caller gives them, checked. Raises: InputError."""
    parsed = parse_metric(metric)
    check_telling(parsed)
    look_level(1, BUDGET, looks)
    GateQuestion(candidate="candidate", baseline="baseline", metric=parsed, margin=checked_margin(margin, "the margin"))
    named = None if baseline is None else checked_name("run", baseline)
    return {"metric": str(parsed), "margin": float(margin), "looks": looks, "baseline_run": named}


def sealed_gated(store: Store, candidate: str, dataset: str, baseline: str | None) -> SealedGateResult:
    """Return PASS or NOT PASSED of a candidate on a sealed dataset by the rules of its split, and record it.

    Raises: InputError for a dataset that is not sealed; ReferenceNotFoundError and NotComparableError for runs that
    are unknown, or lack the metric or groups, which does not depend on labels and spends no look.
    """
    with store.read() as tx:
        question, seal = _question(tx, candidate, dataset, baseline)

    def result(look: Look, *, has_passed: bool, decided_before: bool = False) -> SealedGateResult:
        asked = candidate, question.baseline, dataset, str(question.metric), float(question.margin or 0.0)
        return SealedGateResult("pass" if has_passed else "not_passed", *asked, look, decided_before)

    def before(tx: ReadTransaction) -> SealedGateResult | None:
        pairs = pairs_of(tx, question).values()
        asked = question_digest(question, pairs)
        record = next((of for both in pairs for of in tx.decisions.all(both.dataset_id) if of.question == asked), None)
        if record is None or record.look is None:
            return None
        look = Look(record.look, BUDGET, record.looks, record.alpha or 0.0)
        return result(look, has_passed=record.decision == "pass", decided_before=True)

    def basis(tx: ReadTransaction) -> Basis:
        basis = basis_of(tx, question, lambda _, decisions: look_after(decisions, BUDGET, seal.looks, is_sealed=True))
        text = str(question.metric)
        for side in basis.runs.sides:
            if (found := side.evaluations.get(text)) is None or found.n_missing:
                raise NotComparableError(
                    f"run {side.run.name!r} lacks {text} or groups; no look was spent",
                    advice=f"ingest it completely with: ndcg-track ingest FILE --dataset {dataset}",
                )
        return basis

    def decide(tx: ReadTransaction, basis: Basis) -> SealedGateResult:
        assert basis.look is not None
        try:
            has_passed = decided(question, facts_of(tx, basis), None).decision.decision == "pass"
        except NdcgTrackerError:  # its message would be a bit that no level pays for
            has_passed = False
        return result(basis.look, has_passed=has_passed and basis.look.level >= LEAST_LEVEL)

    def record(tx: WriteTransaction, basis: Basis, outcome: SealedGateResult) -> SealedGateResult:
        """Record the bit, without the numbers behind it."""
        runs, look = basis.runs, outcome.look
        tx.write.decisions.insert(
            runs.dataset_id,
            runs.baseline.run.id,
            runs.candidate.run.id,
            metric=outcome.metric,
            label_set_id=runs.baseline.label_set.id,
            scope="population",
            decision="pass" if outcome.is_accepted else "inconclusive",
            reason="PASS" if outcome.is_accepted else "NOT PASSED",
            margin=outcome.margin,
            alpha=look.level,
            **look.columns,
            question=question_digest(question, [runs]),
        )
        return outcome

    return decided_and_recorded(store, basis, decide, record, before)


def _question(
    tx: ReadTransaction, candidate: str, dataset: str, baseline: str | None
) -> tuple[GateQuestion, SealRecord]:
    """Return what a gate asks by the rules of the seal, and the seal (InputError for open data)."""
    seal = tx.datasets.seal_of(tx.datasets.known(dataset).id)
    if seal is None or seal.metric is None:
        raise InputError(f"dataset {dataset!r} is not sealed", advice="use gate, which takes open data")
    refuse("gate", {"baseline": baseline, "fixed_baseline": seal.baseline_run})
    against = baseline or seal.baseline_run or ""
    refuse("complete gate", {"baseline": against})
    cluster = None if seal.split is None else seal.split["cluster"]
    rules = {"metric": seal.metric, "margin": seal.margin, "dataset": dataset, "cluster": cluster}
    return made(GateQuestion, rules, candidate=candidate, baseline=against), seal

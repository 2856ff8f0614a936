"""A candidate at the gate of a suite: two systems on all its datasets, a decision, and its record."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.pair import Missing
from ndcg_tracker.errors import InputError, NotComparableError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.questions.gate.decide import FAIL_ALPHA, spent_alpha
from ndcg_tracker.questions.gate.gather import recording, refuse_any_drop
from ndcg_tracker.questions.gate.result import Acknowledgement
from ndcg_tracker.questions.gate.say import reason
from ndcg_tracker.questions.suite.decide_gate import SuiteGated, macro_decision, with_datasets
from ndcg_tracker.questions.suite.gather import (
    check_suite_metric,
    compared_pairs,
    comparison_of,
    resolved_pairs,
    suite_metric,
)
from ndcg_tracker.questions.suite.say_gate import suite_gate_as, suite_gate_report, suite_gate_row
from ndcg_tracker.render.html import reports_html
from ndcg_tracker.render.rows import as_object
from ndcg_tracker.statistics.equivalence import checked_margin
from ndcg_tracker.words.sentences import sentence

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.gate.decide import Decision
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import SuiteDecisionRecord
    from ndcg_tracker.storage.store import Store
    from ndcg_tracker.storage.write import WriteTransaction

ROUNDS = 3
"""How often a gate decides without keeping other gates out."""


@dataclass(frozen=True)
class SuiteGateQuestion:
    """What a gate on a suite is asked (see ``Tracker.gate_suite``)."""

    suite: str
    candidate: str
    baseline: str
    metric: Metric
    margin: float
    dataset_margin: float | None = None
    strict_datasets: bool = False
    alpha_budget: float | None = None
    by_tag: str | None = None
    missing: Missing = "error"

    def __post_init__(self) -> None:
        """Refuse what does not go together (InputError)."""
        check_suite_metric(self.metric)
        checked_margin(self.margin, "the margin")
        if self.dataset_margin is not None:
            checked_margin(self.dataset_margin, "the margin of datasets")
        elif self.strict_datasets:
            raise InputError(
                f"{argument('strict_datasets')} needs {argument('dataset_margin')}: how large a drop a dataset is "
                f"allowed, in absolute points, such as {argument('dataset_margin', 0.05)}"
            )
        refuse_any_drop(self.metric, margin=self.margin, dataset_margin=self.dataset_margin)
        if self.alpha_budget is not None:
            spent_alpha(1, self.alpha_budget)

    @property
    def systems(self) -> tuple[str, str]:
        """Both systems, the baseline first."""
        return self.baseline, self.candidate


@dataclass(frozen=True, slots=True)
class _Basis:
    """What a decision rests on and others may change: the runs, their labels and means, and earlier decisions."""

    pairs: dict[str, RunPair]
    earlier: tuple[SuiteDecisionRecord, ...]


def gated_suite(
    store: Store, question: SuiteGateQuestion, acknowledgement: Acknowledgement | None = None, *, dry_run: bool = False
) -> SuiteGated:
    """Return what the gate decides on a suite, and record it unless ``dry_run``; see ``gate.gated``.

    Raises: ReferenceNotFoundError; NotComparableError where a system lacks a run on a dataset, with what to type;
    InputError for a metric that allows no inference.
    """
    for _ in range(ROUNDS):
        with store.read() as tx:
            basis = _basis(tx, question)
            found = _decided(tx, question, basis, acknowledgement)
        if dry_run:
            return found
        with recording(store, "marks") as tx:
            if _basis(tx, question) == basis:
                return _recorded(tx, question, basis, found)
    with recording(store, "alone") as tx:
        basis = _basis(tx, question)
        return _recorded(tx, question, basis, _decided(tx, question, basis, acknowledgement))


def _basis(tx: ReadTransaction, question: SuiteGateQuestion) -> _Basis:
    metric = suite_metric(tx, tx.suites.known(question.suite), question.metric)
    pairs, lacking = resolved_pairs(tx, question.suite, question.systems, metric, question.by_tag)
    if lacking:
        raise NotComparableError(
            f"{question.candidate!r} or {question.baseline!r} has no run on {', '.join(lacking)}, and a gate decides "
            f"on every dataset of suite {question.suite!r}",
            advice=f"see what there is with: ndcg-track suite show {shlex.quote(question.suite)}",
        )
    earlier = [
        one
        for one in tx.decisions.on_suite(question.suite)
        if (one.metric, one.baseline) == (str(metric), question.baseline)
    ]
    return _Basis(pairs, tuple(earlier))


def _decided(
    tx: ReadTransaction, question: SuiteGateQuestion, basis: _Basis, acknowledgement: Acknowledgement | None
) -> SuiteGated:
    found = compared_pairs(tx, question.systems, basis.pairs, question.missing)
    results = {dataset: one.results[0] for dataset, one in found.items()}
    for dataset, one in results.items():
        if one.no_inference is not None:
            raise InputError(
                f"{sentence(one.no_inference)}; so no bound says anything about further groups", where=dataset
            )
    number = 1 + len(basis.earlier)
    alpha = FAIL_ALPHA if question.alpha_budget is None else spent_alpha(number, question.alpha_budget)
    gains = {dataset: one.gain for dataset, one in results.items()}
    first = next(iter(results.values()))
    decision = macro_decision(list(gains.values()), question.margin, fail_alpha=alpha, limits=first.limits)
    if question.dataset_margin is not None:
        margin = question.dataset_margin
        decision = with_datasets(decision, gains, margin, is_strict=question.strict_datasets, limits=first.limits)
    return SuiteGated(
        comparison_of(question.suite, question.systems, found, ()),
        decision.in_direction(first.direction),
        number,
        alpha_budget=question.alpha_budget,
        acknowledgement=None if decision.decision == "pass" else acknowledgement,
    )


def _recorded(tx: WriteTransaction, question: SuiteGateQuestion, basis: _Basis, found: SuiteGated) -> SuiteGated:
    decision, acknowledgement = found.decision, found.acknowledgement
    runs = {
        dataset: {
            "label_set_version": both.baseline.label_set.version,
            "baseline_run_id": both.baseline.run.id,
            "candidate_run_id": both.candidate.run.id,
        }
        for dataset, both in basis.pairs.items()
    }
    record = tx.write.decisions.insert_on_suite(
        suite=question.suite,
        baseline=question.baseline,
        candidate=question.candidate,
        by_tag=question.by_tag,
        runs=runs,
        metric=found.comparison.metric,
        margin=question.margin,
        dataset_margin=question.dataset_margin,
        delta=decision.delta,
        ci_low=decision.lower,
        ci_high=decision.upper,
        alpha=decision.fail_alpha,
        decision=decision.decision,
        reason=reason(decision),
        acknowledged_reason=None if acknowledgement is None else acknowledgement.reason,
        acknowledged_by=None if acknowledgement is None else acknowledgement.by,
    )
    return replace(found, decision_id=record.id)


@dataclass(frozen=True)
class SuiteGateResult:
    """The decision on one system on a suite; notebooks show it as a report, and ``print`` prints it.

    ``gated``: the typed numbers.
    """

    gated: SuiteGated

    @property
    def decision(self) -> Decision:
        """What was decided: "pass", "fail" or "inconclusive"."""
        return self.gated.decision.decision

    @property
    def reason(self) -> str:
        """Why, in words, and what would decide an open question."""
        return reason(self.gated.decision)

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.gated.is_accepted

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track suite gate --format json`` prints."""
        found: dict[str, Any] = as_object(self.gated)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame([suite_gate_row(self.gated)])

    def _repr_html_(self) -> str:
        return reports_html([suite_gate_report(self.gated)])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return suite_gate_as("text", self.gated)

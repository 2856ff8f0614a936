"""Runs on the datasets of a suite: their means, two of them compared, and a candidate at the gate, with its record."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.gather import ComparedPair, CompareOptions, compared_pair
from ndcg_tracker.compare.pair import Missing
from ndcg_tracker.compare.run_pair import RunPair, resolved_pair
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.gate.decide import FAIL_ALPHA, spent_alpha
from ndcg_tracker.questions.gate.gather import recording, refuse_any_drop
from ndcg_tracker.questions.gate.result import Acknowledgement
from ndcg_tracker.questions.gate.say import reason
from ndcg_tracker.questions.leaderboard.gather import side_by_side, under_labels
from ndcg_tracker.questions.suite.decide import (
    SuiteCell,
    SuiteComparison,
    SuiteGated,
    SuiteNote,
    SuiteRow,
    SuiteTable,
    macro_decision,
    suite_comparison,
    suite_row,
    with_datasets,
    with_standings,
)
from ndcg_tracker.questions.suite.say import (
    delta_rows,
    suite_comparison_as,
    suite_comparison_report,
    suite_gate_as,
    suite_gate_report,
    suite_gate_row,
    suite_rows,
    suite_table_as,
    suite_table_report,
)
from ndcg_tracker.render.html import reports_html
from ndcg_tracker.render.rows import as_object
from ndcg_tracker.statistics.t_test import checked_margin
from ndcg_tracker.storage.references import is_pattern
from ndcg_tracker.words.notes import sentence

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.gate.decide import Decision
    from ndcg_tracker.render.charts.chart import Chart
    from ndcg_tracker.storage.records import HistoryRecord, RunRecord, SuiteDecisionRecord, SuiteRecord
    from ndcg_tracker.storage.store import Store
    from ndcg_tracker.storage.transactions import ReadTransaction, WriteTransaction


def suite_metric(tx: ReadTransaction, suite: SuiteRecord, metric: Metric) -> Metric:
    """Return the metric as the datasets of a suite know it, checked (InputError, ReferenceNotFoundError)."""
    if metric.is_external and not metric.settings:
        having = [tx.datasets.known(dataset).id for dataset in suite.datasets]
        known = {text for one in having if (text := tx.evaluations.external(one, metric.measure)) is not None}
        if len(known) > 1:
            raise NotComparableError(
                f"the datasets of suite {suite.name!r} know {metric} as {' and '.join(sorted(known))}",
                advice="store its results with one direction and range",
            )
        metric = parse_metric(known.pop()) if known else metric
    check_suite_metric(metric)
    return metric


def check_suite_metric(metric: Metric) -> None:
    """Refuse a metric whose mean over datasets says nothing (InputError)."""
    if metric.shown_only is not None or metric.summary != "mean":
        raise InputError(f"{metric} is shown and not tested", advice="take another metric")
    if metric["weights"] != "none":
        raise InputError(f"{metric} weighs groups, and a suite counts them", advice="take one without weights")


def suite_table(
    tx: ReadTransaction,
    name: str,
    systems: Sequence[str],
    metric: Metric,
    by_tag: str | None,
    missing: Missing = "error",
) -> SuiteTable:
    """Return the means of systems on the datasets of a suite (see ``Tracker.suite``)."""
    suite = tx.suites.known(name)
    metric = suite_metric(tx, suite, metric)
    found: dict[str, dict[str, SuiteCell]] = {}
    evaluations: dict[str, dict[str, HistoryRecord]] = {}
    versions: list[int | None] = []
    notes: list[SuiteNote] = []
    for dataset in suite.datasets:
        runs = [
            run
            for system, run in _by_system(tx, dataset, by_tag).items()
            if not systems or any(_fits(system, one) for one in systems)
        ]
        if not runs:
            versions.append(None)
            continue
        label_set, (records,), noted = under_labels(tx, runs, [metric], is_named=False)
        versions.append(label_set.version)
        notes += [SuiteNote(dataset, note) for note in noted]
        for run in runs:
            record = records.get(run.id)
            if record is None or record.mean is None:
                continue
            is_plain = record.std_dev is not None and record.n_groups > 1
            error = (record.std_dev or 0.0) / math.sqrt(record.n_groups) if is_plain else None
            cell = SuiteCell(run.name, run.id, record.n_groups, record.mean, error)
            found.setdefault(_system(run, by_tag), {})[dataset] = cell
            evaluations.setdefault(_system(run, by_tag), {})[dataset] = record
    if not found:
        raise ReferenceNotFoundError(f"no run of suite {name!r} is meant", advice="see them with: ndcg-track runs list")
    rows = [
        suite_row(system, [cells.get(dataset) for dataset in suite.datasets], metric.limits)
        for system, cells in found.items()
    ]
    sign = -1.0 if metric.direction == "higher" else 1.0

    def place(row: SuiteRow) -> tuple[bool, float, str]:
        return row.macro is None, 0.0 if row.macro is None else sign * row.macro.mean, row.system

    rows.sort(key=place)
    complete = [row for row in rows if row.macro is not None]
    without_results = {run_id for run_id, pruning in tx.runs.prunings().items() if pruning.summaries_only}
    of_complete = [evaluations[row.system] for row in complete]
    if len(complete) > 1 and not any(one.run_id in without_results for of in of_complete for one in of.values()):
        names = [row.system for row in complete]
        values = [
            side_by_side(tx, metric, [of[dataset] for of in of_complete], names, missing)[1]
            for dataset in suite.datasets
        ]
        rows = [*with_standings(complete, values, metric.direction), *rows[len(complete) :]]
    return SuiteTable(name, str(metric), suite.datasets, tuple(versions), tuple(rows), tuple(notes), metric.direction)


def compared_on_suite(
    tx: ReadTransaction,
    name: str,
    systems: tuple[str, str],
    metric: Metric,
    by_tag: str | None,
    missing: Missing,
) -> SuiteComparison:
    """Return the comparison of two systems on the datasets of a suite (see ``Tracker.compare_suite``)."""
    metric = suite_metric(tx, tx.suites.known(name), metric)
    pairs, lacking = resolved_pairs(tx, name, systems, metric, by_tag)
    return comparison_of(name, systems, compared_pairs(tx, systems, pairs, missing), lacking)


def resolved_pairs(
    tx: ReadTransaction, name: str, systems: tuple[str, str], metric: Metric, by_tag: str | None
) -> tuple[dict[str, RunPair], list[str]]:
    """Return the runs of two systems by dataset, and the datasets on which one of them has none.

    Raises: ReferenceNotFoundError for an unknown suite, and where no dataset has both.
    """
    found: dict[str, RunPair] = {}
    lacking: list[str] = []
    for dataset in tx.suites.known(name).datasets:
        known = _by_system(tx, dataset, by_tag)
        baseline, candidate = (known.get(system) for system in systems)
        if baseline is None or candidate is None:
            lacking.append(dataset)
        else:
            found[dataset] = resolved_pair(tx, baseline, candidate, [metric])
    if not found:
        raise ReferenceNotFoundError(
            f"{systems[0]!r} and {systems[1]!r} are on no dataset of suite {name!r} together",
            advice=f"see what there is with: ndcg-track suite show {shlex.quote(name)}",
        )
    return found, lacking


def compared_pairs(
    tx: ReadTransaction, systems: tuple[str, str], pairs: Mapping[str, RunPair], missing: Missing
) -> dict[str, ComparedPair]:
    """Return the comparison on each dataset (NotComparableError where no group has a result in both runs)."""
    found = {}
    for dataset, both in pairs.items():
        compared = compared_pair(tx, both, CompareOptions(missing=missing, top=0), (None, None))
        if compared.comparison.metrics[0].delta is None:
            raise NotComparableError(
                f"{systems[1]!r} and {systems[0]!r} have no {both.metric} of the same group on {dataset!r}",
                advice=f"see: ndcg-track compare {both.baseline.run.id} {both.candidate.run.id}",
            )
        found[dataset] = compared
    return found


def comparison_of(
    name: str, systems: tuple[str, str], found: Mapping[str, ComparedPair], lacking: Sequence[str]
) -> SuiteComparison:
    """Return the comparison on a suite from those on its datasets."""
    each = {
        dataset: (
            (one.both.baseline.run.name, one.both.candidate.run.name),
            one.comparison.label_set.version,
            one.comparison.metrics[0],
        )
        for dataset, one in found.items()
    }
    notes = [SuiteNote(dataset, note) for dataset, one in found.items() for note in one.comparison.notes]
    return suite_comparison(name, systems, each, lacking, notes)


def created_suite(tx: ReadTransaction, datasets: Sequence[str]) -> tuple[str, ...]:
    """Return the datasets of a new suite, patterns replaced by what fits them (InputError without any)."""
    names = [one.name for one in tx.datasets.all()]
    meant: list[str] = []
    for one in datasets:
        fitting = [name for name in names if fnmatchcase(name, one)] if is_pattern(one) and one not in names else []
        meant += fitting or [tx.datasets.known(one).name]
    meant = list(dict.fromkeys(meant))
    if not meant:
        raise InputError("a suite needs a dataset", advice="name some, or give a pattern such as 'beir-*'")
    return tuple(meant)


def _by_system(tx: ReadTransaction, dataset: str, by_tag: str | None) -> dict[str, RunRecord]:
    """Return the run of each system on a dataset: by its name, or by the value of a tag, which one run may have."""
    found: dict[str, RunRecord] = {}
    for run in tx.runs.chosen((), dataset):
        if by_tag is not None and by_tag not in run.tags:
            continue
        system = _system(run, by_tag)
        if system in found:
            raise InputError(
                f"runs {found[system].name!r} and {run.name!r} of {dataset!r} both have the tag {by_tag}={system}",
                advice=f"take it from one of them: ndcg-track runs tag {run.id} --remove {by_tag}",
            )
        found[system] = run
    return found


def _system(run: RunRecord, by_tag: str | None) -> str:
    return run.name if by_tag is None else str(run.tags[by_tag])


def _fits(system: str, wanted: str) -> bool:
    return system == wanted or (is_pattern(wanted) and fnmatchcase(system, wanted))


@dataclass(frozen=True)
class SuiteResult:
    """Systems on the datasets of a suite; notebooks show it as a table, and ``print`` prints it.

    ``table``: the typed rows.
    """

    table: SuiteTable

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track suite show --format json`` prints."""
        found: dict[str, Any] = as_object(self.table)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and dataset, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame(suite_rows(self.table))

    def to_latex(self) -> str:
        """Return a table for a paper, with the caption that explains it; it needs the package booktabs."""
        return suite_table_as("latex", self.table)

    def _repr_html_(self) -> str:
        return reports_html([suite_table_report(self.table)])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return suite_table_as("text", self.table)


@dataclass(frozen=True)
class SuiteComparisonResult:
    """Two systems on the datasets of a suite; notebooks show it as a report, and ``print`` prints it.

    ``comparison``: the typed numbers.
    """

    comparison: SuiteComparison

    def plot(self) -> Chart:
        """Return the difference on each dataset and on all together, with their intervals."""
        from ndcg_tracker.questions.suite.say import suite_forest
        from ndcg_tracker.render.charts.chart import Chart

        return Chart(suite_forest(self.comparison))

    def to_dict(self) -> dict[str, Any]:
        """Return what ``ndcg-track suite compare --format json`` prints."""
        found: dict[str, Any] = as_object(self.comparison)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return one row per dataset, with the columns of ``--format csv``."""
        import pandas as pd

        return pd.DataFrame(delta_rows(self.comparison))

    def _repr_html_(self) -> str:
        return reports_html([suite_comparison_report(self.comparison)])

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return suite_comparison_as("text", self.comparison)


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

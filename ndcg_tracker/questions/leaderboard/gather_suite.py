"""Systems side by side on the datasets of a suite, on each by the rules of the leaderboard, and over all of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.gather_results import groups_of_runs
from ndcg_tracker.compare.gather_suite import by_system, suite_metric
from ndcg_tracker.compare.options import LabelView
from ndcg_tracker.compare.pair import lacked
from ndcg_tracker.compare.results import JudgedSpan
from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.questions.leaderboard.decide import SuiteCell, SuiteRow, SuiteTable, suite_row, with_standings
from ndcg_tracker.questions.leaderboard.gather import (
    judged_notes,
    judged_under,
    no_group_in_all,
    notes_on_groups,
    of_one_sample,
    side_by_side,
    under_labels,
)
from ndcg_tracker.questions.leaderboard.question import LeaderboardQuestion
from ndcg_tracker.questions.leaderboard.say import suite_tables_said
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Index
    from ndcg_tracker.storage.records import HistoryRecord, LabelSetRecord, RunRecord, SuiteRecord
    from ndcg_tracker.storage.store import ReadTransaction


def suite_tables(tx: ReadTransaction, question: LeaderboardQuestion) -> tuple[SuiteTable, ...]:
    """Return the means of systems on the datasets of a suite, a table per metric (see ``Tracker.suite``)."""
    suite = tx.suites.known(question.suite or "")
    return tuple(_table(tx, suite, question, suite_metric(tx, suite, metric)) for metric in question.metrics)


@dataclass(frozen=True, slots=True)
class _OnDataset:
    """The runs and evaluations of the systems on one dataset, the groups left out, and judged shares by run id."""

    label_set: LabelSetRecord
    runs: dict[str, RunRecord]
    records: dict[str, HistoryRecord]
    left_out: Index
    notes: list[Note]
    shares: Mapping[int, float]


def _table(tx: ReadTransaction, suite: SuiteRecord, question: LeaderboardQuestion, metric: Metric) -> SuiteTable:
    without_results = tx.runs.without("results")
    by_dataset = {name: _on_dataset(tx, name, question, metric, without_results) for name in suite.datasets}
    present = {name: on_dataset for name, on_dataset in by_dataset.items() if on_dataset is not None}
    systems = dict.fromkeys(system for on_dataset in present.values() for system in on_dataset.records)
    if not systems:
        raise ReferenceNotFoundError(
            f"the question matches no run of suite {suite.name!r}", advice="see the runs with: ndcg-track runs list"
        )
    cells = {name: _cells(tx, on_dataset) for name, on_dataset in present.items()}
    rows = [
        suite_row(system, [cells.get(name, {}).get(system) for name in suite.datasets], metric.limits)
        for system in systems
    ]
    sign = -1.0 if metric.direction == "higher" else 1.0

    def place(row: SuiteRow) -> tuple[bool, float, str]:
        return row.macro is None, 0.0 if row.macro is None else sign * (row.macro.mean or 0.0), row.system

    rows.sort(key=place)
    complete = [row for row in rows if row.macro is not None]
    names = [row.system for row in complete]
    all_records = [
        on_dataset.records[name].run_id
        for on_dataset in present.values()
        for name in names
        if name in on_dataset.records
    ]
    if len(complete) > 1 and not without_results.intersection(all_records):
        values, contents = [], []
        for on_dataset in present.values():
            records = [on_dataset.records[name] for name in names]
            ids, of_systems = side_by_side(tx, metric, records, names, question.missing)
            values.append(of_systems[:, ~np.isin(ids, on_dataset.left_out)])
            contents.append([name if metric.is_external else on_dataset.runs[name].digest for name in names])
        rows = [*with_standings(complete, values, contents, metric.direction), *rows[len(complete) :]]
    versions = tuple(None if on_dataset is None else on_dataset.label_set.version for on_dataset in by_dataset.values())
    notes = tuple(replace(note, dataset=name) for name, on_dataset in present.items() for note in on_dataset.notes)
    judges = tuple(None if on_dataset is None else on_dataset.label_set.judge for on_dataset in by_dataset.values())
    return SuiteTable(suite.name, str(metric), suite.datasets, versions, tuple(rows), notes, metric.direction, judges)


def _on_dataset(
    tx: ReadTransaction, dataset: str, question: LeaderboardQuestion, metric: Metric, without_results: set[int]
) -> _OnDataset | None:
    """Return the requested systems on one dataset, None if there are none."""
    meant, of_checkpoints = by_system(tx, dataset, question.by_tag, question.references, question.tags)
    if not meant:
        return None
    label_set, (records,), notes = under_labels(tx, list(meant.values()), [metric], False, question)
    notes += of_checkpoints
    having = {system: run for system, run in meant.items() if run.id in records and records[run.id].mean is not None}
    if not metric.is_external:
        alike = of_one_sample(list(having.values()), notes, is_named=False)
        having = {system: run for system, run in having.items() if run in alike}
    complete = [run for run in having.values() if run.id not in without_results]
    evaluations = [records[run.id] for run in complete]
    left_out = np.empty(0, dtype=np.int64)
    if evaluations and metric.counts_missing and any(evaluation.n_missing for evaluation in evaluations):
        ids = next(ids for ids, _ in tx.evaluations.results_of([evaluations[0].evaluation_id]))
        in_none, is_out = lacked(ids, groups_of_runs(tx, metric, ids, evaluations), question.missing)
        notes += notes_on_groups(question, dataset, complete, evaluations, metric, (ids.size, int(in_none.sum())))
        left_out = ids[is_out]
        if left_out.size:
            if is_out.all():
                raise no_group_in_all(dataset)
            gone = [run for run in having.values() if run.id in without_results]
            if gone:
                notes.append(Note("runs_without_results", {"n": len(gone), "first": gone[0].name}))
            having = {system: run for system, run in having.items() if run.id not in without_results}
    shares = {} if metric.is_external else judged_under(tx, label_set, metric.cutoff)
    span = JudgedSpan.of(metric.cutoff, (shares.get(run.id) for run in having.values()))
    first = sorted(having.values(), key=lambda run: -(records[run.id].mean or 0.0))
    notes += judged_notes(
        span,
        [run.name for run in first],
        dataset,
        metric.requested_as,
        LabelView(judge=label_set.judge, labels=question.labels),
    )
    of_runs = {name: records[run.id] for name, run in having.items()}
    return _OnDataset(label_set, having, of_runs, left_out, notes, shares)


def _cells(tx: ReadTransaction, on_dataset: _OnDataset) -> dict[str, SuiteCell]:
    """Return the mean of each system: the stored mean, or that of the groups that are not left out."""
    if not on_dataset.left_out.size:
        return {
            system: replace(cell_of(run, on_dataset.records[system]), judged=on_dataset.shares.get(run.id))
            for system, run in on_dataset.runs.items()
        }
    results = tx.evaluations.results_of([record.evaluation_id for record in on_dataset.records.values()])
    cells = {}
    for (system, run), (ids, values) in zip(on_dataset.runs.items(), results, strict=True):
        kept = values[~np.isin(ids, on_dataset.left_out) & ~np.isnan(values)]
        error = float(kept.std(ddof=1)) / math.sqrt(kept.size) if kept.size > 1 else None
        judged = on_dataset.shares.get(run.id)
        cells[system] = SuiteCell(run.name, run.id, kept.size, float(kept.mean()), error, judged)
    return cells


def cell_of(run: RunRecord, record: HistoryRecord) -> SuiteCell:
    """Return the stored mean of a run on one dataset."""
    is_plain = record.std_dev is not None and record.n_groups > 1
    error = (record.std_dev or 0.0) / math.sqrt(record.n_groups) if is_plain else None
    return SuiteCell(run.name, run.id, record.n_groups, record.mean or 0.0, error)


@dataclass(frozen=True, repr=False)
class SuiteResult(Answer):
    """Systems on the datasets of a suite; notebooks show it as a table, and ``print`` prints it.

    ``table``: the typed rows of the first metric; ``further``: the tables of the others. ``to_frame`` has a row per
    system and dataset (and metric).
    """

    table: SuiteTable
    further: tuple[SuiteTable, ...] = ()

    @property
    def tables(self) -> tuple[SuiteTable, ...]:
        """All of them, one per metric."""
        return (self.table, *self.further)

    def to_latex(self) -> str:
        """Return a table for a paper, with the caption that explains it; it needs the package booktabs."""
        return self._said().in_format("latex")

    def _said(self) -> Said:
        return suite_tables_said(*self.tables)

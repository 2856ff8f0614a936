"""A metric over the systems on a suite: their macro means, and where these stepped."""

from __future__ import annotations

import math
import shlex
from dataclasses import dataclass, replace
from functools import reduce
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.gather_suite import by_system, suite_metric
from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.gather import (
    History,
    HistoryFilter,
    history_row,
    judged_shares_of,
    under_labels,
)
from ndcg_tracker.questions.history.steps import (
    FoundStep,
    differences,
    different_labels,
    found_steps,
    lacking_groups,
    mark_judged,
    mark_vanished,
    scatter_notes,
)
from ndcg_tracker.statistics.steps import steps_with_scatter
from ndcg_tracker.statistics.stratified import StratumMean, stratified, stratum_mean
from ndcg_tracker.statistics.t_test import limited
from ndcg_tracker.storage.records import HistoryRecord
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.questions.history.say import HistoryRow
    from ndcg_tracker.storage.records import RunRecord, SuiteRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class _System:
    """A system on every dataset of a suite: its runs and what is stored of them, in the order of the datasets.

    ``judges``: whose labels they use, on each dataset.
    """

    name: str
    runs: tuple[RunRecord, ...]
    records: tuple[HistoryRecord, ...]
    judges: tuple[str, ...]

    @property
    def latest(self) -> RunRecord:
        """The latest of its runs; since that run the system has a macro mean."""
        return max(self.runs, key=lambda run: (run.created_at_utc, run.id))

    @property
    def tasks(self) -> tuple[object, ...]:
        """The conditions for comparing it on each dataset: labels, and the items that it ranks."""
        return tuple((record.label_set_version, record.sample) for record in self.records)

    @property
    def versions(self) -> tuple[int, ...]:
        """The versions of the labels."""
        return tuple(record.label_set_version for record in self.records)


def history_on_suite(
    tx: ReadTransaction,
    name: str,
    metric_text: str,
    wanted: HistoryFilter,
    by_tag: str | None = None,
    *,
    without: str | None = None,
) -> History:
    """Return the macro mean of every system that has a run on each dataset of a suite, the oldest first.

    Steps are those of the mean over all groups, in which each group of a dataset of n groups weighs 1/n. Parameters:
    ``wanted``: which runs count; a system counts if all of its runs do. ``without``: a system to leave out. Raises:
    ReferenceNotFoundError for an unknown suite, and if no system has the metric on every dataset.
    """
    suite = tx.suites.known(name)
    metric = suite_metric(tx, suite, parse_metric(metric_text))
    every, notes = _systems(tx, suite, metric, by_tag, wanted)
    chosen = [system for system in every if len(wanted.chosen(system.runs)) == len(system.runs)]
    systems = [system for system in chosen if system.name != without][-(wanted.last or 0) :]
    if not systems and without is None:
        what = f" and {wanted.words}" if every and wanted.words else ""
        raise ReferenceNotFoundError(
            f"no system has {metric_text}{what} on every dataset of suite {name!r}",
            advice=f"see the systems with: ndcg-track leaderboard --suite {shlex.quote(name)}",
        )
    for place, dataset in enumerate(suite.datasets):
        records = [system.records[place] for system in systems]
        notes += different_labels(records, dataset, metric.requested_as)
        notes += lacking_groups([system.runs[place] for system in systems], records, metric)
    steps: dict[int, FoundStep] = {}
    for tasks in dict.fromkeys(system.tasks for system in systems):
        steps |= _steps(tx, [system for system in systems if system.tasks == tasks], notes)
    details = {system.latest.id: replace(system.latest, name=system.name) for system in systems}
    of_datasets = [
        judged_shares_of(tx, [system.records[at] for system in systems], metric) for at in range(len(suite.datasets))
    ]
    rows = [_row(system, suite, metric, details, steps, of_datasets) for system in systems]
    if metric.counts_missing:
        apart: dict[object, list[tuple[str, int, int]]] = {}
        for each in systems:
            lacking = sum(record.n_missing for record in each.records)
            apart.setdefault(each.tasks, []).append((each.name, lacking, sum(one.n_groups for one in each.records)))
        mark_vanished(rows, apart.values())
    for versions in dict.fromkeys(system.versions for system in systems):
        mark_judged([row for system, row in zip(systems, rows, strict=True) if system.versions == versions])
    distinct = [note for place, note in enumerate(notes) if note not in notes[:place]]
    return History(tuple(rows), tuple(distinct), len(every), len(every), dataset=name)


def _systems(
    tx: ReadTransaction, suite: SuiteRecord, metric: Metric, by_tag: str | None, wanted: HistoryFilter
) -> tuple[list[_System], list[Note]]:
    """Return the systems that have the metric on every dataset, by the time of their latest run, and notes."""
    pairs_of: dict[str, list[tuple[RunRecord, HistoryRecord]]] = {}
    judges, notes = list[str](), list[Note]()
    for dataset in suite.datasets:
        judge, newest = under_labels(tx, wanted, tx.datasets.known(dataset).id, dataset, metric)
        judges.append(judge)
        run_of, left_out = by_system(tx, dataset, by_tag, tags=wanted.tags)
        notes += left_out
        for system, run in run_of.items():
            if run.id in newest and newest[run.id].mean is not None:
                pairs_of.setdefault(system, []).append((run, newest[run.id]))
    complete = {system: pairs for system, pairs in pairs_of.items() if len(pairs) == len(suite.datasets)}
    systems = [
        _System(name, tuple(run for run, _ in pairs), tuple(record for _, record in pairs), tuple(judges))
        for name, pairs in complete.items()
    ]
    return sorted(systems, key=lambda system: (system.latest.created_at_utc, system.latest.id)), notes


def _row(
    system: _System,
    suite: SuiteRecord,
    metric: Metric,
    details: dict[int, RunRecord],
    steps: dict[int, FoundStep],
    shares: Sequence[Mapping[int, float]],
) -> HistoryRow:
    """Return a system as in JSON; ``shares``: the judged share of each run by dataset."""
    judged = [of_dataset.get(run.id) for run, of_dataset in zip(system.runs, shares, strict=True)]
    share = None if None in judged else sum(filter(None, judged)) / len(judged)
    macro = stratified([_stratum(record) for record in system.records], [1.0] * len(system.records))
    latest, last = system.latest, system.records[-1]
    record = replace(
        last,
        run_id=latest.id,
        run=system.name,
        created_at_utc=latest.created_at_utc,
        git_commit=latest.git_commit,
        mean=macro.mean,
        std_dev=None,
        n_groups=sum(stored.n_groups for stored in system.records),
    )
    judge = " ".join(dict.fromkeys(filter(None, system.judges)))
    row = history_row(record, details, metric, steps.get(latest.id), True, judged=share, judge=judge)
    row["ci"] = limited(macro.ci, metric.limits)
    row["suite"], row["label_set_versions"] = suite.name, system.versions
    return row


def _stratum(record: HistoryRecord) -> StratumMean:
    is_plain = record.std_dev is not None and record.n_groups > 1
    error = (record.std_dev or 0.0) / math.sqrt(record.n_groups) if is_plain else None
    return stratum_mean(record.n_groups, record.mean or 0.0, error)


def _steps(tx: ReadTransaction, systems: Sequence[_System], notes: list[Note]) -> dict[int, FoundStep]:
    """Return the steps at systems that are evaluated under the same labels, by the id of their latest run."""
    ids_of_datasets = zip(*(system.records for system in systems), strict=True)
    evaluations = [tx.evaluations.results_of([record.evaluation_id for record in of]) for of in ids_of_datasets]
    are_kept = [all(ids.size for ids, _ in of_system) for of_system in zip(*evaluations, strict=True)]
    if not all(are_kept):
        notes.append(Note("summaries_only", {"n": are_kept.count(False)}))
        systems = list(compress(systems, are_kept))
    if len(systems) < 2:
        return {}
    values, weights, n_most = [], [], 0
    for results in evaluations:
        defined = [(ids[~np.isnan(of_run)], of_run[~np.isnan(of_run)]) for ids, of_run in compress(results, are_kept)]
        shared = reduce(np.intersect1d, [ids for ids, _ in defined])
        n_most += max(ids.size for ids, _ in defined)
        if not shared.size:  # then only the means can be compared
            notes.append(Note("shared_groups", {"n": 0, "most": n_most}))
            means = [replace(system.records[0], run_id=system.latest.id, mean=_macro(system)) for system in systems]
            return differences(means)
        values.append(np.stack([of_run[np.searchsorted(ids, shared)] for ids, of_run in defined]))
        weights.append(np.full(shared.size, 1 / shared.size))
    together, scale = np.concatenate(values, axis=1), np.concatenate(weights)
    if together.shape[1] < n_most:
        notes.append(Note("shared_groups", {"n": together.shape[1], "most": n_most}))
    tested = steps_with_scatter(together, scale * scale.size / scale.sum())
    notes += scatter_notes(tested, None)
    return found_steps([system.latest.id for system in systems], tested)


def _macro(system: _System) -> float:
    return sum(record.mean or 0.0 for record in system.records) / len(system.records)

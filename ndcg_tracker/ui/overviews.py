"""What the pages of ``ui`` show beside comparisons: datasets, runs, one group over time, coverage, decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.asked import DEFAULT_METRIC
from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.gather import judged_shares_of
from ndcg_tracker.runs.groups import texts_of
from ndcg_tracker.runs.labels import judges_of

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index
    from ndcg_tracker.storage.records import (
        DatasetCounts,
        DatasetRecord,
        EvaluationRecord,
        GroupValueRecord,
        LabelSetRecord,
        MetricUse,
        RunRecord,
    )
    from ndcg_tracker.storage.store import ReadTransaction
    from ndcg_tracker.words.texts import Text

Means = Sequence[float | None]
"""The mean of each run, oldest first."""


@dataclass(frozen=True, slots=True)
class DatasetOverview:
    """A dataset, how much it holds, and its usual metric over its runs; ``metric``: None where no run has one."""

    dataset: DatasetRecord
    counts: DatasetCounts
    metric: MetricUse | None
    means: Means
    newest_utc: str | None


@dataclass(frozen=True, slots=True)
class RunOverview:
    """A run, its aliases, its mean under its newest labels, and which share of its first ranks these judge."""

    run: RunRecord
    mean: float | None
    label_set_version: int | None
    aliases: Sequence[str]
    judged: float | None = None


def datasets_overview(tx: ReadTransaction) -> list[DatasetOverview]:
    """Return all datasets, the one that was stored to last first."""
    counts = tx.datasets.counts()
    overviews = []
    for dataset in tx.datasets.all():
        judge = shown_judge(tx, dataset)
        metric = usual_metric(tx.evaluations.metrics(dataset.id, judge))
        records = [] if metric is None else tx.evaluations.history(dataset.id, metric.metric, judge=judge)
        means = {record.run_id: record.mean for record in records}  # the newest labels come last
        newest = max((record.created_at_utc for record in records), default=None)
        overviews.append(DatasetOverview(dataset, counts[dataset.id], metric, list(means.values()), newest))
    return sorted(overviews, key=lambda overview: overview.newest_utc or "", reverse=True)


def shown_judge(tx: ReadTransaction, dataset: DatasetRecord) -> str:
    """Return whose labels pages show: those of no named judge, or else of the judge of the newest."""
    judges = judges_of(tx, dataset.id)
    if "" in judges or not judges:
        return ""
    return [label_set.judge for label_set in tx.labels.sets(dataset.id, None) if label_set.judge in judges][-1]


def usual_metric(metrics: Sequence[MetricUse], wanted: str | None = None) -> MetricUse | None:
    """Return the metric that is wanted, else ndcg@10, else the one that most runs have; None where there is none.

    Raises: ReferenceNotFoundError for a wanted one that no run has.
    """
    if wanted is not None:
        for use in metrics:
            if use.metric == wanted:
                return use
        raise ReferenceNotFoundError(f"no run of this dataset has the metric {wanted!r}")
    return max(metrics, key=lambda use: (use.metric == DEFAULT_METRIC, use.n_runs), default=None)


def runs_overview(tx: ReadTransaction, dataset: DatasetRecord, metric: MetricUse | None) -> list[RunOverview]:
    """Return the runs of a dataset, oldest first."""
    records = (
        [] if metric is None else tx.evaluations.history(dataset.id, metric.metric, judge=shown_judge(tx, dataset))
    )
    of_run = {record.run_id: record for record in records}
    aliases: dict[int, list[str]] = {}
    for alias in tx.aliases.all(dataset.name):
        aliases.setdefault(alias.run_id, []).append(alias.name)
    shares = {} if metric is None else judged_shares_of(tx, list(of_run.values()), parse_metric(metric.metric))
    overviews = []
    for run in tx.runs.all(dataset.name):
        record = of_run.get(run.id)
        mean, version = (None, None) if record is None else (record.mean, record.label_set_version)
        overviews.append(RunOverview(run, mean, version, aliases.get(run.id, ()), shares.get(run.id)))
    return overviews


def group_over_time(tx: ReadTransaction, dataset: DatasetRecord, metric: str, group: int) -> list[GroupValueRecord]:
    """Return a group in every run that has a metric, oldest first, each under its newest labels."""
    records = tx.evaluations.of_group(dataset.id, metric, group, shown_judge(tx, dataset))
    return list({record.run_id: record for record in records}.values())


@dataclass(frozen=True, slots=True)
class RunGroups:
    """The groups of a run under one evaluation: ids, ascending, their keys, and values, NaN where undefined."""

    ids: Index
    keys: Sequence[str]
    values: Floats


def groups_of_run(tx: ReadTransaction, run: RunRecord, evaluation: EvaluationRecord) -> RunGroups:
    """Return the result of every group of a run."""
    ids, values = tx.evaluations.results_of([evaluation.id])[0]
    return RunGroups(ids, tx.groups.keys(run.dataset_id, ids).to_list(), values)


@dataclass(frozen=True, slots=True)
class SomeGroup:
    """A group as a list of groups shows it: attributes, value in the newest run and query, None if there is none."""

    key: str
    attributes: Mapping[str, object]
    value: float | None
    query: Text | None = None


def groups_containing(
    tx: ReadTransaction, dataset: DatasetRecord, metric: MetricUse | None, text: str, n: int, skip: int
) -> tuple[list[SomeGroup], str | None]:
    """Return some groups whose key contains a text, and the name of the newest run that their values are of."""
    groups = tx.groups.containing(dataset.id, text, n, skip)
    records = (
        [] if metric is None else tx.evaluations.history(dataset.id, metric.metric, judge=shown_judge(tx, dataset))
    )
    attributes = tx.groups.attributes(dataset.id) if groups else {}
    texts = texts_of(tx, dataset.id, {}, [number for number, _ in groups])
    value_of: dict[int, float] = {}
    if records and groups:
        ids, values = tx.evaluations.results_of([records[-1].evaluation_id])[0]
        wanted = np.array([number for number, _ in groups], dtype=np.int64)
        at = np.searchsorted(ids, wanted).clip(max=max(0, ids.size - 1))
        is_there = ids[at] == wanted if ids.size else np.zeros(wanted.size, dtype=np.bool_)
        value_of = {
            int(number): float(values[place])
            for number, place, present in zip(wanted, at, is_there, strict=True)
            if present
        }
    some = [
        SomeGroup(
            key,
            attributes.get(number) or {},
            None if np.isnan(value := value_of.get(number, np.nan)) else value,
            texts[number].query if number in texts else None,
        )
        for number, key in groups
    ]
    return some, records[-1].run if records else None


@dataclass(frozen=True, slots=True)
class LabelsOverview:
    """The versions of a dataset's labels, the newest first, and the judged share of each run under the newest.

    ``judged``: by run id, newest first, and cutoff; None is the whole list.
    """

    label_sets: Sequence[LabelSetRecord]
    judged: Mapping[int, Mapping[int | None, float]]


def labels_overview(tx: ReadTransaction, dataset: DatasetRecord) -> LabelsOverview:
    """Return the labels of a dataset and how much of its runs they cover."""
    label_sets = tx.labels.sets(dataset.id, shown_judge(tx, dataset))[::-1]
    judged: dict[int, dict[int | None, float]] = {}
    for record in tx.evaluations.coverages_under(label_sets[0].id) if label_sets else ():
        judged.setdefault(record.run_id, {})[record.cutoff] = record.judged_share
    return LabelsOverview(label_sets, judged)

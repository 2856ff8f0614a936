"""Store results that another engine computed: a value for each group, or only sums over groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, NameTakenError, argument
from ndcg_tracker.metrics.kernel.mean import plain_mean
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import joined_digest
from ndcg_tracker.rankings.ranking import NO_ITEMS
from ndcg_tracker.runs.ingest import IngestResult
from ndcg_tracker.runs.parts import refuse_of_both_parts
from ndcg_tracker.runs.scoring import StoredMetric, StoredMetrics
from ndcg_tracker.storage.records import EXTERNAL_JUDGE, SUMMED_JUDGE, PairedSumsRecord

if TYPE_CHECKING:
    from ndcg_tracker.ingest.results import ResultTable
    from ndcg_tracker.runs.ingest import RunDetails
    from ndcg_tracker.statistics.summary import SliceSummary
    from ndcg_tracker.storage.records import DatasetRecord, EvaluationRecord, LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


_UNDEFINED = "no value was given"


def store_results(
    tx: WriteTransaction, table: ResultTable, metric: Metric, details: RunDetails, *, replace: bool = False
) -> IngestResult:
    """Store the results of a run under an external metric, and a run without items if there is none of its name.

    Raises: ConflictError if the dataset has the metric with another direction or range; NameTakenError if the run
    already has other results under it.
    """
    dataset = tx.write.datasets.ensure(details.dataset)
    refuse_of_both_parts(tx, dataset, "a file of results")
    declared = tx.evaluations.external(dataset.id, metric.measure)
    if declared is not None and declared != str(metric):
        raise ConflictError(
            f"dataset {dataset.name!r} has {declared}, but here it is {metric}",
            advice="give the same direction and range, or another name",
        )
    label_set = _no_labels(tx, dataset)
    run = tx.runs.named(dataset.id, details.name)
    outcome = "stored" if run is None else "already stored"
    if run is None:
        run = tx.write.runs.insert(dataset.id, details.name, NO_ITEMS, **details.stored)
    ids = tx.write.groups.ensure(dataset.id, table.group_keys)
    order, n_undefined = np.argsort(ids), int(np.isnan(table.values).sum())
    is_new = True
    for stored in tx.evaluations.of_run(run.id):
        if stored.metric != str(metric):
            continue
        before = tx.evaluations.results(stored.id)
        if np.array_equal(before.group_ids, ids[order]) and np.array_equal(
            before.values, table.values[order], equal_nan=True
        ):
            is_new = False
        elif replace:
            tx.write.evaluations.delete(stored.id)
            outcome = "replaced"
        else:
            raise NameTakenError(
                f"run {run.name!r} of dataset {dataset.name!r} already has other results of {metric}",
                advice=(
                    f"keep both with {argument('name', run.name + '-2')}, or replace them with "
                    f"{argument('replace', True)}"
                ),
            )
    mean = None if n_undefined == ids.size else plain_mean(table.values[~np.isnan(table.values)])
    if is_new:
        tx.write.evaluations.insert(
            run.id,
            label_set.id,
            str(metric),
            mean=mean,
            n_groups=ids.size,
            n_missing=0,
            n_undefined=n_undefined,
            group_ids=ids,
            values=table.values,
            reasons=[_UNDEFINED if undefined else None for undefined in np.isnan(table.values).tolist()],
            requested_as=metric.measure,
        )
    counts = (ids.size, 0, n_undefined)
    stored_metric = StoredMetric(str(metric), mean, *counts, is_new=is_new, requested_as=metric.measure)
    facts = (run.n_groups or ids.size, run.n_items, label_set.version, StoredMetrics([stored_metric]), ())
    return IngestResult(run.name, run.id, dataset.name, outcome, *facts)


def _no_labels(tx: WriteTransaction, dataset: DatasetRecord) -> LabelSetRecord:
    """Return the empty label set that external results are stored under, because they do not depend on labels here."""
    return tx.labels.newest(dataset.id, EXTERNAL_JUDGE) or tx.write.labels.known_by_digest(
        dataset.id, NO_ITEMS.digest(), EXTERNAL_JUDGE
    )


_CLOSE = 1e-9  # the same values may have been added in another order


def store_sums(
    tx: WriteTransaction,
    summaries: Sequence[SliceSummary],
    details: RunDetails,
    baseline: str | None = None,
    *,
    replace: bool = False,
) -> IngestResult:
    """Store a run by its sums, and the sums of its differences to a baseline.

    A run that is already stored with the same sums gets another baseline. Raises: InputError for metrics whose mean is
    not the mean of the groups, and for a baseline without differences or differences without a baseline;
    NameTakenError if the run has other content.
    """
    wholes = [summary for summary in summaries if summary.attribute is None]
    parsed = {summary.metric: _checked(summary.metric) for summary in wholes}
    is_paired = wholes[0].paired is not None
    if is_paired != (baseline is not None):
        raise InputError(
            "the sums hold differences to a baseline, but no baseline is named"
            if is_paired
            else f"{argument('baseline', baseline)} is named, but the sums have no differences",
            advice=f"name the run they were paired with: {argument('baseline', 'RUN')}"
            if is_paired
            else "give the baseline to summarize as well",
        )
    other = None if baseline is None else tx.runs.resolve(baseline, details.dataset)
    dataset = tx.write.datasets.ensure(details.dataset)
    refuse_of_both_parts(tx, dataset, "a sum")
    label_set = _label_set(tx, dataset, wholes[0].labels)
    run = tx.runs.named(dataset.id, details.name)
    outcome = "stored" if run is None else "already stored"
    if run is not None and not _is_same(tx, run, wholes, parsed, label_set):
        if not replace:
            raise NameTakenError(
                f"run {run.name!r} of dataset {dataset.name!r} exists with other content",
                advice=f"choose another name with {argument('name', run.name + '-2')}, or {argument('replace', True)}",
            )
        tx.write.runs.delete(run.id)
        run, outcome = None, "replaced"
    if run is None:
        run_id = tx.write.runs.begin(dataset.id, details.name, **details.stored)
        tx.write.runs.keep_pruning(run_id, np.empty(0, dtype=np.int64), summaries_only=True, kept_share=0.0)
        n_groups = max(summary.values.n + summary.n_undefined for summary in wholes)
        run = tx.write.runs.finish(run_id, NO_ITEMS.digest(), n_groups, 0)
    evaluation_of = {evaluation.metric: evaluation for evaluation in tx.evaluations.of_run(run.id)}
    stored = []
    for summary in wholes:
        text = str(parsed[summary.metric])
        mean = summary.values.mean if summary.values.n else None
        evaluation_id = (
            evaluation_of[text].id if text in evaluation_of else _evaluation(tx, run, label_set, text, summary)
        )
        is_new = text not in evaluation_of
        if other is not None and summary.paired is not None and tx.evaluations.sums(evaluation_id, other.id) is None:
            slices = [of for of in summaries if of.metric == summary.metric and of.attribute is not None]
            record = PairedSumsRecord(
                other.id,
                summary.paired,
                slices[0].attribute if slices else None,
                {of.slice: of.paired for of in slices if of.paired is not None},
                summary.cluster,
            )
            tx.write.evaluations.insert_sums(evaluation_id, record)
            is_new = True
        facts = (summary.values.n, 0, summary.n_undefined)
        stored.append(StoredMetric(text, mean, *facts, is_new=is_new, requested_as=summary.metric))
    facts_of_run = (run.n_groups, 0, label_set.version, StoredMetrics(stored), ())
    return IngestResult(run.name, run.id, dataset.name, outcome, *facts_of_run)


def _checked(text: str) -> Metric:
    """Return a metric whose mean is the mean of its groups (InputError for any other)."""
    metric = parse_metric(text)
    if metric.is_external or metric.summary != "mean" or metric["weights"] != "none":
        raise InputError(
            "its mean is not the plain mean of its groups, so sums cannot give it", where=text, advice="leave it out"
        )
    return metric


def _evaluation(
    tx: WriteTransaction, run: RunRecord, label_set: LabelSetRecord, text: str, summary: SliceSummary
) -> int:
    nothing = np.empty(0)
    return tx.write.evaluations.insert(
        run.id,
        label_set.id,
        text,
        mean=summary.values.mean if summary.values.n else None,
        n_groups=summary.values.n,
        n_missing=0,
        n_undefined=summary.n_undefined,
        group_ids=nothing.astype(np.int64),
        values=nothing,
        requested_as=summary.metric,
        std_dev=summary.values.std_dev,
    )


def _is_same(
    tx: ReadTransaction,
    run: RunRecord,
    wholes: Sequence[SliceSummary],
    parsed: dict[str, Metric],
    label_set: LabelSetRecord,
) -> bool:
    """Return whether a run is stored with these sums of its values."""
    holds = tx.runs.holds(run.id)
    evaluation_of = {evaluation.metric: evaluation for evaluation in tx.evaluations.of_run(run.id)}
    return "groups" not in holds and all(
        _agrees(evaluation_of.get(str(parsed[summary.metric])), summary, label_set) for summary in wholes
    )


def _agrees(stored: EvaluationRecord | None, summary: SliceSummary, label_set: LabelSetRecord) -> bool:
    if stored is None:
        return True  # a further metric
    if (stored.label_set_id, stored.n_groups, stored.n_undefined) != (
        label_set.id,
        summary.values.n,
        summary.n_undefined,
    ):
        return False
    here, there = (stored.mean, stored.std_dev), (summary.values.mean, summary.values.std_dev)
    return all(
        math.isclose(a or 0.0, b or 0.0, rel_tol=_CLOSE, abs_tol=_CLOSE) for a, b in zip(here, there, strict=True)
    )


def _label_set(tx: WriteTransaction, dataset: DatasetRecord, digest: str | None) -> LabelSetRecord:
    """Return the labels with this digest: a stored version, or one of which only the digest is known."""
    wanted = digest or joined_digest([])
    for label_set in tx.labels.sets(dataset.id, None):
        if label_set.digest == wanted and (label_set.judge == SUMMED_JUDGE or digest is not None):
            return label_set
    return tx.write.labels.known_by_digest(dataset.id, wanted, SUMMED_JUDGE)

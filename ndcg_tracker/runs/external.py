"""Results that another engine computed: a value for each group, stored with their run, or sums over them alone."""

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
from ndcg_tracker.runs.ingest import IngestResult
from ndcg_tracker.runs.scoring import NO_ITEMS, StoredMetric, StoredMetrics
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
    """Store the results of a run under an external metric, with a run of no items where there is none of its name.

    Raises: ConflictError where the dataset knows the metric with another direction or range; NameTakenError where the
    run has other results under it.
    """
    dataset = tx.write.datasets.ensure(details.dataset)
    known = tx.evaluations.external(dataset.id, metric.measure)
    if known is not None and known != str(metric):
        raise ConflictError(
            f"dataset {dataset.name!r} knows {known}, and here it is {metric}",
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
                f"run {run.name!r} of dataset {dataset.name!r} has other results {metric}",
                advice=(
                    f"keep both with {argument('name', run.name + '-2')}, or put these in their place with "
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
    """Return the label set without labels that such results are stored under, since they rest on no labels of ours."""
    return tx.labels.newest(dataset.id, EXTERNAL_JUDGE) or tx.write.labels.known_by_digest(
        dataset.id, NO_ITEMS.digest(), EXTERNAL_JUDGE
    )


_CLOSE = 1e-9  # the same values added up again, in another order


def store_sums(
    tx: WriteTransaction,
    summaries: Sequence[SliceSummary],
    details: RunDetails,
    baseline: str | None = None,
    *,
    replace: bool = False,
) -> IngestResult:
    """Store a run of which only sums are known, and those of its differences to a baseline.

    Another pair of a run that is stored with the same sums is added. Raises: InputError for metrics whose mean is not
    that of the groups, and for a baseline without differences, or the reverse; NameTakenError where the run has other
    content.
    """
    wholes = [one for one in summaries if one.attribute is None]
    parsed = {one.metric: _checked(one.metric) for one in wholes}
    is_paired = wholes[0].paired is not None
    if is_paired != (baseline is not None):
        raise InputError(
            "the sums are of differences to a baseline, and none is named"
            if is_paired
            else f"{argument('baseline', baseline)} is named, and the sums have no differences",
            advice=f"name the run they were paired with: {argument('baseline', 'RUN')}"
            if is_paired
            else "give the baseline to summarize as well",
        )
    other = None if baseline is None else tx.runs.resolve(baseline, details.dataset)
    dataset = tx.write.datasets.ensure(details.dataset)
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
        n_groups = max(one.values.n + one.n_undefined for one in wholes)
        run = tx.write.runs.finish(run_id, NO_ITEMS.digest(), n_groups, 0)
    known = {one.metric: one for one in tx.evaluations.of_run(run.id)}
    stored = []
    for one in wholes:
        text = str(parsed[one.metric])
        mean = one.values.mean if one.values.n else None
        evaluation_id = known[text].id if text in known else _evaluation(tx, run, label_set, text, one)
        is_new = text not in known
        if other is not None and one.paired is not None and tx.evaluations.sums(evaluation_id, other.id) is None:
            slices = [of for of in summaries if of.metric == one.metric and of.attribute is not None]
            record = PairedSumsRecord(
                other.id,
                one.paired,
                slices[0].attribute if slices else None,
                {of.slice: of.paired for of in slices if of.paired is not None},
                one.cluster,
            )
            tx.write.evaluations.insert_sums(evaluation_id, record)
            is_new = True
        facts = (one.values.n, 0, one.n_undefined)
        stored.append(StoredMetric(text, mean, *facts, is_new=is_new, requested_as=one.metric))
    facts_of_run = (run.n_groups, 0, label_set.version, StoredMetrics(stored), ())
    return IngestResult(run.name, run.id, dataset.name, outcome, *facts_of_run)


def _checked(text: str) -> Metric:
    """Return a metric whose mean is that of its groups (InputError for any other)."""
    metric = parse_metric(text)
    if metric.is_external or metric.summary != "mean" or metric["weights"] != "none":
        raise InputError(
            "its mean is not the plain mean of groups, which is what sums have", where=text, advice="leave it out"
        )
    return metric


def _evaluation(tx: WriteTransaction, run: RunRecord, label_set: LabelSetRecord, text: str, one: SliceSummary) -> int:
    nothing = np.empty(0)
    return tx.write.evaluations.insert(
        run.id,
        label_set.id,
        text,
        mean=one.values.mean if one.values.n else None,
        n_groups=one.values.n,
        n_missing=0,
        n_undefined=one.n_undefined,
        group_ids=nothing.astype(np.int64),
        values=nothing,
        requested_as=one.metric,
        std_dev=one.values.std_dev,
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
    known = {one.metric: one for one in tx.evaluations.of_run(run.id)}
    return "groups" not in holds and all(_agrees(known.get(str(parsed[one.metric])), one, label_set) for one in wholes)


def _agrees(stored: EvaluationRecord | None, one: SliceSummary, label_set: LabelSetRecord) -> bool:
    if stored is None:
        return True  # a further metric
    if (stored.label_set_id, stored.n_groups, stored.n_undefined) != (label_set.id, one.values.n, one.n_undefined):
        return False
    here, there = (stored.mean, stored.std_dev), (one.values.mean, one.values.std_dev)
    return all(
        math.isclose(a or 0.0, b or 0.0, rel_tol=_CLOSE, abs_tol=_CLOSE) for a, b in zip(here, there, strict=True)
    )


def _label_set(tx: WriteTransaction, dataset: DatasetRecord, digest: str | None) -> LabelSetRecord:
    """Return the labels of this digest: a stored version, or one that is known by its digest alone."""
    wanted = digest or joined_digest([])
    for one in tx.labels.sets(dataset.id, None):
        if one.digest == wanted and (one.judge == SUMMED_JUDGE or digest is not None):
            return one
    return tx.write.labels.known_by_digest(dataset.id, wanted, SUMMED_JUDGE)

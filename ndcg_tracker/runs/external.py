"""Store results that another engine computed: a value for each group, or only sums over groups."""

from __future__ import annotations

from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError, NameTakenError, argument
from ndcg_tracker.metrics.kernel.mean import plain_mean
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.groups_share import in_share
from ndcg_tracker.rankings.ranking import NO_ITEMS
from ndcg_tracker.runs.ingest import IngestResult
from ndcg_tracker.runs.parts import refuse_of_both_parts
from ndcg_tracker.runs.scoring import StoredMetric, StoredMetrics
from ndcg_tracker.storage.records import EXTERNAL_JUDGE, LabelOrigin

if TYPE_CHECKING:
    from ndcg_tracker.ingest.results import ResultTable
    from ndcg_tracker.runs.ingest import RunDetails
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord
    from ndcg_tracker.storage.store import WriteTransaction


_UNDEFINED = "no value was given"


def store_results(tx: WriteTransaction, table: ResultTable, metric: Metric, details: RunDetails) -> IngestResult:
    """Store the results of a run under an external metric, and a run without items if there is none of its name.

    Raises: ConflictError if the dataset has the metric with another direction or range; NameTakenError if the run
    already has other results under it.
    """
    if details.groups_share is not None:
        kept = np.flatnonzero(in_share(table.group_keys, details.groups_share))
        table = replace_fields(table, group_keys=table.group_keys.take(kept), values=table.values[kept])
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
    if run is not None and run.groups_share != details.groups_share:
        raise ConflictError(
            f"run {run.name!r} keeps {run.groups_share or 'all'} of the groups, and these results "
            f"{details.groups_share or 'all'}",
            advice=f"give {argument('groups_share', run.groups_share or 1)}, or another name",
        )
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
        elif details.replace:
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
    newest = tx.labels.newest(dataset.id, EXTERNAL_JUDGE)
    if newest is not None:
        return newest
    begun = tx.write.labels.begin(dataset.id, LabelOrigin(judge=EXTERNAL_JUDGE), by_row_number=None)
    return tx.write.labels.finish(begun, NO_ITEMS.digest(), 0, 0)

"""Evaluations of runs that keep different shares of the groups, over the smallest of these shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import NotComparableError, argument
from ndcg_tracker.metrics.kernel.mean import mean_within, summary_of
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.groups_share import in_share, smallest_share
from ndcg_tracker.statistics.t_test import sample_std_dev

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.storage.records import (
        EvaluationRecord,
        GroupResultColumns,
        GroupWeightsById,
        RunRecord,
    )
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class Evaluated:
    """An evaluation with the sum of its groups' weights (1 each if they weigh the same) and their (weighted) mean."""

    record: EvaluationRecord
    weight: float
    mean: float | None

    @classmethod
    def of(
        cls, record: EvaluationRecord, results: GroupResultColumns, weights_of: GroupWeightsById | None
    ) -> Evaluated:
        """Return an evaluation with what its groups weigh."""
        defined = ~np.isnan(results.values)
        values = results.values[defined]
        weights = None if weights_of is None else weights_of.weights_of(results.group_ids[defined])
        total = float(values.size if weights is None else weights.sum())
        return cls(record, total, float(np.average(values, weights=weights)) if total > 0 else None)

    @property
    def is_mean_of_groups(self) -> bool:
        """Whether the stored mean is the (weighted) mean of the groups, up to the decimals that the metric keeps."""
        stored = self.record.mean
        if stored is None or self.mean is None:
            return True
        return abs(self.mean - stored) <= mean_within(parse_metric(self.record.metric))


def weights_for(tx: ReadTransaction, dataset_id: int, metric: Metric) -> GroupWeightsById | None:
    """Return the stored weights of a dataset's groups, None for a metric without weights and where none is stored."""
    weights = tx.groups.weights(dataset_id) if metric["weights"] != "none" else None
    return weights if weights is not None and weights.ids.size else None


def results_in(tx: ReadTransaction, run: RunRecord, record: EvaluationRecord, share: str | None) -> GroupResultColumns:
    """Return the stored results of the groups of a share; None for all groups that the run keeps."""
    results = tx.evaluations.results(record.id)
    if share is None:
        return results
    kept = in_share(tx.groups.keys(run.dataset_id, results.group_ids), share)
    undefined = np.flatnonzero(np.isnan(results.values[kept]))
    reasons = results.reasons_by_row()[kept][undefined].tolist()
    return replace(
        results, group_ids=results.group_ids[kept], values=results.values[kept], undefined=undefined, reasons=reasons
    )


def evaluation_in(tx: ReadTransaction, run: RunRecord, record: EvaluationRecord, share: str) -> EvaluationRecord:
    """Return an evaluation over the groups of a share alone; unchanged if its mean is not known over fewer groups."""
    metric = parse_metric(record.metric)
    weights_of, every = weights_for(tx, run.dataset_id, metric), tx.evaluations.results(record.id)
    if metric.summary == "mean" and not Evaluated.of(record, every, weights_of).is_mean_of_groups:
        return record
    results = results_in(tx, run, record, share)
    values = results.values[~np.isnan(results.values)]
    mean = Evaluated.of(record, results, weights_of).mean if metric.summary == "mean" else summary_of(metric, values)
    of_run = tx.runs.group_ids(run.id) if record.n_missing else results.group_ids
    return replace(
        record,
        mean=mean,
        **dict.fromkeys(("worst_mean", "best_mean"), mean if record.worst_mean == record.best_mean else None),
        std_dev=sample_std_dev(values),
        n_groups=values.size,
        n_missing=np.setdiff1d(results.group_ids, of_run, assume_unique=True).size,
        n_undefined=results.undefined.size,
    )


def check_one_share(runs: Sequence[RunRecord], what: str) -> None:
    """Raise NotComparableError for runs that keep different shares of the groups; ``what``: what cannot be done."""
    share = smallest_share(run.groups_share for run in runs)
    other = next((run for run in runs if run.groups_share != share), None)
    if other is not None:
        raise NotComparableError(
            f"run {other.name!r} keeps {other.groups_share or 'all'} of the groups, but another keeps only {share}, so "
            f"they cannot be {what}",
            advice=f"ingest both with {argument('groups_share', share)}",
        )

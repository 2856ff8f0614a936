"""Metrics whose values another engine computed: found again by their name, and never computed here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.errors import MetricError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction


def known_metric(tx: ReadTransaction, dataset_id: int, metric: Metric) -> Metric:
    """Return a metric with the direction and range that its results are stored with, if its text leaves them out.

    Raises: ReferenceNotFoundError where the dataset has no such results.
    """
    if not metric.is_external or metric.settings:
        return metric
    found = tx.evaluations.external(dataset_id, metric.measure)
    if found is None:
        dataset = tx.datasets.with_id(dataset_id).name
        raise ReferenceNotFoundError(
            f"dataset {dataset!r} has no results {metric}",
            advice=f"store some with: ndcg-track ingest --results FILE --metric {metric}",
        )
    return parse_metric(found)


def refuse_external(metrics: Sequence[Metric]) -> None:
    """Raise MetricError for a metric that another engine computed, whose results cannot be made again."""
    for metric in metrics:
        if metric.is_external:
            raise MetricError(
                f"{metric.measure} was computed by another engine, and cannot be computed here",
                advice=f"store its results with: ndcg-track ingest --results FILE --metric {metric.measure}",
            )

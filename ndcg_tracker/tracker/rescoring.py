"""Stored runs under further metrics or newer labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics import Metric, parse_metric
from ndcg_tracker.rankings import LabelLists, judged
from ndcg_tracker.tracker.label_versions import Labels, add_labels
from ndcg_tracker.tracker.scoring import Scores, StoredMetric, settle_weights, store_scores

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import WriteTransaction


@dataclass(frozen=True, slots=True)
class RescoredRun:
    """A run after rescoring: the label version it was held to, and the metrics that this added."""

    run: str
    run_id: int
    dataset: str
    label_set_version: int
    metrics: tuple[StoredMetric, ...]


def rescore_runs(tx: WriteTransaction, runs: Sequence[RunRecord], metrics: Sequence[Metric]) -> list[RescoredRun]:
    """Evaluate stored runs under the newest labels of their dataset, from their stored items.

    ``metrics``: none for those that each run has under any labels.
    """
    newest: dict[int, Labels] = {}
    rescored = []
    for run in runs:
        if run.dataset_id not in newest:
            label_set = tx.newest_label_set(run.dataset_id)
            if label_set is None:
                raise InputError(f"dataset {run.dataset!r} has no labels; add them with ndcg-track labels add FILE")
            newest[run.dataset_id] = Labels(label_set, tx.read_labels(label_set.id), is_new=False)
        labels = newest[run.dataset_id]
        evaluations = tx.evaluations(run.id)
        done = {record.metric for record in evaluations if record.label_set_id == labels.label_set.id}
        wanted = list(metrics) or [parse_metric(record.metric) for record in evaluations]
        new = [metric for metric in dict.fromkeys(wanted) if str(metric) not in done]
        stored: list[StoredMetric] = []
        if new:
            dataset = tx.dataset(run.dataset)
            weights = None if dataset is None else settle_weights(tx, dataset, None)
            scores = Scores(new)
            scores.add(judged(tx.read_ranking(run.id), labels.lists))
            stored = store_scores(tx, run, labels.label_set, scores, weights)
        rescored.append(RescoredRun(run.name, run.id, run.dataset, labels.label_set.version, tuple(stored)))
    return rescored


def add_label_version(
    tx: WriteTransaction, dataset_name: str, lists: LabelLists, source: str | None
) -> tuple[int, bool]:
    """Make labels the newest version of a dataset; return the version they are and whether it is new."""
    labels = add_labels(tx, tx.ensure_dataset(dataset_name), lists, source)
    return labels.label_set.version, labels.is_new

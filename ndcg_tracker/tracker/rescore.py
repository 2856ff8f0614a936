"""Stored runs under further metrics or newer labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndcg_tracker.metrics.language.metric import Metric, refuse_external
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.rankings.weights import GroupWeights
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.tracker.label_sets import numbered_labels
from ndcg_tracker.tracker.labels import KnownLabels, add_labels, label_source
from ndcg_tracker.tracker.scoring import StoredMetric, store_scores, stored_scores, stored_weights
from ndcg_tracker.tracker.sums import refuse_sums

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.write import WriteTransaction


@dataclass(frozen=True, slots=True)
class RescoredRun:
    """A run after rescoring: the label version it was evaluated against, and the metrics that this added.

    ``pruned_at_utc``: None but for a run that has no items left to compute further metrics from. ``kept_share``: None
    but for one that was stored with the items of a share of its groups alone, at that time.
    """

    run: str
    run_id: int
    dataset: str
    label_set_version: int
    metrics: tuple[StoredMetric, ...]
    pruned_at_utc: str | None = None
    kept_share: float | None = None


def rescore_runs(
    tx: WriteTransaction,
    runs: Sequence[RunRecord],
    metrics: Sequence[Metric],
    version: int | None = None,
    judge: str | None = None,
    *,
    skip_pruned: bool = False,
) -> list[RescoredRun]:
    """Evaluate stored runs under a version of their dataset's labels, from their stored items.

    ``metrics``: none for those that each run has under any labels. ``version``: None for the newest of
    ``judge``. ``skip_pruned``: leave out what would need the items of pruned runs, instead of raising InputError.
    """
    refuse_external(metrics)
    if not skip_pruned:
        refuse_sums(tx, runs)
    pruned = tx.runs.prunings()
    known: dict[int, _Labels] = {}
    rescored = []
    for run in runs:
        if run.dataset_id not in known:
            known[run.dataset_id] = _labels(tx, run, version, judge)
        of_dataset = known[run.dataset_id]
        label_set = of_dataset.label_set
        evaluations = tx.evaluations.of_run(run.id)
        done = {record.metric for record in evaluations if record.label_set_id == label_set.id}
        wanted = list(metrics) or [
            replace(parse_metric(record.metric), requested_as=record.requested_as)
            for record in evaluations
            if record.judge not in NO_LABELS_HERE
        ]
        new = [metric for metric in dict.fromkeys(wanted) if str(metric) not in done]
        stored: list[StoredMetric] = []
        if new and skip_pruned and run.id in pruned:
            why = pruned[run.id]
            facts = ((), why.created_at_utc, why.kept_share)
            rescored.append(RescoredRun(run.name, run.id, run.dataset, label_set.version, *facts))
            continue
        if new:
            scores = stored_scores(tx, run, new, of_dataset.labels())
            stored = store_scores(tx, run, label_set, scores, of_dataset.weights)
        rescored.append(RescoredRun(run.name, run.id, run.dataset, label_set.version, tuple(stored)))
    return rescored


@dataclass(frozen=True, slots=True)
class _Labels:
    """A version of the labels of a dataset, ready for one run after the other, and the weights of its groups."""

    label_set: LabelSetRecord
    labels: Callable[[], KnownLabels]
    weights: GroupWeights | None


def _labels(tx: ReadTransaction, run: RunRecord, version: int | None, judge: str | None) -> _Labels:
    label_set = numbered_labels(tx, run.dataset_id, run.dataset, version, judge)
    return _Labels(label_set, label_source(tx, label_set), stored_weights(tx, run.dataset_id))


def add_label_version(
    tx: WriteTransaction,
    dataset_name: str,
    lists: LabelLists,
    source: str | None,
    judge: str = "",
    *,
    extend: bool = False,
) -> tuple[int, bool]:
    """Make labels the newest version of a judge; return the version they are and whether it is new."""
    labels = add_labels(tx, tx.write.datasets.ensure(dataset_name), lists, source, judge, extend=extend)
    return labels.label_set.version, labels.is_new

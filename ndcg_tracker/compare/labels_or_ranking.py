"""The difference of two runs under different labels, in two parts: what the labels did, and what the ranking did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.runs.labels import label_source
from ndcg_tracker.words.texts import points

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import LabelSetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class LabelsOrRanking:
    """The difference between a run and one before it, which has other labels: ``labels`` + ``ranking``.

    ``since``: the run before. Each part is the mean of what it is if labels change first and if the ranking does;
    ``interaction``: by how much the two orders differ.
    """

    since: str
    labels: float
    ranking: float
    interaction: float

    @property
    def words(self) -> str:
        """The difference and its parts in words.

        >>> LabelsOrRanking("monday", 0.0366, -0.0014, 0.0).words
        '+0.0352 since monday: labels +0.0366, ranking -0.0014'
        >>> LabelsOrRanking("monday", 0.03, 0.01, -0.02).words
        '+0.0400 since monday: labels +0.0300, ranking +0.0100 (0.0100 more or less, by which of them changes first)'
        """
        parts = [points(part, signed=True) for part in (self.labels + self.ranking, self.labels, self.ranking)]
        told = f"{parts[0]} since {self.since}: labels {parts[1]}, ranking {parts[2]}"
        if abs(self.interaction) < max(0.1 * max(abs(self.labels), abs(self.ranking)), 0.0001):  # small
            return told
        return f"{told} ({points(abs(self.interaction) / 2)} more or less, by which of them changes first)"


def labels_or_ranking(
    tx: ReadTransaction, runs: Sequence[RunRecord], label_set_ids: Sequence[int], metric: Metric
) -> LabelsOrRanking | None:
    """Return the parts of the difference of two runs, each under its own labels; None if a mean is not known.

    What is not stored is computed from the runs' items.
    """
    if metric.is_external or runs[0].sample_digest != runs[1].sample_digest:
        return None
    sets = {label_set.id: label_set for label_set in tx.labels.sets(runs[0].dataset_id, None)}
    means = [[_mean(tx, run, sets[label_set_id], metric) for label_set_id in label_set_ids] for run in runs]
    (first, relabelled), (reranked, second) = means
    if first is None or relabelled is None or reranked is None or second is None:
        return None
    interaction = (second - reranked) - (relabelled - first)
    return LabelsOrRanking(
        runs[0].name, relabelled - first + interaction / 2, reranked - first + interaction / 2, interaction
    )


def _mean(tx: ReadTransaction, run: RunRecord, label_set: LabelSetRecord, metric: Metric) -> float | None:
    for evaluation in tx.evaluations.of_run(run.id):
        if evaluation.label_set_id == label_set.id and evaluation.metric == str(metric):
            return evaluation.mean
    if "items" not in tx.runs.holds(run.id):
        return None
    from ndcg_tracker.runs.scoring import stored_scores, stored_weights  # the kernel, which few need

    scores = stored_scores(tx, run, [metric], label_source(tx, label_set)())
    return next(scores.results(stored_weights(tx, run.dataset_id)))[0].mean

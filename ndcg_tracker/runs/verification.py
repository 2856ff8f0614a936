"""Results that are stored or brought along, held against those that a run's items and labels give."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.metrics.verification import StatedResults, Verdict, verdict
from ndcg_tracker.storage.records import NO_LABELS_HERE

if TYPE_CHECKING:
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.rankings.weights import GroupWeights
    from ndcg_tracker.runs.scoring import Scores
    from ndcg_tracker.storage.records import LabelSetRecord

SHARES_AGREE = 1e-12
"""By how much shares of judged items may differ that are computed on two machines."""


def can_be_computed(metric: Metric, label_set: LabelSetRecord) -> bool:
    """Return whether a metric of a run with items is one that these labels give."""
    return not metric.is_external and label_set.judge not in NO_LABELS_HERE


def verdicts(
    scores: Scores, stated: Sequence[tuple[StatedResults, Index]], weights: GroupWeights | None, *, of_all: bool = True
) -> Iterator[Verdict]:
    """Yield for each metric of ``scores``, in their order, how what is stated compares with it.

    Parameters: ``stated``: the results, and the row in them of each group of ``scores``: int64, -1 for none.
    ``of_all``: whether ``scores`` are of all groups; else only what these groups have is compared.
    """
    bounds = [one for _, one in scores.results(weights)] if of_all else [None] * len(stated)
    for (given, rows), groups, of_metric in zip(stated, scores.groups(), bounds, strict=True):
        yield verdict(given, rows, groups, of_metric, weights)

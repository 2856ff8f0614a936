"""Metrics of a stored run: computed from its items and labels, and stored with every group's result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError
from ndcg_tracker.metrics import REASONS, Metric, group_results, judged_share, tie_bounds
from ndcg_tracker.rankings import GroupWeights, Ranking, judged
from ndcg_tracker.tracker.label_versions import Labels

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import DatasetRecord, RunRecord
    from ndcg_tracker.storage.store import ReadTransaction, WriteTransaction


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """One metric of a run: its mean and what the mean rests on; ``is_new``: computed and stored just now."""

    metric: str
    mean: float | None
    n_groups: int
    n_missing: int
    n_undefined: int
    is_new: bool


def store_results(
    tx: WriteTransaction,
    run: RunRecord,
    ranking: Ranking,
    labels: Labels,
    metrics: Sequence[Metric],
    weights: GroupWeights | None,
) -> tuple[list[StoredMetric], bool]:
    """Compute some metrics of a run under a label set, store every group's result, and return the means.

    Also returned: whether the run has any judged item at all.
    """
    both = judged(ranking, labels.lists)
    group_ids = tx.ensure_groups(run.dataset_id, both.group_keys)
    known = {share.cutoff for share in tx.coverages(run.id, labels.label_set.id)}
    for cutoff in dict.fromkeys(metric.cutoff for metric in metrics):
        share = judged_share(both, cutoff)
        if share is not None and cutoff not in known:
            tx.insert_coverage(run.id, labels.label_set.id, cutoff, share)
    stored = []
    results = group_results(both, metrics, weights)  # first: what it refuses is told in the words of the metric itself
    for result, (worst, best) in zip(results, tie_bounds(both, metrics, weights), strict=True):
        tx.insert_evaluation(
            run.id,
            labels.label_set.id,
            str(result.metric),
            mean=result.mean,
            tie_bounds=(worst.mean, best.mean),
            n_groups=result.n_groups,
            n_missing=result.n_missing,
            n_undefined=result.n_undefined,
            group_ids=group_ids,
            values=result.values,
            dcg=result.dcg,
            ideal_dcg=result.ideal_dcg,
            reasons=[REASONS[code] or None for code in result.reasons.tolist()],
        )
        stored.append(
            StoredMetric(
                str(result.metric), result.mean, result.n_groups, result.n_missing, result.n_undefined, is_new=True
            )
        )
    return stored, both.rows.size > 0


def settle_weights(tx: WriteTransaction, dataset: DatasetRecord, given: GroupWeights | None) -> GroupWeights | None:
    """Return the weights of a dataset's groups, those that came with a run included and stored.

    Raises: ConflictError for a weight that contradicts the stored one.
    """
    ids, values = tx.group_weights(dataset.id)
    known = ~np.isnan(values)
    if given is not None and not given.varies.any():
        given_ids = tx.ensure_groups(dataset.id, given.group_keys)
        stored = dict(zip(ids[known].tolist(), values[known].tolist(), strict=True))
        before = np.array([stored.get(number, np.nan) for number in given_ids.tolist()], dtype=np.float64)
        differs = ~np.isnan(before) & (before != given.values)
        if differs.any():
            at = int(np.argmax(differs))
            raise ConflictError(
                f"group {given.group_keys[at]!r} has the weight {given.values[at]:g} here and {before[at]:g} in "
                f"dataset {dataset.name!r}; leave the weight column out, or use another --dataset"
            )
        new = np.isnan(before)
        if new.any():
            tx.set_group_weights(dataset.id, given_ids[new], given.values[new])
    elif given is not None:
        return given
    return stored_weights(tx, dataset.id)


def stored_weights(tx: ReadTransaction, dataset_id: int) -> GroupWeights | None:
    """Return the weights of a dataset's groups, None where none has one."""
    ids, values = tx.group_weights(dataset_id)
    known = ~np.isnan(values)
    if not known.any():
        return None
    keys = tx.group_keys(dataset_id, ids[known])
    return GroupWeights(keys, values[known], np.zeros(len(keys), dtype=np.bool_))

"""Runs as versions before 0.3.0 stored them as sums over groups that are not known here; nothing stores them today."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.ranking import NO_ITEMS
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.checks import checked_time
from ndcg_tracker.storage.records import SUMMED_JUDGE, LabelOrigin
from ndcg_tracker.storage.store import WriteTransaction

AT = "2026-11-20T02:00:00.000000Z"


def store_sums(
    tx: WriteTransaction,
    name: str,
    *,
    dataset: str = "default",
    mean: float = 0.375,
    baseline: str | None = None,
    created_at: str | None = None,
) -> None:
    """Store a run of 4 groups by its mean, and by the sums of its differences to a baseline."""
    dataset_id = tx.write.datasets.ensure(dataset).id
    label_set = tx.labels.newest(dataset_id, SUMMED_JUDGE)
    if label_set is None:
        begun = tx.write.labels.begin(dataset_id, LabelOrigin(judge=SUMMED_JUDGE), by_row_number=None)
        label_set = tx.write.labels.finish(begun, "0" * 31 + "f", 0, 0)
    nothing, no_ids = np.empty(0), np.empty(0, dtype=np.int64)
    run_id = tx.write.runs.begin(dataset_id, name, created_at_utc=created_at)
    pruning = {"run_id": run_id, "created_at_utc": checked_time(created_at), "summaries_only": True}
    tx.write.copies.insert("prunings", [pruning | {"packed_group_ids": b"", "kept_share": 0.0}])
    tx.write.runs.finish(run_id, NO_ITEMS.digest(), 4, 0)
    counts = {"n_groups": 4, "n_missing": 0, "n_undefined": 1}
    values = {"group_ids": no_ids, "values": nothing}
    evaluation_id = tx.write.evaluations.insert(run_id, label_set.id, "ndcg@10", mean=mean, **counts, **values)
    evaluations = schema.evaluations
    tx._session.execute(evaluations.update().where(evaluations.c.id == evaluation_id).values(std_dev=0.25))
    if baseline is not None:
        row = {"n_groups": 4, "delta": 0.1 + 0.2, "m2": 0.5, "m3": -0.25, "wins": 2, "losses": 1, "n_undefined": 1}
        row |= {"baseline_mean": 0.25, "only_in_baseline": 0, "only_in_candidate": 0, "created_at_utc": AT}
        row |= {"details": {"attribute": "länd", "slices": [], "cluster": None, "clusters": None}}
        row |= {"evaluation_id": evaluation_id, "baseline_run_id": tx.runs.resolve(baseline, dataset).id}
        tx._session.execute(schema.paired_sums.insert(), row)

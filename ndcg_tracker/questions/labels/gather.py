"""Versions of a dataset's labels, listed, and two of them side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.run_pair import label_set_ref
from ndcg_tracker.runs.label_sets import GROUPS_AT_ONCE, HELD_LABELS, numbered_labels
from ndcg_tracker.storage.records import NO_LABELS_HERE

if TYPE_CHECKING:
    from ndcg_tracker.questions.labels.decide import GradeFrequency, LabelsDiff, LabelVersion
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord


def label_versions(tx: ReadTransaction, dataset_name: str, judge: str | None = None) -> list[LabelVersion]:
    """Return the versions of a dataset's labels, of a judge or of all, oldest first; they are read to be counted."""
    from ndcg_tracker.questions.labels.decide import LabelVersion  # not for every comparison, which finds labels here

    dataset = tx.datasets.known(dataset_name)
    n_runs = tx.evaluations.runs_by_label_set(dataset.id)
    found = []
    for one in (one for one in tx.labels.sets(dataset.id, judge) if one.judge not in NO_LABELS_HERE):
        n_items, grades = _contents(tx, one)
        sizes = one.n_groups, n_items, one.n_labels, grades, n_runs.get(one.id, 0), one.judge
        found.append(LabelVersion(dataset.name, one.version, one.digest, one.created_at_utc, one.source, *sizes))
    return found


def _contents(tx: ReadTransaction, label_set: LabelSetRecord) -> tuple[int, tuple[GradeFrequency, ...]]:
    """Return how many different items have labels, and how often each grade was given."""
    from ndcg_tracker.questions.labels.decide import GradeFrequency

    items, grades = np.empty(0, dtype=np.uint64), Counter[float]()
    for lists in _blocks(tx, label_set):
        items = np.union1d(items, lists.item_keys.hashes())
        levels, counts = np.unique(lists.grades, return_counts=True)
        grades.update(dict(zip(levels.tolist(), counts.tolist(), strict=True)))
    return items.size, tuple(GradeFrequency(grade, grades[grade]) for grade in sorted(grades))


def _blocks(tx: ReadTransaction, label_set: LabelSetRecord) -> Iterator[LabelLists]:
    if label_set.n_labels <= HELD_LABELS:
        yield tx.labels.lists(label_set.id)
        return
    ids = tx.labels.group_ids(label_set.id)
    for first in range(0, ids.size, GROUPS_AT_ONCE):
        yield tx.labels.lists(label_set.id, ids[first : first + GROUPS_AT_ONCE])


def label_sets_diff(
    tx: ReadTransaction, dataset_name: str, first: int, second: int | None = None, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two versions of a dataset's labels, by default between one and its judge's newest."""
    from ndcg_tracker.questions.labels.decide import labels_diff

    dataset = tx.datasets.known(dataset_name)
    before = numbered_labels(tx, dataset.id, dataset.name, first)
    after = numbered_labels(tx, dataset.id, dataset.name, second, before.judge if second is None else None)
    one, other = (tx.labels.lists(label_set.id) for label_set in (before, after))
    return labels_diff(dataset.name, (label_set_ref(before), label_set_ref(after)), one, other, top=top)

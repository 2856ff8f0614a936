"""The versions of a dataset's labels: found by number, listed, and two of them side by side."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.comparison.labels import GradeFrequency, LabelsDiff, LabelVersion, labels_diff
from ndcg_tracker.comparison.results import LabelSetRef
from ndcg_tracker.errors import InputError, ReferenceNotFoundError
from ndcg_tracker.tracker.labels import GROUPS_AT_ONCE, HELD_LABELS

if TYPE_CHECKING:
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord


def label_versions(tx: ReadTransaction, dataset_name: str) -> list[LabelVersion]:
    """Return the versions of a dataset's labels, oldest first; their labels are read to be counted."""
    dataset = tx.datasets.known(dataset_name)
    n_runs = tx.evaluations.runs_by_label_set(dataset.id)
    found = []
    for one in tx.labels.sets(dataset.id):
        n_items, grades = _contents(tx, one)
        sizes = one.n_groups, n_items, one.n_labels, grades, n_runs.get(one.id, 0)
        found.append(LabelVersion(dataset.name, one.version, one.digest, one.created_at_utc, one.source, *sizes))
    return found


def _contents(tx: ReadTransaction, label_set: LabelSetRecord) -> tuple[int, tuple[GradeFrequency, ...]]:
    """Return how many different items have labels, and how often each grade was given."""
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


def numbered_labels(tx: ReadTransaction, dataset_id: int, dataset: str, version: int | None = None) -> LabelSetRecord:
    """Return a version of a dataset's labels, None: the newest.

    Raises: InputError for a dataset without labels; ReferenceNotFoundError for an unknown version.
    """
    sets = tx.labels.sets(dataset_id)
    if not sets:
        raise InputError(f"dataset {dataset!r} has no labels; add them with ndcg-track labels add FILE")
    if version is None:
        return sets[-1]
    found = next((one for one in sets if one.version == version), None)
    if found is None:
        known = "it has version 1 alone" if len(sets) == 1 else f"it has 1 to {sets[-1].version}"
        raise ReferenceNotFoundError(
            f"no version {version} of the labels of dataset {dataset!r} ({known}); see: "
            + shlex.join(["ndcg-track", "labels", "list", "--dataset", dataset])
        )
    return found


def label_sets_diff(
    tx: ReadTransaction, dataset_name: str, first: int, second: int | None = None, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two versions of a dataset's labels, by default between one and the newest."""
    dataset = tx.datasets.known(dataset_name)
    sets = [numbered_labels(tx, dataset.id, dataset.name, version) for version in (first, second)]
    refs = (LabelSetRef(sets[0].version, sets[0].digest), LabelSetRef(sets[1].version, sets[1].digest))
    one, other = (tx.labels.lists(label_set.id) for label_set in sets)
    return labels_diff(dataset.name, refs, one, other, top=top)

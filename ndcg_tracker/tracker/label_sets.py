"""The versions of a dataset's labels: found by number, listed, and two of them side by side."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.storage.records import NO_LABELS_HERE

if TYPE_CHECKING:
    from ndcg_tracker.comparison.labels import GradeFrequency, LabelsDiff, LabelVersion
    from ndcg_tracker.comparison.results import LabelSetRef
    from ndcg_tracker.rankings.ranking import LabelLists
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord

GROUPS_AT_ONCE = 1 << 16
"""How many of the groups that were not asked for are looked up at a time."""

HELD_LABELS = 1 << 22
"""Up to this many stored labels are read at once and held; of more, those of some groups are read at a time."""


def label_versions(tx: ReadTransaction, dataset_name: str, judge: str | None = None) -> list[LabelVersion]:
    """Return the versions of a dataset's labels, of a judge or of all, oldest first; they are read to be counted."""
    from ndcg_tracker.comparison.labels import LabelVersion  # not for every comparison, which finds labels here

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
    from ndcg_tracker.comparison.labels import GradeFrequency

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


def numbered_labels(
    tx: ReadTransaction, dataset_id: int, dataset: str, version: int | None = None, judge: str | None = None
) -> LabelSetRecord:
    """Return a version of a dataset's labels, None: the newest of a judge, and without one of no named judge.

    Raises: InputError for a dataset or judge without labels; ReferenceNotFoundError for an unknown version, or one that
    is not of this judge.
    """
    every = [one for one in tx.labels.sets(dataset_id, None) if one.judge not in NO_LABELS_HERE]
    if not every:
        raise InputError(f"dataset {dataset!r} has no labels", advice="add them with ndcg-track labels add FILE")
    if version is None:
        of_judge = [one for one in every if one.judge == (judge or "")]
        if not of_judge:
            judges = ", ".join(dict.fromkeys(judge_words(one.judge) for one in every))
            raise InputError(
                f"dataset {dataset!r} has no labels of {judge_words(judge or '')}, but those of {judges}",
                advice=f"choose with {argument('judge')}",
            )
        return of_judge[-1]
    found = next((one for one in every if one.version == version), None)
    see = f"see: {shlex.join(['ndcg-track', 'labels', 'list', '--dataset', dataset])}"
    if found is None:
        known = "it has version 1 alone" if len(every) == 1 else f"it has 1 to {every[-1].version}"
        raise ReferenceNotFoundError(f"no version {version} of the labels of dataset {dataset!r} ({known})", advice=see)
    if judge is not None and found.judge != judge:
        raise ReferenceNotFoundError(
            f"version {version} of the labels of dataset {dataset!r} is of {judge_words(found.judge)}, not of "
            f"{judge_words(judge)}",
            advice=see,
        )
    return found


def judge_words(judge: str) -> str:
    """Return a judge's name for a sentence.

    >>> judge_words(""), judge_words("gpt")
    ('the unnamed judge', "judge 'gpt'")
    """
    return f"judge {judge!r}" if judge else "the unnamed judge"


def label_set_ref(label_set: LabelSetRecord) -> LabelSetRef:
    """Return a label set as reports name it."""
    from ndcg_tracker.comparison.results import LabelSetRef  # not for ingest, which finds labels here

    return LabelSetRef(label_set.version, label_set.digest, label_set.judge)


def label_sets_diff(
    tx: ReadTransaction, dataset_name: str, first: int, second: int | None = None, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two versions of a dataset's labels, by default between one and its judge's newest."""
    from ndcg_tracker.comparison.labels import labels_diff

    dataset = tx.datasets.known(dataset_name)
    before = numbered_labels(tx, dataset.id, dataset.name, first)
    after = numbered_labels(tx, dataset.id, dataset.name, second, before.judge if second is None else None)
    one, other = (tx.labels.lists(label_set.id) for label_set in (before, after))
    return labels_diff(dataset.name, (label_set_ref(before), label_set_ref(after)), one, other, top=top)

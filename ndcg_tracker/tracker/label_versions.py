"""Which version of a dataset's labels a run is held to, and when a new version comes to be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import ConflictError, InputError, argument
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import matching_rows
from ndcg_tracker.rankings.keys import KeyIndex, Keys
from ndcg_tracker.rankings.ranking import LabelLists

if TYPE_CHECKING:
    from ndcg_tracker.ingest.table import RankedTable
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord
    from ndcg_tracker.storage.write import WriteTransaction


@dataclass(frozen=True, slots=True)
class Labels:
    """A stored label set with its content; ``is_new``: it became a version just now."""

    label_set: LabelSetRecord
    lists: LabelLists
    is_new: bool


def settle_labels(
    tx: WriteTransaction,
    dataset: DatasetRecord,
    given: LabelLists | None,
    table: RankedTable,
    source: str | None,
) -> Labels:
    """Return the labels that a run of a dataset is held to, stored.

    ``given`` labels are the version they equal, else they become the newest. Labels that came with the run itself
    (``table``) are the newest version if all agree with it; new pairs make the union a new version. Without either
    it is the newest version. Raises: ConflictError for a grade that contradicts the newest version, and where either
    knows items by row numbers and the other by ids; InputError where the dataset has no labels.
    """
    if given is not None:
        return add_labels(tx, dataset, given, source)
    of_run = table.labels
    newest = tx.labels.newest(dataset.id)
    if newest is None:
        if of_run is None:
            raise no_labels(dataset)
        return add_labels(tx, dataset, of_run, source)
    refuse_other_items(newest, table.by_row_number, dataset)
    stored = replace(tx.labels.lists(newest.id), by_row_number=newest.by_row_number)
    if of_run is None or of_run.digest() == newest.digest:
        return Labels(newest, stored, is_new=False)
    merged = union(stored, of_run, dataset)
    return Labels(newest, stored, is_new=False) if merged is stored else add_labels(tx, dataset, merged, source)


def add_labels(tx: WriteTransaction, dataset: DatasetRecord, lists: LabelLists, source: str | None) -> Labels:
    """Return the version that equals some labels, made the newest one where there is none (see ``settle_labels``)."""
    refuse_other_items(tx.labels.newest(dataset.id), lists.by_row_number, dataset)
    known = stored_version(tx, dataset, lists.digest())
    if known is not None:
        return Labels(known, lists, is_new=False)
    return Labels(tx.write.labels.insert(dataset.id, lists, source), lists, is_new=True)


def stored_version(tx: ReadTransaction, dataset: DatasetRecord, digest: str) -> LabelSetRecord | None:
    """Return the version of a dataset's labels that has this content, None where there is none."""
    return next((one for one in tx.labels.sets(dataset.id) if one.digest == digest), None)


def refuse_other_items(newest: LabelSetRecord | None, by_row_number: bool | None, dataset: DatasetRecord) -> None:
    """Refuse row numbers where a dataset's newest labels have item ids, and ids where those have row numbers."""
    if newest is None or None in (newest.by_row_number, by_row_number) or newest.by_row_number == by_row_number:
        return
    if by_row_number:
        raise ConflictError(
            f"the labels of dataset {dataset.name!r} have item ids, and here items are known by row numbers, which "
            f"stand for items only inside one table; name the item column with {argument('item')}, or use another "
            f"{argument('dataset')}"
        )
    raise ConflictError(
        f"the labels of dataset {dataset.name!r} know items by row numbers, and here items have ids; use another "
        f"{argument('dataset')}, with labels that have item ids"
    )


def no_labels(dataset: DatasetRecord) -> InputError:
    """Return the error for a dataset that has no labels where some are needed."""
    return InputError(f"dataset {dataset.name!r} has no labels yet; give them with {argument('labels', 'FILE')}")


def union(stored: LabelLists, further: LabelLists, dataset: DatasetRecord) -> LabelLists:
    """Return the labels of both, which is ``stored`` itself where ``further`` has no new pair.

    Raises: ConflictError for a grade of ``further`` that contradicts a stored one, and for row numbers that meet other
    items of their group.
    """
    rows, stored_rows = matching_rows(further, stored)
    differs = further.grades[rows] != stored.grades[stored_rows]
    if differs.any():
        at = int(np.argmax(differs))
        group = further.group_keys[int(np.searchsorted(further.offsets, rows[at], "right")) - 1]
        raise ConflictError(
            f"item {further.item_keys[rows[at]]!r} of group {group!r} has the label {further.grades[rows[at]]:g} here "
            f"and {stored.grades[stored_rows[at]]:g} in the newest labels of dataset {dataset.name!r}; "
            "to change labels, make a new version with ndcg-track labels add FILE"
        )
    is_new = np.ones(further.n_items, dtype=np.bool_)
    is_new[rows] = False
    if not is_new.any():
        return stored
    new = np.flatnonzero(is_new)
    if further.by_row_number:
        _refuse_further_rows(stored, further, new, dataset)
    new_groups = further.group_keys.take(group_codes(further.offsets)[new])
    old_groups = stored.group_keys.take(group_codes(stored.offsets))
    both = LabelLists.from_rows(
        Keys.joined([old_groups, new_groups]),
        Keys.joined([stored.item_keys, further.item_keys.take(new)]),
        np.concatenate([stored.grades, further.grades[new]]),
    )
    return replace(both, by_row_number=stored.by_row_number)


def _refuse_further_rows(stored: LabelLists, further: LabelLists, new: Index, dataset: DatasetRecord) -> None:
    """Refuse row numbers that would join the stored items of a group: they count the rows of another table."""
    places = group_codes(further.offsets)[new]
    known = KeyIndex(stored.group_keys).places(further.group_keys.take(places)) >= 0
    if known.any():
        group = further.group_keys[int(places[int(np.argmax(known))])]
        raise ConflictError(
            f"group {group!r} has labels of other items in dataset {dataset.name!r}, and here items are known by row "
            f"numbers, which stand for items only inside one table; name the item column with {argument('item')}, or "
            f"use another {argument('dataset')}"
        )

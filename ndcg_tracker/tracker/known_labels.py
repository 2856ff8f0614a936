"""Labels that are settled, asked for some groups at a time, and in the end for all the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ndcg_tracker.rankings.keys import KeyIndex, Keys
from ndcg_tracker.rankings.ranking import LabelLists, labels_of_groups

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import LabelSetRecord

NO_LABELS = LabelLists(Keys.from_bytes([]), np.zeros(1, dtype=np.int64), Keys.from_bytes([]), np.empty(0))

GROUPS_AT_ONCE = 1 << 16
"""How many of the groups that were not asked for are looked up at a time."""

HELD_LABELS = 1 << 22
"""Up to this many stored labels are read at once and held; of more, those of some groups are read at a time."""


class KnownLabels(Protocol):
    """Where the labels of a run's groups come from."""

    def of(self, keys: Keys) -> LabelLists:
        """Return the labels of some groups, none of which was asked for before."""

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that were not asked for."""

    def places(self, keys: Keys) -> Index:
        """Return numbers that stand in the order of the labels: int64, -1 for an unknown group."""


class HeldLabels:
    """Labels that are in memory.

    >>> keys = Keys.from_strings
    >>> held = HeldLabels(LabelLists.from_rows(keys(["q", "r"]), keys(["a", "b"]), np.ones(2)))
    >>> held.of(keys(["r", "x"])).group_keys.to_list(), [one.group_keys.to_list() for one in held.rest()]
    (['r'], [['q']])
    """

    def __init__(self, lists: LabelLists) -> None:
        self._lists = lists
        self._index = KeyIndex(lists.group_keys)
        self._seen = np.zeros(lists.n_groups, dtype=np.bool_)

    def of(self, keys: Keys) -> LabelLists:
        """Return the labels of some groups."""
        places = self._index.places(keys)
        places = places[places >= 0]
        self._seen[places] = True
        return labels_of_groups(self._lists, places)

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that were not asked for."""
        left = np.flatnonzero(~self._seen)
        for first in range(0, left.size, GROUPS_AT_ONCE):
            yield labels_of_groups(self._lists, left[first : first + GROUPS_AT_ONCE])

    def places(self, keys: Keys) -> Index:
        """Return the number of each group among the labels, -1 for a group without labels."""
        return self._index.places(keys)


class StoredLabels:
    """Labels that stay in the database, read for some groups at a time."""

    def __init__(self, tx: ReadTransaction, label_set: LabelSetRecord) -> None:
        self._tx = tx
        self._label_set = label_set
        self._seen: list[Index] = []

    def of(self, keys: Keys) -> LabelLists:
        """Return the labels of some groups."""
        ids = self._tx.groups.ids(self._label_set.dataset_id, keys)
        ids = np.sort(ids[ids >= 0])
        self._seen.append(ids)
        return self._tx.labels.lists(self._label_set.id, ids)

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that were not asked for."""
        ids = self._tx.labels.group_ids(self._label_set.id)
        left = ids[~np.isin(ids, np.concatenate([np.empty(0, dtype=np.int64), *self._seen]))]
        for first in range(0, left.size, GROUPS_AT_ONCE):
            yield self._tx.labels.lists(self._label_set.id, left[first : first + GROUPS_AT_ONCE])

    def places(self, keys: Keys) -> Index:
        """Return the id of each group, by which stored labels stand, -1 for an unknown group."""
        ids = self._tx.groups.ids(self._label_set.dataset_id, keys)
        return np.where(np.isin(ids, self._tx.labels.group_ids(self._label_set.id)), ids, -1)


def label_source(tx: ReadTransaction, label_set: LabelSetRecord) -> Callable[[], KnownLabels]:
    """Return what gives the labels of a label set, as often as asked: they are read once and held if they are few."""
    if label_set.n_labels > HELD_LABELS:
        return lambda: StoredLabels(tx, label_set)
    lists = tx.labels.lists(label_set.id)
    return lambda: HeldLabels(lists)

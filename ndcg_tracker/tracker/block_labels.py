"""The labels that a run is held to while it comes block by block, and the version that they come to be in the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ndcg_tracker.ingest.table import RankedTable
from ndcg_tracker.rankings.keys import KeyIndex, Keys, joined_digest
from ndcg_tracker.rankings.ranking import LabelLists, labels_of_groups
from ndcg_tracker.tracker.known_labels import NO_LABELS, HeldLabels, KnownLabels, label_source
from ndcg_tracker.tracker.label_versions import add_labels, no_labels, refuse_other_items, stored_version, union

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord
    from ndcg_tracker.storage.write import WriteTransaction


class BlockLabels(Protocol):
    """Labels that may come to be a new version while the blocks go by."""

    def of(self, block: RankedTable) -> LabelLists:
        """Return the labels of a block's groups."""

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that no block had."""

    def places(self, keys: Keys) -> Index:
        """Return numbers that stand in the order of the labels: int64."""

    def settled(self) -> tuple[LabelSetRecord, bool]:
        """Return the version that the labels are, and whether it is new; asked once, in the end."""


def block_labels(
    tx: WriteTransaction, dataset: DatasetRecord, given: LabelLists | None, source: str | None
) -> BlockLabels:
    """Return the labels that the blocks of a run are held to (see ``label_versions.settle_labels``)."""
    if given is not None:
        labels = add_labels(tx, dataset, given, source)
        return SettledLabels(HeldLabels(given), labels.label_set, labels.is_new)
    newest = tx.labels.newest(dataset.id)
    return NewLabels(tx, dataset, source) if newest is None else UnitedLabels(tx, dataset, newest, source)


class SettledLabels:
    """Labels of a version that is settled before the first block comes; those of the blocks are not read."""

    def __init__(self, labels: KnownLabels, label_set: LabelSetRecord, is_new: bool) -> None:
        self._labels = labels
        self._label_set, self._is_new = label_set, is_new

    def of(self, block: RankedTable) -> LabelLists:
        """Return the labels of a block's groups."""
        return self._labels.of(block.ranking.group_keys)

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that no block had."""
        return self._labels.rest()

    def places(self, keys: Keys) -> Index:
        """Return numbers that stand in the order of the labels."""
        return self._labels.places(keys)

    def settled(self) -> tuple[LabelSetRecord, bool]:
        """Return the version, and whether it is new."""
        return self._label_set, self._is_new


class NewLabels:
    """The first labels of a dataset, stored as they come with the blocks of a run."""

    def __init__(self, tx: WriteTransaction, dataset: DatasetRecord, source: str | None) -> None:
        self._tx = tx
        self._dataset = dataset
        self._source = source
        self._id: int | None = None
        self._digest = joined_digest([])
        self._n_groups = self._n_labels = 0

    def of(self, block: RankedTable) -> LabelLists:
        """Return the labels that came with a block, stored."""
        labels = block.labels
        if labels is None:
            return NO_LABELS
        if self._id is None:
            self._id = self._tx.write.labels.begin(self._dataset.id, self._source, by_row_number=labels.by_row_number)
        self._tx.write.labels.append(self._id, self._dataset.id, labels)
        self._digest = joined_digest([self._digest, labels.digest()])
        self._n_groups += labels.n_groups
        self._n_labels += labels.n_items
        return labels

    def rest(self) -> Iterator[LabelLists]:
        """Yield nothing: all labels came with a block."""
        yield from ()

    def places(self, keys: Keys) -> Index:
        """Return the number of each group: they came in the order of the labels."""
        return np.arange(len(keys))

    def settled(self) -> tuple[LabelSetRecord, bool]:
        """Return the version that the labels are, and that it is new (InputError where none came)."""
        if self._id is None:
            raise no_labels(self._dataset)
        return self._tx.write.labels.finish(self._id, self._digest, self._n_groups, self._n_labels), True


class UnitedLabels:
    """The newest labels of a dataset and those that come with the blocks of a run.

    If all of them agree they are the newest version; new pairs make the union of both a version of its own, for which
    the lists that grow are written as they come, and all others copied in the end.
    """

    def __init__(
        self, tx: WriteTransaction, dataset: DatasetRecord, newest: LabelSetRecord, source: str | None
    ) -> None:
        self._tx = tx
        self._dataset = dataset
        self._newest = newest
        self._stored = label_source(tx, newest)()
        self._source = source
        self._id: int | None = None
        self._digest = newest.digest
        self._n_groups, self._n_labels = newest.n_groups, newest.n_labels

    def of(self, block: RankedTable) -> LabelLists:
        """Return the labels of a block's groups, the stored ones and those that came with it (ConflictError)."""
        if (
            block.labels is not None or not block.by_row_number
        ):  # else it may have no labels at all, which is told apart
            refuse_other_items(self._newest, block.by_row_number, self._dataset)
        stored = self._stored.of(group_keys_of(block))
        if block.labels is None:
            return stored
        both = union(stored, block.labels, self._dataset)
        if both is not stored:
            self._add_grown(stored, both)
        return both

    def rest(self) -> Iterator[LabelLists]:
        """Yield the labels of all groups that no block had."""
        return self._stored.rest()

    def places(self, keys: Keys) -> Index:
        """Return the number of each group among the stored labels, that of a new group being after them all."""
        places = self._stored.places(keys)
        return np.where(places < 0, np.iinfo(np.int64).max, places)

    def settled(self) -> tuple[LabelSetRecord, bool]:
        """Return the version that the labels have come to, and whether it is new."""
        if self._id is None:
            return self._newest, False
        known = stored_version(self._tx, self._dataset, self._digest)
        if known is not None:
            self._tx.write.labels.discard(self._id)
            return known, False
        self._tx.write.labels.append_from(self._id, self._newest.id)
        return self._tx.write.labels.finish(self._id, self._digest, self._n_groups, self._n_labels), True

    def _add_grown(self, stored: LabelLists, both: LabelLists) -> None:
        if self._id is None:
            self._id = self._tx.write.labels.begin(
                self._dataset.id, self._source, by_row_number=self._newest.by_row_number
            )
        places = KeyIndex(stored.group_keys).places(both.group_keys)
        before = np.append(np.diff(stored.offsets), 0)[places]
        self._tx.write.labels.append(
            self._id, self._dataset.id, labels_of_groups(both, np.flatnonzero(np.diff(both.offsets) > before))
        )
        self._digest = joined_digest([self._digest, both.digest()], without=[stored.digest()])
        self._n_groups += both.n_groups - stored.n_groups
        self._n_labels += both.n_items - stored.n_items


def group_keys_of(block: RankedTable) -> Keys:
    """Return the groups of a block: those with items, then those with labels alone."""
    keys = block.ranking.group_keys
    if block.labels is None:
        return keys
    only = np.flatnonzero(KeyIndex(keys).places(block.labels.group_keys) < 0)
    return Keys.joined([keys, block.labels.group_keys.take(only)]) if only.size else keys

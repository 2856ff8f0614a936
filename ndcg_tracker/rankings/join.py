"""Which item of a run is which item of the labels: the one join that every metric shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.grouping import group_blocks, segment_rows
from ndcg_tracker.rankings.keys import MULTIPLIER, Hash, Index, Keys, Mask
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking

_SLOTS = 4  # more cost memory, fewer cost rounds


@dataclass(frozen=True, slots=True)
class JudgedRanking:
    """A run with its labels joined, over the groups of both.

    The group axis has all groups of the labels in their order, then the groups of the run that have no label.
    ``run_groups`` and ``label_groups``: int64, shape (n_groups,): each group's number in ``ranking`` and in
    ``labels``, -1 where it is absent. ``rows``: int64, ascending, the rows of ``ranking`` that carry a label;
    ``label_rows``: the row of ``labels`` that each of them carries.
    """

    ranking: Ranking
    labels: LabelLists
    run_groups: Index
    label_groups: Index
    rows: Index
    label_rows: Index

    @property
    def n_groups(self) -> int:
        """How many groups the run and the labels have together."""
        return self.run_groups.size

    @property
    def group_keys(self) -> Keys:
        """The ids of the group axis."""
        extra = self.run_groups[self.labels.n_groups :]
        if not extra.size:
            return self.labels.group_keys
        return Keys.from_bytes(
            self.labels.group_keys.to_bytes_list() + self.ranking.group_keys.take(extra).to_bytes_list()
        )


def judged(ranking: Ranking, labels: LabelLists) -> JudgedRanking:
    """Return the run joined with the labels on (group, item).

    >>> keys = Keys.from_strings
    >>> run = Ranking.from_rows(keys(["q", "q"]), keys(["a", "b"]), np.array([2.0, 1.0]))
    >>> both = judged(run, LabelLists.from_rows(keys(["q", "r"]), keys(["b", "c"]), np.array([1.0, 1.0])))
    >>> both.rows.tolist(), both.label_rows.tolist(), both.run_groups.tolist()
    ([1], [0], [0, -1])
    """
    run_group_of_label = places_of(labels.group_keys, ranking.group_keys)
    label_group_of_run = np.full(ranking.n_groups, -1, dtype=np.int64)
    present = run_group_of_label >= 0
    label_group_of_run[run_group_of_label[present]] = np.flatnonzero(present)
    extra = np.flatnonzero(label_group_of_run < 0)
    rows, label_rows = matching_rows(ranking, labels)
    return JudgedRanking(
        ranking,
        labels,
        np.concatenate([run_group_of_label, extra]),
        np.concatenate([np.arange(labels.n_groups), np.full(extra.size, -1)]),
        rows,
        label_rows,
    )


def places_of(wanted: Keys, keys: Keys) -> Index:
    """Return where each wanted id stands among distinct ids, -1 where it does not: int64, shape of ``wanted``.

    >>> places_of(Keys.from_strings(["b", "x"]), Keys.from_strings(["a", "b"])).tolist()
    [1, -1]
    """
    if not len(keys):
        return np.full(len(wanted), -1, dtype=np.int64)
    hashes = keys.hashes()
    order = np.argsort(hashes)
    found = order[np.minimum(np.searchsorted(hashes[order], wanted.hashes()), order.size - 1)]
    return np.where(keys.equal(found, wanted, np.arange(len(wanted))), found, -1)


def matching_rows(items: GroupedItems, others: GroupedItems) -> tuple[Index, Index]:
    """Return the rows of both sides that are the same (group, item), ascending for ``items``: int64, shape (m,)."""
    if _is_same_list(items, others):
        rows = np.arange(items.n_items)
        return rows, rows
    other_groups = places_of(items.group_keys, others.group_keys)
    found = [np.zeros((2, 0), dtype=np.int64)]
    for first, last in group_blocks(items.offsets):
        low, high = items.offsets[[first, last]]
        partners = _partners(
            items.pair_hashes[low:high],
            np.diff(items.offsets[first : last + 1]),
            others,
            other_groups[first:last],
        )
        rows = np.flatnonzero(partners >= 0)
        found.append(np.stack([rows + low, partners[rows]]))
    rows, other_rows = np.concatenate(found, axis=1)
    same = items.item_keys.equal(rows, others.item_keys, other_rows)
    return rows[same], other_rows[same]


def _is_same_list(items: GroupedItems, others: GroupedItems) -> bool:
    """Return whether both sides name the same items in the same order, as scores and labels of one table do."""
    return (
        np.array_equal(items.offsets, others.offsets)
        and items.group_keys.is_same(others.group_keys)
        and items.item_keys.is_same(others.item_keys)
    )


def _partners(hashes: Hash, lengths: Index, others: GroupedItems, other_groups: Index) -> Index:
    """Return the row of ``others`` whose hash each row of some groups has, -1 for none: int64, shape of ``hashes``.

    Parameters: ``lengths`` and ``other_groups``, int64, shape (n_groups,): how many rows each group has, and its
    number in ``others``, -1 where it is absent.

    Each group has a stretch of one hash table, ``_SLOTS`` for each of its other rows. Other rows that lose their slot
    to another one try again with other bits of their hash, and so do the rows that may be looking for them.
    """
    known = np.flatnonzero(other_groups >= 0)
    starts = others.offsets[other_groups[known]]
    n_others = np.zeros(lengths.size, dtype=np.int64)
    n_others[known] = others.offsets[other_groups[known] + 1] - starts
    n_slots = _SLOTS * n_others
    first_slot = np.cumsum(n_slots) - n_slots
    table = np.full(int(n_slots.sum()) + 1, -1, dtype=np.int64)
    first_slot[n_slots == 0] = table.size - 1
    other_rows = segment_rows(starts, n_others[known])
    other_hashes = others.pair_hashes[other_rows]
    partners = np.full(hashes.size, -1, dtype=np.int64)
    seekers = _Probes(np.arange(hashes.size), hashes, np.repeat(first_slot, lengths), np.repeat(n_slots, lengths))
    sought = _Probes(
        np.arange(other_rows.size), other_hashes, np.repeat(first_slot, n_others), np.repeat(n_slots, n_others)
    )
    multiplier = 1
    while sought.rows.size and seekers.rows.size:
        multiplier = multiplier * MULTIPLIER % 2**64
        slots = sought.slots(multiplier)
        table[slots] = sought.rows
        lost = other_hashes[table[slots]] != sought.hashes
        contested = np.zeros(table.size, dtype=np.bool_)
        contested[slots[lost]] = True
        slots = seekers.slots(multiplier)
        candidates = table[slots]
        hit = (candidates >= 0) & (other_hashes[candidates] == seekers.hashes)
        found = np.flatnonzero(hit)
        partners[seekers.rows[found]] = other_rows[candidates[found]]
        sought, seekers = sought.only(lost), seekers.only(~hit & contested[slots])
    return partners


@dataclass(frozen=True, slots=True)
class _Probes:
    """Rows, their hashes, and the stretch of the hash table that each row's group has."""

    rows: Index
    hashes: Hash
    first_slot: Index
    n_slots: Index

    def slots(self, multiplier: int) -> Index:
        """Return the slot of each row: which one of its stretch is for the hash times an odd multiplier to say."""
        fraction = (self.hashes * np.uint64(multiplier)) >> np.uint64(32)
        return self.first_slot + ((fraction.view(np.int64) * self.n_slots) >> 32)

    def only(self, kept: Mask) -> _Probes:
        """Return some of the rows."""
        at = np.flatnonzero(kept)
        return _Probes(self.rows[at], self.hashes[at], self.first_slot[at], self.n_slots[at])

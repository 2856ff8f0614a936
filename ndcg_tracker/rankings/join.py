"""Join the items of a run with the labels once for all metrics: find equal hashes on both sides, group by group.

Joining 500,000 items with a tenth of them takes 18 ms, or 54 ms by sorting the hashes (``benchmarks/tricks.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.rankings import Hash, Index
from ndcg_tracker.rankings.grouping import group_ranges, segment_rows
from ndcg_tracker.rankings.keys import MULTIPLIER, Keys
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking, Run, UnsortedRanking
from ndcg_tracker.rankings.sorting import GroupMatrix, similar_groups

_SLOTS = 4  # more slots cost memory, fewer slots cost rounds
_BITS = 64
_FEW, _FEW_AT_MOST = 4, 16  # other rows per group, on average and at most, up to which comparing is faster


def partners_of(hashes: Hash, lengths: Index, other_hashes: Hash, other_lengths: Index) -> tuple[Index, Index]:
    """Return the rows, ascending, whose hash the other side has in the same group, and the other row of each.

    Parameters: see ``hash_partners``; no hash appears twice in a group. If the other side has few rows, each is
    compared with all rows of its group: 5,000 rows among 500,000 take 0.4 ms, and 6 ms with a hash table
    (``benchmarks/tricks.py``).

    >>> one, other = np.array([7, 5, 7], dtype=np.uint64), np.array([5, 7], dtype=np.uint64)
    >>> [found.tolist() for found in partners_of(one, np.array([2, 1]), other, np.array([2, 0]))]
    [[0, 1], [1, 0]]
    """
    if other_hashes.size <= _FEW * lengths.size and other_lengths.max(initial=0) <= _FEW_AT_MOST:
        return _compared(hashes, lengths, other_hashes, other_lengths)
    partners = hash_partners(hashes, lengths, other_hashes, other_lengths)
    rows = np.flatnonzero(partners >= 0)
    return rows, partners[rows]


def _compared(hashes: Hash, lengths: Index, other_hashes: Hash, other_lengths: Index) -> tuple[Index, Index]:
    """Return the same as ``partners_of``, by comparing each row of the other side with all rows of its group."""
    starts, other_starts = (np.cumsum(counts) - counts for counts in (lengths, other_lengths))
    pairs = [np.zeros((2, 0), dtype=np.int64)]
    for groups in similar_groups(np.where(other_lengths > 0, lengths, 0)):
        block = GroupMatrix(starts[groups][:, None], lengths[groups][:, None])
        matrix, sizes, width = block.taken(hashes), lengths[groups], block.shape[1]
        n_others, low, other_low = other_lengths[groups], starts[groups], other_starts[groups]
        for done in range(int(n_others.max())):
            if done:
                left = np.flatnonzero(n_others > done)
                matrix, sizes, n_others = matrix[left], sizes[left], n_others[left]
                low, other_low = low[left], other_low[left]
            at = np.flatnonzero(matrix == other_hashes[other_low + done][:, None])
            group = at // width
            place = at - group * width
            if not block.is_full:
                inside = np.flatnonzero(place < sizes[group])
                group, place = group[inside], place[inside]
            pairs.append(np.stack([low[group] + place, other_low[group] + done]))
    rows, partners = np.concatenate(pairs, axis=1)
    order = np.argsort(rows)
    return rows[order], partners[order]


def hash_partners(hashes: Hash, lengths: Index, other_hashes: Hash, other_lengths: Index) -> Index:
    """Return which row of the other side has the hash of each row, in the same group, -1 for none.

    Parameters: ``hashes`` and ``other_hashes``: uint64, group by group; ``lengths`` and ``other_lengths``: int64, shape
    (n_groups,), how many rows each group has on either side. Returns: int64, shape of ``hashes``.

    Each group has a section of one hash table, with at least ``_SLOTS`` slots for each of its other rows. If two other
    rows need the same slot, the row that loses it tries again with other bits of its hash, and so do the rows that may
    be looking for it.

    >>> one, other = np.array([7, 5, 7], dtype=np.uint64), np.array([5, 7], dtype=np.uint64)
    >>> hash_partners(one, np.array([2, 1]), other, np.array([2, 0])).tolist()
    [1, 0, -1]
    """
    n_others = other_hashes.size
    stretches = _Stretches.of(other_lengths)
    hash_of = np.append(other_hashes, np.uint64(0))  # an empty slot points to the last entry
    table: NDArray[np.integer[Any]] = np.empty(stretches.n_slots, dtype=np.int32 if n_others < 1 << 31 else np.int64)
    partners = np.full(hashes.size, -1, dtype=np.int64)
    seekers = _Probes(np.arange(hashes.size), hashes, *stretches.of_rows(lengths))
    sought = _Probes(np.arange(n_others), other_hashes, *stretches.of_rows(other_lengths))
    multiplier = 1
    while sought.rows.size and seekers.rows.size:
        table.fill(n_others)
        slots = sought.slots(multiplier)
        table[slots] = sought.rows
        lost = np.flatnonzero(hash_of[table[slots]] != sought.hashes)
        contested = slots[lost]
        slots = seekers.slots(multiplier)
        candidates = table[slots]
        hit = (hash_of[candidates] == seekers.hashes) & (candidates < n_others)
        hits = np.flatnonzero(hit)
        partners[seekers.rows[hits]] = candidates[hits]
        if not lost.size:
            break
        is_contested = np.zeros(table.size, dtype=np.bool_)
        is_contested[contested] = True
        missed = np.flatnonzero(~hit)
        sought, seekers = sought.only(lost), seekers.only(missed[is_contested[slots[missed]]])
        multiplier = multiplier * MULTIPLIER % 2**64
    return partners


@dataclass(frozen=True, slots=True)
class _Stretches:
    """The section of the hash table of each group: its ``first_slot`` and its size, a power of two, as a ``shift``.

    The first bits of a hash select a slot of the section; ``shift`` is the number of bits that are not needed for this.
    """

    first_slot: Index
    shift: Hash
    n_slots: int

    @classmethod
    def of(cls, n_rows: Index) -> _Stretches:
        """Return the sections for groups of these sizes; groups without rows share one slot that stays empty."""
        n_bits = np.where(n_rows > 0, np.ceil(np.log2(np.maximum(_SLOTS * n_rows, 1))), 0).astype(np.int64)
        n_slots = np.where(n_rows > 0, 1 << n_bits, 0)
        first_slot = 1 + np.cumsum(n_slots) - n_slots
        first_slot[n_rows == 0] = 0
        return cls(first_slot, (_BITS - n_bits).astype(np.uint64), int(n_slots.sum()) + 1)

    def of_rows(self, lengths: Index) -> tuple[Index, Hash]:
        """Return the first slot and the shift for each row of groups of some lengths."""
        return np.repeat(self.first_slot, lengths), np.repeat(self.shift, lengths)


@dataclass(frozen=True, slots=True)
class _Probes:
    """Rows, their hashes, and the section of the hash table of each row's group."""

    rows: Index
    hashes: Hash
    first_slot: Index
    shift: Hash

    def slots(self, multiplier: int) -> Index:
        """Return the slot of each row in its section, selected by the hash times an odd multiplier."""
        hashes = self.hashes if multiplier == 1 else self.hashes * np.uint64(multiplier)
        return self.first_slot + (hashes >> self.shift).view(np.int64)

    def only(self, at: Index) -> _Probes:
        """Return some of the rows."""
        return _Probes(self.rows[at], self.hashes[at], self.first_slot[at], self.shift[at])


@dataclass(frozen=True)
class JudgedItems:
    """A run joined with its labels, over the groups of both.

    The group axis has all groups of the labels in their order, then the groups of the run that have no label.
    ``run_groups`` and ``label_groups``: int64, shape (n_groups,): the number of each group in ``ranking`` and in
    ``labels``, -1 if it is absent. ``rows``: int64, ascending, the rows of ``ranking`` that have a label;
    ``label_rows``: the row of ``labels`` for each of them.
    """

    ranking: GroupedItems
    labels: LabelLists
    run_groups: Index
    label_groups: Index
    rows: Index
    label_rows: Index

    @property
    def n_groups(self) -> int:
        """How many groups the run and the labels have together."""
        return self.run_groups.size

    @cached_property
    def bounds(self) -> Index:
        """Which of ``rows`` each group of the run has: int64, shape (n_run_groups + 1,)."""
        offsets = self.ranking.offsets
        return offsets if self.rows.size == self.ranking.n_items else np.searchsorted(self.rows, offsets)

    @property
    def group_keys(self) -> Keys:
        """The ids of the group axis."""
        extra = self.run_groups[self.labels.n_groups :]
        if not extra.size:
            return self.labels.group_keys
        return Keys.from_bytes(
            self.labels.group_keys.to_bytes_list() + self.ranking.group_keys.take(extra).to_bytes_list()
        )


@dataclass(frozen=True)
class JudgedRanking(JudgedItems):
    """A run in the order of its scores, joined with its labels (see ``JudgedItems``)."""

    ranking: Ranking

    @property
    def in_order(self) -> JudgedRanking:
        """These rows."""
        return self


@dataclass(frozen=True)
class JudgedUnsorted(JudgedItems):
    """A run whose rows are in any order within their groups, joined with its labels (see ``JudgedItems``)."""

    ranking: UnsortedRanking

    @cached_property
    def in_order(self) -> JudgedRanking:
        """The same run in the order of the scores; every metric gives the same numbers to the bit."""
        ranking, rows, label_rows = self.ranking.in_order, self.rows, self.label_rows
        order = ranking.input_places
        if order is not None and rows.size == order.size:
            label_rows = label_rows[order]
        elif order is not None:
            places = np.empty_like(order)
            places[order] = np.arange(order.size)
            by_place = np.argsort(places[rows])
            rows, label_rows = places[rows][by_place], label_rows[by_place]
        return JudgedRanking(ranking, self.labels, self.run_groups, self.label_groups, rows, label_rows)


Judged = JudgedRanking | JudgedUnsorted
"""A run with its labels, sorted or not."""


@overload
def judged(ranking: Ranking, labels: LabelLists) -> JudgedRanking: ...


@overload
def judged(ranking: Run, labels: LabelLists) -> Judged: ...


def judged(ranking: Run, labels: LabelLists) -> Judged:
    """Return the run joined with the labels on (group, item); items with several ids have the one of the labels.

    >>> keys = Keys.from_strings
    >>> run = Ranking.from_rows(keys(["q", "q"]), keys(["a", "b"]), np.array([2.0, 1.0]))
    >>> both = judged(run, LabelLists.from_rows(keys(["q", "r"]), keys(["b", "c"]), np.array([1.0, 1.0])))
    >>> both.rows.tolist(), both.label_rows.tolist(), both.run_groups.tolist()
    ([1], [0], [0, -1])
    """
    if labels.same_items is not None:
        ranking = labels.same_items.in_run(ranking if isinstance(ranking, Ranking) else ranking.in_order, labels)
    run_group_of_label = places_of(labels.group_keys, ranking.group_keys)
    label_group_of_run = np.full(ranking.n_groups, -1, dtype=np.int64)
    present = run_group_of_label >= 0
    label_group_of_run[run_group_of_label[present]] = np.flatnonzero(present)
    extra = np.flatnonzero(label_group_of_run < 0)
    rows, label_rows = _matching_rows(ranking, labels, label_group_of_run)
    run_groups = np.concatenate([run_group_of_label, extra])
    label_groups = np.concatenate([np.arange(labels.n_groups), np.full(extra.size, -1)])
    if isinstance(ranking, Ranking):
        return JudgedRanking(ranking, labels, run_groups, label_groups, rows, label_rows)
    return JudgedUnsorted(ranking, labels, run_groups, label_groups, rows, label_rows)


def places_of(wanted: Keys, keys: Keys) -> Index:
    """Return the position of each wanted id among distinct ids, -1 if it is absent: int64, shape of ``wanted``.

    >>> places_of(Keys.from_strings(["b", "x"]), Keys.from_strings(["a", "b"])).tolist()
    [1, -1]
    """
    if keys.is_same(wanted):
        return np.arange(len(wanted))
    one_group = (np.array([len(wanted)]), np.array([len(keys)]))
    hashes, other_hashes, is_sure = wanted.join_hashes(keys)
    places = hash_partners(hashes, one_group[0], other_hashes, one_group[1])
    if not is_sure:
        present = np.flatnonzero(places >= 0)
        places[present[~wanted.equal(present, keys, places[present])]] = -1
    return places


def matching_rows(items: GroupedItems, others: GroupedItems) -> tuple[Index, Index]:
    """Return the rows of both sides with the same (group, item), ascending for ``items``: int64, shape (m,)."""
    return _matching_rows(items, others, places_of(items.group_keys, others.group_keys))


def own_rows(items: GroupedItems) -> Index:
    """Return the rows whose item has the same id as its group: int64, ascending.

    >>> from ndcg_tracker.rankings.keys import Keys
    >>> groups = Keys.from_strings(["q1", "q2"])
    >>> own_rows(GroupedItems(groups, np.array([0, 2, 4]), Keys.from_strings(["a", "q1", "q1", "b"]), np.zeros(4)))
    array([1])
    """
    each = np.arange(items.n_groups + 1)
    return matching_rows(items, GroupedItems(items.group_keys, each, items.group_keys, np.zeros(items.n_groups)))[0]


def _matching_rows(items: GroupedItems, others: GroupedItems, other_groups: Index) -> tuple[Index, Index]:
    """Return the same as ``matching_rows``, given the number in ``others`` of each group of ``items``, -1 for none."""
    if _is_same_list(items, others):
        rows = np.arange(items.n_items)
        return rows, rows
    lengths = np.diff(items.offsets)
    starts = others.offsets[other_groups]
    other_lengths = np.where(other_groups < 0, 0, others.offsets[other_groups + 1] - starts)

    def matched(groups: tuple[int, int]) -> tuple[Index, Index]:
        span = slice(*groups)
        low, high = items.offsets[list(groups)]
        other_rows = segment_rows(starts[span], other_lengths[span])
        mine = items.item_keys.slice(low, high)
        first, n_rows = int(other_rows[0]) if other_rows.size else 0, other_rows.size
        in_a_row = n_rows > 0 and int(other_rows[-1]) - first == n_rows - 1 and bool((np.diff(starts[span]) >= 0).all())
        theirs = others.item_keys.slice(first, first + n_rows) if in_a_row else others.item_keys.take(other_rows)
        hashes, other_hashes, is_sure = mine.join_hashes(theirs)
        rows, partners = partners_of(hashes, lengths[span], other_hashes, other_lengths[span])
        if not is_sure:
            same = mine.equal(rows, theirs, partners)
            if not same.all():
                rows, partners = rows[same], partners[same]
        return rows + low, other_rows[partners]

    nothing = np.zeros(0, dtype=np.int64)
    parts = [(nothing, nothing), *mapped(matched, list(group_ranges(items.offsets)))]
    rows, other_rows = (np.concatenate(side) for side in zip(*parts, strict=True))
    return rows, other_rows


def _is_same_list(items: GroupedItems, others: GroupedItems) -> bool:
    """Return whether both sides have the same items in the same order, like scores and labels of one table."""
    return (
        np.array_equal(items.offsets, others.offsets)
        and items.group_keys.is_same(others.group_keys)
        and items.item_keys.is_same(others.item_keys)
    )

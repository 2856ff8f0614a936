"""The join of a run's items with the labels, which every metric shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.rankings.grouping import group_ranges, segment_rows
from ndcg_tracker.rankings.hash_join import hash_partners, partners_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking, Run, UnsortedRanking
from ndcg_tracker.rankings.types import Index


@dataclass(frozen=True)
class JudgedItems:
    """A run with its labels joined, over the groups of both.

    The group axis has all groups of the labels in their order, then the groups of the run that have no label.
    ``run_groups`` and ``label_groups``: int64, shape (n_groups,): each group's number in ``ranking`` and in
    ``labels``, -1 where it is absent. ``rows``: int64, ascending, the rows of ``ranking`` that have a label;
    ``label_rows``: the row of ``labels`` that each of them has.
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
    """A run in the order of its scores with its labels joined (see ``JudgedItems``)."""

    ranking: Ranking

    @property
    def in_order(self) -> JudgedRanking:
        """These rows."""
        return self


@dataclass(frozen=True)
class JudgedUnsorted(JudgedItems):
    """A run whose rows are in any order within their groups, with its labels joined (see ``JudgedItems``)."""

    ranking: UnsortedRanking

    @cached_property
    def in_order(self) -> JudgedRanking:
        """The same run in the order of the scores; every metric gives the same numbers, to the bit."""
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
"""A run with its labels, whether its rows have been put in order or not."""


@overload
def judged(ranking: Ranking, labels: LabelLists) -> JudgedRanking: ...


@overload
def judged(ranking: UnsortedRanking, labels: LabelLists) -> JudgedUnsorted: ...


@overload
def judged(ranking: Run, labels: LabelLists) -> Judged: ...


def judged(ranking: Run, labels: LabelLists) -> Judged:
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
    rows, label_rows = _matching_rows(ranking, labels, label_group_of_run)
    run_groups = np.concatenate([run_group_of_label, extra])
    label_groups = np.concatenate([np.arange(labels.n_groups), np.full(extra.size, -1)])
    if isinstance(ranking, Ranking):
        return JudgedRanking(ranking, labels, run_groups, label_groups, rows, label_rows)
    return JudgedUnsorted(ranking, labels, run_groups, label_groups, rows, label_rows)


def places_of(wanted: Keys, keys: Keys) -> Index:
    """Return the position of each wanted id among distinct ids, -1 if it is not there: int64, shape of ``wanted``.

    >>> places_of(Keys.from_strings(["b", "x"]), Keys.from_strings(["a", "b"])).tolist()
    [1, -1]
    """
    if keys.is_same(wanted):
        return np.arange(len(wanted))
    one_group = (np.array([len(wanted)]), np.array([len(keys)]))
    hashes, other_hashes, is_sure = wanted.join_hashes(keys)
    found = hash_partners(hashes, one_group[0], other_hashes, one_group[1])
    if not is_sure:
        known = np.flatnonzero(found >= 0)
        found[known[~wanted.equal(known, keys, found[known])]] = -1
    return found


def matching_rows(items: GroupedItems, others: GroupedItems) -> tuple[Index, Index]:
    """Return the rows of both sides that are the same (group, item), ascending for ``items``: int64, shape (m,)."""
    return _matching_rows(items, others, places_of(items.group_keys, others.group_keys))


def _matching_rows(items: GroupedItems, others: GroupedItems, other_groups: Index) -> tuple[Index, Index]:
    """Return what ``matching_rows`` does, given the number in ``others`` of each group of ``items``, -1 for none."""
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
    found = [(nothing, nothing), *mapped(matched, list(group_ranges(items.offsets)))]
    rows, other_rows = (np.concatenate(side) for side in zip(*found, strict=True))
    return rows, other_rows


def _is_same_list(items: GroupedItems, others: GroupedItems) -> bool:
    """Return whether both sides have the same items in the same order, as scores and labels of one table do."""
    return (
        np.array_equal(items.offsets, others.offsets)
        and items.group_keys.is_same(others.group_keys)
        and items.item_keys.is_same(others.item_keys)
    )

"""The lists of a run whose rows are in any order: the labelled items at their places, without sorting the rest.

Groups of similar length are worked on side by side, a cacheful at a time. Rows that are in order are already at their
places. If few rows have a label, the rank of each is how many scores of its group are better. Otherwise the scores are
sorted as integers whose last bits carry the label. A group in which a labelled item shares its score with an item of
another level or without label is sorted exactly.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.kernel.graded_list import Codes, GradedList, Scores, SomeLists
from ndcg_tracker.rankings.grouping import segment_rows
from ndcg_tracker.rankings.padded import GroupMatrix, similar_groups
from ndcg_tracker.rankings.sorting import descending_order, ordered_bits
from ndcg_tracker.rankings.types import Index, Mask

MOST_LEVELS = (1 << 16) - 1
"""The most levels that leave a score enough bits."""

IN_ORDER, BY_COUNTING, BY_SORTING = "in order", "by counting", "by sorting"
_FEW = 4  # labelled rows per group, on average, up to which counting is faster than sorting
_FEW_AT_MOST = 16
_NARROW = 64  # up to this length NumPy counts faster across groups than within them
_BLOCK = 1 << 16
_BEHIND = np.iinfo(np.int64).max


def in_rank_order(graded: GradedList, n_levels: int) -> GradedList:
    """Return lists whose places are the rows of an unsorted run with the places that its sorted rows would have.

    Parameters: ``n_levels``: how many levels ``graded.codes`` may name, up to ``MOST_LEVELS``. Returns: lists that
    name scores and rows for their ``sorted_part`` alone; elsewhere items of one level and one score may have changed
    places, which changes no value but those of ``ties=average``.

    >>> rows = GradedList(np.array([1.0, 2.0]), np.array([0, 2]), None, None, np.array([1, 0]), np.array([0, 2]), None)
    >>> in_rank_order(rows, 2).codes.tolist()
    [0, 1]
    """
    return Ranks(graded, n_levels).found()


class Ranks:
    """The places of the labelled items of an unsorted run, as they become known (see ``in_rank_order``).

    ``ways``: which methods blocks of groups were worked on with.
    """

    def __init__(self, graded: GradedList, n_levels: int) -> None:
        self.ways: set[str] = set()
        self._graded = replace(graded, scores=np.ascontiguousarray(graded.scores))
        self._n_labelled = np.diff(graded.bounds)
        self._bits = n_levels.bit_length()
        self._unlabelled = (1 << self._bits) - 1
        self._codes = graded.codes.copy()
        self._places = None if graded.places is None else graded.places.copy()
        self._tied = np.zeros(self._n_labelled.size, dtype=np.bool_)

    def found(self) -> GradedList:
        """Return the lists."""
        graded = self._graded
        n_places = _BLOCK if graded.longest > _NARROW else 2 * _BLOCK
        for groups in similar_groups(np.where(self._n_labelled > 0, graded.lengths, 0), n_places):
            self._settle(groups)
        if BY_COUNTING in self.ways and self._places is not None:
            self._places, self._codes = self._by_place(self._places, self._codes)
        part = self._sorted_part(np.flatnonzero(self._tied))
        nothing = graded.scores[:0]
        return replace(graded, scores=nothing, list_rows=None, places=self._places, codes=self._codes, sorted_part=part)

    def _settle(self, groups: Index) -> None:
        """Find the places of the labelled items of some groups, or mark a group as tied."""
        block = GroupMatrix(self._graded.offsets[groups][:, None], self._graded.lengths[groups][:, None])
        scores = block.taken(self._graded.scores)
        if not block.is_full:
            block.fill_behind(scores, -np.inf)
        n_labelled = self._n_labelled[groups]
        if _is_descending(scores):
            self.ways.add(IN_ORDER)
            self._mark_ties(groups, block, scores)
        elif n_labelled.max() <= _FEW_AT_MOST and n_labelled.sum() <= _FEW * groups.size:
            self.ways.add(BY_COUNTING)
            self._count(groups, scores)
        else:
            self.ways.add(BY_SORTING)
            self._sort(groups, block, scores)

    @cached_property
    def _code_of_row(self) -> Codes:
        """The level of each row, all bits set for one without label."""
        if self._graded.places is None:
            return self._graded.codes
        codes = np.full(int(self._graded.offsets[-1]), self._unlabelled, dtype=self._codes.dtype)
        codes[self._graded.places] = self._graded.codes
        return codes

    def _mark_ties(self, groups: Index, block: GroupMatrix, scores: Scores) -> None:
        """Mark the groups, in order, in which neighbours share their score and not their level."""
        repeats = block.repeats(scores)
        if repeats.any():
            codes = block.taken(self._code_of_row)
            repeats[:, 1:] &= codes[:, 1:] != codes[:, :-1]
            self._tied[groups[repeats.any(axis=1)]] = True

    def _count(self, groups: Index, scores: Scores) -> None:
        """Rank the labelled rows of some groups, few in each, by counting better scores."""
        graded, places = self._graded, self._places
        axis = int(scores.shape[1] > _NARROW)  # the axis along which a group lies
        matrix = scores if axis else np.ascontiguousarray(scores.T)
        items, n_labelled = graded.bounds[groups], self._n_labelled[groups]
        more_than = groups.size - np.cumsum(np.bincount(n_labelled))
        for done, n_groups in enumerate(more_than[:-1].tolist()):
            if done == 1:
                most_first = np.argsort((_FEW_AT_MOST - n_labelled).astype(np.uint8), kind="stable")[:n_groups]
                groups, items, matrix = groups[most_first], items[most_first], matrix.take(most_first, axis=1 - axis)
            groups, some = groups[:n_groups], items[:n_groups] + done
            matrix = matrix[:n_groups] if axis else matrix[:, :n_groups]
            own = graded.scores[some if graded.places is None else graded.places[some]]
            if axis:
                own = own[:, None]
            found = graded.offsets[groups] + _counted(matrix > own, axis)
            alike = matrix == own
            if np.count_nonzero(alike) > n_groups:
                self._tied[groups[_counted(alike, axis) > 1]] = True
            if places is None:
                self._codes[found] = graded.codes[some]
            else:
                places[some] = found

    def _sort(self, groups: Index, block: GroupMatrix, scores: Scores) -> None:
        """Rank the rows of some groups by sorting their scores, which give up their last bits to carry the level."""
        keys = ordered_bits(np.subtract(0.0, scores, dtype=np.float64))  # never -0.0
        keys &= ~self._unlabelled
        keys |= block.taken(self._code_of_row)
        block.fill_behind(keys, _BEHIND)
        keys.sort(axis=1)
        unlike = (keys[:, 1:] ^ keys[:, :-1]).view(np.uint64)  # below 2**bits where neighbours differ in level alone
        unlike -= np.uint64(1)  # what is 0 becomes the largest
        close = np.flatnonzero(unlike < self._unlabelled)
        if close.size:
            self._tied[groups[close // unlike.shape[1]]] = True
        keys &= self._unlabelled
        codes = keys.astype(self._codes.dtype)
        if self._places is None:
            block.put(codes, self._codes)
            return
        n_labelled = self._n_labelled[groups]
        items = segment_rows(self._graded.bounds[groups], n_labelled)
        at = np.flatnonzero(codes.ravel() != self._unlabelled)
        row_starts = np.arange(groups.size) * codes.shape[1]
        self._codes[items] = codes.ravel()[at]
        self._places[items] = at + np.repeat(block.starts[:, 0] - row_starts, n_labelled)

    def _by_place(self, places: Index, codes: Codes) -> tuple[Index, Codes]:
        """Return places in ascending order, each with its level."""
        keys = places << self._bits
        keys |= codes
        keys.sort(kind="stable")  # fast if almost everything is in place
        codes = (keys & self._unlabelled).astype(codes.dtype)
        keys >>= self._bits
        return keys, codes

    def _sorted_part(self, groups: Index) -> SomeLists:
        """Return the lists of some groups in exact order, equal scores in input order, and correct their items."""
        graded, lengths, n_labelled = self._graded, self._graded.lengths[groups], self._n_labelled[groups]
        offsets, bounds = (np.concatenate([[0], np.cumsum(counts)]) for counts in (lengths, n_labelled))
        rows = segment_rows(graded.offsets[groups], lengths)
        scores = graded.scores[rows]
        order = descending_order(scores, offsets)
        items = segment_rows(graded.bounds[groups], n_labelled)
        codes, places = graded.codes[items], None
        if graded.places is None or self._places is None:
            codes = codes[order]
        else:
            shifts = np.repeat(graded.offsets[groups] - offsets[:-1], n_labelled)
            place_of_row = np.empty_like(order)
            place_of_row[order] = np.arange(order.size)
            places, codes = self._by_place(place_of_row[graded.places[items] - shifts], codes)
            self._places[items] = places + shifts
        self._codes[items] = codes
        lists = GradedList(scores[order], offsets, graded.rows(rows[order]), places, codes, bounds, None)
        return SomeLists(groups, lists)


def _is_descending(scores: Scores) -> bool:
    """Return whether no row of a matrix rises; the first row usually decides."""
    return all(not (some[:, 1:] > some[:, :-1]).any() for some in (scores[:1], scores))


def _counted(flags: Mask, axis: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return how many flags are set along an axis, summed in the smallest integers that hold them, which is fastest."""
    counts: NDArray[np.unsignedinteger[Any]] = np.add.reduce(
        flags.view(np.uint8), axis=axis, dtype=np.min_scalar_type(flags.shape[axis])
    )
    return counts

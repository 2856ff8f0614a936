"""Spans of items of equal score: where they are, and which of them can change a value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.kernel.graded_list import Scores
from ndcg_tracker.rankings.grouping import group_blocks, segment_rows
from ndcg_tracker.rankings.keys import BLOCK
from ndcg_tracker.rankings.sorting import repeats_before
from ndcg_tracker.rankings.types import Index, Mask


@dataclass(frozen=True, slots=True)
class TieSpans:
    """Spans of places (ranks from 0, over all lists) of equal score, longer than one.

    ``first`` and ``last``: int64, shape (n_spans,), ascending, the ends of each span.
    """

    first: Index
    last: Index

    @property
    def lengths(self) -> Index:
        """How many places each span has."""
        return self.last - self.first + 1

    @property
    def bounds(self) -> Index:
        """Which of the ``members`` belong to each span: int64, shape (n_spans + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def members(self) -> Index:
        """Return the places of all spans, ascending."""
        return segment_rows(self.first, self.lengths)

    def only(self, kept: Mask | slice) -> TieSpans:
        """Return some of the spans."""
        return TieSpans(self.first[kept], self.last[kept])

    def parts(self) -> Iterator[TieSpans]:
        """Yield all spans, a cacheful of members at a time."""
        for first, last in group_blocks(self.bounds):
            yield self.only(slice(first, last))


def spans_with_differing(scores: Scores, offsets: Index, classes: NDArray[np.integer[Any]]) -> TieSpans:
    """Return the spans of equal scores that hold places of more than one class.

    Parameters: ``scores``, never rising within a group; ``offsets``: int64, shape (n_groups + 1,); ``classes``: shape
    (n_places,).

    >>> spans_with_differing(np.array([2.0, 1, 1, 0, 0]), np.array([0, 5]), np.array([0, 0, 1, 1, 1]))
    TieSpans(first=array([1]), last=array([2]))
    """
    found = [np.zeros((2, 0), dtype=np.int64)]
    for first, last in group_blocks(offsets):
        low, high = int(offsets[first]), int(offsets[last])
        bounds = offsets[first : last + 1] - low
        repeats = repeats_before(scores[low:high], bounds)
        differs = np.zeros(high - low, dtype=np.bool_)
        np.not_equal(classes[low + 1 : high], classes[low : high - 1], out=differs[1:])
        differs &= repeats
        if differs.any():
            found.append(_spans_that_hold(differs, repeats, bounds) + low)
    return TieSpans(*np.concatenate(found, axis=1))


def _spans_that_hold(marked: Mask, repeats: Mask, offsets: Index) -> Index:
    """Return the first and the last place of the spans with a marked place: int64, shape (2, n_spans)."""
    held = np.flatnonzero(np.diff(np.searchsorted(np.flatnonzero(marked), offsets)))
    rows = segment_rows(offsets[held], offsets[held + 1] - offsets[held])  # the lists that hold one, and no others
    starts = np.flatnonzero(~repeats[rows])
    wanted = np.logical_or.reduceat(marked[rows], starts)
    ends = np.append(starts[1:], rows.size) - 1
    return np.stack([rows[starts[wanted]], rows[ends[wanted]]])


def spans_around(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index, Index]:
    """Return the spans of equal scores around some places.

    Parameters: ``scores``, never rising within a group; ``offsets``, int64, shape (n_groups + 1,); ``places``, int64,
    ascending. Returns: int64: the entries of ``places`` whose span is longer than one, and the first and the last
    place of the span of each of these.

    >>> [found.tolist() for found in spans_around(np.array([2.0, 1, 1, 1]), np.array([0, 3, 4]), np.array([0, 2, 3]))]
    [[1], [1], [2]]
    """
    tied = _tied(scores, offsets, places)
    if not tied.size:
        return tied, tied, tied
    return tied, *_ends(scores, offsets, places[tied])


def _tied(scores: Scores, offsets: Index, places: Index) -> Index:
    """Return the entries of ``places`` with the place before or after in their group being of equal score."""
    tied = np.zeros(places.size, dtype=np.bool_)
    for first in range(0, places.size, BLOCK):  # what a block reads again is in the cache still
        block = places[first : first + BLOCK]
        here = scores[block]
        for step in (-1, 1):
            alike = np.flatnonzero(here == scores.take(block + step, mode="clip"))
            group = np.searchsorted(offsets, block[alike], "right")
            other = block[alike] + step
            tied[first + alike[(offsets[group - 1] <= other) & (other < offsets[group])]] = True
    return np.flatnonzero(tied)


def _ends(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index]:
    """Return the first and the last place of the span of equal scores around each place."""
    held = np.zeros(offsets.size - 1, dtype=np.bool_)
    held[np.searchsorted(offsets, places, "right") - 1] = True
    groups = np.flatnonzero(held)
    lengths = offsets[groups + 1] - offsets[groups]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    if 4 * bounds[-1] > scores.size:
        return _ends_in_all(scores, offsets, places)
    rows = segment_rows(offsets[groups], lengths)  # the lists that hold such a place, and no others
    first, last = _ends_in_all(scores[rows], bounds, np.searchsorted(rows, places))
    return rows[first], rows[last]


def _ends_in_all(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index]:
    starts = np.flatnonzero(~repeats_before(scores, offsets))
    span = np.searchsorted(starts, places, "right") - 1
    return starts[span], np.append(starts[1:], scores.size)[span] - 1

"""Grades as the levels that occur, and which levels are worth the same to a metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.keys import BLOCK
from ndcg_tracker.rankings.types import Floats, Index

Codes = NDArray[np.integer[Any]]
"""The level of each item: one byte each where the levels are few, since every pass reads them all."""

_BYTE = 256
_FIELD = 16  # bits of one count where four of them share a word
_FIELDS = 4
_MOST_PACKED = 2 * _FIELDS + 1


@dataclass(frozen=True, slots=True)
class GradeLevels:
    """The distinct grades and which of them each label has.

    ``levels``: float64, ascending. ``codes``: integer, shape (n_labels,), ``levels[codes]`` are the grades.
    """

    levels: Floats
    codes: Codes

    @classmethod
    def of(cls, grades: Floats) -> GradeLevels:
        """Return the levels of some grades: by counting where the grades are small integers, else by sorting.

        >>> found = GradeLevels.of(np.array([2.0, 0.0, 2.0]))
        >>> found.levels.tolist(), found.codes.tolist()
        ([0.0, 2.0], [1, 0, 1])
        """
        small = _as_bytes(grades)
        if small is not None:
            present = _present(small)
            if present.size == int(present[-1]) + 1:
                return cls(present.astype(np.float64), small)
            code_of = np.zeros(_BYTE, dtype=np.uint8)
            code_of[present] = np.arange(present.size)
            return cls(present.astype(np.float64), code_of[small])
        ascending = np.sort(grades)  # np.unique would sort places too, which takes several times as long
        levels = ascending[np.append(True, ascending[1:] != ascending[:-1])] if ascending.size else ascending
        codes = np.searchsorted(levels, grades)
        return cls(levels, codes.astype(np.uint8) if levels.size < _BYTE else codes)


def _as_bytes(grades: Floats) -> NDArray[np.uint8] | None:
    """Return the grades as bytes, None if one of them is not an integer from 0 to 255."""
    if not grades.size:
        return None
    small = np.empty(grades.size, dtype=np.uint8)
    for first in range(0, grades.size, BLOCK):
        block, as_bytes = grades[first : first + BLOCK], small[first : first + BLOCK]
        with np.errstate(invalid="ignore"):  # what no byte can hold comes out as another number
            np.copyto(as_bytes, block, casting="unsafe")
        if not (as_bytes == block).all():
            return None
    return small


def _present(small: NDArray[np.uint8]) -> Index:
    """Return which bytes occur, ascending: comparing is faster than counting while there are few to compare with."""
    largest = int(small.max())
    if largest > _BYTE // 8:
        return np.flatnonzero(np.bincount(small))
    return np.array([value for value in range(largest + 1) if (small == value).any()], dtype=np.int64)


def level_counts(codes: Codes, offsets: Index, n_levels: int) -> Index:
    """Return how many items of each level each group has: int64, shape (n_levels, n_groups).

    Parameters: ``codes``, the level of each item, group by group; ``offsets``: int64, shape (n_groups + 1,).

    >>> level_counts(np.array([1, 0, 1, 1]), np.array([0, 3, 3, 4]), 2).tolist()
    [[1, 0, 0], [2, 0, 1]]
    """
    lengths = np.diff(offsets)
    if n_levels > _MOST_PACKED or int(lengths.max(initial=0)) >= 1 << _FIELD:
        cells = group_codes(offsets) * n_levels + codes
        counted = np.bincount(cells, minlength=lengths.size * n_levels)
        return np.ascontiguousarray(counted.reshape(lengths.size, n_levels).T)
    counts = np.zeros((n_levels, lengths.size), dtype=np.int64)
    filled = np.flatnonzero(lengths)
    for first in range(1, n_levels, _FIELDS):
        levels = range(first, min(first + _FIELDS, n_levels))
        packed = _packed_counts(codes, offsets, filled, n_levels, levels)
        for level in levels:
            counts[level, filled] = (packed >> _FIELD * (level - first)) & ((1 << _FIELD) - 1)
    counts[:1] = lengths - counts[1:].sum(axis=0)
    return counts


def _packed_counts(codes: Codes, offsets: Index, filled: Index, n_levels: int, levels: range) -> NDArray[np.uint64]:
    """Return the counts of up to four levels side by side in one word per group that has items: uint64."""
    worth = np.zeros(n_levels, dtype=np.uint64)
    worth[levels] = [1 << _FIELD * (level - levels[0]) for level in levels]
    packed = np.zeros(filled.size, dtype=np.uint64)
    starts = offsets[filled]
    n_groups = filled.size
    first = 0
    while first < n_groups:
        last = min(max(int(np.searchsorted(starts, starts[first] + BLOCK)), first + 1), n_groups)
        low = int(starts[first])
        high = int(starts[last]) if last < n_groups else int(offsets[-1])
        packed[first:last] = np.add.reduceat(worth.take(codes[low:high]), starts[first:last] - low)
        first = last
    return packed


@dataclass(frozen=True, slots=True)
class GainClasses:
    """The levels by what they gain.

    ``of_level``: int64, shape (n_levels,), ascending with the gain. ``gains``: float64, the gain of each class.
    ``levels``: int64, a level of each class. ``unlabelled``: the class of items without label, -1 where they are like
    no labelled item. ``other_gain``: what an item without label gains.
    """

    of_level: Index
    gains: Floats
    levels: Index
    unlabelled: int
    other_gain: float

    @classmethod
    def of(cls, level_gains: Floats, other_gain: float, *, every: bool) -> GainClasses:
        """Return the classes of levels with these gains; ``every``: whether it matters that an item has a label.

        >>> classes = GainClasses.of(np.array([0.0, 5.0, 5.0]), 0.0, every=False)
        >>> classes.of_level.tolist(), classes.gains.tolist(), classes.unlabelled
        ([0, 1, 1], [0.0, 5.0], 0)
        """
        gains, levels, of_level = np.unique(level_gains, return_index=True, return_inverse=True)
        alike = np.flatnonzero(gains == other_gain)
        return cls(of_level, gains, levels, int(alike[0]) if alike.size and not every else -1, other_gain)

    @property
    def key(self) -> tuple[bytes, int]:
        """What classes have in common under which the same spans of equal scores matter."""
        return self.of_level.tobytes(), self.unlabelled

    def of_codes(self, codes: Codes) -> Codes:
        """Return the class of items of some levels."""
        if np.array_equal(self.of_level, np.arange(self.of_level.size)):
            return codes
        return self.of_level.astype(codes.dtype)[codes]

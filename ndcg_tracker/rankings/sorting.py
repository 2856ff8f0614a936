"""Sorting within groups: groups of similar length side by side, as the rows of one padded matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.keys import Hash, Index, Mask

_BLOCK = 1 << 16  # places of a matrix: a few of them fit into the cache
_LAST = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class _Block:
    """Some groups as a matrix: ``rows`` and ``inside``, shape (n_groups, width); places not inside repeat a row."""

    rows: Index
    inside: Mask

    @property
    def is_full(self) -> bool:
        """Whether all groups are of the same length."""
        return bool(self.inside[0, -1])  # the groups ascend in length


def _blocks(offsets: Index) -> Iterator[_Block]:
    lengths = np.diff(offsets)
    by_length = np.argsort(lengths, kind="stable")
    ascending = lengths[by_length]
    first = int(np.searchsorted(ascending, 0, "right"))
    while first < by_length.size:
        limit = max(int(ascending[first]) * 5 // 4, 8)
        last = int(np.searchsorted(ascending, limit, "right"))
        groups = by_length[first : min(last, first + max(_BLOCK // limit, 1))]
        first += groups.size
        sizes = lengths[groups][:, None]
        column = np.arange(int(sizes[-1, 0]))
        yield _Block(offsets[groups][:, None] + np.minimum(column, sizes - 1), column < sizes)


def descending_order(values: NDArray[np.floating[Any]], offsets: Index) -> Index:
    """Return the rows with each group's values in descending order, equal values in their present order.

    NumPy sorts integers several times faster than it finds their order. So a value gives up its last bits to carry
    its place through the sort, and groups in which those bits decide are sorted again, exactly.

    >>> descending_order(np.array([1.0, 3.0, 1.0, 0.5, 0.7]), np.array([0, 3, 5])).tolist()
    [1, 0, 2, 4, 3]
    """
    order = np.empty(values.size, dtype=np.int64)
    for block in _blocks(offsets):
        n_places = block.rows.shape[1]
        place_bits = np.int64((1 << (n_places - 1).bit_length()) - 1)
        rising = 0.0 - values[block.rows].astype(np.float64)  # never -0.0
        keys = _ordered_bits(rising) & ~place_bits | np.arange(n_places)
        keys[~block.inside] = _LAST
        keys.sort(axis=1)
        places = np.minimum(keys & place_bits, n_places - 1)
        found = np.take_along_axis(rising, places, axis=1)
        wrong = ((found[:, 1:] < found[:, :-1]) & block.inside[:, 1:]).any(axis=1)
        if wrong.any():
            exact = np.where(block.inside[wrong], rising[wrong], np.inf)
            places[wrong] = np.argsort(exact, axis=1, kind="stable")
        sorted_rows = block.rows[:, :1] + places
        if block.is_full:
            order[block.rows] = sorted_rows
        else:
            order[block.rows[block.inside]] = sorted_rows[block.inside]
    return order


def _ordered_bits(values: NDArray[np.float64]) -> Index:
    """Return integers that are ordered as the values are (without NaN and -0.0)."""
    bits = values.view(np.int64)
    return bits ^ ((bits >> 63) & _LAST)


def repeats_within_groups(hashes: Hash, offsets: Index) -> bool:
    """Return whether some hash stands twice in a group.

    >>> repeats_within_groups(np.array([5, 7, 7, 7], dtype=np.uint64), np.array([0, 2, 3, 4]))
    False
    """
    for block in _blocks(offsets):
        inside = hashes[block.rows]
        inside[~block.inside] = np.iinfo(np.uint64).max
        inside.sort(axis=1)
        if ((inside[:, 1:] == inside[:, :-1]) & block.inside[:, 1:]).any():
            return True
    return False

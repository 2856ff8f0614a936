"""Sort within groups: groups of similar length form the rows or columns of one padded matrix for NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.keys import Keys

_BLOCK = 1 << 16  # places of a matrix, so that a few matrices fit the cache

Number = TypeVar("Number", bound=np.generic)


def similar_groups(lengths: Index, n_places: int = _BLOCK) -> Iterator[Index]:
    """Yield all nonempty groups by ascending length, several of similar length at a time.

    Parameters: ``n_places``: about how many places the groups of one step may have together, including padding.

    >>> [groups.tolist() for groups in similar_groups(np.array([9, 0, 1, 10, 1]))]
    [[2, 4], [0, 3]]
    """
    longest = int(lengths.max(initial=0))
    # NumPy sorts 16-bit integers by counting, an order of magnitude faster
    by_length = np.argsort(lengths.astype(np.uint16) if longest < 1 << 16 else lengths, kind="stable")
    ascending = lengths[by_length]
    first = int(np.searchsorted(ascending, 0, "right"))
    while first < by_length.size:
        limit = int(ascending[first]) * 5 // 4
        last = int(np.searchsorted(ascending, limit, "right"))
        groups = by_length[first : min(last, first + max(n_places // limit, 1))]
        first += groups.size
        yield groups


def windows(values: NDArray[Number], width: int) -> NDArray[Number]:
    """Return all windows of ``width`` neighbouring values: a view, shape (n_values - width + 1, width).

    Each window is copied in one piece, several times as fast as single values. Parameters: ``values``, contiguous in
    memory (else ValueError); ``width``: from 1 to ``values.size``.

    >>> windows(np.array([1, 2, 3, 4]), 3).tolist()
    [[1, 2, 3], [2, 3, 4]]
    """
    return np.ndarray((values.size - width + 1, width), values.dtype, values, strides=values.strides * 2)


@dataclass(frozen=True, slots=True)
class GroupMatrix:
    """Some groups, by ascending length, as the rows of a matrix that is as wide as the longest group.

    ``starts`` and ``sizes``: int64, shape (n_groups, 1), the first row and the length of each group.
    """

    starts: Index
    sizes: Index

    @property
    def shape(self) -> tuple[int, int]:
        """How many groups there are, and the length of the longest."""
        return len(self.sizes), int(self.sizes[-1, 0])

    @property
    def is_full(self) -> bool:
        """Whether all groups have the same length."""
        return bool(self.sizes[0, 0] == self.sizes[-1, 0])

    @property
    def span(self) -> slice | None:
        """The rows of the groups if they are contiguous and of one length, else None."""
        n_groups, width = self.shape
        first, last = int(self.starts[0, 0]), int(self.starts[-1, 0])
        return slice(first, last + width) if self.is_full and last - first == (n_groups - 1) * width else None

    def taken(self, values: NDArray[Number]) -> NDArray[Number]:
        """Return the values (contiguous in memory) at each place; after the end of a group, whatever values follow."""
        span = self.span
        if span is not None:
            return values[span].reshape(self.shape)
        width = self.shape[1]
        if int(self.starts.max()) + width <= values.size:
            return windows(values, width)[self.starts[:, 0]]
        return values.take(self.starts + np.arange(width), mode="clip")

    def fill_behind(self, matrix: NDArray[Any], value: float) -> None:
        """Set the places after the end of a group to one value."""
        least = int(self.sizes[0, 0])
        behind = matrix[:, least:]
        behind[np.arange(least, self.shape[1]) >= self.sizes] = value

    def repeats(self, matrix: NDArray[Any]) -> Mask:
        """Return which places inside a group have the same value as the place before: bool, shape of the matrix."""
        repeated = np.zeros(self.shape, dtype=np.bool_)
        np.equal(matrix[:, 1:], matrix[:, :-1], out=repeated[:, 1:])
        self.fill_behind(repeated, False)
        return repeated

    def put(self, values: NDArray[Number], out: NDArray[Number]) -> None:
        """Write the values inside the groups to their rows."""
        span = self.span
        if span is not None:
            out[span] = values.ravel()
            return
        least = int(self.sizes[0, 0])
        windows(out, least)[self.starts[:, 0]] = values[:, :least]
        column = np.arange(least, self.shape[1])
        inside = column < self.sizes
        out[(self.starts + column)[inside]] = values[:, least:][inside]


def group_matrices(offsets: Index) -> Iterator[GroupMatrix]:
    """Yield all nonempty groups, as matrices of about the same size."""
    lengths = np.diff(offsets)
    for groups in similar_groups(lengths):
        yield GroupMatrix(offsets[groups][:, None], lengths[groups][:, None])


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """Some groups as the columns of a matrix; row r holds the value of each group at place r, from 0.

    ``groups``: int64, shape (n,), ascending in length; ``lengths``: int64, shape (n,), at least 1.
    """

    groups: Index
    lengths: Index

    @property
    def width(self) -> int:
        """How many rows the matrix has: the length of the longest group."""
        return int(self.lengths[-1])

    def taken(self, values: NDArray[Number], starts: Index) -> NDArray[Number]:
        """Return the values at each place: shape (width, n); after the end of a group, whatever values follow.

        Parameters: ``values``: group by group, contiguous in memory; ``starts``: int64, shape (n,), where each group
        begins.
        """
        if int(starts.max()) + self.width <= values.size:
            return np.ascontiguousarray(windows(values, self.width)[starts].T)
        return values.take(starts + np.arange(self.width)[:, None], mode="clip")

    def clear_behind(self, terms: Floats) -> None:
        """Set the places after the end of a group to 0."""
        least = int(self.lengths[0])
        if least < self.width:
            terms[least:] *= np.arange(least, self.width)[:, None] < self.lengths


def group_columns(lengths: Index) -> Iterator[GroupColumns]:
    """Yield all nonempty groups, in parts that fit the cache."""
    for groups in similar_groups(lengths):
        yield GroupColumns(groups, lengths[groups])


_FEW = 8  # up to this many numbers are sorted by comparing each with each
_LAST = np.iinfo(np.int64).max
_WORD = 8


def descending_order(values: NDArray[np.floating[Any]], offsets: Index) -> Index:
    """Return the rows with each group's values in descending order, equal values in their current order.

    NumPy sorts integers several times faster than it computes their order. So the place of each value replaces its last
    bits, and groups in which those bits matter are sorted again, exactly. 500,000 values in groups of 100 take 2 ms,
    and 84 ms with ``np.lexsort`` (``benchmarks/tricks.py``).

    >>> descending_order(np.array([1.0, 3.0, 1.0, 0.5, 0.7]), np.array([0, 3, 5])).tolist()
    [1, 0, 2, 4, 3]
    """
    values = np.ascontiguousarray(values)
    order = np.empty(values.size, dtype=np.int64)
    for block in group_matrices(offsets):
        width = block.shape[1]
        place_bits = np.int64((1 << (width - 1).bit_length()) - 1)
        rising = np.subtract(0.0, block.taken(values), dtype=np.float64)  # never -0.0
        keys = ordered_bits(rising)
        keys &= ~place_bits
        keys |= np.arange(width)
        block.fill_behind(keys, _LAST)
        keys.sort(axis=1)
        places = keys & place_bits
        keys >>= int(place_bits).bit_length()
        repeated = np.flatnonzero(block.repeats(keys))
        if repeated.size:
            _mend(places, rising, repeated, block.sizes)
        places += block.starts
        block.put(places, order)
    return order


def _mend(places: Index, rising: NDArray[np.float64], repeated: Index, sizes: Index) -> None:
    """Correct the groups in which values that differ only in their last bits are not in exact order.

    Parameters: ``repeated``: int64, the places, over all rows, that equal the place before in their group except in
    these bits.
    """
    width = places.shape[1]
    rows = repeated // width
    place_at, value_at = places.ravel(), rising.ravel()
    here, before = (value_at[rows * width + place_at[at]] for at in (repeated, repeated - 1))
    wrong = np.unique(rows[here < before])
    if wrong.size:
        exact = np.where(np.arange(width) < sizes[wrong], rising[wrong], np.inf)
        places[wrong] = np.argsort(exact, axis=1, kind="stable")


def ordered_bits(values: NDArray[np.float64]) -> Index:
    """Return integers in the same order as the values (without NaN and -0.0)."""
    bits = values.view(np.int64)
    flips = bits >> 63
    flips &= _LAST
    flips ^= bits
    return flips


def ascending_order(numbers: NDArray[np.integer[Any]], offsets: Index) -> Index:
    """Return the rows with each group's numbers in ascending order; they must not hold the largest number of the type.

    Equal numbers may change places in groups of more than a few rows.

    >>> ascending_order(np.array([7, 5, 5, 4]), np.array([0, 3, 4])).tolist()
    [1, 2, 0, 3]
    """
    order = np.empty(numbers.size, dtype=np.int64)
    lengths = np.diff(offsets)
    behind = np.iinfo(numbers.dtype).max
    for block in group_columns(lengths):
        starts = offsets[block.groups]
        column = np.arange(block.width)[:, None]
        rows = starts + column
        matrix = block.taken(numbers, starts)
        inside = column < block.lengths
        matrix[~inside] = behind
        if column.size <= _FEW:
            order[(starts + _ranks(matrix))[inside]] = rows[inside]
        else:
            sources = np.argsort(matrix.T, axis=1).T
            order[rows[inside]] = (starts + sources)[inside]
    return order


def _ranks(columns: NDArray[np.integer[Any]]) -> NDArray[np.uint8]:
    """Return the rank of each number in its short column, from 0, by comparing each with each."""
    ranks = np.zeros(columns.shape, dtype=np.uint8)
    for upper in range(len(columns)):
        for lower in range(upper + 1, len(columns)):
            in_order = columns[upper] <= columns[lower]
            ranks[lower] += in_order
            ranks[upper] += ~in_order
    return ranks


def repeats_before(values: NDArray[Any], offsets: Index) -> Mask:
    """Return whether each value equals the one before it in its group: bool, shape (n_rows,).

    >>> repeats_before(np.array([2.0, 1.0, 1.0, 1.0]), np.array([0, 3, 4])).tolist()
    [False, False, True, False]
    """
    repeats = np.zeros(values.size, dtype=np.bool_)
    np.equal(values[1:], values[:-1], out=repeats[1:])
    repeats[offsets[offsets < values.size]] = False
    return repeats


def repeats_within_groups(numbers: NDArray[np.integer[Any]], offsets: Index) -> bool:
    """Return whether any number appears twice in a group.

    >>> repeats_within_groups(np.array([5, 7, 7, 7], dtype=np.uint64), np.array([0, 2, 3, 4]))
    False
    """
    for block in group_matrices(offsets):
        matrix = block.taken(numbers)
        if block.span is not None:
            matrix = matrix.copy()
        block.fill_behind(matrix, np.iinfo(matrix.dtype).max)
        matrix.sort(axis=1)
        if block.repeats(matrix).any():
            return True
    return False


def id_order(keys: Keys, rows: Index, offsets: Index) -> Index:
    """Return the entries of ``rows`` with the ids of each span in ascending byte order: int64, shape of ``rows``.

    Parameters: ``rows``: int64, rows of ``keys``, span by span; ``offsets``: int64, shape (n_spans + 1,), span ``r``
    owns the entries ``offsets[r]:offsets[r + 1]``. The ids of a span are distinct.

    >>> id_order(Keys.from_strings(["b", "a", "ab", "c"]), np.array([0, 1, 2, 3]), np.array([0, 3, 4])).tolist()
    [1, 2, 0, 3]
    """
    if keys.numbers is not None:  # so that only the text of these rows is created
        keys, rows = keys.take(rows), np.arange(rows.size)
    order = np.arange(rows.size)
    starts, ends = keys.offsets[rows], keys.offsets[rows + 1]
    places, bounds, done = order.copy(), offsets, 0  # places not yet in order, in spans of ids that are equal so far
    while places.size:
        entries = order[places]
        remaining = ends[entries] - starts[entries] - done
        if remaining.max() <= 0:
            break
        words = keys.words(np.minimum(starts[entries] + done, ends[entries]), np.maximum(remaining, 0)).byteswap()
        if (words != words[0]).any():
            placed = ascending_order(words, bounds)
            order[places], words = entries[placed], words[placed]
        kept, bounds = _spans_of_repeats(repeats_before(words, bounds))
        places, done = places[kept], done + _WORD
    return order


def _spans_of_repeats(repeats: Mask) -> tuple[Index, Index]:
    """Return the entries that equal the entry before or after, and the bounds of their spans."""
    repeated = np.append(repeats[1:], False)
    kept = np.flatnonzero(repeats | repeated)
    return kept, np.append(np.flatnonzero(~repeats[kept]), kept.size)

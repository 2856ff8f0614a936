"""Group rows that are in any order, without a loop over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings import Index, Numbers
from ndcg_tracker.rankings.keys import BLOCK, Keys

_MANY = 1 << 12  # below this many ids a dictionary is as fast
_SPARSE = 4  # a range of numbers at most this many times as wide as the number of rows becomes a table
_BITS = 63


@dataclass(frozen=True, slots=True)
class Grouping:
    """Which rows belong to which group.

    ``keys``: one id per group, in order of first appearance. ``offsets``: int64, shape (n_groups + 1,): group ``g``
    owns the rows ``offsets[g]:offsets[g + 1]`` of the grouped table. ``rows``: the row of the input at each
    place of the grouped table, None if the input was already grouped.
    """

    keys: Keys
    offsets: Index
    rows: Index | None

    def of_groups(self, places: Index) -> Grouping:
        """Return the grouping of only some groups: int64, ascending.

        >>> grouping = grouped(Keys.from_strings(["q1", "q2", "q1"])).of_groups(np.array([0]))
        >>> grouping.keys.to_list(), grouping.offsets.tolist(), grouping.rows.tolist()
        (['q1'], [0, 2], [0, 2])
        """
        lengths = np.diff(self.offsets)[places]
        rows = segment_rows(self.offsets[places], lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return Grouping(self.keys.take(places), offsets, rows if self.rows is None else self.rows[rows])


def grouped(group_keys: Keys) -> Grouping:
    """Return the grouping of a column that names the group of each row; rows of a group keep their order.

    >>> grouping = grouped(Keys.from_strings(["q1", "q2", "q1"]))
    >>> grouping.keys.to_list(), grouping.offsets.tolist(), grouping.rows.tolist()
    (['q1', 'q2'], [0, 2, 3], [0, 2, 1])
    """
    n_rows = len(group_keys)
    later = np.arange(1, n_rows)
    starts = np.concatenate([[0], later[~group_keys.equal(later, group_keys, later - 1)]])[:n_rows]
    return grouped_spans(group_keys.take(starts), np.diff(starts, append=n_rows))


def grouped_spans(span_keys: Keys, lengths: Index) -> Grouping:
    """Return the grouping of spans of rows, each of which belongs to one group; ``lengths``: int64, shape (n_spans,).

    >>> grouping = grouped_spans(Keys.from_strings(["q1", "q2", "q1"]), np.array([1, 2, 1]))
    >>> grouping.offsets.tolist(), grouping.rows.tolist()
    ([0, 2, 4], [0, 3, 1, 2])
    """
    codes, firsts = first_codes(span_keys)
    keys = span_keys if firsts.size == len(span_keys) and span_keys.numbers is None else span_keys.take(firsts)
    if firsts.size == codes.size:
        counts = lengths
    else:
        weights = lengths if lengths.strides[0] else None  # None if every span is one row
        counts = np.bincount(codes, weights, firsts.size).astype(np.int64, copy=False)
    offsets = np.zeros(firsts.size + 1, dtype=np.int64)
    np.cumsum(counts, out=offsets[1:])
    if not (codes[1:] < codes[:-1]).any():
        return Grouping(keys, offsets, None)
    if codes.size < offsets[-1]:
        codes = np.repeat(codes.astype(np.int64, copy=False), lengths)
    return Grouping(keys, offsets, stable_order(codes))


def first_codes(keys: Keys) -> tuple[Numbers, Index]:
    """Return the number of each id among the distinct ids, in order of first appearance, and where each first appears.

    Returns: int32 or int64, shape (n_ids,), and int64, shape (n_distinct,).

    >>> codes, firsts = first_codes(Keys.from_strings(["b", "a", "b"]))
    >>> codes.tolist(), firsts.tolist()
    ([0, 1, 0], [0, 1])
    """
    if keys.numbers is not None:
        return _codes_of_numbers(keys.numbers)
    if len(keys) >= _MANY:
        codes, firsts = _codes_of_numbers(keys.hashes().view(np.int64))
        if keys.equal(np.arange(len(keys)), keys, firsts[codes]).all():
            return codes, firsts
    code_of: dict[bytes, int] = {}
    codes = np.array([code_of.setdefault(key, len(code_of)) for key in keys.to_bytes_list()], dtype=np.int64)
    firsts = np.empty(len(code_of), dtype=np.int64)
    firsts[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    return codes, firsts


def _codes_of_numbers(numbers: Numbers) -> tuple[Numbers, Index]:
    """Return the same as ``first_codes``, for distinct numbers."""
    n = numbers.size
    if not n:
        return np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
    if n == 1 or (numbers[1:] > numbers[:-1]).all():
        return np.arange(n), np.arange(n)
    least, most = int(numbers.min()), int(numbers.max())
    if most - least >= _SPARSE * n + _MANY:
        numbers = _dense(numbers)
        least, most = 0, int(numbers.max())
    first_at = np.full(most - least + 1, n, dtype=np.int64)
    for end in range(n, 0, -BLOCK):  # of several assignments to one place, the last one counts
        start = max(end - BLOCK, 0)
        first_at[numbers[start:end][::-1] - least] = np.arange(end - 1, start - 1, -1)
    present = np.flatnonzero(first_at < n)
    in_order = np.argsort(first_at[present])
    firsts = first_at[present[in_order]]
    code_of = np.empty(first_at.size, dtype=np.int32 if firsts.size < 1 << 31 else np.int64)
    code_of[present[in_order]] = np.arange(firsts.size)
    codes = np.empty(n, dtype=code_of.dtype)
    for start in range(0, n, BLOCK):
        codes[start : start + BLOCK] = code_of[numbers[start : start + BLOCK] - least]
    return codes, firsts


def _dense(numbers: Numbers) -> Index:
    """Return the place of each number among the distinct numbers."""
    order = np.argsort(numbers)
    ascending = numbers[order]
    dense = np.empty(numbers.size, dtype=np.int64)
    dense[order] = np.cumsum(np.append(False, ascending[1:] != ascending[:-1]))
    return dense


def stable_order(codes: Numbers) -> Index:
    """Return the rows in ascending order of their codes (from 0), equal codes in their present order.

    Code and row are packed into one integer. NumPy sorts such integers 15 times as fast as it computes a stable order:
    for 500,000 rows of 50,000 groups this takes 2.4 ms, and ``np.argsort`` 35 ms (``benchmarks/tricks.py``).

    >>> stable_order(np.array([1, 0, 1, 0])).tolist()
    [1, 3, 0, 2]
    """
    n_bits = max(codes.size - 1, 1).bit_length()
    if int(codes.max(initial=0)).bit_length() + n_bits > _BITS:
        return np.argsort(codes, kind="stable")
    keys = codes.astype(np.int64)
    keys <<= n_bits
    for start in range(0, keys.size, BLOCK):
        keys[start : start + BLOCK] |= np.arange(start, min(start + BLOCK, keys.size))
    keys.sort()
    keys &= (1 << n_bits) - 1
    return keys


def group_codes(offsets: Index) -> Index:
    """Return the number of the group that each row belongs to: int64, shape (n_rows,).

    >>> group_codes(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def group_sums(groups: Index, numbers: NDArray[Any] | None, n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the numbers of each group (None: their count), in row order: float64, shape (n_groups,).

    >>> group_sums(np.array([0, 0, 2]), np.array([0.5, 1.0, 2.0]), 3).tolist()
    [1.5, 0.0, 2.0]
    """
    return np.bincount(groups, numbers, minlength=n_groups).astype(np.float64)


def segment_rows(starts: Index, lengths: Index) -> Index:
    """Return the row numbers of several segments, one after the other.

    >>> segment_rows(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if ends.size else 0)


def is_descending(values: NDArray[np.floating[Any]], offsets: Index) -> bool:
    """Return whether the values never increase within a group."""
    rises = values[1:] > values[:-1]
    rises[offsets[(offsets > 0) & (offsets < values.size)] - 1] = False
    return not rises.any()


def group_ranges(offsets: Index, n_rows: int = 1 << 16) -> Iterator[tuple[int, int]]:
    """Yield ranges of neighbouring groups (first, last exclusive) with about ``n_rows`` rows, to fit the cache.

    >>> list(group_ranges(np.array([0, 2, 3, 9, 10]), n_rows=3))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, n_groups = 0, offsets.size - 1
    while first < n_groups:
        last = int(np.searchsorted(offsets, offsets[first] + n_rows, "right")) - 1
        last = min(max(last, first + 1), n_groups)
        yield first, last
        first = last


def places_in(lengths: Index) -> Index:
    """Return the places of elements in lists of these lengths, from 1: int64.

    >>> places_in(np.array([2, 0, 1])).tolist()
    [1, 2, 1]
    """
    starts = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(1, int(lengths.sum()) + 1) - np.repeat(starts, lengths))

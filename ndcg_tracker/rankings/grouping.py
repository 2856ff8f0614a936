"""Rows in any order to rows group by group, without a loop over the rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Index


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


def grouped(group_keys: Keys) -> Grouping:
    """Return the grouping of a column that names the group of each row; rows of a group keep their order.

    >>> grouping = grouped(Keys.from_strings(["q1", "q2", "q1"]))
    >>> grouping.keys.to_list(), grouping.offsets.tolist(), grouping.rows.tolist()
    (['q1', 'q2'], [0, 2, 3], [0, 2, 1])
    """
    n_rows = len(group_keys)
    if n_rows == 0:
        return Grouping(group_keys, np.zeros(1, dtype=np.int64), None)
    later = np.arange(1, n_rows)
    starts = np.concatenate([[0], later[~group_keys.equal(later, group_keys, later - 1)]])
    span_keys = group_keys.take(starts).to_bytes_list()
    code_of: dict[bytes, int] = {}
    codes = [code_of.setdefault(key, len(code_of)) for key in span_keys]
    if len(code_of) == len(span_keys):
        return Grouping(Keys.from_bytes(span_keys), np.append(starts, n_rows), None)
    row_codes = np.repeat(np.array(codes), np.diff(starts, append=n_rows))
    offsets = np.zeros(len(code_of) + 1, dtype=np.int64)
    np.cumsum(np.bincount(row_codes, minlength=len(code_of)), out=offsets[1:])
    return Grouping(Keys.from_bytes(list(code_of)), offsets, np.argsort(row_codes, kind="stable"))


def group_codes(offsets: Index) -> Index:
    """Return the number of the group that each row belongs to: int64, shape (n_rows,).

    >>> group_codes(np.array([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def group_sums(groups: Index, numbers: NDArray[Any] | None, n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the numbers of each group (None: how many there are), in row order: float64, shape (n_groups,).

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
    """Return whether the values never rise within a group."""
    rises = values[1:] > values[:-1]
    rises[offsets[(offsets > 0) & (offsets < values.size)] - 1] = False
    return not rises.any()


def group_ranges(offsets: Index, n_rows: int = 1 << 16) -> Iterator[tuple[int, int]]:
    """Yield neighbouring groups (first, last, the last exclusive) of about ``n_rows`` rows: few enough for the cache.

    >>> list(group_ranges(np.array([0, 2, 3, 9, 10]), n_rows=3))
    [(0, 2), (2, 3), (3, 4)]
    """
    first, n_groups = 0, offsets.size - 1
    while first < n_groups:
        last = int(np.searchsorted(offsets, offsets[first] + n_rows, "right")) - 1
        last = min(max(last, first + 1), n_groups)
        yield first, last
        first = last

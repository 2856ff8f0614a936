"""Groups of similar length side by side, as rows or columns of one padded matrix that NumPy processes at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.types import Floats, Index, Mask

_BLOCK = 1 << 16  # places of a matrix, of which a few fit into the cache

Number = TypeVar("Number", bound=np.generic)


def similar_groups(lengths: Index, n_places: int = _BLOCK) -> Iterator[Index]:
    """Yield all groups that are not empty in ascending length, some of similar length at a time.

    Parameters: ``n_places``: about how many places the groups of one step may have together, padding included.

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

    Each window is copied at once, several times as fast as single values. Parameters: ``values``, side by
    side in memory (else ValueError); ``width``: from 1 to ``values.size``.

    >>> windows(np.array([1, 2, 3, 4]), 3).tolist()
    [[1, 2, 3], [2, 3, 4]]
    """
    return np.ndarray((values.size - width + 1, width), values.dtype, values, strides=values.strides * 2)


@dataclass(frozen=True, slots=True)
class GroupMatrix:
    """Some groups, ascending in length, as the rows of a matrix that is as wide as the longest of them.

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
        """Return the values (contiguous in memory) at each place; after the end of a group, whatever follows."""
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
        """Return which places inside a group have the value of the place before: bool, shape of the matrix."""
        found = np.zeros(self.shape, dtype=np.bool_)
        np.equal(matrix[:, 1:], matrix[:, :-1], out=found[:, 1:])
        self.fill_behind(found, False)
        return found

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
    """Yield all groups that are not empty, as matrices of about the same size."""
    lengths = np.diff(offsets)
    for groups in similar_groups(lengths):
        yield GroupMatrix(offsets[groups][:, None], lengths[groups][:, None])


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """Some groups as the columns of a matrix; its row r holds what each of them has at place r, from 0.

    ``groups``: int64, shape (n,), ascending in length; ``lengths``: int64, shape (n,), at least 1.
    """

    groups: Index
    lengths: Index

    @property
    def width(self) -> int:
        """How many rows the matrix has: the length of the longest group."""
        return int(self.lengths[-1])

    def taken(self, values: NDArray[Number], starts: Index) -> NDArray[Number]:
        """Return the values at each place: shape (width, n); after the end of a group, whatever follows.

        Parameters: ``values``: group by group, side by side in memory; ``starts``: int64, shape (n,), where those of
        each group begin.
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
    """Yield all groups that have a place, a cacheful at a time."""
    for groups in similar_groups(lengths):
        yield GroupColumns(groups, lengths[groups])

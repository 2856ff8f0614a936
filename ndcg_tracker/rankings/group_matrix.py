"""Groups of similar length side by side, as the rows of one padded matrix: what NumPy can work on at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.keys import Index, Mask

_BLOCK = 1 << 16  # places of a matrix: a few of them fit into the cache

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
        """Whether all groups are of the same length."""
        return bool(self.sizes[0, 0] == self.sizes[-1, 0])

    @property
    def span(self) -> slice | None:
        """The rows of the groups where they stand one after the other and are of one length, else None."""
        n_groups, width = self.shape
        first, last = int(self.starts[0, 0]), int(self.starts[-1, 0])
        return slice(first, last + width) if self.is_full and last - first == (n_groups - 1) * width else None

    def taken(self, values: NDArray[Number]) -> NDArray[Number]:
        """Return the values at each place; behind a group whatever follows."""
        span = self.span
        if span is not None:
            return values[span].reshape(self.shape)
        return values.take(self.starts + np.arange(self.shape[1]), mode="clip")

    def fill_behind(self, matrix: NDArray[Any], value: int) -> None:
        """Set the places behind the end of a group to one value."""
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
        """Write what stands inside the groups to their rows; ``out`` has one row more than there are, for the rest."""
        span = self.span
        if span is not None:
            out[span] = values.ravel()
            return
        rows = self.starts + np.arange(self.shape[1])
        self.fill_behind(rows, out.size - 1)
        out[rows] = values


def group_matrices(offsets: Index) -> Iterator[GroupMatrix]:
    """Yield all groups that are not empty, as matrices of about the same size."""
    lengths = np.diff(offsets)
    for groups in similar_groups(lengths):
        yield GroupMatrix(offsets[groups][:, None], lengths[groups][:, None])

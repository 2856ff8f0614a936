"""Sums over the ranks of all groups at once: groups of similar length side by side, added up rank by rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.group_matrix import similar_groups
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats

_NARROW = 16


@dataclass(frozen=True, slots=True)
class Columns:
    """Some groups as the columns of a matrix; its row r is for what each of them has at place r, from 0.

    ``groups``: int64, shape (n,), ascending in length; ``lengths``: int64, shape (n,), at least 1.
    """

    groups: Index
    lengths: Index

    @property
    def width(self) -> int:
        """How many rows the matrix has: the length of the longest group."""
        return int(self.lengths[-1])

    def rows(self, starts: Index) -> Index:
        """Return the row of a grouped table at each place: int64, shape (width, n); behind a group whatever follows.

        Parameters: ``starts``: int64, shape (n,), the first row of each group. What stands behind the last group may
        be no row at all.
        """
        return starts + np.arange(self.width)[:, None]

    def clear_behind(self, terms: Floats) -> None:
        """Set what stands behind the end of a group to 0."""
        least = int(self.lengths[0])
        if least < self.width:
            terms[least:] *= np.arange(least, self.width)[:, None] < self.lengths


def columns(lengths: Index) -> Iterator[Columns]:
    """Yield all groups that have a place, a cacheful at a time."""
    for groups in similar_groups(lengths):
        yield Columns(groups, lengths[groups])


def discounted_sums(
    starts: Index,
    lengths: Index,
    gains_at: Callable[[Index], Floats],
    weight_of_rank: Floats,
    cutoffs: Sequence[int],
) -> Floats:
    """Return the sums of gain x weight over the first ranks of each group, for some cutoffs at once.

    Parameters: ``starts`` and ``lengths``: int64, shape (n_groups,), the rows of each group; ``gains_at`` gives the
    gains (float64) of some rows, any number for what is no row; ``weight_of_rank``: float64, entry r for rank r;
    ``cutoffs``: ascending. Returns: float64, shape (n_cutoffs, n_groups), each added up rank after rank.
    """
    sums = np.zeros((len(cutoffs), lengths.size))
    for block in columns(np.minimum(lengths, cutoffs[-1])):
        terms = gains_at(block.rows(starts[block.groups]))
        terms *= weight_of_rank[1 : block.width + 1, None]
        block.clear_behind(terms)
        sums[:, block.groups] = prefix_sums(terms, cutoffs)
    return sums + 0.0  # no sum is -0.0


def weighted_sums(
    starts: Index,
    lengths: Index,
    gains_at: Callable[[Index], Floats],
    ranks_at: Callable[[Index, Index], Index],
    weights: Sequence[Floats],
) -> Floats:
    """Return the sums of gain x weight over the rows of each group, for some weights of the ranks at once.

    Parameters: see ``discounted_sums``; ``ranks_at`` gives the ranks of some rows of some groups; ``weights``: each
    float64, entry r for rank r. Returns: float64, shape (n_weights, n_groups), each added up row after row.
    """
    sums = np.zeros((len(weights), lengths.size))
    for block in columns(lengths):
        rows = block.rows(starts[block.groups])
        gains, ranks = gains_at(rows), ranks_at(rows, block.groups)
        block.clear_behind(gains)
        for number, weight_of_rank in enumerate(weights):
            sums[number, block.groups] = prefix_sums(gains * weight_of_rank.take(ranks, mode="clip"), [block.width])[0]
    return sums + 0.0  # no sum is -0.0


def prefix_sums(terms: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the sum of each column's first terms, for ascending cutoffs: float64, shape (n_cutoffs, n).

    Terms are added one after the other, as a loop over ranks would: NumPy adds whole rows of a wide matrix in turn,
    but splits a single column into partial sums. ``terms`` is written over.

    >>> prefix_sums(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]), [1, 3]).tolist()
    [[1.0, 2.0], [9.0, 6.0]]
    """
    width, n = terms.shape
    if n < _NARROW:
        return np.asarray(np.cumsum(terms, axis=0)[[min(cutoff, width) - 1 for cutoff in cutoffs]])
    sums = np.empty((len(cutoffs), n))
    done = 0
    for number, cutoff in enumerate(cutoffs):
        stop = min(cutoff, width)
        if stop > done:
            if done:
                terms[done - 1] = sums[number - 1]
            np.add.reduce(terms[max(done - 1, 0) : stop], axis=0, out=sums[number])
            done = stop
        else:
            sums[number] = sums[number - 1]
    return sums

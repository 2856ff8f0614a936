"""Sums over the ranks of all groups at once: groups of similar length side by side, added up rank by rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ndcg_tracker.metrics.kernel.levels import Codes
from ndcg_tracker.rankings.keys import BLOCK
from ndcg_tracker.rankings.padded import group_columns
from ndcg_tracker.rankings.types import Floats, Index

_NARROW = 16
_FEW = 8


def discounted_sums(
    starts: Index,
    lengths: Index,
    codes: Codes,
    level_gains: Floats,
    weight_of_rank: Floats,
    cutoffs: Sequence[int],
) -> Floats:
    """Return the sums of gain x weight over the first ranks of each group, for some cutoffs at once.

    Parameters: ``starts`` and ``lengths``: int64, shape (n_groups,), the rows of each group; ``codes``: the level of
    each row; ``level_gains``: float64, the gain of each level; ``weight_of_rank``: float64, entry r for rank r;
    ``cutoffs``: ascending. Returns: float64, shape (n_cutoffs, n_groups), each added up rank after rank.
    """
    sums = np.zeros((len(cutoffs), lengths.size))
    for block in group_columns(np.minimum(lengths, cutoffs[-1])):
        terms = level_gains.take(block.taken(codes, starts[block.groups]))
        terms *= weight_of_rank[1 : block.width + 1, None]
        block.clear_behind(terms)
        sums[:, block.groups] = prefix_sums(terms, cutoffs)
    return sums + 0.0  # no sum is -0.0


def weighted_sums(
    starts: Index,
    lengths: Index,
    codes: Codes,
    level_gains: Floats,
    places: Index,
    before: Index,
    weights: Sequence[Floats],
) -> Floats:
    """Return the sums of gain x weight over the rows of each group, for some weights of the ranks at once.

    Parameters: see ``discounted_sums``; ``places``: int64, the place of each row; ``before``: int64, shape (n_groups,),
    what a place is above the rank in its group; ``weights``: each float64, entry r for rank r. Returns: float64, shape
    (n_weights, n_groups), each added up row after row.
    """
    if lengths.size and codes.size == int(lengths.sum()) < _FEW * lengths.size:
        return _flat_sums(lengths, codes, level_gains, places, before, weights)
    sums = np.zeros((len(weights), lengths.size))
    for block in group_columns(lengths):
        of_groups = starts[block.groups]
        gains = level_gains.take(block.taken(codes, of_groups))
        ranks = block.taken(places, of_groups) - before[block.groups]
        block.clear_behind(gains)
        for number, weight_of_rank in enumerate(weights):
            sums[number, block.groups] = prefix_sums(gains * weight_of_rank.take(ranks, mode="clip"), [block.width])[0]
    return sums + 0.0  # no sum is -0.0


def _flat_sums(
    lengths: Index, codes: Codes, level_gains: Floats, places: Index, before: Index, weights: Sequence[Floats]
) -> Floats:
    """Return what ``weighted_sums`` does for all rows, group by group: faster if groups are short."""
    groups = np.repeat(np.arange(lengths.size), lengths)
    terms = np.empty((len(weights), codes.size))
    for first in range(0, codes.size, BLOCK):
        block = slice(first, first + BLOCK)
        ranks, gains = places[block] - before[groups[block]], level_gains.take(codes[block])
        for number, weight_of_rank in enumerate(weights):
            np.multiply(gains, weight_of_rank.take(ranks), out=terms[number, block])
    sums: Floats = np.stack([np.bincount(groups, of_weight, minlength=lengths.size) for of_weight in terms])
    return sums + 0.0  # no sum is -0.0


def prefix_sums(terms: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the sum of each column's first terms, for ascending cutoffs: float64, shape (n_cutoffs, n).

    Terms are added one after the other, as a loop over ranks would: NumPy adds whole rows of a wide matrix in turn,
    but splits a single column into partial sums. ``terms`` is overwritten.

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

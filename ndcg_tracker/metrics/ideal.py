"""The ideal order: the gains of a group's items from best to worst, without sorting them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats
from ndcg_tracker.rankings.sorting import descending_order

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GradeLevels:
    """The distinct grades and which of them each label has.

    ``levels``: float64, ascending. ``codes``: integer, shape (n_labels,), ``levels[codes]`` are the grades.
    """

    levels: Floats
    codes: NDArray[np.int64]

    @classmethod
    def of(cls, grades: Floats) -> GradeLevels:
        """Return the levels of some grades: by counting where the grades are small integers, else by sorting.

        >>> found = GradeLevels.of(np.array([2.0, 0.0, 2.0]))
        >>> found.levels.tolist(), found.codes.tolist()
        ([0.0, 2.0], [1, 0, 1])
        """
        if grades.size and grades.min() >= 0 and grades.max() < 256:
            small = grades.astype(np.int64)
            if (small == grades).all():
                present = np.flatnonzero(np.bincount(small))
                code_of = np.zeros(256, dtype=np.int64)
                code_of[present] = np.arange(present.size)
                return cls(present.astype(np.float64), code_of[small])
        levels, codes = np.unique(grades, return_inverse=True)
        return cls(levels, codes.astype(np.int64))


@dataclass(frozen=True, slots=True)
class IdealOrder:
    """Gains in ideal order (float64), with the groups they belong to and their ranks (int64, from 1)."""

    gains: Floats
    groups: Index
    ranks: Index


def ideal_order(
    codes: Index,
    groups: Index,
    n_groups: int,
    level_gains: Floats,
    n_other: Index | None,
    *,
    by_label: bool = False,
    cutoff: int | None = None,
) -> IdealOrder:
    """Return the gains of each group's items in descending order; items that gain 0 take ranks and are left out.

    Parameters: ``codes``: int64, shape (n,), the level of each item; ``groups``: int64, ascending, its group;
    ``level_gains``: float64, the gain of each level; ``n_other``: int64, shape (n_groups,), how many further items
    gain 0, or None for none; ``by_label``: whether the order goes by the level itself, whatever it gains; ``cutoff``:
    items behind this rank may be left out.

    Where the levels are few, items are counted per group and level instead of sorted.
    """
    n_levels = level_gains.size
    if n_groups * n_levels > 4 * codes.size + (1 << 20):
        return _by_sorting(codes, groups, n_groups, level_gains, n_other, by_label)
    best_first = np.arange(n_levels)[::-1] if by_label else np.argsort(-level_gains, kind="stable")
    counts = np.bincount(groups * n_levels + codes, minlength=n_groups * n_levels).reshape(n_groups, n_levels)
    counts = counts[:, best_first]
    gains = level_gains[best_first]
    before = np.cumsum(counts, axis=1) - counts
    if n_other is not None:
        before[:, gains < 0] += n_other[:, None]
    used = np.flatnonzero(gains != 0)
    repeats = counts[:, used].ravel()
    if cutoff is not None:
        repeats = np.clip(cutoff - before[:, used].ravel(), 0, repeats)
    starts = np.cumsum(repeats) - repeats
    ranks = np.repeat(before[:, used].ravel() + 1 - starts, repeats) + np.arange(int(repeats.sum()))
    group_of = np.repeat(np.repeat(np.arange(n_groups), used.size), repeats)
    return IdealOrder(np.repeat(np.tile(gains[used], n_groups), repeats), group_of, ranks)


def _by_sorting(
    codes: Index, groups: Index, n_groups: int, level_gains: Floats, n_other: Index | None, by_label: bool
) -> IdealOrder:
    gains = level_gains[codes]
    offsets = np.searchsorted(groups, np.arange(n_groups + 1))
    gains = gains[descending_order(gains, offsets)]
    ranks = np.arange(gains.size) - offsets[groups] + 1
    if n_other is not None:
        ranks[gains < 0] += n_other[groups[gains < 0]]
    used = gains != 0
    return IdealOrder(gains[used], groups[used], ranks[used])

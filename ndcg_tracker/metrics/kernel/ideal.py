"""The ideal order: the gains of a group's items from best to worst, without sorting them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.metrics.kernel.levels import Codes
from ndcg_tracker.metrics.kernel.sums import prefix_sums
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.padded import group_columns
from ndcg_tracker.rankings.sorting import descending_order
from ndcg_tracker.rankings.types import Floats, Index


@dataclass(frozen=True, slots=True)
class LevelSpans:
    """The ideal order of every group as spans of equal gain.

    ``gains``: float64, shape (n_spans,), the same spans for every group. ``ends``: int64, shape (n_spans, n_groups),
    how many items there are up to the end of each span.
    """

    gains: Floats
    ends: Index

    def sums(self, weight_of_rank: Floats, cutoffs: Sequence[int]) -> Floats:
        """Return the sums of gain x weight for ascending cutoffs: float64, shape (n_cutoffs, n_groups)."""
        n_groups = self.ends.shape[1]
        if not self.gains.size:
            return np.zeros((len(cutoffs), n_groups))
        if self.gains.size == 1:  # then a group's sum depends on one number alone
            running = np.cumsum(self.gains * weight_of_rank)
            return np.stack([running[np.minimum(self.ends[0], cutoff)] for cutoff in cutoffs]) + 0.0  # no sum is -0.0
        ends = np.minimum(self.ends, cutoffs[-1])
        repeats = np.diff(ends, axis=0, prepend=0).T
        spans: Codes = np.arange(self.gains.size, dtype=np.uint8 if self.gains.size <= 1 << 8 else np.int64)
        sums = np.zeros((len(cutoffs), n_groups))
        for block in group_columns(ends[-1]):
            of_places = np.repeat(np.tile(spans, block.groups.size), repeats[block.groups].ravel())
            terms = self.gains.take(block.taken(of_places, np.cumsum(block.lengths) - block.lengths))
            terms *= weight_of_rank[1 : block.width + 1, None]
            block.clear_behind(terms)
            sums[:, block.groups] = prefix_sums(terms, cutoffs)
        return sums + 0.0  # no sum is -0.0


def level_spans(
    counts: Index, level_gains: Floats, n_other: Index | None, *, by_label: bool = False, cut: Index | None = None
) -> LevelSpans | None:
    """Return the ideal order of groups whose items are counted by level, None where no such spans have it.

    Parameters: ``counts``: int64, shape (n_levels, n_groups); ``level_gains``: float64, shape (n_levels,);
    ``n_other``: int64, shape (n_groups,), how many further items gain 0, or None for none; ``by_label``: whether the
    order goes by the level itself, whatever it gains; ``cut``: int64, shape (n_groups,), where each group's order
    ends, None for nowhere.

    Items that gain 0 come before those of negative gain. If the labels' order puts a negative gain before another
    one, no single place fits them.
    """
    order = np.arange(level_gains.size)[::-1] if by_label else np.argsort(-level_gains, kind="stable")
    order = order[: int(np.max(np.flatnonzero(level_gains[order]), initial=-1)) + 1]
    gains, counts = level_gains[order], counts[order]
    negative = gains < 0
    if n_other is not None and negative.any():
        at = int(np.argmax(negative))
        if not negative[at:].all():
            return None
        gains, counts = np.insert(gains, at, 0.0), np.insert(counts, at, n_other, axis=0)
    ends = np.cumsum(counts, axis=0)
    return LevelSpans(gains, ends if cut is None else np.minimum(ends, cut))


@dataclass(frozen=True, slots=True)
class IdealOrder:
    """Gains in ideal order (float64), with the groups they belong to and their ranks (int64, from 1)."""

    gains: Floats
    groups: Index
    ranks: Index


def sorted_ideal(
    codes: Codes, offsets: Index, level_gains: Floats, n_other: Index | None, *, by_label: bool = False
) -> IdealOrder:
    """Return the gains of each group's items in ideal order by sorting; items that gain 0 take ranks and are left out.

    Parameters: ``codes``: the level of each item, group by group; ``offsets``: int64, shape (n_groups + 1,); else see
    ``level_spans``.
    """
    gains, groups = level_gains[codes], group_codes(offsets)
    gains = gains[descending_order(codes.astype(np.float64) if by_label else gains, offsets)]
    ranks = np.arange(gains.size) - offsets[groups] + 1
    if n_other is not None:
        ranks[gains < 0] += n_other[groups[gains < 0]]
    used = gains != 0
    return IdealOrder(gains[used], groups[used], ranks[used])

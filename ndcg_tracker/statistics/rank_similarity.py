"""How alike two rankings of each group are, without labels: overlap, rank-biased overlap, Kendall's tau."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats, Index, Mask


@dataclass(frozen=True, slots=True)
class SharedRanks:
    """The items that two rankings of some groups share, ascending by group and rank of the first.

    ``group``: int64, shape (m,), from 0. ``first`` and ``second``: the ranks of each item, from 1. ``n_first`` and
    ``n_second``: int64, shape (n_groups,), how many items either ranking of each group has, at least 1.
    """

    group: Index
    first: Index
    second: Index
    n_first: Index
    n_second: Index

    def _sum(self, rows: Mask, weights: Floats | None = None) -> Floats:
        kept = self.group[rows]
        return np.bincount(kept, None if weights is None else weights[rows], self.n_first.size).astype(np.float64)

    def overlap(self, depth: int) -> Floats:
        """Return the share of the first ``depth`` items that both rankings have there: float64, shape (n_groups,).

        Of shorter rankings, of as many as the longer one has.
        """
        n = np.minimum(np.maximum(self.n_first, self.n_second), depth)
        found: Floats = self._sum((self.first <= depth) & (self.second <= depth)) / n
        return found

    def n_same_first(self) -> Index:
        """Return how many items stand in the same places before the first that does not: int64, shape (n_groups,)."""
        same = np.flatnonzero(self.first == self.second)
        group = self.group[same]
        starts = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=self.n_first.size))])
        place = np.arange(same.size) - starts[group] + 1
        return np.bincount(group[place == self.first[same]], minlength=self.n_first.size).astype(np.int64)

    def rank_biased_overlap(self, p: float) -> Floats:
        """Return the extrapolated rank-biased overlap, from 0 to 1: float64, shape (n_groups,).

        RBO = (1-p)/p [sum_{d=1..l} X_d/d p^d + sum_{d=s+1..l} X_s (d-s)/(s d) p^d] + [(X_l - X_s)/l + X_s/s] p^l, where
        s and l are the lengths of the shorter and the longer ranking, and X_d how many items both have in the first d.
        ``p``: in (0, 1), the weight of a rank is p times that of the rank before. Source: Webber, Moffat and Zobel, "A
        similarity measure for indefinite rankings", ACM TOIS 28, 2010, equation 32.
        """
        shorter, longer = np.minimum(self.n_first, self.n_second), np.maximum(self.n_first, self.n_second)
        depths = np.arange(1, int(longer.max(initial=1)) + 1)
        powers = np.power(p, depths)
        of_depth = np.concatenate([[0.0], np.cumsum(powers / depths)])  # sum of p^d / d up to each depth
        of_power = np.concatenate([[0.0], np.cumsum(powers)])
        deepest = np.maximum(self.first, self.second)
        every = np.ones(self.group.size, dtype=np.bool_)
        agreed = self._sum(every, of_depth[longer[self.group]] - of_depth[deepest - 1])
        within = self._sum(deepest <= shorter[self.group])
        shared = self._sum(every)
        beyond = (of_power[longer] - of_power[shorter]) / shorter - (of_depth[longer] - of_depth[shorter])
        rest = (shared - within) / longer + within / shorter
        found: Floats = (1 - p) / p * (agreed + within * beyond) + rest * np.power(p, longer)
        return np.clip(found, 0.0, 1.0)

    def kendall_tau(self) -> Floats:
        """Return Kendall's tau of the shared items, from -1 to 1, NaN below two of them: float64, shape (n_groups,).

        tau = 1 - 4 inversions / (n (n - 1)); inversions are counted bit by bit, as a radix sort would move them. Agrees
        with: scipy.stats.kendalltau of the two columns of ranks, which have no ties.
        """
        n_groups = self.n_first.size
        counts = np.bincount(self.group, minlength=n_groups)
        inversions = np.zeros(n_groups)
        value, block = self.second.copy(), self.group.copy()
        for bit in range(int(value.max(initial=0)).bit_length() - 1, -1, -1):
            starts = np.flatnonzero(np.append(True, block[1:] != block[:-1])[: block.size])
            lengths = np.diff(starts, append=block.size)
            is_one = (value >> bit & 1).astype(np.int64)
            ones = np.cumsum(is_one) - is_one  # ones before each row
            within = ones - np.repeat(ones[starts], lengths)
            zeros = is_one == 0
            inversions += np.bincount(self.group[zeros], within[zeros], n_groups)
            place = np.arange(block.size) - np.repeat(starts, lengths)
            n_zeros = lengths - np.add.reduceat(is_one, starts) if starts.size else lengths
            to = np.repeat(starts, lengths) + np.where(zeros, place - within, np.repeat(n_zeros, lengths) + within)
            moved_value, moved_block = np.empty_like(value), np.empty_like(block)
            moved_value[to], moved_block[to] = value, block * 2 + is_one
            value, block = moved_value, moved_block
        pairs = counts * (counts - 1) / 2
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(pairs > 0, 1 - 2 * inversions / pairs, np.nan)

"""Similarity of two rankings of each group without labels, agreement of two judges, and the error of one of them.

Rank-biased overlap and Kendall's tau exist in two versions: the version of ``diff``, and that of repro_eval, which
``reproduce`` shows under the names of that tool.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.statistics.t_distribution import two_sided_t


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

        If both rankings are shorter, use the length of the longer one.
        """
        n = np.minimum(np.maximum(self.n_first, self.n_second), depth)
        shares: Floats = self._sum((self.first <= depth) & (self.second <= depth)) / n
        return shares

    def n_same_first(self) -> Index:
        """Return how many items are at the same places before the first that is not: int64, shape (n_groups,)."""
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
        rbo: Floats = (1 - p) / p * (agreed + within * beyond) + rest * np.power(p, longer)
        return np.clip(rbo, 0.0, 1.0)

    def repro_eval_rbo(self, p: float, depth: int) -> Floats:
        """Return the RBO of repro_eval, from 0 to 1: float64, shape (n_groups,).

        RBO = sum_{d=1..depth} p^(d-1) X_d/d / sum_{d=1..depth} p^(d-1), where X_d is how many items both have in the
        first d. It is not extrapolated: two equal rankings of fewer items than ``depth`` have less than 1. ``p``: in
        (0, 1). Source: Clarke, Vtyurina and Smucker, "Assessing top-k preferences", ACM TOIS 39, 2021. Agrees with:
        repro_eval.measure.document_order.RBO.
        """
        depths = np.arange(1, depth + 1)
        powers = np.power(p, depths - 1.0)
        of_depth = np.concatenate([[0.0], np.cumsum(powers / depths)])
        deepest = np.minimum(np.maximum(self.first, self.second), depth + 1)  # below the depth nothing counts
        rbo: Floats = self._sum(deepest <= depth, of_depth[depth] - of_depth[deepest - 1]) / powers.sum()
        return np.clip(rbo, 0.0, 1.0)

    def kendall_tau(self) -> Floats:
        """Return Kendall's tau of the shared items, from -1 to 1, NaN below two of them: float64, shape (n_groups,).

        Agrees with: scipy.stats.kendalltau of the two columns of ranks, which have no ties.
        """
        return _tau(self.group, self.second, self.n_first.size)


def repro_eval_ktu(group: Index, first: Index, second: Index, n_groups: int) -> Floats:
    """Return the KTU of repro_eval, "Kendall's tau union", NaN below two rows: float64, shape (n_groups,).

    It is Kendall's tau of the ids at the same rank in both rankings; the number of an id is its place among the sorted
    ids of both. So it is 1 for equal rankings and depends on the names of items, and one extra item at the top, which
    moves all others down by one, brings it to about 0. The places among the ids of one ranking are in the same order
    and give the same result.

    Parameters: one row per rank of each group. ``group``: int64, shape (n,), from 0. ``first`` and ``second``: int64,
    shape (n,), the places of both ids among the sorted ids of their own ranking, from 0. Source: Breuer et al., "How to
    measure the reproducibility of system-oriented IR experiments", SIGIR 2020. Agrees with:
    repro_eval.measure.document_order.KTU.

    >>> of_one = np.zeros(3, dtype=np.int64)
    >>> repro_eval_ktu(of_one, np.array([2, 0, 1]), np.array([2, 1, 0]), 1).round(4).tolist()
    [0.3333]
    """
    order = np.lexsort((first, group))
    return _tau(group[order], second[order], n_groups)


def _tau(group: Index, second: Index, n_groups: int) -> Floats:
    """Return Kendall's tau of rows that are ascending by group and the first rank, and have no ties.

    tau = 1 - 4 inversions / (n (n - 1)); inversions are counted bit by bit, as a radix sort would move them.
    """
    counts = np.bincount(group, minlength=n_groups)
    inversions = np.zeros(n_groups)
    value, block = second.copy(), group.copy()
    for bit in range(int(value.max(initial=0)).bit_length() - 1, -1, -1):
        starts = np.flatnonzero(np.append(True, block[1:] != block[:-1])[: block.size])
        lengths = np.diff(starts, append=block.size)
        is_one = (value >> bit & 1).astype(np.int64)
        ones = np.cumsum(is_one) - is_one  # ones before each row
        within = ones - np.repeat(ones[starts], lengths)
        zeros = is_one == 0
        inversions += np.bincount(group[zeros], within[zeros], n_groups)
        place = np.arange(block.size) - np.repeat(starts, lengths)
        n_zeros = lengths - np.add.reduceat(is_one, starts) if starts.size else lengths
        to = np.repeat(starts, lengths) + np.where(zeros, place - within, np.repeat(n_zeros, lengths) + within)
        moved_value, moved_block = np.empty_like(value), np.empty_like(block)
        moved_value[to], moved_block[to] = value, block * 2 + is_one
        value, block = moved_value, moved_block
    pairs = counts * (counts - 1) / 2
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(pairs > 0, 1 - 2 * inversions / pairs, np.nan)


LEVEL = 0.05
_FEWEST_PAIRS = 2


@dataclass(frozen=True, slots=True)
class Kappa:
    """Weighted kappa; ``ci``: its 95% interval, None below two groups. ``n``: pairs of grades, ``n_groups``: groups."""

    value: float
    ci: tuple[float, float] | None
    n: int
    n_groups: int


def weighted_kappa(first: Floats, second: Floats, groups: Index) -> Kappa | None:
    """Return Cohen's kappa of two judges' grades with quadratic weights.

    1 - sum (a - b)^2 / what that sum would be if both judged independently: 1 for equal grades, 0 for an agreement as
    by chance. The interval is that of the jackknife over groups (t with n_groups - 1 degrees of freedom), because the
    grades of a judge within a group are not independent; with one pair per group and many pairs it comes to that of
    Fleiss, Cohen and Everitt.

    Parameters: ``first``, ``second``: float64, shape (n,), the grades of the same items by both judges, finite.
    ``groups``: int64, shape (n,), the number of each item's group. Returns: None where kappa is undefined: below two
    pairs, and where both gave one and the same grade throughout. Source: Cohen, Psychological Bulletin 70, 1968;
    Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969; Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 11. Agrees with: scikit-learn's ``cohen_kappa_score(weights="quadratic")`` for grades 0, 1, 2, ...;
    statsmodels' ``cohens_kappa``.

    >>> weighted_kappa(np.array([0.0, 1.0, 2.0, 2.0]), np.array([0.0, 1.0, 1.0, 2.0]), np.arange(4)).value
    0.8
    """
    n = first.size
    if n < _FEWEST_PAIRS:
        return None
    middle = (first.mean() + second.mean()) / 2  # far from 0 squares cancel
    a, b = first - middle, second - middle
    _, numbers = np.unique(groups, return_inverse=True)
    sums = np.stack([np.bincount(numbers, part) for part in (a**0, a, b, a**2, b**2, (a - b) ** 2)])
    total, n_groups = sums.sum(axis=1, keepdims=True), sums.shape[1]
    value = float(_kappa(total)[0])
    if math.isnan(value):
        return None
    left_out, ci = _kappa(total - sums), None
    if n_groups > 1 and not np.isnan(left_out).any():
        error = math.sqrt((n_groups - 1) / n_groups * float(((left_out - left_out.mean()) ** 2).sum()))
        half = two_sided_t(LEVEL, n_groups - 1.0) * error
        ci = (max(value - half, -1.0), min(value + half, 1.0))
    return Kappa(value, ci, n, n_groups)


def _kappa(sums: Floats) -> Floats:
    """Return kappa from the sums of 1, a, b, a^2, b^2 and (a - b)^2, one column each; NaN where it is undefined."""
    n, sum_a, sum_b, squares, other_squares, apart = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (squares + other_squares) / n
        expected = size - 2 * sum_a * sum_b / n**2
        kappa: Floats = np.where(expected > 1e-12 * size, 1 - apart / n / expected, np.nan)
    return kappa


@dataclass(frozen=True, slots=True)
class SignedError:
    """By how much one judge's grades are above another's on average, with a 95% interval.

    ``n``: pairs of grades. ``error``: None without any. ``ci``: None below two groups, and where all errors are equal.
    """

    n: int
    error: float | None = None
    ci: tuple[float, float] | None = None


def signed_error(apart: Floats, groups: Index) -> SignedError:
    """Return the mean of the differences between two judges' grades.

    It is a ratio of sums over groups, whose variance is that of its linearised sums, n_groups / (n_groups - 1) sum_g
    (sum_i (d_i - mean))^2 / n^2, with t of n_groups - 1 degrees of freedom.

    Parameters: ``apart``: float64, shape (n,), finite. ``groups``: int64, shape (n,), the number of each item's group.
    Source: Sarndal, Swensson and Wretman, Model Assisted Survey Sampling, 1992, section 5.6. Agrees with: statsmodels'
    OLS on a constant with ``cov_type="cluster"``.

    >>> signed_error(np.array([1.0, 0.0, 1.0, 1.0]), np.array([0, 0, 1, 1])).error
    0.75
    """
    if not apart.size:
        return SignedError(0)
    mean = float(apart.mean())
    _, numbers = np.unique(groups, return_inverse=True)
    residuals = np.bincount(numbers, apart - mean)
    n_groups = residuals.size
    if n_groups < _FEWEST_PAIRS or (apart == apart[0]).all():
        return SignedError(apart.size, mean)
    error = math.sqrt(n_groups / (n_groups - 1) * float((residuals**2).sum())) / apart.size
    half = two_sided_t(LEVEL, n_groups - 1.0) * error
    return SignedError(apart.size, mean, (mean - half, mean + half))

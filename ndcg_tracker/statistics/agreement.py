"""How far two judges agree beyond chance: Cohen's weighted kappa, with an interval over groups."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.statistics.t_distribution import two_sided_t

LEVEL = 0.05


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
    by chance. The interval is that of the jackknife over groups (t with n_groups - 1 degrees of freedom), for a judge's
    grades within a group are not independent; with one pair per group and many pairs it comes to that of Fleiss, Cohen
    and Everitt.

    Parameters: ``first``, ``second``: float64, shape (n,), the grades of the same items by both judges, finite.
    ``groups``: int64, shape (n,), the number of each item's group. Returns: None where kappa is undefined: without
    pairs, and where both gave one and the same grade throughout. Source: Cohen, Psychological Bulletin 70, 1968;
    Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969; Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 11. Agrees with: scikit-learn's ``cohen_kappa_score(weights="quadratic")`` for grades 0, 1, 2, ...;
    statsmodels' ``cohens_kappa``.

    >>> weighted_kappa(np.array([0.0, 1.0, 2.0, 2.0]), np.array([0.0, 1.0, 1.0, 2.0]), np.arange(4)).value
    0.8
    """
    n = first.size
    if not n:
        return None
    middle = (first.mean() + second.mean()) / 2  # far from 0 the squares would cancel
    one, other = first - middle, second - middle
    _, numbers = np.unique(groups, return_inverse=True)
    sums = np.stack([np.bincount(numbers, part) for part in (one**0, one, other, one**2, other**2, (one - other) ** 2)])
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
    n, one, other, squares, other_squares, apart = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        size = (squares + other_squares) / n
        expected = size - 2 * one * other / n**2
        found: Floats = np.where(expected > 1e-12 * size, 1 - apart / n / expected, np.nan)
    return found

"""Windows of runs in a history: which are compared, and |t| over groups of all of them at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from ndcg_tracker.rankings import Floats, Index, Mask

_QUARTERS = 4
_ROUNDING = 1e-12
_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Windows:
    """Places of a history, each with how many runs before it (``left``) and from it on (``right``) are compared.

    int64, shape (n_windows,); place k is between run k - 1 and run k.
    """

    place: Index
    left: Index
    right: Index

    def take(self, rows: Index) -> Self:
        """Return some of the windows."""
        return type(self)(self.place[rows], self.left[rows], self.right[rows])


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Each run compared with the run before it; the first run has no comparison.

    ``changed``: bool, shape (n_runs,), whether any group differs. ``mean``: float64, of the differences. ``t``: of the
    paired t-test, NaN if undefined: below two groups, and if all differences are equal. ``error``: the standard error
    of the mean over groups, 0 below two groups.
    """

    changed: Mask
    mean: Floats
    t: Floats
    error: Floats


def neighbours_of(values: Floats, weights: Floats | None) -> Neighbours:
    """Return how each run differs from the one before, equal to ``paired_t`` and ``weighted_t`` to the bit.

    Parameters: ``values``: float64, shape (n_runs, n_groups). ``weights``: > 0, shape (n_groups,).

    >>> beside = neighbours_of(np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 1.0]]), None)
    >>> beside.changed.tolist(), beside.mean.tolist(), beside.t.tolist()
    ([False, False, True], [0.0, 0.0, 0.25], [nan, nan, 1.0])
    """
    n_runs, n = values.shape
    neighbours = Neighbours(
        np.zeros(n_runs, dtype=np.bool_), np.zeros(n_runs), np.full(n_runs, np.nan), np.zeros(n_runs)
    )
    if not n:
        return neighbours
    total = float(n) if weights is None else float(weights.sum())
    for first in range(1, n_runs, max(1, _BLOCK // n)):
        last = min(n_runs, first + max(1, _BLOCK // n))
        delta = values[first:last] - values[first - 1 : last - 1]
        neighbours.changed[first:last] = delta.any(axis=1)
        mean = (delta if weights is None else weights * delta).sum(axis=1) / total
        neighbours.mean[first:last] = mean
        if n < 2:
            continue
        delta -= mean[:, None]
        if weights is None:
            sd = np.sqrt(np.square(delta, out=delta).sum(axis=1) / (n - 1))
        else:
            delta *= weights
            sd = np.sqrt(n / (n - 1) * np.square(delta, out=delta).sum(axis=1)) / total * np.sqrt(n)
        varies = sd > _ROUNDING * np.abs(mean)
        error = neighbours.error[first:last] = sd / np.sqrt(n)
        neighbours.t[first:last][varies] = mean[varies] / error[varies]
    return neighbours


def windows_of(n_runs: int, changed: Mask) -> Windows:
    """Return the windows of 2, 4, 8, ... runs on each side, narrower at the ends of the history.

    Those of 8 runs or more are a quarter of their width apart. ``changed``: bool, shape (n_runs,), which runs differ
    from the one before; windows with fewer than two of these add nothing to the comparisons of neighbours.

    >>> windows = windows_of(5, np.ones(5, dtype=bool))
    >>> list(zip(windows.place.tolist(), windows.left.tolist(), windows.right.tolist()))
    [(1, 1, 2), (2, 2, 2), (3, 2, 2), (4, 2, 1), (1, 1, 4), (2, 2, 3), (3, 3, 2), (4, 4, 1)]
    """
    n_changed = np.concatenate([[0], np.cumsum(changed)]).astype(np.int64)
    parts = [np.empty((3, 0), dtype=np.int64)]
    width = 2
    while width < 2 * n_runs:
        step = max(1, width // 4)
        place = np.arange(step, n_runs, step, dtype=np.int64)
        left, right = np.minimum(width, place), np.minimum(width, n_runs - place)
        wide = np.maximum(left, right) > width // 2
        within = n_changed[place + right] - n_changed[place - left + 1]
        parts.append(np.stack([place, left, right])[:, wide & (within > 1)])
        width *= 2
    return Windows(*np.concatenate(parts, axis=1))


def absolute_t(values: Floats, weights: Floats | None, windows: Windows) -> Floats:
    """Return |t| over the groups of the mean after each place minus the mean before it.

    Runs are pooled by quarters of a window: from 8 runs on, ``windows_of`` puts windows no closer together.

    Parameters: ``values``: float64, shape (n_runs, n_groups), n_groups >= 2. ``weights``: > 0, shape (n_groups,).
    ``windows``: of ``windows_of``. Returns: float64, shape (n_windows,): very large for a constant difference, 0 where
    nothing differs.

    >>> runs = np.array([[0.0, 0.5], [0.5, 0.5], [1.0, 0.5]])
    >>> absolute_t(runs, None, windows_of(3, np.array([False, True, True]))).round(6).tolist()
    [1.0, 1.0]
    """
    t = np.zeros(windows.place.size)
    widest = np.maximum(windows.left, windows.right)
    rows, pooled, width = values, 1, 2
    while (widest > width // 2).any():
        while pooled < width // _QUARTERS:
            rows, pooled = _pooled(rows), 2 * pooled
        mine = (widest > width // 2) & (widest <= width)
        whole = (windows.left == width) & (windows.right == width)
        inner, outer = np.flatnonzero(mine & whole), np.flatnonzero(mine & ~whole)
        t[inner] = _inner_t(rows, weights, windows.place[inner] // pooled, width // pooled)
        if outer.size:
            t[outer] = _t_of_rows(_outer_differences(rows, pooled, windows.take(outer)), weights)
        width *= 2
    return t


def clearest_place(values: Floats, weights: Floats | None, places: Index, beyond: float = 0.0) -> int:
    """Return the place at which the mean of all runs after it differs most clearly from that of all before.

    Parameters: as ``absolute_t``; ``places``: the candidates, ascending, within 1 and n_runs - 1. ``beyond``: as
    ``RunScatter.beyond``.

    >>> runs = np.array([[0.0, 0.1], [0.1, 0.0], [0.5, 0.7], [0.6, 0.6]])
    >>> clearest_place(runs, None, np.arange(1, 4))
    2
    """
    differences = values - values[0]
    scale = np.ones(values.shape[1]) if weights is None else weights
    before = np.zeros(values.shape[1])
    total = differences.sum(axis=0)
    best, at, last = -1.0, int(places[0]), 0
    n, weight, square = scale.size, float(scale.sum()), float(np.square(scale).sum())
    for place in places.tolist():
        before += differences[last:place].sum(axis=0)
        last = place
        y = scale * ((total - before) / (len(values) - place) - before / place)
        t = float(_t(n, weight, square, y.sum(), np.square(y).sum(), (scale * y).sum(), 1e-300))
        if beyond and t:
            mean = abs(float(y.sum())) / weight
            t = mean / math.hypot(mean / t, math.sqrt(beyond * (1 / place + 1 / (len(values) - place))))
        if t > best:
            best, at = t, place
    return at


def _pooled(rows: Floats) -> Floats:
    """Return the sums of every two rows; the last may be of one."""
    whole = len(rows) // 2 * 2
    sums = np.empty((-(-len(rows) // 2), rows.shape[1]))
    np.add(rows[:whole:2], rows[1:whole:2], out=sums[: whole // 2])
    sums[whole // 2 :] = rows[whole:]
    return sums


def _inner_t(rows: Floats, weights: Floats | None, places: Index, reach: int) -> Floats:
    """Return |t| of ``reach`` rows from each place on, a power of 2, against as many before it."""
    t = np.empty(places.size)
    height = max(1, _BLOCK // rows.shape[1])
    blocks = places // height
    for block in sorted(set(blocks.tolist())):  # np.unique would import numpy.ma
        here = np.flatnonzero(blocks == block)
        first, last = int(places[here[0]]), int(places[here[-1]])
        sums, length = rows[first - reach : last + reach], 1
        while length < reach:
            sums, length = sums[:-length] + sums[length:], 2 * length
        t[here] = _t_of_rows(sums[reach:] - sums[:-reach], weights)[places[here] - first]
    return t


def _outer_differences(rows: Floats, pooled: int, windows: Windows) -> Floats:
    """Return the difference of the means, group by group, of each window that an end of the history cuts."""
    differences = np.empty((windows.place.size, rows.shape[1]))
    columns = (windows.place.tolist(), windows.left.tolist(), windows.right.tolist())
    for difference, place, left, right in zip(differences, *columns, strict=True):
        middle = place // pooled
        before = rows[(place - left) // pooled : middle].sum(axis=0) / left
        after = rows[middle : -(-(place + right) // pooled)].sum(axis=0) / right
        np.subtract(after, before, out=difference)
        difference[np.abs(difference) <= _ROUNDING * np.abs(before)] = 0.0
    return differences


def _t_of_rows(rows: Floats, weights: Floats | None) -> Floats:
    """Return |t| of the differences in each row."""
    n = rows.shape[1]
    if weights is None:
        weight = weight_square = float(n)
        sums = crossed = np.einsum("ij->i", rows)
        squares = np.einsum("ij,ij->i", rows, rows)
    else:
        weight, weight_square = float(weights.sum()), float(np.square(weights).sum())
        scaled = rows * weights
        sums, squares = np.einsum("ij->i", scaled), np.einsum("ij,ij->i", scaled, scaled)
        crossed = np.einsum("ij,j->i", scaled, weights)
    return _t(n, weight, weight_square, sums, squares, crossed, 1e-15 * squares + 1e-300)


def _t(
    n: int, weight: float, weight_square: float, sums: Floats, squares: Floats, crossed: Floats, least: Floats | float
) -> Floats:
    """Return |t| of weighted differences from the sums of w d, (w d)^2 and w^2 d (see ``weighted_t``)."""
    mean = sums / weight
    spread = np.maximum(squares - 2 * mean * crossed + mean * mean * weight_square, least)
    return np.asarray(np.abs(mean) * weight / np.sqrt(n / (n - 1) * spread))

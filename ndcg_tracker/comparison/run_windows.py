"""Windows of neighbouring runs before and after each place of a history, and how clearly their means differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

_POOLED = 4
_WIDEST = 8
_SPAN = 32
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Windows:
    """Places of a history, each with how many runs before it (``left``) and from it on (``right``) are compared.

    int64, shape (n_windows,); place k stands between run k - 1 and run k.
    """

    place: Index
    left: Index
    right: Index

    def take(self, rows: Index) -> Self:
        """Return some of the windows."""
        return type(self)(self.place[rows], self.left[rows], self.right[rows])


def windows_of(n_runs: int, changed: Mask) -> Windows:
    """Return the windows of 2, 4, 8, ... runs on each side, narrower at the ends of the history.

    Those of 8 runs or more stand a quarter of their width apart. ``changed``: bool, shape (n_runs,), which runs differ
    from the one before; windows with fewer than two of these tell nothing that neighbours do not.

    >>> windows = windows_of(5, np.ones(5, dtype=bool))
    >>> list(zip(windows.place.tolist(), windows.left.tolist(), windows.right.tolist()))
    [(1, 1, 2), (2, 2, 2), (3, 2, 2), (4, 2, 1), (1, 1, 4), (2, 2, 3), (3, 3, 2), (4, 4, 1)]
    """
    n_changed = np.concatenate([[0], np.cumsum(changed)]).astype(np.int64)
    found = [np.empty((3, 0), dtype=np.int64)]
    width = 2
    while width < 2 * n_runs:
        step = max(1, width // 4)
        place = np.arange(step, n_runs, step, dtype=np.int64)
        left, right = np.minimum(width, place), np.minimum(width, n_runs - place)
        wide = np.maximum(left, right) > width // 2
        within = n_changed[place + right] - n_changed[place - left + 1]
        found.append(np.stack([place, left, right])[:, wide & (within > 1)])
        width *= 2
    return Windows(*np.concatenate(found, axis=1))


def absolute_t(values: Floats, weights: Floats | None, windows: Windows) -> Floats:
    """Return |t| over the groups of the mean after each place minus the mean before it.

    Inner products of the runs, a few at a time, give the squares of all differences at once; runs are pooled by
    four for windows wider than 8, by four again for those wider than 32: ``windows_of`` puts these so far apart.

    Parameters: ``values``: float64, shape (n_runs, n_groups), n_groups >= 2. ``weights``: > 0, shape (n_groups,).
    ``windows``: of ``windows_of``. Returns: float64, shape (n_windows,): very large for a constant difference, 0 where
    nothing differs; exact to about 1e-6 where a difference is small beside others close by.

    >>> runs = np.array([[0.0, 0.5], [0.5, 0.5], [1.0, 0.5]])
    >>> absolute_t(runs, None, windows_of(3, np.array([False, True, True]))).round(6).tolist()
    [1.0, 1.0]
    """
    t = np.zeros(windows.place.size)
    widest = np.maximum(windows.left, windows.right)
    rows, counts, pooled = values, np.ones(len(values)), 1
    todo = widest > 0
    while todo.any():
        mine = np.flatnonzero(todo & (widest <= _WIDEST * pooled))
        ends = (windows.place - windows.left, windows.place, windows.place + windows.right)
        first, place, end = (-(-each[mine] // pooled) for each in ends)
        for start in np.unique(first // _SPAN * _SPAN).tolist():
            here = (first // _SPAN * _SPAN) == start
            chunk = slice(start, start + _SPAN + 2 * _WIDEST)
            differences = rows[chunk] - counts[chunk, None] * (rows[start] / counts[start])
            bounds = (first[here] - start, place[here] - start, end[here] - start)
            t[mine[here]] = _chunk_t(differences, counts[chunk], weights, bounds)
        todo[mine] = False
        if todo.any():
            rows, counts, pooled = _pooled(rows), _pooled(counts), pooled * _POOLED
    return t


def clearest_place(values: Floats, weights: Floats | None, places: Index) -> int:
    """Return the place at which the mean of all runs after it differs most clearly from that of all before.

    Parameters: as ``absolute_t``; ``places``: the candidates, ascending, within 1 and n_runs - 1.

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
        t = _t(n, weight, square, y.sum(), np.square(y).sum(), (scale * y).sum(), 1e-300)
        if float(t) > best:
            best, at = float(t), place
    return at


def _pooled(rows: Floats) -> Floats:
    """Return the sums of every four rows; the last may be of fewer."""
    return np.stack([rows[start : start + _POOLED].sum(axis=0) for start in range(0, len(rows), _POOLED)])


def _chunk_t(rows: Floats, counts: Floats, weights: Floats | None, bounds: tuple[Index, Index, Index]) -> Floats:
    """Return |t| of windows within a few rows, each the sum of ``counts`` runs."""
    n = rows.shape[1]
    scaled = rows if weights is None else rows * weights
    products = np.zeros((len(rows) + 1, len(rows) + 1))
    products[1:, 1:] = (scaled @ scaled.T).cumsum(axis=0).cumsum(axis=1)
    first, place, end = bounds
    n_runs = _sums(counts)
    n_before, n_after = n_runs[place] - n_runs[first], n_runs[end] - n_runs[place]

    def contrast(sums: Floats) -> Floats:
        return np.asarray((sums[end] - sums[place]) / n_after - (sums[place] - sums[first]) / n_before)

    def product(top: Index, bottom: Index, left: Index, right: Index) -> Floats:
        return np.asarray(products[bottom, right] - products[top, right] - products[bottom, left] + products[top, left])

    own = product(first, place, first, place) / n_before**2 + product(place, end, place, end) / n_after**2
    square = own - 2 * product(first, place, place, end) / (n_before * n_after)
    sums = contrast(_sums(scaled.sum(axis=1)))
    if weights is None:
        weight, weight_square, crossed = float(n), float(n), sums
    else:
        weight, weight_square = float(weights.sum()), float(np.square(weights).sum())
        crossed = contrast(_sums(scaled @ weights))
    t = _t(n, weight, weight_square, sums, square, crossed, 1e-15 * own + 1e-300)
    return np.where(square <= _ROUNDING * own, 0.0, t)


def _sums(numbers: Floats) -> Floats:
    """Return the sums of the first 0, 1, 2, ... numbers."""
    return np.concatenate([[0.0], np.cumsum(numbers)])


def _t(
    n: int, weight: float, weight_square: float, sums: Floats, squares: Floats, crossed: Floats, least: Floats | float
) -> Floats:
    """Return |t| of weighted differences from the sums of w d, (w d)^2 and w^2 d (see ``weighted_t``)."""
    mean = sums / weight
    spread = np.maximum(squares - 2 * mean * crossed + mean * mean * weight_square, least)
    return np.asarray(np.abs(mean) * weight / np.sqrt(n / (n - 1) * spread))

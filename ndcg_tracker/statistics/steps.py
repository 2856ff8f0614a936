"""Steps in a history: paired tests of windows of runs before and after each place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from ndcg_tracker.rankings.types import Floats, Index, Mask
from ndcg_tracker.statistics.betting import betting_p_value
from ndcg_tracker.statistics.information import information_in
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, TTest, checked_weights, paired_t, weighted_t

_QUARTERS = 4
_ROUNDING = 1e-12
_BLOCK = 1 << 16
ALPHA = 0.05
_SCREEN = 1 - 1e-6  # the screen uses sums of squares; what passes is tested again, exactly


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
    paired t-test, NaN if undefined: below two groups, and if all differences are equal.
    """

    changed: Mask
    mean: Floats
    t: Floats


def neighbours_of(values: Floats, weights: Floats | None) -> Neighbours:
    """Return how each run differs from the one before, equal to ``paired_t`` and ``weighted_t`` to the bit.

    Parameters: ``values``: float64, shape (n_runs, n_groups). ``weights``: > 0, shape (n_groups,).

    >>> beside = neighbours_of(np.array([[0.5, 0.5], [0.5, 0.5], [0.5, 1.0]]), None)
    >>> beside.changed.tolist(), beside.mean.tolist(), beside.t.tolist()
    ([False, False, True], [0.0, 0.0, 0.25], [nan, nan, 1.0])
    """
    n_runs, n = values.shape
    found = Neighbours(np.zeros(n_runs, dtype=np.bool_), np.zeros(n_runs), np.full(n_runs, np.nan))
    if not n:
        return found
    total = float(n) if weights is None else float(weights.sum())
    for first in range(1, n_runs, max(1, _BLOCK // n)):
        last = min(n_runs, first + max(1, _BLOCK // n))
        delta = values[first:last] - values[first - 1 : last - 1]
        found.changed[first:last] = delta.any(axis=1)
        mean = (delta if weights is None else weights * delta).sum(axis=1) / total
        found.mean[first:last] = mean
        if n < 2:
            continue
        delta -= mean[:, None]
        if weights is None:
            sd = np.sqrt(np.square(delta, out=delta).sum(axis=1) / (n - 1))
        else:
            delta *= weights
            sd = np.sqrt(n / (n - 1) * np.square(delta, out=delta).sum(axis=1)) / total * np.sqrt(n)
        varies = sd > _ROUNDING * np.abs(mean)
        found.t[first:last][varies] = mean[varies] / (sd[varies] / np.sqrt(n))
    return found


def windows_of(n_runs: int, changed: Mask) -> Windows:
    """Return the windows of 2, 4, 8, ... runs on each side, narrower at the ends of the history.

    Those of 8 runs or more are a quarter of their width apart. ``changed``: bool, shape (n_runs,), which runs differ
    from the one before; windows with fewer than two of these add nothing to the comparisons of neighbours.

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
    """Return the difference of the means of each window, group by group: those that the ends of the history cut."""
    found = np.empty((windows.place.size, rows.shape[1]))
    columns = (windows.place.tolist(), windows.left.tolist(), windows.right.tolist())
    for difference, place, left, right in zip(found, *columns, strict=True):
        middle = place // pooled
        before = rows[(place - left) // pooled : middle].sum(axis=0) / left
        after = rows[middle : -(-(place + right) // pooled)].sum(axis=0) / right
        np.subtract(after, before, out=difference)
        difference[np.abs(difference) <= _ROUNDING * np.abs(before)] = 0.0
    return found


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


@dataclass(frozen=True, slots=True)
class Step:
    """What happened at one run of a history.

    ``delta``: its mean difference to the run before, None at the first. ``p_value``: of a difference of 0, None where
    there is nothing to infer; ``p_adjusted``: corrected over the whole history (at a step: of the test that found it).
    ``is_step``: whether the mean stepped here. ``is_possible``: whether only the t-test says so, with too little
    information to be trusted. The others are set at steps only: ``first`` and ``last``: the runs (by place) among
    which is the first after the step, both this run if the comparison of neighbours found it; ``change`` and
    ``change_ci``: the mean of the compared runs minus the mean of those before, with its 95% interval.
    """

    delta: float | None
    p_value: float | None
    p_adjusted: float | None
    is_step: bool
    first: int | None = None
    last: int | None = None
    change: float | None = None
    change_ci: tuple[float, float] | None = None
    is_possible: bool = False


def history_steps(values: Floats, weights: Floats | None = None, *, alpha: float = ALPHA) -> tuple[Step, ...]:
    """Return, for each run of a history, whether the mean stepped there.

    Each run is compared with the run before it, and the mean of 2, 4, 8, ... runs with that of as many before them
    (wide windows do not begin at every run but every quarter of their width). Every such comparison is a t-test over
    the *groups*, so it does not matter how the runs depend on each other. Half of ``alpha`` is shared by the
    neighbours, half by the wider windows (Bonferroni); runs that equal the one before add no test. Of the windows that
    are significant the narrowest is taken, then the narrowest that shares no change of runs with it, and so on: **with
    probability 1 - ``alpha`` every window taken holds a step, so there are never more marks than steps** (narrowest
    significance pursuit). Within a window of several runs the mark goes where the paired t is largest.

    If information is low (few nonzero or very skewed differences), the far tail of t cannot be trusted: a step must be
    significant by t and by the betting capital, which is valid for any differences within -1 to 1. A step that is
    significant by t alone is marked as possible, without a guarantee.

    How often a mark is wrong and a step is found: ``tests/statistics/test_steps.py``, and a table in docs/history.md.

    Parameters: ``values``: float64, shape (n_runs, n_groups), oldest run first, finite. ``weights``: of the groups,
    shape (n_groups,). ``alpha``: in (0, 1). Returns: one per run. Raises: ValueError for any other number or shape.
    Source: Fryzlewicz, "Narrowest significance pursuit", J. Am. Stat. Assoc. 119, 2024; windows of a paired mean
    instead of its regression.

    >>> noise = np.tile([0.1, -0.1], 100)
    >>> found = history_steps(0.5 + np.array([noise, -noise, noise + 0.1, 0.1 - noise]))
    >>> [step.is_step for step in found]
    [False, False, True, False]
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, not {alpha}")
    if values.ndim != 2 or not np.isfinite(values).all():
        raise ValueError("a history is a table of finite numbers, runs by groups; NaN is refused")
    if weights is not None:
        checked_weights(np.zeros(values.shape[1]), weights)
        values, weights = values[:, weights > 0], weights[weights > 0]
    if not len(values):
        return ()
    history = _History(values, weights, alpha)
    return history.steps()


class _History:
    """The runs of a history, and the tests of one against the other."""

    def __init__(self, values: Floats, weights: Floats | None, alpha: float) -> None:
        self._values, self._weights, self._alpha = values, weights, alpha
        n_runs = len(values)
        self._neighbours = neighbours_of(values, weights)
        self._changed = self._neighbours.changed
        self._windows = windows_of(n_runs, self._changed)
        n_pairs, n_wide = int(self._changed.sum()), self._windows.place.size
        share = alpha / 2 if n_wide else alpha
        self._pair_factor = n_pairs * alpha / share
        self._wide_factor = n_wide * alpha / (alpha - share) if n_wide else 1.0

    def steps(self) -> tuple[Step, ...]:
        """Return what happened at each run."""
        found = [self._beside(run) for run in range(len(self._values))]
        taken: list[tuple[int, int]] = []
        marks: dict[int, Step] = {}
        significant = list(self._significant(found))
        for place, left, right, p in sorted(significant, key=lambda window: window[3] >= self._alpha):
            first, last = place - left + 1, place + right - 1
            if any(first <= other_last and last >= other_first for other_first, other_last in taken):
                continue
            taken.append((first, last))
            run = place if first == last else self._place(place - left, place + right)
            test = self._test(self._contrast(place - left, run, place + right))
            beside, is_step = found[run], p < self._alpha
            marks[run] = Step(beside.delta, beside.p_value, p, is_step, first, last, test.mean, test.ci, not is_step)
        return tuple(marks.get(run, step) for run, step in enumerate(found))

    def _beside(self, run: int) -> Step:
        """Return how a run differs from the one before."""
        if not run or not self._values.shape[1]:
            return Step(None, None, None, False)
        if not self._changed[run]:
            return Step(0.0, None, None, False)
        t, p = float(self._neighbours.t[run]), None
        if not math.isnan(t):
            p = max(two_sided_p(t, self._values.shape[1] - 1.0), SMALLEST_P_VALUE)
        is_possible = p is not None and p * self._pair_factor < self._alpha
        if p is None or is_possible:
            delta = self._contrast(run - 1, run, run + 1)
            p = self._p_value(delta, self._test(delta), self._pair_factor)
        p_adjusted = None if p is None else min(1.0, p * self._pair_factor)
        return Step(float(self._neighbours.mean[run]), p, p_adjusted, False, is_possible=is_possible)

    def _significant(self, pairs: list[Step]) -> Iterator[tuple[int, int, int, float]]:
        """Yield place, runs before, runs after and corrected p-value of windows significant by t, the narrowest first.

        If information is low, that p-value may be large.
        """
        alone = [(step.p_adjusted, run) for run, step in enumerate(pairs) if step.p_adjusted is not None]
        for p_adjusted, run in sorted(alone):
            if p_adjusted < self._alpha or pairs[run].is_possible:
                pairs[run] = replace(pairs[run], is_possible=False)
                yield run, 1, 1, p_adjusted
        for place, left, right in self._screened():
            delta = self._contrast(place - left, place, place + right)
            p = self._p_value(delta, self._test(delta), self._wide_factor)
            if p is not None:
                yield place, left, right, min(1.0, p * self._wide_factor)

    def _screened(self) -> list[tuple[int, int, int]]:
        """Return the wide windows that are significant by t, the narrowest first, then the clearest."""
        n_groups = self._values.shape[1]
        if n_groups < 2 or not self._windows.place.size:
            return []
        critical = two_sided_t(self._alpha / self._wide_factor, n_groups - 1.0) * _SCREEN
        t = absolute_t(self._values, self._weights, self._windows)
        kept = np.flatnonzero(t >= critical)
        windows = self._windows.take(kept)
        order = np.lexsort((-t[kept], windows.left + windows.right))
        columns = (windows.place[order], windows.left[order], windows.right[order])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _contrast(self, first: int, place: int, end: int) -> Floats:
        """Return the mean of the runs from a place to an end minus that of those before, group by group."""
        rows = self._values
        before = rows[first] if place - first == 1 else rows[first:place].mean(axis=0)
        after = rows[place] if end - place == 1 else rows[place:end].mean(axis=0)
        delta = np.asarray(after - before)
        if end - first > 2:  # a rounding error of means is not a difference
            delta[np.abs(delta) <= 1e-13 * np.maximum(np.abs(after), np.abs(before)) * (end - first)] = 0.0
        return delta

    def _test(self, delta: Floats) -> TTest:
        return paired_t(delta) if self._weights is None else weighted_t(delta, self._weights)

    def _p_value(self, delta: Floats, test: TTest, factor: float) -> float | None:
        """Return the p-value of a difference: by t, or by betting if it is significant and information is low."""
        if test.n < 2 or not delta.any():
            return None
        limit = self._alpha / factor
        known = information_in(delta, self._weights)
        if test.p_value is not None and (test.p_value >= limit or not known.is_low_for_one_side):
            return test.p_value
        if float(np.abs(delta).max()) > 1:
            return None
        shares = 1.0 if self._weights is None else self._weights / self._weights.max()
        stakes = shares * delta
        most = 0.75 * float(max(stakes[delta > 0].sum(), -stakes[delta < 0].sum()))  # no bet stakes more
        if 2 * np.exp(-most) >= limit:
            return 1.0
        return max(test.p_value or 0.0, betting_p_value(delta, self._weights, alpha=limit))

    def _place(self, first: int, end: int) -> int:
        """Return the place between two runs at which the mean stepped: where before and after differ most clearly."""
        places = np.flatnonzero(self._changed[first + 1 : end]) + 1
        return first + clearest_place(self._values[first:end], self._weights, places)

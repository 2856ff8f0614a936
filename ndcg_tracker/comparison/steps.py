"""Where in a history of runs the mean stepped: paired tests of what came after against what came before."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.comparison.betting import betting_p_value
from ndcg_tracker.comparison.information import information_in
from ndcg_tracker.comparison.run_windows import absolute_t, clearest_place, neighbours_of, windows_of
from ndcg_tracker.comparison.significance import SMALLEST_P_VALUE, TTest, checked_weights, paired_t, weighted_t
from ndcg_tracker.comparison.student_t import two_sided_p, two_sided_t

Floats = NDArray[np.float64]

ALPHA = 0.05
_SCREEN = 1 - 1e-6  # the screen works with sums of squares; what it lets through is tested again, exactly


@dataclass(frozen=True, slots=True)
class Step:
    """What happened at one run of a history.

    ``delta``: its mean difference to the run before, None at the first. ``p_value``: of a difference of 0, None where
    there is nothing to infer; ``p_adjusted``: corrected over the whole history (at a step: of the test that found it).
    ``is_step``: whether the mean stepped here. ``is_possible``: whether the t-test alone says so, from too little
    information for that to be trusted. The others are None elsewhere: ``first`` and ``last``, the runs (by
    place) of which one is the first after the step, both this run where neighbours told it; ``change`` and
    ``change_ci``: how far the mean of the runs compared lies above that of those before, with its 95% interval.
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

    Where information is low (few nonzero or very skewed differences) the far tail of t is not to be trusted: what t
    calls significant must be so by the betting capital too, which is valid for any differences within -1 to 1. What is
    not is marked as possible, and promises nothing.

    How often a mark is wrong and a step is found: ``tests/comparison/test_steps.py``, and a table in docs/history.md.

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
        raise ValueError(f"alpha must lie between 0 and 1, not at {alpha}")
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
        """Yield place, runs before, runs after and corrected p-value of what t calls significant, the narrowest first.

        Where information is low, that p-value may be a large one.
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
        """Return the wide windows that t calls significant, the narrowest first, of equals the clearest."""
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
        if end - first > 2:  # the rounding of means is no difference
            delta[np.abs(delta) <= 1e-13 * np.maximum(np.abs(after), np.abs(before)) * (end - first)] = 0.0
        return delta

    def _test(self, delta: Floats) -> TTest:
        return paired_t(delta) if self._weights is None else weighted_t(delta, self._weights)

    def _p_value(self, delta: Floats, test: TTest, factor: float) -> float | None:
        """Return the p-value of a difference, which low information makes a betting one where it would count."""
        if test.n < 2 or not delta.any():
            return None
        limit = self._alpha / factor
        if test.p_value is not None and (test.p_value >= limit or not information_in(delta, self._weights).is_low):
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
        """Return where between two runs the mean stepped: where before and after differ most clearly."""
        places = np.flatnonzero(self._changed[first + 1 : end]) + 1
        return first + clearest_place(self._values[first:end], self._weights, places)

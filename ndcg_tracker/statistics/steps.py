"""Steps in a history: paired tests of windows of runs before and after each place."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.distribution_free import CAP, betting_p_value
from ndcg_tracker.statistics.repeats import (
    FEWEST_CHANGES,
    STRONG,
    RunMeans,
    RunScatter,
    is_deterministic,
    scatter_of_series,
)
from ndcg_tracker.statistics.step_windows import absolute_t, clearest_place, neighbours_of, windows_of
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t
from ndcg_tracker.statistics.t_test import (
    SMALLEST_P_VALUE,
    TTest,
    checked_weights,
    information_in,
    paired_t,
    weighted_t,
)

ALPHA = 0.05
_SCREEN = 1 - 1e-6  # the screen uses sums of squares; what passes is tested again, exactly
_TOGETHER = 1.5  # how far the scatter of runs must exceed what groups explain: of 20 runs it does in 8% by chance


@dataclass(frozen=True, slots=True)
class Drift:
    """A slow change of the mean over many runs, which no single run explains.

    ``first`` and ``last``: the first and last run (by place) of the straight line. ``change``: by how much it rises
    between them. ``ci``: the 95% interval of that.
    """

    first: int
    last: int
    change: float
    ci: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Step:
    """The change at one run of a history.

    ``delta``: its mean difference to the run before, None at the first. ``p_value``: of a difference of 0, None where
    there is nothing to infer; ``p_adjusted``: corrected over the whole history (at a step: of the test that found it).
    ``is_step``: whether the mean stepped here. ``is_possible``: whether only the t-test says so, with too little
    information to be trusted. The others are set at steps only: ``first`` and ``last``: the runs (by place) among
    which is the first after the step, both this run if the comparison of neighbours found it; ``change`` and
    ``change_ci``: the mean of the compared runs minus the mean of those before, with its 95% interval. ``drift``: set
    at the last run of one. ``may_be_drift``: whether a straight line explains the step at least as well, though not
    clearly better.
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
    drift: Drift | None = None
    may_be_drift: bool = False


@dataclass(frozen=True, slots=True)
class StepsWithScatter:
    """What happened at each run of a history.

    ``scatter``: how far runs are taken to scatter beyond what their groups explain, None for not at all.
    ``is_unsure``: whether steps are marked, but too few runs changed to tell, and no repeats did. ``n_changed``: how
    many runs differ from the one before. ``n_wandering``: how many marks were left out because runs that resemble the
    one before explain them as well, ``resemblance``: their autocorrelation.
    """

    steps: tuple[Step, ...]
    scatter: RunScatter | None = None
    is_unsure: bool = False
    n_changed: int = 0
    n_wandering: int = 0
    resemblance: float = 0.0


def steps_with_scatter(
    values: Floats, weights: Floats | None = None, *, repeats: RunScatter | None = None, alpha: float = ALPHA
) -> StepsWithScatter:
    """Return, for each run of a history, whether the mean stepped there.

    Each run is compared with the run before it, and the mean of 2, 4, 8, ... runs with that of as many before them
    (wide windows do not begin at every run but every quarter of their width). Every such comparison is a t-test over
    the *groups*: how the results of one group depend on each other from run to run does not matter, but what all groups
    of a run share is taken for independent. Half of ``alpha`` is shared by the
    neighbours, half by the wider windows (Bonferroni); runs that equal the one before add no test. Of the
    significant windows, the narrowest is taken, then the narrowest that shares no change of runs with it, and so on
    (narrowest significance pursuit). So **with probability 1 - ``alpha`` every window taken holds a step, and there are
    never more marks than steps**. Within a window of several runs the mark goes where the paired t is largest.

    If information is low (few nonzero or very skewed differences), the far tail of t cannot be trusted. Then a step
    must be significant by t and by the betting capital, which is valid for any differences within -1 to 1. A step that
    is significant by t alone is marked as possible, without a guarantee.

    Where all groups of a run move together by chance, as in trainings with another seed, the t-test over groups sees a
    step in every run. So a step must also exceed the scatter of the runs (``scatter_of_series``); ``repeats`` give it
    where fewer than 8 runs changed. Steps of one sign that a straight line explains better are reported as one drift.
    Where runs share more than groups explain, a mark must also explain the means better than runs that resemble the one
    before (``RunMeans.explained_by_neighbours``), else it is left out: of an autocorrelated series of 40 runs about
    half of the marks are, of 100 most.

    How often a mark is wrong and a step is found: ``tests/statistics/test_steps.py``, ``test_steps_of_retrainings.py``,
    and tables in docs/history.md and docs/verdicts.md.

    Parameters: ``values``: float64, shape (n_runs, n_groups), oldest run first, finite. ``weights``: of the groups,
    shape (n_groups,). ``alpha``: in (0, 1). Returns: one step per run. Raises: ValueError for any other number or
    shape. Source: Fryzlewicz, "Narrowest significance pursuit", J. Am. Stat. Assoc. 119, 2024; windows of a paired
    mean instead of its regression.

    >>> noise = np.tile([0.1, -0.1], 100)
    >>> found = steps_with_scatter(0.5 + np.array([noise, -noise, noise + 0.1, 0.1 - noise]))
    >>> [step.is_step for step in found.steps]
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
        return StepsWithScatter(())
    history = _History(values, weights, alpha, repeats)
    steps = history.steps()
    is_unsure = history.is_unsure and any(step.is_step or step.is_possible for step in steps)
    wandering = len(history.wandering), history.resemblance
    return StepsWithScatter(steps, history.series_scatter, is_unsure, history.n_changed, *wandering)


class _History:
    """The runs of a history, and the tests of one against the other."""

    def __init__(self, values: Floats, weights: Floats | None, alpha: float, repeats: RunScatter | None) -> None:
        self._values, self._weights, self._alpha = values, weights, alpha
        n_runs = len(values)
        self._neighbours = beside = neighbours_of(values, weights)
        self._changed = beside.changed
        self.n_changed = int(self._changed.sum())
        has_few = self.n_changed < FEWEST_CHANGES and not is_deterministic(self._changed)
        self.is_unsure = has_few and repeats is None
        self._may_depend = self.n_changed >= FEWEST_CHANGES and not is_deterministic(self._changed)
        self.wandering, self.resemblance = list[int](), 0.0
        scatter = repeats if has_few else scatter_of_series(beside.mean, beside.error, self._changed)
        self.series_scatter = self.scatter = (
            scatter if scatter is not None and scatter.beyond and values.shape[1] > 1 else None
        )
        self._of_runs = np.cumsum(beside.mean)
        self._means = RunMeans(self._of_runs, self._changed)
        self._windows = windows_of(n_runs, self._changed)
        self._t: Floats | None = None
        n_pairs, n_wide = int(self._changed.sum()), self._windows.place.size
        share = alpha / 2 if n_wide else alpha
        self._pair_factor = n_pairs * alpha / share
        self._wide_factor = n_wide * alpha / (alpha - share) if n_wide else 1.0

    def steps(self) -> tuple[Step, ...]:
        """Return what happened at each run."""
        pairs, marks = self._marks()
        places = [run for run, step in marks.items() if step.is_step]
        if (
            self.series_scatter is not None and places
        ):  # the runs between these steps give more information than all neighbours together
            self.scatter = self._means.between(self.series_scatter, places)
            again = self._marks()
            if sum(step.is_step for step in again[1].values()) >= len(places):
                pairs, marks = again
            else:
                self.scatter = self.series_scatter
        self._may_depend = self._may_depend and bool(marks) and self._move_together(sorted(marks))
        drifts = list(self._drifts(marks))
        for drift in drifts:
            up = drift.change > 0
            for run in range(drift.first + 1, drift.last + 1):
                if run in marks and ((marks[run].change or 0.0) > 0) == up:
                    del marks[run]
            pairs[drift.last] = replace(pairs[drift.last], drift=drift)
            if drift.last in marks:
                marks[drift.last] = replace(marks[drift.last], drift=drift)
        if self._may_depend:
            lines = [(drift.first, drift.last) for drift in drifts]
            self.wandering, self.resemblance = self._means.explained_by_neighbours(marks, lines)
            for run in self.wandering:
                del marks[run]
        return tuple(marks.get(run, step) for run, step in enumerate(pairs))

    def _move_together(self, places: list[int]) -> bool:
        """Return whether runs scatter more between steps than groups that move by themselves explain.

        If not, the tests over groups hold, however a run depends on those before it.
        """
        scale = np.ones(self._values.shape[1]) if self._weights is None else self._weights
        together, alone = 0.0, 0.0
        for part, means in zip(np.split(self._values, places), np.split(self._of_runs, places), strict=True):
            middle = part.mean(axis=0)
            for run, of_run in zip(part, means - means.mean(), strict=True):
                together += float(of_run) ** 2
                alone += float(np.square(scale * (run - middle - of_run)).sum())
        return together > _TOGETHER * alone / float(scale.sum()) ** 2

    def _marks(self) -> tuple[list[Step], dict[int, Step]]:
        """Return how each run differs from the one before, and the steps."""
        pairs = [self._beside(run) for run in range(len(self._values))]
        taken: list[tuple[int, int]] = []
        marks: dict[int, Step] = {}
        possible = []
        for window in self._significant(pairs, taken):
            if window[3] < self._alpha:
                self._take(window, pairs, taken, marks)
            else:
                possible.append(window)
        for window in possible:
            self._take(window, pairs, taken, marks)
        return pairs, marks

    def _take(
        self,
        window: tuple[int, int, int, float],
        pairs: list[Step],
        taken: list[tuple[int, int]],
        marks: dict[int, Step],
    ) -> None:
        """Mark the step in a window, unless it shares a change of runs with one that is taken."""
        place, left, right, p = window
        first, last = place - left + 1, place + right - 1
        if _overlaps(taken, first, last):
            return
        taken.append((first, last))
        run = place if first == last else self._place(place - left, place + right)
        test = self._test(self._contrast(place - left, run, place + right))
        ci = self._interval(test, run, run - place + left, place + right - run)
        beside, is_step = pairs[run], p < self._alpha
        marks[run] = Step(beside.delta, beside.p_value, p, is_step, first, last, test.mean, ci, not is_step)

    def _drifts(self, marks: dict[int, Step]) -> Iterator[Drift]:
        """Yield the slow drifts that would otherwise be series of steps of one sign."""
        runs = [run for run in sorted(marks) if marks[run].is_step]
        ends = [0, *runs, len(self._values)]
        begin = 0
        for at in range(1, len(runs) + 1):
            if at == len(runs) or ((marks[runs[at]].change or 0.0) > 0) != ((marks[runs[begin]].change or 0.0) > 0):
                yield from self._lines(marks, runs[begin:at], ends[begin], ends[at + 1])
                begin = at

    def _lines(self, marks: dict[int, Step], runs: list[int], first: int, end: int) -> Iterator[Drift]:
        """Yield the drifts among steps of one sign between two runs: one line, or lines next to a step that stays."""
        if not runs:
            return
        at = max(range(len(runs)), key=lambda place: abs(marks[runs[place]].change or 0.0))
        tight = ((marks[runs[0]].first or runs[0]) - 1, (marks[runs[-1]].last or runs[-1]) + 1)
        for begin, stop in ((first, end), tight)[: len(runs)]:
            lead = self._means.lead_of_line(begin, stop, runs, may_depend=self._may_depend)
            if lead > (STRONG if len(runs) == 1 else 0.0):
                broken = self._means.break_in_line(begin, stop, runs)
                drift = self._drift(begin, stop)
                if broken is None and (drift.ci[0] > 0 or drift.ci[1] < 0):
                    yield drift
                    return
                at = at if broken is None else runs.index(broken)
            elif lead > 0:
                marks[runs[0]] = replace(marks[runs[0]], may_be_drift=True)
        yield from self._lines(marks, runs[:at], first, runs[at])
        yield from self._lines(marks, runs[at + 1 :], runs[at], end)

    def _drift(self, first: int, end: int) -> Drift:
        """Return the straight line through the runs from ``first`` to before ``end``."""
        x = np.arange(end - first) - (end - first - 1) / 2
        rise = x / (x @ x) * (end - first - 1)
        test = self._test(rise @ self._values[first:end])
        mean, ci = test.mean or 0.0, test.ci
        if self.scatter is not None and test.sd is not None:
            scatter = self.scatter.within(*self._means.about_a_line(first, end))
            ci = scatter.interval(mean, test.sd / math.sqrt(test.n), test.n, float(rise @ rise))
        return Drift(first, end - 1, mean, ci or (mean, mean))

    def _scatter_of(self, place: int, left: int, right: int) -> tuple[RunScatter, float] | None:
        """Return how much the runs of a window scatter, and the share of it in the window's difference."""
        if self.scatter is None:
            return None
        _, share, variance, df = self._means.windows(*(np.array([number]) for number in (place, left, right)))
        return self.scatter.within(float(variance[0]), float(df[0])), float(share[0])

    def _interval(self, test: TTest, place: int, left: int, right: int) -> tuple[float, float] | None:
        window_scatter = self._scatter_of(place, left, right)
        if window_scatter is None or test.sd is None or test.mean is None:
            return test.ci
        return window_scatter[0].interval(test.mean, test.sd / math.sqrt(test.n), test.n, window_scatter[1])

    def _beside(self, run: int) -> Step:
        """Return how a run differs from the one before."""
        if not run or not self._values.shape[1]:
            return Step(None, None, None, False)
        if not self._changed[run]:
            return Step(0.0, None, None, False)
        n_groups, mean = self._values.shape[1], float(self._neighbours.mean[run])
        t, p = float(self._neighbours.t[run]), None
        if not math.isnan(t) and self.scatter is not None:
            p = self.scatter.p_value(mean, float(self._neighbours.error[run]), n_groups, 2.0)
        elif not math.isnan(t):
            p = max(two_sided_p(t, n_groups - 1.0), SMALLEST_P_VALUE)
        is_possible = p is not None and p * self._pair_factor < self._alpha
        if p is None or is_possible:
            delta = self._contrast(run - 1, run, run + 1)
            p = self._p_value(delta, (run, 1, 1), self._pair_factor)
        p_adjusted = None if p is None else min(1.0, p * self._pair_factor)
        return Step(mean, p, p_adjusted, False, is_possible=is_possible)

    def _significant(self, pairs: list[Step], taken: list[tuple[int, int]]) -> Iterator[tuple[int, int, int, float]]:
        """Yield place, runs before, runs after and corrected p-value of windows significant by t, the narrowest first.

        If information is low, that p-value may be large. What overlaps the windows ``taken`` by then is left out.
        """
        alone = [(step.p_adjusted, run) for run, step in enumerate(pairs) if step.p_adjusted is not None]
        for p_adjusted, run in sorted(alone):
            if p_adjusted < self._alpha or pairs[run].is_possible:
                pairs[run] = replace(pairs[run], is_possible=False)
                yield run, 1, 1, p_adjusted
        for place, left, right in self._screened():
            if _overlaps(taken, place - left + 1, place + right - 1):
                continue
            delta = self._contrast(place - left, place, place + right)
            p = self._p_value(delta, (place, left, right), self._wide_factor)
            if p is not None:
                yield place, left, right, min(1.0, p * self._wide_factor)

    def _screened(self) -> list[tuple[int, int, int]]:
        """Return the wide windows that are significant by t, the narrowest first, then the clearest."""
        n_groups = self._values.shape[1]
        if n_groups < 2 or not self._windows.place.size:
            return []
        critical = two_sided_t(self._alpha / self._wide_factor, n_groups - 1.0) * _SCREEN
        if self._t is None:
            self._t = absolute_t(self._values, self._weights, self._windows)
        t = self._t
        kept = np.flatnonzero(t >= critical)
        if self.scatter is not None:
            t, kept = self._by_runs(t, kept, critical)
        windows = self._windows.take(kept)
        order = np.lexsort((-t[kept], windows.left + windows.right))
        columns = (windows.place[order], windows.left[order], windows.right[order])
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def _by_runs(self, t: Floats, kept: Index, critical: float) -> tuple[Floats, Index]:
        """Return t of the windows with the scatter of runs in it, and which windows are still significant."""
        scatter = self.scatter
        assert scatter is not None
        windows = self._windows.take(kept)
        mean, share, variance, df = self._means.windows(windows.place, windows.left, windows.right)
        error = np.abs(mean) / t[kept]
        own = np.where(df > scatter.df, variance, scatter.variance)
        with_runs = np.sqrt(error**2 + np.maximum(0.0, own - scatter.own) * share)
        lower = np.abs(mean) / np.maximum(np.maximum(with_runs, np.sqrt(own * share)), 1e-300)
        adjusted, limit = t.copy(), self._alpha / self._wide_factor / _SCREEN
        adjusted[kept] = lower
        rows = [
            row
            for row in np.flatnonzero(lower >= critical).tolist()
            if scatter.within(float(variance[row]), float(df[row])).p_value(
                float(mean[row]), float(error[row]), self._values.shape[1], float(share[row])
            )
            < limit
        ]
        return adjusted, kept[rows]

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

    def _p_value(self, delta: Floats, window: tuple[int, int, int], factor: float) -> float | None:
        """Return the p-value of the difference of a window: by t, allowing for the scatter of runs, or by betting if it
        is significant and information is low."""
        test = self._test(delta)
        if test.n < 2 or not delta.any():
            return None
        limit, window_scatter, p = self._alpha / factor, self._scatter_of(*window), test.p_value
        if window_scatter is not None and test.mean is not None and test.sd is not None:
            p = window_scatter[0].p_value(test.mean, test.sd / math.sqrt(test.n), test.n, window_scatter[1])
        if p is not None and (p >= limit or not information_in(delta, self._weights).is_low_at(ALPHA)):
            return p
        if float(np.abs(delta).max()) > 1:
            return None
        shares = 1.0 if self._weights is None else self._weights / self._weights.max()
        stakes = shares * delta
        most = CAP * float(max(stakes[delta > 0].sum(), -stakes[delta < 0].sum()))  # no bet stakes more
        if 2 * np.exp(-most) >= limit:
            return 1.0
        return max(p or 0.0, betting_p_value(delta, self._weights, alpha=limit))

    def _place(self, first: int, end: int) -> int:
        """Return the place between two runs at which the mean stepped: where before and after differ most clearly."""
        places = np.flatnonzero(self._changed[first + 1 : end]) + 1
        beyond = 0.0 if self.scatter is None else self.scatter.beyond
        return first + clearest_place(self._values[first:end], self._weights, places, beyond)


def _overlaps(taken: list[tuple[int, int]], first: int, last: int) -> bool:
    return any(first <= other_last and last >= other_first for other_first, other_last in taken)

"""Runs, or systems on a suite, side by side: the rank of each, the range of its rank, and whom it beats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from ndcg_tracker.compare.options import LeaderboardTest
from ndcg_tracker.compare.results import JudgedSpan, LabelSetRef, RunRef
from ndcg_tracker.metrics.language.metric import Direction, Metric
from ndcg_tracker.rankings import Floats, Mask
from ndcg_tracker.statistics.many_tests import (
    AllPairs,
    Matrix,
    all_pairs,
    all_pairs_of_arms,
    all_pairs_of_strata,
    holm_of_pairs,
    largest_t,
)
from ndcg_tracker.statistics.repeats import crossed_t
from ndcg_tracker.statistics.stratified import of_strata, stratified, stratum_mean
from ndcg_tracker.statistics.t_distribution import two_sided_t
from ndcg_tracker.statistics.t_test import TTest, limited, t_interval
from ndcg_tracker.words.notes import Note

LEVEL = 0.95
MOST_PAIRED = 50
"""With more runs than this, only the pairs with the best run are kept; ranks use all pairs."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One run under one metric.

    ``mean`` and its 95% t interval ``ci`` (None if nothing varies). ``rank``: 1 for the best mean, the same for equal
    means. ``rank_low`` to ``rank_high``: from 1 + the number of runs that are significantly better, to the number of
    all runs minus those that are significantly worse; they hold for all runs at once with 95% confidence.
    ``is_tied_with_best``: whether it is not significantly different from the run with the best mean. ``better_than``:
    the places in the leaderboard, from 0, of the runs that it is significantly better than. ``judged``: the share of
    its first ranks with a label, None if not known.
    """

    mean: float
    ci: tuple[float, float] | None
    rank: int
    rank_low: int
    rank_high: int
    is_tied_with_best: bool
    better_than: tuple[int, ...]
    judged: float | None = None


@dataclass(frozen=True, slots=True)
class RunsPaired:
    """Two runs under one metric: ``delta`` is candidate - baseline; numbers that cannot be inferred are None.

    ``wins``: the groups in which the candidate is better, ``losses``: those in which the baseline is, ``ties``: others.
    """

    candidate: str
    baseline: str
    delta: float
    ci: tuple[float, float] | None
    p_value: float | None
    p_adjusted: float | None
    wins: int = 0
    ties: int = 0
    losses: int = 0


@dataclass(frozen=True, slots=True)
class MetricBoard:
    """One metric of a leaderboard: ``standings`` in the order of its runs, over ``n`` groups.

    ``value``: of the attribute that these groups share, None for all groups and for groups without a value.
    ``requested_as``: the name by which the metric was requested in all runs, "" if the names differ. ``cutoff``: the
    rank down to which items are judged, None for the complete list.
    """

    metric: str
    direction: Direction
    n: int
    standings: tuple[Standing, ...]
    pairs: tuple[RunsPaired, ...] = ()
    value: str | None = None
    requested_as: str = ""
    cutoff: int | None = None

    @property
    def judged(self) -> JudgedSpan | None:
        """The smallest and the largest judged share of these runs, None if no share is known."""
        return JudgedSpan.of(self.cutoff, (standing.judged for standing in self.standings))

    def with_judged(self, cutoff: int | None, shares: Sequence[float | None]) -> MetricBoard:
        """Return the same with the judged share of each run's first ranks."""
        standings = [replace(standing, judged=share) for standing, share in zip(self.standings, shares, strict=True)]
        return replace(self, standings=tuple(standings), cutoff=cutoff)

    def checked(self, pairs: Sequence[RunsPaired]) -> MetricBoard:
        """Return the same with other tests of the pairs (first with second, first with third, ...), and their ranks."""
        n, sign = len(self.standings), 1.0 if self.direction == "higher" else -1.0
        beats, gains = np.zeros((n, n), dtype=np.bool_), np.zeros(n)
        for (a, b), pair in zip(combinations(range(n), 2), pairs, strict=True):
            gain = sign * pair.delta
            gains[a], gains[b] = gains[a] + gain, gains[b] - gain
            beats[(a, b) if gain > 0 else (b, a)] = pair.p_adjusted is not None and pair.p_adjusted < 1 - LEVEL
        best = int(np.argmax(gains))
        standings = [
            Standing(of.mean, of.ci, of.rank, *_ranks(beats, best, place), of.judged)
            for place, of in enumerate(self.standings)
        ]
        return replace(self, standings=tuple(standings), pairs=tuple(pairs))


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Runs under metrics, the best of the first metric first.

    ``test``: "t" (paired t, Holm over all pairs of a metric) or "permutation" (sign flips, corrected by the largest t).
    ``slices``: the first metric on the groups of each value of ``attribute``. ``measures``: numbers of whole runs, such
    as latency, by name and in the order of the runs, None if a run has none.
    """

    dataset: str
    labels: LabelSetRef
    runs: tuple[RunRef, ...]
    metrics: tuple[MetricBoard, ...]
    test: LeaderboardTest
    attribute: str | None = None
    slices: tuple[MetricBoard, ...] = ()
    notes: tuple[Note, ...] = ()
    measures: Mapping[str, tuple[float | None, ...]] = field(default_factory=dict)


def order_of(values: Matrix, direction: Direction, weights: Floats | None = None) -> list[int]:
    """Return the runs by their mean, the best first; equal means keep their order."""
    means = np.average(values, axis=1, weights=weights) if values.shape[1] else np.zeros(values.shape[0])
    return [int(place) for place in np.argsort(-means if direction == "higher" else means, kind="stable")]


def metric_board(
    metric: Metric,
    names: Sequence[str],
    values: Matrix,
    *,
    weights: Floats | None = None,
    test: LeaderboardTest = "t",
    value: str | None = None,
    repeats: Sequence[Matrix] = (),
) -> MetricBoard:
    """Return one metric of runs in the order of ``names``: ``values`` float64, shape (runs, groups), finite.

    ``repeats``: the results of each run of every arm, shapes (k, groups); ``values`` are their means. None without
    repeats.
    """
    tested = all_pairs_of_arms(repeats, weights) if repeats else all_pairs(values, weights)
    p_value = largest_t(values) if test == "permutation" else tested.p_value
    adjusted = p_value if test == "permutation" else holm_of_pairs(p_value)
    n_runs, n = len(names), tested.n
    total = float(n if weights is None else weights[weights > 0].sum())
    intervals = []
    for place in range(n_runs):
        row = values[place] if weights is None else values[place][weights > 0]
        if weights is None:
            ci = t_interval(float(tested.means[place]), float(row.std(ddof=1)), n) if n > 1 else None
        else:
            spread = np.square(weights[weights > 0] * (row - tested.means[place])).sum()
            error = float(np.sqrt(spread * n / (n - 1))) / total if n > 1 else 0.0
            half = two_sided_t(1 - LEVEL, n - 1.0) * error if error else 0.0
            ci = (float(tested.means[place]) - half, float(tested.means[place]) + half) if half else None
        if repeats and len(repeats[place]) > 1:
            ci = crossed_t(np.zeros((1, values.shape[1])), repeats[place], weights)[0].ci
        intervals.append(limited(ci, metric.limits))
    direction = metric.direction
    standings = standings_of(tested, adjusted, direction, intervals)
    pairs = []
    counted = values if weights is None else values[:, weights > 0]
    if direction == "lower":
        counted = -counted
    half = two_sided_t(1 - LEVEL, n - 1.0) if n > 1 else 0.0
    best = int(np.argmax(tested.means if direction == "higher" else -tested.means))
    for first in range(n_runs) if n_runs <= MOST_PAIRED else [best]:
        for second in range(first + 1, n_runs) if n_runs <= MOST_PAIRED else range(n_runs):
            if second == first:
                continue
            delta, error = float(tested.delta[first, second]), float(tested.standard_error[first, second])
            width = half * error if tested.half_width is None else float(tested.half_width[first, second])
            ci = None if np.isnan(error) else (delta - width, delta + width)
            wins, losses = int((counted[first] > counted[second]).sum()), int((counted[first] < counted[second]).sum())
            p_values = _known(p_value[first, second]), _known(adjusted[first, second])
            counts = wins, n - wins - losses, losses
            pairs.append(RunsPaired(names[first], names[second], delta, ci, *p_values, *counts))
    return MetricBoard(str(metric), direction, n, standings, tuple(pairs), value)


def standings_of(
    tested: AllPairs, adjusted: Matrix, direction: Direction, intervals: Sequence[tuple[float, float] | None]
) -> tuple[Standing, ...]:
    """Return the standing of each run by corrected p-values; ``intervals``: of the means."""
    sign = 1.0 if direction == "higher" else -1.0
    beats = (adjusted < 1 - LEVEL) & (sign * tested.delta > 0)
    gains = sign * tested.means
    best = int(np.argmax(gains))
    return tuple(
        Standing(
            float(tested.means[place]),
            ci,
            1 + int((gains > gains[place]).sum()),
            *_ranks(beats, best, place),
        )
        for place, ci in enumerate(intervals)
    )


def _ranks(beats: Mask, best: int, place: int) -> tuple[int, int, bool, tuple[int, ...]]:
    """Return the range of a run's rank, whether it ties with the best, and whom it beats; ``beats``: who beats whom."""
    worst = len(beats) - int(beats[place].sum())
    beaten = tuple(int(other) for other in np.flatnonzero(beats[place]))
    return 1 + int(beats[:, place].sum()), worst, not bool(beats[best, place]), beaten


def _known(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


@dataclass(frozen=True, slots=True)
class SuiteCell:
    """The mean of a run on one dataset; ``standard_error``: None if n is below 2.

    ``judged``: the share of its first ranks with a label, None if not known.
    """

    run: str
    run_id: int
    n: int
    mean: float
    standard_error: float | None
    judged: float | None = None


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One system on every dataset of a suite.

    ``cells``: by dataset, None if it has no run there. ``macro``: the mean over datasets, each counting once, for other
    queries of these datasets; ``over_datasets``: the same for other datasets like these; ``micro``: the mean of all
    queries. All three are None if a cell is missing, because means over different datasets cannot be ranked.
    ``standing``: by the macro mean among the systems without a missing cell, for other queries of these datasets; None
    with a missing cell, and if groups have no test.
    """

    system: str
    cells: tuple[SuiteCell | None, ...]
    macro: TTest | None
    over_datasets: TTest | None
    micro: TTest | None
    standing: Standing | None = None


@dataclass(frozen=True, slots=True)
class SuiteTable:
    """Systems by the macro mean, the best first, those with missing cells last.

    ``versions``: of labels, by dataset; ``judges``: the judges of these labels, "" for the unnamed one.
    """

    suite: str
    metric: str
    datasets: tuple[str, ...]
    versions: tuple[int | None, ...]
    rows: tuple[SuiteRow, ...]
    notes: tuple[Note, ...] = ()
    direction: Direction = "higher"
    judges: tuple[str | None, ...] = ()


def suite_row(system: str, cells: Sequence[SuiteCell | None], limits: tuple[float, float] | None) -> SuiteRow:
    """Return the row of a system, with the means over all datasets if none is missing.

    Parameters: ``limits``: of the metric's values, and so of the intervals of its mean, None without limits.
    """
    present = [cell for cell in cells if cell is not None]
    if len(present) < len(cells):
        return SuiteRow(system, tuple(cells), None, None, None)
    strata = [stratum_mean(cell.n, cell.mean, cell.standard_error) for cell in present]
    return SuiteRow(
        system,
        tuple(cells),
        _within(stratified(strata, [1.0] * len(strata)), limits),
        _within(of_strata([cell.mean for cell in present]), limits),
        _within(stratified(strata, [float(cell.n) for cell in present]), limits),
    )


def with_standings(
    rows: Sequence[SuiteRow], values: Sequence[Matrix], contents: Sequence[Sequence[str]], direction: Direction
) -> list[SuiteRow]:
    """Return rows without a missing cell, each with its standing.

    Parameters, of each dataset: ``values``: a row per system. ``contents``: equal where runs are known to be the same.
    """
    same = [np.equal.outer(of_dataset, of_dataset) for of_dataset in map(np.array, contents)]
    tested = all_pairs_of_strata([all_pairs(of_dataset) for of_dataset in values], same)
    intervals = [None if row.macro is None else row.macro.ci for row in rows]
    standings = standings_of(tested, holm_of_pairs(tested.p_value), direction, intervals)
    return [replace(row, standing=standing) for row, standing in zip(rows, standings, strict=True)]


def _within(estimate: TTest, limits: tuple[float, float] | None) -> TTest:
    if estimate.ci is None or limits is None:
        return estimate
    return replace(estimate, ci=(max(estimate.ci[0], limits[0]), min(estimate.ci[1], limits[1])))

"""Runs, or systems on a suite, side by side: the rank of each, the range of its rank, and whom it beats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from ndcg_tracker.compare.options import LeaderboardTest
from ndcg_tracker.compare.results import JudgedSpan, LabelSetRef, RunRef
from ndcg_tracker.metrics.kernel.mean import plain_mean
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
from ndcg_tracker.statistics.stratified import StratumMean, of_strata, stratified, stratum_mean
from ndcg_tracker.statistics.t_distribution import two_sided_t
from ndcg_tracker.statistics.t_test import TTest, limited, paired_t, sample_std_dev, weighted_t
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
    its first ranks with a label, None if not known. ``others``: of a system on a suite, whose mean is the macro mean
    for other queries of these datasets, also the macro mean for other datasets like these ("over_datasets") and the
    mean of all queries ("micro").
    """

    mean: float
    ci: tuple[float, float] | None
    rank: int
    rank_low: int
    rank_high: int
    is_tied_with_best: bool
    better_than: tuple[int, ...]
    judged: float | None = None
    others: Mapping[str, TTest] = field(default_factory=dict)


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
    rank down to which items are judged, None for the complete list. ``labels``, ``runs``: on one dataset of a suite.
    """

    metric: str
    direction: Direction
    n: int
    standings: tuple[Standing, ...]
    pairs: tuple[RunsPaired, ...] = ()
    value: str | None = None
    requested_as: str = ""
    cutoff: int | None = None
    labels: LabelSetRef | None = None
    runs: tuple[RunRef, ...] = ()

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
    as latency, by name and in the order of the runs, None if a run has none. ``is_suite``: whether ``dataset`` is a
    suite; then ``runs`` are systems, and the slices are every metric on each dataset, each with its own labels.
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
    is_suite: bool = False


def order_of(means: Floats, direction: Direction) -> list[int]:
    """Return the runs by their mean, the best first; equal means keep their order."""
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
    n = tested.n
    intervals = []
    for place, row in enumerate(values):
        if repeats and len(repeats[place]) > 1:
            found = crossed_t(np.zeros((1, values.shape[1])), repeats[place], weights)
        else:
            found = paired_t(row) if weights is None else weighted_t(row, weights)
        intervals.append(limited(found.ci, metric.limits))
    direction = metric.direction
    standings = standings_of(tested, adjusted, direction, intervals)
    counted = values if weights is None else values[:, weights > 0]
    pairs = _pairs(names, tested, (p_value, adjusted), counted, direction)
    return MetricBoard(str(metric), direction, n, standings, pairs, value)


def board_of_strata(
    metric: Metric, names: Sequence[str], values: Sequence[Matrix], same: Sequence[Mask]
) -> MetricBoard:
    """Return the macro mean of systems over the datasets of a suite.

    Parameters, of each dataset: ``values``: see ``metric_board``. ``same``: bool, shape (m, m), which systems are known
    to be the same there.
    """
    tested = all_pairs_of_strata([all_pairs(of_dataset) for of_dataset in values], same)
    adjusted = holm_of_pairs(tested.p_value)
    macros, others = list[TTest](), list[dict[str, TTest]]()
    for place in range(len(names)):
        strata = [_stratum(of_dataset[place]) for of_dataset in values]
        macros.append(_within(stratified(strata, [1.0] * len(strata)), metric.limits))
        micro = stratified(strata, [float(of.n) for of in strata])
        both = {"over_datasets": of_strata([of.mean for of in strata]), "micro": micro}
        others.append({name: _within(of, metric.limits) for name, of in both.items()})
    found = standings_of(tested, adjusted, metric.direction, [of.ci for of in macros])
    standings = [
        replace(standing, mean=macro.mean or 0.0, others=own)
        for standing, macro, own in zip(found, macros, others, strict=True)
    ]
    pairs = _pairs(names, tested, (tested.p_value, adjusted), np.concatenate(values, axis=1), metric.direction)
    return MetricBoard(str(metric), metric.direction, tested.n, tuple(standings), pairs)


def _stratum(values: Floats) -> StratumMean:
    std_dev = sample_std_dev(values)
    return stratum_mean(values.size, plain_mean(values), None if std_dev is None else std_dev / math.sqrt(values.size))


def _within(found: TTest, limits: tuple[float, float] | None) -> TTest:
    return replace(found, ci=limited(found.ci, limits))


def _pairs(
    names: Sequence[str], tested: AllPairs, p_values: tuple[Matrix, Matrix], values: Matrix, direction: Direction
) -> tuple[RunsPaired, ...]:
    """Return the pairs of runs, of many runs those with the best; ``p_values``: of each alone, and corrected."""
    pairs, n, values = [], tested.n, values if direction == "higher" else -values
    half = two_sided_t(1 - LEVEL, n - 1.0) if n > 1 and tested.df is None else 0.0
    best = int(np.argmax(tested.means if direction == "higher" else -tested.means))
    for first in range(len(names)) if len(names) <= MOST_PAIRED else [best]:
        for second in range(first + 1, len(names)) if len(names) <= MOST_PAIRED else range(len(names)):
            if second == first:
                continue
            delta, error = float(tested.delta[first, second]), float(tested.standard_error[first, second])
            if tested.df is not None and not np.isnan(error):
                half = two_sided_t(1 - LEVEL, max(float(tested.df[first, second]), 1.0))
            width = half * error if tested.half_width is None else float(tested.half_width[first, second])
            ci = None if np.isnan(error) else (delta - width, delta + width)
            wins, losses = int((values[first] > values[second]).sum()), int((values[first] < values[second]).sum())
            alone, adjusted = (_known(of[first, second]) for of in p_values)
            counts = wins, n - wins - losses, losses
            pairs.append(RunsPaired(names[first], names[second], delta, ci, alone, adjusted, *counts))
    return tuple(pairs)


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

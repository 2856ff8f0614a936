"""What is compared: a sample of differences, or strata of several samples, and what is asked of either."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.statistics.distribution_free import betting_lower_bound, betting_upper_bound, settled
from ndcg_tracker.statistics.t_distribution import quantile
from ndcg_tracker.statistics.t_test import (
    Information,
    TTest,
    clustered_t,
    clusters_that_count,
    information_in,
    paired_t,
    weighted_t,
)

if TYPE_CHECKING:
    from ndcg_tracker.compare.drawn import DrawnDeltas
    from ndcg_tracker.compare.slices import Slicing
    from ndcg_tracker.statistics.planned import Pilot
    from ndcg_tracker.statistics.repeats import RunVariance
    from ndcg_tracker.statistics.stratified import StratumMean

Span = tuple[float, float]
Betting = tuple[float | None, float | None]
NO_BETS: Betting = (None, None)


@dataclass(frozen=True, eq=False)
class Sample:
    """The differences of n groups that count, candidate minus baseline: float64, shape (n,), finite.

    ``direction``: which values are better. ``values``: the results of both sides, shape (n,). ``weights``: float64,
    shape (n,), > 0. ``clusters``: int64, shape (n,), from 0 without a gap. ``repeats``: the results of each run of both
    arms, shapes (k_a, n) and (k_b, n). ``drawn``: which groups were drawn, so that their differences are exact;
    ``least_apart``: how many of these must differ. ``limits``: between which numbers any difference lies. ``same``:
    bool, shape (n,), which groups have equal lists on both sides. ``seen``: bool, shape (n,), which groups a side has
    at all. ``training``: how trainings of one system vary, if bounds must cover that. Each is None if there is none, or
    it is not known.
    """

    delta: Floats
    direction: Direction = "higher"
    values: tuple[Floats, Floats] | None = None
    weights: Floats | None = None
    clusters: Index | None = None
    repeats: tuple[Floats, Floats] | None = None
    drawn: DrawnDeltas | None = None
    least_apart: int = 0
    limits: Span | None = None
    same: Mask | None = None
    seen: Mask | None = None
    training: RunVariance | None = None

    def of(self, places: Index | Mask) -> Sample:
        """Return the sample of some of the groups."""

        def both(pair: tuple[Floats, Floats] | None) -> tuple[Floats, Floats] | None:
            return None if pair is None else (pair[0][..., places], pair[1][..., places])

        return replace(
            self,
            delta=self.delta[places],
            values=both(self.values),
            weights=None if self.weights is None else self.weights[places],
            clusters=None if self.clusters is None else np.unique(self.clusters[places], return_inverse=True)[1],
            repeats=both(self.repeats),
            drawn=None if self.drawn is None else self.drawn.of(places),
            same=None if self.same is None else self.same[places],
            seen=None if self.seen is None else self.seen[places],
        )

    def moved(self, delta: Floats) -> Sample:
        """Return the same groups with other differences, as other values of unjudged items may cause."""
        repeats = self.repeats and (self.repeats[0], self.repeats[1] + (delta - self.delta))
        return replace(self, delta=delta, repeats=repeats)

    def within(self, limits: Span) -> Sample:
        """Return the same, between limits if it has none."""
        return replace(self, limits=self.limits or limits)

    @property
    def gains(self) -> Sample:
        """The same as gains: the sides exchanged where lower values are better."""
        if self.direction == "higher":
            return self
        limits = self.limits and (-self.limits[1], -self.limits[0])
        repeats = self.repeats and (-self.repeats[0], -self.repeats[1])
        return replace(self, delta=-self.delta, direction="higher", repeats=repeats, limits=limits, values=None)

    def slices(self, by: Slicing) -> Iterator[tuple[str | None, Sample]]:
        """Yield each value of an attribute with the sample of its groups."""
        ends = np.cumsum(np.bincount(by.codes, minlength=len(by.names)))[:-1]
        for value, places in zip(by.names, np.split(np.argsort(by.codes, kind="stable"), ends), strict=False):
            yield value, self.of(places)

    @property
    def n(self) -> int:
        """The number of groups."""
        return self.delta.size

    @property
    def n_clusters(self) -> int:
        """The number of clusters, 0 without any."""
        return 0 if self.clusters is None else np.unique(self.clusters).size

    @property
    def wins(self) -> int:
        """How many groups are better."""
        return int((self.delta > 0).sum() if self.direction == "higher" else (self.delta < 0).sum())

    @property
    def losses(self) -> int:
        """How many groups are worse."""
        return int((self.delta < 0).sum() if self.direction == "higher" else (self.delta > 0).sum())

    @property
    def means(self) -> tuple[float | None, float | None]:
        """The (weighted) means of both sides, None if they are not known."""
        if self.values is None or not self.n or self.drawn is not None:
            return None, None
        baseline, candidate = (float(np.average(side, weights=self.weights)) for side in self.values)
        return baseline, candidate

    @property
    def is_zero(self) -> bool:
        """Whether there are groups, and no difference."""
        return self.n > 0 and not self.delta.any()

    @property
    def is_same(self) -> bool:
        """Whether all lists are known to be the same."""
        return self.is_zero and self.same is not None and bool(self.same.all())

    @property
    def may_bet(self) -> bool:
        """Whether betting bounds apply: they cover neither repeats nor drawn groups."""
        return self.repeats is None and self.drawn is None

    is_t_valid = True

    def test(self) -> TTest:
        """Return the t-test of the (weighted) mean difference, with its parts where runs were repeated."""
        if self.drawn is not None:
            return self.drawn.test(self.clusters, self.least_apart)
        if self.repeats is not None:
            from ndcg_tracker.statistics.repeats import crossed_t

            return crossed_t(*self.repeats, self.weights)
        if self.clusters is not None:
            return clustered_t(self.delta, self.clusters, self.weights)
        return paired_t(self.delta) if self.weights is None else weighted_t(self.delta, self.weights)

    def for_bounds(self) -> TTest:
        """Return the test whose one-sided bounds decide: it covers another training if trainings are known to vary."""
        if self.training is None:
            return self.test()
        from ndcg_tracker.statistics.repeats import with_runs

        return with_runs(self.test(), self.training)

    def independent(self, delta: Floats | None = None) -> tuple[Floats, Floats | None]:
        """Return independent differences and their weights: those of clusters if there are any."""
        delta = self.delta if delta is None else delta
        if self.clusters is None:
            return delta, self.weights
        w = np.ones(self.n) if self.weights is None else self.weights
        total = np.bincount(self.clusters, w).astype(np.float64)
        return np.bincount(self.clusters, w * delta) / total, total

    def information(self) -> Information:
        """Return the information that the differences carry, or those of clusters: see ``clusters_that_count``."""
        differences, sizes = self.independent()
        found = information_in(differences, sizes)
        if self.clusters is not None and sizes is not None:
            n = clusters_that_count(found.n_nonzero, sizes[differences != 0])
            found = replace(found, n_nonzero=n, of_clusters=True, as_equal=n < found.n_nonzero)
        return found if self.drawn is None else replace(found, is_drawn=True)

    def betting(self, pass_level: float, fail_alpha: float) -> Betting:
        """Return the lower and the upper bound by betting, None where none applies."""
        reach = reach_of(self.delta, self.limits)
        if not self.may_bet or not math.isfinite(reach):
            return NO_BETS
        bounds = _betting(*self.independent(self.delta / reach), reach, pass_level, fail_alpha)
        if self.training is None:
            return bounds
        mean, runs = self.test().mean or 0.0, self.training

        def widened(bound: float, level: float) -> float:
            of_runs = quantile(level, runs.n_runs - 1.0) * math.sqrt(2 * runs.component)
            return mean + math.copysign(math.hypot(bound - mean, of_runs), bound - mean)

        return widened(bounds[0], pass_level), widened(bounds[1], 1 - fail_alpha)

    @property
    def runs(self) -> list[tuple[float, RunVariance]]:
        """How repeats vary, each with the number of runs that share it."""
        from ndcg_tracker.statistics.repeats import RunVariance

        arms = [(len(arm), RunVariance.of(arm, self.weights)) for arm in self.repeats or ()]
        return [*arms, *([] if self.training is None else [(0.5, self.training)])]

    @property
    def pilot(self) -> Pilot | None:
        """What the differences show of further groups, None where only answers count or one cluster tells nothing."""
        is_one = self.clusters is not None and self.n_clusters < 2
        return None if self.drawn is not None or is_one else _pilot(self, *self.independent(), self.runs)

    @property
    def losing(self) -> tuple[Floats, Index | None]:
        """The losses of the groups that a side has (above 0), and their clusters."""
        own = (self if self.seen is None or self.seen.all() else self.of(self.seen)).gains
        return -own.delta, own.clusters


@dataclass(frozen=True, eq=False)
class Strata:
    """Samples that count equally, whatever their size: the datasets of a suite."""

    parts: Mapping[str, Sample]
    limits: Span | None = None

    training = drawn = repeats = weights = clusters = None

    @property
    def each(self) -> list[Sample]:
        """The samples."""
        return list(self.parts.values())

    @property
    def direction(self) -> Direction:
        """Which values are better."""
        return self.each[0].direction

    @property
    def gains(self) -> Strata:
        """The same as gains."""
        limits = (
            self.limits if self.limits is None or self.direction == "higher" else (-self.limits[1], -self.limits[0])
        )
        return Strata({name: part.gains for name, part in self.parts.items()}, limits)

    def slices(self, _: Slicing) -> Iterator[tuple[str | None, Sample]]:
        """Yield each stratum by its name."""
        yield from self.parts.items()

    def within(self, limits: Span) -> Strata:
        """Return the same, between limits where a stratum has none."""
        own = limits if any(part.limits is None for part in self.each) else self.each[0].limits
        return Strata({name: replace(part, limits=own) for name, part in self.parts.items()}, own)

    @property
    def n(self) -> int:
        """The number of groups in all strata, 0 if a stratum has none."""
        return sum(part.n for part in self.each) if all(part.n for part in self.each) else 0

    @property
    def wins(self) -> int:
        """How many groups are better."""
        return sum(part.wins for part in self.each)

    @property
    def losses(self) -> int:
        """How many groups are worse."""
        return sum(part.losses for part in self.each)

    @property
    def means(self) -> tuple[float | None, float | None]:
        """The means of both sides over strata, None if one is not known."""
        each = [part.means for part in self.each]
        baseline, candidate = (
            None if None in side else math.fsum(side) / len(side) for side in zip(*each, strict=True)
        )
        return baseline, candidate

    @property
    def is_zero(self) -> bool:
        """Whether no stratum has a difference."""
        return all(part.is_zero for part in self.each)

    @property
    def is_same(self) -> bool:
        """Whether all lists are known to be the same."""
        return all(part.is_same for part in self.each)

    @property
    def may_bet(self) -> bool:
        """Whether betting bounds apply."""
        return all(part.may_bet for part in self.each)

    @property
    def strata(self) -> list[StratumMean]:
        """The mean of each stratum."""
        from ndcg_tracker.statistics.stratified import stratum_mean

        tests = [(part.test(), part.is_same) for part in self.each]
        return [stratum_mean(of.n, of.mean or 0.0, of.standard_error, of.df, is_same=same) for of, same in tests]

    @property
    def is_t_valid(self) -> bool:
        """Whether t may decide: of a stratum of equal values it would claim to know the mean exactly."""
        return self.test().t is not None

    def test(self, *, by_size: bool = False) -> TTest:
        """Return the test of the mean over strata; ``by_size``: of the mean in which each group counts once."""
        from ndcg_tracker.statistics.stratified import stratified

        strata = self.strata
        return stratified(strata, [float(of.n) if by_size else 1.0 for of in strata])

    def for_bounds(self) -> TTest:
        """Return the test whose one-sided bounds decide."""
        return self.test()

    def information(self) -> Information:
        """Return the information on the mean over strata."""
        from ndcg_tracker.statistics.stratified import strata_information

        return strata_information([part.independent()[0] for part in self.each])

    def betting(self, pass_level: float, fail_alpha: float) -> Betting:
        """Return bounds by betting on all differences together, each weighted by 1/n of its stratum.

        They hold for differences drawn from all strata at random. Because each stratum has a fixed share of the
        differences, the sum varies less, and the bounds err less often.
        """
        pooled, weights = _pooled(self.each)
        reach = reach_of(pooled, self.limits)
        if not self.may_bet or not math.isfinite(reach):
            return NO_BETS
        return _betting(pooled / reach, weights if np.unique(weights).size > 1 else None, reach, pass_level, fail_alpha)

    @property
    def pilot(self) -> Pilot | None:
        """What the differences show if each stratum grows by the same factor, None where that is not known."""
        if not self.is_t_valid or any(part.drawn is not None for part in self.each):
            return None
        runs = [(n * len(self.each) ** 2, of) for part in self.each for n, of in part.runs]
        return _pilot(self, *_pooled(self.each, centred=True), runs)

    @property
    def losing(self) -> tuple[Floats, Index | None]:
        """The losses of the groups that a side has, and their clusters, which never span strata."""
        losses, clusters, n = list[Floats](), list[Index](), 0
        for part in self.each:
            of_part, own = part.losing
            losses.append(of_part)
            clusters.append(n + (np.arange(of_part.size) if own is None else own))
            n += of_part.size
        is_clustered = any(part.clusters is not None for part in self.each)
        return np.concatenate(losses), np.concatenate(clusters) if is_clustered else None


AnySample = Sample | Strata


def _pooled(each: Sequence[Sample], *, centred: bool = False) -> tuple[Floats, Floats]:
    """Return the independent differences of samples that count equally, and the weight of each.

    ``centred``: the differences from the mean of each sample.
    """
    found = [part.independent() for part in each]
    shares = [np.full(delta.size, 1 / delta.size) if own is None else own / own.sum() for delta, own in found]
    deltas = [delta - delta @ own if centred else delta for (delta, _), own in zip(found, shares, strict=True)]
    return np.concatenate(deltas), np.concatenate(shares)


def _pilot(of: AnySample, delta: Floats, weights: Floats | None, runs: Sequence[tuple[float, RunVariance]]) -> Pilot:
    from ndcg_tracker.statistics.planned import Pilot

    reach = reach_of(delta, of.limits) if of.may_bet else math.inf
    return Pilot.of(delta, weights, reach=reach, information=of.information(), runs=runs, size=of.n / delta.size)


def reach_of(delta: Floats, limits: Span | None) -> float:
    """Return how far from 0 a difference may lie; without limits this is 1, or infinity if a difference lies beyond."""
    if limits is not None:
        return max(-limits[0], limits[1])
    return 1.0 if float(np.abs(settled(delta)).max(initial=0.0)) <= 1 else math.inf


def _betting(
    scaled: Floats, weights: Floats | None, reach: float, pass_level: float, fail_alpha: float
) -> tuple[float, float]:
    """Return both betting bounds of the mean of independent differences; ``scaled``: divided by ``reach``."""
    lower = betting_lower_bound(scaled, weights, level=pass_level)
    return reach * lower, reach * betting_upper_bound(scaled, weights, level=1 - fail_alpha)

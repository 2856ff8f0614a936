"""Sums of differences, stored instead of the differences: they can be merged and suffice for a t interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.t_test import Information, TTest, clusters_that_count, finite, t_of_clusters, t_test

_SAFE_TO_SQUARE = 1e150


def sample_std_dev(values: Floats) -> float | None:
    """Return the sample standard deviation, None below two values; the order of the values does not change a bit of it.

    >>> sample_std_dev(np.array([1.0, 3.0])), sample_std_dev(np.array([1.0]))
    (1.4142135623730951, None)
    """
    if values.size < 2:
        return None
    largest = float(np.abs(values).max())
    scale = largest if largest > _SAFE_TO_SQUARE else 1.0
    return float(np.std(np.sort(values) / scale, ddof=1)) * scale


@dataclass(frozen=True, slots=True)
class Summary:
    """The sums of some numbers, such as paired differences of groups.

    ``n``: the number of numbers. ``mean``: 0 if there are none. ``m2``, ``m3``: the sums of the squares and of the
    cubes of their distances from the mean; sums of raw powers would lose all digits of nearly equal numbers. ``wins``
    and ``losses``: how many are above and below 0.
    """

    n: int = 0
    mean: float = 0.0
    m2: float = 0.0
    m3: float = 0.0
    wins: int = 0
    losses: int = 0

    @classmethod
    def of(cls, numbers: Floats) -> Summary:
        """Return the summary of some numbers: float64, shape (n,). Raises: ValueError for a NaN or an infinity.

        >>> Summary.of(np.array([0.5, 0.0, -0.25, 0.75]))
        Summary(n=4, mean=0.25, m2=0.625, m3=0.0, wins=2, losses=1)
        """
        values = finite(numbers)
        if not values.size:
            return cls()
        mean = math.fsum(values.tolist()) / values.size
        squares = np.square(centred := values - mean)
        wins, losses = int((values > 0).sum()), int((values < 0).sum())
        m2, m3 = math.fsum(squares.tolist()), math.fsum((squares * centred).tolist())
        return cls(values.size, mean, m2, m3, wins, losses)

    @classmethod
    def merged(cls, parts: Iterable[Summary]) -> Summary:
        """Return the summary of all the numbers of several disjoint summaries.

        Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances",
        COMPSTAT 1982; Pebay, Sandia report SAND2008-6212 (the third power).

        >>> Summary.merged([Summary.of(np.array([0.5, 0.0])), Summary.of(np.array([-0.25, 0.75]))])
        Summary(n=4, mean=0.25, m2=0.625, m3=0.0, wins=2, losses=1)
        """
        filled = [part for part in parts if part.n]
        n = sum(part.n for part in filled)
        if not n:
            return cls()
        mean = math.fsum(part.n * part.mean for part in filled) / n
        powers = [part.about(mean) for part in filled]
        m2, m3 = (math.fsum(power) for power in zip(*powers, strict=True))
        return cls(n, mean, m2, m3, sum(part.wins for part in filled), sum(part.losses for part in filled))

    def about(self, centre: float) -> tuple[float, float]:
        """Return the sums of the squares and of the cubes of the distances from some number.

        >>> Summary.of(np.array([1.0, 3.0])).about(1.0)
        (4.0, 8.0)
        """
        off = self.mean - centre
        return self.m2 + self.n * off * off, self.m3 + off * (3 * self.m2 + self.n * off * off)

    def negated(self) -> Summary:
        """Return the summary of minus the numbers."""
        return Summary(self.n, 0.0 - self.mean, self.m2, 0.0 - self.m3, self.losses, self.wins)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Summary:
        """Return the summary with the fields of a JSON object."""
        counts = {name: int(given[name]) for name in ("n", "wins", "losses")}
        return cls(mean=float(given["mean"]), m2=float(given["m2"]), m3=float(given["m3"]), **counts)

    @property
    def n_nonzero(self) -> int:
        """How many are not 0."""
        return self.wins + self.losses

    @property
    def ties(self) -> int:
        """How many are 0."""
        return self.n - self.n_nonzero

    @property
    def std_dev(self) -> float | None:
        """The sample standard deviation, None below two numbers."""
        return math.sqrt(self.m2 / (self.n - 1)) if self.n > 1 else None

    def test(self, *, level: float = 0.95) -> TTest:
        """Return the t-test of the mean with its interval: ``paired_t`` of the numbers, up to rounding.

        >>> test = Summary.of(np.array([0.0, 0.25, 0.5, -0.25])).test()
        >>> test.mean, round(test.p_value, 6)
        (0.125, 0.495025)
        """
        if self.std_dev is None:
            return TTest(self.n, self.mean if self.n else None, None)
        return t_test(self.n, self.mean, self.std_dev, level=level)


@dataclass(frozen=True, slots=True)
class PairedSums:
    """The sums of paired differences, candidate minus baseline, of the groups of a run or of a slice.

    ``differences``: those of the groups that both have. ``baseline_mean``: the mean of the baseline over these groups,
    0 if there are none. ``only_in_baseline``, ``only_in_candidate``: groups with a value in that run only.
    ``undefined``: groups with a value in neither. ``clusters``: None if the groups are independent; else, by the number
    of their groups, the sums of the totals of clusters. ``clustered_t`` needs no more, because clusters of the same
    size count equally.
    """

    differences: Summary = Summary()
    baseline_mean: float = 0.0
    only_in_baseline: int = 0
    only_in_candidate: int = 0
    undefined: int = 0
    clusters: Mapping[int, Summary] | None = None

    @classmethod
    def merged(cls, parts: Iterable[PairedSums]) -> PairedSums:
        """Return the sums of disjoint sets of groups together; each cluster is within one of them.

        >>> one = PairedSums(Summary.of(np.array([0.5])), 0.25, clusters={1: Summary.of(np.array([0.5]))})
        >>> two = PairedSums.merged([one, one])
        >>> two.baseline_mean, two.differences.n, two.clusters[1].n
        (0.25, 2, 2)
        """
        listed = list(parts)
        n = sum(part.differences.n for part in listed)
        sizes = {size for part in listed for size in part.clusters or ()}
        return cls(
            Summary.merged(part.differences for part in listed),
            math.fsum(part.differences.n * part.baseline_mean for part in listed) / n if n else 0.0,
            sum(part.only_in_baseline for part in listed),
            sum(part.only_in_candidate for part in listed),
            sum(part.undefined for part in listed),
            None
            if any(part.clusters is None for part in listed)
            else {
                size: Summary.merged((part.clusters or {}).get(size, Summary()) for part in listed)
                for size in sorted(sizes)
            },
        )

    def reversed(self) -> PairedSums:
        """Return the sums of baseline minus candidate.

        >>> PairedSums(Summary.of(np.array([0.5])), 0.25).reversed().differences.mean
        -0.5
        """
        of_clusters = self.clusters
        return PairedSums(
            self.differences.negated(),
            self.baseline_mean + self.differences.mean,
            self.only_in_candidate,
            self.only_in_baseline,
            self.undefined,
            None if of_clusters is None else {size: totals.negated() for size, totals in of_clusters.items()},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the sums as a JSON object."""
        clusters = self.clusters
        listed = (
            None if clusters is None else [{"n_groups": size, **asdict(totals)} for size, totals in clusters.items()]
        )
        return {**asdict(self), "clusters": listed}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> PairedSums:
        """Return the sums from an object of ``to_dict``.

        >>> one = PairedSums(Summary.of(np.array([0.5])), 0.25, clusters={1: Summary.of(np.array([0.5]))})
        >>> PairedSums.from_dict(one.to_dict()) == one
        True
        """
        clusters = given["clusters"]
        return cls(
            Summary.from_dict(given["differences"]),
            float(given["baseline_mean"]),
            int(given["only_in_baseline"]),
            int(given["only_in_candidate"]),
            int(given["undefined"]),
            None if clusters is None else {int(row["n_groups"]): Summary.from_dict(row) for row in clusters},
        )

    @property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return sum(totals.n for totals in (self.clusters or {}).values())

    def test(self, *, level: float = 0.95) -> TTest:
        """Return the t-test of the mean difference, ``clustered_t`` where there are clusters, up to rounding.

        >>> totals = {1: Summary.of(np.array([0.0, -0.25])), 2: Summary.of(np.array([1.0]))}
        >>> found = PairedSums(Summary.of(np.array([0.5, 0.5, 0.0, -0.25])), clusters=totals).test()
        >>> found.mean, round(found.standard_error, 4), round(found.df, 2)
        (0.1875, 0.2602, 1.6)
        """
        plain = self.differences.test(level=level)
        if self.clusters is None or plain.mean is None or plain.sd is None:
            return plain
        if self.n_clusters < 2:
            return TTest(plain.n, plain.mean, plain.sd)
        sizes = np.array(list(self.clusters), dtype=np.float64)
        times = np.array([totals.n for totals in self.clusters.values()], dtype=np.float64)
        squares = np.array([totals.about(size * plain.mean)[0] for size, totals in self.clusters.items()])
        return t_of_clusters(plain, float(plain.n), squares, sizes / plain.n, sizes, times, level=level)

    def information(self) -> Information:
        """Return the information that the differences, or those of clusters, carry: see ``information_in``.

        >>> PairedSums(Summary.of(np.array([0.0, 0.0, 0.0, 4.0]))).information().skewness > 1.15
        True
        """
        whole = self.differences
        if self.clusters is None:
            return Information(whole.n, whole.n_nonzero, _skewness(whole.n, whole.m2, whole.m3))
        powers = [totals.about(size * whole.mean) for size, totals in self.clusters.items()]
        m2, m3 = (math.fsum(power) for power in zip(*powers, strict=True)) if powers else (0.0, 0.0)
        sizes = [size for size, totals in self.clusters.items() for _ in range(totals.n_nonzero)]
        n, n_nonzero = self.n_clusters, clusters_that_count(len(sizes), np.array(sizes, np.float64))
        return Information(n, n_nonzero, _skewness(n, m2, m3), of_clusters=True)


def _skewness(n: int, m2: float, m3: float) -> float:
    scale = (m2 / n) ** 1.5 if n else 0.0
    return m3 / n / scale if scale else 0.0


@dataclass(frozen=True, slots=True)
class SliceSummary:
    """The sums of one metric over the groups of a run, or of one of its slices.

    ``metric``: its text. ``labels``: the digest of the labels it was computed with, None if unknown. ``values``:
    of the run's own values. ``n_undefined``: how many of its groups have none. ``attribute``: by which the run is
    sliced, None for the whole run. ``slice``: its value, None for the groups without one. ``paired``: the differences
    to a baseline, None without one. ``cluster``: the attribute that makes the clusters.
    """

    metric: str
    values: Summary
    n_undefined: int = 0
    labels: str | None = None
    attribute: str | None = None
    slice: str | None = None
    paired: PairedSums | None = None
    cluster: str | None = None

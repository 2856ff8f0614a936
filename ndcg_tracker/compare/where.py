"""Where a difference is: the slices that stand out from all other groups, over every attribute at once."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.estimate import estimate
from ndcg_tracker.compare.results import ALPHA, About, Apart, Estimate, SliceKey, Where
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_distribution import two_sided_p
from ndcg_tracker.statistics.t_test import SMALLEST_P_VALUE, TTest

if TYPE_CHECKING:
    from ndcg_tracker.compare.slices import Slicing
    from ndcg_tracker.metrics.language.metric import Direction

_ROUNDING = 1e-12
_FEWEST = 5
"""A mean of fewer groups is compared with no other mean."""
_UNKNOWN = TTest(0, None, None)
_MOST = 5
"""At most so many slices are found."""
_ALIKE = 0.5
"""Slices share most groups if this is the part that both have of all that either has."""


@dataclass(frozen=True, slots=True)
class _Slices:
    """The slices of several attributes, except those of all groups: k keys and ``masks``: bool, shape (k, n)."""

    keys: Sequence[SliceKey]
    masks: Mask
    slicings: Sequence[Slicing]
    kept: Mask

    @classmethod
    def of(cls, slicings: Sequence[Slicing]) -> _Slices:
        """Return the slices of all attributes."""
        every = np.concatenate([by.codes == np.arange(len(by.names))[:, None] for by in slicings])
        kept = np.asarray(~every.all(axis=1))
        keys = compress(((by.attribute, name) for by in slicings for name in by.names), kept.tolist())
        return cls([*keys], every[kept], slicings, kept)

    def sums(self, column: Floats | Mask) -> Floats:
        """Return the sum over each slice: without BLAS, whose threads cost more than they save on busy cores."""
        return np.concatenate([group_sums(by.codes, column, len(by.names)) for by in self.slicings])[self.kept]


@dataclass(frozen=True, slots=True)
class _Sides:
    """The slices and, in the second row, the rest of the groups: shape (2, k) each."""

    n: Floats
    mean: Floats
    error: Floats
    df: Floats

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore")
    def of(cls, sample: Sample, slices: _Slices, among: Mask) -> _Sides:
        """Return both sides among some groups; NaN where a side has too few."""
        if sample.clusters is not None or sample.repeats is not None or sample.drawn is not None:
            sides = [[of & among for of in side] for side in (slices.masks, ~slices.masks)]
            tests = [[sample.of(of).test() if of.sum() >= _FEWEST else _UNKNOWN for of in side] for side in sides]
            rows = [[(of.n, of.mean, of.standard_error, of.df) for of in side] for side in tests]
            return cls(*np.moveaxis(np.array(rows, dtype=np.float64), 2, 0))
        w = among * (np.ones(sample.n) if sample.weights is None else sample.weights)
        middle = float(sample.delta.mean())
        delta = sample.delta - middle
        columns = (among, w, w * delta, w * w, w * w * delta, np.square(w * delta))
        each = [(slices.sums(column), column.sum()) for column in columns]
        n, total, first, square, cross, second = (np.stack([inside, whole - inside]) for inside, whole in each)
        mean = first / total
        variance = np.maximum(second - 2 * mean * cross + mean * mean * square, 0.0)
        variance[variance < _ROUNDING * second] = 0.0
        return cls(n, mean + middle, np.sqrt(n / (n - 1) * variance) / total, n - 1)


@dataclass(frozen=True, slots=True)
class _Contrasts:
    """Slices against the rest: their means, p-values, and how much of the variance of the differences each explains."""

    mean: Floats
    rest: Floats
    p_values: list[float | None]
    explained: Floats

    @classmethod
    @np.errstate(divide="ignore", invalid="ignore")
    def of(cls, sample: Sample, slices: _Slices, among: Mask) -> _Contrasts:
        """Return the contrasts: Welch's t-test, or a pooled one if its standard error is larger.

        A few groups without any difference have no variance, so Welch's test alone would be too sure of their mean.
        """
        sides = _Sides.of(sample, slices, among)
        n, (mean, rest), parts = sides.n, sides.mean, np.square(sides.error)
        welch, pooled = parts.sum(axis=0), (n * n * parts).sum(axis=0) / n.prod(axis=0)
        df = np.where(welch > pooled, welch * welch / np.nansum(parts * parts / sides.df, axis=0), sides.df.sum(axis=0))
        t = (mean - rest) / np.sqrt(np.maximum(welch, pooled))
        each = zip(t.tolist(), df.tolist(), n.T.astype(np.int64).tolist(), strict=True)
        p_values = [None if min(sizes) < _FEWEST else _p_value(of_t, of_df, sizes) for of_t, of_df, sizes in each]
        explained = n.prod(axis=0) / np.square(n.sum(axis=0)) * np.square(mean - rest)
        return cls(mean, rest, p_values, explained)

    def rank(self, place: int) -> tuple[float, float]:
        """Return what explains more first; of two halves, which explain the same, the one that moved more."""
        return -round(float(self.explained[place]), 12), -abs(float(self.mean[place]))


def where(sample: Sample, slicings: Sequence[Slicing]) -> tuple[Where, dict[SliceKey, Apart]]:
    """Return the slices that stand out, and how far each slice is from all other groups.

    A slice stands out if its mean difference is not that of all other groups, at 5% over all slices of all attributes
    together (Holm), whose equal ones count once. The slice that explains most of the variance of the differences comes
    first. Its groups are then set aside, and the others are asked again: what stood out only because of it no longer
    does.

    >>> from ndcg_tracker.compare.sample import Sample
    >>> from ndcg_tracker.compare.slices import Slicing
    >>> delta = np.tile([-0.5, 0.0, 0.125, -0.125, 0.0, 0.0, 0.125, -0.125], 20)
    >>> found, _ = where(Sample(delta), [Slicing.of("locale", ["ja", "de", "fr", "de", "en", "de", "fr", "de"] * 20)])
    >>> first = found.found[0]
    >>> first.about.key, first.delta, first.about.apart.share, round(first.about.apart.rest, 4)
    (('locale', 'ja'), -0.5, 1.0, 0.0)
    """
    attributes, slices = tuple(by.attribute for by in slicings), _Slices.of(slicings)
    keys, masks, among = slices.keys, slices.masks, np.ones(sample.n, dtype=np.bool_)
    if not keys:
        return Where(attributes, 0), {}
    same = [min(of.tobytes(), other.tobytes()) for of, other in zip(masks, ~masks, strict=True)]
    contrasts, open_ones = _Contrasts.of(sample, slices, among), [*range(len(keys))]
    corrected, whole = _corrected(same, contrasts.p_values), sample.test().mean
    weights = np.ones(sample.n) if sample.weights is None else sample.weights
    carried = (slices.sums(weights) / weights.sum() * contrasts.mean).tolist()
    aparts = [
        Apart(None if np.isnan(rest) else rest, part / whole if whole and not np.isnan(part) else None, p, adjusted)
        for rest, part, p, adjusted in zip(contrasts.rest.tolist(), carried, contrasts.p_values, corrected, strict=True)
    ]
    found = list[Estimate]()
    while len(found) < _MOST:
        left = [place for place in open_ones if (p := corrected[place]) is not None and p < ALPHA]
        if not left:
            break
        best = min(left, key=contrasts.rank)
        overlap = (masks & masks[best]).sum(axis=1) / (masks | masks[best]).sum(axis=1)
        also = [place for place in left if place != best and overlap[place] >= _ALIKE]
        alike = tuple(keys[place] for place in also)
        of_best = replace(aparts[best], p_value=contrasts.p_values[best], p_adjusted=corrected[best])
        aparts[best] = replace(of_best, stands_out=True, also=alike)
        about = About(attribute=keys[best][0], value=keys[best][1], apart=aparts[best])
        found.append(estimate(sample.of(masks[best]), about=about))
        among = among & ~masks[best]
        open_ones = [place for place in open_ones if place != best and place not in also]
        contrasts = _Contrasts.of(sample, slices, among)
        corrected = _corrected(same, [p if n in open_ones else None for n, p in enumerate(contrasts.p_values)])
    return Where(attributes, len(keys), tuple(found)), dict(zip(keys, aparts, strict=True))


def where_of_step(
    values: Floats, of_steps: Sequence[Index], direction: Direction, weights: Floats | None, slicings: Sequence[Slicing]
) -> Where:
    """Return the slices that stand out at a step: by the means of the runs before it and of those after it.

    Parameters: ``values``: of each run, shape (runs, groups). ``of_steps``: the places of the runs before and after.
    ``weights``: of groups, None for equal ones.
    """
    counts = np.ones(values.shape[1], dtype=np.bool_) if weights is None else weights > 0
    before, after = (values[places].mean(axis=0)[counts] for places in of_steps)
    sample = Sample(after - before, direction, weights=None if weights is None else weights[counts])
    return where(sample, [by.at(np.flatnonzero(counts)) for by in slicings])[0]


def ranked(rows: Sequence[Estimate], found: Where, aparts: Mapping[SliceKey, Apart]) -> tuple[Estimate, ...]:
    """Return slices in their order, but first those that stand out, each with how far it is from all other groups."""
    place = {row.about.key: n for n, row in enumerate(found.found)}
    each = [replace(row, about=replace(row.about, apart=aparts.get(row.about.key))) for row in rows]
    return tuple(sorted(each, key=lambda row: place.get(row.about.key, len(place))))


def _p_value(t: float, df: float, sizes: Sequence[int]) -> float | None:
    """Return the p-value of t, without any variance that of this split among all of the same sizes; None for no t."""
    if math.isnan(t):
        return None
    return max(1 / math.comb(sum(sizes), sizes[0]) if math.isinf(t) else two_sided_p(t, df), SMALLEST_P_VALUE)


def _corrected(same: Sequence[bytes], p_values: Sequence[float | None]) -> list[float | None]:
    """Return the p-values after Holm; slices of the same groups, or one and all others, are one test."""
    alone: dict[bytes, float | None] = {}
    for of, p in zip(same, p_values, strict=True):
        alone[of] = p if p is not None else alone.get(of)
    corrected = dict(zip(alone, holm([*alone.values()]), strict=True))
    return [None if p is None else corrected[of] for of, p in zip(same, p_values, strict=True)]

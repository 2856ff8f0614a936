"""What a report shows of two runs besides their comparison: every group, the metric at each cutoff, and lists."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from ndcg_tracker.compare.estimate import adjusted, estimate, sliced
from ndcg_tracker.compare.item_changes import ItemChanges
from ndcg_tracker.compare.results import Comparison, Estimate, Verdict
from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.compare.slices import MOST_SLICES, Slicing
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.statistics.t_test import limited
from ndcg_tracker.words.texts import GroupTexts


@dataclass(frozen=True, slots=True)
class EveryGroup:
    """The result of every paired group in both runs.

    ``keys``: n ids. ``baseline``, ``candidate``: float64, shape (n,). ``attributes``: by name the value of each group
    as text, None where it has none. ``direction``: which values are better.
    """

    keys: Sequence[str]
    baseline: Floats
    candidate: Floats
    attributes: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    direction: Direction = "higher"

    @property
    def gain(self) -> Floats:
        """By how much each group is better in the candidate: float64, shape (n,)."""
        return self.delta if self.direction == "higher" else -self.delta

    @property
    def delta(self) -> Floats:
        """Candidate minus baseline: float64, shape (n,)."""
        return np.asarray(self.candidate - self.baseline)

    def most_changed(self, n: int) -> Index:
        """Return the places of the n groups that changed most, the most changed first; groups that tie stay in order.

        >>> groups = EveryGroup("abc", np.zeros(3), np.array([0.0, -0.5, 0.25]))
        >>> groups.most_changed(5).tolist()
        [1, 2]
        """
        delta = np.abs(self.delta)
        order = np.argsort(-delta, kind="stable")[:n]
        return np.asarray(order[delta[order] > 0])


@dataclass(frozen=True, slots=True)
class AtCutoff:
    """The means of two runs at one cutoff, their difference, and its 95% interval, None where it is undefined."""

    cutoff: int
    baseline: float
    candidate: float
    delta: float
    ci: tuple[float, float] | None


def at_cutoff(
    cutoff: int,
    baseline: Floats,
    candidate: Floats,
    like: Sample | None = None,
) -> AtCutoff | None:
    """Return the means of two runs at a cutoff over the groups that have a result in both, None where no group has.

    Parameters: ``baseline``, ``candidate``: float64, shape (n,), NaN where undefined; of an arm (k, n), a row per run.
    ``like``: a sample of all groups, whose weights, clusters and limits count.

    >>> row = at_cutoff(5, np.array([0.5, np.nan, 1.0]), np.array([0.5, 1.0, 0.5]))
    >>> row.baseline, row.candidate, row.delta
    (0.75, 0.5, -0.25)
    """
    found, is_counted = _sample_of([np.atleast_2d(baseline), np.atleast_2d(candidate)], like)
    if not is_counted.any():
        return None
    (sample,) = found
    means, delta = sample.means, np.average(sample.delta, weights=sample.weights)
    return AtCutoff(cutoff, means[0] or 0.0, means[1] or 0.0, float(delta), limited(sample.test().ci, sample.limits))


def _sample_of(arms: Sequence[Floats], like: Sample | None = None) -> tuple[list[Sample], Mask]:
    """Return the sample of every two arms over the groups that all have and that count, and which groups these are.

    ``arms``: the results of each run, shapes (k, n), NaN where undefined. ``like``: a sample of all groups, whose
    weights, clusters, limits and direction count.
    """
    is_counted = np.asarray(~np.isnan(np.concatenate(arms)).any(axis=0))
    like = Sample(np.zeros(is_counted.size)) if like is None else replace(like, repeats=None, values=None, drawn=None)
    if like.weights is not None:
        is_counted &= like.weights > 0
    arms, like = [of_arm[:, is_counted] for of_arm in arms], like.of(is_counted)
    means = [of_arm.mean(axis=0) for of_arm in arms]
    samples = []
    for first, second in combinations(range(len(arms)), 2):
        both, values = (arms[first], arms[second]), (means[first], means[second])
        repeats = both if len(both[0]) + len(both[1]) > 2 else None
        samples.append(replace(like, delta=values[1] - values[0], values=values, repeats=repeats))
    return samples, is_counted


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item of a group's two lists; fields of a run that lacks it within the cutoff are None (see ``ItemMove``)."""

    item: str
    grade: float | None
    rank_baseline: float | None
    rank_candidate: float | None
    contribution_baseline: float | None
    contribution_candidate: float | None


@dataclass(frozen=True, slots=True)
class GroupLists:
    """Both lists of a group side by side, and the ideal one.

    ``items``: the items within the cutoff of either run, by their best rank. ``ideal``: judged items and grades, the
    best first. ``n_more``: how many items further down were left out.
    """

    group: str
    items: tuple[ListedItem, ...]
    ideal: tuple[tuple[str, float], ...]
    n_more: int = 0


@dataclass(frozen=True, slots=True)
class PairReport:
    """Everything that a report shows of two runs.

    ``at_cutoffs``: the first metric from cutoff to cutoff, empty if it has no cutoff to vary. ``lists``: those of the
    most changed groups. ``lists_metric``: the metric that their contributions add up to, None if it is not a sum over
    items. ``slices``: by attribute, each with at most ``MOST_SLICES`` values. ``cutoff``: that of the first metric.
    ``depth``: how many ranks the lists show. ``texts``: those of groups and listed items, by group; empty unless
    requested.
    """

    comparison: Comparison
    groups: EveryGroup
    at_cutoffs: tuple[AtCutoff, ...] = ()
    lists: tuple[GroupLists, ...] = ()
    lists_metric: str | None = None
    slices: Mapping[str, tuple[Estimate, ...]] = field(default_factory=dict)
    cutoff: int | None = None
    depth: int = 10
    texts: Mapping[str, GroupTexts] = field(default_factory=dict)


def group_lists(
    keys: Sequence[str], changes: ItemChanges, labels: LabelLists, *, n_rows: int, cutoff: int | None, is_split: bool
) -> tuple[GroupLists, ...]:
    """Return the lists of some groups.

    Parameters: ``keys``: of the groups, as ``changes`` numbers them. ``changes``: their items within the cutoff.
    ``labels``: of these groups. ``n_rows``: how many items of each list at most. ``cutoff``: of the ideal list.
    ``is_split``: whether the metric shown is the sum of the contributions.
    """
    beyond = np.iinfo(np.int64).max
    ranks = [np.where(rank == 0, beyond, rank) for rank in (changes.rank_baseline, changes.rank_candidate)]
    order = np.lexsort((np.maximum(*ranks), np.minimum(*ranks), changes.groups))
    ends = np.searchsorted(changes.groups[order], np.arange(len(keys) + 1))
    ideal_of = _ideal_lists(labels, n_rows if cutoff is None else min(n_rows, cutoff))
    lists = []
    for place, key in enumerate(keys):
        rows = order[ends[place] : ends[place + 1]]
        items = tuple(
            ListedItem(
                move.item,
                move.grade,
                move.rank_baseline,
                move.rank_candidate,
                move.contribution_baseline if is_split else None,
                move.contribution_candidate if is_split else None,
            )
            for move in changes.only(rows[:n_rows]).moves()
        )
        lists.append(GroupLists(key, items, ideal_of.get(key, ()), max(0, rows.size - n_rows)))
    return tuple(lists)


def _ideal_lists(labels: LabelLists, n: int) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the best judged items of each group; equal grades keep the order of the labels."""
    ideal_of = {}
    for place, key in enumerate(labels.group_keys.to_list()):
        first, last = int(labels.offsets[place]), int(labels.offsets[place + 1])
        rows = first + np.argsort(-labels.grades[first:last], kind="stable")[:n]
        grades = labels.grades[rows].tolist()
        ideal_of[key] = tuple(
            (item, grade)
            for item, grade in zip(labels.item_keys.take(rows).to_list(), grades, strict=True)
            if not math.isnan(grade)
        )
    return ideal_of


def slices_by(sample: Sample, slicings: Iterable[Slicing]) -> dict[str, tuple[Estimate, ...]]:
    """Return the comparison of two runs by every attribute that has between 2 and ``MOST_SLICES`` values."""
    return {by.attribute: sliced(sample, [by]) for by in slicings if 2 <= len(by.names) <= MOST_SLICES}


@dataclass(frozen=True, slots=True)
class RunPairDelta:
    """The difference between two of several runs, and whether it was detected (see ``Estimate.verdict``)."""

    baseline: str
    candidate: str
    delta: float
    p_adjusted: float | None
    verdict: Verdict


def every_pair(names: Sequence[str], values: Sequence[Floats], like: Sample | None = None) -> tuple[RunPairDelta, ...]:
    """Return the difference between any two of several runs: paired t-tests, Holm-corrected over all pairs.

    Parameters: ``values``: of each run float64, shape (n,), of an arm (k, n), NaN where undefined; only groups that all
    runs have count. ``like``: see ``at_cutoff``. Returns: one for each ordered pair.

    >>> [(row.baseline, row.candidate, row.delta) for row in every_pair("ab", np.array([[0.0, 0.5], [1.0, 1.0]]))]
    [('a', 'b', 0.75), ('b', 'a', -0.75)]
    """
    samples, is_counted = _sample_of([np.atleast_2d(of_arm) for of_arm in values], like)
    if not is_counted.any():
        return ()
    rows = []
    for (first, second), found in zip(combinations(names, 2), adjusted(list(map(estimate, samples))), strict=True):
        back = replace(found, t=replace(found.t, mean=0.0 - (found.delta or 0.0)))
        for pair, one in (((first, second), found), ((second, first), back)):
            rows.append(RunPairDelta(*pair, one.delta or 0.0, one.p_adjusted, one.verdict or "identical"))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class PairReports:
    """A baseline with each of its candidates, and the difference between any two of these runs."""

    pairs: tuple[PairReport, ...]
    deltas: tuple[RunPairDelta, ...] = ()

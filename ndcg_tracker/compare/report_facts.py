"""What a report shows of two runs besides their comparison: every group, the metric at each cutoff, and lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ndcg_tracker.compare.inference import GROUPS_ONLY, Chance
from ndcg_tracker.compare.item_changes import ItemChanges
from ndcg_tracker.compare.results import Comparison, SliceComparison, Verdict, corrected_verdict
from ndcg_tracker.compare.slices import compare_slices, worst_first
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_test import limited
from ndcg_tracker.words.texts import GroupTexts

MOST_SLICES = 50
"""An attribute with more values is an identifier rather than a slice, and is not drawn."""


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
    weights: Floats | None = None,
    *,
    limits: tuple[float, float] | None = None,
    chance: Chance = GROUPS_ONLY,
) -> AtCutoff | None:
    """Return the means of two runs at a cutoff over the groups that have a result in both, None where no group has.

    Parameters: ``baseline``, ``candidate``: float64, shape (n,), NaN where undefined; of an arm (k, n), a row per run.
    ``weights``: float64, shape (n,). ``limits``: the smallest and largest possible difference, if known. ``chance``:
    clusters of all groups.

    >>> row = at_cutoff(5, np.array([0.5, np.nan, 1.0]), np.array([0.5, 1.0, 0.5]))
    >>> row.baseline, row.candidate, row.delta
    (0.75, 0.5, -0.25)
    """
    arms = np.atleast_2d(baseline), np.atleast_2d(candidate)
    is_counted = ~(np.isnan(arms[0]).any(axis=0) | np.isnan(arms[1]).any(axis=0))
    if weights is not None:
        is_counted &= weights > 0
    if not is_counted.any():
        return None
    arms = arms[0][:, is_counted], arms[1][:, is_counted]
    weights = None if weights is None else weights[is_counted]
    values = [of_arm.mean(axis=0) for of_arm in arms]
    delta = values[1] - values[0]
    test, _ = chance.of(np.asarray(is_counted)).between(*arms).test(delta, weights)
    means = [float(np.average(of_arm, weights=weights)) for of_arm in values]
    return AtCutoff(cutoff, means[0], means[1], float(np.average(delta, weights=weights)), limited(test.ci, limits))


@dataclass(frozen=True, slots=True)
class ListedItem:
    """An item of a group's two lists; fields of a run that lacks it within the cutoff are None (see ``ItemMove``)."""

    item: str
    grade: float | None
    rank_baseline: int | None
    rank_candidate: int | None
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
    slices: Mapping[str, tuple[SliceComparison, ...]] = field(default_factory=dict)
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


def slices_by(
    groups: EveryGroup,
    weights: Floats | None,
    limits: tuple[float, float] | None,
    chance: Chance = GROUPS_ONLY,
) -> dict[str, tuple[SliceComparison, ...]]:
    """Return the comparison of two runs by every attribute that has between 2 and ``MOST_SLICES`` values."""
    slices = {}
    for name, values in groups.attributes.items():
        if 2 <= len(set(values)) <= MOST_SLICES:
            both, direction = (groups.baseline, groups.candidate), groups.direction
            rows = compare_slices(*both, values, weights, limits=limits, chance=chance, direction=direction)
            slices[name] = worst_first(rows, direction)
    return slices


@dataclass(frozen=True, slots=True)
class RunPairDelta:
    """The difference between two of several runs, and whether it was detected (see ``corrected_verdict``)."""

    baseline: str
    candidate: str
    delta: float
    p_adjusted: float | None
    verdict: Verdict


def every_pair(
    names: Sequence[str],
    values: Sequence[Floats],
    weights: Floats | None = None,
    direction: Direction = "higher",
    *,
    chance: Chance = GROUPS_ONLY,
) -> tuple[RunPairDelta, ...]:
    """Return the difference between any two of several runs: paired t-tests, Holm-corrected over all pairs.

    Parameters: ``values``: of each run float64, shape (n,), of an arm (k, n), NaN where undefined; only groups that all
    runs have count. ``weights``: float64, shape (n,). ``chance``: clusters of the groups. Returns: one for each ordered
    pair.

    >>> [(row.baseline, row.candidate, row.delta) for row in every_pair("ab", np.array([[0.0, 0.5], [1.0, 1.0]]))]
    [('a', 'b', 0.75), ('b', 'a', -0.75)]
    """
    arms = [np.atleast_2d(of_arm) for of_arm in values]
    is_counted = ~np.isnan(np.concatenate(arms)).any(axis=0)
    if weights is not None:
        is_counted &= weights > 0
        weights = weights[is_counted]
    if not is_counted.any():
        return ()
    arms = [of_arm[:, is_counted] for of_arm in arms]
    means = [of_arm.mean(axis=0) for of_arm in arms]
    places = list(combinations(range(len(names)), 2))
    deltas = [means[second] - means[first] for first, second in places]
    chance = chance.of(np.asarray(is_counted))
    tests = [
        chance.between(arms[first], arms[second]).test(delta, weights)[0]
        for (first, second), delta in zip(places, deltas, strict=True)
    ]
    has_changed = [bool(delta.any()) for delta in deltas]
    p_values = holm([test.p_value if changed else None for test, changed in zip(tests, has_changed, strict=True)])
    rows = []
    for (first, second), test, changed, p_value in zip(places, tests, has_changed, p_values, strict=True):
        before: Verdict = "no_difference_detected" if changed else "identical"
        assert test.mean is not None  # some group counts
        for baseline, candidate, delta in ((first, second, test.mean), (second, first, 0.0 - test.mean)):
            verdict = corrected_verdict(before, delta if direction == "higher" else -delta, p_value) or before
            rows.append(RunPairDelta(names[baseline], names[candidate], delta, p_value, verdict))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class PairReports:
    """A baseline with each of its candidates, and the difference between any two of these runs."""

    pairs: tuple[PairReport, ...]
    deltas: tuple[RunPairDelta, ...] = ()

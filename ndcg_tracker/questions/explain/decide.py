"""Why a result changed: the delta of one group by item, or of the mean by group, ranking, labels and coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ndcg_tracker.compare.item_changes import KINDS, ItemChanges, Kind, remainder_of
from ndcg_tracker.compare.results import ItemMove, LabelSetRef, RunRef, Verdict
from ndcg_tracker.compare.slices import Slicing
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.join import matching_rows
from ndcg_tracker.rankings.ranking import LabelDetail, LabelLists
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import GroupTexts

GroupNames = Callable[[Index], Sequence[str]]
RANK_ENDS = (1, 3, 10, 20, 50, 100, 1000)
"""The last rank of each range of ranks; a further range has all later ranks."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of an explanation: the metric, both runs, and the labels that each is evaluated against.

    ``cutoff``: that of the metric.
    """

    metric: str
    baseline_run: RunRef
    candidate_run: RunRef
    dataset: str
    baseline_labels: LabelSetRef
    candidate_labels: LabelSetRef
    cutoff: int | None = None

    @property
    def is_same_labels(self) -> bool:
        """Whether both runs are evaluated against one label set."""
        return self.baseline_labels == self.candidate_labels


@dataclass(frozen=True, slots=True)
class ExplainedItem:
    """One item of a group with what happened to it; ``grade_baseline``: its grade in the labels of the baseline.

    ``detail``: what is known of its label besides the grade, None for nothing.
    """

    move: ItemMove
    kind: Kind
    grade_baseline: float | None
    detail: LabelDetail | None = None


@dataclass(frozen=True, slots=True)
class GroupExplanation:
    """The delta of one group, split into what each item contributed to it.

    ``items``: those within the cutoff in either run, the largest contribution first. ``parts``: of a change of labels,
    None if both runs are evaluated against the same labels, or if a step in between has no value. ``texts``: of the
    group and its items, if there are any.
    """

    subject: Subject
    group: str
    baseline: float
    candidate: float
    items: tuple[ExplainedItem, ...]
    parts: ChangeParts | None = None
    notes: tuple[Note, ...] = ()
    texts: GroupTexts = field(default_factory=GroupTexts)

    @property
    def delta(self) -> float:
        """Candidate minus baseline."""
        return self.candidate - self.baseline

    @property
    def remainder(self) -> float:
        """The part of the delta that no item accounts for; exactly 0 if it is only a rounding error."""
        return remainder_of(self.delta, np.array([item.move.contribution for item in self.items]))


@dataclass(frozen=True, slots=True)
class RunExplanation:
    """The difference of two means, split by items, grades and ranks, or into the parts of runs and labels.

    ``n_groups``: the groups that count. ``totals``: None if the runs are evaluated against different labels, ``parts``:
    None if they are evaluated against the same labels. ``worst_group``: the group with the most negative delta, None if
    no delta is. ``verdict``: of the paired t-test, None without one.
    """

    subject: Subject
    baseline: float
    candidate: float
    n_groups: int
    totals: ChangeTotals | None = None
    parts: ChangeParts | None = None
    worst_group: str | None = None
    notes: tuple[Note, ...] = ()
    verdict: Verdict | None = None

    @property
    def delta(self) -> float:
        """Candidate minus baseline."""
        return self.candidate - self.baseline


Explanation = GroupExplanation | RunExplanation


def explained_items(changes: ItemChanges) -> tuple[ExplainedItem, ...]:
    """Return the items of one group, the largest contribution to its delta first."""
    ordered = changes.only(changes.largest_first())
    rows = zip(ordered.moves(), ordered.kinds.tolist(), ordered.grade_baseline.tolist(), strict=True)
    return tuple(ExplainedItem(move, KINDS[kind], None if np.isnan(grade) else grade) for move, kind, grade in rows)


@dataclass(frozen=True, slots=True)
class LabelDifferences:
    """How two label sets differ: common pairs with different grades, and pairs that only one of them has."""

    n_changed: int
    n_added: int
    n_removed: int


@dataclass(frozen=True, slots=True)
class GroupDifferences:
    """How the groups in the mean changed from the baseline to the candidate.

    ``n_common``: groups with a value at every step between. ``n_came`` and ``n_went``: groups with a value at the end
    or at the start only; ``n_between``: groups with one at both, but not at every step between. ``n_added`` and
    ``n_removed``: the labels that only one label set has and that belong to groups which are not common. ``baseline``
    and ``candidate``: the means at both ends over the common groups.
    """

    n_common: int
    n_came: int
    n_went: int
    n_between: int
    n_added: int
    n_removed: int
    baseline: float
    candidate: float

    @property
    def is_any(self) -> bool:
        """Whether there are groups besides the common ones."""
        return bool(self.n_came or self.n_went or self.n_between)


@dataclass(frozen=True, slots=True)
class ChangeParts:
    """A change from one run under one label set to another run under another, step by step.

    ``baseline``: the baseline under its labels. ``other_run``: the candidate under those labels. ``other_grades``: the
    candidate under those labels with the newer grades of the pairs that both label sets have. ``candidate``: the
    candidate under its own labels. ``differences``: how the label sets differ. ``of_groups``: for means, how their
    groups differ; the steps in between are then means over the common groups. The parts add up to the change.

    >>> parts = ChangeParts(0.5, 0.625, 0.5625, 0.75, LabelDifferences(1, 2, 0))
    >>> parts.ranking, parts.labels, parts.coverage
    (0.125, -0.0625, 0.1875)
    >>> came = GroupDifferences(2, 2, 0, 0, 8, 0, 0.5, 0.75)
    >>> more = ChangeParts(0.5, 0.5, 0.5, 0.25, LabelDifferences(0, 9, 0), came)
    >>> more.groups, more.coverage
    (-0.5, 0.25)
    """

    baseline: float
    other_run: float
    other_grades: float
    candidate: float
    differences: LabelDifferences
    of_groups: GroupDifferences | None = None

    @property
    def groups(self) -> float:
        """The part of the groups that are in only one of the means."""
        if self.of_groups is None:
            return 0.0
        return (self.of_groups.baseline - self.baseline) + (self.candidate - self.of_groups.candidate)

    @property
    def ranking(self) -> float:
        """The part of the other run, under the baseline's labels."""
        return self.other_run - (self.baseline if self.of_groups is None else self.of_groups.baseline)

    @property
    def labels(self) -> float:
        """The part of changed grades, for pairs that were labelled before."""
        return self.other_grades - self.other_run

    @property
    def coverage(self) -> float:
        """The part of the pairs that are labelled in only one label set."""
        return (self.candidate if self.of_groups is None else self.of_groups.candidate) - self.other_grades


def labels_of_one(labels: LabelLists, other: LabelLists, left_out: Mask, other_left_out: Mask) -> tuple[int, int]:
    """Return how many labels of some groups are only in the other label set, and how many only in this one.

    Parameters: ``left_out``, ``other_left_out``: bool, one per group of each label set: which groups to count.
    """
    if not left_out.any() and not other_left_out.any():
        return 0, 0
    rows, partners = matching_rows(labels, other)
    counted, other_counted = (
        np.repeat(groups, np.diff(lists.offsets)) for groups, lists in ((left_out, labels), (other_left_out, other))
    )
    n_added = other_counted.sum() - np.count_nonzero(other_counted[partners])
    return int(n_added), int(counted.sum() - np.count_nonzero(counted[rows]))


def with_grades_of(labels: LabelLists, other: LabelLists) -> tuple[LabelLists, LabelDifferences]:
    """Return the labels with the grades of another label set for common pairs, and the differences.

    >>> from ndcg_tracker.rankings.keys import Keys
    >>> def of(items, *grades): return LabelLists.from_rows(Keys.from_strings("qq"), Keys.from_strings(items),
    ...                                                     np.array(grades))
    >>> mixed, differences = with_grades_of(of("ab", 1.0, 2.0), of("bc", 3.0, 4.0))
    >>> mixed.grades.tolist(), differences
    ([1.0, 3.0], LabelDifferences(n_changed=1, n_added=1, n_removed=1))
    """
    rows, partners = matching_rows(labels, other)
    grades = labels.grades.copy()
    grades[rows] = other.grades[partners]
    differences = LabelDifferences(
        int(np.count_nonzero(grades != labels.grades)), other.n_items - rows.size, labels.n_items - rows.size
    )
    return LabelLists(labels.group_keys, labels.offsets, labels.item_keys, grades), differences


@dataclass(frozen=True, slots=True)
class KindTotal:
    """The effect on the mean of the items with one kind of change: how many contribute differently, and how much."""

    kind: Kind
    n_items: int
    contribution: float


@dataclass(frozen=True, slots=True)
class GradeTotal:
    """The effect on the mean of the items of one grade (None: the unjudged ones)."""

    grade: float | None
    n_items: int
    contribution: float


@dataclass(frozen=True, slots=True)
class RankTotal:
    """The effect on the mean of the items at ranks ``first`` to ``last`` in the baseline.

    ``last`` is None for the open range. Both are None for items that the baseline does not list.
    """

    first: int | None
    last: int | None
    n_items: int
    contribution: float


@dataclass(frozen=True, slots=True)
class ItemTotal:
    """The effect of one item on the mean, and the number of groups with an effect.

    ``group``, ``grade``, ``rank_baseline`` and ``rank_candidate``: those of the only group with an effect; all None if
    there are several groups. A grade is also None for an unjudged item, and a rank is None if the run does not list the
    item.
    """

    item: str
    n_groups: int
    contribution: float
    group: str | None = None
    grade: float | None = None
    rank_baseline: float | None = None
    rank_candidate: float | None = None


@dataclass(frozen=True, slots=True)
class SliceTotal:
    """The effect on the mean of the groups that share an attribute's value; ``delta``: their own mean difference.

    ``value``: None for the groups without one.
    """

    attribute: str
    value: str | None
    n_groups: int
    delta: float
    contribution: float


@dataclass(frozen=True, slots=True)
class ChangeTotals:
    """The effect of the items of all groups on the mean, in points of its delta.

    Each of ``kinds``, ``grades`` and ``ranks`` adds up to the delta except for the ``remainder``, which no item
    accounts for. So do ``items`` together with the ``n_other_items`` that add ``other_items``. Only items with a
    changed contribution are counted. ``items``: those that cost most and those that gained most, by the size of their
    effect. ``slices``: of the groups, the costliest first, None if not requested; they add up to the delta of the
    (weighted) mean.
    """

    kinds: tuple[KindTotal, ...]
    grades: tuple[GradeTotal, ...]
    ranks: tuple[RankTotal, ...]
    items: tuple[ItemTotal, ...]
    n_other_items: int
    other_items: float
    remainder: float
    slices: tuple[SliceTotal, ...] | None = None


def slice_totals(by: Slicing, delta: Floats, shares: Floats) -> tuple[SliceTotal, ...]:
    """Return the effect of each slice on the mean, the costliest first.

    Parameters: ``by``: a value for each group. ``delta``, ``shares``: float64, shape (n_groups,), the difference of
    each group, and its part of the mean.

    >>> by = Slicing.of("device", ["tv", "phone", "tv"])
    >>> [(row.value, row.contribution) for row in slice_totals(by, np.array([0.5, -0.5, 0.0]), np.full(3, 0.25))]
    [('phone', -0.125), ('tv', 0.125)]
    """
    counts, changes = _sums(by.codes, delta * shares, len(by.names))
    _, of_mean = _sums(by.codes, shares, len(by.names))
    rows = [
        SliceTotal(by.attribute, value, n, change / share if share else 0.0, change)
        for value, n, change, share in zip(by.names, counts, changes, of_mean, strict=True)
    ]
    return tuple(sorted(rows, key=lambda row: (row.contribution, row.value is None, row.value or "")))


def change_totals(
    changes: ItemChanges,
    shares: Floats,
    delta: float,
    group_names: GroupNames,
    *,
    top: int | None,
    by_row_number: bool = False,
) -> ChangeTotals:
    """Return the effect of the items of all groups on the mean.

    Parameters: ``changes``: the items of all groups whose contribution changed. ``shares``: float64, shape (n_groups,),
    the part of each group in the mean, with sum 1. ``delta``: the difference of the means. ``group_names``: returns the
    ids of groups from their places. ``top``: how many items to name at either end, None for all. ``by_row_number``:
    items are identified by their places within each group, so no item is in two groups.
    """
    points = changes.contribution * shares[changes.groups]
    items, n_other, other = _by_item(changes, points, group_names, top, by_row_number=by_row_number)
    return ChangeTotals(
        _by_kind(changes, points),
        _by_grade(changes, points),
        _by_rank(changes, points),
        items,
        n_other,
        other,
        remainder_of(delta, points),
    )


def _sums(codes: Index, points: Floats, n_codes: int) -> tuple[list[int], list[float]]:
    counts = np.bincount(codes, minlength=n_codes)
    return counts.tolist(), np.bincount(codes, points, minlength=n_codes).astype(np.float64).tolist()


def _by_kind(changes: ItemChanges, points: Floats) -> tuple[KindTotal, ...]:
    counts, sums = _sums(changes.kinds.astype(np.int64), points, len(KINDS))
    totals = [KindTotal(*row) for row in zip(KINDS, counts, sums, strict=True)]
    return tuple(sorted((total for total in totals if total.n_items), key=lambda total: -abs(total.contribution)))


def _by_grade(changes: ItemChanges, points: Floats) -> tuple[GradeTotal, ...]:
    """Return the totals by grade, the highest first and the unjudged items last."""
    grades, codes = np.unique(changes.grades, return_inverse=True)
    counts, sums = _sums(codes.ravel(), points, grades.size)
    names = [None if np.isnan(grade) else grade for grade in grades.tolist()]
    totals = [GradeTotal(*row) for row in zip(names, counts, sums, strict=True)]
    return tuple(sorted(totals, key=lambda total: (total.grade is None, -(total.grade or 0.0))))


def _by_rank(changes: ItemChanges, points: Floats) -> tuple[RankTotal, ...]:
    """Return the totals by rank in the baseline, the first rank first."""
    ends = np.array(RANK_ENDS)
    codes = np.searchsorted(ends, changes.rank_baseline)
    codes[changes.rank_baseline == 0] = ends.size + 1
    counts, sums = _sums(codes, points, ends.size + 2)
    firsts: list[int | None] = [1, *(end + 1 for end in RANK_ENDS), None]
    lasts: list[int | None] = [*RANK_ENDS, None, None]
    totals = [RankTotal(*row) for row in zip(firsts, lasts, counts, sums, strict=True)]
    return tuple(total for total in totals if total.n_items)


def _by_item(
    changes: ItemChanges, points: Floats, group_names: GroupNames, top: int | None, *, by_row_number: bool
) -> tuple[tuple[ItemTotal, ...], int, float]:
    """Return the items with the largest effects either way, the number of other items, and their total effect."""
    first = codes = np.arange(points.size)
    if not by_row_number:
        _, first, codes = np.unique(changes.item_keys.hashes(), return_index=True, return_inverse=True)
    counts, sums = (np.array(numbers) for numbers in _sums(codes.ravel(), points, first.size))
    ascending = np.argsort(sums, kind="stable")
    lowest, highest = ascending[:top], ascending[::-1][:top]
    shown = np.concatenate([lowest[sums[lowest] < 0], highest[sums[highest] > 0]])
    shown = shown[np.argsort(-np.abs(sums[shown]), kind="stable")]
    alone = changes.only(first[shown])
    rows = []
    for move, count, contribution, group in zip(
        alone.moves(), counts[shown].tolist(), sums[shown].tolist(), group_names(alone.groups), strict=True
    ):
        if count > 1:
            rows.append(ItemTotal(move.item, count, contribution))
        else:
            ranks = (move.rank_baseline, move.rank_candidate)
            rows.append(ItemTotal(move.item, count, contribution, group, move.grade, *ranks))
    others = np.ones(first.size, dtype=np.bool_)
    others[shown] = False
    return tuple(rows), int(others.sum()), float(sums[others].sum())

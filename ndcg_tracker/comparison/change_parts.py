"""The change between two evaluations split into what the ranking, the labels and their coverage did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ndcg_tracker.rankings.join import matching_rows
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.rankings.types import Mask


@dataclass(frozen=True, slots=True)
class LabelDifferences:
    """How two label sets differ: the pairs of both whose grade is another one, and the pairs of one of them alone."""

    n_changed: int
    n_added: int
    n_removed: int

    def __add__(self, other: LabelDifferences) -> LabelDifferences:
        """Return the differences of two parts of the label sets together."""
        return LabelDifferences(
            self.n_changed + other.n_changed, self.n_added + other.n_added, self.n_removed + other.n_removed
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these counts."""
        return {"changed": self.n_changed, "added": self.n_added, "removed": self.n_removed}


@dataclass(frozen=True, slots=True)
class GroupDifferences:
    """How the groups in the mean changed from the baseline to the candidate.

    ``n_common``: groups with a value at every step between. ``n_came`` and ``n_went``: groups with a value at the end
    or at the start only; ``n_between``: groups with one at both, but not at every step between. ``n_added`` and
    ``n_removed``: the labels that one label set alone has and that belong to groups which are not common ones.
    ``baseline`` and ``candidate``: the means of both ends over the common groups.
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
        """Whether there are others than common groups."""
        return bool(self.n_came or self.n_went or self.n_between)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these groups."""
        return {
            "common": self.n_common,
            "came": self.n_came,
            "went": self.n_went,
            "between": self.n_between,
            "labels_added": self.n_added,
            "labels_removed": self.n_removed,
            "baseline_over_common": self.baseline,
            "candidate_over_common": self.candidate,
        }


@dataclass(frozen=True, slots=True)
class ChangeParts:
    """A change from one run under one label set to another run under another, step by step.

    ``baseline``: the baseline under its labels. ``other_run``: the candidate under those labels. ``other_grades``: the
    candidate under those labels with the newer grades of the pairs that both label sets have. ``candidate``: the
    candidate under its own labels. ``differences``: how the label sets differ. ``of_groups``: of means, how their
    groups differ; then the steps between are means over the common groups. The parts add up to the change.

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
        """What the groups did that are in one of the means only."""
        if self.of_groups is None:
            return 0.0
        return (self.of_groups.baseline - self.baseline) + (self.candidate - self.of_groups.candidate)

    @property
    def ranking(self) -> float:
        """What the other run did, under the baseline's labels."""
        return self.other_run - (self.baseline if self.of_groups is None else self.of_groups.baseline)

    @property
    def labels(self) -> float:
        """What the other grades of pairs that were labelled before did to the candidate."""
        return self.other_grades - self.other_run

    @property
    def coverage(self) -> float:
        """What the pairs did that are labelled in one label set only."""
        return (self.candidate if self.of_groups is None else self.of_groups.candidate) - self.other_grades

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these parts."""
        return {
            "ranking": self.ranking,
            "labels": self.labels,
            "coverage": self.coverage,
            "candidate_under_baseline_labels": self.other_run,
            "candidate_under_changed_grades": self.other_grades,
            "labels_changed": self.differences.to_dict(),
        } | ({} if self.of_groups is None else {"groups": self.groups, "groups_changed": self.of_groups.to_dict()})


def labels_of_one(labels: LabelLists, other: LabelLists, left_out: Mask, other_left_out: Mask) -> tuple[int, int]:
    """Return how many labels of some groups are in the other label set only, and how many in this one only.

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
    """Return the labels with the grades that another label set gives to the pairs that both have, and the differences.

    >>> from ndcg_tracker.rankings.keys import Keys
    >>> def of(items, *grades): return LabelLists.from_rows(Keys.from_strings("qq"), Keys.from_strings(items),
    ...                                                     np.array(grades))
    >>> mixed, differences = with_grades_of(of("ab", 1.0, 2.0), of("bc", 3.0, 4.0))
    >>> mixed.grades.tolist(), differences.to_dict()
    ([1.0, 3.0], {'changed': 1, 'added': 1, 'removed': 1})
    """
    rows, partners = matching_rows(labels, other)
    grades = labels.grades.copy()
    grades[rows] = other.grades[partners]
    differences = LabelDifferences(
        int(np.count_nonzero(grades != labels.grades)), other.n_items - rows.size, labels.n_items - rows.size
    )
    return LabelLists(labels.group_keys, labels.offsets, labels.item_keys, grades), differences

"""The change between two evaluations split into what the ranking, the labels and their coverage did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ndcg_tracker.rankings.join import matching_rows
from ndcg_tracker.rankings.ranking import LabelLists


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
class ChangeParts:
    """A change from one run under one label set to another run under another, step by step.

    ``baseline``: the baseline under its labels. ``other_run``: the candidate under those labels. ``other_grades``: the
    candidate under those labels with the newer grades of the pairs that both label sets have. ``candidate``: the
    candidate under its own labels. ``differences``: how the label sets differ.

    >>> parts = ChangeParts(0.5, 0.625, 0.5625, 0.75, LabelDifferences(1, 2, 0))
    >>> parts.ranking, parts.labels, parts.coverage
    (0.125, -0.0625, 0.1875)
    """

    baseline: float
    other_run: float
    other_grades: float
    candidate: float
    differences: LabelDifferences

    @property
    def ranking(self) -> float:
        """What the other run did, under the baseline's labels."""
        return self.other_run - self.baseline

    @property
    def labels(self) -> float:
        """What the other grades of pairs that were labelled before did to the candidate."""
        return self.other_grades - self.other_run

    @property
    def coverage(self) -> float:
        """What the pairs (and groups) did that are labelled in one label set only."""
        return self.candidate - self.other_grades

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these parts."""
        return {
            "ranking": self.ranking,
            "labels": self.labels,
            "coverage": self.coverage,
            "candidate_under_baseline_labels": self.other_run,
            "candidate_under_changed_grades": self.other_grades,
            "labels_changed": self.differences.to_dict(),
        }


def with_grades_of(labels: LabelLists, other: LabelLists) -> tuple[LabelLists, LabelDifferences]:
    """Return the labels with the grades that another label set gives to the pairs that both have, and the differences.

    >>> from ndcg_tracker.rankings import Keys
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

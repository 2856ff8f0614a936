"""Why a result changed: the delta of one group split by item, or that of the mean over all groups."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ndcg_tracker.comparison.explain_parts import ChangeParts, ChangeTotals
from ndcg_tracker.comparison.item_changes import KINDS, ItemChanges, Kind, remainder_of
from ndcg_tracker.comparison.notes import Note
from ndcg_tracker.comparison.results import ItemMove, LabelSetRef, RunRef
from ndcg_tracker.comparison.texts import GroupTexts
from ndcg_tracker.rankings.types import Index


@dataclass(frozen=True, slots=True)
class Subject:
    """What is explained: the metric, both runs, and the labels each is evaluated against.

    ``cutoff``: that of the metric. ``are_labels_named``: whether a version of the labels was asked for.
    """

    metric: str
    baseline_run: RunRef
    candidate_run: RunRef
    dataset: str
    baseline_labels: LabelSetRef
    candidate_labels: LabelSetRef
    cutoff: int | None = None
    are_labels_named: bool = False

    @property
    def is_same_labels(self) -> bool:
        """Whether both runs are evaluated against one label set."""
        return self.baseline_labels == self.candidate_labels


@dataclass(frozen=True, slots=True)
class ExplainedItem:
    """One item of a group with what happened to it; ``grade_baseline``: its grade in the labels of the baseline."""

    move: ItemMove
    kind: Kind
    grade_baseline: float | None


@dataclass(frozen=True, slots=True)
class GroupExplanation:
    """The delta of one group, split into what each item contributed to it.

    ``items``: those that stand within the cutoff in one run or the other, the largest contribution first. ``parts``: of
    a change of labels, None where both runs are evaluated against the same, or a step in between has no value.
    ``texts``: of the group and its items, as far as there are any.
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
        """What of the delta no item accounts for; exactly 0 where it is no more than a rounding error."""
        return remainder_of(self.delta, np.array([item.move.contribution for item in self.items]))


@dataclass(frozen=True, slots=True)
class RunExplanation:
    """The difference of two means, split by items, grades and ranks, or by what runs and labels did.

    ``n_groups``: the groups that count. ``totals``: None where the runs are evaluated against different labels,
    ``parts``: None where they are evaluated against the same. ``worst_group``: the group with the most negative delta,
    None if no delta is.
    """

    subject: Subject
    baseline: float
    candidate: float
    n_groups: int
    totals: ChangeTotals | None = None
    parts: ChangeParts | None = None
    worst_group: str | None = None
    notes: tuple[Note, ...] = ()

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


def moves_by_group(changes: ItemChanges, groups: Index, *, top: int) -> list[tuple[ItemMove, ...]]:
    """Return for each of some groups the items that changed its value most, ``top`` at most.

    Parameters: ``changes``: the items whose contribution changed; ``groups``: int64, as ``changes`` numbers groups.
    """
    ordered = changes.largest_first()
    found = []
    for group in groups.tolist():
        rows = ordered[changes.groups[ordered] == group][:top]
        found.append(tuple(changes.only(rows).moves()))
    return found

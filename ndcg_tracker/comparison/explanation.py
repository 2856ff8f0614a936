"""Why a result changed: the delta of one group split by item, or that of the mean over all groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ndcg_tracker.comparison.change_parts import ChangeParts
from ndcg_tracker.comparison.change_totals import ChangeTotals
from ndcg_tracker.comparison.item_changes import KINDS, ItemChanges, Kind, remainder_of
from ndcg_tracker.comparison.moves import ItemMove
from ndcg_tracker.comparison.results import LabelSetRef, RunRef
from ndcg_tracker.rankings.types import Index


@dataclass(frozen=True, slots=True)
class Subject:
    """What is explained: the metric, both runs, and the labels each is held to.

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
        """Whether both runs are held to one label set."""
        return self.baseline_labels == self.candidate_labels

    def to_dict(self) -> dict[str, Any]:
        """Return what the JSON objects of explanations have in common."""
        found: dict[str, Any] = {
            "baseline_run": self.baseline_run.to_dict(),
            "candidate_run": self.candidate_run.to_dict(),
            "dataset": self.dataset,
            "label_set": self.candidate_labels.to_dict(),
        }
        if not self.is_same_labels:
            found["baseline_label_set"] = self.baseline_labels.to_dict()
        return found


@dataclass(frozen=True, slots=True)
class ExplainedItem:
    """One item of a group with what happened to it; ``grade_baseline``: its grade in the labels of the baseline."""

    move: ItemMove
    kind: Kind
    grade_baseline: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this item."""
        return self.move.to_dict() | {"kind": self.kind, "grade_baseline": self.grade_baseline}


@dataclass(frozen=True, slots=True)
class GroupExplanation:
    """The delta of one group, split into what each item contributed to it.

    ``items``: those that stand within the cutoff in one run or the other, the largest contribution first. ``parts``: of
    a change of labels, None where both runs are held to the same, or a step in between has no value.
    """

    subject: Subject
    group: str
    baseline: float
    candidate: float
    items: tuple[ExplainedItem, ...]
    parts: ChangeParts | None = None
    notes: tuple[str, ...] = ()

    @property
    def delta(self) -> float:
        """Candidate minus baseline."""
        return self.candidate - self.baseline

    @property
    def remainder(self) -> float:
        """What of the delta no item accounts for; exactly 0 where it is no more than a rounding error."""
        return remainder_of(self.delta, np.array([item.move.contribution for item in self.items]))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this explanation; what no item accounts for is a row without an item."""
        items = [item.to_dict() for item in self.items]
        if self.remainder:
            nothing = dict.fromkeys([*ItemMove.__slots__, "kind", "grade_baseline"])
            items.append(nothing | {"contribution": self.remainder, "kind": "remainder"})
        found: dict[str, Any] = {
            "group": self.group,
            "metric": self.subject.metric,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "delta": self.delta,
            "items": items,
        }
        if self.parts is not None:
            found["parts"] = self.parts.to_dict()
        return found | self.subject.to_dict() | {"notes": list(self.notes)}


@dataclass(frozen=True, slots=True)
class RunExplanation:
    """The difference of two means, split by items, grades and ranks, or by what runs and labels did.

    ``n_groups``: the groups that count. ``totals``: None where the runs are held to different labels, ``parts``: None
    where they are held to the same. ``worst_group``: the group with the most negative delta, None if no delta is.
    """

    subject: Subject
    baseline: float
    candidate: float
    n_groups: int
    totals: ChangeTotals | None = None
    parts: ChangeParts | None = None
    worst_group: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def delta(self) -> float:
        """Candidate minus baseline."""
        return self.candidate - self.baseline

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this explanation."""
        found: dict[str, Any] = {
            "group": None,
            "metric": self.subject.metric,
            "baseline": self.baseline,
            "candidate": self.candidate,
            "delta": self.delta,
            "n_groups": self.n_groups,
        }
        if self.totals is not None:
            found |= self.totals.to_dict() | {"worst_group": self.worst_group}
        if self.parts is not None:
            found["parts"] = self.parts.to_dict()
        return found | self.subject.to_dict() | {"notes": list(self.notes)}


Explanation = GroupExplanation | RunExplanation


def explained_items(changes: ItemChanges) -> tuple[ExplainedItem, ...]:
    """Return the items of one group, the largest contribution to its delta first."""
    ordered = changes.only(changes.largest_first())
    rows = zip(ordered.moves(), ordered.kinds.tolist(), ordered.grade_baseline.tolist(), strict=True)
    return tuple(ExplainedItem(move, KINDS[kind], None if np.isnan(grade) else grade) for move, kind, grade in rows)


def moves_by_group(changes: ItemChanges, groups: Index, *, top: int) -> list[tuple[ItemMove, ...]]:
    """Return for each of some groups the items that changed its value most, ``top`` at most.

    Parameters: ``changes``: the items that contribute another amount; ``groups``: int64, as ``changes`` numbers groups.
    """
    ordered = changes.largest_first()
    found = []
    for group in groups.tolist():
        rows = ordered[changes.groups[ordered] == group][:top]
        found.append(tuple(changes.only(rows).moves()))
    return found

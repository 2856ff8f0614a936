"""What the items of all groups did to the mean, added up by item, by grade, by rank and by what happened to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ndcg_tracker.comparison.item_changes import KINDS, ItemChanges, Kind, remainder_of
from ndcg_tracker.rankings.types import Floats, Index

GroupNames = Callable[[Index], Sequence[str]]

RANK_ENDS = (1, 3, 10, 20, 50, 100, 1000)
"""The last rank of each range of ranks; a further range has the ranks behind."""


@dataclass(frozen=True, slots=True)
class KindTotal:
    """What the items to which one thing happened did to the mean: how many changed their part, and by how much."""

    kind: Kind
    n_items: int
    contribution: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this total."""
        return {"kind": self.kind, "n_items": self.n_items, "contribution": self.contribution}


@dataclass(frozen=True, slots=True)
class GradeTotal:
    """What the items of one grade (None: the unjudged ones) did to the mean."""

    grade: float | None
    n_items: int
    contribution: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this total."""
        return {"grade": self.grade, "n_items": self.n_items, "contribution": self.contribution}


@dataclass(frozen=True, slots=True)
class RankTotal:
    """What the items did to the mean that stand at ranks ``first`` to ``last`` in the baseline.

    ``last`` is None for the ranks without end; both are None for items that the baseline does not list.
    """

    first: int | None
    last: int | None
    n_items: int
    contribution: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this total."""
        return {"first": self.first, "last": self.last, "n_items": self.n_items, "contribution": self.contribution}


@dataclass(frozen=True, slots=True)
class ItemTotal:
    """What one item did to the mean, and in how many groups.

    ``group``, ``grade``, ``rank_baseline`` and ``rank_candidate``: those of the one group where it did something; all
    None where there are several. A grade is None for an unjudged item too, a rank where the run does not list it.
    """

    item: str
    n_groups: int
    contribution: float
    group: str | None = None
    grade: float | None = None
    rank_baseline: int | None = None
    rank_candidate: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of this total."""
        return {
            "item": self.item,
            "n_groups": self.n_groups,
            "contribution": self.contribution,
            "group": self.group,
            "grade": self.grade,
            "rank_baseline": self.rank_baseline,
            "rank_candidate": self.rank_candidate,
        }


@dataclass(frozen=True, slots=True)
class ChangeTotals:
    """What the items of all groups did to the mean, in points of its delta.

    Each of ``kinds``, ``grades`` and ``ranks``, and ``items`` with the ``n_other_items`` that add ``other_items``, adds
    up to the delta but for the ``remainder``, which no item accounts for. Only items that contribute another amount are
    counted. ``items``: those that cost most and those that brought most, by the size of what they did.
    """

    kinds: tuple[KindTotal, ...]
    grades: tuple[GradeTotal, ...]
    ranks: tuple[RankTotal, ...]
    items: tuple[ItemTotal, ...]
    n_other_items: int
    other_items: float
    remainder: float

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON object of these totals."""
        return {
            "kinds": [total.to_dict() for total in self.kinds],
            "grades": [total.to_dict() for total in self.grades],
            "ranks": [total.to_dict() for total in self.ranks],
            "items": [total.to_dict() for total in self.items],
            "other_items": {"n_items": self.n_other_items, "contribution": self.other_items},
            "remainder": self.remainder,
        }


def change_totals(
    changes: ItemChanges, shares: Floats, delta: float, group_names: GroupNames, *, top: int | None
) -> ChangeTotals:
    """Return what the items of all groups did to the mean.

    Parameters: ``changes``: the items of all groups that contribute another amount. ``shares``: float64, shape
    (n_groups,), what part of the mean each group is, with sum 1. ``delta``: the difference of the means.
    ``group_names``: gives the ids of groups from their places. ``top``: how many items to name at either end, None
    for all.
    """
    points = changes.contribution * shares[changes.groups]
    items, n_other, other = _by_item(changes, points, group_names, top)
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
    changes: ItemChanges, points: Floats, group_names: GroupNames, top: int | None
) -> tuple[tuple[ItemTotal, ...], int, float]:
    """Return the items that did most to either side, how many others there are, and what these did together."""
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

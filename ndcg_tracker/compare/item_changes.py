"""The items of two runs side by side: their ranks, what they add to their group, and which changed it most."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.compare.results import ItemMove
from ndcg_tracker.metrics.contributions import ADDITIVE, Contributions, contributions
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.join import judged, matching_rows, places_of
from ndcg_tracker.rankings.keys import Keys

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair, Side
    from ndcg_tracker.storage.store import ReadTransaction


Kind = Literal["moved_up", "moved_down", "entered", "left", "label", "same_rank", "unjudged"]

KINDS: tuple[Kind, ...] = ("moved_up", "moved_down", "entered", "left", "label", "same_rank", "unjudged")
"""What can happen to an item.

``entered`` and ``left``: only one run has it; of repeats, more in one arm than in the other. ``label``: its grade
changed, or it has a grade in only one label set. ``moved_up`` and ``moved_down``: its rank changed. ``same_rank``: its
rank is the same; if its contribution still changed, the ideal of the group or the items with equal scores around it
have changed. ``unjudged``: it has no label, at whatever rank.
"""
MOVED_UP, MOVED_DOWN, ENTERED, LEFT, LABEL, SAME_RANK, UNJUDGED = range(len(KINDS))

ROUNDING = 1e-12
"""Up to this size, the unexplained rest of a delta is the rounding error of a sum and is not shown."""


@dataclass(frozen=True)
class ItemChanges:
    """Items of two runs, one row per (group, item).

    ``groups``: int64, shape (n,), the place of the group as the caller numbers groups. ``item_keys``: n ids.
    ``listed_baseline`` and ``listed_candidate``: float64, the share of the arm's runs that have the item.
    ``rank_baseline`` and ``rank_candidate``: int64, of several runs their mean, 0 where no run has the item or the
    metric takes it out of the list. ``grade_baseline`` and
    ``grade_candidate``: float64, NaN where the run does not have it or it is unjudged. ``contribution_baseline`` and
    ``contribution_candidate``: float64, its part of the group's value, 0 where it has no rank.
    """

    groups: Index
    item_keys: Keys
    listed_baseline: Floats
    listed_candidate: Floats
    rank_baseline: Index | Floats
    rank_candidate: Index | Floats
    grade_baseline: Floats
    grade_candidate: Floats
    contribution_baseline: Floats
    contribution_candidate: Floats

    @property
    def contribution(self) -> Floats:
        """Each item's part of its group's delta: float64, shape (n,)."""
        return np.asarray(self.contribution_candidate - self.contribution_baseline)

    @property
    def grades(self) -> Floats:
        """The grade of each item, in the candidate's labels where the candidate has it: float64, NaN for unjudged."""
        return np.where(self.listed_candidate > 0, self.grade_candidate, self.grade_baseline)

    @property
    def kinds(self) -> NDArray[np.int8]:
        """What happened to each item: int8, shape (n,), the place in ``KINDS``."""
        before, after = self.rank_baseline, self.rank_candidate
        kinds = np.full(before.size, SAME_RANK, dtype=np.int8)
        kinds[after < before] = MOVED_UP
        kinds[after > before] = MOVED_DOWN
        unjudged_before, unjudged_after = np.isnan(self.grade_baseline), np.isnan(self.grade_candidate)
        kinds[(self.grade_baseline != self.grade_candidate) & ~(unjudged_before & unjudged_after)] = LABEL
        kinds[self.listed_candidate > self.listed_baseline] = ENTERED
        kinds[self.listed_candidate < self.listed_baseline] = LEFT
        kinds[unjudged_before & unjudged_after] = UNJUDGED
        return kinds

    def moves(self) -> list[ItemMove]:
        """Return the rows as they are reported."""
        columns = (
            self.grades,
            self.rank_baseline,
            self.rank_candidate,
            self.contribution_baseline,
            self.contribution_candidate,
            self.contribution,
        )
        return [
            ItemMove(item, None if math.isnan(grade) else grade, rank or None, new_rank or None, before, after, change)
            for item, grade, rank, new_rank, before, after, change in zip(
                self.item_keys.to_list(), *(column.tolist() for column in columns), strict=True
            )
        ]

    def only(self, rows: Index) -> ItemChanges:
        """Return the given rows, in the given order."""
        return ItemChanges(*(getattr(self, of.name).take(rows) for of in fields(self)))

    def within(self, places: Index, n_places: int) -> ItemChanges:
        """Return the rows of some groups, which are numbered by their order in ``places`` from here on.

        Parameters: ``places``: int64, distinct, the groups as they are numbered here, below ``n_places``.
        """
        numbers = np.full(n_places, -1, dtype=np.int64)
        numbers[places] = np.arange(places.size)
        groups = numbers[self.groups]
        kept = self.only(np.flatnonzero(groups >= 0))
        return replace(kept, groups=groups[groups >= 0])

    def largest_first(self) -> Index:
        """Return the rows, the largest contribution to a delta first; among equal ones the best rank: int64."""
        ranks = [np.where(rank == 0, np.inf, rank) for rank in (self.rank_baseline, self.rank_candidate)]
        return np.lexsort((np.minimum(*ranks), -np.abs(self.contribution)))


def item_changes(
    baseline: Contributions,
    candidate: Contributions,
    baseline_groups: Index,
    candidate_groups: Index,
    *,
    changed_only: bool = False,
) -> ItemChanges:
    """Return the items of two runs side by side, joined on (group, item).

    Parameters: ``baseline_groups`` and ``candidate_groups``: int64, one per group of that side's group axis: how the
    caller numbers it, -1 for a group that is left out. ``changed_only``: return only the items whose contribution
    changed, else all items within the cutoff of either run.
    """
    ranking, other = baseline.judged.ranking, candidate.judged.ranking
    rows, partners = _judged_pairs(baseline, candidate) if changed_only else matching_rows(ranking, other)
    partner_of = np.full(ranking.n_items, -1, dtype=np.int64)
    partner_of[rows] = partners
    is_partner = np.zeros(other.n_items, dtype=np.bool_)
    is_partner[partners] = True
    groups, other_groups = baseline_groups[baseline.groups], candidate_groups[candidate.groups]
    if changed_only:
        wanted = baseline.contributions != _at(candidate.contributions, partner_of, 0.0)
        other_wanted = candidate.contributions != 0
    else:
        other_wanted = candidate.within > 0
        wanted = (baseline.within > 0) | _at(other_wanted, partner_of, False)
    here = np.flatnonzero(wanted & (groups >= 0))
    there = np.flatnonzero(other_wanted & ~is_partner & (other_groups >= 0))
    mine = np.append(here, np.full(there.size, -1))
    theirs = np.append(partner_of[here], there)
    return ItemChanges(
        np.append(groups[here], other_groups[there]),
        Keys.joined([ranking.item_keys.take(here), other.item_keys.take(there)]),
        *(
            _at(getattr(side, name), rows, absent)
            for name, absent in (("listed", 0.0), ("ranks", 0), ("grades", np.nan), ("contributions", 0.0))
            for side, rows in ((baseline, mine), (candidate, theirs))
        ),
    )


def _judged_pairs(baseline: Contributions, candidate: Contributions) -> tuple[Index, Index]:
    """Return the matching rows that can contribute, found by their labels, which are joined already."""
    here, there = baseline.judged, candidate.judged
    if here.labels is not there.labels or baseline.metric["unjudged"] not in ("zero", "drop"):
        return matching_rows(here.ranking, there.ranking)
    row_of_label = np.full(there.labels.n_items, -1, dtype=np.int64)
    row_of_label[there.label_rows] = there.rows
    partners = row_of_label[here.label_rows]
    return here.rows[partners >= 0], partners[partners >= 0]


def joined_changes(parts: Sequence[ItemChanges]) -> ItemChanges:
    """Return the rows of several parts as one; there is at least one part."""
    columns: list[list[Any]] = [[getattr(part, of.name) for part in parts] for of in fields(ItemChanges)]
    joined: list[Any] = [Keys.joined(of) if isinstance(of[0], Keys) else np.concatenate(of) for of in columns]
    return ItemChanges(*joined)


def remainder_of(delta: float, contributions: Floats) -> float:
    """Return the part of a delta that its contributions do not explain; exactly 0 if it is only a rounding error.

    >>> remainder_of(0.3, np.array([0.1, 0.2])), remainder_of(0.5, np.array([0.25]))
    (0.0, 0.25)
    """
    left = delta - float(contributions.sum())
    return left if abs(left) > ROUNDING * max(1.0, float(np.abs(contributions).sum())) else 0.0


def _at(column: NDArray[Any], rows: Index, absent: float | bool) -> NDArray[Any]:
    """Return a column at some rows, another value where the row is -1."""
    if not column.size:
        return np.full(rows.size, absent, dtype=column.dtype)
    return np.where(rows < 0, column.dtype.type(absent), column[rows])


def moves_by_group(changes: ItemChanges, groups: Index, *, top: int) -> list[tuple[ItemMove, ...]]:
    """Return for each of some groups the items that changed its value most, ``top`` at most.

    Parameters: ``changes``: the items whose contribution changed; ``groups``: int64, as ``changes`` numbers groups.
    """
    ordered = changes.largest_first()
    each = (ordered[changes.groups[ordered] == group][:top] for group in groups.tolist())
    return [tuple(changes.only(rows).moves()) for rows in each]


def item_moves(tx: ReadTransaction, both: RunPair, group_ids: Index, n: int = 3) -> dict[int, tuple[ItemMove, ...]]:
    """Return for each of some groups the items that changed its value most, the largest contribution first.

    Only the lists of these groups are read. Parameters: ``both``: two runs under a metric, each with its labels.
    ``group_ids``: int64, distinct ids of groups of the dataset. ``n``: how many
    items of each at most; those that contribute the same to both runs are not among them. Returns: one entry per id,
    none at all under a metric that is not a sum over items. Raises: MetricError for a label or a group that an axis
    of the metric refuses.
    """
    if both.metric.measure not in ADDITIVE or not group_ids.size:
        return {}
    keys = tx.groups.keys(both.dataset_id, group_ids)
    wanted = np.sort(group_ids)
    baseline, candidate = (contributions_of(tx, side, both.metric, wanted) for side in both.sides)
    places = [places_of(side.values.group_keys, keys) for side in (baseline, candidate)]
    changes = item_changes(baseline, candidate, places[0], places[1], changed_only=True)
    moves = moves_by_group(changes, np.arange(group_ids.size), top=n)
    return dict(zip(group_ids.tolist(), moves, strict=True))


def contributions_of(tx: ReadTransaction, side: Side, metric: Metric, ids: Index) -> Contributions:
    """Return what the items of some groups contribute; only their lists are read."""
    return contributions(judged(tx.runs.ranking(side.run.id, ids), tx.labels.lists(side.label_set.id, ids)), metric)

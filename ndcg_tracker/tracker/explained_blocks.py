"""The items of two explained runs, some groups at a time: what is held of them does not grow with the runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.tracker.explained_runs import Sides

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction

BLOCK_ITEMS = 1 << 17
"""About how many items of one run are held at a time."""


@dataclass(frozen=True, slots=True)
class SideBlock:
    """Some groups of two runs, each with the labels that it is held to.

    ``first``: the place of the first of these groups among all of the dataset. ``group_keys``: their keys. Where both
    sides are one run, or held to one label set, they have the same object here.
    """

    first: int
    group_keys: Keys
    baseline: Ranking
    candidate: Ranking
    baseline_labels: LabelLists
    candidate_labels: LabelLists


def side_blocks(tx: ReadTransaction, sides: Sides) -> Iterator[SideBlock]:
    """Yield all groups of a dataset by ascending id, some at a time, with what both runs and their labels have."""
    group_ids, group_keys = tx.groups.all(sides.dataset_id)
    one, other = sides.baseline, sides.candidate
    n_items = max(one.run.n_items, other.run.n_items, 1)
    n_groups = max(1, BLOCK_ITEMS * group_ids.size // n_items)
    for first in range(0, group_ids.size, n_groups):
        ids = group_ids[first : first + n_groups]
        ranking, labels = tx.runs.ranking(one.run.id, ids), tx.labels.lists(one.label_set.id, ids)
        yield SideBlock(
            first,
            group_keys.slice(first, first + ids.size),
            ranking,
            ranking if one.run.id == other.run.id else tx.runs.ranking(other.run.id, ids),
            labels,
            labels if sides.is_same_labels else tx.labels.lists(other.label_set.id, ids),
        )

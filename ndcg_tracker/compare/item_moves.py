"""The items that changed the value of a group most, between two stored runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.item_changes import item_changes, moves_by_group
from ndcg_tracker.compare.results import ItemMove
from ndcg_tracker.compare.run_pair import RunPair, Side
from ndcg_tracker.metrics.contributions import ADDITIVE, Contributions, contributions
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import judged, places_of

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Index
    from ndcg_tracker.storage.transactions import ReadTransaction


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
    one, other = (contributions_of(tx, side, both.metric, wanted) for side in both.sides)
    places = [places_of(found.values.group_keys, keys) for found in (one, other)]
    changes = item_changes(one, other, places[0], places[1], changed_only=True)
    moves = moves_by_group(changes, np.arange(group_ids.size), top=n)
    return dict(zip(group_ids.tolist(), moves, strict=True))


def contributions_of(tx: ReadTransaction, side: Side, metric: Metric, ids: Index) -> Contributions:
    """Return what the items of some groups contribute; only their lists are read."""
    return contributions(judged(tx.runs.ranking(side.run.id, ids), tx.labels.lists(side.label_set.id, ids)), metric)

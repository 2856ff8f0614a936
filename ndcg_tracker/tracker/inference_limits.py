"""How comparisons and histories weigh groups, and where there is a difference of means but no test of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Floats, Index
    from ndcg_tracker.storage.read import ReadTransaction


MEANS_AGREE = 1e-6
"""How far a stored mean may lie from that of the paired results: weights in single precision move it by less."""
NO_INFERENCE = Note("means_weigh_groups")


@dataclass(frozen=True, slots=True)
class GroupWeightsById:
    """The stored weights of a dataset's groups: ids, ascending, and weights of those that have one."""

    ids: Index
    weights: Floats

    @classmethod
    def of(cls, tx: ReadTransaction, dataset_id: int) -> GroupWeightsById:
        """Return the weights of the groups of a dataset."""
        ids, weights = tx.groups.weights(dataset_id)
        known = ~np.isnan(weights)
        return cls(ids[known], weights[known])

    def weights_of(self, group_ids: Index) -> Floats:
        """Return the weight of each group, 1 where there is none."""
        if not self.ids.size:
            return np.ones(group_ids.size)
        places = np.minimum(np.searchsorted(self.ids, group_ids), self.ids.size - 1)
        return np.where(self.ids[places] == group_ids, self.weights[places], 1.0)

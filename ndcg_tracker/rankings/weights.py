"""The weights of groups, as they come with the rows of a table."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.rankings.keys import Keys, Mask
from ndcg_tracker.rankings.ranking import Floats


@dataclass(frozen=True, slots=True)
class GroupWeights:
    """One weight per group.

    ``group_keys``: n ids. ``values``: float64, shape (n,), finite, >= 0: the mean of the weights of the group's rows.
    ``varies``: bool, shape (n,): whether the rows of the group carry different weights (then they are item weights,
    and only their mean is kept).
    """

    group_keys: Keys
    values: Floats
    varies: Mask

"""What a metric returns: one value per group, and their mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import Floats

Reasons = NDArray[np.int8]

REASONS = ("", "no item with a positive gain", "missing from the run", "no label")
DEFINED, EMPTY, MISSING, EXTRA = range(len(REASONS))


@dataclass(frozen=True)
class GroupResults:
    """The values of one metric for the groups of a run and its labels.

    ``group_keys``: n ids. ``values``, ``dcg`` and ``ideal_dcg``: float64, shape (n,), NaN where undefined (``dcg``
    and ``ideal_dcg`` also where the measure has none). ``reasons``: int8, shape (n,), 0 where ``values`` is defined,
    else the index of the reason in ``REASONS``. ``weights``: float64, shape (n,), or None where groups weigh alike.
    ``mean``: over the groups that have a value, None where there is none. ``n_missing``: how many groups have labels
    but are not in the run.
    """

    metric: Metric
    group_keys: Keys
    values: Floats
    dcg: Floats
    ideal_dcg: Floats
    reasons: Reasons
    weights: Floats | None
    mean: float | None
    n_missing: int

    @property
    def n_groups(self) -> int:
        """How many groups the mean runs over."""
        return int((self.reasons == DEFINED).sum())

    @property
    def n_undefined(self) -> int:
        """How many groups have no value."""
        return int((self.reasons != DEFINED).sum())

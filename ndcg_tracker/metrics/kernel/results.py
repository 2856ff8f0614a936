"""The results of a metric: one value per group, and their mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index, Mask

Reasons = NDArray[np.int8]

REASONS = ("", "no item with a positive gain", "missing from the run", "no label")
DEFINED, EMPTY, MISSING, EXTRA = range(len(REASONS))


@dataclass(frozen=True)
class GroupValues:
    """The values of one metric for groups of a run and its labels, before any mean, so that they can be joined.

    ``group_keys``: n ids. ``values``, ``dcg`` and ``ideal_dcg``: float64, shape (n,), NaN where undefined (``dcg``
    and ``ideal_dcg`` also where the measure has none). ``reasons``: int8, shape (n,), 0 where ``values`` is defined,
    else the index of the reason in ``REASONS``. ``empty``: bool, shape (n,), which groups had nothing to find.
    ``n_items``: int64, shape (n,), how many items the run has in the group, -1 where the group is missing from it.
    ``labelled``: bool, shape (n,), which groups the labels have.
    """

    metric: Metric
    group_keys: Keys
    values: Floats
    dcg: Floats
    ideal_dcg: Floats
    reasons: Reasons
    empty: Mask
    n_items: Index
    labelled: Mask


def joined_values(parts: Sequence[GroupValues], order: Index | None = None) -> GroupValues:
    """Return the values of several sets of groups as one; ``order``: which of all the groups goes to each place."""
    if len(parts) == 1 and order is None:
        return parts[0]
    keys = Keys.joined([part.group_keys for part in parts])
    columns = [
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("values", "dcg", "ideal_dcg", "reasons", "empty", "n_items", "labelled")
    ]
    if order is not None:
        keys, columns = keys.take(order), [column[order] for column in columns]
    return GroupValues(parts[0].metric, keys, *columns)


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
        """How many groups are in the mean."""
        return int((self.reasons == DEFINED).sum())

    @property
    def n_undefined(self) -> int:
        """How many groups have no value."""
        return int((self.reasons != DEFINED).sum())

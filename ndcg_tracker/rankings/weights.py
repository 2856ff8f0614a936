"""The weights of groups, read from the rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index, Mask

MAX_WEIGHT = 1e30
"""The largest weight: any possible sum fits single precision, in which some metrics sum weights."""


@dataclass(frozen=True, slots=True)
class GroupWeights:
    """One weight per group.

    ``group_keys``: n ids. ``values``: float64, shape (n,), 0 to ``MAX_WEIGHT``: the mean weight of the group's rows.
    ``varies``: bool, shape (n,): whether the rows of the group carry different weights (then they are item weights,
    and only their mean is kept). ``single_means``: float32, shape (n,): the mean as single-precision code computes
    it, None if the rows are unknown.
    """

    group_keys: Keys
    values: Floats
    varies: Mask
    single_means: NDArray[np.float32] | None = None


def joined_weights(parts: Sequence[GroupWeights]) -> GroupWeights:
    """Return the weights of several disjoint sets of groups.

    >>> one, other = (GroupWeights(Keys.from_strings([key]), np.ones(1), np.zeros(1, dtype=np.bool_)) for key in "qr")
    >>> joined_weights([one, other]).group_keys.to_list()
    ['q', 'r']
    """
    singles = [part.single_means for part in parts if part.single_means is not None]
    return GroupWeights(
        Keys.joined([part.group_keys for part in parts]),
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.varies for part in parts]),
        np.concatenate(singles) if len(singles) == len(parts) else None,
    )


def single_means(weights: Floats, offsets: Index) -> NDArray[np.float32]:
    """Return the mean weight of each group, summed row after row in single precision.

    Parameters: ``weights``: float64, shape (n_rows,); ``offsets``: int64, shape (n_groups + 1,). Returns: float32,
    shape (n_groups,), 0 for a group without rows. Source: LightGBM 4.7, ``Metadata::CalculateQueryWeights``.

    >>> bool(single_means(np.full(7, 0.1), np.array([0, 7]))[0] == np.float32(0.1))
    False
    """
    lengths = np.diff(offsets)
    longest_first = np.argsort(-lengths, kind="stable")
    sizes = lengths[longest_first]
    starts = offsets[:-1][longest_first]
    single = weights.astype(np.float32)
    sums = np.zeros(lengths.size, dtype=np.float32)
    for place in range(int(sizes.max(initial=0))):
        n_long = int(np.searchsorted(-sizes, -place, "left"))
        sums[:n_long] += single[starts[:n_long] + place]
    means = np.zeros(lengths.size, dtype=np.float32)
    means[longest_first] = sums / np.maximum(sizes, 1).astype(np.float32)
    return means

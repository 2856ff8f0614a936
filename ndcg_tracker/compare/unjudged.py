"""What unjudged items leave open: the differences of all groups at both ends of what those may be worth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Literal

import numpy as np

from ndcg_tracker.compare.results import JudgedShare
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.unjudged_bounds import (
    extreme_deltas,
    unjudged_items,
    unjudged_range,
    what_stops,
    what_stops_range,
)
from ndcg_tracker.rankings.join import JudgedRanking, judged, places_of

if TYPE_CHECKING:
    from ndcg_tracker.compare.decide import PairedResults
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.metrics.language.metric import Metric
    from ndcg_tracker.rankings import Floats
    from ndcg_tracker.rankings.keys import Keys
    from ndcg_tracker.storage.store import ReadTransaction

Worth = Literal["range", "bounds"]
"""What an unjudged item may be worth: up to the mean gain of the judged items at its rank, or any grade."""


@dataclass(frozen=True)
class OpenDeltas:
    """The differences of the paired groups at both ends of what unjudged items may be worth.

    ``worth``: by which rule. ``share``: which share of the first ranks of both runs is judged. ``n_items``: how many
    items are unjudged there; of arms, of the two runs with the most. ``low`` and ``high``: float64, shape (n,), None
    where they are not known, for what ``stop`` says: "items", or what ``what_stops`` returns.
    """

    worth: Worth
    share: JudgedShare
    n_items: int = 0
    low: Floats | None = None
    high: Floats | None = None
    stop: str | None = None


def open_deltas(
    tx: ReadTransaction, both: RunPair, results: PairedResults, coverage: Sequence[JudgedShare], worth: Worth
) -> OpenDeltas | None:
    """Return what the unjudged items of two runs or arms leave open; None where nothing is unjudged in the first ranks.

    Items are read only where the judged share says that some are unjudged. Of arms each run is held against each, and
    the ends are the means over these pairs.
    """
    metric = both.metric
    share = next((share for share in coverage if share.cutoff == metric.cutoff), None)
    if share is None or metric.is_external or metric.shown_only or (share.baseline == share.candidate == 1.0):
        return None
    every = [side for sides in both.sides_of for side in sides]
    if any("items" not in tx.runs.holds(side.run.id) for side in every):
        return OpenDeltas(worth, share, stop="items")
    if results.means is not None:
        return OpenDeltas(worth, share, stop="measure")
    labels = tx.labels.lists(both.baseline.label_set.id)
    grades = np.unique(labels.grades)
    keys = tx.groups.keys(both.dataset_id, results.pairing.group_ids)
    stop = what_stops_range(metric, grades) if worth == "range" else what_stops(metric, grades, len(keys))
    if stop is not None:
        return OpenDeltas(worth, share, stop=stop)
    sides = [[judged(tx.runs.ranking(side.run.id), labels) for side in of_arm] for of_arm in both.sides_of]
    ends = [_ends(baseline, candidate, metric, keys, worth) for baseline, candidate in product(*sides)]
    low = results.pairing.delta + np.mean([down for down, _, _ in ends], axis=0)
    high = results.pairing.delta + np.mean([up for _, up, _ in ends], axis=0)
    low, high = (np.clip(end, *(results.limits or (-np.inf, np.inf))) for end in (low, high))
    return OpenDeltas(worth, share, max(n_items for _, _, n_items in ends), low, high)


def joined_deltas(lefts: Iterable[OpenDeltas | None]) -> OpenDeltas | None:
    """Return what several datasets leave open together, without differences; None where none does.

    The judged share is the mean over the datasets that leave something open.
    """
    opened = [left for left in lefts if left is not None]
    if not opened:
        return None
    baseline, candidate = (
        None if None in shares else sum(filter(None, shares)) / len(shares)
        for shares in zip(*((left.share.baseline, left.share.candidate) for left in opened), strict=True)
    )
    share = JudgedShare(opened[0].share.cutoff, baseline, candidate)
    stop = next((left.stop for left in opened if left.stop is not None), None)
    return OpenDeltas(opened[0].worth, share, sum(left.n_items for left in opened), stop=stop)


def _ends(
    baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, keys: Keys, worth: Worth
) -> tuple[Floats, Floats, int]:
    """Return how far down and up the difference of each group may move, and how many items are unjudged."""
    if worth == "range":
        moved = unjudged_range(baseline, candidate, metric, keys)
        return moved.low, moved.high, moved.n_items
    items = unjudged_items(baseline, candidate, metric, keys)
    values = [_values(side, metric, keys) for side in (baseline, candidate)]
    least, greatest = extreme_deltas(items, *values)
    delta = values[1] - values[0]
    return least - delta, greatest - delta, items.groups.size


def _values(side: JudgedRanking, metric: Metric, keys: Keys) -> Floats:
    (values,) = group_values(side, [metric])
    of_keys = np.append(values.values, 0.0)[places_of(keys, values.group_keys)]
    return np.where(np.isnan(of_keys), 0.0, of_keys)

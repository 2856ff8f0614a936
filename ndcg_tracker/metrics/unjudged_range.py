"""How far a difference may move if unjudged items are worth up to what judged items are worth at the same rank.

The items of a run that nobody judged are worth nothing in its value. Here each is worth between 0 and the mean gain of
the judged items at its rank in the same run, over all groups. Its gain goes into the sum over the list; the ideal stays
as judged. That is an assumption, not a bound: see ``unjudged_bounds`` for what no grades exceed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.kernel.mean import GroupValues
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.unjudged_bounds import (
    SUMS,
    items_with,
    matched_items,
    weights_of_rows,
    what_stops,
    worth_of_levels,
)
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.join import JudgedRanking, places_of
from ndcg_tracker.rankings.keys import Keys

RANGED = (*SUMS, "ndcg", "Success")
"""The measures in which an unjudged item can be worth a mean gain."""


def what_stops_range(metric: Metric, grades: Floats) -> str | None:
    """Return what leaves a metric without a range over unjudged items, None where nothing does.

    Parameters and values: see ``what_stops``.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [what_stops_range(parse_metric(text), np.array([0.0, 1.0])) for text in ("ndcg@10", "Success@5", "RR")]
    [None, None, 'measure']
    """
    return what_stops(metric, grades) if metric.measure in RANGED else "measure"


@dataclass(frozen=True)
class UnjudgedRange:
    """How far the differences of some groups may move, if unjudged items are worth up to the mean gain at their rank.

    ``low`` and ``high``: float64, shape (n_groups,), at most 0 and at least 0: what is added to each difference,
    candidate minus baseline. ``n_items``: how many items of these groups are unjudged in the first ranks of a run.
    """

    low: Floats
    high: Floats
    n_items: int


def unjudged_range(baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, groups: Keys) -> UnjudgedRange:
    """Return how far each difference may move if unjudged items are worth between 0 and the mean gain at their rank.

    low = sum over items of min(0, c - b) / ideal and high = sum of max(0, c - b) / ideal, where c and b are the mean
    gain of the judged items at the item's rank times the weight of the rank, in the candidate and in the baseline, 0
    where a run does not have the item in its first ranks: an item is worth the same share of both. No division for cg,
    dcg, P and RBP. For Success@k: low = -(1 - value) x (1 - product of 1 - mean gain) of the baseline, high the same of
    the candidate. Means are over all groups of a run; over all ranks where none is judged at a rank.

    Parameters: two runs with the same labels; ``metric``: one that ``what_stops_range`` does not stop; ``groups``:
    distinct ids. Raises: MetricError for a label that an axis refuses.

    >>> from ndcg_tracker.rankings.join import judged

    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> groups = Keys.from_strings(["q1", "q2"])
    >>> labels = LabelLists.from_rows(groups, Keys.from_strings("ac"), np.array([1.0, 1.0]))
    >>> ranked = [Ranking.from_rows(groups, Keys.from_strings(items), np.ones(2)) for items in ("ac", "ab")]
    >>> baseline, candidate = (judged(ranking, labels) for ranking in ranked)
    >>> moved = unjudged_range(baseline, candidate, Metric.of("P", cutoff=1), groups)
    >>> moved.low.tolist(), moved.high.tolist(), moved.n_items
    ([0.0, 0.0], [0.0, 1.0], 1)
    """
    sides = baseline.in_order, candidate.in_order
    expected = [_Expected.of(side, metric) for side in sides]
    listed = [items_with(of_side.numbers, side, groups) for of_side, side in zip(expected, sides, strict=True)]
    at, numbers, _ = matched_items(listed[0], listed[1])
    gains = [of_side.gains[rows.astype(np.int64)] for of_side, rows in zip(expected, numbers, strict=True)]
    if metric.measure == "Success":
        rises = []
        for of_side, side_gains in zip(expected, gains, strict=True):
            with np.errstate(divide="ignore"):
                none_relevant = np.exp(group_sums(at, np.log1p(-side_gains), len(groups)))
            rises.append((1.0 - of_side.values_of(groups)) * (1.0 - none_relevant))
        return UnjudgedRange(-rises[0], rises[1], at.size)
    ideal = np.minimum(expected[0].ideal_of(groups), expected[1].ideal_of(groups))  # of a run without the group: none
    moved = gains[1] - gains[0]
    low, high = (group_sums(at, part, len(groups)) / ideal for part in (np.minimum(moved, 0.0), np.maximum(moved, 0.0)))
    return UnjudgedRange(low, high, at.size)


@dataclass(frozen=True)
class _Expected:
    """What the unjudged items of a run are expected to gain.

    ``numbers``: float64, shape (n_items,), of each row that is unjudged and has a weight its number from 1, else 0.
    ``gains``: float64, shape (n_items + 1,), by that number: mean gain times weight; for Success without the weight.
    """

    values: GroupValues
    numbers: Floats
    gains: Floats

    @classmethod
    def of(cls, judged: JudgedRanking, metric: Metric) -> _Expected:
        (values,) = group_values(judged, [metric])
        ranks, weights = weights_of_rows(judged, metric)
        lists = Lists(judged, [metric])
        gains = np.maximum(worth_of_levels(lists, metric)[lists.levels.codes[judged.label_rows]], 0.0)
        seen = weights[judged.rows] > 0
        mean_gain = _mean_by_rank(ranks[judged.rows][seen], gains[seen], int(ranks.max(initial=0)))
        numbers = np.where(weights > 0, np.arange(1.0, ranks.size + 1), 0.0)
        numbers[judged.rows] = 0.0
        terms = mean_gain[ranks] * (1.0 if metric.measure == "Success" else weights)
        return cls(values, numbers, np.append(0.0, terms))

    def values_of(self, groups: Keys) -> Floats:
        """Return the values of some groups, 1 where there is none: float64, shape (n_groups,)."""
        values = np.append(self.values.values, 1.0)[places_of(groups, self.values.group_keys)]
        return np.where(np.isnan(values), 1.0, values)

    def ideal_of(self, groups: Keys) -> Floats:
        """Return what the sum of each group is divided by, infinite where there is nothing to find."""
        if self.values.metric.measure != "ndcg":
            return np.ones(len(groups))
        ideal = np.where(self.values.empty | (self.values.ideal_dcg <= 0), np.inf, self.values.ideal_dcg)
        return np.asarray(np.append(ideal, np.inf)[places_of(groups, self.values.group_keys)])


def _mean_by_rank(ranks: Index, gains: Floats, longest: int) -> Floats:
    """Return the mean gain of each rank, of all where a rank has none: float64, shape (longest + 1,)."""
    counts = np.bincount(ranks, minlength=longest + 1)
    sums = np.bincount(ranks, gains, minlength=longest + 1)
    overall = float(gains.mean()) if gains.size else 0.0
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), overall))

"""Unjudged items: the judged share of a run's first ranks, and how far the unjudged rest could move a difference.

The share says how far labels cover a run, over the groups that both have, whatever the axes of the metric. It is
computed while a run is scored. The measure ``Judged`` in ``kernel/companions.py`` has axes and is computed on request.

In a range, every unjudged item in the first ranks of either run is worth between nothing and the mean gain at its rank.
Unjudged items beyond the cutoff could enlarge the ideal as well, but here they have no worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ndcg_tracker.metrics.contributions import items_with, matched_items, weight_of_rank, weights_of_rows
from ndcg_tracker.metrics.kernel.companions import worth_of_levels
from ndcg_tracker.metrics.kernel.cumulated import ideal_sums
from ndcg_tracker.metrics.kernel.graded_list import GainClasses, graded_list, in_precision_of, level_counts
from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.kernel.ties import item_order, open_spans
from ndcg_tracker.metrics.language.axes import gain_table
from ndcg_tracker.metrics.language.measures import CUMULATED
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_codes, group_sums
from ndcg_tracker.rankings.join import Judged, JudgedRanking, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems


def judged_shares(judged: Judged, cutoff: int | None) -> Floats:
    """Return the share of labelled items among the first ``cutoff`` of each list: float64, shape (m,), in [0, 1].

    The lists are those of the m groups that the run and the labels share. For a list shorter than the cutoff, the share
    is over its own length. Ties are broken by ascending item id. Source: ir_measures ``Judged@cutoff``.

    >>> from ndcg_tracker.rankings.join import judged as join

    >>> from ndcg_tracker.rankings.keys import Keys

    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> group = Keys.from_strings(["q", "q"])
    >>> run = Ranking.from_rows(group, Keys.from_strings("ab"), np.array([2.0, 1.0]))
    >>> judged_shares(join(run, LabelLists.from_rows(group, Keys.from_strings("bc"), np.ones(2))), 10).tolist()
    [0.5]
    """
    judged = judged.in_order
    ranking = judged.ranking
    lengths = np.diff(ranking.offsets)
    shared = np.zeros(ranking.n_groups, dtype=np.bool_)
    shared[judged.run_groups[(judged.run_groups >= 0) & (judged.label_groups >= 0)]] = True
    shared &= lengths > 0
    if not shared.any():
        return np.empty(0)
    if judged.rows.size == ranking.n_items:
        return np.ones(int(shared.sum()))
    one_level = np.zeros(judged.labels.n_items, dtype=np.uint8)
    graded = graded_list(judged, one_level, single=False, drop_unjudged=False, negative=None)
    n_judged = np.diff(graded.bounds)
    if cutoff is not None:
        labelled = GainClasses.of(np.ones(1), 0.0, every=True)
        runs = open_spans(graded, labelled, cutoff)
        order = item_order(graded, runs, ranking.item_keys, "item_asc", labelled)
        places = order.places_of(np.arange(graded.codes.size))
        reached = np.append(0, np.cumsum(places - ranking.offsets[graded.groups] < cutoff))
        n_judged = np.diff(reached[graded.bounds])
        lengths = np.minimum(lengths, cutoff)
    return n_judged[shared] / lengths[shared]


SUMS = ("cg", "dcg", "P", "RBP")
"""The measures that sum the worth of each item at its rank, so that each item can be graded separately."""
SHARES = ("ndcg", "R", "AP")
"""The measures that divide such a sum by the sum of the ideal order."""
GROWING = ("R", "AP")
"""The measures of which the ideal grows with every relevant item, at whatever rank."""
FIRSTS = ("RR", "Success")
"""The measures that depend only on the highest ranked relevant item."""

_AXES = {
    "unjudged": ("zero",),
    "own": ("keep",),
    "depth": ("all",),
    "round": ("none",),
    "ties": ("item_desc", "item_asc", "input", "average"),
    "graded": ("False",),
    "relative": ("False",),
}
_AXES_OF_RELEVANT = {"ideal": ("judged",), "empty": ("0",)}
_AXES_OF_SHARES = {"ideal": ("judged",), "ideal_cut": ("cutoff", "none"), "ideal_order": ("gain",)}
_DIVISOR = {"P": "cutoff", "R": "relevant", "AP": "relevant"}
_ROUNDING = 1e-12
_STEPS = 8  # after so many, no end of a range moves
_MOST_COUNTS = 1 << 24
"""The largest number of counts of labels by group and grade: 0.1 GB."""


@dataclass(frozen=True)
class UnjudgedItems:
    """The unjudged items in the first ranks of two runs, under one metric.

    ``gains``: float64, ascending, from 0: the possible gains of an item. ``counts``: int64, shape (n_gains - 1,
    n_groups), how many labels of each group have at least each gain above 0; no rows if the measure has no ideal.
    ``groups``: int64, ascending, shape (n,), the group of each item. ``baseline`` and ``candidate``: float64, shape
    (n,), the weight of its rank in each run, 0 beyond the cutoff. ``keys``: its id. ``ideal``: float64, entry r for the
    sum of the weights of r ranks of the ideal order, None if the measure has no ideal.
    """

    metric: Metric
    gains: Floats
    counts: Index
    groups: Index
    baseline: Floats
    candidate: Floats
    keys: Keys
    ideal: Floats | None

    @cached_property
    def ideals(self) -> Floats:
        """The ideal of each group by its labels: float64, shape (n_groups,); 1 if the measure has no ideal."""
        if self.ideal is None:
            return np.ones(self.counts.shape[1])
        reached: Floats = self.ideal[np.minimum(self.counts, self.ideal.size - 1)]
        return np.asarray(np.diff(self.gains) @ reached)


def what_stops(metric: Metric, grades: Floats, n_groups: int = 1) -> str | None:
    """Return why a metric has no bounds over unjudged items, None if it has bounds.

    The reason is "measure", an axis with its value, or "grades" with their number if there are very many. Parameters:
    ``grades``: float64, the grades in use; ``n_groups``: the number of groups.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [what_stops(parse_metric(text), np.array([0.0, 1.0])) for text in ("ndcg@10", "ERR", "ndcg(unjudged=drop)@5")]
    [None, 'measure', 'unjudged=drop']
    """
    if metric.measure not in (*SUMS, *SHARES, *FIRSTS):
        return "measure"
    allowed = _AXES | {"over": (_DIVISOR.get(metric.measure, metric["over"]),)}
    if metric.measure not in CUMULATED:
        allowed |= _AXES_OF_RELEVANT
    if metric.measure == "ndcg":
        allowed |= _AXES_OF_SHARES
        if not metric["gain"].startswith("{"):  # then the ideal order is the same
            allowed["ideal_order"] = ("gain", "label")
        if metric["empty_when"] == "labels_sum_0" and (metric["gain"] not in ("linear", "exp2") or (grades < 0).any()):
            return "empty_when=labels_sum_0"
    if min((gain_table(metric["gain"]) or {}).values(), default=0.0) < 0:
        return f"gain={metric['gain']}"
    if (grades < 0).any():
        allowed["negative"] = ("zero",)
    if metric.measure in SHARES and grades.size * n_groups > _MOST_COUNTS:
        return f"grades={grades.size}"
    stopping = next((axis for axis, values in allowed.items() if metric[axis] not in values), None)
    return None if stopping is None else f"{stopping}={metric[stopping]}"


def unjudged_items(baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, groups: Keys) -> UnjudgedItems:
    """Return the unjudged items in the first ranks of either run, in some groups.

    Parameters: two runs with the same labels; ``metric``: one that ``what_stops`` does not stop; ``groups``: distinct
    ids. Raises: MetricError for a label that an axis refuses.
    """
    lists = Lists(baseline, [metric])
    worth = worth_of_levels(lists, metric)
    gains = np.unique(np.append(np.maximum(worth, 0.0), 0.0))
    counts = np.zeros((0, len(groups)), dtype=np.int64)
    if metric.measure in SHARES and gains.size > 1:
        of_levels = level_counts(lists.levels.codes, baseline.labels.offsets, worth.size)
        best_first = np.argsort(-worth)
        n_levels = np.searchsorted(-worth[best_first], -gains[1:], "right")  # how many levels gain at least each
        at_least = np.cumsum(of_levels[best_first], axis=0)[n_levels - 1]
        places = places_of(groups, baseline.labels.group_keys)
        counts = np.where(places >= 0, at_least[:, places], 0)
    of_groups, weights, keys = matched_items(*(_listed(side, metric, groups) for side in (baseline, candidate)))
    ideal = None
    if metric.measure in SHARES:
        longest = int(counts.max(initial=0)) + int(np.bincount(of_groups, minlength=1).max())
        is_cut = metric.measure == "ndcg" and metric["ideal_cut"] == "cutoff" and metric.cutoff is not None
        longest = min(longest, metric.cutoff or longest) if is_cut else longest
        ideal = np.cumsum(weight_of_rank(metric, longest, of_ideal=True))
    return UnjudgedItems(metric, gains, counts, of_groups, weights[0], weights[1], keys, ideal)


def _listed(judged: JudgedRanking, metric: Metric, groups: Keys) -> tuple[GroupedItems, Index]:
    """Return the unjudged items of a run that have a weight (their numbers), and the place of each of its groups."""
    weights = _Expected.of(judged, metric).slopes() if metric.measure == "AP" else weights_of_rows(judged, metric)[1]
    weights[judged.rows] = 0.0
    return items_with(weights, judged, groups)


def possible_moves(items: UnjudgedItems, baseline: Floats, candidate: Floats) -> Floats:
    """Return how far each unjudged item alone could move the difference of its group: float64, shape (n,).

    This is the range of the difference over all grades of the item, with the other items unchanged. Parameters: see
    ``extreme_deltas``.
    """
    groups, metric = items.groups, items.metric
    delta = (candidate - baseline)[groups]
    weights = items.candidate - items.baseline
    if metric.measure in FIRSTS:
        moved = np.maximum(candidate[groups], items.candidate) - np.maximum(baseline[groups], items.baseline)
        return np.asarray(np.abs(moved - delta) * (items.gains.size > 1))
    if items.ideal is None:
        return np.asarray(items.gains[-1] * np.abs(weights))
    ideals = items.ideals[groups]
    numerator, last = delta * ideals, items.ideal.size - 1
    low, high = delta.copy(), delta.copy()
    for step, gain, count in zip(np.diff(items.gains), items.gains[1:], items.counts, strict=True):
        count = count[groups]
        ideals = ideals + step * (items.ideal[np.minimum(count + 1, last)] - items.ideal[np.minimum(count, last)])
        reached = (numerator + gain * weights) / ideals
        low, high = np.minimum(low, reached), np.maximum(high, reached)
    return np.asarray(high - low)


@dataclass(frozen=True)
class UnjudgedRange:
    """How far the differences of some groups may move, if unjudged items are worth up to the mean gain at their rank.

    ``low`` (at most 0) and ``high`` (at least 0): float64, shape (n_groups,), the bounds of the change of each
    difference, candidate minus baseline. ``n_items``: how many items of these groups are unjudged in the first ranks of
    a run.
    """

    low: Floats
    high: Floats
    n_items: int


def unjudged_range(baseline: JudgedRanking, candidate: JudgedRanking, metric: Metric, groups: Keys) -> UnjudgedRange:
    """Return how far each difference may move if unjudged items are worth between 0 and the mean gain at their rank.

    For measures that sum over items, low = sum over items of min(0, c - b) / ideal, high = sum over items of
    max(0, c - b) / ideal; the ideal of cg, dcg, P and RBP is 1. Here c and b are the mean gain of the judged items at
    the item's rank times the weight of the rank, in the candidate and in the baseline. They are 0 if a run does not
    have the item in its first ranks. An item is worth the same share of both. For RR, Success and AP, the mean gain is
    the chance that the item is relevant, c and b are the rises of the expected sums if only this item were judged, and
    low is the rise of the expected difference through all items with c < b, high through those with c > b. For R and
    AP, the ideal of both runs, the number of relevant items, grows by the higher mean gain of each item that counts. So
    an item counts at the low end if c - b is less than its growth of the ideal times the difference there. Means are
    over all groups of a run, or over all ranks if no item is judged at a rank.

    Parameters: two runs with the same labels; ``metric``: one that ``what_stops`` does not stop; ``groups``:
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
    expected = [_Expected.of(side.in_order, metric) for side in (baseline, candidate)]
    at, numbers, _ = matched_items(*(items_with(of.numbers, of.judged, groups) for of in expected))
    rows = [of_side.astype(np.int64) for of_side in numbers]
    ideal = np.minimum(expected[0].ideal_of(groups), expected[1].ideal_of(groups))  # of a run without the group: none
    moved = expected[1].gains[rows[1]] - expected[0].gains[rows[0]]
    grown = np.maximum(expected[0].chances[rows[0]], expected[1].chances[rows[1]]) * (metric.measure in GROWING)

    def delta(counted: Mask) -> Floats:
        before, after = (of.sums(groups, of_rows[counted]) for of, of_rows in zip(expected, rows, strict=True))
        return np.asarray((after - before) / (ideal + group_sums(at[counted], grown[counted], len(groups))))

    as_judged, ends = delta(np.zeros(at.size, dtype=np.bool_)), list[Floats]()
    for sign in (1.0, -1.0):
        reached = [as_judged]
        for _ in range(_STEPS if grown.any() else 1):
            reached.append(delta(sign * (moved - reached[-1][at] * grown) < -_ROUNDING))
        ends.append(sign * np.min([sign * of_step for of_step in reached], axis=0) - as_judged)
    return UnjudgedRange(ends[0], ends[1], at.size)


@dataclass(frozen=True)
class _Expected:
    """The expected gains of the unjudged items of a run.

    ``ideal``: the divisor of the sum of each group, infinite for one with nothing to find; the last is for others.
    ``numbers``: float64, shape (n_items,), the number (from 1) of each unjudged row with a weight, else 0. ``chances``:
    float64, shape (n_items + 1,), by that number: the mean gain at its rank. ``hits``, ``weights``: float64, shape
    (n_items,), the worth of each judged row, and the weight of each. ``ranks``: of each row, with ties broken.
    """

    judged: JudgedRanking
    metric: Metric
    ideal: Floats
    numbers: Floats
    chances: Floats
    hits: Floats
    weights: Floats
    ranks: Index

    @classmethod
    def of(cls, judged: JudgedRanking, metric: Metric) -> _Expected:
        ranks, weights = weights_of_rows(judged, metric)
        lists = Lists(judged, [metric])
        of_levels = worth_of_levels(lists, metric)
        worth = np.maximum(of_levels[lists.levels.codes], 0.0)
        gains = worth[judged.label_rows]
        seen = weights[judged.rows] > 0
        mean_gain = _mean_by_rank(ranks[judged.rows][seen], gains[seen], int(ranks.max(initial=0)))
        numbers = np.where(weights > 0, np.arange(1.0, ranks.size + 1), 0.0)
        numbers[judged.rows], hits = 0.0, np.zeros(ranks.size)
        hits[judged.rows] = gains * seen
        weights = weights / np.maximum(ranks, 1) if metric.measure == "AP" else weights
        ideal = np.ones(judged.n_groups)
        if metric.measure == "ndcg":
            ideal = in_precision_of(metric, ideal_sums(lists, metric, of_levels))
        elif metric.measure in ("R", "AP"):
            ideal = group_sums(group_codes(judged.labels.offsets), worth, judged.n_groups)
        ideal = np.append(np.where(ideal > 0, ideal, np.inf), np.inf)
        return cls(judged, metric, ideal, numbers, np.append(0.0, mean_gain[ranks]), hits, weights, ranks)

    @cached_property
    def gains(self) -> Floats:
        """What each item alone would add to the sum of its group, by its number: float64, shape (n_items + 1,)."""
        return np.append(0.0, self.chances[1:] * self.slopes())

    def ideal_of(self, groups: Keys) -> Floats:
        """Return the divisor of the sum of each group, infinite for a group with nothing to find."""
        return np.asarray(self.ideal[places_of(groups, self.judged.group_keys)])

    def sums(self, groups: Keys, numbers: Index) -> Floats:
        """Return the expected sum of each group if some unjudged items (numbers, 0 for none) may be relevant."""
        hits = np.append(0.0, self.hits)
        hits[numbers] = self.chances[numbers]
        sums = group_sums(self._codes, self._terms(hits[1:]), self.judged.ranking.n_groups)
        return np.append(sums, 0.0)[places_of(groups, self.judged.ranking.group_keys)]

    @cached_property
    def _codes(self) -> Index:
        return group_codes(self.judged.ranking.offsets)

    def _before(self, numbers: Floats) -> Floats:
        """Return the sum of the numbers of the rows above each row of its list."""
        order = self._by_rank
        sums = np.cumsum(numbers[order]) - numbers[order]
        before = np.empty_like(sums)
        before[order] = sums - sums[self.judged.ranking.offsets[:-1]][self._codes] if sums.size else sums
        return before

    @cached_property
    def _by_rank(self) -> Index:
        """The rows of each list in the order of its ranks, which break ties as the metric does."""
        return np.lexsort((self.ranks, self._codes))

    def _still_looking(self, hits: Floats) -> Floats:
        """Return the chance that no row above is relevant."""
        return np.exp(self._before(np.log1p(-np.minimum(hits, 1 - 1e-12))))

    def _terms(self, hits: Floats) -> Floats:
        """Return what each row adds to the expected sum of its group; ``hits``: the chances that rows are relevant."""
        if self.metric.measure in FIRSTS:
            return hits * self.weights * self._still_looking(hits)
        return hits * self.weights * (1.0 + self._before(hits) if self.metric.measure == "AP" else 1.0)

    def slopes(self) -> Floats:
        """Return by how much the sum of a group rises if a row is worth one more."""
        if self.metric.measure not in (*FIRSTS, "AP"):
            return self.weights
        terms = self._terms(self.hits)
        sums = group_sums(self._codes, terms, self.judged.ranking.n_groups)[self._codes]
        if self.metric.measure in FIRSTS:
            return self._still_looking(self.hits) * (self.weights - sums)
        inverse = self.hits * self.weights
        after = group_sums(self._codes, inverse, self.judged.ranking.n_groups)[self._codes] - self._before(inverse)
        return (self.weights * (1.0 + self._before(self.hits)) + after) * (self.weights > 0)


def _mean_by_rank(ranks: Index, gains: Floats, longest: int) -> Floats:
    """Return the mean gain of each rank, or of all ranks if a rank has no gains: float64, shape (longest + 1,)."""
    counts = np.bincount(ranks, minlength=longest + 1)
    sums = np.bincount(ranks, gains, minlength=longest + 1)
    overall = float(gains.mean()) if gains.size else 0.0
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), overall))

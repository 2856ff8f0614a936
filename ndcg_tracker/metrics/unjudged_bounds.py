"""Unjudged items: the judged share of a run's first ranks, and how far the unjudged rest could move a difference.

The share says how far labels cover a run, over the groups that both have, whatever the axes of the metric. It is
computed while a run is scored. The measure ``Judged`` in ``kernel/companions.py`` has axes and is computed on request.

Every unjudged item in the first ranks of either run may have any grade in use, or no worth, as now. Unjudged items
beyond the cutoff could enlarge the ideal as well, but here they have no worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ndcg_tracker.metrics.contributions import items_with, matched_items, weight_of_rank, weights_of_rows
from ndcg_tracker.metrics.kernel.cumulated import level_gains
from ndcg_tracker.metrics.kernel.graded_list import GainClasses, graded_list, level_counts
from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.kernel.mean import GroupValues
from ndcg_tracker.metrics.kernel.ties import item_order, open_spans
from ndcg_tracker.metrics.kernel.values import group_values
from ndcg_tracker.metrics.language.axes import gain_table
from ndcg_tracker.metrics.language.measures import CUMULATED
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.join import Judged, JudgedRanking, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems
from ndcg_tracker.rankings.sorting import similar_groups


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
SHARES = ("ndcg", "R")
"""The measures that divide such a sum by the sum of the ideal order."""
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
    "over": ("cutoff", "relevant"),
}
_AXES_OF_RELEVANT = {"ideal": ("judged",), "empty": ("0",)}
_AXES_OF_SHARES = {"ideal": ("judged",), "ideal_cut": ("cutoff", "none"), "ideal_order": ("gain",)}
_ROUNDS = 100
_NEVER = -1e300
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

    @property
    def n_groups(self) -> int:
        """The number of requested groups."""
        return int(self.counts.shape[1])

    @cached_property
    def offsets(self) -> Index:
        """Which items each group has: int64, shape (n_groups + 1,)."""
        return np.searchsorted(self.groups, np.arange(self.n_groups + 1))

    @cached_property
    def ideals(self) -> Floats:
        """The ideal of each group by its labels: float64, shape (n_groups,); 1 if the measure has no ideal."""
        if self.ideal is None:
            return np.ones(self.n_groups)
        reached: Floats = self.ideal[np.minimum(self.counts, self.ideal.size - 1)]
        return np.asarray(np.diff(self.gains) @ reached)


def what_stops(metric: Metric, grades: Floats, n_groups: int = 1) -> str | None:
    """Return why a metric has no bounds over unjudged items, None if it has bounds.

    The reason is "measure", an axis with its value, or "grades" with their number if there are very many. Parameters:
    ``grades``: float64, the grades in use; ``n_groups``: the number of groups.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [what_stops(parse_metric(text), np.array([0.0, 1.0])) for text in ("ndcg@10", "AP", "ndcg(unjudged=drop)@5")]
    [None, 'measure', 'unjudged=drop']
    """
    if metric.measure not in (*SUMS, *SHARES, *FIRSTS):
        return "measure"
    allowed = dict(_AXES)
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
    of_baseline, of_candidate = (_listed(side, metric, groups) for side in (baseline, candidate))
    of_groups, weights, keys = matched_items(of_baseline, of_candidate)
    ideal = None
    if metric.measure in SHARES:
        longest = int(counts.max(initial=0)) + int(np.bincount(of_groups, minlength=1).max())
        is_cut = metric.measure == "ndcg" and metric["ideal_cut"] == "cutoff" and metric.cutoff is not None
        longest = min(longest, metric.cutoff or longest) if is_cut else longest
        ideal = np.cumsum(weight_of_rank(metric, longest, of_ideal=True))
    return UnjudgedItems(metric, gains, counts, of_groups, weights[0], weights[1], keys, ideal)


def worth_of_levels(lists: Lists, metric: Metric) -> Floats:
    """Return the worth of an item of each grade in use: its gain, or whether it is relevant."""
    grades = lists.level_grades(metric)
    if metric.measure in ("cg", "dcg", "ndcg"):
        return level_gains(lists, metric, grades)
    return (grades >= metric.least_relevant).astype(np.float64)


def _listed(judged: JudgedRanking, metric: Metric, groups: Keys) -> tuple[GroupedItems, Index]:
    """Return the unjudged items of a run that have a weight (their numbers), and the place of each of its groups."""
    _, weights = weights_of_rows(judged, metric)
    weights[judged.rows] = 0.0
    return items_with(weights, judged, groups)


def extreme_deltas(items: UnjudgedItems, baseline: Floats, candidate: Floats) -> tuple[Floats, Floats]:
    """Return the least and the greatest difference of each group over all grades of its unjudged items.

    The bounds are sharp per group: some grades attain each bound, and no grades exceed it. If a measure divides by an
    ideal, the greatest difference is the maximum of (DCG of the candidate - DCG of the baseline) / ideal. This maximum
    does not separate by item, because the grades also change the ideal. But for a fixed lambda, the maximum of
    difference - lambda x ideal separates by gain. The ideal depends only on how many items have at least each gain. For
    given numbers of items, the items with the largest differences of weights get the highest gains. Dinkelbach's
    iteration finds lambda (Management Science 13(7), 1967).

    Parameters: ``baseline`` and ``candidate``: float64, shape (n_groups,), the current values. Returns: float64 of the
    same shape.
    """
    delta = candidate - baseline
    if items.metric.measure in FIRSTS:
        return -_greatest_first(items, candidate, baseline, -1), _greatest_first(items, baseline, candidate, 1)
    weights = items.candidate - items.baseline
    if items.ideal is None:
        most = items.gains[-1]
        lost, won = (group_sums(items.groups, most * np.maximum(w, 0.0), items.n_groups) for w in (-weights, weights))
        return delta - lost, delta + won
    return -_greatest(items, -weights, -delta), _greatest(items, weights, delta)


def possible_moves(items: UnjudgedItems, baseline: Floats, candidate: Floats) -> Floats:
    """Return how far each unjudged item alone could move the difference of its group: float64, shape (n,).

    This is the range of the difference over all grades of the item, with the other items unchanged. Parameters: see
    ``extreme_deltas``.
    """
    groups, metric = items.groups, items.metric
    delta = (candidate - baseline)[groups]
    weights = items.candidate - items.baseline
    if items.gains.size == 1:
        return np.zeros(groups.size)
    if metric.measure in FIRSTS:
        moved = np.maximum(candidate[groups], items.candidate) - np.maximum(baseline[groups], items.baseline)
        return np.abs(moved - delta)
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


def _greatest_first(items: UnjudgedItems, low: Floats, high: Floats, sign: int) -> Floats:
    """Return the greatest difference if one item decides: more items could only raise the other side."""
    greatest = high - low
    if items.gains.size > 1:
        lower, higher = (items.baseline, items.candidate)[::sign]
        moved = np.maximum(high[items.groups], higher) - np.maximum(low[items.groups], lower)
        np.maximum.at(greatest, items.groups, moved)
    return greatest


def _greatest(items: UnjudgedItems, weights: Floats, delta: Floats) -> Floats:
    greatest = delta.copy()
    ideals, lengths, offsets = items.ideals, np.diff(items.offsets), items.offsets
    order = np.lexsort((-weights, items.groups))
    if items.gains.size == 1 or items.ideal is None:
        return greatest
    for groups in similar_groups(lengths):
        width = int(lengths[groups[-1]])
        places = offsets[groups][:, None] + np.arange(width)
        inside = np.arange(width) < lengths[groups][:, None]
        sums = np.zeros((groups.size, width + 1))
        sums[:, 1:] = np.cumsum(np.where(inside, weights[order.take(places, mode="clip")], 0.0), axis=1)
        sums[:, 1:][~inside] = _NEVER
        steps, counts = _merged(items.gains, items.counts[:, groups])
        numerator = delta[groups] * ideals[groups]
        share = np.where(ideals[groups] > 0, delta[groups], -1.0)
        for _ in range(_ROUNDS):
            gained, ideal = _best_counts(sums, counts, steps, items.ideal, share)
            with np.errstate(invalid="ignore", divide="ignore"):
                better = np.where(ideal > 0, (numerator + gained) / ideal, -np.inf)
            risen = better > share + 1e-15
            if not risen.any():
                break
            share = np.where(risen, better, share)
        greatest[groups] = np.maximum(greatest[groups], share)
    return greatest


def _merged(gains: Floats, counts: Index) -> tuple[Floats, Index]:
    """Return the steps from each gain to the next, and their counts, with gains of equal count merged into one step.

    Items of the best grades reach either all gains of a merged step or none. Parameters: see ``UnjudgedItems``.
    Returns: float64 and int64, shape (n_steps, n_groups), 0 after a group's last step.
    """
    last = np.ones(counts.shape, dtype=np.bool_)
    last[:-1] = counts[1:] != counts[:-1]
    level, group = np.nonzero(last)
    at = (np.cumsum(last, axis=0) - 1)[level, group]
    tops = np.zeros((int(at.max(initial=0)) + 2, counts.shape[1]))
    merged = np.zeros((tops.shape[0] - 1, counts.shape[1]), dtype=np.int64)
    tops[at + 1, group] = gains[level + 1]
    merged[at, group] = counts[level, group]
    return np.diff(np.maximum.accumulate(tops, axis=0), axis=0), merged


def _best_counts(sums: Floats, counts: Index, steps: Floats, ideal_of: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return difference and ideal of the grades that maximise difference - share x ideal: float64, shape (n_groups,).

    Parameters: ``sums``: shape (n_groups, width + 1), the largest sum of n weights, very low where there are no n
    items; ``counts`` and ``steps``: see ``_merged``.

    Of the items that reach a gain, some reach the next gain, so the numbers decrease from gain to gain. The loop finds
    the best number for each gain after the gains below it.
    """
    numbers = np.arange(sums.shape[1])
    best = gained = ideal = np.zeros_like(sums)
    for step, count in zip(steps, counts, strict=True):
        highest = np.maximum.accumulate(best[:, ::-1], axis=1)[:, ::-1]
        at = np.where(best >= highest, numbers, sums.shape[1])
        at = np.minimum.accumulate(at[:, ::-1], axis=1)[:, ::-1]  # how many items of the gain below are best
        step = step[:, None]
        here = step * ideal_of[np.minimum(count[:, None] + numbers, ideal_of.size - 1)]
        gained = np.take_along_axis(gained, at, axis=1) + step * sums
        ideal = np.take_along_axis(ideal, at, axis=1) + here
        best = highest + (step * sums - share[:, None] * here)
    row, chosen = np.arange(best.shape[0]), best.argmax(axis=1)
    return gained[row, chosen], ideal[row, chosen]


RANGED = (*SUMS, "ndcg", "Success")
"""The measures in which an unjudged item can be worth a mean gain."""


def what_stops_range(metric: Metric, grades: Floats) -> str | None:
    """Return why a metric has no range over unjudged items, None if it has one.

    Parameters and values: see ``what_stops``.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> [what_stops_range(parse_metric(text), np.array([0.0, 1.0])) for text in ("ndcg@10", "Success@5", "RR")]
    [None, None, 'measure']
    """
    return what_stops(metric, grades) if metric.measure in RANGED else "measure"


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

    low = sum over items of min(0, c - b) / ideal, high = sum over items of max(0, c - b) / ideal; for cg, dcg, P and
    RBP without the division. Here c and b are the mean gain of the judged items at the item's rank times the weight of
    the rank, in the candidate and in the baseline. They are 0 if a run does not have the item in its first ranks. An
    item is worth the same share of both. For Success@k: low = -(1 - value) x (1 - product of 1 - mean gain) of the
    baseline, and high the same, with a positive sign, of the candidate. Means are over all groups of a run, or over all
    ranks if no item is judged at a rank.

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
    """The expected gains of the unjudged items of a run.

    ``numbers``: float64, shape (n_items,), the number (from 1) of each unjudged row with a weight, else 0. ``gains``:
    float64, shape (n_items + 1,), by that number: mean gain times weight; for Success without the weight.
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
        """Return the values of some groups, 1 for a group without a value: float64, shape (n_groups,)."""
        values = np.append(self.values.values, 1.0)[places_of(groups, self.values.group_keys)]
        return np.where(np.isnan(values), 1.0, values)

    def ideal_of(self, groups: Keys) -> Floats:
        """Return the divisor of the sum of each group, infinite for a group with nothing to find."""
        if self.values.metric.measure != "ndcg":
            return np.ones(len(groups))
        ideal = np.where(self.values.empty | (self.values.ideal_dcg <= 0), np.inf, self.values.ideal_dcg)
        return np.asarray(np.append(ideal, np.inf)[places_of(groups, self.values.group_keys)])


def _mean_by_rank(ranks: Index, gains: Floats, longest: int) -> Floats:
    """Return the mean gain of each rank, or of all ranks if a rank has no gains: float64, shape (longest + 1,)."""
    counts = np.bincount(ranks, minlength=longest + 1)
    sums = np.bincount(ranks, gains, minlength=longest + 1)
    overall = float(gains.mean()) if gains.size else 0.0
    return np.asarray(np.where(counts > 0, sums / np.maximum(counts, 1), overall))

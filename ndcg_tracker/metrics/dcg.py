"""The sum of gain x discount over the lists, for all cutoffs at once."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.metrics.columns import discounted_sums, weighted_sums
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.lists import Lists, effective, family
from ndcg_tracker.metrics.ordering import ItemOrder, as_they_came
from ndcg_tracker.metrics.precision import rank_weights
from ndcg_tracker.metrics.ranked import order_of, ranked_gains
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats


def dcg_sums(lists: Lists, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount of each group of the run: float64, shape (n_run_groups,).

    Parameters: ``level_gains``: float64, the gain of each level.
    """
    unjudged_gain = 0.0 if metric["unjudged"] in ("zero", "drop") else float(metric["unjudged"])
    if unjudged_gain or metric["ties"] == "average":
        return _of_items(lists, metric, level_gains, unjudged_gain)
    longest = lists.graded(metric).longest
    at = lists.cutoffs(metric, longest).index(effective(metric.cutoff, longest))
    sums = lists.once(("dcg", family(metric)), lambda: _unmended(lists, metric, level_gains))
    order = order_of(lists, metric, level_gains, every=False)
    if not order.changed.size:
        return np.asarray(sums[at])
    key = ("dcg", family(metric), metric["ties"])
    return np.asarray(lists.once(key, lambda: _mended(sums, lists, metric, level_gains, order))[at])


def _unmended(lists: Lists, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sums with ties left as they came, for every cutoff that is asked for: shape (n_cutoffs, n_groups)."""
    graded = lists.graded(metric)
    return _sums(lists, metric, level_gains, as_they_came(graded), np.arange(graded.lengths.size))


def _mended(sums: Floats, lists: Lists, metric: Metric, level_gains: Floats, order: ItemOrder) -> Floats:
    """Return the sums anew for the groups whose order a tie rule may have changed, and as they are for all others."""
    sums = sums.copy()
    sums[:, order.changed] = _sums(lists, metric, level_gains, order, order.changed)
    return sums


def _sums(lists: Lists, metric: Metric, level_gains: Floats, order: ItemOrder, groups: Index) -> Floats:
    """Return the sums of some groups of the run, for every cutoff that is asked for."""
    graded = lists.graded(metric)
    cutoffs = lists.cutoffs(metric, graded.longest)
    weight_of_rank = rank_weights(metric, graded.longest)
    starts, lengths = graded.bounds[groups], np.diff(graded.bounds)[groups]
    if order.places is None:  # then the item's number in its list is its rank
        return discounted_sums(starts, lengths, order.codes, level_gains, weight_of_rank, cutoffs)
    cut_weights = []
    for cutoff in cutoffs:
        cut_weights.append(weight_of_rank.copy())
        cut_weights[-1][cutoff + 1 :] = 0.0
    before = graded.offsets[groups] - 1
    return weighted_sums(starts, lengths, order.codes, level_gains, order.places, before, cut_weights)


def _of_items(lists: Lists, metric: Metric, level_gains: Floats, unjudged_gain: float) -> Floats:
    """Return the sums where an item's weight is no matter of its rank alone, or items without label gain something."""
    graded = lists.graded(metric)
    ranked = ranked_gains(lists, metric, level_gains, every=unjudged_gain != 0)
    weight_of_rank = rank_weights(metric, graded.longest)
    if metric.cutoff is not None:
        weight_of_rank[metric.cutoff + 1 :] = 0.0
    weights = ranked.weights(weight_of_rank)
    n_groups = graded.lengths.size
    sums = group_sums(ranked.groups, ranked.gains * weights, n_groups)
    if unjudged_gain:
        weight_of_list = np.cumsum(weight_of_rank)[graded.lengths]
        sums += unjudged_gain * (weight_of_list - group_sums(ranked.groups, weights, n_groups))
    return sums

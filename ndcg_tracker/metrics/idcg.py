"""The sum of gain x discount over the ideal order, for all cutoffs at once."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.ideal import level_runs, sorted_ideal
from ndcg_tracker.metrics.lists import Lists, effective, family
from ndcg_tracker.metrics.precision import rank_weights
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats

_AXES = ("ideal", "ideal_order", "ideal_cut")


def ideal_sums(lists: Lists, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount over the ideal order of each group of the group axis: float64, shape (n,).

    Parameters: ``level_gains``: float64, the gain of each level.
    """
    if metric["ideal"] == "constant":
        return _constant(lists, metric)
    longest = _longest(lists, metric)
    cut_at_cutoff = metric["ideal_cut"] == "cutoff"
    cutoffs = lists.cutoffs(metric, longest) if cut_at_cutoff else [max(longest, 1)]
    key: Hashable = ("idcg", family(metric), lists.list_key(metric), *(metric[axis] for axis in _AXES))
    sums = lists.once(key, lambda: _of_levels(lists, metric, level_gains, cutoffs))
    return np.asarray(sums[cutoffs.index(effective(metric.cutoff if cut_at_cutoff else None, longest))])


def _constant(lists: Lists, metric: Metric) -> Floats:
    n_ranks = n_retrieved = _n_retrieved(lists, metric)
    if metric.cutoff is not None:
        n_ranks = np.full(n_retrieved.size, metric.cutoff)
    if metric["ideal_cut"] == "retrieved":
        n_ranks = np.minimum(n_ranks, n_retrieved)
    return np.asarray(np.cumsum(rank_weights(metric, int(n_ranks.max(initial=0))))[n_ranks])


def _n_retrieved(lists: Lists, metric: Metric) -> Index:
    """Return how many items the list of each group of the group axis has."""
    return lists.of_axis(lists.graded(metric).lengths)


def _longest(lists: Lists, metric: Metric) -> int:
    """Return the largest rank that an ideal order may have."""
    graded = lists.graded(metric)
    if metric["ideal"] == "retrieved":
        return graded.longest
    return int(np.diff(lists.label_codes(metric)[1]).max(initial=0))


def _of_levels(lists: Lists, metric: Metric, level_gains: Floats, cutoffs: list[int]) -> Floats:
    """Return the sums for some cutoffs: float64, shape (n_cutoffs, n_groups of the group axis)."""
    from_run, by_label = metric["ideal"] == "retrieved", metric["ideal_order"] == "label"
    n_other = lists.graded(metric).n_unlabelled if from_run else None
    cut = _cut(lists, metric) if metric["ideal_cut"] == "retrieved" else None
    weight_of_rank = rank_weights(metric, _longest(lists, metric))
    counts = lists.counts(metric, from_run=from_run)
    runs = None if counts is None else level_runs(counts, level_gains, n_other, by_label=by_label, cut=cut)
    if runs is not None:
        sums = runs.sums(weight_of_rank, cutoffs)
    else:
        sums = _by_sorting(lists, metric, level_gains, weight_of_rank, n_other, cut, cutoffs)
    return np.stack([lists.of_axis(of_cutoff) if from_run else lists.of_labels(of_cutoff) for of_cutoff in sums])


def _cut(lists: Lists, metric: Metric) -> Index:
    """Return how many items were retrieved for each group of the run, or of the labels."""
    graded = lists.graded(metric)
    if metric["ideal"] == "retrieved":
        return graded.lengths
    cut = np.zeros(lists.judged.labels.n_groups, dtype=np.int64)
    of_labels = ~lists.extra
    cut[lists.judged.label_groups[of_labels]] = _n_retrieved(lists, metric)[of_labels]
    return cut


def _by_sorting(
    lists: Lists,
    metric: Metric,
    level_gains: Floats,
    weight_of_rank: Floats,
    n_other: Index | None,
    cut: Index | None,
    cutoffs: list[int],
) -> Floats:
    """Return the sums for some cutoffs of each group of the run, or of the labels, from the sorted items."""
    graded = lists.graded(metric)
    codes, offsets = (graded.codes, graded.bounds) if n_other is not None else lists.label_codes(metric)
    order = sorted_ideal(codes, offsets, level_gains, n_other, by_label=metric["ideal_order"] == "label")
    terms = order.gains * weight_of_rank[order.ranks]
    if cut is not None:
        terms[order.ranks > cut[order.groups]] = 0.0
    return np.stack(
        [group_sums(order.groups, np.where(order.ranks > cutoff, 0.0, terms), offsets.size - 1) for cutoff in cutoffs]
    )

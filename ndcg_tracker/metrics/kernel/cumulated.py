"""CG, DCG, IDCG and NDCG on all axes, for all cutoffs at once."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.gains import gains
from ndcg_tracker.metrics.kernel.ideal import level_spans, sorted_ideal
from ndcg_tracker.metrics.kernel.lists import Lists, effective, family
from ndcg_tracker.metrics.kernel.mean import ROUNDING
from ndcg_tracker.metrics.kernel.rounding import in_precision_of, rank_weights
from ndcg_tracker.metrics.kernel.sums import discounted_sums, weighted_sums
from ndcg_tracker.metrics.kernel.ties import ItemOrder, as_they_came, order_of, ranked_gains
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.types import Floats, Index, Mask


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
    """Return the sums with ties in input order, for every requested cutoff: shape (n_cutoffs, n_groups)."""
    graded = lists.graded(metric)
    return _sums(lists, metric, level_gains, as_they_came(graded), np.arange(graded.lengths.size))


def _mended(sums: Floats, lists: Lists, metric: Metric, level_gains: Floats, order: ItemOrder) -> Floats:
    """Recompute the sums of the groups whose order a tie rule may have changed; return the others unchanged."""
    sums = sums.copy()
    sums[:, order.changed] = _sums(lists, metric, level_gains, order, order.changed)
    return sums


def _sums(lists: Lists, metric: Metric, level_gains: Floats, order: ItemOrder, groups: Index) -> Floats:
    """Return the sums of some groups of the run, for every requested cutoff."""
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
    """Return the sums where an item's weight depends on more than its rank, or unlabelled items have a gain."""
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
    spans = None if counts is None else level_spans(counts, level_gains, n_other, by_label=by_label, cut=cut)
    if spans is not None:
        sums = spans.sums(weight_of_rank, cutoffs)
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


@dataclass(frozen=True, slots=True)
class Cumulated:
    """The numbers of one metric over the groups of the group axis.

    ``values``, ``dcg`` and ``ideal_dcg``: float64, shape (n,), NaN in the last two where the measure has none.
    ``empty``: bool, shape (n,), the groups that have nothing to find (none for cg, dcg and idcg).
    """

    values: Floats
    dcg: Floats
    ideal_dcg: Floats
    empty: Mask


def cumulated(lists: Lists, metric: Metric) -> Cumulated:
    """Return cg, dcg, idcg or ndcg of every group of the group axis (see ``kernel.group_results``)."""
    level_grades = lists.level_grades(metric)
    worth = level_gains(lists, metric, level_grades)
    _refuse_single_items(lists, metric)
    nothing = np.full(lists.judged.n_groups, np.nan)
    nobody = np.zeros(lists.judged.n_groups, dtype=np.bool_)
    dcg = nothing
    if metric.measure != "idcg":
        dcg = in_precision_of(metric, lists.of_axis(dcg_sums(lists, metric, worth)))
    if metric.measure in ("cg", "dcg"):
        return Cumulated(dcg.copy(), dcg, nothing, nobody)
    ideal = in_precision_of(metric, ideal_sums(lists, metric, worth))
    if metric.measure == "idcg":
        return Cumulated(ideal.copy(), nothing, ideal, nobody)
    empty = _empty(lists, metric, level_grades, worth, ideal)
    values = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=~empty & (ideal != 0))
    values = in_precision_of(metric, values)
    if metric["clip"] == "error_above_1" and (values > 1 + ROUNDING).any():
        at = int(np.argmax(values > 1 + ROUNDING))
        group = lists.judged.group_keys[at]
        raise MetricError(f"{metric}: group {group!r} has the value {values[at]:g}, which is above 1; use clip=none")
    return Cumulated(values, dcg, ideal, empty)


def level_gains(lists: Lists, metric: Metric, level_grades: Floats) -> Floats:
    """Return the gain of each distinct grade, after the negative axis."""
    worth = gains(metric["gain"], level_grades)
    below = level_grades < 0
    if metric["negative"] in ("zero", "drop"):
        worth[below] = 0.0
    worth = in_precision_of(metric, worth)
    if not np.isfinite(worth).all():
        where = lists.where(~np.isfinite(worth))
        other = "linear" if metric["gain"].startswith("exp2") else "binary"
        raise MetricError(f"{metric}: {where} is too large for gain={metric['gain']}; use gain={other}")
    return worth


def _refuse_single_items(lists: Lists, metric: Metric) -> None:
    """Apply the size1 axis."""
    if metric["size1"] != "error":
        return
    single = lists.graded(metric).lengths == 1
    if single.any():
        group = lists.judged.ranking.group_keys[int(np.argmax(single))]
        raise MetricError(f"{metric}: group {group!r} has only one item, which this metric refuses; use size1=ok")


def _empty(lists: Lists, metric: Metric, level_grades: Floats, worth: Floats, ideal: Floats) -> Mask:
    """Return the groups of the group axis that have nothing to find."""
    if metric["ideal"] == "constant":  # the ideal is never 0: what counts is whether anything has a gain
        gainful = lists.label_sums(metric, (worth > 0).astype(np.float64))
        return np.asarray(lists.of_labels(gainful) == 0)
    if metric["empty_when"] == "labels_sum_0":
        if metric["ideal"] == "retrieved":
            return np.asarray(lists.of_axis(lists.listed_sums(metric, level_grades)) == 0)
        return np.asarray(lists.of_labels(lists.label_sums(metric, level_grades)) == 0)
    return np.asarray(ideal == 0 if metric["empty_when"] == "ideal_eq_0" else ideal <= 0)

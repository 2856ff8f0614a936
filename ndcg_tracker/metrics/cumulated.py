"""CG, DCG, IDCG and NDCG on all axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.aggregation import ROUNDING
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.discounts import discounts
from ndcg_tracker.metrics.gains import gains
from ndcg_tracker.metrics.ideal import ideal_order
from ndcg_tracker.metrics.listing import GradedList, Lists
from ndcg_tracker.metrics.ranked import ranked_gains
from ndcg_tracker.rankings.grouping import group_sums
from ndcg_tracker.rankings.keys import Index, Mask
from ndcg_tracker.rankings.ranking import Floats


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
    level_gains = _level_gains(lists, metric, level_grades)
    graded = lists.graded(metric)
    nothing = np.full(lists.judged.n_groups, np.nan)
    nobody = np.zeros(lists.judged.n_groups, dtype=np.bool_)
    if metric["size1"] == "error" and (graded.lengths == 1).any():
        group = lists.judged.ranking.group_keys[int(np.argmax(graded.lengths == 1))]
        raise MetricError(f"{metric}: group {group!r} has one item only, which this metric refuses; use size1=ok")
    dcg = _single(metric, _dcg(lists, graded, metric, level_gains)) if metric.measure != "idcg" else nothing
    if metric.measure in ("cg", "dcg"):
        return Cumulated(dcg.copy(), dcg, nothing, nobody)
    ideal = _single(metric, _ideal_dcg(lists, graded, metric, level_gains))
    if metric.measure == "idcg":
        return Cumulated(ideal.copy(), nothing, ideal, nobody)
    empty = _empty(lists, graded, metric, level_grades, level_gains, ideal)
    values = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=~empty & (ideal != 0))
    values = _single(metric, values)
    if metric["clip"] == "error_above_1" and (values > 1 + ROUNDING).any():
        at = int(np.argmax(values > 1 + ROUNDING))
        group = lists.judged.group_keys[at]
        raise MetricError(f"{metric}: group {group!r} has the value {values[at]:g}, which is above 1; use clip=none")
    return Cumulated(values, dcg, ideal, empty)


def _single(metric: Metric, numbers: Floats) -> Floats:
    """Return numbers as single-precision code has them, where the metric asks for that."""
    return numbers.astype(np.float32).astype(np.float64) if metric["arithmetic"] == "f32" else numbers


def _level_gains(lists: Lists, metric: Metric, level_grades: Floats) -> Floats:
    """Return the gain of each distinct grade, after the negative axis."""
    level_gains = gains(metric["gain"], level_grades)
    below = level_grades < 0
    if metric["negative"] in ("zero", "drop"):
        level_gains[below] = 0.0
    level_gains = _single(metric, level_gains)
    if not np.isfinite(level_gains).all():
        where = lists.where(~np.isfinite(level_gains))
        raise MetricError(f"{metric}: {where} is too large for gain={metric['gain']}; use gain=linear")
    return level_gains


def _rank_weights(metric: Metric, n_ranks: int) -> Floats:
    return _single(metric, discounts(metric.discount, n_ranks))


def _dcg(lists: Lists, graded: GradedList, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount of each group of the group axis, 0 where the run lacks it."""
    unjudged_gain = 0.0 if metric["unjudged"] in ("zero", "drop") else float(metric["unjudged"])
    ranked = ranked_gains(graded, lists.judged.ranking, metric, level_gains, every=unjudged_gain != 0)
    weight_of_rank = _rank_weights(metric, int(graded.lengths.max(initial=0)))
    if metric.cutoff is not None:
        weight_of_rank[metric.cutoff + 1 :] = 0.0
    weights = ranked.weights(weight_of_rank)
    n_groups = graded.offsets.size - 1
    sums = group_sums(ranked.groups, ranked.gains * weights, n_groups)
    if unjudged_gain:
        weight_of_list = np.cumsum(weight_of_rank)[graded.lengths]
        sums += unjudged_gain * (weight_of_list - group_sums(ranked.groups, weights, n_groups))
    return lists.of_axis(sums)


def _ideal_dcg(lists: Lists, graded: GradedList, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount over the ideal order of each group of the group axis."""
    n_retrieved = lists.of_axis(graded.lengths.astype(np.float64)).astype(np.int64)
    if metric["ideal"] == "constant":
        n_ranks = n_retrieved if metric.cutoff is None else np.full(n_retrieved.size, metric.cutoff)
        if metric["ideal_cut"] == "retrieved":
            n_ranks = np.minimum(n_ranks, n_retrieved)
        return np.asarray(np.cumsum(_rank_weights(metric, int(n_ranks.max(initial=0))))[n_ranks])
    by_label = metric["ideal_order"] == "label"
    from_run = metric["ideal"] == "retrieved"
    if from_run:
        codes, groups, n_groups = graded.codes, graded.groups, graded.offsets.size - 1
    else:
        (codes, groups), n_groups = lists.label_codes(metric), lists.judged.labels.n_groups
    n_other = graded.n_unlabelled if from_run else None
    cutoff = metric.cutoff if metric["ideal_cut"] == "cutoff" else None
    order = ideal_order(codes, groups, n_groups, level_gains, n_other, by_label=by_label, cutoff=cutoff)
    weights = _rank_weights(metric, int(order.ranks.max(initial=0)))[order.ranks]
    if cutoff is not None:
        weights[order.ranks > cutoff] = 0.0
    elif metric["ideal_cut"] == "retrieved":
        place_of_axis = lists.judged.run_groups if from_run else lists.judged.label_groups
        cut: Index = np.zeros(n_groups, dtype=np.int64)
        cut[place_of_axis[place_of_axis >= 0]] = n_retrieved[place_of_axis >= 0]
        weights[order.ranks > cut[order.groups]] = 0.0
    sums = group_sums(order.groups, order.gains * weights, n_groups)
    return lists.of_axis(sums) if from_run else lists.of_labels(sums)


def _empty(
    lists: Lists, graded: GradedList, metric: Metric, level_grades: Floats, level_gains: Floats, ideal: Floats
) -> Mask:
    """Return the groups of the group axis that have nothing to find."""
    if metric["ideal"] == "constant":  # the ideal is never 0: what counts is whether anything has a gain
        codes, groups = lists.label_codes(metric)
        gainful = group_sums(groups, level_gains[codes] > 0, lists.judged.labels.n_groups)
        return np.asarray(lists.of_labels(gainful) == 0)
    if metric["empty_when"] == "labels_sum_0":
        if metric["ideal"] == "retrieved":
            sums = group_sums(graded.groups, level_grades[graded.codes], graded.offsets.size - 1)
            return np.asarray(lists.of_axis(sums) == 0)
        codes, groups = lists.label_codes(metric)
        sums = group_sums(groups, level_grades[codes], lists.judged.labels.n_groups)
        return np.asarray(lists.of_labels(sums) == 0)
    return np.asarray(ideal == 0 if metric["empty_when"] == "ideal_eq_0" else ideal <= 0)

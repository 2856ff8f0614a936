"""CG, DCG, IDCG and NDCG on all axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.aggregation import ROUNDING
from ndcg_tracker.metrics.dcg import dcg_sums
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.gains import gains
from ndcg_tracker.metrics.idcg import ideal_sums
from ndcg_tracker.metrics.lists import Lists
from ndcg_tracker.metrics.precision import in_precision_of
from ndcg_tracker.rankings.keys import Mask
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
        raise MetricError(f"{metric}: group {group!r} has one item only, which this metric refuses; use size1=ok")


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

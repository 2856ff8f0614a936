"""Compare stored results with the results of the items and labels, group by group.

On one machine both are equal to the bit. Another processor may round a logarithm differently, so a difference of a few
units in the last place (``UNITS``) counts as equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.mean import DEFINED, REASONS, GroupValues, aggregated, mean, plain_mean
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.ranking import GroupWeights

if TYPE_CHECKING:
    from ndcg_tracker.rankings import Floats, Index, Mask
    from ndcg_tracker.storage.records import EvaluationRecord, GroupResultColumns

UNITS = 16
"""How far results may differ, in units in the last place of 1 or of a larger number: 3.6e-15 in double precision."""
Number = float | int | str | None


@dataclass(frozen=True, slots=True)
class Deviation:
    """A stated number (``what``) of a group, or of the run if ``group`` is None, that differs from the computed number.

    ``stated``, ``computed``: both numbers, None if there is none. ``n``: how many groups differ in it.
    """

    what: str
    stated: Number
    computed: Number
    group: str | None = None
    n: int = 1


@dataclass(frozen=True, slots=True)
class Verified:
    """The outcome of checking results against items: the first difference, and whether the mean could be checked.

    ``rests_on_weights``: the weights of the groups do not give this mean, so it depends on weights of items, which are
    not stored.
    """

    difference: Deviation | None = None
    rests_on_weights: bool = False


def verdict(
    evaluation: EvaluationRecord,
    results: GroupResultColumns,
    rows: Index,
    groups: tuple[GroupValues, GroupValues, GroupValues],
    bounds: tuple[float | None, float | None],
    weights: GroupWeights | None,
) -> Verified:
    """Return how the stored results of a run compare with the results of its items and labels.

    Parameters: ``results``: of the groups, with dcg and ideal_dcg. ``rows``: the row in them of each group of
    ``groups``: int64, -1 for none. ``groups``: the computed values, and the values with every tie broken for the worst
    and for the best case. ``bounds``: the means of the last two.
    """
    difference = _group_difference(results, rows, groups)
    if difference is not None:
        return Verified(difference)
    own, worst, best = groups
    metric = own.metric
    values = results.values[rows]
    own = replace(own, values=values)
    result = aggregated(own, weights)
    for what in ("n_groups", "n_missing", "n_undefined"):
        if getattr(evaluation, what) != getattr(result, what):
            return Verified(Deviation(what, getattr(evaluation, what), getattr(result, what)))
    difference = _difference_of_all(evaluation, (result.mean, *bounds), metric)
    if difference is None or metric["weights"] == "none":
        return Verified(difference)
    alike = (aggregated(variant, None).mean for variant in (own, worst, best))
    if _difference_of_all(evaluation, tuple(alike), metric) is None:
        return Verified()  # the run had weights of items, or was stored before the groups had weights
    defined = values[~np.isnan(values)]
    if metric["weights"] == "item_mean" and (
        metric["empty_weight"] == "one"
        or (evaluation.mean is not None and defined.size and defined.min() <= evaluation.mean <= defined.max())
    ):
        return Verified(rests_on_weights=True)
    return Verified(difference)


def _group_difference(
    results: GroupResultColumns, rows: Index, groups: tuple[GroupValues, GroupValues, GroupValues]
) -> Deviation | None:
    """Return the first difference in the results of groups."""
    own, worst, best = groups
    lacking = np.flatnonzero(rows < 0)
    if lacking.size:
        at = int(lacking[0])
        return Deviation("result", None, _number(own.values[at]), own.group_keys[at], lacking.size)
    if results.values.size != rows.size:
        return Deviation("number of results", results.values.size, rows.size)
    metric = own.metric
    tolerance = tolerance_of(metric)
    loses_order = metric["score_type"] == "f32" and metric["ties"] == "input"
    for what in ("values", "dcg", "ideal_dcg"):
        stated, computed = getattr(results, what)[rows], getattr(own, what)
        differs = _differs(stated, computed, tolerance)
        if loses_order and differs.any():  # scores that are equal in single precision had an order in double precision
            low, high = (getattr(bound, what) for bound in (worst, best))
            room = tolerance * np.maximum(1.0, np.abs(high))
            differs &= ~((stated >= np.fmin(low, high) - room) & (stated <= np.fmax(low, high) + room))
        if differs.any():
            at = int(np.argmax(differs))
            name = "value" if what == "values" else what
            return Deviation(name, _number(stated[at]), _number(computed[at]), own.group_keys[at], int(differs.sum()))
    stated_reasons = results.reasons_by_row()[rows]
    for at in np.flatnonzero(own.reasons != DEFINED).tolist():
        reason = REASONS[own.reasons[at]]
        if stated_reasons[at] != reason:
            return Deviation("reason", stated_reasons[at], reason, own.group_keys[at])
    return None


def _difference_of_all(given: EvaluationRecord, computed: tuple[float | None, ...], metric: Metric) -> Deviation | None:
    """Return the first mean that differs: the mean, or the mean with ties broken for the worst or the best case."""
    tolerance = tolerance_of(metric)
    for what, mean_here in zip(("mean", "worst_mean", "best_mean"), computed, strict=True):
        if not are_close(getattr(given, what), mean_here, tolerance):
            return Deviation(what, getattr(given, what), mean_here)
    return None


def difference_of_means(metric: Metric, given: EvaluationRecord, values: Floats) -> Deviation | None:
    """Return how a mean contradicts the values of its own groups, for a run without items.

    A mean that depends on weights, or that has no group results, is not checked.
    """
    defined = values[~np.isnan(values)]
    tolerance = tolerance_of(metric)
    limits = metric.limits
    if limits is not None:
        room = tolerance * max(1.0, *(abs(limit) for limit in limits if math.isfinite(limit)))
        wrong = np.flatnonzero((values < limits[0] - room) | (values > limits[1] + room))
        if wrong.size:
            at = int(wrong[0])
            return Deviation("value", _number(values[at]), None, n=wrong.size)
        for what in ("mean", "worst_mean", "best_mean"):
            number = getattr(given, what)
            if metric.summary == "mean" and number is not None and not limits[0] - room <= number <= limits[1] + room:
                return Deviation(what, number, None)
    if not values.size:
        return None
    n_undefined = int(values.size - defined.size)
    if given.n_undefined != n_undefined:
        return Deviation("n_undefined", given.n_undefined, n_undefined)
    if given.n_groups != defined.size and not (metric.is_external and given.n_groups == values.size):
        return Deviation("n_groups", given.n_groups, int(defined.size))
    if metric["weights"] != "none":
        return None
    computed = mean_of(metric, defined)
    return None if are_close(given.mean, computed, tolerance) else Deviation("mean", given.mean, computed)


def mean_of(metric: Metric, defined: Floats) -> float | None:
    """Return the mean of the defined values of groups with equal weights; None if there is none."""
    if metric.is_external:
        return plain_mean(defined) if defined.size else None
    every = np.ones(defined.size, dtype=np.bool_)
    try:
        return mean(metric, defined, every, ~every, None)
    except MetricError:
        return None


def are_close(stated: object, computed: float | None, tolerance: float) -> bool:
    """Return whether two numbers are the same except for rounding, or both are None.

    >>> are_close(None, None, 0.0), are_close(0.5, None, 0.1), are_close("x", 0.5, 0.1), are_close(0.5, 0.5, 0.0)
    (True, False, False, True)
    """
    if stated is None or computed is None:
        return stated is computed
    if not isinstance(stated, float | int):
        return False
    return abs(stated - computed) <= tolerance * max(1.0, abs(stated), abs(computed))


def tolerance_of(metric: Metric) -> float:
    """Return how far results near 1 may differ: ``UNITS`` in the precision of the metric's sums."""
    is_single = not metric.is_external and metric["arithmetic"] == "f32"
    return UNITS * float(np.finfo(np.float32 if is_single else np.float64).eps)


def _differs(stated: Floats, computed: Floats, tolerance: float) -> Mask:
    """Return which numbers differ by more than rounding; NaN equals only NaN."""
    room = tolerance * np.maximum(1.0, np.fmax(np.abs(stated), np.abs(computed)))
    with np.errstate(invalid="ignore"):
        same = (np.abs(stated - computed) <= room) | (np.isnan(stated) & np.isnan(computed))
    return np.asarray(~same)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)

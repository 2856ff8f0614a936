"""The values of a metric, group by group, and their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import first_codes
from ndcg_tracker.rankings.join import places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights, single_means

Reasons = NDArray[np.int8]

REASONS = ("", "no item with a positive gain", "missing from the run", "no label")
DEFINED, EMPTY, MISSING, EXTRA = range(len(REASONS))


ROUNDING = 1e-9
"""How far above 1 a value may be before ``clip=error_above_1`` refuses it."""
_MEANS_AGREE = 1e-6


@dataclass(frozen=True)
class GroupValues:
    """The values of one metric for groups of a run and its labels, before any mean, so that parts can be joined.

    ``group_keys``: n ids. ``values``, ``dcg`` and ``ideal_dcg``: float64, shape (n,), NaN where undefined (``dcg``
    and ``ideal_dcg`` also if the measure has none). ``reasons``: int8, shape (n,), 0 where ``values`` is defined,
    else the index of the reason in ``REASONS``. ``empty``: bool, shape (n,), which groups had nothing to find.
    ``n_items``: int64, shape (n,), how many items the run has in the group, -1 if the group is missing from it.
    ``labelled``: bool, shape (n,), which groups the labels have.
    """

    metric: Metric
    group_keys: Keys
    values: Floats
    dcg: Floats
    ideal_dcg: Floats
    reasons: Reasons
    empty: Mask
    n_items: Index
    labelled: Mask


@dataclass(frozen=True)
class GroupResults(GroupValues):
    """The values of one metric for the groups of a run and its labels, with their mean.

    ``weights``: float64, shape (n,), or None if all weights are equal. ``mean``: over the groups that have a value,
    None if there is none.
    """

    weights: Floats | None
    mean: float | None

    @property
    def n_missing(self) -> int:
        """How many groups have labels but are not in the run."""
        return int((self.n_items < 0).sum())

    @property
    def n_groups(self) -> int:
        """How many groups are in the mean."""
        return int((self.reasons == DEFINED).sum())

    @property
    def n_undefined(self) -> int:
        """How many groups have no value."""
        return int((self.reasons != DEFINED).sum())


def mean_values(parts: Sequence[GroupValues]) -> GroupValues:
    """Return the means over repeats of one system, group by group, undefined where that of a repeat is."""
    first, *others = parts
    if not others:
        return first
    keys = Keys.joined([part.group_keys for part in parts])
    keys = keys.take(first_codes(keys)[1])
    places = [places_of(keys, part.group_keys) for part in parts]

    def each(column: str, absent: float) -> NDArray[Any]:
        return np.stack([np.append(getattr(part, column), absent)[at] for part, at in zip(parts, places, strict=True)])

    return replace(
        first,
        group_keys=keys,
        values=each("values", np.nan).mean(axis=0),
        dcg=each("dcg", np.nan).mean(axis=0),
        ideal_dcg=each("ideal_dcg", np.nan).mean(axis=0),
        reasons=each("reasons", EXTRA).max(axis=0).astype(np.int8),
        empty=np.asarray(each("empty", False).any(axis=0)),
        n_items=each("n_items", -1).min(axis=0).astype(np.int64),
        labelled=np.asarray(each("labelled", False).any(axis=0)),
    )


def aggregated(values: GroupValues, weights: GroupWeights | None = None) -> GroupResults:
    """Return the values of the groups with their weights and their mean.

    Parameters: ``weights``, for metrics whose ``weights`` axis is not ``none``. Raises: MetricError for
    ``all_skipped=error`` and ``clip=error_above_1``, and if too many groups have no weight.
    """
    of_groups = aligned_weights(values, weights, of_all=True)
    average = mean(values.metric, values.values, values.reasons == DEFINED, values.empty, of_groups)
    return GroupResults(**vars(values), weights=of_groups, mean=average)


def aligned_weights(groups: GroupValues, weights: GroupWeights | None, *, of_all: bool = False) -> Floats | None:
    """Return the weight of each group (see ``Unweighted``); None if all weights are equal.

    Weights that differ within a group are weights of items: ``weights=group`` ignores them. ``of_all``: whether these
    are all groups of a result. Raises: MetricError if too many of them have no weight.
    """
    metric = groups.metric
    if metric["weights"] == "none":
        return None
    aligned = np.ones(groups.values.size)
    of_items = weights is not None and bool(weights.varies.any())
    if weights is not None and not (of_items and metric["weights"] == "group"):
        places = places_of(groups.group_keys, weights.group_keys)
        given = places >= 0
        aligned[~given] = weights.unweighted.weight
        aligned[given] = weights.values[places[given]]
        if metric["weights"] == "item_mean" and metric["weight_type"] == "f32":
            if weights.single_means is not None:
                aligned[given] = weights.single_means[places[given]]
            else:
                aligned = _repeated(groups, aligned)
        if of_all:
            used = groups.reasons == DEFINED
            weights.unweighted.check(aligned[used], ~given[used])
    if metric["weight_type"] == "f32":
        aligned = aligned.astype(np.float32).astype(np.float64)
    return aligned


def _repeated(groups: GroupValues, weights: Floats) -> Floats:
    """Return the mean of equal weights, one per item of each group, as single-precision code sums them."""
    lengths = np.where(groups.n_items < 0, 1, np.maximum(groups.n_items, 1))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return single_means(np.repeat(weights, lengths), offsets).astype(np.float64)


def mean(metric: Metric, values: Floats, defined: Mask, empty: Mask, weights: Floats | None) -> float | None:
    """Return the (weighted) mean of the defined values; if there are none, None unless the metric sets another value.

    Parameters: ``values``: float64, shape (n,); ``defined``, ``empty``: bool, shape (n,), which groups count and
    which had nothing to find; ``weights``: float64, shape (n,), or None. Raises: MetricError for
    ``all_skipped=error``.

    The mean is sum(w x value) / sum(w); with ``empty_weight=one``, an empty group adds its unweighted value to the
    first sum. The order of the groups does not change the mean, not even its last bit.
    """
    if not defined.any():
        if metric["all_skipped"] == "error":
            raise MetricError("no group has a value", where=metric.requested_as, advice="use all_skipped=undefined")
        return 0.0 if metric["all_skipped"] == "0" else None
    values = values[defined]
    if metric.summary != "mean":
        return summary_of(metric, values)
    if weights is None:
        average = plain_mean(values.astype(np.float32) if metric["arithmetic"] == "f32" else values)
    else:
        of_groups = weights[defined]
        total = order_free_sum(of_groups)
        if total <= 0:
            return None
        if metric["empty_weight"] == "one":
            of_groups = np.where(empty[defined], 1.0, of_groups)
        average = order_free_sum(of_groups * values) / total
    if metric["clip"] == "error_above_1" and average > 1 + ROUNDING:
        raise MetricError(
            f"the weighted mean is {average:g}, which is above 1", where=metric.requested_as, advice="use clip=none"
        )
    return rounded(metric, average, "mean")


def summary_of(metric: Metric, values: Floats) -> float:
    """Return the summary of a metric that is not a mean of its groups: their sum, or a geometric mean of logarithms.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> summary_of(parse_metric("NumRet"), np.array([3.0, 4.0])), summary_of(parse_metric("GMAP"), np.log([0.5, 0.125]))
    (7.0, 0.25)
    """
    if metric.summary == "sum":
        return rounded(metric, order_free_sum(values), "mean")
    return rounded(metric, float(np.exp(plain_mean(values))) if values.size else 0.0, "mean")


def order_free_sum(numbers: NDArray[np.floating[Any]]) -> float:
    """Return the sum of some numbers in their own precision, equal to the bit in any order.

    The order of groups differs if a run is read block by block, or if its labels were already stored.

    >>> order_free_sum(np.array([1.0, 1e16, -1e16])) == order_free_sum(np.array([1e16, -1e16, 1.0]))
    True
    """
    return float(np.sort(numbers).sum())


def plain_mean(numbers: NDArray[np.floating[Any]]) -> float:
    """Return the mean of at least one number in their own precision, whatever their order (``order_free_sum``).

    >>> plain_mean(np.array([0.5, 1.0]))
    0.75
    """
    return float(np.sort(numbers).mean())


def rounded(metric: Metric, number: float, what: str) -> float:
    """Return a number, rounded if the metric rounds this kind of number (``what``: ``group`` or ``mean``)."""
    if metric["round"] == "none" or metric["round_of"] != what:
        return number
    digits, halves, _ = metric["round"].partition("up")
    if halves:
        scaled, unit = number * 10.0 ** int(digits), 10.0 ** int(digits)
        return (math.floor(scaled) + (scaled % 1.0 >= 0.5)) / unit  # Java's Math.round; x + 0.5 would itself round
    return float(f"{number:.{digits}f}")


def mean_within(metric: Metric) -> float:
    """Return how far the stored mean of a metric may differ from the mean of its groups.

    Weights in single precision change it by less than 1e-6, and rounding by half a unit of the last decimal.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> mean_within(parse_metric("ndcg@10")), mean_within(parse_metric("recbole:ndcg@10"))
    (1e-06, 5.1e-05)
    """
    if metric["round"] == "none" or metric["round_of"] != "mean":
        return _MEANS_AGREE
    return float(0.5 * 10.0 ** -int(metric["round"].removesuffix("up")) + _MEANS_AGREE)


def rounded_values(metric: Metric, values: Floats) -> Floats:
    """Return the values of the groups, exactly rounded if the metric rounds them."""
    if metric["round"] == "none" or metric["round_of"] != "group":
        return values
    return np.array([rounded(metric, value, "group") for value in values.tolist()], dtype=np.float64)

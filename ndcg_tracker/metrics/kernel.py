"""The one kernel that computes every metric for all groups at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.discounts import discounts
from ndcg_tracker.metrics.gains import gains
from ndcg_tracker.metrics.ideal import GradeLevels, ideal_order
from ndcg_tracker.metrics.listing import GradedList, Lists
from ndcg_tracker.metrics.ordering import expected_discounts, places_by_gain, places_by_item
from ndcg_tracker.metrics.results import DEFINED, EMPTY, EXTRA, MISSING, GroupResults, Reasons
from ndcg_tracker.rankings.join import JudgedRanking, places_of
from ndcg_tracker.rankings.keys import Mask
from ndcg_tracker.rankings.ranking import Floats
from ndcg_tracker.rankings.weights import GroupWeights


def group_results(
    judged: JudgedRanking, metrics: Sequence[Metric], weights: GroupWeights | None = None
) -> list[GroupResults]:
    """Return the results of some metrics for every group of a run and its labels.

    For ``ndcg``: sum over ranks i of gain(i) x discount(i), divided by the same sum over the ideal order. The labels
    are joined once and the lists ordered once for all metrics that order them alike; no step loops over groups.

    Parameters: ``judged``, a run with its labels; ``metrics``, any number; ``weights``, for metrics with
    ``weights=group``. Returns: one ``GroupResults`` per metric, all over the groups of ``judged``; values of ndcg lie
    in [0, 1] where ``ideal=judged``, ``negative`` is not ``keep`` and the gain grows with the grade. Raises:
    MetricError for a label that an axis refuses, naming the group. Source: Jarvelin and Kekalainen, TOIS 20(4), 2002,
    sec. 3. Agrees with: trec_eval ``ndcg_cut`` (tests/metrics/test_trec_eval.py), scikit-learn ``ndcg_score``
    (test_sklearn.py).

    >>> from ndcg_tracker.metrics.definition import parse_metric
    >>> from ndcg_tracker.rankings import Keys, LabelLists, Ranking, judged
    >>> group, items = Keys.from_strings(["q"] * 5), Keys.from_strings("abcde")
    >>> run = Ranking.from_rows(group, items, np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    >>> labels = LabelLists.from_rows(group, items, np.array([3.0, 2.0, 5.0, 0.0, 1.0]))
    >>> round(group_results(judged(run, labels), [parse_metric("ndcg")])[0].values[0], 10)
    np.float64(0.8588624583)
    """
    lists = Lists(judged, GradeLevels.of(judged.labels.grades))
    return [_results(judged, lists, metric, weights) for metric in metrics]


def _results(judged: JudgedRanking, lists: Lists, metric: Metric, weights: GroupWeights | None) -> GroupResults:
    level_gains = _level_gains(judged, lists.levels, metric)
    graded = lists.graded(metric)
    nothing = np.full(judged.n_groups, np.nan)
    dcg = _dcg(judged, graded, metric, level_gains) if metric.measure != "idcg" else nothing
    ideal = _ideal_dcg(judged, lists, graded, metric, level_gains) if metric.measure in ("idcg", "ndcg") else nothing
    reasons = np.zeros(judged.n_groups, dtype=np.int8)
    if metric.measure == "ndcg":
        values = _ratio(judged, metric, dcg, ideal, reasons)
    else:
        values = (ideal if metric.measure == "idcg" else dcg).copy()
    _settle_absent(judged, metric, values, reasons)
    values[reasons != DEFINED] = np.nan
    return GroupResults(
        metric,
        judged.group_keys,
        values,
        dcg,
        ideal,
        reasons,
        _aligned_weights(judged, weights) if metric["weights"] == "group" else None,
        int((judged.run_groups < 0).sum()),
    )


def _level_gains(judged: JudgedRanking, levels: GradeLevels, metric: Metric) -> Floats:
    """Return the gain of each distinct grade, after the negative axis."""
    level_gains = gains(metric["gain"], levels.levels)
    below = levels.levels < 0
    if metric["negative"] == "error" and below.any():
        raise MetricError(
            f"{metric}: {_where(judged, levels, below)} is below 0; use negative=zero to let it gain nothing"
        )
    if metric["negative"] in ("zero", "drop"):
        level_gains[below] = 0.0
    if not np.isfinite(level_gains).all():
        where = _where(judged, levels, ~np.isfinite(level_gains))
        raise MetricError(f"{metric}: {where} is too large for gain={metric['gain']}; use gain=linear")
    return level_gains


def _where(judged: JudgedRanking, levels: GradeLevels, wrong: Mask) -> str:
    labels = judged.labels
    row = int(np.argmax(wrong[levels.codes]))
    group = int(np.searchsorted(labels.offsets, row, "right")) - 1
    return f"the label {labels.grades[row]:g} of item {labels.item_keys[row]!r} in group {labels.group_keys[group]!r}"


def _dcg(judged: JudgedRanking, graded: GradedList, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount of each group of the group axis, 0 where the run lacks it."""
    gain = level_gains[graded.codes]
    gainful = np.flatnonzero(gain)
    gain = gain[gainful]
    found = graded.tied_places(gainful)
    ties = metric["ties"]
    places = found.places
    if ties in ("item_desc", "item_asc"):
        places = places_by_item(found, judged.ranking.item_keys, graded.list_rows, descending=ties == "item_desc")
    elif ties in ("pessimistic", "optimistic"):
        places = places_by_gain(found, gain, best_first=ties == "optimistic")
    groups = graded.groups[gainful]
    if places is not found.places:
        by_place = np.argsort(places, kind="stable")  # sums run in rank order, as the ideal's do
        places, gain = places[by_place], gain[by_place]
    ranks = places - graded.offsets[groups] + 1
    longest = int(np.diff(graded.offsets).max(initial=0))
    weight_of_rank = discounts(metric.discount, longest)
    if metric.cutoff is not None:
        weight_of_rank[metric.cutoff + 1 :] = 0.0
    weight = weight_of_rank[ranks]
    if ties == "average" and found.tied.size:
        tied = found.tied
        weight[tied] = expected_discounts(
            found.first[tied], found.last[tied], graded.offsets[groups[tied]] - 1, np.cumsum(weight_of_rank)
        )
    sums = np.bincount(groups, gain * weight, minlength=judged.ranking.n_groups)
    return np.where(judged.run_groups >= 0, np.append(sums, 0.0)[judged.run_groups], 0.0)


def _ideal_dcg(judged: JudgedRanking, lists: Lists, graded: GradedList, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount over the ideal order of each group of the group axis."""
    lengths = np.diff(graded.offsets)
    n_retrieved = np.where(judged.run_groups >= 0, np.append(lengths, 0)[judged.run_groups], 0)
    if metric["ideal"] == "retrieved":
        n_graded = np.bincount(graded.groups, minlength=lengths.size)
        order = ideal_order(graded.codes, graded.groups, lengths.size, level_gains, lengths - n_graded)
        of_axis = judged.run_groups
    else:
        codes, groups = lists.label_codes(metric)
        order = ideal_order(codes, groups, judged.labels.n_groups, level_gains, None)
        of_axis = judged.label_groups
    longest = int(order.ranks.max(initial=0))
    weight = discounts(metric.discount, longest)[order.ranks]
    if metric["ideal_cut"] == "cutoff" and metric.cutoff is not None:
        weight[order.ranks > metric.cutoff] = 0.0
    elif metric["ideal_cut"] == "retrieved":
        cut = np.zeros(int(of_axis.max(initial=-1)) + 1, dtype=np.int64)
        cut[of_axis[of_axis >= 0]] = n_retrieved[of_axis >= 0]
        weight[order.ranks > cut[order.groups]] = 0.0
    sums = np.bincount(order.groups, order.gains * weight, minlength=int(of_axis.max(initial=-1)) + 1)
    return np.where(of_axis >= 0, np.append(sums, 0.0)[of_axis], 0.0)


def _ratio(
    judged: JudgedRanking,
    metric: Metric,
    dcg: Floats,
    ideal: Floats,
    reasons: Reasons,
) -> Floats:
    """Return dcg / ideal, with the empty axis where the ideal is not positive."""
    empty = ideal <= 0
    values = np.divide(dcg, ideal, out=np.zeros_like(dcg), where=~empty)
    if not empty.any():
        return values
    if metric["empty"] == "skip":
        reasons[empty] = EMPTY
    elif metric["empty"] == "error":
        labelled = empty & (judged.label_groups >= 0)
        if labelled.any():
            group = judged.group_keys[int(np.argmax(labelled))]
            raise MetricError(f"{metric}: group {group!r} has no item with a positive gain; use empty=0 or empty=skip")
    else:
        values[empty] = float(metric["empty"])
    return values


def _settle_absent(judged: JudgedRanking, metric: Metric, values: Floats, reasons: Reasons) -> None:
    """Apply the missing and extra axes to the groups that stand on one side only."""
    missing, extra = judged.run_groups < 0, judged.label_groups < 0
    if missing.any() and metric["missing"] == "error":
        group = judged.group_keys[int(np.argmax(missing))]
        raise MetricError(
            f"{metric}: group {group!r} has labels but is missing from the run; use missing=zero or missing=skip"
        )
    if extra.any() and metric["extra"] == "error":
        group = judged.group_keys[int(np.argmax(extra))]
        raise MetricError(f"{metric}: group {group!r} of the run has no label; use extra=skip")
    reasons[extra] = EXTRA
    if metric["missing"] == "skip":
        reasons[missing] = MISSING
    elif metric.measure != "idcg":
        values[missing] = 0.0
        reasons[missing] = DEFINED


def _aligned_weights(judged: JudgedRanking, weights: GroupWeights | None) -> Floats:
    """Return the weight of each group of the group axis, 1 where none was given."""
    aligned = np.ones(judged.n_groups)
    if weights is None:
        return aligned
    if weights.varies.any():
        group = weights.group_keys[int(np.argmax(weights.varies))]
        raise MetricError(
            f"weights=group: the rows of group {group!r} carry different weights; give each group one weight"
        )
    places = places_of(judged.group_keys, weights.group_keys)
    aligned[places >= 0] = weights.values[places[places >= 0]]
    return aligned

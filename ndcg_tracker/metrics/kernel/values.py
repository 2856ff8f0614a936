"""The kernel that computes every metric for all groups, over whole lists or first ranks, with any rule for ties."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from ndcg_tracker.metrics.kernel.companions import companion, has_nothing_to_find, worth_of_levels
from ndcg_tracker.metrics.kernel.cumulated import Cumulated, cumulated, level_gains
from ndcg_tracker.metrics.kernel.graded_list import Scores
from ndcg_tracker.metrics.kernel.lists import Lists, refuse_groups
from ndcg_tracker.metrics.kernel.mean import (
    DEFINED,
    EMPTY,
    EXTRA,
    MISSING,
    GroupResults,
    GroupValues,
    Reasons,
    aggregated,
    rounded_values,
)
from ndcg_tracker.metrics.kernel.ties import BY_GAIN, TieSpans, spans_around, tie_key
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Mask
from ndcg_tracker.rankings.grouping import group_codes, segment_rows
from ndcg_tracker.rankings.join import Judged, JudgedRanking, own_rows
from ndcg_tracker.rankings.ranking import GroupWeights, Ranking

_AXES = ("depth", "ties", "score_type")


def read_to_depth(lists: Lists, metric: Metric) -> tuple[Lists, Metric]:
    """Return the lists cut at a metric's depth, and the metric without the depth.

    If the depth falls between equal scores, the metric's ``ties`` decide which items are read. Source: trec_eval,
    ``-M``. As there, items that ``unjudged=drop`` removes later count for the depth.
    """
    worth = _worth(lists, metric)[lists.levels.codes] if metric["ties"] in BY_GAIN else np.zeros(0)
    axes = tuple(metric[axis] for axis in _AXES)
    key: Hashable = ("depth", axes, worth.tobytes())

    def cut() -> Lists:
        alike = [each for each in lists.metrics if tuple(each[axis] for axis in _AXES) == axes] or [metric]
        judged = _cut(lists.judged.in_order, metric, worth)
        return Lists(judged, [each.with_axes(depth="all") for each in alike])

    return lists.once(key, cut), metric.with_axes(depth="all")


def without_own(lists: Lists, metric: Metric) -> tuple[Lists, Metric]:
    """Return the lists without the items that have their group's id, and the metric with ``own=keep``.

    Source: BEIR, ``ignore_identical_ids``. The labels stay, so such an item counts in an ideal.
    """

    def dropped() -> Lists:
        judged = lists.judged.in_order
        rows = own_rows(judged.ranking)
        kept = np.ones(judged.ranking.n_items, dtype=np.bool_)
        kept[rows] = False
        alike = [each.with_axes(own="keep") for each in lists.metrics if each["own"] == "drop"]
        return Lists(_only(judged, kept) if rows.size else judged, alike or [metric.with_axes(own="keep")])

    return lists.once("without own", dropped), metric.with_axes(own="keep")


def _worth(lists: Lists, metric: Metric) -> Floats:
    """Return, by level, the key that orders items of equal score for the worst or the best case: float64."""
    if metric.measure in CUMULATED:
        return level_gains(lists, metric, lists.level_grades(metric))
    return worth_of_levels(lists, metric)


def _cut(judged: JudgedRanking, metric: Metric, worth: Floats) -> JudgedRanking:
    """Return a run cut to the first items of each list, joined with its labels."""
    ranking = judged.ranking
    with np.errstate(over="ignore"):  # a number too large for single precision becomes infinite, as in the kernel
        scores: Scores = ranking.scores.astype(np.float32) if metric["score_type"] == "f32" else ranking.scores
    lengths = np.minimum(np.diff(ranking.offsets), int(metric["depth"]))
    kept = np.zeros(ranking.n_items, dtype=np.bool_)
    kept[segment_rows(ranking.offsets[:-1], lengths)] = True
    ends = ranking.offsets[:-1] + lengths
    cut = np.flatnonzero((lengths > 0) & (ends < ranking.offsets[1:]))
    _, first, last = spans_around(scores, ranking.offsets, ends[cut] - 1)
    spans = TieSpans(first, last)
    members = spans.members()
    kept[members] = False
    n_read = ends[np.searchsorted(ranking.offsets, first, "right") - 1] - first
    of_rows = np.full(ranking.n_items, metric.unjudged_gain)
    of_rows[judged.rows] = worth[judged.label_rows] if worth.size else 0.0
    ordered = members[np.lexsort((tie_key(judged, metric, members, of_rows), group_codes(spans.bounds)))]
    kept[ordered[segment_rows(spans.bounds[:-1], n_read)]] = True
    return _only(judged, kept)


def _only(judged: JudgedRanking, kept: Mask) -> JudgedRanking:
    """Return a run with some of its items, joined with its labels."""
    ranking = judged.ranking
    rows = np.flatnonzero(kept)
    places = None if ranking.input_places is None else ranking.input_places[rows]
    offsets = np.searchsorted(rows, ranking.offsets)
    items = ranking.item_keys.take(rows)
    shorter = Ranking(ranking.group_keys, offsets, items, ranking.scores[rows], places, ranking.tie_order)
    labelled = kept[judged.rows]
    return JudgedRanking(
        shorter,
        judged.labels,
        judged.run_groups,
        judged.label_groups,
        np.searchsorted(rows, judged.rows[labelled]),
        judged.label_rows[labelled],
    )


def group_results(judged: Judged, metrics: Sequence[Metric], weights: GroupWeights | None = None) -> list[GroupResults]:
    """Return the results of some metrics for every group of a run and its labels.

    ndcg = the sum over ranks i of gain(i) x discount(i), divided by the same sum over the ideal order. For the other
    measures see ``measures.MEASURES``. The labels are joined once. Lists are computed once for all metrics that share
    them. No step loops over groups.

    Parameters: ``judged``, a run with its labels; ``metrics``, any number; ``weights``, for metrics whose ``weights``
    axis is not ``none``. Returns: one ``GroupResults`` per metric, all over the groups of ``judged``. Values of ndcg
    lie in [0, 1] if ``ideal=judged``, ``negative`` is not ``keep``, ``unjudged`` gains nothing and the ideal is
    ordered by gain. Raises: MetricError for a label or a group that an axis refuses. Source: Jarvelin and
    Kekalainen, TOIS 20(4), 2002, sec. 3. Agrees with: the tools of ``dialects`` (tests/metrics/test_conformance.py,
    test_live_oracles.py).

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> from ndcg_tracker.rankings.join import judged
    >>> from ndcg_tracker.rankings.keys import Keys
    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> group, items = Keys.from_strings(["q"] * 5), Keys.from_strings("abcde")
    >>> run = Ranking.from_rows(group, items, np.array([5.0, 4.0, 3.0, 2.0, 1.0]))
    >>> labels = LabelLists.from_rows(group, items, np.array([3.0, 2.0, 5.0, 0.0, 1.0]))
    >>> round(group_results(judged(run, labels), [parse_metric("ndcg")])[0].values[0], 10)
    np.float64(0.8588624583)
    """
    made: dict[int, GroupResults] = {}
    results = []
    for values in group_values(judged, metrics):
        same = made.get(id(values.values))  # a cutoff beyond all lists changes neither the values nor the mean
        results.append(aggregated(values, weights) if same is None else replace(same, metric=values.metric))
        made[id(values.values)] = results[-1]
    return results


def group_values(judged: Judged, metrics: Sequence[Metric]) -> list[GroupValues]:
    """Return the values of some metrics for every group, without their means (see ``group_results``)."""
    lists = Lists(judged, metrics)
    return [values_of(lists, metric) for metric in metrics]


def values_of(lists: Lists, metric: Metric) -> GroupValues:
    """Return the values of one metric of some lists; metrics with equal values share arrays."""
    values = lists.once(("values", lists.values_key(metric)), lambda: _values_of(lists, metric))
    return values if values.metric == metric else replace(values, metric=metric)


def _values_of(lists: Lists, metric: Metric) -> GroupValues:
    if metric["own"] == "drop":
        lists, kept = without_own(lists, metric)
        return replace(values_of(lists, kept), metric=metric)
    if metric["depth"] != "all":
        lists, cut = read_to_depth(lists, metric)
        return replace(values_of(lists, cut), metric=metric)
    judged = lists.judged
    numbers = _numbers(lists, metric)
    values = numbers.values
    reasons = np.zeros(judged.n_groups, dtype=np.int8)
    _settle_empty(lists, metric, numbers, reasons)
    _settle_absent(lists, metric, values, reasons)
    values = rounded_values(metric, values)
    values[reasons != DEFINED] = np.nan
    return GroupValues(
        metric,
        judged.group_keys,
        values,
        numbers.dcg,
        numbers.ideal_dcg,
        reasons,
        numbers.empty,
        lists.n_items,
        ~lists.extra,
    )


def _numbers(lists: Lists, metric: Metric) -> Cumulated:
    """Return the values of a measure over the lists, before the axes for single groups are applied."""
    judged = lists.judged
    with np.errstate(over="ignore", invalid="ignore"):  # the code below refuses an overflow and names the group
        if metric.measure in CUMULATED:
            numbers = cumulated(lists, metric)
        else:
            nothing = np.full(judged.n_groups, np.nan)
            settled = metric["empty"] != "0"
            empty = has_nothing_to_find(lists, metric) if settled else np.zeros(judged.n_groups, dtype=np.bool_)
            numbers = Cumulated(companion(lists, metric), nothing, nothing, empty)
    beyond = ~np.isfinite(numbers.values) | np.isinf(numbers.dcg) | np.isinf(numbers.ideal_dcg)
    precision = "single" if metric["arithmetic"] == "f32" else "double"
    what = f"the gains of {{group}} are too large for {precision} precision"
    refuse_groups(metric, judged.group_keys, beyond, what, "use smaller labels")
    return numbers


def _settle_empty(lists: Lists, metric: Metric, numbers: Cumulated, reasons: Reasons) -> None:
    """Apply the empty axis to the groups with nothing to find."""
    empty = numbers.empty
    if not empty.any():
        return
    if metric["empty"] == "skip":
        reasons[empty] = EMPTY
    elif metric["empty"] == "error":
        what = "item with a positive gain" if metric.measure in CUMULATED else "relevant item"
        refused, advice = empty & ~lists.extra, "use empty=0 or empty=skip"
        refuse_groups(metric, lists.judged.group_keys, refused, f"{{group}} has no {what}", advice)
    else:
        numbers.values[empty] = float(metric["empty"])


def _settle_absent(lists: Lists, metric: Metric, values: Floats, reasons: Reasons) -> None:
    """Apply the missing and extra axes to the groups that only the labels or only the run has."""
    keys, missing, extra = lists.judged.group_keys, lists.missing, lists.extra
    if metric["missing"] == "error":
        what = "{group} has labels but is missing from the run"
        refuse_groups(metric, keys, missing, what, "use missing=zero or missing=skip")
    if metric["extra"] == "error":
        refuse_groups(metric, keys, extra, "{group} of the run has no label", "use extra=skip")
    if metric["extra"] == "skip":
        reasons[extra] = EXTRA
    if metric["missing"] == "skip":
        reasons[missing] = MISSING
    elif metric.measure != "idcg":
        if metric["missing"] != "empty":
            values[missing] = MEASURES[metric.measure].of_nothing or 0.0
        reasons[missing & (reasons != EMPTY)] = DEFINED


def tie_bounds(
    judged: Judged, metrics: Sequence[Metric], weights: GroupWeights | None = None
) -> list[tuple[GroupResults, GroupResults]]:
    """Return the results of each metric with every tie broken for the worst case, and for the best case.

    The bounds are sharp per group: some order of the tied items attains each bound, and no order exceeds it. Exceptions
    are ``G``, and ``infAP`` with labels below 0, because no order by gain alone bounds them. Ties do not change
    ``idcg``, so both bounds are the metric itself. Parameters and errors: see ``group_results``.

    >>> import numpy as np
    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> from ndcg_tracker.rankings.join import judged
    >>> from ndcg_tracker.rankings.keys import Keys
    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> group, items = Keys.from_strings(["q", "q"]), Keys.from_strings("ab")
    >>> run = Ranking.from_rows(group, items, np.ones(2))
    >>> labels = LabelLists.from_rows(group, items, np.array([1.0, 0.0]))
    >>> [(worst.mean, best.mean) for worst, best in tie_bounds(judged(run, labels), [parse_metric("ndcg@1")])]
    [(0.0, 1.0)]
    """
    both = [variant for metric in metrics for variant in variants(metric)]
    results = group_results(judged, both, weights)
    return list(zip(results[::2], results[1::2], strict=True))


def values_with_bounds(judged: Judged, metrics: Sequence[Metric]) -> list[tuple[GroupValues, GroupValues, GroupValues]]:
    """Return the values of each metric, and those with every tie broken for the worst and for the best case.

    This combines ``group_values`` and ``tie_bounds`` at little more than the cost of the first, because only the groups
    in which ties matter are summed again. An error names the metric as it was given.
    """
    lists = Lists(judged, [variant for metric in metrics for variant in (metric, *variants(metric))])
    values = [values_of(lists, metric) for metric in metrics]
    bounds = [tuple(values_of(lists, variant) for variant in variants(metric)) for metric in metrics]
    return [(own, worst, best) for own, (worst, best) in zip(values, bounds, strict=True)]


def variants(metric: Metric) -> tuple[Metric, Metric]:
    """Return a metric with ties broken for the worst and for the best case.

    Both have ``clip=none``, because a bound may be above 1 even if the value is not.
    """
    worst, best = (metric.with_axes(ties=ties, clip="none") for ties in ("pessimistic", "optimistic"))
    return worst, best

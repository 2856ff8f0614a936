"""Cumulated gain: CG, DCG, IDCG and NDCG, their sums, and the ideal order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.graded_list import Codes, in_precision_of, rank_weights, worth_of_grades
from ndcg_tracker.metrics.kernel.lists import Lists, effective, family, refuse_groups
from ndcg_tracker.metrics.kernel.mean import ROUNDING
from ndcg_tracker.metrics.kernel.ties import ItemOrder, as_they_came, order_of, ranked_gains
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_codes, group_sums
from ndcg_tracker.rankings.keys import BLOCK
from ndcg_tracker.rankings.sorting import descending_order, group_columns

_NARROW = 16
_FEW = 8


def discounted_sums(
    starts: Index,
    lengths: Index,
    codes: Codes,
    level_gains: Floats,
    weight_of_rank: Floats,
    cutoffs: Sequence[int],
) -> Floats:
    """Return the sums of gain x weight over the first ranks of each group, for some cutoffs at once.

    Parameters: ``starts`` and ``lengths``: int64, shape (n_groups,), the rows of each group; ``codes``: the level of
    each row; ``level_gains``: float64, the gain of each level; ``weight_of_rank``: float64, entry r for rank r;
    ``cutoffs``: ascending. Returns: float64, shape (n_cutoffs, n_groups), each added up rank after rank.
    """
    sums = np.zeros((len(cutoffs), lengths.size))
    for block in group_columns(np.minimum(lengths, cutoffs[-1])):
        terms = level_gains.take(block.taken(codes, starts[block.groups]))
        terms *= weight_of_rank[1 : block.width + 1, None]
        block.clear_behind(terms)
        sums[:, block.groups] = prefix_sums(terms, cutoffs)
    return sums + 0.0  # no sum is -0.0


def weighted_sums(
    starts: Index,
    lengths: Index,
    codes: Codes,
    level_gains: Floats,
    places: Index,
    before: Index,
    weights: Sequence[Floats],
) -> Floats:
    """Return the sums of gain x weight over the rows of each group, for some weights of the ranks at once.

    Parameters: see ``discounted_sums``; ``places``: int64, the place of each row; ``before``: int64, shape (n_groups,),
    place minus rank in each group; ``weights``: each float64, entry r for rank r. Returns: float64, shape
    (n_weights, n_groups), each summed row after row.
    """
    if lengths.size and codes.size == int(lengths.sum()) < _FEW * lengths.size:
        return _flat_sums(lengths, codes, level_gains, places, before, weights)
    sums = np.zeros((len(weights), lengths.size))
    for block in group_columns(lengths):
        of_groups = starts[block.groups]
        gains = level_gains.take(block.taken(codes, of_groups))
        ranks = block.taken(places, of_groups) - before[block.groups]
        block.clear_behind(gains)
        for number, weight_of_rank in enumerate(weights):
            sums[number, block.groups] = prefix_sums(gains * weight_of_rank.take(ranks, mode="clip"), [block.width])[0]
    return sums + 0.0  # no sum is -0.0


def _flat_sums(
    lengths: Index, codes: Codes, level_gains: Floats, places: Index, before: Index, weights: Sequence[Floats]
) -> Floats:
    """Return the same as ``weighted_sums`` for all rows, group by group: faster if groups are short."""
    groups = np.repeat(np.arange(lengths.size), lengths)
    terms = np.empty((len(weights), codes.size))
    for first in range(0, codes.size, BLOCK):
        block = slice(first, first + BLOCK)
        ranks, gains = places[block] - before[groups[block]], level_gains.take(codes[block])
        for number, weight_of_rank in enumerate(weights):
            np.multiply(gains, weight_of_rank.take(ranks), out=terms[number, block])
    sums: Floats = np.stack([np.bincount(groups, of_weight, minlength=lengths.size) for of_weight in terms])
    return sums + 0.0  # no sum is -0.0


def prefix_sums(terms: Floats, cutoffs: Sequence[int]) -> Floats:
    """Return the sum of each column's first terms, for ascending cutoffs: float64, shape (n_cutoffs, n).

    Terms are added one after the other, as in a loop over ranks. NumPy adds the rows of a wide matrix one after the
    other, but splits a single column into partial sums. ``terms`` is overwritten.

    >>> prefix_sums(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]]), [1, 3]).tolist()
    [[1.0, 2.0], [9.0, 6.0]]
    """
    width, n = terms.shape
    if n < _NARROW:
        return np.asarray(np.cumsum(terms, axis=0)[[min(cutoff, width) - 1 for cutoff in cutoffs]])
    sums = np.empty((len(cutoffs), n))
    done = 0
    for number, cutoff in enumerate(cutoffs):
        stop = min(cutoff, width)
        if stop > done:
            if done:
                terms[done - 1] = sums[number - 1]
            np.add.reduce(terms[max(done - 1, 0) : stop], axis=0, out=sums[number])
            done = stop
        else:
            sums[number] = sums[number - 1]
    return sums


@dataclass(frozen=True, slots=True)
class LevelSpans:
    """The ideal order of every group, as spans of equal gain.

    ``gains``: float64, shape (n_spans,), the same spans for every group. ``ends``: int64, shape (n_spans, n_groups),
    how many items there are up to the end of each span.
    """

    gains: Floats
    ends: Index

    def sums(self, weight_of_rank: Floats, cutoffs: Sequence[int]) -> Floats:
        """Return the sums of gain x weight for ascending cutoffs: float64, shape (n_cutoffs, n_groups)."""
        n_groups = self.ends.shape[1]
        if not self.gains.size:
            return np.zeros((len(cutoffs), n_groups))
        if self.gains.size == 1:  # then a group's sum depends on a single number
            running = np.cumsum(self.gains * weight_of_rank)
            return np.stack([running[np.minimum(self.ends[0], cutoff)] for cutoff in cutoffs]) + 0.0  # no sum is -0.0
        ends = np.minimum(self.ends, cutoffs[-1])
        repeats = np.diff(ends, axis=0, prepend=0).T
        spans: Codes = np.arange(self.gains.size, dtype=np.uint8 if self.gains.size <= 1 << 8 else np.int64)
        sums = np.zeros((len(cutoffs), n_groups))
        for block in group_columns(ends[-1]):
            of_places = np.repeat(np.tile(spans, block.groups.size), repeats[block.groups].ravel())
            terms = self.gains.take(block.taken(of_places, np.cumsum(block.lengths) - block.lengths))
            terms *= weight_of_rank[1 : block.width + 1, None]
            block.clear_behind(terms)
            sums[:, block.groups] = prefix_sums(terms, cutoffs)
        return sums + 0.0  # no sum is -0.0


def level_spans(
    counts: Index, level_gains: Floats, n_other: Index | None, *, by_label: bool = False, cut: Index | None = None
) -> LevelSpans | None:
    """Return the ideal order of groups whose items are counted by level, None if such spans cannot represent it.

    Parameters: ``counts``: int64, shape (n_levels, n_groups); ``level_gains``: float64, shape (n_levels,);
    ``n_other``: int64, shape (n_groups,), how many further items gain 0, or None; ``by_label``: whether to order by
    the level itself, whatever its gain; ``cut``: int64, shape (n_groups,), where each group's order ends, or None.

    Items that gain 0 come before items of negative gain. If the order of the labels puts a negative gain before another
    gain, there is no single place for them.
    """
    order = np.arange(level_gains.size)[::-1] if by_label else np.argsort(-level_gains, kind="stable")
    order = order[: int(np.max(np.flatnonzero(level_gains[order]), initial=-1)) + 1]
    gains, counts = level_gains[order], counts[order]
    negative = gains < 0
    if n_other is not None and negative.any():
        at = int(np.argmax(negative))
        if not negative[at:].all():
            return None
        gains, counts = np.insert(gains, at, 0.0), np.insert(counts, at, n_other, axis=0)
    ends = np.cumsum(counts, axis=0)
    return LevelSpans(gains, ends if cut is None else np.minimum(ends, cut))


@dataclass(frozen=True, slots=True)
class IdealOrder:
    """Gains in ideal order (float64), with the groups they belong to and their ranks (int64, from 1)."""

    gains: Floats
    groups: Index
    ranks: Index


def sorted_ideal(
    codes: Codes, offsets: Index, level_gains: Floats, n_other: Index | None, *, by_label: bool = False
) -> IdealOrder:
    """Return the gains of each group's items in ideal order by sorting; items that gain 0 take ranks but are left out.

    Parameters: ``codes``: the level of each item, group by group; ``offsets``: int64, shape (n_groups + 1,); others:
    see ``level_spans``.
    """
    gains, groups = level_gains[codes], group_codes(offsets)
    gains = gains[descending_order(codes.astype(np.float64) if by_label else gains, offsets)]
    ranks = np.arange(gains.size) - offsets[groups] + 1
    if n_other is not None:
        ranks[gains < 0] += n_other[groups[gains < 0]]
    used = gains != 0
    return IdealOrder(gains[used], groups[used], ranks[used])


def dcg_sums(lists: Lists, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount of each group of the run: float64, shape (n_run_groups,).

    Parameters: ``level_gains``: float64, the gain of each level.
    """
    if metric.unjudged_gain or metric["ties"] == "average":
        return _of_items(lists, metric, level_gains)
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


def _of_items(lists: Lists, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sums if an item's weight depends on more than its rank, or if unlabelled items have a gain."""
    graded = lists.graded(metric)
    ranked = ranked_gains(lists, metric, level_gains, every=metric.unjudged_gain != 0)
    weight_of_rank = rank_weights(metric, graded.longest)
    if metric.cutoff is not None:
        weight_of_rank[metric.cutoff + 1 :] = 0.0
    weights = ranked.weights(weight_of_rank)
    n_groups = graded.lengths.size
    sums = group_sums(ranked.groups, ranked.gains * weights, n_groups)
    if metric.unjudged_gain:
        weight_of_list = np.cumsum(weight_of_rank)[graded.lengths]
        sums += metric.unjudged_gain * (weight_of_list - group_sums(ranked.groups, weights, n_groups))
    return sums


def ideal_sums(lists: Lists, metric: Metric, level_gains: Floats) -> Floats:
    """Return the sum of gain x discount over the ideal order of each group of the group axis: float64, shape (n,).

    Parameters: ``level_gains``: float64, the gain of each level.
    """
    if metric["ideal"] == "constant":
        return _constant(lists, metric)
    longest = _longest(lists, metric)
    cut_at_cutoff = metric["ideal_cut"] == "cutoff"
    cutoffs = lists.cutoffs(metric, longest) if cut_at_cutoff else [max(longest, 1)]
    own = metric["ideal"], metric["ideal_order"], metric["ideal_cut"]
    key: Hashable = ("idcg", family(metric), lists.list_key(metric), own)
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

    ``values``, ``dcg`` and ``ideal_dcg``: float64, shape (n,), the last two NaN if the measure has none. ``empty``:
    bool, shape (n,), the groups with nothing to find (none for cg, dcg and idcg).
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
        raise MetricError(
            f"group {group!r} has the value {values[at]:g}, which is above 1",
            where=metric.requested_as,
            advice="use clip=none",
        )
    return Cumulated(values, dcg, ideal, empty)


def level_gains(lists: Lists, metric: Metric, level_grades: Floats) -> Floats:
    """Return the gain of each distinct grade, after the negative axis."""
    worth = worth_of_grades(metric, level_grades)
    if not np.isfinite(worth).all():
        where = lists.where(~np.isfinite(worth))
        other = "linear" if metric["gain"].startswith("exp2") else "binary"
        raise MetricError(
            f"{where} is too large for gain={metric['gain']}", where=metric.requested_as, advice=f"use gain={other}"
        )
    return worth


def _refuse_single_items(lists: Lists, metric: Metric) -> None:
    """Apply the size1 axis."""
    if metric["size1"] == "error":
        single, keys = lists.graded(metric).lengths == 1, lists.judged.ranking.group_keys
        refuse_groups(metric, keys, single, "{group} has only one item, which this metric refuses", "use size1=ok")


def _empty(lists: Lists, metric: Metric, level_grades: Floats, worth: Floats, ideal: Floats) -> Mask:
    """Return the groups of the group axis that have nothing to find."""
    if metric["ideal"] == "constant":  # the ideal is never 0, so check whether any item has a gain
        gainful = lists.label_sums(metric, (worth > 0).astype(np.float64))
        return np.asarray(lists.of_labels(gainful) == 0)
    if metric["empty_when"] == "labels_sum_0":
        if metric["ideal"] == "retrieved":
            return np.asarray(lists.of_axis(lists.listed_sums(metric, level_grades)) == 0)
        return np.asarray(lists.of_labels(lists.label_sums(metric, level_grades)) == 0)
    return np.asarray(ideal == 0 if metric["empty_when"] == "ideal_eq_0" else ideal <= 0)

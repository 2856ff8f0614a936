"""Items of equal score: where they are, and their order or expected gain."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.kernel.graded_list import Codes, GainClasses, GradedList, Scores
from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.language.metric import LISTED, Metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_ranges, segment_rows
from ndcg_tracker.rankings.join import JudgedRanking
from ndcg_tracker.rankings.keys import BLOCK, Keys
from ndcg_tracker.rankings.sorting import ascending_order, id_order, repeats_before

BY_ID = ("item_desc", "item_asc")
BY_GAIN = ("pessimistic", "optimistic")


@dataclass(frozen=True, slots=True)
class TieSpans:
    """Spans of two or more places (ranks from 0, over all lists) of equal score.

    ``first`` and ``last``: int64, shape (n_spans,), ascending, the ends of each span.
    """

    first: Index
    last: Index

    @property
    def lengths(self) -> Index:
        """How many places each span has."""
        return self.last - self.first + 1

    @property
    def bounds(self) -> Index:
        """Which of the ``members`` belong to each span: int64, shape (n_spans + 1,)."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    def members(self) -> Index:
        """Return the places of all spans, ascending."""
        return segment_rows(self.first, self.lengths)

    def only(self, kept: Mask | slice) -> TieSpans:
        """Return some of the spans."""
        return TieSpans(self.first[kept], self.last[kept])

    def parts(self) -> Iterator[TieSpans]:
        """Yield all spans, in parts whose members fit the cache."""
        for first, last in group_ranges(self.bounds):
            yield self.only(slice(first, last))


def spans_with_differing(scores: Scores, offsets: Index, classes: NDArray[np.integer[Any]]) -> TieSpans:
    """Return the spans of equal scores that hold places of more than one class.

    Parameters: ``scores``, never rising within a group; ``offsets``: int64, shape (n_groups + 1,); ``classes``: shape
    (n_places,).

    >>> spans_with_differing(np.array([2.0, 1, 1, 0, 0]), np.array([0, 5]), np.array([0, 0, 1, 1, 1]))
    TieSpans(first=array([1]), last=array([2]))
    """
    spans = [np.zeros((2, 0), dtype=np.int64)]
    for first, last in group_ranges(offsets):
        low, high = int(offsets[first]), int(offsets[last])
        bounds = offsets[first : last + 1] - low
        repeats = repeats_before(scores[low:high], bounds)
        differs = np.zeros(high - low, dtype=np.bool_)
        np.not_equal(classes[low + 1 : high], classes[low : high - 1], out=differs[1:])
        differs &= repeats
        if differs.any():
            spans.append(_spans_that_hold(differs, repeats, bounds) + low)
    return TieSpans(*np.concatenate(spans, axis=1))


def _spans_that_hold(marked: Mask, repeats: Mask, offsets: Index) -> Index:
    """Return the first and the last place of the spans with a marked place: int64, shape (2, n_spans)."""
    held = np.flatnonzero(np.diff(np.searchsorted(np.flatnonzero(marked), offsets)))
    rows = segment_rows(offsets[held], offsets[held + 1] - offsets[held])  # only the lists that have such a place
    starts = np.flatnonzero(~repeats[rows])
    wanted = np.logical_or.reduceat(marked[rows], starts)
    ends = np.append(starts[1:], rows.size) - 1
    return np.stack([rows[starts[wanted]], rows[ends[wanted]]])


def spans_around(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index, Index]:
    """Return the spans of equal scores around some places.

    Parameters: ``scores``, never rising within a group; ``offsets``, int64, shape (n_groups + 1,); ``places``, int64,
    ascending. Returns: int64: the entries of ``places`` whose span has two or more places, and the first and the last
    place of each of these spans.

    >>> [found.tolist() for found in spans_around(np.array([2.0, 1, 1, 1]), np.array([0, 3, 4]), np.array([0, 2, 3]))]
    [[1], [1], [2]]
    """
    tied = _tied(scores, offsets, places)
    if not tied.size:
        return tied, tied, tied
    return tied, *_ends(scores, offsets, places[tied])


def _tied(scores: Scores, offsets: Index, places: Index) -> Index:
    """Return the entries of ``places`` whose neighbour in their group, before or after, has an equal score."""
    tied = np.zeros(places.size, dtype=np.bool_)
    for first in range(0, places.size, BLOCK):  # values that a block reads again are still in the cache
        block = places[first : first + BLOCK]
        here = scores[block]
        for step in (-1, 1):
            alike = np.flatnonzero(here == scores.take(block + step, mode="clip"))
            group = np.searchsorted(offsets, block[alike], "right")
            other = block[alike] + step
            tied[first + alike[(offsets[group - 1] <= other) & (other < offsets[group])]] = True
    return np.flatnonzero(tied)


def _ends(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index]:
    """Return the first and the last place of the span of equal scores around each place."""
    held = np.zeros(offsets.size - 1, dtype=np.bool_)
    held[np.searchsorted(offsets, places, "right") - 1] = True
    groups = np.flatnonzero(held)
    lengths = offsets[groups + 1] - offsets[groups]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    if 4 * bounds[-1] > scores.size:
        return _ends_in_all(scores, offsets, places)
    rows = segment_rows(offsets[groups], lengths)  # only the lists that have such a place
    first, last = _ends_in_all(scores[rows], bounds, np.searchsorted(rows, places))
    return rows[first], rows[last]


def _ends_in_all(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index]:
    starts = np.flatnonzero(~repeats_before(scores, offsets))
    span = np.searchsorted(starts, places, "right") - 1
    return starts[span], np.append(starts[1:], scores.size)[span] - 1


@dataclass(frozen=True, slots=True)
class ItemOrder:
    """The labelled items in the order of a tie rule: ``places`` and ``codes`` as in ``GradedList``.

    ``changed``: int64, ascending, the groups in which the order may differ from the input order.
    """

    places: Index | None
    codes: Codes
    changed: Index

    def places_of(self, items: Index) -> Index:
        """Return the places of some of the labelled items."""
        return items if self.places is None else self.places[items]


def as_they_came(graded: GradedList) -> ItemOrder:
    """Return the labelled items in the order of their scores, with items of equal score in input order."""
    return ItemOrder(graded.places, graded.codes, np.zeros(0, dtype=np.int64))


def in_all_lists(order: ItemOrder, graded: GradedList) -> ItemOrder:
    """Return the order of the labelled items of all lists, given the order in the sorted part of the lists."""
    part = graded.sorted_part
    if part is None:
        return order
    if not order.changed.size:
        return as_they_came(graded)
    n_items = np.diff(part.lists.bounds)
    items = segment_rows(graded.bounds[part.groups], n_items)
    places, codes = graded.places, graded.codes.copy()
    codes[items] = order.codes
    if places is not None and order.places is not None:
        places = places.copy()
        places[items] = order.places + np.repeat(graded.offsets[part.groups] - part.lists.offsets[:-1], n_items)
    return ItemOrder(places, codes, part.groups[order.changed])


def reorders(ties: str, graded: GradedList) -> bool:
    """Return whether a rule for ties can change the order; ``average`` and ``LISTED`` keep that of the rows."""
    return ties in BY_ID or ties in BY_GAIN or (ties == "input" and graded.came is not None)


def open_spans(graded: GradedList, classes: GainClasses, reach: int | None) -> TieSpans:
    """Return the spans of equal scores in which the order of the items can matter.

    These are the spans whose items differ in their class, except those that begin after the rank ``reach``.
    """
    if graded.places is None:
        spans = spans_with_differing(graded.scores, graded.offsets, classes.of_codes(graded.codes))
    else:
        places = graded.places
        if classes.unlabelled >= 0:
            places = places[(classes.of_level != classes.unlabelled)[graded.codes]]
        _, first, last = spans_around(graded.scores, graded.offsets, places)
        new = np.append(True, first[1:] != first[:-1])[: first.size]
        spans = TieSpans(first[new], last[new])
    if reach is None:
        return spans
    return spans.only(spans.first - graded.offsets[_groups(graded, spans)] < reach)


def _groups(graded: GradedList, spans: TieSpans) -> Index:
    """Return the group of each span."""
    return np.searchsorted(graded.offsets, spans.first, "right") - 1


def item_order(graded: GradedList, spans: TieSpans, keys: Keys, ties: str, classes: GainClasses) -> ItemOrder:
    """Return the order of the labelled items under a value of the ties axis that reorders some spans.

    Parameters: ``spans``: see ``open_spans``; ``keys``: the ids of the rows of the ranking.
    """
    if not spans.first.size:
        return as_they_came(graded)
    groups = _groups(graded, spans)
    changed = groups[np.append(True, groups[1:] != groups[:-1])]
    places = None if graded.places is None else graded.places.copy()
    order = ItemOrder(places, graded.codes.copy(), changed)
    for part in spans.parts():
        if ties in BY_GAIN:
            _fill_by_gain(order, graded, part, classes, best_first=ties == "optimistic")
        else:
            _fill_by_rank(order, graded, part, _by_rank(graded, part, keys, ties))
    return order


def _by_rank(graded: GradedList, spans: TieSpans, keys: Keys, ties: str) -> Index:
    """Return, for the place of each member, which member of its span goes there: by item id, or in input order."""
    rows, bounds = graded.rows(spans.members()), spans.bounds
    if ties == "input" and graded.came is not None:
        return ascending_order(graded.came[rows], bounds)
    order = id_order(keys, rows, bounds)
    if ties == "item_asc":
        return order
    return order[np.repeat(bounds[:-1] + bounds[1:] - 1, spans.lengths) - np.arange(rows.size)]


def _items_of(graded: GradedList, spans: TieSpans) -> tuple[Index, Index]:
    """Return the labelled items of some spans, and how many each span has."""
    if graded.places is None:
        return spans.members(), spans.lengths
    begins = np.searchsorted(graded.places, spans.first)
    n_items = np.searchsorted(graded.places, spans.last, "right") - begins
    return segment_rows(begins, n_items), n_items


def _fill_by_rank(order: ItemOrder, graded: GradedList, spans: TieSpans, by_rank: Index) -> None:
    """Put the members of some spans at each other's places."""
    members = spans.members()
    if graded.places is None or order.places is None:
        order.codes[members] = graded.codes[members[by_rank]]
        return
    new_place = np.empty(members.size, dtype=np.int64)
    new_place[by_rank] = members
    items, _ = _items_of(graded, spans)
    moved = new_place[np.searchsorted(members, graded.places[items])]
    by_place = np.argsort(moved)
    order.places[items], order.codes[items] = moved[by_place], graded.codes[items[by_place]]


def _fill_by_gain(
    order: ItemOrder, graded: GradedList, spans: TieSpans, classes: GainClasses, *, best_first: bool
) -> None:
    """Sort the members of some spans by gain, best or worst first, including items without a label."""
    items, n_items = _items_of(graded, spans)
    n_classes = classes.gains.size
    of_items = classes.of_level[graded.codes[items]]
    span_key = np.repeat(np.arange(n_items.size) * n_classes, n_items)
    keys = np.sort(span_key + (n_classes - 1 - of_items if best_first else of_items), kind="stable")  # sorted by span
    of_items = n_classes - 1 - (keys - span_key) if best_first else keys - span_key
    order.codes[items] = classes.levels[of_items]
    if order.places is None:
        return
    gains = classes.gains[of_items]
    before_others = gains > classes.other_gain if best_first else gains < classes.other_gain
    ends = np.cumsum(n_items)
    from_first, from_last = spans.first - (ends - n_items), spans.last - (ends - 1)
    order.places[items] = np.arange(items.size) + np.where(
        before_others, np.repeat(from_first, n_items), np.repeat(from_last, n_items)
    )


@dataclass(frozen=True, slots=True)
class RankedGains:
    """Items with their gains, group by group and rank by rank.

    ``gains``: float64, shape (m,); ``groups``: int64, the group of the run; ``ranks``: int64, from 1. Under
    ``ties=average``, the rank is one of several equally likely ranks: ``tied`` (int64) are the items that share their
    score with another item, and ``first_ranks`` and ``last_ranks`` (int64, shape of ``tied``) are the first and the
    last rank that they may have.
    """

    gains: Floats
    groups: Index
    ranks: Index
    tied: Index
    first_ranks: Index
    last_ranks: Index

    def weights(self, weight_of_rank: Floats) -> Floats:
        """Return the weight of each item's rank, or its expected weight over the ranks that it may have: shape (m,).

        Parameters: ``weight_of_rank``: float64, entry r for rank r, entry 0 unused and 0. Source of the expectation:
        McSherry and Najork, ECIR 2008, sec. 3.
        """
        weights = weight_of_rank[self.ranks]
        if self.tied.size:
            sums = np.cumsum(weight_of_rank)
            spread = sums[self.last_ranks] - sums[self.first_ranks - 1]
            weights[self.tied] = spread / (self.last_ranks - self.first_ranks + 1)
        return weights


def order_of(lists: Lists, metric: Metric, level_gains: Floats, *, every: bool) -> ItemOrder:
    """Return the labelled items in the order of a metric's ``ties``, computed once for all metrics with this order.

    Parameters: ``level_gains``: float64, the gain of each level; ``every``: whether it matters that an item without a
    gain has a label.
    """
    graded, rule = lists.graded(metric), metric.tie_rule(lists.judged.ranking.tie_order)
    if not reorders(rule, graded):
        return as_they_came(graded)
    classes = GainClasses.of(level_gains, metric.unjudged_gain, every=every)
    key: Hashable = (lists.list_key(metric), classes.key)
    part = graded if graded.sorted_part is None else graded.sorted_part.lists
    spans = lists.once(("spans", key), lambda: open_spans(part, classes, lists.reach))
    if rule in BY_GAIN:
        key = (key, classes.gains.tobytes(), classes.other_gain)
    keys = lists.judged.ranking.item_keys
    return lists.once(("order", key, rule), lambda: in_all_lists(item_order(part, spans, keys, rule, classes), graded))


def tie_key(judged: JudgedRanking, metric: Metric, rows: Index, worth: Floats) -> Index | Floats:
    """Return a number for each row of a run that orders rows of equal score, the lowest first.

    Parameters: ``rows``: int64; ``worth``: float64, the gain of every row of the run, for the worst and the best case.
    """
    ranking, rule = judged.ranking, metric.tie_rule(judged.ranking.tie_order)
    if rule in BY_GAIN:
        return worth[rows] if rule == "pessimistic" else -worth[rows]
    if rule in ("input", LISTED):
        return rows if rule == LISTED or ranking.input_places is None else ranking.input_places[rows]
    places = ranking.item_keys.take(rows).byte_ranks()
    return places if rule == "item_asc" else -places


def ranked_gains(lists: Lists, metric: Metric, level_gains: Floats, *, every: bool) -> RankedGains:
    """Return the labelled items at the ranks that a metric's ``ties`` gives them; some may be beyond its cutoff.

    Parameters: ``level_gains``: float64, the gain of each level; ``every``: whether items that gain 0 are wanted too.
    """
    graded = lists.graded(metric)
    order = order_of(lists, metric, level_gains, every=every)
    reached = graded.reached(metric.cutoff)
    codes = order.codes if reached is None else order.codes[reached]
    wanted = np.arange(codes.size) if every else np.flatnonzero((level_gains != 0)[codes])
    gains = level_gains[codes[wanted]]
    if reached is not None:
        wanted = reached[wanted]
    groups = graded.groups[wanted]
    places = order.places_of(wanted)
    before = graded.offsets[groups] - 1
    nothing = np.zeros(0, dtype=np.int64)
    tied, first, last = nothing, nothing, nothing
    if metric["ties"] == "average":
        tied, first, last = spans_around(graded.scores, graded.offsets, places)
        first, last = first - before[tied], last - before[tied]
    return RankedGains(gains, groups, places - before, tied, first, last)

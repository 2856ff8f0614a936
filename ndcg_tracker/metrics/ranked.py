"""The labelled items of all lists at their ranks, ties broken: what every measure sums over."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.gain_classes import GainClasses
from ndcg_tracker.metrics.lists import Lists
from ndcg_tracker.metrics.ordering import (
    BY_GAIN,
    ItemOrder,
    as_they_came,
    in_all_lists,
    item_order,
    open_runs,
    reorders,
)
from ndcg_tracker.metrics.tied_runs import runs_around
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats


@dataclass(frozen=True, slots=True)
class RankedGains:
    """Items with their gains, group by group and rank by rank.

    ``gains``: float64, shape (m,); ``groups``: int64, the group of the run; ``ranks``: int64, from 1. Under
    ``ties=average`` the rank is one of those that are equally likely: ``tied`` (int64) are the items that share their
    score with another one, ``first_ranks`` and ``last_ranks`` (int64, shape of ``tied``) the ranks they may have.
    """

    gains: Floats
    groups: Index
    ranks: Index
    tied: Index
    first_ranks: Index
    last_ranks: Index

    def weights(self, weight_of_rank: Floats) -> Floats:
        """Return the weight of each item's rank, or what it expects over the ranks that it may have: shape (m,).

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
    """Return the labelled items in the order of a metric's ``ties``, found once for all metrics that order alike.

    Parameters: ``level_gains``: float64, the gain of each level; ``every``: whether it matters that an item of no
    gain has a label.
    """
    graded, rule = lists.graded(metric), metric["ties"]
    if not reorders(rule, graded):
        return as_they_came(graded)
    unjudged = metric["unjudged"]
    classes = GainClasses.of(level_gains, 0.0 if unjudged in ("zero", "drop") else float(unjudged), every=every)
    key: Hashable = (lists.list_key(metric), classes.key)
    part = graded if graded.sorted_part is None else graded.sorted_part.lists
    runs = lists.once(("runs", key), lambda: open_runs(part, classes, lists.reach))
    if rule in BY_GAIN:
        key = (key, classes.gains.tobytes(), classes.other_gain)
    keys = lists.judged.ranking.item_keys
    return lists.once(("order", key, rule), lambda: in_all_lists(item_order(part, runs, keys, rule, classes), graded))


def ranked_gains(lists: Lists, metric: Metric, level_gains: Floats, *, every: bool) -> RankedGains:
    """Return the labelled items at the ranks that a metric's ``ties`` gives them; some may lie behind its cutoff.

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
        tied, first, last = runs_around(graded.scores, graded.offsets, places)
        first, last = first - before[tied], last - before[tied]
    return RankedGains(gains, groups, places - before, tied, first, last)

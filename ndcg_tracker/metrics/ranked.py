"""The labelled items of all lists at their ranks, ties broken: what every measure sums over."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.listing import GradedList
from ndcg_tracker.metrics.ordering import TiedPlaces, places_by_gain, places_by_rank, tied_places
from ndcg_tracker.rankings.keys import Index
from ndcg_tracker.rankings.ranking import Floats, Ranking


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


def ranked_gains(
    graded: GradedList, ranking: Ranking, metric: Metric, level_gains: Floats, *, every: bool
) -> RankedGains:
    """Return the labelled items at the ranks that a metric's ``ties`` gives them; some may lie behind its cutoff.

    Parameters: ``level_gains``: float64, the gain of each level; ``every``: whether items that gain 0 are wanted too.
    """
    reached = graded.reached(metric.cutoff)
    codes = graded.codes if reached is None else graded.codes[reached]
    wanted = np.arange(codes.size) if every else np.flatnonzero((level_gains != 0)[codes])
    if reached is not None:
        wanted = reached[wanted]
    gains, groups = level_gains[graded.codes[wanted]], graded.groups[wanted]
    found = tied_places(graded.scores, graded.offsets, graded.places[wanted])
    places = _places(found, graded, ranking, metric, gains)
    nothing = np.zeros(0, dtype=np.int64)
    tied, first, last = nothing, nothing, nothing
    if metric["ties"] == "average" and found.tied.size:
        before = graded.offsets[groups[found.tied]] - 1
        tied, first, last = found.tied, found.first[found.tied] - before, found.last[found.tied] - before
    if places is not found.places:
        by_place = np.argsort(places, kind="stable")  # sums run in rank order, as the ideal's do
        places, gains = places[by_place], gains[by_place]
    return RankedGains(gains, groups, places - graded.offsets[groups] + 1, tied, first, last)


def _places(found: TiedPlaces, graded: GradedList, ranking: Ranking, metric: Metric, gains: Floats) -> Index:
    ties = metric["ties"]
    if ties in ("item_desc", "item_asc"):
        direction = -1 if ties == "item_desc" else 1
        return places_by_rank(
            found, lambda members: direction * ranking.item_keys.take(graded.rows(members)).byte_ranks()
        )
    if ties in ("pessimistic", "optimistic"):
        unjudged = metric["unjudged"]
        other_gain = 0.0 if unjudged in ("zero", "drop") else float(unjudged)
        return places_by_gain(found, gains, best_first=ties == "optimistic", other_gain=other_gain)
    came = ranking.input_places
    if ties == "input" and came is not None and metric["score_type"] == "f32":
        return places_by_rank(found, lambda members: came[graded.rows(members)])
    return found.places

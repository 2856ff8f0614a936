"""The ties axis: at which rank each judged item stands, for whole runs at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.rankings.grouping import segment_rows
from ndcg_tracker.rankings.keys import Index, Mask
from ndcg_tracker.rankings.ranking import Floats

Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class TiedPlaces:
    """Where some places of a list (ranks from 0, over all groups) stand among places of equal score.

    ``places``: int64, shape (m,), ascending. ``first`` and ``last``: int64, shape (m,), the ends of the run of equal
    scores that each of them lies in. ``tied``: int64, the entries of ``places`` whose run is longer than one.
    """

    places: Index
    first: Index
    last: Index
    tied: Index


def tied_places(scores: Scores, offsets: Index, places: Index) -> TiedPlaces:
    """Return the runs of equal scores around some places.

    Parameters: ``scores``, never rising within a group; ``offsets``, int64, shape (n_groups + 1,); ``places``, int64,
    ascending. Raises: nothing.

    >>> found = tied_places(np.array([2.0, 1.0, 1.0, 1.0]), np.array([0, 3, 4]), np.array([0, 2, 3]))
    >>> found.first.tolist(), found.last.tolist(), found.tied.tolist()
    ([0, 1, 3], [0, 2, 3], [1])
    """
    first, last = places.copy(), places.copy()
    tied = np.flatnonzero(_is_tied(scores, offsets, places))
    if tied.size:
        first[tied], last[tied] = _runs(scores, offsets, places[tied])
    return TiedPlaces(places, first, last, tied)


def _is_tied(scores: Scores, offsets: Index, places: Index) -> Mask:
    """Return whether the place before or after each place is of equal score."""
    if 8 * places.size > scores.size:  # then comparing all neighbours is faster than picking some
        same_as_before = np.zeros(scores.size + 1, dtype=np.bool_)
        same_as_before[1:-1] = scores[1:] == scores[:-1]
        same_as_before[offsets] = False
        return np.asarray(same_as_before[places] | same_as_before[places + 1])
    starts = np.zeros(scores.size + 1, dtype=np.bool_)
    starts[offsets] = True
    neighbour = np.zeros(places.size, dtype=np.bool_)
    behind = places > 0
    at = places[behind]
    neighbour[behind] = (scores[at - 1] == scores[at]) & ~starts[at]
    ahead = places < scores.size - 1
    at = places[ahead]
    neighbour[ahead] |= (scores[at + 1] == scores[at]) & ~starts[at + 1]
    return neighbour


def _runs(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index]:
    """Return the first and the last place of the run of equal scores that each place lies in."""
    held = np.zeros(offsets.size - 1, dtype=np.bool_)
    held[np.searchsorted(offsets, places, "right") - 1] = True
    groups = np.flatnonzero(held)
    lengths = offsets[groups + 1] - offsets[groups]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    if 4 * bounds[-1] > scores.size:
        return _runs_of_all(scores, offsets, places)
    rows = segment_rows(offsets[groups], lengths)  # the lists that hold such a place, and no others
    first, last = _runs_of_all(scores[rows], bounds, np.searchsorted(rows, places))
    return rows[first], rows[last]


def _runs_of_all(scores: Scores, offsets: Index, places: Index) -> tuple[Index, Index]:
    starts = np.zeros(scores.size + 1, dtype=np.bool_)
    starts[1:-1] = scores[1:] != scores[:-1]
    starts[offsets] = True
    bounds = np.flatnonzero(starts)
    run = np.searchsorted(bounds, places, "right") - 1
    return bounds[run], bounds[run + 1] - 1


def places_by_rank(found: TiedPlaces, rank_of: Callable[[Index], Index]) -> Index:
    """Return the places with ties broken by a rank, the smallest first: int64, shape of ``found.places``.

    Parameters: ``rank_of`` gives the ranks (int64) of some places; it is asked once, for all members of all runs of
    equal scores that matter.
    """
    places = found.places.copy()
    if not found.tied.size:
        return places
    firsts, run = np.unique(found.first[found.tied], return_inverse=True)
    lasts = np.zeros_like(firsts)
    lasts[run] = found.last[found.tied]
    members = segment_rows(firsts, lasts - firsts + 1)
    member_run = np.repeat(firsts, lasts - firsts + 1)
    order = np.lexsort((rank_of(members), member_run))
    new_place = np.empty(members.size, dtype=np.int64)
    new_place[order] = members  # the runs ascend, so the sorted members fill the same places in order
    places[found.tied] = new_place[np.searchsorted(members, found.places[found.tied])]
    return places


def places_by_gain(found: TiedPlaces, gains: Floats, *, best_first: bool, other_gain: float = 0.0) -> Index:
    """Return the places with ties broken by gain, best or worst first; places not listed gain ``other_gain``.

    Parameters: ``gains``, float64, shape of ``found.places``. Returns: int64 of the same shape.
    """
    places = found.places.copy()
    tied = found.tied
    if not tied.size:
        return places
    key = -gains[tied] if best_first else gains[tied]
    order = tied[np.lexsort((key, found.first[tied]))]
    run_first = found.first[order]
    begins = np.searchsorted(run_first, run_first, "left")
    ends = np.searchsorted(run_first, run_first, "right")
    number = np.arange(order.size)
    before_others = gains[order] > other_gain if best_first else gains[order] < other_gain
    places[order] = np.where(before_others, run_first + number - begins, found.last[order] - (ends - 1 - number))
    return places

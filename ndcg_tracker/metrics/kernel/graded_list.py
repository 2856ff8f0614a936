"""The lists a metric ranks: all retrieved items, or those that the unjudged and negative axes keep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.kernel.levels import Codes
from ndcg_tracker.rankings.grouping import group_codes, segment_rows
from ndcg_tracker.rankings.join import JudgedItems
from ndcg_tracker.rankings.ranking import Ranking
from ndcg_tracker.rankings.types import Index, Mask

Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class GradedList:
    """The lists of a run with the places of their labelled items.

    ``scores``: the scores at each place, never rising within a group. ``offsets``: int64, shape (n_run_groups + 1,).
    ``list_rows``: the row of the ranking at each place, None where place and row are the same. ``places``: int64,
    ascending, the places that have a label, None if all of them have one; ``codes``: the level of each; ``bounds``:
    int64, shape (n_run_groups + 1,), which of them are in each group of the run. ``came``: int64, the input place of
    each row of the ranking, None if places of equal score are in input order. ``sorted_part``: of an unsorted run, the
    groups in which ties can matter, which alone have scores and rows then; None if all groups have them.
    """

    scores: Scores
    offsets: Index
    list_rows: Index | None
    places: Index | None
    codes: Codes
    bounds: Index
    came: Index | None
    sorted_part: SomeLists | None = None

    @cached_property
    def lengths(self) -> Index:
        """How many items each list has."""
        return np.diff(self.offsets)

    @cached_property
    def longest(self) -> int:
        """How many items the longest list has."""
        return int(self.lengths.max(initial=0))

    @property
    def n_unlabelled(self) -> Index:
        """How many items of each list have no label."""
        return self.lengths - np.diff(self.bounds)

    @cached_property
    def groups(self) -> Index:
        """The group of the run that each labelled item belongs to."""
        return group_codes(self.bounds)

    def rows(self, places: Index) -> Index:
        """Return the rows of the ranking at some places."""
        return places if self.list_rows is None else self.list_rows[places]

    def reached(self, cutoff: int | None) -> Index | None:
        """Return which labelled places may be among the first ``cutoff``, however ties are broken; None for all.

        Those are the first places, and in lists where the cutoff falls between equal scores all places.
        """
        if cutoff is None:
            return None
        ends = self.offsets[:-1] + np.minimum(self.lengths, cutoff)
        open_ended = self._open_ended(cutoff)
        ends[open_ended] = self.offsets[open_ended + 1]
        begins = self.bounds[:-1]
        return segment_rows(begins, (ends if self.places is None else np.searchsorted(self.places, ends)) - begins)

    def _open_ended(self, cutoff: int) -> Index:
        """Return the lists in which the cutoff falls between equal scores, one of them with a label."""
        if self.sorted_part is not None:
            return self.sorted_part.groups[self.sorted_part.lists._open_ended(cutoff)]
        cut = np.flatnonzero(self.lengths > cutoff)
        ends = self.offsets[cut] + cutoff
        return np.asarray(cut[self.scores[ends - 1] == self.scores[ends]])


@dataclass(frozen=True, slots=True)
class SomeLists:
    """Some groups of a run (``groups``: int64, ascending) and the lists of these alone."""

    groups: Index
    lists: GradedList


def graded_list(
    judged: JudgedItems, label_codes: Codes, *, single: bool, drop_unjudged: bool, negative: Mask | None
) -> GradedList:
    """Return the lists of a run, in the order of its rows.

    Parameters: ``label_codes``: the level of each label; ``single``: whether scores are compared in single precision;
    ``drop_unjudged``: whether items without label are taken out; ``negative``: bool, which levels are taken out, None
    for none.
    """
    ranking, rows = judged.ranking, judged.rows
    codes = label_codes[judged.label_rows]
    scores: Scores = ranking.numbers.astype(np.float32) if single else ranking.numbers
    came = ranking.input_places if single and isinstance(ranking, Ranking) else None
    below = None if negative is None else negative[codes]
    if below is not None and below.any():
        kept = np.ones(ranking.n_items, dtype=np.bool_)
        kept[rows[below]] = False
        rows, codes = rows[~below], codes[~below]
    else:
        kept = None
    if drop_unjudged and rows.size < ranking.n_items:
        kept = np.zeros(ranking.n_items, dtype=np.bool_)
        kept[rows] = True
    if kept is None:
        if rows.size == ranking.n_items:
            return GradedList(scores, ranking.offsets, None, None, codes, ranking.offsets, came)
        bounds = judged.bounds if rows is judged.rows else np.searchsorted(rows, ranking.offsets)
        return GradedList(scores, ranking.offsets, None, rows, codes, bounds, came)
    list_rows = np.flatnonzero(kept)
    offsets = np.searchsorted(list_rows, ranking.offsets)
    places = None if rows.size == list_rows.size else np.searchsorted(list_rows, rows)
    bounds = offsets if places is None else np.searchsorted(rows, ranking.offsets)
    return GradedList(scores[list_rows], offsets, list_rows, places, codes, bounds, came)

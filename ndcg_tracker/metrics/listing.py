"""The lists a metric ranks: all retrieved items, or what the unjudged and negative axes leave of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.ideal import GradeLevels
from ndcg_tracker.metrics.ordering import Scores, TiedPlaces, tied_places
from ndcg_tracker.rankings.grouping import group_codes
from ndcg_tracker.rankings.join import JudgedRanking
from ndcg_tracker.rankings.keys import Index, Mask


@dataclass(frozen=True, slots=True)
class GradedList:
    """The lists of a run with the places of their labelled items.

    ``scores``: the scores at each place, never rising within a group. ``offsets``: int64, shape (n_run_groups + 1,).
    ``list_rows``: the row of the ranking at each place, None where place and row are the same. ``places``: int64,
    ascending, the places that carry a label; ``codes``: the level of each; ``groups``: its group of the run.
    """

    scores: Scores
    offsets: Index
    list_rows: Index | None
    places: Index
    codes: Index
    groups: Index

    def tied_places(self, wanted: Index) -> TiedPlaces:
        """Return the runs of equal scores around some of the labelled places."""
        return tied_places(self.scores, self.offsets, self.places[wanted])


class Lists:
    """The lists of one run as different metrics see them, each made once."""

    def __init__(self, judged: JudgedRanking, levels: GradeLevels) -> None:
        self._judged = judged
        self.levels = levels
        self._made: dict[tuple[str, bool, bool], GradedList] = {}

    def graded(self, metric: Metric) -> GradedList:
        """Return the lists that a metric ranks."""
        key = (metric["score_type"], metric["unjudged"] == "drop", metric["negative"] == "drop")
        if key not in self._made:
            self._made[key] = self._list(*key)
        return self._made[key]

    def label_codes(self, metric: Metric) -> tuple[Index, Index]:
        """Return the level and the label group of each label that a metric's ideal may use."""
        labels = self._judged.labels
        groups = group_codes(labels.offsets)
        if metric["negative"] != "drop":
            return self.levels.codes, groups
        kept = labels.grades >= 0
        return self.levels.codes[kept], groups[kept]

    def _list(self, score_type: str, drop_unjudged: bool, drop_negative: bool) -> GradedList:
        judged, ranking = self._judged, self._judged.ranking
        rows = judged.rows
        codes = self.levels.codes[judged.label_rows]
        scores: Scores = ranking.scores.astype(np.float32) if score_type == "f32" else ranking.scores
        negative = self.levels.levels[codes] < 0 if drop_negative else np.zeros(rows.size, dtype=np.bool_)
        kept_rows = rows[~negative]
        codes = codes[~negative]
        groups = np.searchsorted(ranking.offsets, kept_rows, "right") - 1
        if not drop_unjudged and not negative.any():
            return GradedList(scores, ranking.offsets, None, kept_rows, codes, groups)
        kept: Mask = np.zeros(ranking.n_items, dtype=np.bool_)
        if drop_unjudged:
            kept[kept_rows] = True
        else:
            kept[:] = True
            kept[rows[negative]] = False
        list_rows = np.flatnonzero(kept)
        offsets = np.searchsorted(list_rows, ranking.offsets)
        places = np.searchsorted(list_rows, kept_rows)
        return GradedList(scores[list_rows], offsets, list_rows, places, codes, groups)

"""The lists a metric ranks: all retrieved items, or what the unjudged and negative axes leave of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.ideal import GradeLevels
from ndcg_tracker.metrics.ordering import Scores
from ndcg_tracker.rankings.grouping import group_codes, segment_rows
from ndcg_tracker.rankings.join import JudgedRanking
from ndcg_tracker.rankings.keys import Index, Mask
from ndcg_tracker.rankings.ranking import Floats


@dataclass(frozen=True, slots=True)
class GradedList:
    """The lists of a run with the places of their labelled items.

    ``scores``: the scores at each place, never rising within a group. ``offsets``: int64, shape (n_run_groups + 1,).
    ``list_rows``: the row of the ranking at each place, None where place and row are the same. ``places``: int64,
    ascending, the places that carry a label; ``codes``: the level of each; ``groups``: its group of the
    run; ``bounds``: int64, shape (n_run_groups + 1,), which of them lie in each group of the run.
    """

    scores: Scores
    offsets: Index
    list_rows: Index | None
    places: Index
    codes: Index
    groups: Index
    bounds: Index

    def rows(self, places: Index) -> Index:
        """Return the rows of the ranking that stand at some places."""
        return places if self.list_rows is None else self.list_rows[places]

    def reached(self, cutoff: int | None) -> Index | None:
        """Return which labelled places may come among the first ``cutoff``, however ties are broken; None for all.

        Those are the first places, and in lists where the cutoff falls between equal scores all places.
        """
        if cutoff is None:
            return None
        starts, lengths = self.offsets[:-1], self.lengths
        ends = starts + np.minimum(lengths, cutoff)
        cut = np.flatnonzero(lengths > cutoff)
        open_ended = cut[self.scores[ends[cut] - 1] == self.scores[ends[cut]]]
        ends[open_ended] = self.offsets[open_ended + 1]
        begins = self.bounds[:-1]
        return segment_rows(begins, np.searchsorted(self.places, ends) - begins)

    @property
    def lengths(self) -> Index:
        """How many items each list has."""
        return np.diff(self.offsets)

    @property
    def n_unlabelled(self) -> Index:
        """How many items of each list carry no label."""
        return self.lengths - np.diff(self.bounds)


class Lists:
    """One run with its labels as different metrics see them; each view is made once."""

    def __init__(self, judged: JudgedRanking) -> None:
        self.judged = judged
        self.levels = GradeLevels.of(judged.labels.grades)
        self._made: dict[tuple[str, bool, bool], GradedList] = {}
        self._label_groups = group_codes(judged.labels.offsets)

    def graded(self, metric: Metric) -> GradedList:
        """Return the lists that a metric ranks."""
        key = (metric["score_type"], metric["unjudged"] == "drop", metric["negative"] == "drop")
        if key not in self._made:
            self._made[key] = self._list(*key)
        return self._made[key]

    def level_grades(self, metric: Metric) -> Floats:
        """Return each distinct grade in the type that a metric takes labels in.

        Raises: MetricError for a label outside the metric's domain, naming group and item.
        """
        grades = self.levels.levels
        if metric["label_type"] == "f32":
            grades = grades.astype(np.float32).astype(np.float64)
        elif metric["label_type"] == "int":
            grades = np.trunc(grades)
        if metric["negative"] == "error" and (grades < 0).any():
            where = self.where(grades < 0)
            raise MetricError(f"{metric}: {where} is below 0; use negative=zero to let it gain nothing")
        outside = _outside(metric["label_domain"], grades)
        if outside.any():
            meaning = f"label_domain={metric['label_domain']}"
            raise MetricError(
                f"{metric}: {self.where(outside)} is outside of {meaning}; correct it, or use another metric"
            )
        return grades

    def label_codes(self, metric: Metric) -> tuple[Index, Index]:
        """Return the level and the label group of each label that a metric's ideal may use."""
        if metric["negative"] != "drop":
            return self.levels.codes, self._label_groups
        kept = self.judged.labels.grades >= 0
        return self.levels.codes[kept], self._label_groups[kept]

    def where(self, levels: Mask) -> str:
        """Return the words for the first label that has one of some levels."""
        labels = self.judged.labels
        row = int(np.argmax(levels[self.levels.codes]))
        group = int(np.searchsorted(labels.offsets, row, "right")) - 1
        item, key = labels.item_keys[row], labels.group_keys[group]
        return f"the label {labels.grades[row]:g} of item {item!r} in group {key!r}"

    def of_axis(self, of_run: Floats) -> Floats:
        """Return numbers of the run's groups for the groups of the group axis, 0 where the run lacks one."""
        groups = self.judged.run_groups
        return np.where(groups >= 0, np.append(of_run, 0.0)[groups], 0.0)

    def of_labels(self, of_label_groups: Floats) -> Floats:
        """Return numbers of the label groups for the groups of the group axis, 0 for a group without labels."""
        groups = self.judged.label_groups
        return np.where(groups >= 0, np.append(of_label_groups, 0.0)[groups], 0.0)

    def _list(self, score_type: str, drop_unjudged: bool, drop_negative: bool) -> GradedList:
        judged, ranking = self.judged, self.judged.ranking
        rows = judged.rows
        codes = self.levels.codes[judged.label_rows]
        scores: Scores = ranking.scores.astype(np.float32) if score_type == "f32" else ranking.scores
        negative = self.levels.levels[codes] < 0 if drop_negative else np.zeros(rows.size, dtype=np.bool_)
        kept_rows = rows
        if negative.any():
            kept_rows, codes = rows[~negative], codes[~negative]
        bounds = np.searchsorted(kept_rows, ranking.offsets)
        groups = group_codes(bounds)
        if not drop_unjudged and not negative.any():
            return GradedList(scores, ranking.offsets, None, kept_rows, codes, groups, bounds)
        kept: Mask = np.zeros(ranking.n_items, dtype=np.bool_)
        if drop_unjudged:
            kept[kept_rows] = True
        else:
            kept[:] = True
            kept[rows[negative]] = False
        list_rows = np.flatnonzero(kept)
        offsets = np.searchsorted(list_rows, ranking.offsets)
        places = np.searchsorted(list_rows, kept_rows)
        return GradedList(scores[list_rows], offsets, list_rows, places, codes, groups, bounds)


def _outside(domain: str, grades: Floats) -> Mask:
    """Return which grades a label domain does not have."""
    if domain == "any":
        return np.zeros(grades.size, dtype=np.bool_)
    if domain == "ge0":
        return np.asarray(grades < 0)
    outside: Mask = grades != np.trunc(grades)
    if domain == "int_ge0" or domain.startswith("int0to"):
        outside |= grades < 0
    if domain.startswith("int0to"):
        outside |= grades > int(domain.removeprefix("int0to"))
    elif domain.startswith("int_le"):
        outside |= grades > int(domain.removeprefix("int_le"))
    return outside

"""One run with its labels, as different metrics see it; shared intermediate results are computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cached_property
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.graded_list import Codes, GradedList, GradeLevels, graded_list, level_counts
from ndcg_tracker.metrics.kernel.unsorted import MOST_LEVELS, in_rank_order
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric, refuse_external
from ndcg_tracker.rankings.grouping import group_codes, group_sums
from ndcg_tracker.rankings.join import Judged, JudgedRanking
from ndcg_tracker.rankings.types import Floats, Index, Mask

T = TypeVar("T")
Number = TypeVar("Number", np.int64, np.float64)

SCORED = ("score_type", "unjudged", "negative", "label_type", "gain", "arithmetic")
"""The axes on which sums over a list depend, besides the discount and the cutoff."""


class Lists:
    """One run with its labels, as some metrics see them; each view is computed once.

    ``metrics``: those metrics. ``missing`` and ``extra``: bool, shape (n_groups,), which groups the run and the labels
    lack. ``reach``: the largest cutoff of the metrics that an order changes, None where one of them has none.
    """

    def __init__(self, judged: Judged, metrics: Sequence[Metric]) -> None:
        refuse_external(metrics)
        self.metrics = metrics
        self.levels = GradeLevels.of(judged.labels.grades)
        by_run = any(metric["ties"] == "average" for metric in metrics)  # a sum over the ranks of all that tie
        self.judged = judged.in_order if by_run or self.levels.levels.size > MOST_LEVELS else judged
        self.missing, self.extra = judged.run_groups < 0, judged.label_groups < 0
        cutoffs = [metric.cutoff for metric in metrics if MEASURES[metric.measure].is_ordered]
        self.reach = None if None in cutoffs else max(filter(None, cutoffs), default=None)
        self._cutoffs: dict[Hashable, set[int | None]] = {}
        for metric in metrics:
            self._cutoffs.setdefault(family(metric), set()).add(metric.cutoff)
        self._made: dict[Hashable, object] = {}

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value stored under a key; compute and store it if it is missing."""
        if key not in self._made:
            self._made[key] = make()
        return cast(T, self._made[key])

    @cached_property
    def n_items(self) -> Index:
        """How many items the run has in each group of the group axis, -1 where the group is missing from it."""
        return np.append(np.diff(self.judged.ranking.offsets), -1)[self.judged.run_groups]

    def cutoffs(self, metric: Metric, longest: int) -> list[int]:
        """Return the cutoffs of all metrics that sum what this one sums, ascending; none is beyond the longest list.

        There is at least one, and all are at least 1.
        """
        asked = self._cutoffs.get(family(metric), {metric.cutoff})
        return sorted({effective(cutoff, longest) for cutoff in asked})

    @cached_property
    def _longest(self) -> int:
        """How many items the longest list of the run has, or of the labels if that is longer."""
        sides = (self.judged.ranking.offsets, self.judged.labels.offsets)
        return max(int(np.diff(offsets).max(initial=0)) for offsets in sides)

    def values_key(self, metric: Metric) -> Hashable:
        """Return what metrics have in common that have the same values: all but a cutoff that cuts nothing."""
        cutoff = metric.cutoff
        cuts = cutoff is not None and (cutoff < self._longest or metric["ideal"] == "constant")
        if metric.measure in CUMULATED and not cuts:
            cutoff = None
        return metric.measure, cutoff, tuple(metric[axis.name] for axis in AXES)

    def graded(self, metric: Metric) -> GradedList:
        """Return the lists that a metric ranks."""
        return self.once(self.list_key(metric), lambda: self._graded(metric))

    def list_key(self, metric: Metric) -> Hashable:
        """Return what metrics that rank the same lists have in common."""
        return "list", metric["score_type"], metric["unjudged"] == "drop", metric["negative"] == "drop"

    def _graded(self, metric: Metric) -> GradedList:
        negative = self.levels.levels < 0
        graded = graded_list(
            self.judged,
            self.levels.codes,
            single=metric["score_type"] == "f32",
            drop_unjudged=metric["unjudged"] == "drop",
            negative=negative if metric["negative"] == "drop" and negative.any() else None,
        )
        if isinstance(self.judged, JudgedRanking):
            return graded
        return in_rank_order(graded, self.levels.levels.size)

    def level_grades(self, metric: Metric) -> Floats:
        """Return each distinct grade in the type that a metric takes labels in.

        Raises: MetricError, with group and item, for a label outside the metric's domain.
        """
        grades = self.levels.levels
        if metric["label_type"] == "f32":
            grades = grades.astype(np.float32).astype(np.float64)
        elif metric["label_type"] == "int":
            grades = np.trunc(grades)
        if metric["negative"] == "error" and (grades < 0).any():
            where = self.where(grades < 0)
            raise MetricError(
                f"{where} is below 0", where=metric.requested_as, advice="use negative=zero to give it no gain"
            )
        outside = _outside(metric["label_domain"], grades)
        if outside.any():
            meaning = f"label_domain={metric['label_domain']}"
            raise MetricError(
                f"{self.where(outside)} is outside {meaning}",
                where=metric.requested_as,
                advice="correct it, or use another metric",
            )
        return grades

    def label_codes(self, metric: Metric) -> tuple[Codes, Index]:
        """Return the level of each label that a metric's ideal may use, and which of them each label group has."""
        codes, offsets = self.levels.codes, self.judged.labels.offsets
        if metric["negative"] != "drop" or not (self.levels.levels < 0).any():
            return codes, offsets
        return self.once("labels from 0", lambda: _only(codes, offsets, self.levels.levels >= 0))

    def label_sums(self, metric: Metric, level_numbers: Floats) -> Floats:
        """Return the sum of a number of each label's level over the labels of each label group."""
        codes, offsets = self.label_codes(metric)
        return group_sums(group_codes(offsets), level_numbers[codes], offsets.size - 1)

    def listed_sums(self, metric: Metric, level_numbers: Floats) -> Floats:
        """Return the sum of a number of each item's level over the labelled items of each list."""
        graded = self.graded(metric)
        return group_sums(graded.groups, level_numbers[graded.codes], graded.lengths.size)

    def counts(self, metric: Metric, *, from_run: bool) -> Index | None:
        """Return how many items of each level each group has, in its list or among its labels: see ``level_counts``.

        None where most of these counts would be 0.
        """
        key = self.list_key(metric) if from_run else ("labels", metric["negative"] == "drop")
        return self.once(("counts", key), lambda: self._counts(metric, from_run))

    def _counts(self, metric: Metric, from_run: bool) -> Index | None:
        graded = self.graded(metric)
        codes, offsets = (graded.codes, graded.bounds) if from_run else self.label_codes(metric)
        n_levels = self.levels.levels.size
        if (offsets.size - 1) * n_levels > 4 * codes.size + (1 << 20):
            return None
        return level_counts(codes, offsets, n_levels)

    def where(self, levels: Mask) -> str:
        """Return a description, for a message, of the first label that has one of some levels."""
        labels = self.judged.labels
        row = int(np.argmax(levels[self.levels.codes]))
        group = int(np.searchsorted(labels.offsets, row, "right")) - 1
        item, key = labels.item_keys[row], labels.group_keys[group]
        return f"the label {labels.grades[row]:g} of item {item!r} in group {key!r}"

    def of_axis(self, of_run: NDArray[Number]) -> NDArray[Number]:
        """Return numbers of the run's groups for the groups of the group axis, 0 where the run lacks one."""
        return _aligned(of_run, self.judged.run_groups, self.missing)

    def of_run(self, of_axis: NDArray[Number]) -> NDArray[Number]:
        """Return numbers of the groups of the group axis for the groups of the run."""
        found = np.zeros(self.judged.ranking.n_groups, dtype=of_axis.dtype)
        present = ~self.missing
        found[self.judged.run_groups[present]] = of_axis[present]
        return found

    def of_labels(self, of_label_groups: Floats) -> Floats:
        """Return numbers of the label groups for the groups of the group axis, 0 for a group without labels."""
        return _aligned(of_label_groups, self.judged.label_groups, self.extra)


def family(metric: Metric) -> Hashable:
    """Return what metrics whose sums differ in the cutoff alone have in common."""
    return metric.discount, *(metric[axis] for axis in SCORED)


def effective(cutoff: int | None, longest: int) -> int:
    """Return the effective cutoff for a list of some length: from 1 to that length."""
    return max(longest if cutoff is None else min(cutoff, longest), 1)


def _aligned(numbers: NDArray[Number], places: Index, absent: Mask) -> NDArray[Number]:
    if not absent.any():
        return numbers[places]
    found = np.append(numbers, numbers.dtype.type(0))[places]
    found[absent] = 0
    return found


def _only(codes: Codes, offsets: Index, kept: Mask) -> tuple[Codes, Index]:
    """Return the items of some levels, and which of them each group has."""
    at = np.flatnonzero(kept[codes])
    return codes[at], np.searchsorted(at, offsets)


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

"""One run with its labels, sorted or not, as different metrics see it; shared parts are computed once.

Groups of similar length are processed side by side, in blocks that fit the cache. Rows that are in order already have
their places. If few rows have a label, the rank of each is the number of better scores in its group. Otherwise scores
are sorted as integers whose last bits hold the label. A group is sorted exactly if a labelled item in it shares its
score with an item that has another level or no label.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.kernel.graded_list import (
    Codes,
    GradedList,
    GradeLevels,
    Scores,
    SomeLists,
    graded_list,
    level_counts,
    typed_grades,
)
from ndcg_tracker.metrics.language.axes import AXES
from ndcg_tracker.metrics.language.dialects import DEFAULT_CUTOFF, dialect_of
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric, refuse_external
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_codes, group_sums, segment_rows
from ndcg_tracker.rankings.join import Judged, JudgedRanking
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.sorting import GroupMatrix, descending_order, ordered_bits, similar_groups

MOST_LEVELS = (1 << 16) - 1
"""The largest number of levels that leaves enough bits for a score."""

IN_ORDER, BY_COUNTING, BY_SORTING = "in order", "by counting", "by sorting"
_FEW = 4  # labelled rows per group, on average, up to which counting is faster than sorting
_FEW_AT_MOST = 16
_NARROW = 64  # up to this length NumPy counts faster across groups than within them
_BLOCK = 1 << 16
_BEHIND = np.iinfo(np.int64).max


def in_rank_order(graded: GradedList, n_levels: int) -> GradedList:
    """Return the lists of an unsorted run with the places that its rows would have after sorting.

    Parameters: ``n_levels``: how many levels ``graded.codes`` may name, up to ``MOST_LEVELS``. Returns: lists that
    have scores and rows only for their ``sorted_part``. Elsewhere, items of the same level and score may have changed
    places, which changes only values of ``ties=average``.

    >>> rows = GradedList(np.array([1.0, 2.0]), np.array([0, 2]), None, None, np.array([1, 0]), np.array([0, 2]), None)
    >>> in_rank_order(rows, 2).codes.tolist()
    [0, 1]
    """
    return Ranks(graded, n_levels).ranked()


class Ranks:
    """The places of the labelled items of an unsorted run, filled in step by step (see ``in_rank_order``).

    ``ways``: the methods that were used for blocks of groups.
    """

    def __init__(self, graded: GradedList, n_levels: int) -> None:
        self.ways: set[str] = set()
        self._graded = replace(graded, scores=np.ascontiguousarray(graded.scores))
        self._n_labelled = np.diff(graded.bounds)
        self._bits = n_levels.bit_length()
        self._unlabelled = (1 << self._bits) - 1
        self._codes = graded.codes.copy()
        self._places = None if graded.places is None else graded.places.copy()
        self._tied = np.zeros(self._n_labelled.size, dtype=np.bool_)

    def ranked(self) -> GradedList:
        """Return the lists."""
        graded = self._graded
        n_places = _BLOCK if graded.longest > _NARROW else 2 * _BLOCK
        for groups in similar_groups(np.where(self._n_labelled > 0, graded.lengths, 0), n_places):
            self._settle(groups)
        if BY_COUNTING in self.ways and self._places is not None:
            self._places, self._codes = self._by_place(self._places, self._codes)
        part = self._sorted_part(np.flatnonzero(self._tied))
        nothing = graded.scores[:0]
        return replace(graded, scores=nothing, list_rows=None, places=self._places, codes=self._codes, sorted_part=part)

    def _settle(self, groups: Index) -> None:
        """Find the places of the labelled items of some groups, or mark a group as tied."""
        block = GroupMatrix(self._graded.offsets[groups][:, None], self._graded.lengths[groups][:, None])
        scores = block.taken(self._graded.scores)
        if not block.is_full:
            block.fill_behind(scores, -np.inf)
        n_labelled = self._n_labelled[groups]
        if _is_descending(scores):
            self.ways.add(IN_ORDER)
            self._mark_ties(groups, block, scores)
        elif n_labelled.max() <= _FEW_AT_MOST and n_labelled.sum() <= _FEW * groups.size:
            self.ways.add(BY_COUNTING)
            self._count(groups, scores)
        else:
            self.ways.add(BY_SORTING)
            self._sort(groups, block, scores)

    @cached_property
    def _code_of_row(self) -> Codes:
        """The level of each row, with all bits set for a row without a label."""
        if self._graded.places is None:
            return self._graded.codes
        codes = np.full(int(self._graded.offsets[-1]), self._unlabelled, dtype=self._codes.dtype)
        codes[self._graded.places] = self._graded.codes
        return codes

    def _mark_ties(self, groups: Index, block: GroupMatrix, scores: Scores) -> None:
        """Mark the groups, in order, in which neighbours have the same score but different levels."""
        repeats = block.repeats(scores)
        if repeats.any():
            codes = block.taken(self._code_of_row)
            repeats[:, 1:] &= codes[:, 1:] != codes[:, :-1]
            self._tied[groups[repeats.any(axis=1)]] = True

    def _count(self, groups: Index, scores: Scores) -> None:
        """Rank the labelled rows of groups that have few of them, by counting better scores."""
        graded, places = self._graded, self._places
        axis = int(scores.shape[1] > _NARROW)  # the axis along which a group lies
        matrix = scores if axis else np.ascontiguousarray(scores.T)
        items, n_labelled = graded.bounds[groups], self._n_labelled[groups]
        more_than = groups.size - np.cumsum(np.bincount(n_labelled))
        for done, n_groups in enumerate(more_than[:-1].tolist()):
            if done == 1:
                most_first = np.argsort((_FEW_AT_MOST - n_labelled).astype(np.uint8), kind="stable")[:n_groups]
                groups, items, matrix = groups[most_first], items[most_first], matrix.take(most_first, axis=1 - axis)
            groups, some = groups[:n_groups], items[:n_groups] + done
            matrix = matrix[:n_groups] if axis else matrix[:, :n_groups]
            own = graded.scores[some if graded.places is None else graded.places[some]]
            if axis:
                own = own[:, None]
            own_places = graded.offsets[groups] + _counted(matrix > own, axis)
            alike = matrix == own
            if np.count_nonzero(alike) > n_groups:
                self._tied[groups[_counted(alike, axis) > 1]] = True
            if places is None:
                self._codes[own_places] = graded.codes[some]
            else:
                places[some] = own_places

    def _sort(self, groups: Index, block: GroupMatrix, scores: Scores) -> None:
        """Rank the rows of some groups by sorting their scores, whose last bits are replaced by the level."""
        keys = ordered_bits(np.subtract(0.0, scores, dtype=np.float64))  # never -0.0
        keys &= ~self._unlabelled
        keys |= block.taken(self._code_of_row)
        block.fill_behind(keys, _BEHIND)
        keys.sort(axis=1)
        unlike = (keys[:, 1:] ^ keys[:, :-1]).view(np.uint64)  # below 2**bits if neighbours differ only in level
        unlike -= np.uint64(1)  # 0 becomes the largest number
        close = np.flatnonzero(unlike < self._unlabelled)
        if close.size:
            self._tied[groups[close // unlike.shape[1]]] = True
        keys &= self._unlabelled
        codes = keys.astype(self._codes.dtype)
        if self._places is None:
            block.put(codes, self._codes)
            return
        n_labelled = self._n_labelled[groups]
        items = segment_rows(self._graded.bounds[groups], n_labelled)
        at = np.flatnonzero(codes.ravel() != self._unlabelled)
        row_starts = np.arange(groups.size) * codes.shape[1]
        self._codes[items] = codes.ravel()[at]
        self._places[items] = at + np.repeat(block.starts[:, 0] - row_starts, n_labelled)

    def _by_place(self, places: Index, codes: Codes) -> tuple[Index, Codes]:
        """Return places in ascending order, each with its level."""
        keys = places << self._bits
        keys |= codes
        keys.sort(kind="stable")  # fast if almost everything is in place
        codes = (keys & self._unlabelled).astype(codes.dtype)
        keys >>= self._bits
        return keys, codes

    def _sorted_part(self, groups: Index) -> SomeLists:
        """Return the lists of some groups in exact order, with equal scores in input order, and correct their items."""
        graded, lengths, n_labelled = self._graded, self._graded.lengths[groups], self._n_labelled[groups]
        offsets, bounds = (np.concatenate([[0], np.cumsum(counts)]) for counts in (lengths, n_labelled))
        rows = segment_rows(graded.offsets[groups], lengths)
        scores = graded.scores[rows]
        order = descending_order(scores, offsets)
        items = segment_rows(graded.bounds[groups], n_labelled)
        codes, places = graded.codes[items], None
        if graded.places is None or self._places is None:
            codes = codes[order]
        else:
            shifts = np.repeat(graded.offsets[groups] - offsets[:-1], n_labelled)
            place_of_row = np.empty_like(order)
            place_of_row[order] = np.arange(order.size)
            places, codes = self._by_place(place_of_row[graded.places[items] - shifts], codes)
            self._places[items] = places + shifts
        self._codes[items] = codes
        lists = GradedList(scores[order], offsets, graded.rows(rows[order]), places, codes, bounds, None)
        return SomeLists(groups, lists)


def _is_descending(scores: Scores) -> bool:
    """Return whether no row of a matrix increases; the first row usually decides."""
    return all(not (some[:, 1:] > some[:, :-1]).any() for some in (scores[:1], scores))


def _counted(flags: Mask, axis: int) -> NDArray[np.unsignedinteger[Any]]:
    """Return how many flags are set along an axis, summed in the smallest (so the fastest) sufficient integer type."""
    counts: NDArray[np.unsignedinteger[Any]] = np.add.reduce(
        flags.view(np.uint8), axis=axis, dtype=np.min_scalar_type(flags.shape[axis])
    )
    return counts


T = TypeVar("T")
Number = TypeVar("Number", np.int64, np.float64)

SCORED = ("score_type", "unjudged", "negative", "label_type", "gain", "arithmetic")
"""The axes that change sums over a list, besides the discount and the cutoff."""


class Lists:
    """One run with its labels, as some metrics see them; each view is computed once.

    ``metrics``: these metrics. ``missing`` and ``extra``: bool, shape (n_groups,), the groups missing from the run and
    those missing from the labels. ``reach``: the largest cutoff of the metrics that depend on the order, None if one
    of them has no cutoff.
    """

    def __init__(self, judged: Judged, metrics: Sequence[Metric]) -> None:
        refuse_external(metrics)
        self.metrics = metrics
        self.levels = GradeLevels.of(judged.labels.grades)
        # an average is a sum over the ranks of all that tie; with a tie order, the order of the rows counts
        by_run = judged.ranking.tie_order is not None or any(metric["ties"] == "average" for metric in metrics)
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
        """How many items the run has in each group of the group axis, -1 if the group is missing from the run."""
        return np.append(np.diff(self.judged.ranking.offsets), -1)[self.judged.run_groups]

    def cutoffs(self, metric: Metric, longest: int) -> list[int]:
        """Return the cutoffs of all metrics with the same sums as this one, ascending, up to the longest list.

        There is at least one cutoff, and all are at least 1.
        """
        asked = self._cutoffs.get(family(metric), {metric.cutoff})
        return sorted({effective(cutoff, longest) for cutoff in asked})

    @cached_property
    def _longest(self) -> int:
        """How many items the longest list of the run has, or of the labels if that is longer."""
        sides = (self.judged.ranking.offsets, self.judged.labels.offsets)
        return max(int(np.diff(offsets).max(initial=0)) for offsets in sides)

    def values_key(self, metric: Metric) -> Hashable:
        """Return a key that metrics with the same values share: everything except a cutoff that has no effect."""
        cutoff = metric.cutoff
        cuts = cutoff is not None and (cutoff < self._longest or metric["ideal"] == "constant")
        if metric.measure in CUMULATED and not cuts:
            cutoff = None
        return metric.measure, cutoff, tuple(metric[axis.name] for axis in AXES)

    def graded(self, metric: Metric) -> GradedList:
        """Return the lists that a metric ranks."""
        return self.once(self.list_key(metric), lambda: self._graded(metric))

    def list_key(self, metric: Metric) -> Hashable:
        """Return a key that metrics with the same lists share."""
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
        """Return each distinct grade in the label type of a metric.

        Raises: MetricError, with group and item, for a label outside the metric's domain.
        """
        grades = typed_grades(metric, self.levels.levels)
        if metric["negative"] == "error" and (grades < 0).any():
            where = self.where(grades < 0)
            raise MetricError(
                f"{where} is below 0", where=metric.requested_as, advice="use negative=zero to give it no gain"
            )
        outside = _outside(metric["label_domain"], grades)
        if outside.any():
            what, advice = f"outside label_domain={metric['label_domain']}", "correct it, or use another metric"
            if metric["label_domain"] == "int0to1":
                tool, at = dialect_of(metric), "" if metric.cutoff is None else f"@{metric.cutoff}"
                what = f"neither 0 nor 1, and {tool.tool if tool else 'it'} takes no other labels here"
                graded = f"ndcg{at}" if tool is None else tool.text(metric.cutoff or DEFAULT_CUTOFF)
                ours = f"{metric.measure}(rel=1){at}"
                advice = f"use {graded}, which takes grades, or {ours}, to which all from 1 are relevant"
            raise MetricError(f"{self.where(outside)} is {what}", where=metric.requested_as, advice=advice)
        return grades

    def label_codes(self, metric: Metric) -> tuple[Codes, Index]:
        """Return the level of each label that a metric's ideal may use, and the bounds of each label group."""
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
        """Return how many items of each level each group has, in its list or in its labels: see ``level_counts``.

        Return None if most of these counts would be 0.
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
        """Return numbers of the run's groups for the groups of the group axis, 0 for groups missing from the run."""
        return _aligned(of_run, self.judged.run_groups, self.missing)

    def of_run(self, of_axis: NDArray[Number]) -> NDArray[Number]:
        """Return numbers of the groups of the group axis for the groups of the run."""
        numbers = np.zeros(self.judged.ranking.n_groups, dtype=of_axis.dtype)
        present = ~self.missing
        numbers[self.judged.run_groups[present]] = of_axis[present]
        return numbers

    def of_labels(self, of_label_groups: Floats) -> Floats:
        """Return numbers of the label groups for the groups of the group axis, 0 for a group without labels."""
        return _aligned(of_label_groups, self.judged.label_groups, self.extra)


def refuse_groups(metric: Metric, keys: Keys, refused: Mask, what: str, advice: str) -> None:
    """Raise MetricError if any group is refused; ``{group}`` in ``what`` stands for the first of them."""
    if refused.any():
        named = what.replace("{group}", f"group {keys[int(np.argmax(refused))]!r}")
        raise MetricError(named, where=metric.requested_as, advice=advice)


def family(metric: Metric) -> Hashable:
    """Return a key that metrics share whose sums differ only in the cutoff."""
    return metric.discount, *(metric[axis] for axis in SCORED)


def effective(cutoff: int | None, longest: int) -> int:
    """Return the effective cutoff for a list of some length: from 1 to that length."""
    return max(longest if cutoff is None else min(cutoff, longest), 1)


def _aligned(numbers: NDArray[Number], places: Index, absent: Mask) -> NDArray[Number]:
    if not absent.any():
        return numbers[places]
    aligned = np.append(numbers, numbers.dtype.type(0))[places]
    aligned[absent] = 0
    return aligned


def _only(codes: Codes, offsets: Index, kept: Mask) -> tuple[Codes, Index]:
    """Return the items of some levels, and the bounds of each group among them."""
    at = np.flatnonzero(kept[codes])
    return codes[at], np.searchsorted(at, offsets)


def _outside(domain: str, grades: Floats) -> Mask:
    """Return which grades are outside a label domain."""
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

"""The lists that a metric ranks, with grades stored as levels; the gain of a grade and the discount of a rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.metrics.language.axes import gain_table
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings import Floats, Index, Mask
from ndcg_tracker.rankings.grouping import group_codes, segment_rows
from ndcg_tracker.rankings.join import JudgedItems
from ndcg_tracker.rankings.keys import BLOCK
from ndcg_tracker.rankings.ranking import Ranking


def gains(gain: str, grades: Floats) -> Floats:
    """Return the gain of each grade.

    ``linear``: l. ``exp2``: 2**l - 1. ``binary``: 1 if l > 0, else 0. ``NAME>=r``: the same if l >= r, else 0.
    A table: its entry; a grade that is not in the table is its own gain.

    Parameters: ``gain``, a value of the axis; ``grades``, float64, any shape. Returns: float64 of the same shape,
    +inf if 2**l overflows. Source: linear: Jarvelin and Kekalainen, TOIS 20(4), 2002, eq. 1; exp2: Burges et al.,
    ICML 2005, sec. 4; a table: trec_eval ``-m ndcg.1=3.5,2=9``; a lowest grade: ranx ``ndcg-l2``.

    >>> gains("exp2", np.array([0.0, 1.0, 3.0])).tolist(), gains("{1:5}", np.array([1.0, 2.0])).tolist()
    ([0.0, 1.0, 7.0], [5.0, 2.0])
    """
    table = gain_table(gain)
    if table is not None:
        return np.array([table.get(float(grade), float(grade)) for grade in grades.ravel()]).reshape(grades.shape)
    name, _, least = gain.partition(">=")
    if name == "exp2":
        with np.errstate(over="ignore"):
            worth = np.exp2(grades) - 1.0
    elif name == "binary":
        worth = (grades > 0).astype(np.float64)
    else:
        worth = grades.astype(np.float64)
    return np.where(grades >= float(least), worth, 0.0) if least else np.asarray(worth)


def typed_grades(metric: Metric, grades: Floats) -> Floats:
    """Return grades in the type that a metric's ``label_type`` names."""
    if metric["label_type"] == "f32":
        return grades.astype(np.float32).astype(np.float64)
    return np.trunc(grades) if metric["label_type"] == "int" else grades


def worth_of_grades(metric: Metric, grades: Floats) -> Floats:
    """Return what grades gain under a metric's ``gain``, ``negative`` and ``arithmetic``, however large."""
    worth = gains(metric["gain"], grades)
    if metric["negative"] != "keep":
        worth[grades < 0] = 0.0
    return in_precision_of(metric, worth)


def discounts(discount: str, n_ranks: int) -> Floats:
    """Return the discount of rank 0 (unused, 0) to ``n_ranks``.

    ``log2``: 1/log2(i + 1). ``ln``: 1/ln(i + 1). ``position``: 1/i. ``jkB``: 1 up to rank B, then 1/log_B(i).
    ``rbpP``: (1 - P) x P**(i - 1). ``none``: 1.

    Parameters: ``discount``, a value of the axis; ``n_ranks`` >= 0. Returns: float64, shape (n_ranks + 1,).
    Source: log2: Burges et al., ICML 2005, sec. 4; jkB: Jarvelin and Kekalainen, TOIS 20(4), 2002, eq. 2; position:
    CatBoost, ``denominator=Position``; rbpP: Moffat and Zobel, TOIS 27(1), 2008, eq. 2.

    >>> discounts("log2", 3).round(4).tolist(), discounts("jk2", 4).round(4).tolist()
    ([0.0, 1.0, 0.6309, 0.5], [0.0, 1.0, 1.0, 0.6309, 0.5])
    """
    ranks = np.arange(1, n_ranks + 1, dtype=np.float64)
    if discount == "log2":
        weights = 1.0 / np.log2(ranks + 1.0)
    elif discount == "ln":
        weights = 1.0 / np.log(ranks + 1.0)
    elif discount == "position":
        weights = 1.0 / ranks
    elif discount.startswith("rbp"):
        persistence = float(discount.removeprefix("rbp"))
        weights = (1.0 - persistence) * persistence ** (ranks - 1.0)
    elif discount.startswith("jk"):
        base = float(discount.removeprefix("jk"))
        weights = np.ones(n_ranks)
        late = ranks > base
        weights[late] = np.log(base) / np.log(ranks[late])
    else:
        weights = np.ones(n_ranks)
    return np.concatenate([[0.0], weights])


def in_precision_of(metric: Metric, numbers: Floats) -> Floats:
    """Return numbers rounded to single precision if a metric needs that, else unchanged: float64."""
    return numbers.astype(np.float32).astype(np.float64) if metric["arithmetic"] == "f32" else numbers


def rank_weights(metric: Metric, n_ranks: int) -> Floats:
    """Return the weight of each rank under a metric: float64, shape (n_ranks + 1,), entry r for rank r."""
    return in_precision_of(metric, discounts(metric.discount, n_ranks))


Codes = NDArray[np.integer[Any]]
"""The level of each item: one byte each if there are few levels, because every pass reads them all."""

_BYTE = 256
_FIELD = 16  # bits of one count, of which four share a word
_FIELDS = 4
_MOST_PACKED = 2 * _FIELDS + 1


Scores = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class GradeLevels:
    """The distinct grades, and the one that each label has.

    ``levels``: float64, ascending. ``codes``: integer, shape (n_labels,), ``levels[codes]`` are the grades.
    """

    levels: Floats
    codes: Codes

    @classmethod
    def of(cls, grades: Floats) -> GradeLevels:
        """Return the levels of some grades: by counting if the grades are small integers, else by sorting.

        >>> found = GradeLevels.of(np.array([2.0, 0.0, 2.0]))
        >>> found.levels.tolist(), found.codes.tolist()
        ([0.0, 2.0], [1, 0, 1])
        """
        small = _as_bytes(grades)
        if small is not None:
            present = _present(small)
            if present.size == int(present[-1]) + 1:
                return cls(present.astype(np.float64), small)
            code_of = np.zeros(_BYTE, dtype=np.uint8)
            code_of[present] = np.arange(present.size)
            return cls(present.astype(np.float64), code_of[small])
        ascending = np.sort(grades)  # np.unique also sorts places, which takes several times as long
        levels = ascending[np.append(True, ascending[1:] != ascending[:-1])] if ascending.size else ascending
        codes = np.searchsorted(levels, grades)
        return cls(levels, codes.astype(np.uint8) if levels.size < _BYTE else codes)


def _as_bytes(grades: Floats) -> NDArray[np.uint8] | None:
    """Return the grades as bytes, None if one of them is not an integer from 0 to 255."""
    if not grades.size:
        return None
    small = np.empty(grades.size, dtype=np.uint8)
    for first in range(0, grades.size, BLOCK):
        block, as_bytes = grades[first : first + BLOCK], small[first : first + BLOCK]
        with np.errstate(invalid="ignore"):  # a grade that no byte can hold becomes another number
            np.copyto(as_bytes, block, casting="unsafe")
        if not (as_bytes == block).all():
            return None
    return small


def _present(small: NDArray[np.uint8]) -> Index:
    """Return which bytes occur, ascending: for few distinct bytes, comparing is faster than counting."""
    largest = int(small.max())
    if largest > _BYTE // 8:
        return np.flatnonzero(np.bincount(small))
    return np.array([value for value in range(largest + 1) if (small == value).any()], dtype=np.int64)


def level_counts(codes: Codes, offsets: Index, n_levels: int) -> Index:
    """Return how many items of each level each group has: int64, shape (n_levels, n_groups).

    Parameters: ``codes``, the level of each item, group by group; ``offsets``: int64, shape (n_groups + 1,).

    >>> level_counts(np.array([1, 0, 1, 1]), np.array([0, 3, 3, 4]), 2).tolist()
    [[1, 0, 0], [2, 0, 1]]
    """
    lengths = np.diff(offsets)
    if n_levels > _MOST_PACKED or int(lengths.max(initial=0)) >= 1 << _FIELD:
        cells = group_codes(offsets) * n_levels + codes
        counted = np.bincount(cells, minlength=lengths.size * n_levels)
        return np.ascontiguousarray(counted.reshape(lengths.size, n_levels).T)
    counts = np.zeros((n_levels, lengths.size), dtype=np.int64)
    filled = np.flatnonzero(lengths)
    for first in range(1, n_levels, _FIELDS):
        levels = range(first, min(first + _FIELDS, n_levels))
        packed = _packed_counts(codes, offsets, filled, n_levels, levels)
        for level in levels:
            counts[level, filled] = (packed >> _FIELD * (level - first)) & ((1 << _FIELD) - 1)
    counts[:1] = lengths - counts[1:].sum(axis=0)
    return counts


def _packed_counts(codes: Codes, offsets: Index, filled: Index, n_levels: int, levels: range) -> NDArray[np.uint64]:
    """Return the counts of up to four levels side by side in one word per group that has items: uint64."""
    worth = np.zeros(n_levels, dtype=np.uint64)
    worth[levels] = [1 << _FIELD * (level - levels[0]) for level in levels]
    packed = np.zeros(filled.size, dtype=np.uint64)
    starts = offsets[filled]
    n_groups = filled.size
    first = 0
    while first < n_groups:
        last = min(max(int(np.searchsorted(starts, starts[first] + BLOCK)), first + 1), n_groups)
        low = int(starts[first])
        high = int(starts[last]) if last < n_groups else int(offsets[-1])
        packed[first:last] = np.add.reduceat(worth.take(codes[low:high]), starts[first:last] - low)
        first = last
    return packed


@dataclass(frozen=True, slots=True)
class GainClasses:
    """The levels, grouped by their gain.

    ``of_level``: int64, shape (n_levels,), ascending with the gain. ``gains``: float64, the gain of each class.
    ``levels``: int64, a level of each class. ``unlabelled``: the class of items without a label, -1 if no labelled
    item is in it. ``other_gain``: the gain of an item without a label.
    """

    of_level: Index
    gains: Floats
    levels: Index
    unlabelled: int
    other_gain: float

    @classmethod
    def of(cls, level_gains: Floats, other_gain: float, *, every: bool) -> GainClasses:
        """Return the classes of levels with these gains; ``every``: whether it matters that an item has a label.

        >>> classes = GainClasses.of(np.array([0.0, 5.0, 5.0]), 0.0, every=False)
        >>> classes.of_level.tolist(), classes.gains.tolist(), classes.unlabelled
        ([0, 1, 1], [0.0, 5.0], 0)
        """
        gains, levels, of_level = np.unique(level_gains, return_index=True, return_inverse=True)
        alike = np.flatnonzero(gains == other_gain)
        return cls(of_level, gains, levels, int(alike[0]) if alike.size and not every else -1, other_gain)

    @property
    def key(self) -> tuple[bytes, int]:
        """A key that is equal for classes under which the same spans of equal scores matter."""
        return self.of_level.tobytes(), self.unlabelled

    def of_codes(self, codes: Codes) -> Codes:
        """Return the class of items of some levels."""
        if np.array_equal(self.of_level, np.arange(self.of_level.size)):
            return codes
        return self.of_level.astype(codes.dtype)[codes]


@dataclass(frozen=True)
class GradedList:
    """The lists of a run with the places of their labelled items.

    ``scores``: the scores at each place, never rising within a group. ``offsets``: int64, shape (n_run_groups + 1,).
    ``list_rows``: the row of the ranking at each place, None if place and row are the same. ``places``: int64,
    ascending, the places that have a label, None if all places have one. ``codes``: the level of each of these places.
    ``bounds``: int64, shape (n_run_groups + 1,), which of them are in each group of the run. ``came``: int64, the
    input place of each row of the ranking, None if places of equal score are in input order. ``sorted_part``: for an
    unsorted run, the groups in which ties can matter, because only these have scores and rows; None if all groups
    have them.
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

        These are the first places, or all places in lists in which the cutoff falls between equal scores.
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
    """Some groups of a run (``groups``: int64, ascending) and the lists of only these groups."""

    groups: Index
    lists: GradedList


def graded_list(
    judged: JudgedItems, label_codes: Codes, *, single: bool, drop_unjudged: bool, negative: Mask | None
) -> GradedList:
    """Return the lists of a run, in the order of its rows.

    Parameters: ``label_codes``: the level of each label; ``single``: whether scores are compared in single precision;
    ``drop_unjudged``: whether to remove items without a label; ``negative``: bool, which levels to remove, or None.
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

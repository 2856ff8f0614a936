"""Two sets of labels side by side, and what a comparison of runs finds under each of several."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ndcg_tracker.comparison.results import Comparison, LabelSetRef, Verdict
from ndcg_tracker.notes import Note
from ndcg_tracker.rankings.join import matching_rows, places_of
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.rankings.types import Floats, Index

NAMED_GROUPS = 10
"""So many of the groups that only one label set has are named."""


@dataclass(frozen=True, slots=True)
class GradeFrequency:
    """How many labels have a grade."""

    grade: float
    n: int


@dataclass(frozen=True, slots=True)
class LabelVersion:
    """A version of a dataset's labels; ``n_items``: different ids of items. ``n_runs``: evaluated under it."""

    dataset: str
    version: int
    digest: str
    created_at_utc: str
    source: str | None
    n_groups: int
    n_items: int
    n_labels: int
    grades: tuple[GradeFrequency, ...]
    n_runs: int


@dataclass(frozen=True, slots=True)
class GradeCount:
    """How many pairs of group and item have one grade in the first labels and one in the second, None for no label."""

    first: float | None
    second: float | None
    n: int


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A label whose grade differs between two label sets."""

    group: str
    item: str
    first: float
    second: float


@dataclass(frozen=True, slots=True)
class SetSizes:
    """How many of some things two sets have: each, both, and only one."""

    first: int
    second: int
    in_both: int

    @property
    def gone(self) -> int:
        """How many only the first has."""
        return self.first - self.in_both

    @property
    def new(self) -> int:
        """How many only the second has."""
        return self.second - self.in_both


@dataclass(frozen=True, slots=True)
class LabelsDiff:
    """Two label sets of a dataset.

    ``labels``: pairs of group and item. ``n_equal``: those in both that have one grade. ``grades``: how often each
    grade of the first met each of the second, by grade, unlabelled last. ``changes``: labels whose grade differs, the
    largest difference first. ``gone_groups`` and ``new_groups``: some of the groups that only one has.
    """

    dataset: str
    first: LabelSetRef
    second: LabelSetRef
    groups: SetSizes
    labels: SetSizes
    n_equal: int
    grades: tuple[GradeCount, ...]
    changes: tuple[GradeChange, ...]
    gone_groups: tuple[str, ...] = ()
    new_groups: tuple[str, ...] = ()

    @property
    def agreement(self) -> float | None:
        """Which share of the labels in both has one grade, None where no pair is in both."""
        return self.n_equal / self.labels.in_both if self.labels.in_both else None


def labels_diff(
    dataset: str, sets: tuple[LabelSetRef, LabelSetRef], first: LabelLists, second: LabelLists, *, top: int = 10
) -> LabelsDiff:
    """Return what differs between two label sets; ``top``: how many changed labels to keep.

    >>> refs = LabelSetRef(1, "a"), LabelSetRef(2, "b")
    >>> keys = Keys.from_strings
    >>> old = LabelLists.from_rows(keys("qqr"), keys("abc"), np.array([1.0, 0.0, 2.0]))
    >>> new = LabelLists.from_rows(keys("qqs"), keys("abd"), np.array([1.0, 2.0, 1.0]))
    >>> found = labels_diff("shop", refs, old, new)
    >>> found.labels.in_both, found.agreement, found.changes[0].item, found.new_groups
    (2, 0.5, 'b', ('s',))
    """
    rows, others = matching_rows(first, second)
    before, after = first.grades[rows], second.grades[others]
    differs = np.flatnonzero(before != after)
    gone = np.flatnonzero(places_of(first.group_keys, second.group_keys) < 0)
    new = np.flatnonzero(places_of(second.group_keys, first.group_keys) < 0)
    return LabelsDiff(
        dataset,
        *sets,
        SetSizes(first.n_groups, second.n_groups, first.n_groups - gone.size),
        SetSizes(first.n_items, second.n_items, rows.size),
        int(rows.size - differs.size),
        _grade_counts(first.grades, second.grades, rows, others),
        _changes(first, rows[differs], before[differs], after[differs], top),
        _named(first.group_keys, gone),
        _named(second.group_keys, new),
    )


def _grade_counts(first: Floats, second: Floats, rows: Index, others: Index) -> tuple[GradeCount, ...]:
    """Return how often each grade met each; NaN stands for no label and sorts last."""
    only_first, only_second = np.delete(first, rows), np.delete(second, others)
    one = np.concatenate([first[rows], only_first, np.full(only_second.size, np.nan)])
    other = np.concatenate([second[others], np.full(only_first.size, np.nan), only_second])
    levels, codes = np.unique(np.concatenate([one, other]), return_inverse=True)
    pairs, counts = np.unique(codes[: one.size] * levels.size + codes[one.size :], return_counts=True)
    grades = [None if np.isnan(level) else float(level) for level in levels]
    return tuple(
        GradeCount(grades[pair // levels.size], grades[pair % levels.size], n)
        for pair, n in zip(pairs.tolist(), counts.tolist(), strict=True)
    )


def _changes(first: LabelLists, rows: Index, before: Floats, after: Floats, top: int) -> tuple[GradeChange, ...]:
    """Return the labels that changed most, equal changes by group and item."""
    change = np.abs(after - before)
    if rows.size > top > 0:
        least = np.partition(change, rows.size - top)[rows.size - top]
        kept = np.flatnonzero(change >= least)  # all that tie with the last one: their ids decide
        rows, before, after, change = rows[kept], before[kept], after[kept], change[kept]
    groups = first.group_keys.take(np.searchsorted(first.offsets, rows, "right") - 1).to_list()
    items = first.item_keys.take(rows).to_list()
    found = sorted(zip((-change).tolist(), groups, items, before.tolist(), after.tolist(), strict=True))
    return tuple(GradeChange(*one[1:]) for one in found[:top])


def _named(keys: Keys, places: Index) -> tuple[str, ...]:
    return tuple(keys.take(places[:NAMED_GROUPS]).to_list())


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What was found for a metric of a candidate under each version of the labels, oldest first."""

    candidate: str
    metric: str
    verdicts: tuple[tuple[int, Verdict], ...]

    @property
    def changes(self) -> bool:
        """Whether one version of the labels gives another verdict than the others."""
        return len({verdict for _, verdict in self.verdicts}) > 1


@dataclass(frozen=True, slots=True)
class VersionsComparison:
    """A baseline compared with its candidates under every version of the labels.

    ``comparisons``: by candidate, then by version, oldest first; p-values are corrected as under one version.
    ``not_evaluated``: candidates and the versions under which they or the baseline lack the metrics, with the commands
    that add them (as notes).
    """

    comparisons: tuple[Comparison, ...]
    not_evaluated: tuple[tuple[str, int], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def conclusions(self) -> tuple[Conclusion, ...]:
        """What was found for each candidate and metric that is tested."""
        found: dict[tuple[str, str], list[tuple[int, Verdict]]] = {}
        for one in self.comparisons:
            for metric in one.metrics:
                if metric.verdict is not None:
                    told = found.setdefault((one.candidate.name, metric.metric), [])
                    told.append((one.label_set.version, metric.verdict))
        return tuple(Conclusion(*of, tuple(verdicts)) for of, verdicts in found.items())

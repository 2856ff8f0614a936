"""One run: its means with their intervals, how much of it is judged, its hardest groups, and slices of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ndcg_tracker.compare.results import LabelSetRef
from ndcg_tracker.compare.slices import numbered
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.t_test import limited, paired_t, weighted_t
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import Text


@dataclass(frozen=True, slots=True)
class ShownMean:
    """A metric of the run under one version of the labels.

    ``ci``: 95%, None if the mean is not that of its groups, or if fewer than two of them are known. ``judge``: who gave
    the labels.
    """

    metric: str
    requested_as: str
    label_set_version: int
    judge: str
    mean: float | None
    ci: tuple[float, float] | None
    n_groups: int
    n_missing: int
    n_undefined: int


@dataclass(frozen=True, slots=True)
class ShownCoverage:
    """The share of the first ``cutoff`` items of all lists with a label; None: of the complete lists."""

    label_set_version: int
    cutoff: int | None
    judged_share: float


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """A group and its value; ``query``: its stored text, None without any."""

    group: str
    value: float
    query: Text | None = field(default=None, metadata={"if_any": True})


@dataclass(frozen=True, slots=True)
class ShownSlice:
    """The groups with one value of an attribute (None: without a value): their number, their mean and its interval."""

    value: str | None
    n: int
    mean: float | None
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ShownRun:
    """One run with its facts, its means and its groups.

    ``by_group``: the metric whose groups ``hardest`` and ``slices`` show, None if the run has no mean; ``label_set``:
    its labels. ``attribute``: of the slices.
    """

    run: str
    run_id: int
    dataset: str
    created_at_utc: str
    source: str | None
    git_commit: str | None
    parameters: Mapping[str, object]
    tags: Mapping[str, object]
    aliases: tuple[str, ...]
    n_groups: int
    n_items: int
    digest: str
    pruned_at_utc: str | None
    sampled: str | None
    collapsed: str | None
    documents_in_ten: float | None
    tie_order: str | None
    groups_share: str | None
    evaluations: tuple[ShownMean, ...]
    coverages: tuple[ShownCoverage, ...]
    by_group: ShownMean | None
    hardest: tuple[ShownGroup, ...]
    attribute: str | None
    slices: tuple[ShownSlice, ...]
    notes: tuple[Note, ...] = ()
    label_set: LabelSetRef | None = None


def mean_interval(
    values: Floats, weights: Floats | None = None, limits: tuple[float, float] | None = None
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the mean of some groups and its 95% t interval, which is None for fewer than two groups.

    Parameters: ``values``: float64, shape (n,), finite. ``weights``: of the same shape, >= 0. ``limits``: the range of
    values.

    >>> mean, ci = mean_interval(np.array([0.0, 0.25, 0.5, 0.25]), limits=(0.0, 1.0))
    >>> mean, round(ci[0], 4), round(ci[1], 4)
    (0.25, 0.0, 0.5748)
    """
    if weights is not None:
        values, weights = values[weights > 0], weights[weights > 0]
    if not values.size:
        return None, None
    test = paired_t(values) if weights is None else weighted_t(values, weights)
    return test.mean, limited(test.ci, limits)


def hardest_places(values: Floats, n: int, direction: Direction = "higher") -> Index:
    """Return the places of the ``n`` worst values, the worst first; of equal ones the first.

    >>> hardest_places(np.array([0.5, 0.0, 1.0, 0.0]), 3).tolist()
    [1, 3, 0]
    """
    return np.argsort(values if direction == "higher" else -values, kind="stable")[:n]


def run_slices(
    values: Floats,
    names: Sequence[str | None],
    weights: Floats | None = None,
    limits: tuple[float, float] | None = None,
) -> tuple[ShownSlice, ...]:
    """Return the mean of each slice of groups, the largest first, equal ones by value, groups without a value last.

    Parameters: ``names``: the value of the attribute of each group. The others: see ``mean_interval``.

    >>> [(row.value, row.n, row.mean) for row in run_slices(np.array([0.5, 1.0, 0.0]), ["de", "de", None])]
    [('de', 2, 0.75), (None, 1, 0.0)]
    """
    (different, codes), slices = numbered(names), list[ShownSlice]()
    for code, name in enumerate(different):
        of_slice = codes == code
        some = None if weights is None else weights[of_slice]
        n = int((of_slice if some is None else some > 0).sum())
        slices.append(ShownSlice(name, n, *mean_interval(values[of_slice], some, limits)))
    return tuple(sorted(slices, key=lambda row: (row.value is None, -row.n, row.value or "")))

"""The comparison slice by slice: where did the runs differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ndcg_tracker.comparison.inference import GROUPS_ONLY, Chance, low_information
from ndcg_tracker.comparison.results import SliceComparison, corrected_verdict
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.statistics.corrections import benjamini_hochberg, holm
from ndcg_tracker.statistics.t_test import checked_weights, limited


@dataclass(frozen=True, slots=True)
class Slicing:
    """By which attribute to slice, and its value for each paired group of the first metric, None for none."""

    attribute: str
    values: Sequence[str | None]


def compare_slices(
    baseline: Floats,
    candidate: Floats,
    values: Sequence[str | None],
    weights: Floats | None = None,
    *,
    limits: tuple[float, float] | None = None,
    chance: Chance = GROUPS_ONLY,
    direction: Direction = "higher",
) -> tuple[SliceComparison, ...]:
    """Return the comparison of two runs within each slice of groups that share the value of an attribute.

    Benjamini and Hochberg's q-values control the share of false ones among the slices listed, Holm's p-values the
    chance of a single false one, both over all slices with a test.

    Parameters: ``baseline``, ``candidate``: float64, shape (n,), finite, the paired results. ``values``: n of them,
    None where a group has none. ``weights``: float64, shape (n,), finite, >= 0. ``limits``: between which numbers any
    difference lies, if known. ``chance``: repeats or clusters of all groups. ``direction``: which values are better.
    Returns: the largest slice first, equal ones by value, groups without a value last.
    Raises: ValueError for any other number or shape.

    >>> rows = compare_slices(np.zeros(4), np.array([0.5, 0.25, 0.0, 0.0]), ["de", "de", "fr", None])
    >>> [(row.value, row.n, row.delta, row.verdict) for row in rows]
    [('de', 2, 0.375, 'no_difference_detected'), ('fr', 1, 0.0, 'identical'), (None, 1, 0.0, 'identical')]
    """
    if not baseline.shape == candidate.shape == (len(values),):
        raise ValueError(
            f"baseline, candidate and values must have one length, not {baseline.shape}, {candidate.shape} and "
            f"{len(values)}"
        )
    if weights is not None:
        checked_weights(baseline, weights)
    if not values:
        return ()
    numbers: dict[str | None, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int64, len(values))
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(numbers)))
    rows = []
    for value, places in zip(numbers, np.split(order, ends[:-1]), strict=True):
        of_slice = None if weights is None else weights[places]
        row = _compared(value, baseline[places], candidate[places], of_slice, chance.of(places))
        row = replace(row, ci=limited(row.ci, limits))
        rows.append(row if direction == "higher" else replace(row, wins=row.losses, losses=row.wins))
    return corrected_slices(rows, direction)


def corrected_slices(slices: Sequence[SliceComparison], direction: Direction = "higher") -> tuple[SliceComparison, ...]:
    """Return slices with p-values corrected over all of them, in the order of ``compare_slices``."""
    rows = sorted(slices, key=lambda row: (row.value is None, -row.n, row.value or ""))
    p_values = [row.p_value for row in rows]
    corrected = zip(rows, benjamini_hochberg(p_values), holm(p_values), strict=True)
    sign = 1 if direction == "higher" else -1
    return tuple(
        replace(
            row,
            q_value=q,
            p_adjusted=p,
            verdict=corrected_verdict(row.verdict, None if row.delta is None else sign * row.delta, p) or row.verdict,
        )
        for row, q, p in corrected
    )


def worst_first(rows: Sequence[SliceComparison], direction: Direction = "higher") -> tuple[SliceComparison, ...]:
    """Return slices by delta, the worst first; those without one come last.

    >>> rows = compare_slices(np.zeros(4), np.array([0.5, -0.25, 0.0, 0.0]), ["de", "fr", "fr", None])
    >>> [row.value for row in worst_first(rows)]
    ['fr', None, 'de']
    """
    sign = 1 if direction == "higher" else -1
    return tuple(
        sorted(
            rows,
            key=lambda row: (row.delta is None, sign * (row.delta or 0.0), -row.n, row.value is None, row.value or ""),
        )
    )


def _compared(
    value: str | None, baseline: Floats, candidate: Floats, weights: Floats | None, chance: Chance
) -> SliceComparison:
    """Return one slice as if it were the only one."""
    if weights is not None:
        counts = weights > 0
        baseline, candidate, weights = baseline[counts], candidate[counts], weights[counts]
        chance = chance.of(counts)
    delta = candidate - baseline
    test, _ = chance.test(delta, weights)
    wins, losses = int((delta > 0).sum()), int((delta < 0).sum())
    inferred = wins + losses > 0
    return SliceComparison(
        value=value,
        n=test.n,
        baseline=float(np.average(baseline, weights=weights)) if test.n else None,
        candidate=float(np.average(candidate, weights=weights)) if test.n else None,
        delta=test.mean,
        ci=test.ci if inferred else None,
        wins=wins,
        ties=test.n - wins - losses,
        losses=losses,
        p_value=test.p_value if inferred else None,
        q_value=None,
        p_adjusted=None,
        verdict="no_difference_detected" if inferred else "identical" if test.n else "not_comparable",
        warning=low_information(chance.information(delta, weights)),
    )

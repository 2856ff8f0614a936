"""The comparison slice by slice: the attributes of groups to slice by, and where the runs differ."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ndcg_tracker.compare.inference import GROUPS_ONLY, Chance, low_information, untested
from ndcg_tracker.compare.results import ALPHA, SliceComparison, Verdict, corrected_verdict
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.metric import Direction
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.statistics.many_tests import benjamini_hochberg, holm
from ndcg_tracker.statistics.t_test import Information, TTest, checked_weights, limited
from ndcg_tracker.words.notes import Note

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction


@dataclass(frozen=True, slots=True)
class Slicing:
    """The attribute to slice by, and its value for each paired group of the first metric, None for no value."""

    attribute: str
    values: Sequence[str | None]

    def places(self, weights: Floats | None = None) -> Iterator[tuple[str | None, Index]]:
        """Yield each value with the places of its groups, without groups of weight 0."""
        places_of: dict[str | None, list[int]] = {}
        for place, value in enumerate(self.values):
            if weights is None or weights[place] > 0:
                places_of.setdefault(value, []).append(place)
        for value, listed in places_of.items():
            yield value, np.array(listed)


@dataclass(frozen=True, slots=True)
class SliceTest:
    """The test of the mean difference in one slice, with the information that the differences carry.

    ``is_same``: whether the lists of all its groups are known to be the same.
    """

    attribute: str
    value: str | None
    test: TTest
    information: Information
    is_same: bool = False

    @property
    def p_value(self) -> float | None:
        """The p-value of the t-test, or of the sign test where all differences are the same.

        >>> test = Chance().test(np.full(10, -1.0), None)[0]
        >>> SliceTest("product", "bike light", test, Information(10, 10, 0.0)).p_value
        0.001953125
        """
        if self.test.p_value is None and self.test.standard_error is not None and self.test.mean:
            return 2.0 ** (1 - self.information.n)
        return self.test.p_value


@dataclass(frozen=True, slots=True)
class RegressedSlice:
    """A slice that regressed by itself.

    ``value``: of the attribute, None for the groups without one. ``n``: its groups. ``delta``: their (weighted) mean
    difference. ``p_adjusted``: Holm-corrected. ``low_information``: whether so few of its groups differ that the test
    may err.
    """

    attribute: str
    value: str | None
    n: int
    delta: float
    p_adjusted: float
    low_information: bool


def slice_tests(
    gain: Floats, slicing: Slicing, weights: Floats | None = None, *, chance: Chance = GROUPS_ONLY
) -> list[SliceTest]:
    """Return the test of each slice. Parameters: see ``compare_slices``."""
    tests = []
    for value, places in slicing.places(weights):
        own, w, of_slice = gain[places], None if weights is None else weights[places], chance.of(places)
        test, _ = of_slice.test(own, w)
        tests.append(SliceTest(slicing.attribute, value, test, of_slice.information(own, w)))
    return tests


def regressed_slices(slices: Sequence[SliceTest], *, direction: Direction = "higher") -> tuple[RegressedSlice, ...]:
    """Return the slices that regressed by the test of ``compare_slices``, the worst first, of low information last.

    Parameters: ``slices``: their differences are gains. ``direction``: which values are better.

    >>> by = Slicing("product", ["tent"] * 10 + ["bike light"] * 10)
    >>> rows = regressed_slices(slice_tests(np.repeat([0.125, -0.5], 10), by))
    >>> [(row.value, row.delta, row.low_information) for row in rows]
    [('bike light', -0.5, True)]
    """
    p_values = holm([of_slice.p_value for of_slice in slices])
    sign = 1.0 if direction == "higher" else -1.0
    regressed = [
        RegressedSlice(of_slice.attribute, of_slice.value, of_slice.test.n, sign * mean, p, of_slice.information.is_low)
        for of_slice, p in zip(slices, p_values, strict=True)
        if p is not None and p < ALPHA and (mean := of_slice.test.mean or 0.0) < 0
    ]
    return tuple(
        sorted(regressed, key=lambda row: (row.low_information, sign * row.delta, row.attribute, row.value or ""))
    )


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
    verdict, warning = tested(test, chance.information(delta, weights), inferred=inferred)
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
        verdict=verdict,
        warning=warning,
    )


def tested(test: TTest, information: Information, *, inferred: bool) -> tuple[Verdict, Note | None]:
    """Return the verdict on a slice before any correction, and its warning; ``inferred``: whether a group differs.

    >>> tested(Chance().test(np.full(2, 0.5), None)[0], Information(2, 2, 0.0), inferred=True)
    ('not_comparable', Note(kind='same_difference', facts={'n': 2, 'has_p': False}, command=()))
    """
    if inferred and test.p_value is None:
        return "not_comparable", untested(information)
    verdict: Verdict = "no_difference_detected" if inferred else "identical" if test.n else "not_comparable"
    return verdict, low_information(information)


@dataclass(frozen=True, slots=True)
class AttributeValues:
    """The values of one attribute, as text, by group id; a group without one is not among them."""

    attribute: str
    value_of: Mapping[int, str]

    def of(self, group_ids: Index) -> Slicing:
        """Return the value of each group, None where it has none."""
        return Slicing(self.attribute, [self.value_of.get(group_id) for group_id in group_ids.tolist()])


def attributes_of(tx: ReadTransaction, dataset_id: int, ids: Index) -> dict[str, list[str | None]]:
    """Return, for each attribute that some of these groups have, its value in each as text, None where it has none."""
    stored = tx.groups.attributes(dataset_id)
    names = sorted({name for attributes in stored.values() for name in attributes})
    of_groups = [stored.get(group_id, {}) for group_id in ids.tolist()]
    return {
        name: [None if of_group.get(name) is None else text_of(of_group[name]) for of_group in of_groups]
        for name in names
        if any(of_group.get(name) is not None for of_group in of_groups)
    }


def attribute_values(tx: ReadTransaction, run: RunRecord, attribute: str) -> AttributeValues:
    """Return the values of an attribute in a run's dataset (InputError where none of its groups has it)."""
    stored = tx.groups.attributes(run.dataset_id)
    value_of = {
        group_id: text_of(attributes[attribute])
        for group_id, attributes in stored.items()
        if attributes.get(attribute) is not None
    }
    if not value_of:
        names = sorted({name for attributes in stored.values() for name in attributes})
        raise InputError(
            f"no group of dataset {run.dataset!r} has an attribute {attribute!r}",
            advice=_advice(attribute, names, run),
        )
    return AttributeValues(attribute, value_of)


_MOST_NAMES = 10


def _advice(attribute: str, names: list[str], run: RunRecord) -> str:
    close = difflib.get_close_matches(attribute, names, n=3, cutoff=0.6)
    if close:
        return f"did you mean {' or '.join(map(repr, close))}?"
    if not names:
        return f"set it with: ndcg-track groups set FILE --dataset {shlex.quote(run.dataset)}"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"the attributes are: {', '.join(names[:_MOST_NAMES])}{more}"


def text_of(value: Any) -> str:
    """Return a value as the name of a slice: a whole number without decimals, whichever engine it comes from.

    >>> text_of(3.0), text_of(3), text_of(0.25), text_of("de")
    ('3', '3', '0.25', 'de')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)

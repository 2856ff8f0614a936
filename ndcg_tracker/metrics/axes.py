"""The axes that a metric is a point on, declared once: text form, help, docs and checks all read this."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.gains import gain_table

MEASURES = {
    "cg": "cumulated gain: the sum of the gains",
    "dcg": "discounted cumulated gain: the sum of gain x discount",
    "idcg": "the discounted cumulated gain of the ideal order",
    "ndcg": "dcg / idcg",
}


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One axis: its name in the text form, the values it takes (the first is the default) and what each of them
    means.

    ``pattern_example`` names an example of the values that ``canonical`` accepts beside the listed ones. ``measures``
    are the measures that the axis can change.
    """

    name: str
    meaning: str
    values: dict[str, str]
    measures: tuple[str, ...]
    canonical: Callable[[str], str | None] | None = None
    pattern_example: str | None = None

    @property
    def default(self) -> str:
        """The value that a metric has where its text does not name the axis."""
        return next(iter(self.values))

    def checked(self, value: str) -> str:
        """Return the one spelling of a value (MetricError, with the nearest valid value, where there is none)."""
        if value in self.values:
            return value
        if self.canonical is not None and (spelling := self.canonical(value)) is not None:
            return spelling
        known = [*self.values, *([self.pattern_example] if self.pattern_example else [])]
        near = difflib.get_close_matches(value.lower(), known, n=1, cutoff=0.5)
        hint = f"did you mean {self.name}={near[0]}?" if near else f"it is one of {', '.join(known)}"
        raise MetricError(f"{self.name}={value} is no value of {self.name}; {hint}")


def _number_text(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _canonical_gain(value: str) -> str | None:
    table = gain_table(value)
    if table is None:
        return None
    entries = (f"{_number_text(grade)}:{_number_text(gain)}" for grade, gain in sorted(table.items()))
    return "{" + ", ".join(entries) + "}"


def _canonical_discount(value: str) -> str | None:
    if not re.fullmatch(r"jk\d+(\.\d+)?", value):
        return None
    base = float(value.removeprefix("jk"))
    return f"jk{_number_text(base)}" if base > 1 and math.isfinite(base) else None


_ALL = ("cg", "dcg", "idcg", "ndcg")
_IDEAL = ("idcg", "ndcg")

AXES: tuple[Axis, ...] = (
    Axis(
        "gain",
        "what a grade l is worth",
        {"linear": "l", "exp2": "2^l - 1", "binary": "1 if l > 0, else 0"},
        _ALL,
        _canonical_gain,
        "{1:3.5, 2:9}",
    ),
    Axis(
        "discount",
        "what rank i is worth",
        {
            "log2": "1/log2(i+1)",
            "position": "1/i",
            "ln": "1/ln(i+1)",
            "jk2": "1 up to rank 2, then 1/log2(i)",
            "none": "1",
        },
        ("dcg", "idcg", "ndcg"),
        _canonical_discount,
        "jk10",
    ),
    Axis(
        "ties",
        "how items of equal score are ordered",
        {
            "item_desc": "by item id, descending in byte order",
            "item_asc": "by item id, ascending in byte order",
            "input": "as they came",
            "pessimistic": "the lowest gain first",
            "optimistic": "the highest gain first",
            "average": "every order equally likely: the expected value",
        },
        ("cg", "dcg", "ndcg"),
    ),
    Axis(
        "ideal",
        "the items that the ideal order may use",
        {"judged": "all labelled items of the group", "retrieved": "the items of the run's list"},
        _IDEAL,
    ),
    Axis(
        "ideal_cut",
        "where the ideal order ends",
        {"cutoff": "at the cutoff", "none": "nowhere", "retrieved": "at the number of retrieved items"},
        _IDEAL,
    ),
    Axis(
        "unjudged",
        "an item without label",
        {"zero": "takes a rank and gains nothing", "drop": "is taken out of the list"},
        ("cg", "dcg", "ndcg"),
    ),
    Axis(
        "negative",
        "a label below 0",
        {
            "zero": "takes a rank and gains nothing",
            "keep": "has its negative gain",
            "drop": "its item is taken out of list and labels",
            "error": "is refused",
        },
        _ALL,
    ),
    Axis(
        "empty",
        "the value of a group whose ideal is not positive",
        {"0": "0", "1": "1", "skip": "undefined, left out of the mean", "error": "refused"},
        ("ndcg",),
    ),
    Axis(
        "missing",
        "a group with labels that the run does not have",
        {
            "zero": "an empty list: it gains nothing",
            "skip": "undefined, left out of the mean",
            "error": "refused",
        },
        _ALL,
    ),
    Axis(
        "extra",
        "a group of the run without any label",
        {"skip": "undefined, left out of the mean", "error": "refused"},
        _ALL,
    ),
    Axis(
        "weights",
        "how groups weigh in the mean",
        {"none": "alike", "group": "by the weight of the group"},
        _ALL,
    ),
    Axis(
        "score_type",
        "the floating-point type that scores are compared in",
        {"f64": "double precision", "f32": "single precision: near scores tie"},
        ("cg", "dcg", "ndcg"),
    ),
)

AXIS_OF = {axis.name: axis for axis in AXES}

"""The axes of a metric, declared once for text form, help, docs and checks."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.measures import measures_with

Canonical = Callable[[str], str | None]
"""Returns the canonical spelling of a value, None for a text that is not a value."""


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One axis: its name in the text form, its values (the first is the default) and the meaning of each.

    ``canonical`` accepts further values. ``pattern_example`` is an example of them, and ``pattern_meaning`` says what
    they mean. ``measures`` are the measures that the axis can change.
    """

    name: str
    meaning: str
    values: dict[str, str]
    canonical: Canonical | None = None
    pattern_example: str | None = None
    pattern_meaning: Callable[[str], str] | None = None
    measures: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "measures", measures_with(self.name))

    @property
    def default(self) -> str:
        """The value of a metric whose text does not name the axis."""
        return next(iter(self.values))

    def checked(self, value: str, is_possible: Callable[[str], bool] = lambda _: True) -> str:
        """Return the canonical spelling of a value; raise MetricError, with the nearest valid value, for any other.

        ``is_possible``: returns whether the error may suggest a value.
        """
        if value in self.values:
            return value
        if self.canonical is not None and (spelling := self.canonical(value)) is not None:
            return spelling
        choices = [*self.values, *([self.pattern_example] if self.pattern_example else [])]
        if value.replace(".", "").isdigit():  # the user hardly meant a similar number
            near = []
        else:
            near = [
                choice
                for choice in difflib.get_close_matches(value.lower(), choices, cutoff=0.5)
                if is_possible(choice)
            ]
        hint = f"did you mean {self.name}={near[0]}?" if near else f"it is one of {', '.join(choices)}"
        raise MetricError(f"{self.name}={value} is not a value of {self.name}", advice=hint)

    def meaning_of(self, value: str) -> str:
        """Return what a value means, in words."""
        if value in self.values or self.pattern_meaning is None:
            return self.values.get(value, value)
        return self.pattern_meaning(value)


_DECIMAL = r"-?\d+(\.\d+)?"
_NAMED = re.compile(r"(?P<name>linear|exp2|binary)(?:>=(?P<least>\d+(?:\.\d+)?))?", re.ASCII)


def gain_table(text: str) -> dict[float, float] | None:
    """Return the table that a ``gain`` of the form ``{1:3.5, 2:9}`` spells, or None for a named gain.

    Raises: MetricError if the table does not parse.

    >>> gain_table("{1:3.5, 2:9}"), gain_table("exp2")
    ({1.0: 3.5, 2.0: 9.0}, None)
    """
    if not text.startswith("{"):
        return None
    try:
        pairs = [entry.split(":") for entry in text.strip("{}").split(",")]
        table = {float(grade): float(gain) for grade, gain in pairs}
    except ValueError:
        raise MetricError(f"gain={text} is not a table of gains", advice="write it as gain={1:3.5, 2:9}") from None
    if not all(map(math.isfinite, [*table, *table.values()])):
        raise MetricError(f"gain={text} has an entry that is not finite", advice="write it as gain={1:3.5, 2:9}")
    return table


def number_text(value: float) -> str:
    """Return a number as metric texts write it: a whole number without a decimal point.

    >>> number_text(2.0), number_text(0.5), number_text(1e-5)
    ('2', '0.5', '0.00001')
    """
    return str(int(value)) if value == int(value) else f"{Decimal(repr(value)):f}"


def canonical_gain(value: str) -> str | None:
    """Return the canonical spelling of a table or of a named gain with a lowest grade, None for anything else.

    Entries that equal the grade itself are omitted.

    >>> canonical_gain("{2:9, 1:1.0}"), canonical_gain("linear>=2.0"), canonical_gain("square")
    ('{2:9}', 'linear>=2', None)
    """
    table = gain_table(value)
    if table is not None:
        entries = [(grade, gain) for grade, gain in sorted(table.items()) if grade != gain]
        text = ", ".join(f"{number_text(grade)}:{number_text(gain)}" for grade, gain in entries)
        return "{" + text + "}" if text else "linear"
    named = _NAMED.fullmatch(value)
    if named is None:
        return None
    least = float(named["least"] or 0)
    if not math.isfinite(least):
        return None
    return f"{named['name']}>={number_text(least)}" if named["least"] else named["name"]


def _canonical_discount(value: str) -> str | None:
    if value.startswith("rbp"):
        share = _canonical_share(value.removeprefix("rbp"))
        return None if share is None else f"rbp{share}"
    if not re.fullmatch(r"jk\d+(\.\d+)?", value, re.ASCII):
        return None
    base = float(value.removeprefix("jk"))
    return f"jk{number_text(base)}" if base > 1 and math.isfinite(base) else None


def _number(form: str = _DECIMAL, accepts: Callable[[float], bool] = math.isfinite) -> Canonical:
    """Return what spells the accepted numbers of a form, and returns None for any other text."""

    def canonical(value: str) -> str | None:
        number = float(value) if re.fullmatch(form, value, re.ASCII) else math.nan
        return number_text(number) if accepts(number) else None

    return canonical


_canonical_number = _number()
_canonical_positive = _number(accepts=lambda number: 0 < number < math.inf)
_canonical_share = _number(r"0?\.\d+", lambda number: 0 < number < 1)
_canonical_recall = _number(rf"{_DECIMAL}|\.\d+", lambda number: 0 <= number <= 1)
_canonical_count = _number(r"0*[1-9]\d{0,11}")
_canonical_grade = _number(r"0*[1-9]\d?")


def _canonical_least(value: str) -> str | None:
    if value == "any":
        return value
    above = ">" if value.startswith(">") else ""
    number = _canonical_number(value.removeprefix(">"))
    return None if number is None else above + number


def at_least(rel: str) -> str:
    """Return a value of ``rel`` other than any as a condition on a grade.

    >>> at_least("2"), at_least(">0.5")
    ('>= 2', '> 0.5')
    """
    return f"> {rel[1:]}" if rel.startswith(">") else f">= {rel}"


def _canonical_domain(value: str) -> str | None:
    return value if re.fullmatch(r"int0to\d{1,6}|int_le\d{1,6}", value, re.ASCII) else None


def _canonical_yes_or_no(value: str) -> str | None:
    return {"true": "True", "false": "False"}.get(value.lower())


def _numbers_in(value: str) -> list[str] | None:
    """Return the numbers of a text such as {0.2, 0.5} as they are written, None for any other text."""
    return [number.strip() for number in value[1:-1].split(",")] if re.fullmatch(r"\{.*\}", value) else None


def _canonical_recalls(value: str) -> str | None:
    recalls = [_canonical_recall(number) for number in _numbers_in(value) or [""]]
    ascending = sorted({float(number) for number in recalls if number is not None})
    return "{" + ", ".join(map(number_text, ascending)) + "}" if len(ascending) == len(recalls) else None


def _canonical_worth(value: str) -> str | None:
    worths = [_canonical_number(number) for number in _numbers_in(value) or [""]]
    return None if None in worths or len(worths) != 4 else "{" + ", ".join(map(str, worths)) + "}"


def _worth_meaning(value: str) -> str:
    hit, noise, miss, rest = value.strip("{}").split(", ")
    return f"relevant and retrieved: {hit}, only retrieved: {noise}, only relevant: {miss}, neither: {rest}"


def numbers_of(value: str) -> list[float]:
    """Return the numbers of an axis value such as ``{0.2, 0.5}``.

    >>> numbers_of("{0.2, 0.5}")
    [0.2, 0.5]
    """
    return [float(number) for number in _numbers_in(value) or ()]


ELEVEN_RECALLS = "{" + ", ".join(number_text(tenth / 10) for tenth in range(11)) + "}"


def _canonical_digits(value: str) -> str | None:
    form = re.fullmatch(r"(?P<digits>\d{1,2})(?P<halves>up)?", value, re.ASCII)
    return f"{int(form['digits'])}{form['halves'] or ''}" if form is not None and int(form["digits"]) <= 15 else None


def _gain_meaning(value: str) -> str:
    if value.startswith("{"):
        return f"the entry of l in {value}, else l"
    name, _, least = value.partition(">=")
    return f"{AXIS_OF['gain'].values[name]} if l >= {least}, else 0"


def _discount_meaning(value: str) -> str:
    if value.startswith("rbp"):
        share = value.removeprefix("rbp")
        return f"(1 - {share}) * {share}^(i-1)"
    base = value.removeprefix("jk")
    return f"1 up to rank {base}, then 1/log{base}(i)"


AXES: tuple[Axis, ...] = (
    Axis(
        "gain",
        "the gain of a grade l",
        {"linear": "l", "exp2": "2^l - 1", "binary": "1 if l > 0, else 0"},
        canonical_gain,
        "{1:3.5, 2:9}",
        _gain_meaning,
    ),
    Axis(
        "discount",
        "the weight of rank i",
        {
            "log2": "1/log2(i+1)",
            "position": "1/i",
            "ln": "1/ln(i+1)",
            "jk2": "1 up to rank 2, then 1/log2(i)",
            "none": "1",
        },
        _canonical_discount,
        "jk10",
        _discount_meaning,
    ),
    Axis(
        "rel",
        "the lowest grade that counts as relevant",
        {"1": "grade 1"},
        _canonical_least,
        "2",
        lambda value: "every item, judged or not" if value == "any" else f"grade {value}".replace("grade >", "above "),
    ),
    Axis(
        "p",
        "the probability that a user continues to the next rank",
        {"0.8": "probability 0.8"},
        _canonical_share,
        "0.5",
        lambda value: f"probability {value}",
    ),
    Axis(
        "graded",
        "whether grades count",
        {
            "False": "1 if relevant, else 0",
            "True": "the grade, divided by the highest grade of the group if that is above 1",
        },
        _canonical_yes_or_no,
    ),
    Axis(
        "highest",
        "the highest grade that labels can have",
        {"4": "grade 4"},
        _canonical_grade,
        "3",
        lambda value: f"grade {value}",
    ),
    Axis(
        "relative",
        "what precision is divided by",
        {"False": "nothing", "True": "the highest possible precision in the group"},
        _canonical_yes_or_no,
    ),
    Axis(
        "over",
        "the divisor of a sum over the list",
        {
            "relevant": "the number of relevant items",
            "cutoff": "the cutoff",
            "achievable": "the number of relevant items or the cutoff, whichever is smaller",
            "found": "the number of relevant items among the first ranks",
            "list": "the number of items among the first ranks",
        },
    ),
    Axis(
        "beta",
        "the weight of recall relative to precision",
        {"1": "equal weight"},
        _canonical_positive,
        "0.5",
        lambda value: f"{value} times the weight",
    ),
    Axis(
        "mult",
        "the number of ranks over which precision is computed",
        {"1": "the number of relevant items"},
        _canonical_positive,
        "0.2",
        lambda value: f"{value} times the number of relevant items, rounded up if the fraction is 0.1 or more",
    ),
    Axis(
        "recall",
        "the recall that must be reached; written after the @",
        {"0": "recall 0: every rank counts"},
        _canonical_recall,
        "0.1",
        lambda value: f"recall {value}",
    ),
    Axis(
        "recalls",
        "the recall levels to average over",
        {ELEVEN_RECALLS: "0, 0.1, 0.2, ..., 1"},
        _canonical_recalls,
        "{0.2, 0.5, 0.8}",
        lambda value: value.strip("{}"),
    ),
    Axis(
        "recall_count",
        "the number of relevant items that a recall x stands for",
        {
            "up": "x times all relevant items, rounded up if the fraction is 0.1 or more",
            "nearest": "x times all relevant items, rounded to the nearest number",
        },
    ),
    Axis(
        "worth",
        "what each item adds",
        {"{1, -1, 0, 0}": _worth_meaning("{1, -1, 0, 0}")},
        _canonical_worth,
        "{3, -2, -1, 0}",
        _worth_meaning,
    ),
    Axis(
        "collection",
        "the number of items in the collection",
        {"0": "unknown"},
        _canonical_count,
        "1000000",
    ),
    Axis(
        "own",
        "an item with the same id as its group, for example if queries are documents",
        {"keep": "stays in the list", "drop": "is removed from the list before anything else"},
    ),
    Axis(
        "depth",
        "how many ranks of each list are read before anything else",
        {"all": "all ranks"},
        _canonical_count,
        "100",
        lambda value: f"to rank {value}",
    ),
    Axis(
        "ties",
        "how items of equal score are ordered",
        {
            "item_desc": "by item id, descending in byte order",
            "item_asc": "by item id, ascending in byte order",
            "input": "in input order",
            "pessimistic": "the lowest gain first",
            "optimistic": "the highest gain first",
            "average": "the expected value over all orders",
        },
    ),
    Axis(
        "ideal",
        "the items in the ideal order, or counted as relevant",
        {
            "judged": "all labelled items of the group",
            "retrieved": "the items of the run's list",
            "constant": "one item of gain 1 per rank up to the cutoff (or the end of the list)",
        },
    ),
    Axis(
        "ideal_order",
        "the sort key of the ideal order",
        {"gain": "the gain, largest first", "label": "the label, largest first, whatever its gain"},
    ),
    Axis(
        "ideal_cut",
        "where the ideal order ends",
        {
            "cutoff": "at the cutoff",
            "none": "at its last item",
            "retrieved": "at the number of retrieved items",
        },
    ),
    Axis(
        "unjudged",
        "an item without a label",
        {"zero": "takes a rank and gains nothing", "drop": "is removed from the list"},
        _canonical_number,
        "0.5",
        lambda value: f"takes a rank and gains {value}",
    ),
    Axis(
        "negative",
        "a label below 0",
        {
            "zero": "takes a rank and gains nothing",
            "keep": "keeps its negative gain",
            "drop": "its item is removed from the list and the labels",
            "error": "is refused",
        },
    ),
    Axis(
        "label_type",
        "the type of labels",
        {
            "f64": "double precision",
            "f32": "single precision",
            "int": "whole numbers; decimals are truncated",
        },
    ),
    Axis(
        "label_domain",
        "the accepted labels; others are refused",
        {
            "any": "any finite number",
            "ge0": "0 and above",
            "int": "whole numbers",
            "int_ge0": "whole numbers from 0",
        },
        _canonical_domain,
        "int0to30",
        lambda value: (
            f"whole numbers up to {value.removeprefix('int_le')}"
            if value.startswith("int_le")
            else f"whole numbers from 0 to {value.removeprefix('int0to')}"
        ),
    ),
    Axis(
        "empty",
        "the value of a group with nothing to find",
        {"0": "0", "1": "1", "skip": "undefined, left out of the mean", "error": "refused"},
    ),
    Axis(
        "empty_when",
        "which groups have nothing to find",
        {
            "ideal_le_0": "groups whose ideal is 0 or negative",
            "ideal_eq_0": "groups whose ideal is 0",
            "labels_sum_0": "groups whose labels add up to 0",
        },
    ),
    Axis(
        "missing",
        "a group that has labels but is missing from the run",
        {
            "zero": "an empty list that gains nothing",
            "skip": "undefined, left out of the mean",
            "error": "refused",
            "empty": "an empty list, with the measure's value for such a list",
        },
    ),
    Axis(
        "extra",
        "a group of the run without labels",
        {"skip": "undefined, left out of the mean", "error": "refused", "empty": "a group with nothing to find"},
    ),
    Axis("size1", "a group whose list has one item", {"ok": "is accepted", "error": "is refused"}),
    Axis(
        "clip",
        "a value above 1 (the ideal order was not the best)",
        {"none": "is accepted", "error_above_1": "is refused"},
    ),
    Axis(
        "weights",
        "the weight of a group in the mean",
        {
            "none": "the same for all groups",
            "group": "the weight of the group",
            "item_mean": "the mean weight of its items",
        },
    ),
    Axis(
        "empty_weight",
        "the weight in the mean of a group with nothing to find",
        {"group": "as of any other group", "one": "its value is added once, whatever its weight"},
    ),
    Axis(
        "weight_type",
        "the type of weights",
        {"f64": "double precision", "f32": "single precision"},
    ),
    Axis(
        "score_type",
        "the type in which scores are compared",
        {"f64": "double precision", "f32": "single precision: nearly equal scores tie"},
    ),
    Axis("arithmetic", "the type in which sums are computed", {"f64": "double precision", "f32": "single precision"}),
    Axis(
        "round",
        "the number of decimals",
        {"none": "all"},
        _canonical_digits,
        "4",
        lambda value: f"{value.removesuffix('up')} decimals{', halves rounded up' if value.endswith('up') else ''}",
    ),
    Axis(
        "round_of",
        "what is rounded",
        {"group": "each value, so the mean is over rounded values", "mean": "only the mean"},
    ),
    Axis(
        "all_skipped",
        "the mean if no group has a value",
        {"undefined": "undefined", "0": "0", "error": "refused"},
    ),
)

AXIS_OF = {axis.name: axis for axis in AXES}

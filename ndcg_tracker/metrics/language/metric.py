"""A metric (a measure, a cutoff, and a value on each axis), its text, and its formula in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from math import inf, isinf, nextafter
from typing import Literal, get_args

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import AXES, AXIS_OF, Axis, at_least, number_text
from ndcg_tracker.metrics.language.measures import (
    CUMULATED,
    EXTERNAL,
    MEASURES,
    ShownOnly,
    Summary,
    is_measure,
    measure_of,
)

LISTED = "listed"
"""The rule for ties of a run with a ``tie_order``: its rows stay in their order. No metric can name it."""

Direction = Literal["higher", "lower"]
"""Which values of a metric are better."""


@dataclass(frozen=True)
class Metric:
    """A metric: equal metrics have equal texts, and ``parse_canonical(str(metric)) == metric``.

    ``measure``: cg, dcg, idcg, ndcg or a companion such as AP. ``cutoff``: the number of ranks that count, >= 1, or
    None for all. ``settings``: the axes that differ from their default, sorted by name. ``requested_as``: the text that
    it was parsed from, or its canonical text; equality ignores it. Create metrics with ``Metric.of`` or
    ``parse_canonical``, which check and normalise.

    >>> metric = Metric.of("ndcg", cutoff=10, ties="average", gain="exp2")
    >>> str(metric), metric["ties"], metric["discount"]
    ('ndcg(gain=exp2, ties=average)@10', 'average', 'log2')
    """

    measure: str
    cutoff: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    requested_as: str = field(default="", compare=False, repr=False)
    _values: Mapping[str, str] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        values = _defaults(self.measure, 1 if self.cutoff is not None else None) | dict(self.settings)
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "requested_as", self.requested_as or str(self))

    @classmethod
    def of(cls, measure: str, *, cutoff: int | None = None, **settings: str) -> Metric:
        """Return the metric with these settings.

        Raises: MetricError for an unknown measure, axis or value, for an axis that the measure does not have, and for a
        cutoff below 1 or above ``LARGEST_CUTOFF``.
        """
        if not is_measure(measure):
            raise MetricError(f"{measure} is not a metric; it is one of {', '.join(MEASURES)}")
        if cutoff is not None and cutoff < 1:
            raise MetricError(f"the cutoff @{cutoff} leaves nothing to measure", advice="use 1 or more")
        if cutoff is not None and cutoff > LARGEST_CUTOFF:
            raise MetricError("the cutoff is too large", advice=f"use at most {LARGEST_CUTOFF}, or no cutoff")
        if cutoff is None and MEASURES[measure].cutoff == "required":
            raise MetricError(f"{measure} needs a cutoff", advice=f"write {measure}@10")
        if cutoff is not None and MEASURES[measure].cutoff == "none":
            raise _no_cutoff(measure, cutoff)
        kept = {}
        for name, value in settings.items():
            axis = AXIS_OF.get(name)
            if axis is None or measure not in axis.measures:
                valid = ", ".join(axis.name for axis in AXES if measure in axis.measures)
                raise MetricError(f"{measure} has no parameter {name}; it has {valid}")
            spelling = axis.checked(value, partial(_is_possible, measure, cutoff, name))
            if spelling != default_of(axis, measure, cutoff):
                kept[name] = spelling
        _refuse_impossible(measure, cutoff, kept)
        measure = _plainest(measure, kept)
        for name, governing in _GOVERNED_BY.items():
            if governing not in kept:
                kept.pop(name, None)
        _drop_what_changes_nothing(measure, cutoff, kept)
        return cls(measure, cutoff, tuple(sorted(kept.items())))

    def __getitem__(self, axis: str) -> str:
        """Return the value on one axis."""
        return self._values[axis]

    def __str__(self) -> str:
        behind = measure_of(self.measure).axis_at
        parameters = ", ".join(f"{name}={value}" for name, value in self.settings if name != behind)
        return self.measure + (f"({parameters})" if parameters else "") + self.at

    @property
    def at(self) -> str:
        """The text after the parameters: ``@10``, ``@0.1`` for a recall, or an empty text."""
        behind = measure_of(self.measure).axis_at
        number = self.cutoff if behind is None else self[behind]
        return "" if number is None else f"@{number}"

    @property
    def summary(self) -> Summary:
        """How the group results are summarised: their mean, their sum, or e to the power of their mean."""
        return measure_of(self.measure).summary

    @property
    def shown_only(self) -> ShownOnly | None:
        """Why the metric is shown but not compared, None if it is compared.

        ``diagnostic``: it measures how a run was judged or how long it is, not how good it is. ``no_mean_of_groups``:
        its summary is not a mean of the groups, and the tests apply only to such means.
        """
        if measure_of(self.measure).is_diagnostic:
            return "diagnostic"
        return None if self.summary == "mean" else "no_mean_of_groups"

    @property
    def is_external(self) -> bool:
        """Whether another engine computed its values, so they can be compared but not computed or explained here."""
        return self.measure.startswith(EXTERNAL)

    @property
    def counts_missing(self) -> bool:
        """Whether a group that has labels but is missing from the run counts as an empty list."""
        return self["missing"] in ("zero", "empty")

    @property
    def unjudged_gain(self) -> float:
        """What an item without a label gains."""
        return 0.0 if self["unjudged"] in ("zero", "drop") else float(self["unjudged"])

    @property
    def least_relevant(self) -> float:
        """The lowest grade of a relevant item, for a ``rel`` other than any.

        If grades must be above a number, this is the next larger double.

        >>> Metric.of("AP", rel="2").least_relevant, Metric.of("AP", rel=">0.5").least_relevant
        (2.0, 0.5000000000000001)
        """
        above = self["rel"].startswith(">")
        return nextafter(float(self["rel"][1:]), inf) if above else float(self["rel"])

    def tie_rule(self, tie_order: str | None) -> str:
        """Return the rule for ties in a run: the one that this metric names, else ``LISTED`` if the run's order counts.

        >>> Metric.of("ndcg").tie_rule("input"), Metric.of("ndcg", ties="average").tie_rule("input")
        ('listed', 'average')
        """
        return self["ties"] if tie_order is None or "ties" in dict(self.settings) else LISTED

    @property
    def direction(self) -> Direction:
        """Which values are better: as an external metric says, and for all other metrics the higher values."""
        return "lower" if self.is_external and dict(self.settings).get("direction") == "lower" else "higher"

    def with_axes(self, **values: str) -> Metric:
        """Return this metric with other values on some axes, ignoring axes that its measure does not have."""
        if self.is_external:
            return self
        kept = {axis: value for axis, value in values.items() if self.measure in AXIS_OF[axis].measures}
        return Metric.of(self.measure, cutoff=self.cutoff, **(dict(self.settings) | kept))

    @property
    def limits(self) -> tuple[float, float] | None:
        """The lowest and the highest possible value, None if unknown.

        >>> Metric.of("ndcg").limits, Metric.of("dcg").limits, Metric.of("ndcg", negative="keep").limits
        ((0.0, 1.0), None, None)
        """
        if self.is_external:
            low, _, high = dict(self.settings).get("range", "-inf..inf").partition("..")
            return float(low), float(high)
        if MEASURES[self.measure].is_share:
            return None if self["graded"] == "True" and self["negative"] == "keep" else (0.0, 1.0)
        ideal_is_best = self["ideal_order"] == "gain" or not self["gain"].startswith("{")
        is_share = (
            self.measure == "ndcg"
            and self["ideal"] in ("judged", "retrieved")
            and self["unjudged"] in ("zero", "drop")
            and self["negative"] != "keep"
        )
        return (0.0, 1.0) if is_share and ideal_is_best else None

    @property
    def discount(self) -> str:
        """The discount that the measure applies: ``none`` for cg."""
        return "none" if self.measure == "cg" else self["discount"]


LARGEST_CUTOFF = 10**9
LARGEST_CONSTANT = 10**6
"""The largest cutoff with ``ideal=constant``, because its ideal has that many ranks."""

_GOVERNED_BY = {"round_of": "round", "weight_type": "weights", "empty_weight": "weights"}
"""Axes that change nothing while another axis has its default."""


def _is_possible(measure: str, cutoff: int | None, axis: str, value: str) -> bool:
    """Return whether a measure with this cutoff allows a value of an axis."""
    try:
        Metric.of(measure, cutoff=cutoff, **{axis: value})
    except MetricError:
        return False
    return True


def default_of(axis: Axis, measure: str, cutoff: int | None) -> str:
    """Return the default of an axis for a measure with this cutoff.

    >>> default_of(AXIS_OF["ties"], "RR", 10), default_of(AXIS_OF["ties"], "RR", None)
    ('item_asc', 'item_desc')
    """
    own = measure_of(measure)
    defaults = own.defaults if cutoff is None else {**own.defaults, **own.defaults_at}
    return defaults.get(axis.name, axis.default)


@cache
def _defaults(measure: str, cutoff: int | None) -> dict[str, str]:
    """Return the default of every axis; ``cutoff``: any number if the metric has a cutoff, else None."""
    return {axis.name: default_of(axis, measure, cutoff) for axis in AXES}


def _plainest(measure: str, settings: dict[str, str]) -> str:
    """Return the simplest measure that is the same with these settings, and remove settings that it implies."""
    if measure == "dcg" and settings.get("discount") == "none":
        del settings["discount"]
        return "cg"
    over = settings.get("over")
    if measure not in ("P", "R") or over is None:
        return measure
    if over != "list":
        del settings["over"]
    if over == "achievable":
        settings["relative"] = "True"
    return "R" if over == "relevant" else "P"


def _drop_what_changes_nothing(measure: str, cutoff: int | None, settings: dict[str, str]) -> None:
    """Remove settings that do not change the metric."""
    if settings.get("missing") == "empty" and (measure == "idcg" or MEASURES[measure].of_nothing is not None):
        del settings["missing"]
    if measure in ("P", "SetP", "RR", "Success") and not {"relative", "empty"} & settings.keys():
        settings.pop("ideal", None)
    if cutoff is None and settings.get("over") == "achievable":
        del settings["over"]
    if settings.get("graded") == "True":
        settings.pop("rel", None)
    if measure == "Utility" and settings.get("worth", " 0}").endswith(" 0}"):
        settings.pop("collection", None)
    drops = "drop" in (settings.get("unjudged"), settings.get("negative"))  # the remaining items move up
    other_ideal = {"ideal", "ideal_cut"} & settings.keys()
    if not drops and not other_ideal and cutoff is not None and cutoff <= int(settings.get("depth", 0)):
        del settings["depth"]


def _no_cutoff(measure: str, cutoff: int) -> MetricError:
    """Return the error for a cutoff that the measure cannot have."""
    axis_at = MEASURES[measure].axis_at
    if axis_at is not None:
        return MetricError(f"{measure} takes a {axis_at} after the @, not a cutoff", advice=f"write {measure}@0.1")
    if not MEASURES[measure].is_listed:
        return MetricError(f"{measure} has no cutoff", advice=f"write {measure}")
    cut = (
        f"depth={cutoff}, ties=item_desc" if MEASURES[measure].defaults.get("ties") == "average" else f"depth={cutoff}"
    )
    other = f"P@{cutoff}" if measure == "SetP" else f"{measure}({cut}) to read only {cutoff} ranks"
    return MetricError(f"{measure} has no cutoff", advice=f"write {measure}, or {other}")


def _refuse_impossible(measure: str, cutoff: int | None, settings: Mapping[str, str]) -> None:
    if settings.get("ideal") == "constant" and cutoff is not None and cutoff > LARGEST_CONSTANT:
        raise MetricError(
            "the cutoff is too large for ideal=constant, which sums every rank up to it",
            advice=f"use at most {LARGEST_CONSTANT}",
        )
    if settings.get("ideal") == "constant" and measure not in CUMULATED:
        raise MetricError(f"{measure} counts relevant items, so ideal=constant has no meaning", advice="remove it")
    _refuse_divisor(measure, cutoff, settings)
    if not MEASURES[measure].has_expected_value and settings.get("ties") == "average":
        raise MetricError(
            f"{measure} has no closed form for ties=average", advice="use ties=pessimistic or ties=optimistic"
        )
    if "depth" in settings and settings.get("ties", MEASURES[measure].defaults.get("ties")) == "average":
        raise MetricError(
            "depth does not work with ties=average, which has many orders to cut",
            advice="use ties=pessimistic or ties=optimistic",
        )
    if settings.get("rel") == "any" and measure != "NumRet":
        raise MetricError(
            f"rel=any is only for NumRet, because {measure} needs to know which items are relevant",
            advice="write rel=1",
        )
    if measure not in (*CUMULATED, "ERR") and settings.get("unjudged", "zero") not in ("zero", "drop"):
        raise MetricError(f"{measure} has no gains, so an unjudged item cannot have a gain", advice="use unjudged=drop")


def _refuse_divisor(measure: str, cutoff: int | None, settings: Mapping[str, str]) -> None:
    over = settings.get("over")
    if over == "found" and measure != "AP":
        raise MetricError(f"{measure} with over=found is always 1 or 0", advice=f"write Success@{cutoff}")
    if over == "cutoff" and cutoff is None:
        raise MetricError("over=cutoff needs a cutoff", advice=f"write {measure}(over=cutoff)@10")
    if over is not None and "relative" in settings:
        raise MetricError("over and relative both set the divisor", advice="remove relative")


def cutoff_from(digits: str) -> int:
    """Return the cutoff that some digits mean; for very many digits, a number that ``Metric.of`` refuses.

    >>> cutoff_from("010"), cutoff_from("9" * 5000) > LARGEST_CUTOFF
    (10, True)
    """
    digits = digits.lstrip("0")
    return int(digits or "0") if len(digits) < 19 else LARGEST_CUTOFF + 1


_EXTERNAL_FORM = re.compile(
    re.escape(EXTERNAL) + r"(?P<name>[^\s(),{}'\"]+)(?:\(\s*direction\s*=\s*(?P<direction>\w+)\s*,"
    r"\s*range\s*=\s*(?P<low>[^\s,()]+?)\.\.(?P<high>[^\s,()]+?)\s*\))?"
)


def external_metric(text: str) -> Metric:
    """Return the metric of another engine that a text names.

    Without direction and range, it means the results stored under this name. Raises: MetricError.

    >>> str(external_metric("external:latency(direction=lower,range=0.0..inf)"))
    'external:latency(direction=lower, range=0..inf)'
    >>> external_metric("external:faithfulness").settings
    ()
    """
    form = _EXTERNAL_FORM.fullmatch(text.strip())
    if form is None:
        raise MetricError(
            f"{text!r} is not a metric",
            advice=f"write it like {EXTERNAL}latency, or {EXTERNAL}latency(direction=lower, range=0..inf)",
        )
    if form["direction"] is None:
        return Metric(EXTERNAL + form["name"])
    if form["direction"] not in get_args(Direction):
        raise MetricError(
            f"direction {form['direction']!r} is unknown", advice="write higher or lower, whichever is better"
        )
    low, high = range_of(form["low"], form["high"])
    settings = (
        ("direction", form["direction"]),
        ("range", "..".join(str(bound) if isinf(bound) else number_text(bound) for bound in (low, high))),
    )
    return Metric(EXTERNAL + form["name"], None, settings)


def named_external(text: str, direction: str, low: str, high: str) -> Metric:
    """Return the external metric with a name, a direction and a range; the name may begin with ``external:``.

    >>> str(named_external("faithfulness", "higher", "0", "1"))
    'external:faithfulness(direction=higher, range=0..1)'
    """
    name = text if text.startswith(EXTERNAL) else EXTERNAL + text
    return external_metric(f"{name}(direction={direction}, range={low}..{high})")


def refuse_external(metrics: Iterable[Metric]) -> None:
    """Raise MetricError for a metric that another engine computed, because its values cannot be computed here."""
    for metric in metrics:
        if metric.is_external:
            raise MetricError(
                f"another engine computed {metric.measure}, so it cannot be computed here",
                advice=f"store its results with: ndcg-track ingest --results FILE --metric {metric.measure}",
            )


def range_of(low: str, high: str) -> tuple[float, float]:
    """Return the range of a metric's values; either end may be infinite.

    Raises: MetricError for texts that are not a range.

    >>> range_of("0", "inf")
    (0.0, inf)
    """
    try:
        first, last = float(low), float(high)
    except ValueError:
        raise MetricError(f"{low}, {high} is not a range", advice="give two numbers, such as 0 and 1, or inf") from None
    if not first < last or first == inf or last == -inf:
        raise MetricError(f"the range from {low} to {high} is empty", advice="give the lower number first")
    return first, last


_FORM = re.compile(
    r"(?P<measure>[A-Za-z]\w*)(?:\((?P<parameters>.*)\))?(?:@(?P<cutoff>\d+(?:\.\d+)?|\.\d+))?", re.ASCII
)
_PARAMETER = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\{[^{}]*\}|[^,{}()\s]+)\s*(?:,|$)", re.ASCII)


def parse_canonical(text: str) -> Metric:
    """Return the metric that a canonical text means: ``NAME(axis=value, ...)@CUTOFF``.

    Raises: MetricError, with a valid example, for any other text.

    >>> parse_canonical("ndcg(ties=average,gain=exp2)@10") == parse_canonical("ndcg(gain=exp2, ties=average)@10")
    True
    """
    if text.strip().startswith(EXTERNAL):
        return external_metric(text)
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise MetricError(
            f"{text!r} is not a metric", advice="write it like ndcg@10 or ndcg(gain=exp2, ties=average)@10"
        )
    measure = form["measure"]
    if not is_measure(measure):
        raise MetricError(f"{measure} is not a metric; it is one of {', '.join(MEASURES)}")
    settings: dict[str, str] = {}
    rest = form["parameters"] or ""
    place = 0
    while place < len(rest):
        parameter = _PARAMETER.match(rest, place)
        if parameter is None:
            raise MetricError(
                f"cannot read {rest[place:].strip()!r} in {text!r}; parameters look like gain=exp2, ties=average"
            )
        if parameter["name"] in settings:
            raise MetricError(f"{text!r} names {parameter['name']} twice", advice="keep one of them")
        settings[parameter["name"]] = parameter["value"]
        place = parameter.end()
    at = form["cutoff"]
    behind = MEASURES[measure].axis_at
    if behind is not None:
        if (at is None) == (behind not in settings):
            fault = f"gives the {behind} twice" if at is not None else f"has no {behind}"
            raise MetricError(f"{text!r} {fault}", advice=f"write {measure}@0.1")
        if at is not None:
            settings[behind] = at
        return Metric.of(measure, cutoff=None, **settings)
    if at is not None and "." in at:
        raise MetricError(f"{text!r} is not a metric; a cutoff is a whole number, as in {measure}@10")
    return Metric.of(measure, cutoff=cutoff_from(at) if at else None, **settings)


@dataclass(frozen=True, slots=True)
class Setting:
    """One axis of a metric: its value, the meaning of the value, and the default of the axis."""

    axis: str
    value: str
    meaning: str
    default: str

    @property
    def is_default(self) -> bool:
        """Whether the metric has the default of this axis."""
        return self.value == self.default


def formula(metric: Metric) -> str:
    """Return the metric's formula as one line of text.

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> formula(parse_metric("ndcg(gain=exp2)@10"))
    'ndcg@10 = sum over ranks i = 1..10 of (2^l - 1) * 1/log2(i+1), divided by the same sum over the ideal order'
    """
    name = f"{metric.measure}{metric.at}"
    if metric.is_external:
        return f"{name}: {measure_of(metric.measure).formula}"
    if metric.measure not in CUMULATED:
        return f"{name} = {_companion_formula(metric)}"
    gain = AXIS_OF["gain"].meaning_of(metric["gain"])
    gain = f"({gain})" if " " in gain else gain
    discount = AXIS_OF["discount"].meaning_of(metric.discount)
    discount = f"({discount})" if "," in discount else discount
    ranks = f"i = 1..{metric.cutoff}" if metric.cutoff else "i = 1, 2, ..."
    term = gain if metric.discount == "none" else f"{gain} * {discount}"
    order = " of the ideal order" if metric.measure == "idcg" else ""
    total = f"{name} = sum over ranks {ranks}{order} of {term}"
    return f"{total}, divided by the same sum over the ideal order" if metric.measure == "ndcg" else total


def _companion_formula(metric: Metric) -> str:
    first = {None: "all ranks", 1: "the first rank"}.get(metric.cutoff, f"the first {metric.cutoff} ranks")
    relevant = "items" if metric["rel"] == "any" else f"items of grade {at_least(metric['rel'])}"
    every, judged = (
        f"all {relevant}",
        f"judged items below grade {metric['rel']}".replace("below grade >", "up to grade "),
    )
    hit, noise, miss, rest = metric["worth"].strip("{}").split(", ")
    if metric.measure not in CUMULATED and metric["ideal"] == "retrieved":
        every = f"{relevant} in the list"
    shown = str(metric.cutoff) if metric.cutoff else "items in the list"
    divisors = {
        "relevant": every,
        "cutoff": shown,
        "achievable": f"min({shown}, R), R = {every}",
        "found": f"{relevant} among {first}",
        "list": f"items among {first}" if metric.cutoff else shown,
    }
    named = {
        "first": first,
        "relevant": relevant,
        "every": every,
        "judged": judged,
        "not_judged": "items without a label of 0 or above",
        "precision": f"sum over {relevant} among {first} of the precision at their rank",
        "preference": f"mean over {every} of 1 - min({judged} before it, R) / min(all of these, R), R = {every}",
        "gain": AXIS_OF["gain"].meaning_of(metric["gain"]),
        "reached": "the highest precision at or after the rank that reaches the recall "
        f"({AXIS_OF['recall_count'].meaning_of(metric['recall_count'])})",
        "patient": f"the ranks i among {first} of g * p^(i - 1), g = grade (/ the highest of the group if that is > 1)"
        if metric["graded"] == "True"
        else f"the ranks i of {relevant} among {first} of p^(i - 1)",
        "cutoff": metric.cutoff,
        "shown": divisors["achievable" if metric["relative"] == "True" else "cutoff"],
        "divisor": divisors["achievable" if metric["relative"] == "True" else metric["over"]],
        "scale": 2 ** int(metric["highest"]),
        "recalls": metric["recalls"].strip("{}"),
    }
    axes = {axis.name: metric[axis.name] for axis in AXES}
    amounts = {"hit": hit, "noise": noise, "miss": miss, "rest": rest}
    return MEASURES[metric.measure].formula.format(**(axes | named | amounts))


def settings(metric: Metric) -> list[Setting]:
    """Return the value of every axis of the metric's measure, in the order of ``AXES``."""
    return [
        Setting(
            axis.name,
            metric[axis.name],
            axis.meaning_of(metric[axis.name]),
            default_of(axis, metric.measure, metric.cutoff),
        )
        for axis in AXES
        if metric.measure in axis.measures
    ]


def meaning(metric: Metric) -> str:
    """Return the meaning of the metric's measure, in words."""
    return measure_of(metric.measure).meaning

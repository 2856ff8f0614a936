"""What a metric is: a measure, a cutoff, and a value on each axis."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.axes import AXES, AXIS_OF, MEASURES


@dataclass(frozen=True)
class Metric:
    """A metric: equal metrics have equal text, and ``parse_metric(str(metric)) == metric``.

    ``measure``: cg, dcg, idcg or ndcg. ``cutoff``: the number of ranks that count, >= 1, or None for all.
    ``settings``: the axes that differ from their default, sorted by name. Make one with ``Metric.of`` or
    ``parse_metric``, which check and normalise.

    >>> metric = Metric.of("ndcg", cutoff=10, ties="average", gain="exp2")
    >>> str(metric), metric["ties"], metric["discount"]
    ('ndcg(gain=exp2, ties=average)@10', 'average', 'log2')
    """

    measure: str
    cutoff: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    _values: Mapping[str, str] = field(init=False, repr=False, compare=False, hash=False)

    def __post_init__(self) -> None:
        values = {axis.name: axis.default for axis in AXES} | dict(self.settings)
        object.__setattr__(self, "_values", values)

    @classmethod
    def of(cls, measure: str, *, cutoff: int | None = None, **settings: str) -> Metric:
        """Return the metric with these settings.

        Raises: MetricError for an unknown measure, axis or value, an axis that the measure does not have, or a cutoff
        below 1.
        """
        if measure not in MEASURES:
            raise MetricError(f"{measure} is no metric; it is one of {', '.join(MEASURES)}")
        if cutoff is not None and cutoff < 1:
            raise MetricError(f"the cutoff @{cutoff} leaves nothing to measure; it is 1 or more")
        kept = {}
        for name, value in settings.items():
            axis = AXIS_OF.get(name)
            if axis is None or measure not in axis.measures:
                valid = ", ".join(axis.name for axis in AXES if measure in axis.measures)
                raise MetricError(f"{measure} has no parameter {name}; it has {valid}")
            spelling = axis.checked(value)
            if spelling != axis.default:
                kept[name] = spelling
        if measure == "dcg" and kept.get("discount") == "none":
            measure = "cg"
            del kept["discount"]
        return cls(measure, cutoff, tuple(sorted(kept.items())))

    def __getitem__(self, axis: str) -> str:
        """Return the value on one axis."""
        return self._values[axis]

    def __str__(self) -> str:
        parameters = ", ".join(f"{name}={value}" for name, value in self.settings)
        return self.measure + (f"({parameters})" if parameters else "") + (f"@{self.cutoff}" if self.cutoff else "")

    @property
    def discount(self) -> str:
        """The discount that the measure applies: ``none`` for cg."""
        return "none" if self.measure == "cg" else self["discount"]


_FORM = re.compile(r"(?P<measure>[A-Za-z]\w*)(?:\((?P<parameters>.*)\))?(?:@(?P<cutoff>\d+))?", re.ASCII)
_PARAMETER = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\{[^{}]*\}|[^,{}()\s]+)\s*(?:,|$)", re.ASCII)


def parse_metric(text: str) -> Metric:
    """Return the metric that a text form spells: ``NAME(axis=value, ...)@CUTOFF``.

    Raises: MetricError, naming the nearest valid spelling, for anything else.

    >>> parse_metric("ndcg(ties=average,gain=exp2)@10") == parse_metric("ndcg(gain=exp2, ties=average)@10")
    True
    """
    form = _FORM.fullmatch(text.strip())
    if form is None:
        raise MetricError(f"{text!r} is no metric; write it like ndcg@10 or ndcg(gain=exp2, ties=average)@10")
    measure = form["measure"]
    if measure not in MEASURES:
        near = measure.lower() if measure.lower() in MEASURES else None
        hint = f"did you mean {near}{text.strip()[len(measure) :]}?" if near else f"it is one of {', '.join(MEASURES)}"
        raise MetricError(f"{measure} is no metric; {hint}")
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
            raise MetricError(f"{text!r} names {parameter['name']} twice; keep one of them")
        settings[parameter["name"]] = parameter["value"]
        place = parameter.end()
    cutoff = int(form["cutoff"]) if form["cutoff"] else None
    return Metric.of(measure, cutoff=cutoff, **settings)

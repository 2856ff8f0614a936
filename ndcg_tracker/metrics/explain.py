"""A metric in words: its formula, and what makes it differ from the default."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.metrics.axes import AXES, AXIS_OF
from ndcg_tracker.metrics.definition import Metric, default_of
from ndcg_tracker.metrics.measures import CUMULATED, MEASURES


@dataclass(frozen=True, slots=True)
class Setting:
    """One axis of a metric: its value, what the value means, and the default that it replaces (or equals)."""

    axis: str
    value: str
    meaning: str
    default: str

    @property
    def is_default(self) -> bool:
        """Whether the metric leaves this axis as it is."""
        return self.value == self.default


def formula(metric: Metric) -> str:
    """Return the metric's formula as one line of text.

    >>> from ndcg_tracker.metrics.text_form import parse_metric
    >>> formula(parse_metric("ndcg(gain=exp2)@10"))
    'ndcg@10 = sum over ranks i = 1..10 of (2^l - 1) * 1/log2(i+1), divided by the same sum over the ideal order'
    """
    name = metric.measure + (f"@{metric.cutoff}" if metric.cutoff else "")
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
    first = f"the first {metric.cutoff} ranks" if metric.cutoff else "all ranks"
    relevant = f"items of grade >= {metric['rel']}"
    return {
        "P": f"{relevant} among {first} / {metric.cutoff}",
        "R": f"{relevant} among {first} / all {relevant}",
        "AP": f"sum over {relevant} among {first} of the precision at their rank / all {relevant}",
        "RR": f"1 / the rank of the first of the {relevant} among {first}, 0 without one",
        "Success": f"1 if one of the {relevant} stands among {first}, else 0",
        "Judged": f"items with a label among {first} / items among {first}",
        "ERR": f"sum over {first} of 1/i * s(i) * product of 1 - s(j) over the ranks j before i, s = (2^l - 1)/16",
        "RBP": f"(1 - p) * sum over the ranks i of {relevant} among {first} of p^(i - 1), p = {metric['p']}",
        "SetP": f"{relevant} in the list / items in the list",
    }[metric.measure]


def settings(metric: Metric) -> list[Setting]:
    """Return the value of every axis that the metric's measure has, in the order in which the axes are declared."""
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
    """Return what the metric's measure is, in words."""
    return MEASURES[metric.measure]

"""A metric in words: its formula, and what makes it differ from the default."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.metrics.axes import AXES, MEASURES
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.gains import gain_table


@dataclass(frozen=True, slots=True)
class Setting:
    """One axis of a metric: its value, what the value means, and the default that it replaces (or equals)."""

    axis: str
    value: str
    meaning: str
    default: str


def formula(metric: Metric) -> str:
    """Return the metric's formula as one line of text.

    >>> from ndcg_tracker.metrics.definition import parse_metric
    >>> formula(parse_metric("ndcg(gain=exp2)@10"))
    'ndcg@10 = sum over ranks i = 1..10 of (2^l - 1) * 1/log2(i+1), divided by the same sum over the ideal order'
    """
    gain = _meaning("gain", metric["gain"])
    gain = f"({gain})" if " " in gain and not gain.startswith("the") else gain
    ranks = f"i = 1..{metric.cutoff}" if metric.cutoff else "i = 1, 2, ..."
    term = gain if metric.discount == "none" else f"{gain} * {_discount_term(metric.discount)}"
    name = metric.measure + (f"@{metric.cutoff}" if metric.cutoff else "")
    order = " of the ideal order" if metric.measure == "idcg" else ""
    total = f"{name} = sum over ranks {ranks}{order} of {term}"
    return f"{total}, divided by the same sum over the ideal order" if metric.measure == "ndcg" else total


def settings(metric: Metric) -> list[Setting]:
    """Return the value of every axis that the metric's measure has, in the order in which the axes are declared."""
    return [
        Setting(axis.name, metric[axis.name], _meaning(axis.name, metric[axis.name]), axis.default)
        for axis in AXES
        if metric.measure in axis.measures
    ]


def meaning(metric: Metric) -> str:
    """Return what the metric's measure is, in words."""
    return MEASURES[metric.measure]


def _discount_term(discount: str) -> str:
    text = _meaning("discount", discount)
    return f"({text})" if "," in text else text


def _meaning(axis_name: str, value: str) -> str:
    axis = next(axis for axis in AXES if axis.name == axis_name)
    if value in axis.values:
        return axis.values[value]
    if gain_table(value) is not None:
        return f"the entry of l in {value}, else 0"
    base = value.removeprefix("jk")
    return f"1 up to rank {base}, then 1/log{base}(i)"

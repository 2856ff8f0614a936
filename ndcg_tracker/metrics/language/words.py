"""A metric in words: its formula, and where it differs from the default."""

from __future__ import annotations

from dataclasses import dataclass

from ndcg_tracker.metrics.language.axes import AXES, AXIS_OF
from ndcg_tracker.metrics.language.measures import CUMULATED, MEASURES
from ndcg_tracker.metrics.language.metric import Metric, default_of


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

    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> formula(parse_metric("ndcg(gain=exp2)@10"))
    'ndcg@10 = sum over ranks i = 1..10 of (2^l - 1) * 1/log2(i+1), divided by the same sum over the ideal order'
    """
    name = f"{metric.measure}{metric.at}"
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
    relevant = "items" if metric["rel"] == "any" else f"items of grade >= {metric['rel']}"
    every, judged = f"all {relevant}", f"judged items below grade {metric['rel']}"
    hit, noise, miss, rest = metric["worth"].strip("{}").split(", ")
    shown = str(metric.cutoff) if metric.cutoff else "items in the list"
    named = {
        "first": first,
        "relevant": relevant,
        "every": every,
        "judged": judged,
        "not_judged": "items without a label from 0 on",
        "precision": f"sum over {relevant} among {first} of the precision at their rank",
        "preference": f"mean over {every} of 1 - min({judged} before it, R) / min(all of these, R), R = {every}",
        "gain": AXIS_OF["gain"].meaning_of(metric["gain"]),
        "reached": "the highest precision at or after the rank that reaches the recall "
        f"({AXIS_OF['recall_count'].meaning_of(metric['recall_count'])})",
        "graded": "the grade / the highest grade of the group, where that is above 1,"
        if metric["graded"] == "True"
        else relevant,
        "cutoff": metric.cutoff,
        "shown": f"min({shown}, R), R = {every}" if metric["relative"] == "True" else shown,
        "recalls": metric["recalls"].strip("{}"),
    }
    own = {axis: metric[axis] for axis in ("p", "beta", "mult")}
    amounts = {"hit": hit, "noise": noise, "miss": miss, "rest": rest}
    return MEASURES[metric.measure].formula.format(**named, **own, **amounts)


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
    """Return the meaning of the metric's measure, in words."""
    return MEASURES[metric.measure].meaning

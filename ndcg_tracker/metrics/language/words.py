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
    precision = f"sum over {relevant} among {first} of the precision at their rank"
    preference = f"mean over {every} of 1 - min({judged} before it, R) / min(all of these, R), R = {every}"
    gain = AXIS_OF["gain"].meaning_of(metric["gain"])
    recall_count = AXIS_OF["recall_count"].meaning_of(metric["recall_count"])
    reached = f"the highest precision at or after the rank that reaches the recall ({recall_count})"
    hit, noise, miss, rest = metric["worth"].strip("{}").split(", ")
    not_judged = "items without a label from 0 on"
    graded = metric["graded"] == "True"
    worth = "the grade / the highest grade of the group, where that is above 1," if graded else relevant
    shown = "items in the list" if metric.measure == "SetP" else metric.cutoff
    best = f"min({shown}, R), R = {every}"
    is_relative = metric["relative"] == "True"
    return {
        "P": f"{relevant} among {first} / {best if is_relative else metric.cutoff}",
        "R": f"{relevant} among {first} / all {relevant}",
        "AP": f"{precision} / all {relevant}",
        "RR": f"1 / the rank of the first of the {relevant} among {first}, 0 without one",
        "Success": f"1 if one of the {relevant} is among {first}, else 0",
        "Judged": f"items with a label among {first} / items among {first}",
        "ERR": f"sum over {first} of 1/i * s(i) * product of 1 - s(j) over the ranks j before i, s = (2^l - 1)/16",
        "RBP": f"(1 - p) * sum over the ranks i of {worth} among {first} of p^(i - 1), p = {metric['p']}",
        "SetP": f"{relevant} in the list / {best if is_relative else 'items in the list'}",
        "SetR": f"{relevant} in the list / {every}",
        "SetAP": f"({relevant} in the list)^2 / (items in the list * {every})",
        "SetF": f"(b + 1) * SetP * SetR / (b * SetP + SetR), b = {metric['beta']}, relevant: {relevant}",
        "Rprec": f"{relevant} among the first c ranks / c, c = {metric['mult']} * {every}, rounded up from a tenth on",
        "Bpref": preference,
        "infAP": f"mean over {every} of 1/i + (i-1)/i * (pooled before it)/(i-1) * (share relevant of those judged)",
        "IPrec": reached,
        "IPrecAvg": f"mean over the recalls {metric['recalls'].strip('{}')} of {reached}",
        "binG": f"mean over {every} of 1/log2(2 + other items before it)",
        "G": f"sum of g/log2(2 + c - s) / sum of all gains, g = {gain}, s and c what list and ideal gained by then",
        "ndcg_rel": f"mean over the items that gain something of dcg / idcg at their rank, gain = {gain}",
        "Rndcg": f"mean of dcg / idcg over the ranks where the ideal gain drops, and the list's end, gain = {gain}",
        "yaap": f"ln((1 + s) / (1 + R - s)), s = {precision}, R = {every}",
        "Utility": f"{hit} * relevant and listed + {noise} * listed alone + {miss} * relevant alone + {rest} * neither",
        "GMAP": f"ln of the larger of 0.00001 and {precision} / {every}; of the groups e^(their mean)",
        "GMBpref": f"ln of the larger of 0.00001 and the {preference}; of the groups e^(their mean)",
        "Unjudged": f"{not_judged} among {first} / {metric.cutoff}",
        "RBPResidual": f"(1 - p) * sum of p^(i - 1) over the ranks i of {not_judged}, + p^n if any, p = {metric['p']}",
        "NumQ": "1; of the groups the sum",
        "NumRet": f"{relevant} in the list; of the groups the sum",
        "NumRel": f"{every}; of the groups the sum",
        "NumNonrelJudgedRet": f"{judged} in the list; of the groups the sum",
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
    """Return the meaning of the metric's measure, in words."""
    return MEASURES[metric.measure]

"""ir_measures: its measure texts, and what the provider it picks for them computes."""

from __future__ import annotations

from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.dialects.dialect import Call, Dialect, choice_of, native_cutoff, no_options, parse_call
from ndcg_tracker.metrics.gains import number_text

_PYTREC = {"score_type": "f32", "label_domain": "int"}
_NAMES = {"nDCG": "ndcg", "NDCG": "ndcg", "Precision": "P", "Recall": "R", "MAP": "AP", "MRR": "RR"}
_RELEVANCE = ("P", "R", "AP", "RR", "Success", "SetP")


def _parse(options: str, native: str) -> Metric:
    no_options(options)
    end = native.rfind(")")
    head, cutoff = native_cutoff(native) if end < 0 else _split(native, end)
    call = parse_call(head)
    measure = _NAMES.get(call.name, call.name)
    if measure == "ndcg":
        return _ndcg(call, cutoff)
    if measure == "ERR":
        call.settle((), {})
        if cutoff is None:
            raise MetricError("ERR needs a cutoff")
        return Metric.of("ERR", cutoff=cutoff, label_domain="int_le4", round="5")
    if measure == "Judged":
        call.settle((), {})
        return Metric.of("Judged", cutoff=cutoff)
    if measure == "RBP":
        given = call.settle((), {"p": 0.8, "rel": None})
        if given["rel"] is None:
            raise MetricError("RBP without rel= has no provider in ir_measures")
        return Metric.of("RBP", cutoff=cutoff, p=str(given["p"]), rel=_whole(given["rel"], "rel"))
    if measure in _RELEVANCE:
        given = call.settle((), {"rel": 1, "judged_only": False})
        settings = {"rel": _whole(given["rel"], "rel"), **_judged_only(given)}
        if measure != "RR" or cutoff is None:
            settings |= _PYTREC
        return Metric.of(measure, cutoff=cutoff, **settings)
    raise MetricError(f"measure {call.name!r} is not known")


def _split(native: str, end: int) -> tuple[str, int | None]:
    _, cutoff = native_cutoff("m" + native[end + 1 :])
    return native[: end + 1], cutoff


def _ndcg(call: Call, cutoff: int | None) -> Metric:
    given = call.settle((), {"dcg": "log2", "gains": None, "judged_only": False})
    choice_of(given["dcg"], "dcg", ("log2", "exp-log2"))
    if given["dcg"] == "exp-log2":
        if cutoff is None or given["gains"] is not None or given["judged_only"]:
            raise MetricError("nDCG(dcg='exp-log2') needs a cutoff and takes neither gains nor judged_only")
        return Metric.of("ndcg", cutoff=cutoff, gain="exp2", label_domain="int_le4", round="5")
    settings = _PYTREC | _judged_only(given)
    if given["gains"] is not None:
        if not isinstance(given["gains"], dict):
            raise MetricError(f"gains={given['gains']!r} is no mapping of grades to gains")
        entries = (f"{_whole(grade, 'gains')}:{_whole(gain, 'gains')}" for grade, gain in given["gains"].items())
        settings["gain"] = "{" + ",".join(entries) + "}"
    return Metric.of("ndcg", cutoff=cutoff, **settings)


def _judged_only(given: dict[str, Any]) -> dict[str, str]:
    judged_only = choice_of(given["judged_only"], "judged_only", (True, False))
    return {"unjudged": "drop", "negative": "drop"} if judged_only else {}


def _whole(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int):
        raise MetricError(f"{name}={value!r} is no whole number")
    return number_text(value)


IR_MEASURES = Dialect(
    "ir_measures",
    "ir_measures 0.4.3",
    _parse,
    lambda cutoff: f"nDCG@{cutoff}",
    1e-12,
    "1e-12; where gdeval computes (dcg='exp-log2', ERR) 5 decimals per group",
    (
        "A group that is missing from the run counts 0.",
        "dcg='exp-log2' and ERR go to gdeval, which refuses grades above 4 and rounds each group to 5 decimals.",
        "RR with a cutoff and Judged break ties by ascending item id, all others by descending item id.",
        "A grade that gains= does not name keeps its own value.",
    ),
    (
        "ir_measures:nDCG@10",
        "ir_measures:nDCG",
        "ir_measures:nDCG(judged_only=True)@10",
        "ir_measures:nDCG(dcg='exp-log2')@10",
        "ir_measures:nDCG(gains={1:3})@10",
        "ir_measures:P(rel=2)@10",
        "ir_measures:R@100",
        "ir_measures:AP",
        "ir_measures:RR@10",
        "ir_measures:Success@1",
        "ir_measures:Judged@10",
        "ir_measures:ERR@20",
        "ir_measures:RBP(rel=1)",
        "ir_measures:SetP",
    ),
)

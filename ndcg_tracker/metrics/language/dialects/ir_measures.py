"""ir_measures: its texts for measures, and what the provider that it chooses for them computes."""

from __future__ import annotations

import math
import re
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import number_text
from ndcg_tracker.metrics.language.dialects.dialect import (
    Call,
    Dialect,
    Table,
    choice_of,
    native_cutoff,
    parse_call,
    without_options,
)
from ndcg_tracker.metrics.language.metric import Metric

_PYTREC = {"score_type": "f32", "label_domain": "int"}
_NAMES = {"nDCG": "ndcg", "NDCG": "ndcg", "Precision": "P", "Recall": "R", "MAP": "AP", "MRR": "RR"}
_RELEVANCE = ("P", "R", "AP", "RR", "Success", "SetP", "SetAP", "SetF", "Rprec", "IPrec")
_IPREC = re.compile(r"(?P<call>IPrec(?:\(.*\))?)@(?P<recall>\d*\.?\d+)", re.ASCII)
_MOST_PATIENT = 0.97


def _parse(native: str) -> Metric:
    recall = _IPREC.fullmatch(native)
    if recall is not None:
        native = recall["call"]
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
        return _rbp(call, cutoff)
    if measure in ("NumQ", "NumRel", "NumRet", "NumRelRet", "Bpref", "infAP", "SetR") and cutoff is None:
        return _without_judged_only(call)
    if measure in _RELEVANCE:
        of_sets: dict[str, dict[str, Any]] = {"SetP": {"relative": False}, "SetF": {"beta": 1.0}}
        given = call.settle((), {"rel": 1, "judged_only": False} | of_sets.get(measure, {}))
        settings = _judged_only(given)
        if measure == "IPrec":
            if recall is None:
                raise MetricError("IPrec needs a recall after the @")
            settings["recall"] = recall["recall"]
        if measure == "SetP":
            settings["relative"] = str(choice_of(given["relative"], "relative", (True, False)))
        if measure == "SetF":
            settings["beta"] = _beta(given["beta"])
        if measure == "RR" and cutoff is not None:
            if settings:
                raise MetricError("RR with a cutoff and judged_only has no provider in ir_measures")
            return Metric.of("RR", cutoff=cutoff, rel=_whole(given["rel"], "rel", 0))
        return Metric.of(measure, cutoff=cutoff, rel=_whole(given["rel"], "rel", 1), **settings, **_PYTREC)
    raise MetricError(f"measure {call.name!r} is not known")


def _without_judged_only(call: Call) -> Metric:
    """Return a measure that ir_measures has only for whole lists; a group that is missing from the run counts 0."""
    if call.name == "NumRelRet":
        call.settle((), {})
        return Metric.of("NumRet", cutoff=None, rel="1", **_PYTREC)
    if call.name in ("NumQ", "NumRel"):
        given = call.settle((), {} if call.name == "NumQ" else {"rel": 1})
        if given.get("rel", 1) != 1:
            raise MetricError("NumRel with a rel other than 1 has no provider in ir_measures")
        return Metric.of(call.name, missing="zero", label_domain="int")
    given = call.settle((), {"rel": None if call.name == "NumRet" else 1})
    rel = "any" if given["rel"] is None else _whole(given["rel"], "rel", 1)
    return Metric.of(call.name, cutoff=None, rel=rel, **_PYTREC)


def _beta(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, float) or not 0 < value < math.inf:
        raise MetricError(f"beta={value!r} is not a decimal above 0")
    return number_text(float(value))


def _rbp(call: Call, cutoff: int | None) -> Metric:
    given = call.settle((), {"p": 0.8, "rel": None})
    if given["rel"] is None or cutoff is not None:
        raise MetricError("RBP without rel=, or with a cutoff, has no provider in ir_measures")
    p = given["p"]
    if isinstance(p, bool) or not isinstance(p, float) or not 0 < p <= _MOST_PATIENT:
        raise MetricError(
            f"p={p!r} is not between 0 and {_MOST_PATIENT}; above, cwl_eval's cut at rank 1000 changes the value"
        )
    return Metric.of("RBP", p=number_text(p), rel=_whole(given["rel"], "rel", 1), ties="input")


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
            raise MetricError(f"gains={given['gains']!r} is not a mapping of grades to gains")
        entries = (f"{_whole(grade, 'gains')}:{_whole(gain, 'gains')}" for grade, gain in given["gains"].items())
        settings["gain"] = "{" + ",".join(entries) + "}"
    return Metric.of("ndcg", cutoff=cutoff, **settings)


def _judged_only(given: dict[str, Any]) -> dict[str, str]:
    judged_only = choice_of(given["judged_only"], "judged_only", (True, False))
    return {"unjudged": "drop", "negative": "drop"} if judged_only else {}


def _whole(value: Any, name: str, least: int | None = None) -> str:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 1 << 63:
        raise MetricError(f"{name} takes whole numbers")
    if least is not None and value < least:
        raise MetricError(f"{name}={value} is not known; it is a whole number from {least}")
    return number_text(value)


IR_MEASURES = Dialect(
    "ir_measures",
    "ir_measures 0.4.3",
    without_options(_parse),
    lambda cutoff: f"nDCG@{cutoff}",
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
        "ir_measures:SetP(relative=True)",
        "ir_measures:SetR",
        "ir_measures:SetAP",
        "ir_measures:SetF(beta=0.5)",
        "ir_measures:Rprec",
        "ir_measures:Bpref",
        "ir_measures:infAP",
        "ir_measures:IPrec@0.1",
        "ir_measures:NumRet",
        "ir_measures:NumRet(rel=1)",
        "ir_measures:NumRel",
        "ir_measures:NumQ",
    ),
    agreement="1e-12; 5 decimals per group if gdeval computes it (dcg='exp-log2', ERR)",
)

GDEVAL = Table(
    "gdeval",
    "gdeval.pl 1.3 of TREC",
    {"ndcg": "ndcg(gain=exp2)", "err": "ERR"},
    is_cut=True,
    shared="label_domain=int_le4, round=5, missing=skip",
    agreement="its 5 decimals",
).dialect()

"""Boosting libraries: the metrics that CatBoost, LightGBM and XGBoost write to their logs."""

from __future__ import annotations

import re
import struct

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import number_text
from ndcg_tracker.metrics.language.dialects.dialect import (
    Call,
    Dialect,
    Option,
    Row,
    Table,
    native_cutoff,
    one_of,
)
from ndcg_tracker.metrics.language.metric import Metric

_OF_LIST = {"over": "achievable", "ideal": "retrieved", "label_type": "f32"}
"""The divisor of average precision: the number of relevant items in the list or the cutoff, whichever is smaller."""
_SHARED = {
    "ideal": "retrieved",
    "negative": "keep",
    "label_type": "f32",
    "weight_type": "f32",
    "empty": "1",
}


def _of_log(native: str) -> tuple[Call, int | None]:
    """Return what ``NDCG:top=10;type=Exp`` spells."""
    name, _, rest = native.partition(":")
    given = dict(option.partition("=")[::2] for option in rest.split(";") if option)
    top = given.pop("top", "-1")
    return Call(name, (), given), None if top == "-1" else native_cutoff(f"{name}@{top}")[1]


def _number(text: str, name: str) -> float:
    if not re.fullmatch(r"-?\d*\.?\d+", text, re.ASCII):
        raise MetricError(f"{name}={text} is not a number", advice="write it like border=0.5")
    return float(text)


def _above(border: str, name: str) -> str:
    """Return what makes labels above a border relevant, both in single precision.

    >>> _above("0.5", "border"), _above("0.3", "border")
    ('rel=>0.5', 'rel=>0.30000001192092896')
    """
    try:
        (single,) = struct.unpack("f", struct.pack("f", _number(border, name)))
    except OverflowError:
        raise MetricError("border is too large for single precision", advice="write it like border=0.5") from None
    return f"rel=>{number_text(single)}"


_WEIGHTED = one_of({"true": "weights=group", "false": ""})
_GAINS = {
    "type": one_of({"Base": "", "Exp": "gain=exp2"}),
    "denominator": one_of({"LogPosition": "", "Position": "discount=position"}),
    "use_weights": _WEIGHTED,
}
_HITS: dict[str, Option] = {"border": ("0.5", _above), "use_weights": one_of({"true": "", "false": ""})}
_DECAY = ("0.85", lambda text, name: f"p={number_text(_number(text, name))}")
CATBOOST = Table(
    "catboost",
    "CatBoost 1.2.10",
    {
        "NDCG": Row("ndcg(ideal=retrieved, negative=keep, empty=1)", options=_GAINS),
        "DCG": Row("dcg(negative=keep)", options=_GAINS),
        "MAP": Row("AP(over=achievable, ideal=retrieved)", options=_HITS),
        "MRR": Row("RR", options={**_HITS, "use_weights": _WEIGHTED}),
        "PrecisionAt": Row("P(over=list)", "SetP", _HITS),
        "RecallAt": Row("R(ideal=retrieved, empty=1)", options=_HITS),
        "PFound": Row("PFound", options={"decay": _DECAY, "use_weights": _WEIGHTED}),
        "QueryAUC": Row(
            "AUC(ideal=retrieved, ties=average, label_domain=int0to1)",
            options={"type": one_of({"Classic": "", "Ranking": ""}), "use_weights": _HITS["use_weights"]},
        ),
    },
    cut="top",
    read=_of_log,
    written="{}:top={}",
    shared="label_type=f32, weight_type=f32, ties=pessimistic",
    more="NDCG; NDCG:top=10;type=Exp;denominator=Position; NDCG:type=Exp; NDCG:top=-1;use_weights=false; MAP; MRR; "
    "MRR:top=10;border=1.5; PFound:top=10;decay=0.9",
    agreement="1e-12, weighted mean included",
    refused={"ERR": ("takes labels as probabilities", "PFound@10")},
).dialect()


def _lightgbm(options: str, native: str) -> Metric:
    name, cutoff = native_cutoff(native)
    if name not in ("ndcg", "map") or cutoff is None:
        raise MetricError(f"metric {native!r} is not known; LightGBM prints ndcg@1, map@1, ndcg@2, ...")
    if name == "map":
        if options:
            raise MetricError(f"({options}) has no effect on map", advice=f"write map@{cutoff} alone")
        weights = {"weights": "item_mean", "weight_type": "f32"}
        return Metric.of("AP", cutoff=cutoff, rel=">0.5", empty="1", ties="input", **_OF_LIST, **weights)
    settings = {**_SHARED, "ties": "input", "ideal_order": "label", "weights": "item_mean", "empty_weight": "one"}
    if not options:
        return Metric.of("ndcg", cutoff=cutoff, gain="exp2", label_domain="int0to30", **settings)
    key, _, value = options.partition("=")
    gains = value.strip().split(",")
    if key.strip() != "label_gain" or not all(re.fullmatch(r"\s*\d+(\.\d+)?\s*", gain, re.ASCII) for gain in gains):
        raise MetricError(f"({options}) is not a list of gains")
    table = "{" + ",".join(f"{grade}:{gain.strip()}" for grade, gain in enumerate(gains)) + "}"
    return Metric.of("ndcg", cutoff=cutoff, gain=table, label_domain=f"int0to{len(gains) - 1}", **settings)


def _xgboost(options: str, native: str) -> Metric:
    exponential = {"": True, "ndcg_exp_gain=true": True, "ndcg_exp_gain=false": False}.get(options.replace(" ", ""))
    if exponential is None:
        raise MetricError(f"({options}) is not an option; the options are ndcg_exp_gain=true and ndcg_exp_gain=false")
    minus = native.endswith("-")
    name, cutoff = native_cutoff(native.removesuffix("-"))
    if name not in ("ndcg", "map", "pre"):
        raise MetricError(f"metric {name!r} is not known; it is ndcg, map or pre")
    if options and name != "ndcg":
        raise MetricError(f"({options}) has no effect on {name}", advice=f"write {native} alone")
    settings = {"label_type": "f32", "score_type": "f32", "ties": "input", "all_skipped": "0"}
    settings |= {"weights": "group", "weight_type": "f32", "empty": "0" if minus else "1"}
    if name == "ndcg":
        settings = _SHARED | settings | {"empty_weight": "one", "clip": "error_above_1"}
        settings |= {"gain": "exp2", "label_domain": "int0to31"} if exponential else {}
    else:
        settings |= {"label_domain": "int0to1"} | (_OF_LIST if name == "map" else {"over": "list", "empty": "0"})
    return Metric.of({"map": "AP", "pre": "P"}.get(name, name), cutoff=cutoff or 32, **settings)


LIGHTGBM = Dialect(
    "lightgbm",
    "LightGBM 4.7.0",
    _lightgbm,
    lambda cutoff: f"ndcg@{cutoff}",
    ("lightgbm:ndcg@10", "lightgbm(label_gain=0,1,3,7):ndcg@10", "lightgbm:map@10"),
    agreement="1e-12, weighted mean included",
)

XGBOOST = Dialect(
    "xgboost",
    "XGBoost 3.2.0",
    _xgboost,
    lambda cutoff: f"ndcg@{cutoff}",
    (
        "xgboost:ndcg@10",
        "xgboost:ndcg@10-",
        "xgboost:ndcg",
        "xgboost(ndcg_exp_gain=false):ndcg@10",
        "xgboost:map@10",
        "xgboost:map@10-",
        "xgboost:map",
        "xgboost:pre@10",
    ),
    agreement="1e-12, weighted mean included",
)

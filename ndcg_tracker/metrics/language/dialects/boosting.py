"""Boosting libraries: the metrics that CatBoost, LightGBM and XGBoost write to their logs."""

from __future__ import annotations

import re
import struct

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import number_text
from ndcg_tracker.metrics.language.dialects.dialect import Dialect, native_cutoff, without_options
from ndcg_tracker.metrics.language.metric import Metric, cutoff_from

_OF_LIST = {"over": "achievable", "ideal": "retrieved", "label_type": "f32"}
"""The divisor of average precision: the number of relevant items in the list or the cutoff, whichever is smaller."""
_SHARED = {
    "ideal": "retrieved",
    "negative": "keep",
    "label_type": "f32",
    "weight_type": "f32",
    "empty": "1",
}


_OF_HITS = {"top": "-1", "border": "0.5", "use_weights": "true"}
_CATBOOST: dict[str, dict[str, str]] = {
    "NDCG": {"top": "-1", "type": "Base", "denominator": "LogPosition", "use_weights": "true"},
    **dict.fromkeys(("MAP", "MRR", "PrecisionAt", "RecallAt"), _OF_HITS),
}
"""The metrics of CatBoost that are known here, with their options."""


def _catboost(native: str) -> Metric:
    name, _, rest = native.partition(":")
    if name not in _CATBOOST:
        raise MetricError(f"metric {name!r} is not known; it is one of {', '.join(_CATBOOST)}")
    given = dict(_CATBOOST[name])
    for option in filter(None, rest.split(";")):
        key, equals, value = option.partition("=")
        if not equals or key not in given:
            raise MetricError(f"{option!r} is not an option of {name}; its options are {', '.join(given)}")
        given[key] = value
    if not re.fullmatch(r"-1|[1-9]\d*", given["top"], re.ASCII):
        raise MetricError(f"top={given['top']} is not a cutoff", advice="give a whole number from 1, or -1 for none")
    if given["use_weights"].lower() not in ("true", "false"):
        raise MetricError(f"use_weights={given['use_weights']} is neither true nor false")
    weights = {"weights": "group"} if given["use_weights"].lower() == "true" else {}
    cutoff = None if given["top"] == "-1" else cutoff_from(given["top"])
    if name != "NDCG":
        return _catboost_of_hits(name, cutoff, given["border"], weights)
    gain = {"Base": "linear", "Exp": "exp2"}.get(given["type"])
    discount = {"LogPosition": "log2", "Position": "position"}.get(given["denominator"])
    if gain is None or discount is None:
        raise MetricError("type must be Base or Exp, and denominator LogPosition or Position")
    return Metric.of("ndcg", cutoff=cutoff, gain=gain, discount=discount, ties="pessimistic", **_SHARED, **weights)


def _catboost_of_hits(name: str, cutoff: int | None, border: str, weights: dict[str, str]) -> Metric:
    """Return a CatBoost metric for which labels above a border are relevant; only MRR is weighted."""
    if not re.fullmatch(r"-?\d*\.?\d+", border, re.ASCII):
        raise MetricError(f"border={border} is not a number", advice="write it like border=0.5")
    settings = {"rel": _above(float(border)), "label_type": "f32", "ties": "pessimistic"}
    if name == "MRR":
        return Metric.of("RR", cutoff=cutoff, weight_type="f32", **settings, **weights)
    if name == "MAP":
        return Metric.of("AP", cutoff=cutoff, over="achievable", ideal="retrieved", **settings)
    if cutoff is None:
        if name == "PrecisionAt":
            return Metric.of("SetP", cutoff=None, **settings)
        raise MetricError("RecallAt without top is 1 for every list", advice="give top")
    if name == "PrecisionAt":
        return Metric.of("P", cutoff=cutoff, over="list", **settings)
    return Metric.of("R", cutoff=cutoff, ideal="retrieved", empty="1", **settings)


def _above(border: float) -> str:
    """Return the value of ``rel`` for labels above a border, both in single precision.

    >>> _above(0.5), _above(0.3)
    ('>0.5', '>0.30000001192092896')
    """
    try:
        (single,) = struct.unpack("f", struct.pack("f", border))
    except OverflowError:
        raise MetricError("border is too large for single precision", advice="write it like border=0.5") from None
    return f">{number_text(single)}"


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
    cutoff = cutoff or 32
    if name != "ndcg":
        if options:
            raise MetricError(f"({options}) has no effect on {name}", advice=f"write {native} alone")
        settings = {"label_domain": "int0to1", "label_type": "f32", "ties": "input", "score_type": "f32"}
        settings |= {"weights": "group", "weight_type": "f32", "all_skipped": "0"}
        if name == "pre":
            return Metric.of("P", cutoff=cutoff, over="list", **settings)
        return Metric.of("AP", cutoff=cutoff, empty="0" if minus else "1", **(settings | _OF_LIST))
    settings = {**_SHARED, "empty": "0" if minus else "1", "ties": "input", "score_type": "f32"}
    settings |= {"weights": "group", "empty_weight": "one", "all_skipped": "0", "clip": "error_above_1"}
    if exponential:
        settings |= {"gain": "exp2", "label_domain": "int0to31"}
    return Metric.of("ndcg", cutoff=cutoff, **settings)


CATBOOST = Dialect(
    "catboost",
    "CatBoost 1.2.10",
    without_options(_catboost),
    lambda cutoff: f"NDCG:top={cutoff};type=Base",
    1e-12,
    "1e-12, weighted mean included",
    (
        "catboost:NDCG:top=10",
        "catboost:NDCG:top=10;type=Exp;denominator=Position",
        "catboost:NDCG:top=10;type=Base",
        "catboost:NDCG:type=Exp",
        "catboost:NDCG",
        "catboost:NDCG:top=-1;use_weights=false",
        "catboost:MAP:top=10",
        "catboost:MAP",
        "catboost:MRR",
        "catboost:MRR:top=10;border=1.5",
        "catboost:PrecisionAt:top=10",
        "catboost:RecallAt:top=10",
    ),
)

LIGHTGBM = Dialect(
    "lightgbm",
    "LightGBM 4.7.0",
    _lightgbm,
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "1e-12, weighted mean included",
    ("lightgbm:ndcg@10", "lightgbm(label_gain=0,1,3,7):ndcg@10", "lightgbm:map@10"),
)

XGBOOST = Dialect(
    "xgboost",
    "XGBoost 3.2.0",
    _xgboost,
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "1e-12, weighted mean included",
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
)

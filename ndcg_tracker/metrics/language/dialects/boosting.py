"""Boosting libraries: what CatBoost, LightGBM and XGBoost write into their logs."""

from __future__ import annotations

import re

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects.dialect import Dialect, native_cutoff, without_options
from ndcg_tracker.metrics.language.metric import Metric, cutoff_from

_SHARED = {
    "ideal": "retrieved",
    "negative": "keep",
    "label_type": "f32",
    "weight_type": "f32",
    "empty": "1",
}
_WEIGHTLESS = "An object's own weight does not count, only that of its group."


def _catboost(native: str) -> Metric:
    name, _, rest = native.partition(":")
    if name != "NDCG":
        raise MetricError(f"metric {name!r} is not known; it is NDCG")
    given = {"top": "-1", "type": "Base", "denominator": "LogPosition", "use_weights": "true"}
    for option in filter(None, rest.split(";")):
        key, equals, value = option.partition("=")
        if not equals or key not in given:
            raise MetricError(f"{option!r} is not an option of NDCG; its options are {', '.join(given)}")
        given[key] = value
    gain = {"Base": "linear", "Exp": "exp2"}.get(given["type"])
    discount = {"LogPosition": "log2", "Position": "position"}.get(given["denominator"])
    if gain is None or discount is None:
        raise MetricError("type is Base or Exp, denominator is LogPosition or Position")
    if not re.fullmatch(r"-1|[1-9]\d*", given["top"], re.ASCII):
        raise MetricError(f"top={given['top']} is not a cutoff", advice="give a whole number from 1, or -1 for none")
    if given["use_weights"].lower() not in ("true", "false"):
        raise MetricError(f"use_weights={given['use_weights']} is neither true nor false")
    weights = {"weights": "group"} if given["use_weights"].lower() == "true" else {}
    cutoff = None if given["top"] == "-1" else cutoff_from(given["top"])
    return Metric.of("ndcg", cutoff=cutoff, gain=gain, discount=discount, ties="pessimistic", **_SHARED, **weights)


def _lightgbm(options: str, native: str) -> Metric:
    name, cutoff = native_cutoff(native)
    if name != "ndcg" or cutoff is None:
        raise MetricError(f"metric {native!r} is not known; LightGBM prints ndcg@1, ndcg@2, ...")
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
    if name != "ndcg":
        raise MetricError(f"metric {name!r} is not known; it is ndcg")
    settings = {**_SHARED, "empty": "0" if minus else "1", "ties": "input", "score_type": "f32"}
    settings |= {"weights": "group", "empty_weight": "one", "all_skipped": "0", "clip": "error_above_1"}
    if exponential:
        settings |= {"gain": "exp2", "label_domain": "int0to31"}
    return Metric.of("ndcg", cutoff=cutoff or 32, **settings)


CATBOOST = Dialect(
    "catboost",
    "CatBoost 1.2.10",
    without_options(_catboost),
    lambda cutoff: f"NDCG:top={cutoff};type=Base",
    1e-12,
    "1e-12, weighted mean included",
    (
        "A group without a relevant item counts 1.",
        "Items of equal score are taken in the worst order.",
        f"{_WEIGHTLESS} Weights are single-precision numbers.",
        "The ideal uses the items of the list alone.",
    ),
    (
        "catboost:NDCG:top=10;type=Exp;denominator=Position",
        "catboost:NDCG:top=10;type=Base",
        "catboost:NDCG:type=Exp",
        "catboost:NDCG",
        "catboost:NDCG:top=-1;use_weights=false",
    ),
)

LIGHTGBM = Dialect(
    "lightgbm",
    "LightGBM 4.7.0",
    _lightgbm,
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "1e-12, weighted mean included",
    (
        "A group without a relevant item counts 1, and that 1 is added unweighted: weighted means above 1 were seen.",
        "Grades are whole numbers from 0 to 30, or to the end of label_gain.",
        "The ideal order goes by label, so a table of gains that does not rise gives values above 1.",
        "A group weighs by the mean weight of its items, summed in single precision.",
    ),
    ("lightgbm:ndcg@10", "lightgbm(label_gain=0,1,3,7):ndcg@10"),
)

XGBOOST = Dialect(
    "xgboost",
    "XGBoost 3.2.0",
    _xgboost,
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "1e-12, weighted mean included",
    (
        "Plain ndcg is ndcg@32.",
        "A group without a relevant item counts 1, with a minus after the name 0; both are added unweighted.",
        "Scores, labels and weights are single-precision numbers.",
        "Grades are whole numbers from 0 to 31 unless ndcg_exp_gain=false.",
    ),
    ("xgboost:ndcg@10", "xgboost:ndcg@10-", "xgboost:ndcg", "xgboost(ndcg_exp_gain=false):ndcg@10"),
)

"""Libraries: calls of scikit-learn, torchmetrics and Spark, names of ranx, RecTools, RecBole and boosting logs."""

from __future__ import annotations

import re
from functools import partial

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects.dialect import (
    Dialect,
    choice_of,
    cutoff_of,
    native_cutoff,
    parse_call,
    without_options,
)
from ndcg_tracker.metrics.language.metric import Metric, cutoff_from


def _sklearn(native: str) -> Metric:
    call = parse_call(native, "ndcg_score", "dcg_score")
    given = call.settle((), {"k": None, "ignore_ties": False})
    if choice_of(given["ignore_ties"], "ignore_ties", (True, False)):
        raise MetricError("ignore_ties=True leaves ties to NumPy's unstable sort, whose order depends on the processor")
    cutoff = cutoff_of(given["k"], "k")
    settings = {"ties": "average", "label_domain": "ge0", "weights": "group"}
    if call.name == "dcg_score":
        del settings["label_domain"]
        return Metric.of("dcg", cutoff=cutoff, negative="keep", **settings)
    return Metric.of("ndcg", cutoff=cutoff, ideal="retrieved", negative="keep", size1="error", **settings)


def _torchmetrics(native: str) -> Metric:
    given = parse_call(native, "RetrievalNormalizedDCG").settle((), {"top_k": None, "empty_target_action": "neg"})
    action = choice_of(given["empty_target_action"], "empty_target_action", ("neg", "pos", "skip", "error"))
    return Metric.of(
        "ndcg",
        cutoff=cutoff_of(given["top_k"], "top_k"),
        ties="average",
        ideal="retrieved",
        negative="keep",
        empty={"neg": "0", "pos": "1", "skip": "skip", "error": "error"}[action],
        empty_when="labels_sum_0",
        all_skipped="0",
        score_type="f32",
        label_type="f32",
        arithmetic="f32",
    )


SKLEARN = Dialect(
    "sklearn",
    "scikit-learn 1.9.1",
    without_options(_sklearn),
    lambda cutoff: f"ndcg_score(k={cutoff})",
    1e-12,
    "1e-12",
    (
        "Ties are averaged over every order.",
        "The ideal uses the items of the list alone: relevant items that were not retrieved do not count.",
        "A group of one item and a label below 0 are refused.",
        "ignore_ties=True gives other values on other processors, and is refused.",
    ),
    (
        "sklearn:ndcg_score(k=10)",
        "sklearn:ndcg_score(k=10, ignore_ties=False)",
        "sklearn:ndcg_score()",
        "sklearn:dcg_score(k=10)",
    ),
)

TORCHMETRICS = Dialect(
    "torchmetrics",
    "torchmetrics 1.9.0",
    without_options(_torchmetrics),
    lambda cutoff: f"RetrievalNormalizedDCG(top_k={cutoff})",
    1e-6,
    "1e-6: it computes in single precision",
    (
        "Ties are averaged over every order, and scores that differ in double precision may tie.",
        "A group whose labels add up to 0 counts 0; empty_target_action changes that.",
    ),
    (
        "torchmetrics:RetrievalNormalizedDCG(top_k=10)",
        "torchmetrics:RetrievalNormalizedDCG(top_k=10, empty_target_action='skip')",
        "torchmetrics:RetrievalNormalizedDCG()",
    ),
)


def _ranx(native: str) -> Metric:
    name, cutoff = native_cutoff(native)
    form = re.fullmatch(r"(ndcg|ndcg_burges)(?:-l([1-9]\d*))?", name, re.ASCII)
    if form is None:
        raise MetricError(f"metric {name!r} is not known; it is ndcg or ndcg_burges")
    gain = {"ndcg": "linear", "ndcg_burges": "exp2"}[form[1]] + (f">={form[2]}" if form[2] else "")
    return Metric.of("ndcg", cutoff=cutoff, gain=gain, label_type="int", ties="input")


def _spark(native: str, gain: str) -> Metric:
    cutoff = cutoff_of(parse_call(native, "ndcgAt").settle(("k",), {"k": None})["k"], "k")
    if cutoff is None:
        raise MetricError("ndcgAt needs a cutoff")
    return Metric.of(
        "ndcg", cutoff=cutoff, gain=gain, ties="input", negative="keep", extra="empty", empty_when="ideal_eq_0"
    )


def _rectools(native: str) -> Metric:
    given = parse_call(native, "NDCG").settle(("k",), {"k": None, "log_base": 2, "divide_by_achievable": False})
    cutoff = cutoff_of(given["k"], "k")
    if cutoff is None:
        raise MetricError("NDCG needs k")
    base = given["log_base"]
    if isinstance(base, bool) or not isinstance(base, int | float) or base <= 1:
        raise MetricError(f"log_base={base!r} is not a base", advice="give a number above 1 (it cancels)")
    achievable = choice_of(given["divide_by_achievable"], "divide_by_achievable", (True, False))
    ideal = "judged" if achievable else "constant"
    return Metric.of("ndcg", cutoff=cutoff, gain="binary", ties="input", ideal=ideal, empty="skip")


def _recbole(native: str) -> Metric:
    name, cutoff = native_cutoff(native)
    if name.lower() != "ndcg" or cutoff is None:
        raise MetricError(f"metric {native!r} is not known; RecBole prints ndcg@10")
    return Metric.of("ndcg", cutoff=cutoff, gain="binary", ties="input", round="4", round_of="mean")


RANX = Dialect(
    "ranx",
    "ranx 0.3.21",
    without_options(_ranx),
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "1e-12 where no scores tie: its sort is unstable for 16 items or more",
    (
        "Ties are left to an unstable sort: values of tied lists differ from machine to machine.",
        "Labels are cut to whole numbers; a negative one gains nothing.",
        "-l2 after the name counts only grades from 2.",
    ),
    ("ranx:ndcg@10", "ranx:ndcg_burges@10", "ranx:ndcg-l2@10", "ranx:ndcg"),
    unstable_from=16,
)

SPARK = Dialect(
    "spark",
    "pyspark 4.3.0",
    without_options(partial(_spark, gain="binary")),
    lambda cutoff: f"ndcgAt({cutoff})",
    1e-12,
    "1e-12",
    ("Python's RankingMetrics knows relevant items only, no grades.", "A group of the run without labels counts 0."),
    ("spark:ndcgAt(10)",),
)

SPARK_GRADED = Dialect(
    "spark_graded",
    "Spark 4.3.0 on the JVM",
    without_options(partial(_spark, gain="exp2")),
    lambda cutoff: f"ndcgAt({cutoff})",
    1e-12,
    "1e-12, with the labels handed over in descending order",
    (
        "Grades exist only on the JVM, and gain 2^l - 1.",
        "The ideal takes labels in the order in which they are handed over: sort them, or its values are too high.",
        "A group of the run without labels counts 0.",
    ),
    ("spark_graded:ndcgAt(10)",),
)

RECTOOLS = Dialect(
    "rectools",
    "RecTools 0.19.0",
    without_options(_rectools),
    lambda cutoff: f"NDCG(k={cutoff})",
    1e-12,
    "1e-12",
    (
        "By default the ideal is k hits, even if fewer items are relevant: a perfect list then scores below 1.",
        "Users without a relevant item are left out.",
    ),
    ("rectools:NDCG(k=10)", "rectools:NDCG(k=10, divide_by_achievable=True)"),
    is_by_rank=True,
)

RECBOLE = Dialect(
    "recbole",
    "RecBole 1.2.1",
    without_options(_recbole),
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "the mean to its 4 decimals",
    ("The mean is rounded to 4 decimals.", "Items with a positive label are relevant; there are no grades."),
    ("recbole:ndcg@10",),
    is_by_rank=True,
)


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

"""Libraries: calls of scikit-learn, torchmetrics and Spark, and names of ranx."""

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
from ndcg_tracker.metrics.language.metric import Metric


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
        "torchmetrics:RetrievalNormalizedDCG(top_k=10)",
        "torchmetrics:RetrievalNormalizedDCG(top_k=10, empty_target_action='skip')",
        "torchmetrics:RetrievalNormalizedDCG()",
    ),
)


_RANX = re.compile(
    r"(?P<name>rbp[.@](?P<p>\d+)|r-precision|[a-z_1]+)(?:-l(?P<first>\d+))?(?:@(?P<cutoff>\d+))?(?:-l(?P<last>\d+))?",
    re.ASCII,
)
_RANX_GAINS = {
    "hits": ("cg", "binary"),
    "dcg": ("dcg", "linear"),
    "dcg_burges": ("dcg", "exp2"),
    "ndcg": ("ndcg", "linear"),
    "ndcg_burges": ("ndcg", "exp2"),
    "rbp": ("dcg", "linear"),
}
_RANX_COUNTS = {
    "hit_rate": ("Success", "Success"),
    "precision": ("P", "SetP"),
    "recall": ("R", "SetR"),
    "f1": ("F1", "SetF"),
    "mrr": ("RR", "RR"),
    "map": ("AP", "AP"),
    "r-precision": ("Rprec", "Rprec"),
    "bpref": ("Bpref", "Bpref"),
}
"""ranx's name of a measure, and ours with a cutoff and for whole lists."""
_WHOLE_LISTS = ("r-precision", "bpref", "rbp")


def _ranx(native: str) -> Metric:
    form = _RANX.fullmatch(native)
    name = "" if form is None else "rbp" if form["p"] else form["name"]
    if form is None or name not in {**_RANX_GAINS, **_RANX_COUNTS} or (name == "rbp" and not form["p"]):
        names = ", ".join([*_RANX_GAINS, *_RANX_COUNTS]).replace("rbp", "rbp.95")
        raise MetricError(f"metric {native!r} is not known; it is one of {names}, optionally followed by @10 and -l2")
    if form["cutoff"] is not None and name in _WHOLE_LISTS:
        raise MetricError(f"ranx ignores a cutoff of {name}, which uses whole lists")
    cutoff = native_cutoff(f"{name}@{form['cutoff']}")[1] if form["cutoff"] is not None else None
    level = form["last"] or form["first"]
    settings = {"label_type": "int", "ties": "input"}
    if name in _RANX_GAINS:
        measure, gain = _RANX_GAINS[name]
        discount = {} if name != "rbp" else {"discount": f"rbp0.{form['p']}"}
        least = "" if level is None else f">={int(level)}"
        return Metric.of(measure, cutoff=cutoff, gain=gain + least, **discount, **settings)
    measure = _RANX_COUNTS[name][cutoff is None]
    return Metric.of(measure, cutoff=cutoff, rel=str(int(level or 1)), **settings)


def _spark(native: str, gain: str) -> Metric:
    cutoff = cutoff_of(parse_call(native, "ndcgAt").settle(("k",), {"k": None})["k"], "k")
    if cutoff is None:
        raise MetricError("ndcgAt needs a cutoff")
    return Metric.of(
        "ndcg", cutoff=cutoff, gain=gain, ties="input", negative="keep", extra="empty", empty_when="ideal_eq_0"
    )


RANX = Dialect(
    "ranx",
    "ranx 0.3.21",
    without_options(_ranx),
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "1e-12 if no scores tie; its sort is unstable for 16 or more items",
    (
        "ranx:ndcg@10",
        "ranx:ndcg_burges@10",
        "ranx:ndcg@10-l2",
        "ranx:ndcg",
        "ranx:dcg@10",
        "ranx:dcg_burges@10",
        "ranx:hits@10",
        "ranx:hit_rate@10",
        "ranx:precision@10",
        "ranx:recall@100",
        "ranx:f1@10",
        "ranx:mrr@10",
        "ranx:map@100",
        "ranx:map",
        "ranx:r-precision",
        "ranx:bpref",
        "ranx:rbp.95",
    ),
    unstable_from=16,
)

SPARK = Dialect(
    "spark",
    "pyspark 4.3.0",
    without_options(partial(_spark, gain="binary")),
    lambda cutoff: f"ndcgAt({cutoff})",
    1e-12,
    "1e-12",
    ("spark:ndcgAt(10)",),
)

SPARK_GRADED = Dialect(
    "spark_graded",
    "Spark 4.3.0 on the JVM",
    without_options(partial(_spark, gain="exp2")),
    lambda cutoff: f"ndcgAt({cutoff})",
    1e-12,
    "1e-12, if the labels are passed in descending order",
    ("spark_graded:ndcgAt(10)",),
)

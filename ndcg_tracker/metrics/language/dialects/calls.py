"""Libraries: calls of scikit-learn, torchmetrics, TensorFlow Ranking and Spark, and names of ranx."""

from __future__ import annotations

import re
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects.dialect import (
    Call,
    Option,
    Row,
    Table,
    choice_of,
    native_cutoff,
    one_of,
)


def _ties(ignore_ties: Any, name: str) -> str:
    if choice_of(ignore_ties, name, (True, False)):
        raise MetricError("ignore_ties=True leaves ties to NumPy's unstable sort, whose order depends on the processor")
    return ""


SKLEARN = Table(
    "sklearn",
    "scikit-learn 1.9.1",
    {
        "ndcg_score": Row(
            "ndcg(ideal=retrieved, size1=error, label_domain=ge0)", options={"ignore_ties": (False, _ties)}
        ),
        "dcg_score": Row("dcg", options={"ignore_ties": (False, _ties)}),
    },
    cut="k",
    shared="ties=average, negative=keep, weights=group",
    more="ndcg_score(k=10, ignore_ties=False); ndcg_score()",
).dialect()

_ACTIONS = {"neg": "empty=0", "pos": "empty=1", "skip": "empty=skip", "error": "empty=error"}


def _of_torch(ours: str, whole: str = "", action: str = "neg", **options: Option) -> Row:
    """Return a metric of torchmetrics; ``action``: what it does by default where nothing can be found."""
    return Row(ours, whole, {"empty_target_action": one_of({action: "", **_ACTIONS}), **options})


_WITH_GRADES = "ndcg(label_domain=any, ties=average, negative=keep, empty_when=labels_sum_0)"
TORCHMETRICS = Table(
    "torchmetrics",
    "torchmetrics 1.9.0",
    {
        "RetrievalNormalizedDCG": _of_torch(_WITH_GRADES),
        "RetrievalMRR": _of_torch("RR"),
        "RetrievalMAP": _of_torch("AP(over=found)"),
        "RetrievalPrecision": _of_torch("P", "SetP", adaptive_k=one_of({False: "", True: "over=list"})),
        "RetrievalRecall": _of_torch("R"),
        "RetrievalHitRate": _of_torch("Success"),
        "RetrievalFallOut": _of_torch("FallOut", action="pos"),
        "RetrievalRPrecision": _of_torch("Rprec"),
        "RetrievalAUROC": _of_torch("AUC(ties=average)"),
    },
    cut="top_k",
    shared="ideal=retrieved, label_domain=int0to1, ties=input, all_skipped=0, score_type=f32, label_type=f32, "
    "arithmetic=f32",
    more="RetrievalNormalizedDCG(top_k=10, empty_target_action='skip'); RetrievalNormalizedDCG()",
    tolerance=1e-6,
    agreement="1e-6: it computes in single precision; AUROC if all scores are between 0 and 1; MRR, MAP, precision "
    "and recall if all are above 0; all but NDCG and AUROC if no scores tie",
).dialect()

TF_RANKING = Table(
    "tf_ranking",
    "TensorFlow Ranking 0.5.5",
    {
        "NDCGMetric": "ndcg(gain=exp2)",
        "DCGMetric": "dcg(gain=exp2)",
        "MRRMetric": "RR",
        "MeanAveragePrecisionMetric": "AP",
        "PrecisionMetric": Row("P(over=list)", "SetP"),
        "RecallMetric": "R",
        "HitsMetric": "Success",
    },
    cut="topn",
    shared="ideal=retrieved, negative=drop, ties=input, score_type=f32, label_type=f32, arithmetic=f32",
    tolerance=1e-6,
    agreement="1e-6: it computes in single precision; if no scores tie",
    refused={
        "OPAMetric": ("is one share over the pairs of all lists", "AUC"),
        "ARPMetric": ("is one mean over the relevant items of all lists, and lower is better", "RR"),
    },
).dialect()


_RANX = re.compile(
    r"(?P<name>rbp[.@](?P<p>\d+)|r-precision|[a-z_1]+)(?:-l(?P<first>\d+))?(?:@(?P<cutoff>\d+))?(?:-l(?P<last>\d+))?",
    re.ASCII,
)


def _of_ranx(native: str) -> tuple[Call, int | None]:
    """Return what ``ndcg@10-l2`` and ``rbp.95`` spell."""
    form = _RANX.fullmatch(native)
    if form is None:
        return Call(native, (), {}), None
    given = {"l": form["last"] or form["first"], "p": form["p"]}
    name = "rbp.95" if form["p"] else form["name"]
    cutoff = None if form["cutoff"] is None else native_cutoff(f"{name}@{form['cutoff']}")[1]
    return Call(name, (), {option: text for option, text in given.items() if text is not None}), cutoff


def _from_level(gain: str) -> dict[str, Option]:
    return {"l": ("", lambda level, _: f"gain={gain}" + (f">={int(level)}" if level else ""))}


_RELEVANT = {"l": ("1", lambda level, _: f"rel={int(level)}")}
RANX = Table(
    "ranx",
    "ranx 0.3.21",
    {
        "ndcg": Row("ndcg", options=_from_level("linear")),
        "ndcg_burges": Row("ndcg", options=_from_level("exp2")),
        "hits": Row("cg", options=_from_level("binary")),
        "dcg": Row("dcg", options=_from_level("linear")),
        "dcg_burges": Row("dcg", options=_from_level("exp2")),
        "rbp.95": Row(
            "dcg",
            options={**_from_level("linear"), "p": ("95", lambda p, _: f"discount=rbp0.{p}")},
            is_whole=True,
        ),
        "hit_rate": Row("Success", options=_RELEVANT),
        "precision": Row("P", "SetP", _RELEVANT),
        "recall": Row("R", "SetR", _RELEVANT),
        "f1": Row("F1", "SetF", _RELEVANT),
        "mrr": Row("RR", options=_RELEVANT),
        "map": Row("AP", options=_RELEVANT),
        "r-precision": Row("Rprec", options=_RELEVANT),
        "bpref": Row("Bpref", options=_RELEVANT),
    },
    shared="label_type=int, ties=input",
    read=_of_ranx,
    more="ndcg@10-l2; ndcg; map",
    agreement="1e-12 if no scores tie; its sort is unstable for 16 or more items",
    unstable_from=16,
).dialect()

_SPARK = "ndcg(ties=input, negative=keep, extra=empty, empty_when=ideal_eq_0)"
SPARK = Table(
    "spark", "pyspark 4.3.0", {"ndcgAt": _SPARK}, cut="k", is_cut=True, shared="gain=binary", written="{}({})"
).dialect()
SPARK_GRADED = Table(
    "spark_graded",
    "Spark 4.3.0 on the JVM",
    {"ndcgAt": _SPARK},
    cut="k",
    is_cut=True,
    shared="gain=exp2",
    written="{}({})",
    agreement="1e-12, if the labels are passed in descending order",
).dialect()

"""Libraries: calls of scikit-learn, torchmetrics, TensorFlow Ranking and Spark, and names of ranx."""

from __future__ import annotations

import re
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects.dialect import (
    Dialect,
    Option,
    Row,
    Table,
    choice_of,
    native_cutoff,
    one_of,
    without_options,
)
from ndcg_tracker.metrics.language.metric import Metric


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

"""scikit-learn and torchmetrics: the calls as one writes them in Python."""

from __future__ import annotations

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects.dialect import Dialect, choice_of, cutoff_of, no_options, parse_call
from ndcg_tracker.metrics.language.metric import Metric


def _sklearn(options: str, native: str) -> Metric:
    no_options(options)
    call = parse_call(native)
    if call.name not in ("ndcg_score", "dcg_score"):
        raise MetricError(f"{call.name} is not known; it is ndcg_score or dcg_score")
    given = call.settle((), {"k": None, "ignore_ties": False})
    if choice_of(given["ignore_ties"], "ignore_ties", (True, False)):
        raise MetricError("ignore_ties=True leaves ties to NumPy's unstable sort, whose order depends on the processor")
    cutoff = cutoff_of(given["k"], "k")
    settings = {"ties": "average", "label_domain": "ge0", "weights": "group"}
    if call.name == "dcg_score":
        del settings["label_domain"]
        return Metric.of("dcg", cutoff=cutoff, negative="keep", **settings)
    return Metric.of("ndcg", cutoff=cutoff, ideal="retrieved", negative="keep", size1="error", **settings)


def _torchmetrics(options: str, native: str) -> Metric:
    no_options(options)
    call = parse_call(native)
    if call.name != "RetrievalNormalizedDCG":
        raise MetricError(f"{call.name} is not known; it is RetrievalNormalizedDCG")
    given = call.settle((), {"top_k": None, "empty_target_action": "neg"})
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
    _sklearn,
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
    _torchmetrics,
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

"""BEIR and MTEB: the names that their evaluations print, for pytrec_eval's measures with their own averages."""

from __future__ import annotations

import re

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.dialects.dialect import Dialect, native_cutoff, without_options
from ndcg_tracker.metrics.language.metric import Metric, cutoff_from

_PYTREC = {"label_domain": "int", "score_type": "f32", "missing": "skip"}
_ROUNDED = {"round": "5", "round_of": "mean"}
_OF_PYTREC = {"ndcg": "ndcg", "map": "AP", "recall": "R", "precision": "P"}
_WITHOUT_OWN = _PYTREC | {"own": "drop"}
_IN_RUN = {"ties": "input", "label_domain": "int"}
_BEIR: dict[str, tuple[str, dict[str, str]]] = {
    "NDCG": ("ndcg", _WITHOUT_OWN),
    "MAP": ("AP", _WITHOUT_OWN),
    "Recall": ("R", _WITHOUT_OWN),
    "P": ("P", _WITHOUT_OWN),
    "MRR": ("RR", _IN_RUN),
    "R_cap": ("R", _IN_RUN | {"over": "achievable"}),
    "Accuracy": ("Success", _IN_RUN),
}
_MTEB: dict[str, tuple[str, dict[str, str]]] = {
    **{name: (measure, _PYTREC | _ROUNDED) for name, measure in _OF_PYTREC.items()},
    "hit_rate": ("Success", _PYTREC | _ROUNDED),
    "mrr": ("RR", {"label_domain": "int", "missing": "skip", "ties": "item_desc"}),
}


def _beir(native: str) -> Metric:
    name, cutoff = native_cutoff(native)
    name = {known.lower(): known for known in _BEIR}.get(name.lower(), name)
    if name not in _BEIR:
        raise MetricError(f"metric {name!r} is not known; it is one of {', '.join(_BEIR)}")
    if cutoff is None:
        raise MetricError(f"{name} needs a cutoff", advice=f"write {name}@10")
    measure, settings = _BEIR[name]
    return Metric.of(measure, cutoff=cutoff, **settings, **_ROUNDED)


def _mteb(native: str) -> Metric:
    form = re.fullmatch(r"(?P<name>\w+)_at_(?P<cutoff>[1-9]\d*)", native, re.ASCII)
    if native == "accuracy":
        return _mteb("recall_at_1")
    if form is None or form["name"] not in _MTEB:
        raise MetricError(
            f"metric {native!r} is not known; it is one of {', '.join(f'{name}_at_10' for name in _MTEB)}"
        )
    measure, settings = _MTEB[form["name"]]
    return Metric.of(measure, cutoff=cutoff_from(form["cutoff"]), **settings)


BEIR = Dialect(
    "beir",
    "beir 2.2.0",
    without_options(_beir),
    lambda cutoff: f"NDCG@{cutoff}",
    1e-12,
    "1e-12 per query; the mean to its 5 decimals",
    (
        "NDCG, MAP, Recall and P ignore an item with the same id as the query, as evaluate() does "
        "(ignore_identical_ids). MRR, R_cap and Accuracy keep it here. In BEIR, evaluate() removes it from the results "
        "permanently, so a later evaluate_custom() does not see it either.",
        "NDCG, MAP, Recall and P come from pytrec_eval: a query that is missing from the results is left out of the "
        "mean.",
        "MRR, R_cap and Accuracy (evaluate_custom) divide by all queries of the qrels and break ties in the order of "
        "the results. The others break ties by descending id.",
        "R_cap divides by the number of relevant items or the cutoff, whichever is smaller. In BEIR it fails on a "
        "query without a relevant item; here such a query counts 0.",
        "Means are rounded to 5 decimals. Verdicts and intervals use the values of the queries, which are not rounded.",
        "Hole is not computed here: it counts items without a label in any query. Unjudged@10 counts items without a "
        "label in their own query.",
    ),
    (
        "beir:NDCG@10",
        "beir:MAP@100",
        "beir:Recall@100",
        "beir:P@1",
        "beir:MRR@10",
        "beir:R_cap@100",
        "beir:Accuracy@1",
    ),
)

MTEB = Dialect(
    "mteb",
    "mteb 2.26.24",
    without_options(_mteb),
    lambda cutoff: f"ndcg_at_{cutoff}",
    1e-12,
    "1e-12 per query; the mean to its 5 decimals, mrr_at_k unrounded",
    (
        "Tasks with ignore_identical_ids ignore an item with the same id as the query. Remove such items from your "
        "run, or use beir:NDCG@10, which ignores them.",
        "MTEB keeps 1000 results per query by default: cut your run there before you compare map_at_1000.",
        "A query that is missing from the results is left out of the mean.",
        "All metrics break ties by descending id; only mrr_at_k compares scores in double precision.",
        "Means are rounded to 5 decimals, except the mean of mrr_at_k. Verdicts and intervals use the values of the "
        "queries, which are not rounded.",
        "accuracy is recall_at_1. nauc_... measures the confidence of a model and is not computed here.",
    ),
    (
        "mteb:ndcg_at_10",
        "mteb:map_at_100",
        "mteb:recall_at_100",
        "mteb:precision_at_1",
        "mteb:mrr_at_10",
        "mteb:hit_rate_at_10",
        "mteb:accuracy",
    ),
)

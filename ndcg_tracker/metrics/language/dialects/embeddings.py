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
        "mteb:ndcg_at_10",
        "mteb:map_at_100",
        "mteb:recall_at_100",
        "mteb:precision_at_1",
        "mteb:mrr_at_10",
        "mteb:hit_rate_at_10",
        "mteb:accuracy",
    ),
)

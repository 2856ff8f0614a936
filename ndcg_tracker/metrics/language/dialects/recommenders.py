"""Recommenders: calls of RecTools and names of RecBole."""

from __future__ import annotations

from math import inf
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import number_text
from ndcg_tracker.metrics.language.dialects.dialect import (
    Dialect,
    choice_of,
    cutoff_of,
    native_cutoff,
    parse_call,
    without_options,
)
from ndcg_tracker.metrics.language.metric import Metric

_RECTOOLS: dict[str, dict[str, Any]] = {
    "NDCG": {"log_base": 2, "divide_by_achievable": False},
    "Recall": {},
    "Precision": {"r_precision": False},
    "HitRate": {},
    "F1Beta": {"beta": 1.0},
    "MAP": {"divide_by_k": False},
    "MRR": {},
}
"""The metrics of RecTools that are known here, with their options except ``k``."""
_OF_USERS = {"rel": ">0", "ties": "input", "empty": "skip"}


def _refuse_base(base: Any) -> None:
    if isinstance(base, bool) or not isinstance(base, int | float) or base <= 1:
        raise MetricError(f"log_base={base!r} is not a base", advice="give a number above 1 (it cancels out)")


def _rectools(native: str) -> Metric:
    call = parse_call(native, *_RECTOOLS)
    given = call.settle(("k",), {"k": None, **_RECTOOLS[call.name]})
    cutoff = cutoff_of(given["k"], "k")
    if cutoff is None:
        raise MetricError(f"{call.name} needs k")
    if call.name == "NDCG":
        _refuse_base(given["log_base"])
        achievable = choice_of(given["divide_by_achievable"], "divide_by_achievable", (True, False))
        ideal = "judged" if achievable else "constant"
        return Metric.of("ndcg", cutoff=cutoff, gain="binary", ties="input", ideal=ideal, empty="skip")
    if call.name == "F1Beta":
        beta = given["beta"]
        if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta < inf:
            raise MetricError(f"beta={beta!r} is not a weight", advice="give a number above 0")
        return Metric.of("F1", cutoff=cutoff, beta=number_text(float(beta) ** 2), **_OF_USERS)
    over = {}
    for name, divisor in (("r_precision", "achievable"), ("divide_by_k", "cutoff")):
        if choice_of(given.get(name, False), name, (True, False)):
            over = {"over": divisor}
    measure = {"Recall": "R", "Precision": "P", "HitRate": "Success", "MAP": "AP", "MRR": "RR"}[call.name]
    return Metric.of(measure, cutoff=cutoff, **_OF_USERS, **over)


_RECBOLE = {
    "ndcg": ("ndcg", {"gain": "binary"}),
    "recall": ("R", {"rel": ">0", "empty": "error"}),
    "mrr": ("RR", {"rel": ">0"}),
    "hit": ("Success", {"rel": ">0"}),
    "precision": ("P", {"rel": ">0"}),
    "map": ("AP", {"rel": ">0", "over": "achievable"}),
}


def _recbole(native: str) -> Metric:
    name, cutoff = native_cutoff(native)
    if name.lower() not in _RECBOLE or cutoff is None:
        raise MetricError(f"metric {native!r} is not known; RecBole prints {', '.join(f'{n}@10' for n in _RECBOLE)}")
    measure, settings = _RECBOLE[name.lower()]
    return Metric.of(measure, cutoff=cutoff, ties="input", round="4", round_of="mean", **settings)


RECTOOLS = Dialect(
    "rectools",
    "RecTools 0.19.0",
    without_options(_rectools),
    lambda cutoff: f"NDCG(k={cutoff})",
    1e-12,
    "1e-12",
    (
        "rectools:NDCG(k=10)",
        "rectools:NDCG(k=10, divide_by_achievable=True)",
        "rectools:Recall(k=10)",
        "rectools:Precision(k=10)",
        "rectools:Precision(k=10, r_precision=True)",
        "rectools:HitRate(k=10)",
        "rectools:F1Beta(k=10)",
        "rectools:F1Beta(k=10, beta=0.5)",
        "rectools:MAP(k=10)",
        "rectools:MAP(k=10, divide_by_k=True)",
        "rectools:MRR(k=10)",
    ),
    is_by_rank=True,
)

RECBOLE = Dialect(
    "recbole",
    "RecBole 1.2.1",
    without_options(_recbole),
    lambda cutoff: f"ndcg@{cutoff}",
    1e-12,
    "the mean to its 4 decimals",
    (
        "recbole:ndcg@10",
        "recbole:recall@10",
        "recbole:mrr@10",
        "recbole:hit@10",
        "recbole:precision@10",
        "recbole:map@10",
    ),
    is_by_rank=True,
)

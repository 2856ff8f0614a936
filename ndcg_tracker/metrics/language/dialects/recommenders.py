"""Recommenders: calls of RecTools, names of RecBole."""

from __future__ import annotations

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

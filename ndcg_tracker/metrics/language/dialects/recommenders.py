"""Recommenders: calls of RecTools, LensKit, Recommenders and implicit, names of RecBole, RePlay and Cornac."""

from __future__ import annotations

from math import inf
from typing import Any

from ndcg_tracker.errors import MetricError
from ndcg_tracker.metrics.language.axes import number_text
from ndcg_tracker.metrics.language.dialects.dialect import Row, Table, one_of


def _base(base: Any, _name: str) -> str:
    if isinstance(base, bool) or not isinstance(base, int | float) or base <= 1:
        raise MetricError(f"log_base={base!r} is not a base", advice="give a number above 1 (it cancels out)")
    return ""


def _beta(beta: Any, _name: str) -> str:
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 0 < beta < inf:
        raise MetricError(f"beta={beta!r} is not a weight", advice="give a number above 0")
    return f"beta={number_text(float(beta) ** 2)}"


def _patience(patience: Any, _name: str) -> str:
    if not isinstance(patience, float) or not 0 < patience < 1:
        raise MetricError(f"patience={patience!r} is not a probability", advice="give a number between 0 and 1")
    return f"p={number_text(patience)}, discount=rbp{number_text(patience)}"


_OF_USERS = "rel=>0, gain=binary, ties=input, empty=skip"
"""What recommenders share: items of the test set are relevant, and users without any are left out."""

RECTOOLS = Table(
    "rectools",
    "RecTools 0.19.0",
    {
        "NDCG": Row(
            "ndcg",
            options={"log_base": (2, _base), "divide_by_achievable": one_of({False: "ideal=constant", True: ""})},
        ),
        "Recall": "R",
        "Precision": Row("P", options={"r_precision": one_of({False: "", True: "over=achievable"})}),
        "HitRate": "Success",
        "F1Beta": Row("F1", options={"beta": (1.0, _beta)}),
        "MAP": Row("AP", options={"divide_by_k": one_of({False: "", True: "over=cutoff"})}),
        "MRR": "RR",
    },
    cut="k",
    is_cut=True,
    shared=_OF_USERS,
    more="NDCG(k=10, divide_by_achievable=True); Precision(k=10, r_precision=True); F1Beta(k=10, beta=0.5); "
    "MAP(k=10, divide_by_k=True)",
    is_by_rank=True,
).dialect()

RECBOLE = Table(
    "recbole",
    "RecBole 1.2.1",
    {
        "ndcg": "ndcg",
        "recall": "R(empty=error)",
        "mrr": "RR",
        "hit": "Success",
        "precision": "P",
        "map": "AP(over=achievable)",
    },
    is_cut=True,
    shared="rel=>0, gain=binary, ties=input, round=4, round_of=mean",
    agreement="the mean to its 4 decimals",
    is_by_rank=True,
).dialect()

REPLAY = Table(
    "replay",
    "RePlay 0.22.0",
    {
        "NDCG": "ndcg",
        "MAP": "AP(over=achievable)",
        "MRR": "RR",
        "HitRate": "Success",
        "Precision": "P",
        "Recall": "R",
    },
    is_cut=True,
    shared=_OF_USERS,
    refused={"RocAuc": ("gives 1 to a list of relevant items alone", "AUC(ideal=retrieved, depth=10, ties=input)")},
).dialect()

LENSKIT = Table(
    "lenskit",
    "LensKit 2025.8.1",
    {
        "NDCG": Row("ndcg(discount=jk2)", options={"gain": one_of({None: "", "rating": "gain=linear"})}),
        "DCG": Row("dcg(discount=jk2)", options={"gain": one_of({None: "", "rating": "gain=linear"})}),
        "RBP": Row(
            "RBP",
            options={
                "patience": (0.85, _patience),
                "normalize": one_of({False: "", True: "measure=ndcg, ideal_cut=retrieved"}),
            },
        ),
        "Precision": Row("P(over=list)", "SetP"),
        "Recall": Row("R(over=achievable)", "SetR"),
        "RecipRank": "RR",
        "Hit": "Success",
    },
    cut="n",
    shared=_OF_USERS,
    more="NDCG(n=10, gain='rating'); RBP(n=10, normalize=True)",
    refused={
        "AveragePrecision": (
            "divides by the length of the list if that is less than the number of relevant items",
            "AP(over=achievable)@10",
        )
    },
).dialect()

CORNAC = Table(
    "cornac",
    "Cornac 3.0.1",
    {
        "NDCG": "ndcg",
        "NCRR": "ndcg(discount=position, ideal_cut=retrieved)",
        "MRR": Row("RR", is_whole=True),
        "HitRatio": "Success",
        "Precision": Row("P", "SetP"),
        "Recall": Row("R", "SetR"),
        "F1": Row("F1", "SetF"),
        "FMeasure": Row("F1", "SetF"),
        "AUC": "AUC(ideal=retrieved, ties=pessimistic)",
        "MAP": Row("AP(ideal=retrieved)", is_whole=True),
    },
    cut="k",
    default=-1,
    shared="rel=1, gain=binary>=1, ties=input, empty=skip",
    agreement="1e-12; MAP if no scores tie",
).dialect()

RECOMMENDERS = Table(
    "recommenders",
    "Recommenders 1.2.1",
    {
        "ndcg_at_k": Row(
            "ndcg",
            options={
                "score_type": one_of({"binary": "", "raw": "gain=linear", "exp": "gain=exp2"}),
                "discfun_type": one_of({"loge": "", "log2": ""}),
            },
        ),
        "precision_at_k": "P(missing=skip)",
        "recall_at_k": "R(missing=skip)",
        "map_at_k": "AP(over=achievable, missing=skip)",
        "map": "AP(missing=skip)",
    },
    cut="k",
    default=10,
    shared=_OF_USERS,
    more="ndcg_at_k(k=10, score_type='exp')",
    refused={"r_precision_at_k": ("leaves out users without a hit", "Rprec(rel=>0)")},
).dialect()

IMPLICIT = Table(
    "implicit",
    "implicit 0.7.3",
    {"ndcg_at_k": "ndcg", "mean_average_precision_at_k": "AP(over=achievable)"},
    cut="K",
    default=10,
    shared=_OF_USERS,
    refused={
        "precision_at_k": ("is one share over the items of all users", "P(over=achievable)@10"),
        "AUC_at_k": ("needs the number of items of the catalogue", "AUC"),
    },
).dialect()

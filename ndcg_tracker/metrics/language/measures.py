"""The measures, and what each of them needs."""

from __future__ import annotations

import math
from typing import Literal

Summary = Literal["mean", "sum", "geometric_mean"]
ShownOnly = Literal["diagnostic", "no_mean_of_groups"]

MEASURES = {
    "cg": "cumulated gain: the sum of the gains",
    "dcg": "discounted cumulated gain: the sum of gain x discount",
    "idcg": "the discounted cumulated gain of the ideal order",
    "ndcg": "dcg / idcg",
    "P": "precision: the share of relevant items among the first ranks",
    "R": "recall: the share of the relevant items that are among the first ranks",
    "AP": "average precision: the mean of the precision at each relevant item",
    "RR": "reciprocal rank: 1 / the rank of the first relevant item",
    "Success": "1 if a relevant item is among the first ranks, else 0",
    "Judged": "the share of labelled items among the first ranks",
    "ERR": "expected reciprocal rank of the item that satisfies a user",
    "RBP": "rank-biased precision: a user goes on to the next rank with probability p",
    "SetP": "precision of the whole list",
    "SetR": "recall of the whole list",
    "SetAP": "precision x recall of the whole list",
    "SetF": "F: precision and recall of the whole list in one, recall weighing beta",
    "Rprec": "precision after as many ranks as there are relevant items",
    "Bpref": "binary preference: how few judged items that are not relevant rank above the relevant ones",
    "infAP": "inferred average precision, where only a sample of the pool was judged",
    "IPrec": "interpolated precision: the best precision at a recall or beyond",
    "IPrecAvg": "interpolated precision, averaged over points of recall (11pt_avg)",
    "binG": "the mean over relevant items of 1/log2(2 + items before it that are not relevant)",
    "G": "normalized gain: gains discounted by how much more an ideal order would have gained by then",
    "ndcg_rel": "ndcg, averaged over the ranks of the items that gain something",
    "Rndcg": "ndcg, averaged over the ranks where the ideal order goes on to a lower grade",
    "yaap": "yet another average precision: its log-odds, smoothed",
    "Utility": "the worth of the list: an amount per relevant and per other item, retrieved and not",
    "GMAP": "the logarithm of average precision: its summary is the geometric mean over groups (gm_map)",
    "GMBpref": "the logarithm of Bpref: its summary is the geometric mean over groups (gm_bpref)",
    "Unjudged": "the share of the first ranks that hold an item without judgement",
    "RBPResidual": "how much RBP could rise at most if the items without judgement were relevant",
    "NumQ": "how many groups the other means run over",
    "NumRet": "how many items the list has, or how many of them are relevant: NumRet(rel=1)",
    "NumRel": "how many relevant items the labels have",
    "NumNonrelJudgedRet": "how many judged items of the list are not relevant",
}

SUMMARIES: dict[str, Summary] = {
    "GMAP": "geometric_mean",
    "GMBpref": "geometric_mean",
    "NumQ": "sum",
    "NumRet": "sum",
    "NumRel": "sum",
    "NumNonrelJudgedRet": "sum",
}
"""How the values of the groups are summarised, where not by their mean."""

LEAST_OF_GEOMETRIC = 0.00001
"""What a group counts at least in a geometric mean: trec_eval.h, MIN_GEO_MEAN."""
OF_THE_MISSING = dict.fromkeys(("GMAP", "GMBpref"), math.log(LEAST_OF_GEOMETRIC))
"""The value of a group that the run lacks under ``missing=zero``, where it is not 0."""

DIAGNOSTICS = ("Judged", "Unjudged", "RBPResidual", "NumQ", "NumRet", "NumRel", "NumNonrelJudgedRet")
"""Measures of how a run was judged or how long it is, not of how good it is."""

CUMULATED = ("cg", "dcg", "idcg", "ndcg")
COMPANIONS = tuple(name for name in MEASURES if name not in CUMULATED)
ALL = tuple(MEASURES)
LABELS_ALONE = ("NumQ", "NumRel")
LISTED = tuple(name for name in MEASURES if name not in ("idcg", *LABELS_ALONE))
WITH_IDEAL = ("idcg", "ndcg")
WITH_GAINS = (*CUMULATED, "G", "ndcg_rel", "Rndcg")
WITHOUT_RELEVANCE = (*CUMULATED, "Judged", "ERR", "G", "ndcg_rel", "Unjudged", "RBPResidual", "NumQ")
WITH_RELEVANCE = tuple(name for name in MEASURES if name not in WITHOUT_RELEVANCE)
AVERAGED = tuple(name for name in MEASURES if name not in SUMMARIES)

SHARES = (
    *("P", "R", "AP", "RR", "Success", "Judged", "RBP", "SetP", "SetR", "SetAP", "SetF"),
    *("Rprec", "Bpref", "infAP", "IPrec", "IPrecAvg", "binG", "Unjudged", "RBPResidual"),
)
"""Measures whose values lie between 0 and 1, whatever their axes say."""
NEEDS_CUTOFF = ("P", "R", "Success", "Unjudged")
TAKES_CUTOFF = (*CUMULATED, *NEEDS_CUTOFF, "AP", "RR", "Judged", "ERR", "RBP")
NO_CUTOFF = tuple(name for name in MEASURES if name not in TAKES_CUTOFF)
UNORDERED = ("SetP", "SetR", "SetAP", "SetF", "Utility", "NumRet", "NumNonrelJudgedRet", *LABELS_ALONE)
"""Measures that do not depend on the order of a list."""
NO_EXPECTATION = (
    *("AP", "RR", "Success", "ERR", "Rprec", "Bpref", "infAP", "IPrec", "IPrecAvg"),
    *("binG", "G", "ndcg_rel", "Rndcg", "yaap", "GMAP", "GMBpref"),
)
"""Measures that are not a sum over items, so that ``ties=average`` has no closed form."""

OF_AN_EMPTY_LIST = ("NumQ", "NumRel", "yaap", "Utility")
"""Measures whose value of an empty list need not be 0."""
BEHIND_AT = {"IPrec": "recall"}
"""Measures with the value of an axis in place of a cutoff: IPrec@0.1."""

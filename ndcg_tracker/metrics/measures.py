"""The measures there are, and what each of them needs."""

MEASURES = {
    "cg": "cumulated gain: the sum of the gains",
    "dcg": "discounted cumulated gain: the sum of gain x discount",
    "idcg": "the discounted cumulated gain of the ideal order",
    "ndcg": "dcg / idcg",
    "P": "precision: the share of relevant items among the first ranks",
    "R": "recall: the share of the relevant items that stand among the first ranks",
    "AP": "average precision: the mean of the precision at each relevant item",
    "RR": "reciprocal rank: 1 / the rank of the first relevant item",
    "Success": "1 if a relevant item stands among the first ranks, else 0",
    "Judged": "the share of labelled items among the first ranks",
    "ERR": "expected reciprocal rank of the item that satisfies a user",
    "RBP": "rank-biased precision: a user goes on to the next rank with probability p",
    "SetP": "precision of the whole list",
}

CUMULATED = ("cg", "dcg", "idcg", "ndcg")
COMPANIONS = tuple(name for name in MEASURES if name not in CUMULATED)
ALL = tuple(MEASURES)
LISTED = tuple(name for name in MEASURES if name != "idcg")
WITH_IDEAL = ("idcg", "ndcg")
WITH_RELEVANCE = ("P", "R", "AP", "RR", "Success", "RBP", "SetP")

SHARES = ("P", "R", "AP", "RR", "Success", "Judged", "ERR", "RBP", "SetP")
"""Measures whose values lie between 0 and 1, whatever their axes say."""
NEEDS_CUTOFF = ("P", "R", "Success")
NO_CUTOFF = ("SetP",)
NO_EXPECTATION = ("AP", "RR", "Success", "ERR")
"""Measures that are no sum over items, so that ``ties=average`` has no closed form."""

# needs: rectools==0.19.0 numpy<2 pandas<3
"""Print what RecTools returns for every case: recommendations by rank, interactions with relevant items alone."""

from __future__ import annotations

import pandas as pd
from cases import CASES, Case, line
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

NAMES = {metric.__name__: metric for metric in (MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall)}
AT_CUTOFFS = (
    "NDCG(k={k})",
    "NDCG(k={k}, divide_by_achievable=True)",
    "Recall(k={k})",
    "Precision(k={k})",
    "Precision(k={k}, r_precision=True)",
    "HitRate(k={k})",
    "F1Beta(k={k})",
    "F1Beta(k={k}, beta=2)",
    "MAP(k={k})",
    "MAP(k={k}, divide_by_k=True)",
    "MRR(k={k})",
)
FURTHER = ("NDCG(k=10, log_base=3)", "F1Beta(k=10, beta=0.5)", "MAP(k=100)", "Recall(k=100)", "Precision(k=100)")
TEXTS = (*(text.format(k=k) for text in AT_CUTOFFS for k in (1, 3, 10)), *FURTHER)


def frames(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the recommendations and the interactions of a case."""
    ranked = [(user, item, rank) for user, items in case.ranked() for rank, item in enumerate(items, 1)]
    liked = [(user, item) for user, pool in case.labels.items() for item, grade in pool.items() if grade > 0]
    return (
        pd.DataFrame(ranked, columns=[Columns.User, Columns.Item, Columns.Rank]),
        pd.DataFrame(liked, columns=[Columns.User, Columns.Item]),
    )


def main() -> None:
    """Print the values of every case."""
    for case in CASES:
        recommended, liked = frames(case)
        for text in TEXTS:
            metric = eval(text, NAMES)
            values = metric.calc_per_user(recommended, liked)
            per_user = {user: values.get(user) for user in {*case.labels, *case.run}}
            print(line(case, f"rectools:{text}", metric.calc(recommended, liked), per_user))


if __name__ == "__main__":
    main()

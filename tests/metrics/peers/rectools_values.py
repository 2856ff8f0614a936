# needs: rectools==0.19.0 numpy<2 pandas<3
"""Print what RecTools returns for every case: recommendations by rank, interactions of relevant items alone."""

from __future__ import annotations

import pandas as pd
from cases import CASES, Case, line
from rectools import Columns
from rectools.metrics import MAP, MRR, NDCG, F1Beta, HitRate, Precision, Recall

METRICS = {
    "NDCG(k={k})": NDCG,
    "NDCG(k={k}, divide_by_achievable=True)": NDCG,
    "Recall(k={k})": Recall,
    "Precision(k={k})": Precision,
    "Precision(k={k}, r_precision=True)": Precision,
    "HitRate(k={k})": HitRate,
    "F1Beta(k={k})": F1Beta,
    "F1Beta(k={k}, beta=2)": F1Beta,
    "MAP(k={k})": MAP,
    "MAP(k={k}, divide_by_k=True)": MAP,
    "MRR(k={k})": MRR,
}
CUTOFFS = (1, 3, 10)
FURTHER = ("NDCG(k=10, log_base=3)", "F1Beta(k=10, beta=0.5)", "MAP(k=100)", "Recall(k=100)", "Precision(k=100)")


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
    texts = [*(text.format(k=k) for text in METRICS for k in CUTOFFS), *FURTHER]
    names = {metric.__name__: metric for metric in METRICS.values()}
    for case in CASES:
        recommended, liked = frames(case)
        for text in texts:
            values = eval(text, names).calc_per_user(recommended, liked)  # noqa: S307 - the texts are those above
            mean = eval(text, names).calc(recommended, liked)  # noqa: S307
            per_user = {user: values.get(user) for user in {*case.labels, *case.run}}
            print(line(case, f"rectools:{text}", mean, per_user))


if __name__ == "__main__":
    main()

# needs: lenskit==2025.8.1
"""Print what LensKit's metrics return for each list of every case; test lists hold the relevant items."""

from __future__ import annotations

from cases import CASES, line
from lenskit.data import ItemList
from lenskit.metrics import DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank

NAMES = {metric.__name__: metric for metric in (DCG, NDCG, RBP, Hit, Precision, Recall, RecipRank)}
TEXTS = (
    *(f"{name}(n={n})" for name in NAMES for n in (1, 3, 10)),
    *(f"{name}()" for name in NAMES),
    *("NDCG(n=10, gain='rating')", "DCG(n=3, gain='rating')", "RBP(n=10, normalize=True)", "RBP(normalize=True)"),
    *("RBP(n=10, patience=0.5)", "RBP(n=3, patience=0.5, normalize=True)"),
)


def main() -> None:
    """Print the values of every case."""
    for case in CASES:
        ranked = dict(case.ranked())
        for text in TEXTS:
            metric, values = eval(text, dict(NAMES)), {}
            for user, pool in case.labels.items():
                liked = {item: grade for item, grade in pool.items() if grade > 0}
                if user in ranked and liked:
                    test = ItemList(item_ids=list(liked), rating=list(liked.values()))
                    values[user] = float(metric.measure_list(ItemList(item_ids=ranked[user], ordered=True), test))
            print(line(case, f"lenskit:{text}", None, values))


if __name__ == "__main__":
    main()

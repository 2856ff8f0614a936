# needs: recommenders==1.2.1 pandas<3 numpy
"""Print what the functions of Recommenders return for every case: ratings of relevant items, scores of all."""

from __future__ import annotations

import pandas as pd
from cases import CASES, Case, line
from recommenders.evaluation import python_evaluation as evaluation

TEXTS = (
    *(
        f"{name}(k={k})"
        for name in ("ndcg_at_k", "precision_at_k", "recall_at_k", "map_at_k", "map")
        for k in (1, 3, 10)
    ),
    *("ndcg_at_k(k=10, score_type='exp')", "ndcg_at_k(k=3, score_type='raw', discfun_type='log2')"),
)


def frames(case: Case) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ratings and the predictions of a case."""
    true = [(user, item, grade) for user, pool in case.labels.items() for item, grade in pool.items() if grade > 0]
    predicted = [(user, item, -rank) for user, items in case.ranked() for rank, item in enumerate(items)]
    return (
        pd.DataFrame(true, columns=["userID", "itemID", "rating"]),
        pd.DataFrame(predicted, columns=["userID", "itemID", "prediction"]),
    )


def main() -> None:
    """Print the means of every case."""
    for case in CASES:
        true, predicted = frames(case)
        for text in TEXTS:
            mean = eval(
                text.replace("(", "(true, predicted, "), vars(evaluation) | {"true": true, "predicted": predicted}
            )
            print(line(case, f"recommenders:{text}", float(mean)))


if __name__ == "__main__":
    main()

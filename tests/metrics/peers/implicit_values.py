# needs: implicit==0.7.3
"""Print what implicit's functions return for every case, over a model that recommends the ranked items."""

from __future__ import annotations

import numpy as np
from cases import CASES, line
from implicit import evaluation
from scipy.sparse import csr_matrix

TEXTS = tuple(f"{name}(K={k})" for name in ("ndcg_at_k", "mean_average_precision_at_k") for k in (1, 3, 10))
LISTED = 14


class Recommended:
    """A model that has its recommendations already; others are items that nobody likes."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def recommend(self, users: np.ndarray, _rows: object, N: int, **_options: object) -> tuple[np.ndarray, None]:  # noqa: N803
        """Return the first N items of some users."""
        return self.rows[users][:, :N], None


def main() -> None:
    """Print the means of every case."""
    for case in CASES:
        users = [user for user, pool in case.labels.items() if any(grade > 0 for grade in pool.values())]
        places = {item: place for place, item in enumerate(sorted({i for p in case.labels.values() for i in p}))}
        ranked, n_items = dict(case.ranked()), len(places) + 500
        rows = np.array([[len(places) + rank for rank in range(LISTED)] for _ in users], dtype=np.int32)
        for row, user in zip(rows, users):  # noqa: B905 - older Pythons
            for rank, item in enumerate(ranked.get(user, [])):
                row[rank] = places.get(item, len(places) + 100 + rank)
        pairs = [
            (row, places[item]) for row, user in enumerate(users) for item, grade in case.labels[user].items() if grade
        ]
        test = csr_matrix((np.ones(len(pairs)), list(zip(*pairs))), shape=(len(users), n_items))  # noqa: B905
        train = csr_matrix((len(users), n_items))
        for text in TEXTS:
            name, _, options = text.partition("(")
            mean = getattr(evaluation, name)(Recommended(rows), train, test, K=int(options[2:-1]), show_progress=False)
            print(line(case, f"implicit:{text}", float(mean)))


if __name__ == "__main__":
    main()

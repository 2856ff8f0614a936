# needs: recbole==1.2.1
"""Print what RecBole's metrics return for every case, from the matrix of hits that its collector hands to them."""

from __future__ import annotations

import numpy as np
from cases import CASES, Case, line

np.float = float  # type: ignore[attr-defined] # RecBole uses names that NumPy 1.24 took away

import torch  # noqa: E402
from recbole.evaluator import Evaluator  # noqa: E402
from recbole.evaluator.collector import DataStruct  # noqa: E402

TOPK = [1, 3, 5, 10, 20]
METRICS = ["ndcg", "recall", "mrr", "hit", "precision", "map"]


def hits_of(case: Case, users: list[str]) -> np.ndarray:
    """Return for some users which ranks hold a relevant item, and how many relevant items there are."""
    ranked = dict(case.ranked())
    rows = np.zeros((len(users), max(TOPK) + 1), dtype=np.int64)
    for row, user in zip(rows, users):  # noqa: B905 - older Pythons
        liked = {item for item, grade in case.labels[user].items() if grade > 0}
        for rank, item in enumerate(ranked.get(user, [])[: max(TOPK)]):
            row[rank] = item in liked
        row[-1] = len(liked)
    return rows


def values(case: Case, users: list[str], decimals: int) -> dict[str, float]:
    """Return what RecBole's evaluator returns for some users."""
    settings = {"metrics": METRICS, "topk": TOPK, "metric_decimal_place": decimals}
    collected = DataStruct()
    collected.set("rec.topk", torch.from_numpy(hits_of(case, users)))
    with np.errstate(invalid="ignore"):
        return dict(Evaluator(settings).evaluate(collected))


def main() -> None:
    """Print the values of every case with 4 decimals, and of each user alone with as many as double precision has."""
    for case in (*CASES, *(case.with_something_to_find() for case in CASES)):
        users = list(case.labels)
        alone = {user: values(case, [user], 15) for user in users}
        for metric, mean in values(case, users, 4).items():
            if not case.name.endswith("+"):  # the values of users are the same
                print(line(case, f"recbole:{metric}", mean))
            else:
                print(line(case, f"recbole:{metric}", mean, {user: alone[user][metric] for user in users}))


if __name__ == "__main__":
    main()

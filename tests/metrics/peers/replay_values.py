# needs: replay-rec==0.22.0
"""Print what RePlay's metrics return for every case: recommendations in the order of their scores, relevant items."""

from __future__ import annotations

from cases import CASES, line
from replay.metrics import MAP, MRR, NDCG, HitRate, Precision, Recall
from replay.metrics.base_metric import Metric

METRICS: tuple[type[Metric], ...] = (MAP, MRR, NDCG, HitRate, Precision, Recall)
CUTOFFS = [1, 3, 10]


def main() -> None:
    """Print the values of every case."""
    for case in CASES:
        ranked = dict(case.ranked())
        liked = {user: [item for item, grade in pool.items() if grade > 0] for user, pool in case.labels.items()}
        liked = {user: items for user, items in liked.items() if items}
        listed = {user: [(item, -rank) for rank, item in enumerate(items)] for user, items in ranked.items()}
        for metric in METRICS:
            alone = {
                user: metric(CUTOFFS)({user: listed[user]}, {user: liked[user]}) for user in liked if user in listed
            }
            for text, mean in metric(CUTOFFS)(listed, liked).items():
                print(line(case, f"replay:{text}", mean, {user: found[text] for user, found in alone.items()}))


if __name__ == "__main__":
    main()

# needs: cornac==3.0.1
"""Print what Cornac's metrics return for each list of every case, which holds all relevant items as in Cornac."""

from __future__ import annotations

import numpy as np
from cases import CASES, line
from cornac.metrics import AUC, MAP, MRR, NCRR, NDCG, FMeasure, HitRatio, Precision, Recall

NAMES = {"F1": FMeasure} | {m.__name__: m for m in (AUC, MAP, MRR, NCRR, NDCG, FMeasure, HitRatio, Precision, Recall)}
CUT = ("NDCG", "NCRR", "HitRatio", "Precision", "Recall", "F1", "FMeasure")
WHOLE = ("AUC", "MAP", "MRR")
"""What needs a list with every relevant item, and others."""
TEXTS = (*(f"{name}(k={k})" for name in CUT for k in (1, 3, 10)), *(f"{name}()" for name in CUT), *WHOLE)


def main() -> None:
    """Print the values of every case."""
    for case in CASES:
        ranked = dict(case.ranked())
        for text in TEXTS:
            values: dict[str, float] = {}
            if case.ties and text == "MAP":
                continue
            for user, pool in case.labels.items():
                liked = [item for item, grade in pool.items() if grade >= 1]
                listed = ranked.get(user, [])
                if (
                    not liked
                    or not listed
                    or (text in WHOLE and (not {*liked} <= {*listed} or len(liked) == len(listed)))
                ):
                    continue
                given = {"gt_pos": np.array(liked), "pd_rank": np.array(listed),
                         "item_indices": np.array([*case.run[user]]),
                         "pd_scores": np.array([*case.run[user].values()])}  # fmt: skip
                metric = eval(text if text.endswith(")") else f"{text}()", dict(NAMES))
                values[user] = float(metric.compute(**given))
            print(line(case, f"cornac:{text}", None, values))


if __name__ == "__main__":
    main()

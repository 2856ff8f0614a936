# needs: ranx==0.3.21
"""Print what ranx returns for every case, whose lists are too short for its sort to be unstable."""

from __future__ import annotations

import numpy as np
import ranx
from cases import CASES, line

_CUTOFFS = (1, 3, 10, 100)
_WITH_CUTOFF = (
    "hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges"
)  # fmt: skip
_WHOLE = ("r-precision", "bpref", "rbp.95", "rbp.5")


def main() -> None:
    """Print the values of every case."""
    texts = [f"{name}@{cutoff}" for name in _WITH_CUTOFF for cutoff in _CUTOFFS]
    texts += [*_WITH_CUTOFF, *_WHOLE]
    for case in CASES:
        labels = {query: {item: int(grade) for item, grade in pool.items()} for query, pool in case.labels.items()}
        for text in [*texts, *(f"{text}-l2" for text in texts if "ndcg" not in text or "@" in text)]:
            qrels, run = ranx.Qrels(labels), ranx.Run(case.run)
            with np.errstate(all="ignore"):
                mean = ranx.evaluate(qrels, run, text, make_comparable=True)
            per_query = {query: run.scores[text].get(query) for query in {*case.labels, *case.run}}
            if np.isnan(mean):  # bpref, where there is nothing relevant, or nothing judged that is not
                mean = None
                per_query = {query: value for query, value in per_query.items() if value is None or value == value}
            print(line(case, f"ranx:{text}", mean, per_query))


if __name__ == "__main__":
    main()

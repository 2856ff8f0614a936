# needs: ranx==0.3.21
"""Print what ranx returns for every case, whose lists are too short for its sort to be unstable."""

from __future__ import annotations

import ranx
from cases import CASES, Case, line

_CUTOFFS = (1, 3, 10, 100)
_WITH_CUTOFF = (
    "hits", "hit_rate", "precision", "recall", "f1", "mrr", "map", "dcg", "dcg_burges", "ndcg", "ndcg_burges"
)  # fmt: skip
_WHOLE = ("r-precision", "bpref", "rbp.95", "rbp.5")


def bpref(case: Case, labels: dict[str, dict[str, int]], text: str) -> dict[str, float]:
    """Return bpref of each query on its own, where it is a number.

    A query with nothing relevant ends ranx's loop over the queries with a division by zero, and others stay at 0; with
    nothing judged that is not relevant it is nan.
    """
    level = int(text.partition("-l")[2] or 1)
    values = {}
    for query in case.run.keys() & labels.keys():
        if 0 < sum(grade >= level for grade in labels[query].values()) < len(labels[query]):
            alone = ranx.Qrels({query: labels[query]}), ranx.Run({query: case.run[query]})
            values[query] = float(ranx.evaluate(*alone, text))
    return values


def main() -> None:
    """Print the values of every case."""
    texts = [f"{name}@{cutoff}" for name in _WITH_CUTOFF for cutoff in _CUTOFFS]
    texts += [*_WITH_CUTOFF, *_WHOLE]
    for case in CASES:
        labels = {query: {item: int(grade) for item, grade in pool.items()} for query, pool in case.labels.items()}
        of_level = (
            [f"{text}-l2" for text in texts if text.endswith(("@3", "ndcg@10", *_WHOLE))]
            if len(case.grades) > 2
            else []
        )
        for text in [*texts, *of_level]:
            if text.startswith("bpref"):
                print(line(case, f"ranx:{text}", None, bpref(case, labels, text)))
                continue
            qrels, run = ranx.Qrels(labels), ranx.Run(case.run)
            mean = ranx.evaluate(qrels, run, text, make_comparable=True)
            per_query = {query: run.scores[text].get(query) for query in {*case.labels, *case.run}}
            print(line(case, f"ranx:{text}", mean, per_query))


if __name__ == "__main__":
    main()

# needs: --no-deps beir==2.2.0 pytrec-eval-terrier==0.5.11 numpy==2.4.6 scipy==1.17.1 tqdm
"""Print what BEIR returns for every case: means alone, rounded to 5 decimals."""

from __future__ import annotations

from beir.retrieval.evaluation import EvaluateRetrieval
from cases import CASES, line

CUTOFFS = [1, 3, 10, 100]


def main() -> None:
    """Print the means of every case."""
    for case in CASES:
        qrels = {query: {item: int(grade) for item, grade in pool.items()} for query, pool in case.labels.items()}
        run = {query: dict(items) for query, items in case.run.items() if query in qrels}  # others are a KeyError
        means = {}
        for of_measure in EvaluateRetrieval.evaluate(qrels, run, CUTOFFS):
            means |= of_measure
        with_relevant = {query: items for query, items in run.items() if any(qrels[query].values())}
        for name, results in (("mrr", run), ("r_cap", with_relevant), ("acc", run)):  # r_cap divides by zero else
            means |= EvaluateRetrieval.evaluate_custom(qrels, results, CUTOFFS, name)
        for text, mean in means.items():
            print(line(case, f"beir:{text}", mean))


if __name__ == "__main__":
    main()

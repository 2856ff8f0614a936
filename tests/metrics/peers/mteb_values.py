# needs: --no-deps mteb==2.26.24 pytrec-eval-terrier==0.5.11 numpy==2.4.6 scipy==1.17.1 pandas==3.1.1 scikit-learn==1.9.1 typing_extensions pydantic pydantic_core annotated_types typing_inspection joblib threadpoolctl narwhals packaging python-dateutil six tqdm cloudpickle
# ruff: noqa: E501
"""Print what MTEB returns for every case. Only its metrics are loaded: all of it needs torch."""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path

from cases import CASES, line

_CUTOFFS = [1, 3, 10, 100]
_OF_QUERIES = {
    "ndcg_at_": "ndcg_cut_",
    "map_at_": "map_cut_",
    "recall_at_": "recall_",
    "precision_at_": "P_",
    "hit_rate_at_": "success_",
}


def load() -> types.ModuleType:
    """Return the module of the metrics, without what the package imports when it is loaded as a whole."""
    spec = importlib.util.find_spec("mteb")
    assert spec is not None
    assert spec.submodule_search_locations
    folder = Path(next(iter(spec.submodule_search_locations)))
    for name, path in (("mteb", folder), ("mteb._evaluators", folder / "_evaluators")):
        package = types.ModuleType(name)
        package.__path__ = [str(path)]
        sys.modules[name] = package
    return importlib.import_module("mteb._evaluators.retrieval_metrics")


def main() -> None:
    """Print the values of every case."""
    metrics = load()
    for case in CASES:
        qrels = {query: {item: int(grade) for item, grade in pool.items()} for query, pool in case.labels.items()}
        run = {query: dict(items) for query, items in case.run.items() if query in qrels}  # others are a KeyError
        found = metrics.calculate_retrieval_scores(run, qrels, _CUTOFFS)
        means = metrics.make_score_dict(
            ndcg=found.ndcg, _map=found.map, recall=found.recall, precision=found.precision, mrr=found.mrr,
            hit_rate=found.hit_rate, naucs={}, naucs_mrr={}, task_scores={},
        )  # fmt: skip
        for name, mean in means.items():
            family = next((family for family in _OF_QUERIES if name.startswith(family)), None)
            per_query = None
            if family is not None:
                native = name.replace(family, _OF_QUERIES[family])
                per_query = {query: found.all_scores.get(query, {}).get(native) for query in {*case.labels, *case.run}}
            print(line(case, f"mteb:{name}", mean, per_query))


if __name__ == "__main__":
    main()

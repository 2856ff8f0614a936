"""Evaluate two rankers with mlflow.models.evaluate, and compare them; needs ndcg-tracker[mlflow]."""

import os

os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
os.environ.setdefault("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
os.environ.setdefault("NDCG_TRACK_DB", "ndcg-track.db")

import mlflow
import numpy as np
import pandas as pd

import ndcg_tracker as nt

random = np.random.default_rng(7)
grades = random.integers(0, 4, size=(300, 10))  # 300 queries with ten products each
data = pd.DataFrame(
    {
        "query": np.repeat([f"q{number}" for number in range(300)], 10),
        "product": np.tile([f"p{number}" for number in range(10)], 300),
        "text_match": (grades + random.normal(scale=2.0, size=grades.shape)).ravel(),
        "popularity": (grades + random.normal(scale=3.0, size=grades.shape)).ravel(),
        "grade": grades.ravel().astype(float),
    }
)
rankers = {
    "text": lambda rows: rows["text_match"],
    "text+popularity": lambda rows: rows["text_match"] + 0.5 * rows["popularity"],
}
settings = {"group": "query", "item": "product", "metrics": ["ndcg@10", "AP"], "dataset": "shop"}
for name, ranker in rankers.items():
    with mlflow.start_run(run_name=name):
        result = mlflow.models.evaluate(
            ranker, data, targets="grade", model_type="ranker", evaluators="ndcg_tracker", evaluator_config=settings
        )
        print(name, {metric: round(mean, 4) for metric, mean in result.metrics.items()})
print(nt.Tracker().compare("text", "text+popularity", metrics="ndcg@10", top=2))
print("the same again: ndcg-track compare text text+popularity")

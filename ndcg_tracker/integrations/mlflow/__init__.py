"""MLflow: an evaluator for ``mlflow.models.evaluate``, and runs to an MLflow server and back.

Only ``evaluator``, which MLflow finds by its entry point, imports MLflow at import time.
"""

from ndcg_tracker.integrations.mlflow.names import metric_name
from ndcg_tracker.integrations.mlflow.pulling import PulledRun, pull
from ndcg_tracker.integrations.mlflow.pushing import PushedRun, push

__all__ = ["PulledRun", "PushedRun", "metric_name", "pull", "push"]

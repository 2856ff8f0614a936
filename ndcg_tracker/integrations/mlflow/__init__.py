"""MLflow: an evaluator for ``mlflow.models.evaluate``, and runs to an MLflow server and back.

Only ``evaluator``, which MLflow finds by its entry point, imports MLflow at import time.
"""

from ndcg_tracker.integrations.mlflow.pulling import PulledRun, pull
from ndcg_tracker.integrations.mlflow.pushing import PushedRun, push
from ndcg_tracker.integrations.stored_run import metric_name

__all__ = ["PulledRun", "PushedRun", "metric_name", "pull", "push"]

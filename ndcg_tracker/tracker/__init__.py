"""The one place that joins the parts: readers, metrics, store and comparison."""

from ndcg_tracker.tracker.evaluation import Evaluation, evaluate
from ndcg_tracker.tracker.tracker import Tracker

__all__ = ["Evaluation", "Tracker", "evaluate"]

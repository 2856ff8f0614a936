"""The arithmetic of ranking metrics: NumPy only, no SQL, no frames."""

from ndcg_tracker.metrics.coverage import judged_share
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.kernel import group_results
from ndcg_tracker.metrics.results import REASONS, GroupResults
from ndcg_tracker.metrics.text_form import parse_metric
from ndcg_tracker.metrics.tie_bounds import tie_bounds

__all__ = ["REASONS", "GroupResults", "Metric", "group_results", "judged_share", "parse_metric", "tie_bounds"]

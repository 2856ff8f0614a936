"""The arithmetic of ranking metrics: NumPy only, no SQL, no frames."""

from ndcg_tracker.metrics.aggregation import aggregated, plain_mean
from ndcg_tracker.metrics.coverage import judged_shares
from ndcg_tracker.metrics.definition import Metric
from ndcg_tracker.metrics.kernel import group_results, group_values
from ndcg_tracker.metrics.results import REASONS, GroupResults, GroupValues, joined_values
from ndcg_tracker.metrics.text_form import parse_metric
from ndcg_tracker.metrics.tie_bounds import tie_bounds, values_with_bounds

__all__ = [
    "REASONS",
    "GroupResults",
    "GroupValues",
    "Metric",
    "aggregated",
    "group_results",
    "group_values",
    "joined_values",
    "judged_shares",
    "parse_metric",
    "plain_mean",
    "tie_bounds",
    "values_with_bounds",
]

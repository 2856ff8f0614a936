from .aggregation import aggregated, plain_mean
from .coverage import judged_shares
from .definition import Metric
from .kernel import group_results, group_values
from .results import REASONS, GroupResults, GroupValues, joined_values
from .text_form import metric_texts, parse_metric, parse_metrics, read_as
from .tie_bounds import tie_bounds, values_with_bounds

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
    "metric_texts",
    "parse_metric",
    "parse_metrics",
    "plain_mean",
    "read_as",
    "tie_bounds",
    "values_with_bounds",
]

from .aggregation import aggregated, plain_mean
from .coverage import judged_shares
from .definition import Metric
from .kernel import group_results, group_values
from .results import REASONS, GroupResults, GroupValues, joined_values
from .text_form import parse_metric
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
    "parse_metric",
    "plain_mean",
    "tie_bounds",
    "values_with_bounds",
]

"""The range that ties in scores leave open: a metric's values if all ties fell worst, and if all fell best."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.metrics.kernel.lists import Lists
from ndcg_tracker.metrics.kernel.mean import GroupResults, GroupValues
from ndcg_tracker.metrics.kernel.values import group_results, values_of
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.rankings.join import Judged
from ndcg_tracker.rankings.weights import GroupWeights


def tie_bounds(
    judged: Judged, metrics: Sequence[Metric], weights: GroupWeights | None = None
) -> list[tuple[GroupResults, GroupResults]]:
    """Return the results of each metric with every tie broken for the worst, and for the best.

    The bounds are sharp per group: some order of the tied items attains each, and no order exceeds them, except for
    two measures that no order by gain alone bounds: ``G``, and ``infAP`` where labels are below 0. For ``idcg``, which
    no tie changes, both are the metric itself. Parameters and errors: see ``group_results``.

    >>> import numpy as np
    >>> from ndcg_tracker.metrics.language.text import parse_metric
    >>> from ndcg_tracker.rankings.join import judged
    >>> from ndcg_tracker.rankings.keys import Keys
    >>> from ndcg_tracker.rankings.ranking import LabelLists, Ranking
    >>> group, items = Keys.from_strings(["q", "q"]), Keys.from_strings("ab")
    >>> run = Ranking.from_rows(group, items, np.ones(2))
    >>> labels = LabelLists.from_rows(group, items, np.array([1.0, 0.0]))
    >>> [(worst.mean, best.mean) for worst, best in tie_bounds(judged(run, labels), [parse_metric("ndcg@1")])]
    [(0.0, 1.0)]
    """
    both = [variant for metric in metrics for variant in variants(metric)]
    found = group_results(judged, both, weights)
    return list(zip(found[::2], found[1::2], strict=True))


def values_with_bounds(judged: Judged, metrics: Sequence[Metric]) -> list[tuple[GroupValues, GroupValues, GroupValues]]:
    """Return the values of each metric, and those with every tie broken for the worst, and for the best.

    What ``group_values`` and ``tie_bounds`` return, at little more than the cost of the first: only the groups in
    which ties matter are summed again. A refusal names the metric as it was given.
    """
    lists = Lists(judged, [variant for metric in metrics for variant in (metric, *variants(metric))])
    values = [values_of(lists, metric) for metric in metrics]
    bounds = [tuple(values_of(lists, variant) for variant in variants(metric)) for metric in metrics]
    return [(own, worst, best) for own, (worst, best) in zip(values, bounds, strict=True)]


def variants(metric: Metric) -> tuple[Metric, Metric]:
    """Return a metric with ties broken for the worst and for the best; a bound may exceed 1 where no value does."""
    worst, best = (metric.with_axes(ties=ties, clip="none") for ties in ("pessimistic", "optimistic"))
    return worst, best

"""Runs whose own order breaks ties: as ``ties=input`` does, and without ties as any run."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rankings_of import Run, joined, labels_of, ranking_of
from test_properties import LISTED, some_cutoff, some_labels, some_metric, some_run, untied_run
from thorough import examples

from ndcg_tracker.metrics.contributions import contributions
from ndcg_tracker.metrics.kernel.values import group_results
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.grouping import places_in
from ndcg_tracker.rankings.join import Judged, judged
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import BY_INPUT, UnsortedRanking

OF_THE_ORDER = tuple(name for name in LISTED if "ties" not in MEASURES[name].defaults)
"""Measures that do not say themselves what ties are worth, as AUC does."""
some_axes = st.sampled_from([{}, {"score_type": "f32"}, {"unjudged": "drop"}, {"depth": "2"}])


def of_lists(run: Run, labels: Run) -> tuple[Judged, Judged]:
    """Return a run whose order breaks ties, with its labels: sorted, and unsorted."""
    rows = [(item, score) for items in run.values() for item, score in items.items()]
    offsets = np.cumsum([0, *map(len, run.values())])
    keys, items = Keys.from_strings([*run]), Keys.from_strings([item for item, _ in rows])
    unsorted = UnsortedRanking(keys, offsets, items, np.array([score for _, score in rows]), BY_INPUT)
    return tuple(judged(each, labels_of(labels)) for each in (unsorted.in_order, unsorted))  # type: ignore[return-value]


@settings(max_examples=examples(100))
@given(untied_run, some_labels, some_metric(OF_THE_ORDER), some_axes)
def test_without_ties_both_rules_agree(run: Run, labels: Run, metric: Metric, axes: dict[str, str]) -> None:
    metric = metric.with_axes(**axes)
    expected = group_results(joined(run, labels), [metric])[0].values
    for of_list in of_lists(run, labels):
        np.testing.assert_array_equal(group_results(of_list, [metric])[0].values, expected)
    assert of_list.ranking.in_order.digest() == ranking_of(run).digest()


@settings(max_examples=examples(100))
@given(some_run, some_labels, some_metric(OF_THE_ORDER), some_axes)
def test_with_ties_the_order_of_the_list_holds(run: Run, labels: Run, metric: Metric, axes: dict[str, str]) -> None:
    metric = metric.with_axes(**axes)
    expected = group_results(joined(run, labels), [metric.with_axes(ties="input")])[0].values
    for of_list in of_lists(run, labels):
        np.testing.assert_array_equal(group_results(of_list, [metric])[0].values, expected)


@settings(max_examples=examples(50))
@given(some_run, some_labels, st.sampled_from(["item_asc", "pessimistic", "optimistic", "average"]), some_cutoff)
def test_a_rule_that_a_metric_names_holds(run: Run, labels: Run, ties: str, cutoff: int | None) -> None:
    metric = Metric.of("ndcg", cutoff=cutoff, ties=ties)
    expected = group_results(joined(run, labels), [metric])[0].values
    for of_list in of_lists(run, labels):
        np.testing.assert_allclose(group_results(of_list, [metric])[0].values, expected, rtol=0, atol=1e-15)


@settings(max_examples=examples(50))
@given(some_run, some_labels, some_cutoff)
def test_contributions_add_up(run: Run, labels: Run, cutoff: int | None) -> None:
    metric = Metric.of("dcg", cutoff=cutoff)
    for of_list in of_lists(run, labels):
        found = contributions(of_list, metric)
        sums = np.bincount(found.groups, found.contributions, minlength=found.values.values.size)
        np.testing.assert_allclose(sums, np.nan_to_num(found.values.values), rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found.ranks, places_in(np.diff(of_list.ranking.offsets)))


def test_scores_that_tie_in_single_precision_alone_stay_in_order() -> None:
    run, labels = {"q": {"a": 1.0, "b": 1.0 + 1e-12, "c": 1.0}}, {"q": {"b": 1.0}}
    metric = parse_metric("trec_eval:ndcg_cut_1")
    assert [group_results(of_list, [metric])[0].mean for of_list in of_lists(run, labels)] == [1.0, 1.0]
    assert group_results(joined(run, labels), [metric])[0].mean == 0.0


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_the_digest_knows_the_order_of_ties(order: str) -> None:
    run = {"q": dict.fromkeys([*order, "c"], 1.0), "r": {"c": 2.0}}
    by_input = replace(ranking_of(run), tie_order=BY_INPUT)
    assert by_input.digest() != ranking_of(run).digest()
    turned = replace(
        ranking_of({group: dict(reversed(held.items())) for group, held in run.items()}), tie_order=BY_INPUT
    )
    assert turned.digest() != by_input.digest()
    assert replace(ranking_of(dict(reversed(run.items()))), tie_order=BY_INPUT).digest() == by_input.digest()
    assert by_input.of_groups(np.array([0, 1])).digest() == by_input.digest()

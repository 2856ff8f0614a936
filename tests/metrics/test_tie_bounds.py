"""The bounds over orders of tied items against every such order."""

import itertools

import numpy as np
import pytest
from drawn_cases import NOT_BY_GAIN
from hypothesis import given, settings
from hypothesis import strategies as st
from random_rankings import random_case
from rankings_of import joined, results
from thorough import examples

from ndcg_tracker.metrics.kernel.values import group_results, group_values, tie_bounds, values_with_bounds
from ndcg_tracker.metrics.language.measures import MEASURES
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupWeights

METRICS = ["ndcg@2", "ndcg(gain=exp2, discount=position)", "cg@1", "ERR@3"] + [
    f"{name}@2"
    if measure.cutoff == "required"
    else name + ("@0.5" if measure.axis_at else "(highest=4)" if name == "PFound" else "")
    for name, measure in MEASURES.items()
    if measure.is_listed and name not in NOT_BY_GAIN
]


@settings(max_examples=examples(120))
@given(
    st.dictionaries(st.sampled_from("abcde"), st.sampled_from([1.0, 2.0]), min_size=1),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 4).map(float), min_size=1),
    st.sampled_from(METRICS),
)
def test_the_bounds_are_reached_and_never_passed(scores: dict[str, float], grades: dict[str, float], text: str) -> None:
    metric = parse_metric(text)
    ((worst, best),) = tie_bounds(joined({"q": scores}, {"q": grades}), [metric])
    as_they_come = str(metric.with_axes(ties="input"))
    orders = {
        str(number): {item: scores[item] for item in order}
        for number, order in enumerate(itertools.permutations(scores))
    }
    values = results(as_they_come, orders, dict.fromkeys(orders, grades)).values
    assert worst.values[0] == pytest.approx(min(values), abs=1e-15)
    assert best.values[0] == pytest.approx(max(values), abs=1e-15)


def test_without_ties_there_is_nothing_open() -> None:
    both = joined({"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 1.0}})
    for worst, best in tie_bounds(both, [parse_metric("ndcg"), parse_metric("idcg")]):
        np.testing.assert_array_equal(worst.values, best.values)


def test_a_bound_above_1_refuses_nothing() -> None:
    run = {"q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0}}
    both = joined(run, {"q": {"a": 1.0, "b": 0.0}, "r": {"a": 0.0}})
    weights = GroupWeights(Keys.from_strings(["q", "r"]), np.array([0.5, 0.5]), np.array([False, False]))
    metric = parse_metric("ndcg(clip=error_above_1, empty=1, empty_weight=one, weights=group)@1")
    assert group_results(both, [metric], weights)[0].mean == 1.0
    ((worst, best),) = tie_bounds(both, [metric], weights)
    assert (worst.mean, best.mean) == (1.0, 1.5)


@pytest.mark.parametrize("seed", range(3))
def test_values_and_bounds_at_once_are_those_of_either(seed: int) -> None:
    judged = joined(*random_case(seed))
    metrics = [parse_metric(text) for text in (*METRICS, "ndcg@10", "ndcg", "idcg", "ndcg(ideal=retrieved)@3")]
    together = values_with_bounds(judged, metrics)
    apart = zip(group_values(judged, metrics), tie_bounds(judged, metrics), strict=True)
    for found, (own, (worst, best)) in zip(together, apart, strict=True):
        for one, other in zip(found, (own, worst, best), strict=True):
            assert one.metric == other.metric
            np.testing.assert_array_equal(one.values, other.values)
            np.testing.assert_array_equal(one.reasons, other.reasons)

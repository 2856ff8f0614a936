"""What unjudged items leave open, from extreme differences to verdicts."""

from dataclasses import replace

import numpy as np
import pytest
from test_compare import SHOP, names, results

from ndcg_tracker.compare.decide import PairedResults, UnjudgedDeltas, adjusted_jointly, compare_runs
from ndcg_tracker.compare.inference import Methods
from ndcg_tracker.compare.results import JudgedShare, MetricComparison, UnjudgedBounds
from ndcg_tracker.statistics.t_test import paired_t, weighted_t

RNG = np.random.default_rng(5)
BASELINE = RNG.random(60) / 2
DELTA = RNG.normal(0, 0.05, 60)
LEAST, GREATEST = DELTA - RNG.random(60) / 8, DELTA + RNG.random(60) / 4


def paired(metric: str = "ndcg@10", **rest: object) -> PairedResults:
    known = results(BASELINE.tolist(), (BASELINE + DELTA).tolist(), metric)
    condensed = (BASELINE, np.where(np.arange(60) < 5, np.nan, BASELINE + 2 * DELTA))
    return replace(known, unjudged=UnjudgedDeltas(90, 50, LEAST, GREATEST, condensed), **rest)  # type: ignore[arg-type]


def bounds_of(metric: MetricComparison) -> UnjudgedBounds:
    assert metric.unjudged_bounds is not None
    return metric.unjudged_bounds


def test_each_extreme_is_tested_as_if_it_had_been_found() -> None:
    (metric,) = compare_runs(SHOP, [paired()], names).metrics
    bounds = bounds_of(metric)
    assert (bounds.n_items, bounds.n_groups, bounds.not_supported) == (90, 50, None)
    assert metric.verdict == "no_difference_detected"
    expected = [(bounds.least, LEAST), (bounds.greatest, GREATEST), (bounds.condensed, 2 * DELTA[5:])]
    for found, delta in expected:
        assert found is not None
        test = paired_t(delta)
        assert (found.delta, found.p_value) == (pytest.approx(test.mean), pytest.approx(test.p_value))
        assert found.ci == pytest.approx(test.ci)
    verdicts = [found.verdict for found, _ in expected if found is not None]
    assert verdicts == ["regressed", "improved", "no_difference_detected"]


def test_the_p_values_are_corrected_together_with_the_other_metrics_as_they_are() -> None:
    first, second = compare_runs(SHOP, [paired(), paired("P@5")], names).metrics
    least = bounds_of(first).least
    assert least is not None
    assert least.p_value is not None
    assert second.p_value is not None
    assert least.p_value < second.p_value
    assert least.p_adjusted == 2 * least.p_value
    twice = [compare_runs(SHOP, [paired()], names) for _ in range(2)]
    jointly = bounds_of(adjusted_jointly(twice)[0].metrics[0]).least
    assert jointly is not None
    assert jointly.p_adjusted == 2 * least.p_value


def test_weights_and_the_test_that_was_asked_for_are_those_of_the_comparison() -> None:
    weights = RNG.random(60) + 0.5
    least = bounds_of(compare_runs(SHOP, [paired(weights=weights)], names).metrics[0]).least
    assert least is not None
    assert least.delta == pytest.approx(weighted_t(LEAST, weights).mean)
    metric = compare_runs(SHOP, [paired()], names, methods=Methods("permutation")).metrics[0]
    least = bounds_of(metric).least
    assert least is not None
    assert least.p_value == pytest.approx(1 / 10_001)


def test_the_bounds_stand_in_the_place_of_the_guess() -> None:
    runs = replace(SHOP, coverage=(JudgedShare(10, 0.5, 0.9),))
    assert [note.kind for note in compare_runs(runs, [replace(paired(), unjudged=None)], names).notes] == [
        "fewer_judged"
    ]
    assert compare_runs(runs, [paired()], names).notes == ()


def test_what_is_not_known_is_none() -> None:
    unknown = replace(paired(), unjudged=UnjudgedDeltas(0, 0, not_supported="measure"))
    assert bounds_of(compare_runs(SHOP, [unknown], names).metrics[0]) == UnjudgedBounds(0, 0, not_supported="measure")
    assert compare_runs(SHOP, [replace(paired(), unjudged=None)], names).metrics[0].unjudged_bounds is None

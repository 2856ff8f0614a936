"""Permanent numbers, probabilities of a draw, and a difference that people's answers correct."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import Floats

from ndcg_tracker.statistics.drawn import (
    DrawnLabels,
    inclusion_probabilities,
    permanent_numbers,
)

some_weights = st.lists(st.floats(-10, 10).filter(lambda weight: abs(weight) > 1e-6), min_size=1, max_size=30).map(
    np.array
)


@given(some_weights, st.integers(1, 40))
def test_probabilities_sum_to_the_budget_in_proportion_to_the_weights(weights: Floats, budget: int) -> None:
    found = inclusion_probabilities(weights, budget)
    assert ((found > 0) & (found <= 1)).all()
    assert found.sum() == pytest.approx(min(budget, weights.size))
    per_size = found[found < 1] / np.abs(weights)[found < 1]
    assert per_size == pytest.approx(np.full(per_size.size, per_size[:1].max(initial=0)))
    sure = np.abs(weights)[found == 1]
    assert not per_size.size or (sure * per_size[0] >= 1 - 1e-9).all()


@given(some_weights, st.integers(1, 40), st.integers(1, 40))
def test_a_larger_budget_contains_a_smaller_one(weights: Floats, first: int, second: int) -> None:
    few, many = (inclusion_probabilities(weights, budget) for budget in sorted((first, second)))
    assert (few <= many + 1e-12).all()


def test_permanent_numbers_are_uniform_and_depend_on_seed_group_and_item_alone() -> None:
    pairs = [(f"q{group}".encode(), f"d{item}".encode()) for group in range(200) for item in range(50)]
    numbers = permanent_numbers("shop", pairs)
    assert ((numbers >= 0) & (numbers < 1)).all()
    assert np.histogram(numbers, 10, (0, 1))[0] == pytest.approx(np.full(10, 1000), abs=110)
    assert permanent_numbers("shop", pairs[::-1]).tolist() == numbers[::-1].tolist()
    others = permanent_numbers("shop 2", pairs)
    assert abs(np.corrcoef(numbers, others)[0, 1]) < 0.04
    assert len(set(permanent_numbers("s", [(b"ab", b"c"), (b"a", b"bc")]).tolist())) == 2  # where an id ends counts


def test_over_all_draws_the_corrected_differences_are_those_of_complete_answers() -> None:
    rng = np.random.default_rng(3)
    groups = np.array([0, 0, 0, 1, 1, 2, 2, 3])
    weights, levels = rng.normal(size=groups.size), rng.integers(0, 2, groups.size)
    gains, judged_gains = rng.integers(0, 4, groups.size).astype(float), np.array([0.0, 2.0])
    probabilities = inclusion_probabilities(weights, 3.5)
    expected = np.zeros(4)
    for drawn in product([False, True], repeat=groups.size):
        is_drawn = np.array(drawn)
        chance = float(np.where(is_drawn, probabilities, 1 - probabilities).prod())
        rows = np.flatnonzero(is_drawn)
        sample = DrawnLabels(4, groups, weights, levels, judged_gains, rows, gains[rows], probabilities[rows])
        expected += chance * sample.corrected_deltas()
    assert expected == pytest.approx(np.bincount(groups, weights * gains))


def test_complete_answers_leave_nothing_to_the_judge() -> None:
    groups, weights = np.array([0, 0, 1, 2]), np.array([0.5, -0.25, 1.0, 0.125])
    gains, levels = np.array([1.0, 0.0, 3.0, 2.0]), np.array([1, 1, 0, 1])
    whole = DrawnLabels(3, groups, weights, levels, np.array([0.0, 1.0]), np.arange(4), gains, np.ones(4))
    assert whole.corrected_deltas() == pytest.approx(np.bincount(groups, weights * gains))
    assert whole.informative.tolist() == [1, 1, 1]
    assert whole.drawn_variances().tolist() == [0, 0, 0]
    assert whole.by_people_alone().corrected_deltas() == pytest.approx(whole.corrected_deltas())


def test_without_answers_the_judge_alone_is_left() -> None:
    two, nothing = np.array([0, 1]), np.empty(0)
    no_rows = nothing.astype(np.int64)
    none = DrawnLabels(2, two, np.array([0.5, 1.0]), two, np.array([1.0, 2.0]), no_rows, nothing, nothing)
    assert none.corrected_deltas().tolist() == none.judged_deltas().tolist() == [0.5, 2.0]


def test_a_group_is_not_corrected_by_what_is_expected_from_its_own_answers() -> None:
    groups, levels, ones = np.arange(4), np.zeros(4, dtype=np.int64), np.ones(4)
    of_first = [
        DrawnLabels(4, groups, ones, levels, np.zeros(1), np.array([0]), np.array([gain]), np.array([0.5]))
        for gain in (0.0, 3.0)
    ]
    first, second = (sample.corrected_deltas() for sample in of_first)
    assert second[0] - first[0] == pytest.approx(3.0 / 0.5)
    assert second[1:] == pytest.approx(np.full(3, 1.0))  # one answer of 3 beside two pseudo-labels of 0


def test_the_variance_of_the_draw_is_what_draws_of_one_population_vary_by() -> None:
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(20), 10)
    weights, levels = rng.normal(size=groups.size), rng.integers(0, 3, groups.size)
    gains, judged_gains = rng.integers(0, 4, groups.size).astype(float), np.array([0.0, 1.0, 2.0])
    probabilities = inclusion_probabilities(weights, 60)
    means, variances = [], []
    for _ in range(2000):
        rows = np.flatnonzero(rng.random(groups.size) < probabilities)
        sample = DrawnLabels(20, groups, weights, levels, judged_gains, rows, gains[rows], probabilities[rows])
        means.append(sample.corrected_deltas().mean())
        variances.append(sample.drawn_variances().sum() / 20**2)
    assert np.mean(variances) == pytest.approx(np.var(means), rel=0.12)

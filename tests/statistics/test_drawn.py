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
    permanent_folds,
    permanent_numbers,
    probabilities_by_spread,
    spread_of_gains,
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


@given(some_weights, st.integers(1, 40), st.integers(1, 40), st.integers(0, 2**32))
def test_probabilities_by_spread_sum_to_the_budget_and_grow_with_it(
    weights: Floats, first: int, second: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    folds, spread = rng.integers(0, 10, weights.size), rng.choice([0.25, 1.0, 3.0], weights.size)
    few, many = (probabilities_by_spread(weights, budget, folds, spread) for budget in sorted((first, second)))
    for found, budget in zip((few, many), sorted((first, second)), strict=True):
        assert ((found > 0) & (found <= 1)).all()
        assert found.sum() == pytest.approx(min(budget, weights.size))
    assert (few <= many + 1e-9).all()
    alike = probabilities_by_spread(weights, first, folds, np.ones(weights.size))
    assert alike == pytest.approx(inclusion_probabilities(weights, first))
    of_fold = folds == folds[0]
    changed = probabilities_by_spread(weights, first, folds, np.where(of_fold, spread, 7 * spread))
    assert changed == pytest.approx(probabilities_by_spread(weights, first, folds, spread))  # a fold's unit is nothing


some_answers = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 3), st.sampled_from([0.0, 1.0, 3.0, 1e9])), max_size=40
)


@given(some_answers)
def test_the_spread_is_that_of_other_folds_and_a_quarter_of_its_mean_at_least(
    answers: list[tuple[int, int, float]],
) -> None:
    folds, levels = (np.array([answer[place] for answer in answers], dtype=np.int64) for place in (0, 1))
    gains = np.array([answer[2] for answer in answers], dtype=np.float64)
    found = spread_of_gains(folds, levels, gains, 4)
    assert found.shape == (4, 10)
    assert ((found > 0) & np.isfinite(found)).all()
    for fold in range(10):
        others = folds != fold
        alone = spread_of_gains(folds[others], levels[others], gains[others], 4)[:, fold]
        assert alone == pytest.approx(found[:, fold])
        if others.any() and np.ptp(gains[others]):
            assert found[:, fold].min() >= 0.25 * found[levels[others], fold].mean() * (1 - 1e-9)


def test_the_largest_gains_have_a_spread() -> None:
    found = spread_of_gains(np.arange(4), np.zeros(4, dtype=np.int64), np.array([0.0, 1e308, 0.0, 1e308]), 1)
    assert found[0, 9] == pytest.approx(0.5e308)


def test_grades_at_which_people_differ_more_have_more_spread() -> None:
    rng = np.random.default_rng(2)
    folds, levels = rng.integers(0, 10, 4000), rng.integers(0, 3, 4000)
    gains = rng.normal(size=4000) * np.array([0.0, 1.0, 2.0])[levels]
    found = spread_of_gains(folds, levels, gains, 3)
    assert found[1] == pytest.approx(np.ones(10), rel=0.05)
    assert found[2] == pytest.approx(np.full(10, 2.0), rel=0.05)
    assert found[0] == pytest.approx(np.full(10, 0.25), rel=0.06)  # the quarter of the mean


def test_folds_of_groups_are_those_of_their_ids_and_about_equal() -> None:
    ids = [f"q{group}".encode() for group in range(5000)]
    folds = permanent_folds(ids)
    assert np.bincount(folds, minlength=10) == pytest.approx(np.full(10, 500), abs=80)
    assert permanent_folds(ids[::-1]).tolist() == folds[::-1].tolist()


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


def test_probabilities_by_older_answers_with_the_same_numbers_leave_every_item_its_chance() -> None:
    """Over all older draws, an item is drawn as often as its probability says: the mean of drawn / p is 1."""
    rng = np.random.default_rng(4)
    folds = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
    n = folds.size
    older_weights, weights, levels = rng.normal(size=n), rng.normal(size=n), rng.integers(0, 2, n)
    gains = rng.integers(0, 4, n).astype(float)
    older = inclusion_probabilities(older_weights, 4)
    worth, largest = np.zeros(n), np.zeros(n)
    seen = set()
    for drawn in product([False, True], repeat=n):
        is_drawn = np.array(drawn)
        chance = float(np.where(is_drawn, older, 1 - older).prod())
        spread = spread_of_gains(folds[is_drawn], levels[is_drawn], gains[is_drawn], 2)
        found = probabilities_by_spread(weights, 3, folds, spread[levels, folds])
        seen.add(found.round(6).tobytes())
        below = np.where(is_drawn, np.minimum(found / older, 1.0), np.maximum(found - older, 0.0) / (1 - older))
        worth += chance * below / found
        either = np.where(is_drawn, 1.0, below)
        largest += chance * either / np.maximum(found, older)
    assert len(seen) > 50
    assert worth == pytest.approx(np.ones(n))
    assert largest == pytest.approx(np.ones(n))


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

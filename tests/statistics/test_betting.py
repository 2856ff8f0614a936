"""The betting bounds: naive arithmetic, coverage on every population, symmetries."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from populations import ALL, LONG, Record, repeats

from ndcg_tracker.statistics.distribution_free import (
    betting_interval,
    betting_lower_bound,
    betting_p_value,
    betting_upper_bound,
    content_generator,
)
from ndcg_tracker.statistics.t_test import paired_t

DIFFERENCES = st.lists(st.integers(-20, 20).map(lambda number: number / 20), min_size=1, max_size=40)


def naive_lower_bound(delta: list[float], level: float) -> float:
    """Waudby-Smith and Ramdas line by line, over a fine grid of means."""
    ordered = np.sort(np.array(delta))
    content_generator(ordered).shuffle(ordered)
    numbers, alpha, n = ((ordered + 1) / 2).tolist(), 1 - level, len(delta)
    refuted = 0.0
    for m in np.linspace(1e-9, 1, 2001).tolist():
        capital, most, total, spread = 1.0, 1.0, 0.5, 0.25
        for i, x in enumerate(numbers):
            bet = min(math.sqrt(2 * math.log(1 / alpha) / (n * spread / (i + 1))), 0.9 / m)
            capital *= 1 + bet * (x - m)
            most = max(most, capital)
            total += x
            spread += (x - total / (i + 2)) ** 2
        if most >= 1 / alpha:
            refuted = m
    return 2 * min(refuted, sum(numbers) / n) - 1


@pytest.mark.parametrize(("name", "n"), [("normal", 30), ("graded", 120), ("sparse", 200), ("skewed", 150)])
@pytest.mark.parametrize("level", [0.9, 0.99])
def test_equals_naive_arithmetic(name: str, n: int, level: float) -> None:
    (delta,) = ALL[name](np.random.default_rng(n), (1, n))
    assert abs(betting_lower_bound(delta, level=level) - naive_lower_bound(delta.tolist(), level)) <= 2 * 5e-4


@pytest.mark.nightly(but=12)
@pytest.mark.parametrize("n", [25, 200, 1000] if LONG else [25, 200])
@pytest.mark.parametrize("name", ALL)
def test_coverage_of_the_lower_bound(name: str, n: int, record_property: Record) -> None:
    samples = repeats(2000)
    differences = ALL[name](np.random.default_rng(n), (samples, n))
    covered = sum(betting_lower_bound(delta) <= 0 for delta in differences) / samples
    record_property("coverage", float(covered))
    assert covered >= 0.95 - 0.016


@pytest.mark.nightly(but=5)
@pytest.mark.parametrize("name", ALL)
def test_coverage_of_upper_bound_interval_and_p_value(name: str) -> None:
    samples, n = repeats(500), 400
    differences = ALL[name](np.random.default_rng(9), (samples, n))
    low_high = [betting_interval(delta) for delta in differences]
    assert sum(betting_upper_bound(delta) >= 0 for delta in differences) / samples >= 0.95 - 0.032
    assert sum(low <= 0 <= high for low, high in low_high) / samples >= 0.95 - 0.032
    assert sum(betting_p_value(delta) <= 0.05 for delta in differences) / samples <= 0.05 + 0.032


def test_coverage_of_the_weighted_mean() -> None:
    rng, samples = np.random.default_rng(10), repeats(1000)
    weights = rng.exponential(size=(samples, 300)).clip(0, 4)
    differences = ALL["asymmetric"](rng, (samples, 300))
    covered = [betting_lower_bound(d, w) <= 0 for d, w in zip(differences, weights, strict=True)]
    assert sum(covered) / samples >= 0.95 - 0.023


def test_width_is_not_much_more_than_that_of_t() -> None:
    delta = np.random.default_rng(11).normal(0.01, 0.14, 100_000).clip(-1, 1)
    (low, high), t = betting_interval(delta), paired_t(delta).ci
    assert t is not None
    assert low < delta.mean() < high
    assert 1 < (high - low) / (t[1] - t[0]) < 1.6


@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_order_is_irrelevant_and_swapping_mirrors(differences: list[float], random: Random) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)
    delta, other = np.array(differences), np.array(shuffled)
    assert betting_interval(delta) == betting_interval(other)
    low, high = betting_interval(-delta)
    assert betting_interval(delta) == (-high, -low)
    assert betting_p_value(delta) == betting_p_value(-other)
    assert 0 < betting_p_value(delta) <= 1
    assert -1 <= betting_lower_bound(delta) <= delta.mean() + 1e-12
    assert delta.mean() - 1e-12 <= betting_upper_bound(delta) <= 1


@given(DIFFERENCES)
def test_a_higher_level_gives_a_lower_bound(differences: list[float]) -> None:
    bounds = [betting_lower_bound(np.array(differences), level=level) for level in (0.5, 0.9, 0.999)]
    assert bounds[2] <= bounds[0] + 1e-9


@given(DIFFERENCES, st.floats(0.01, 100))
def test_equal_weights_are_no_weights(differences: list[float], weight: float) -> None:
    """Only the order of the bets may differ, so with one distinct difference nothing does."""
    delta = np.full(len(differences), differences[0])
    weighted = betting_lower_bound(delta, np.full(delta.size, weight))
    assert weighted == pytest.approx(betting_lower_bound(delta), abs=1e-9)


def test_the_ends_of_the_range() -> None:
    assert betting_lower_bound(np.array([])) == -1
    assert betting_upper_bound(np.array([])) == 1
    assert betting_lower_bound(np.full(50, -1.0)) == -1
    assert 0.8 < betting_lower_bound(np.full(500, 1.0)) < 1
    assert betting_lower_bound(np.array([0.5, 9.0]) / 10, np.array([1.0, 0.0])) < 0.05
    assert betting_p_value(np.full(100_000, 1.0)) > 0


@pytest.mark.parametrize("bad", [1.5, -1.5])
def test_what_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="a betting bound needs differences within -1 to 1"):
        betting_lower_bound(np.array([0.5, bad]))
    with pytest.raises(ValueError, match="NaN is refused"):
        betting_lower_bound(np.array([0.5, math.nan]))
    with pytest.raises(ValueError, match="level must be between 0 and 1, not 1"):
        betting_lower_bound(np.array([0.5, 0.25]), level=1)

"""The scatter of runs, its tests, and what windows of runs say of it."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.statistics.repeats import RunMeans, RunScatter, scatter_of_series
from ndcg_tracker.statistics.t_distribution import two_sided_p, two_sided_t


@given(st.integers(0, 2**32 - 1), st.integers(2, 20), st.floats(0, 1))
def test_windows_say_what_their_runs_say(seed: int, n_runs: int, changing: float) -> None:
    """Runs that equal the one before are the same draw: they count once, and their mean weighs as often as it is."""
    rng = np.random.default_rng(seed)
    changed = rng.random(n_runs) < changing
    changed[0] = False
    block = np.cumsum(changed)
    means = rng.random(n_runs)[block]
    place = int(rng.integers(1, n_runs))
    left, right = int(rng.integers(1, place + 1)), int(rng.integers(1, n_runs - place + 1))
    found = RunMeans(means, changed).windows(np.array([place]), np.array([left]), np.array([right]))
    before, after = slice(place - left, place), slice(place, place + right)
    share = squares = n = 0.0
    for side in (before, after):
        ids = sorted(set(block[side].tolist()))
        counts = [int(np.count_nonzero(block[side] == one)) for one in ids]
        once = np.array([means[block == one][0] for one in ids])
        share += sum(count**2 for count in counts) / sum(counts) ** 2
        squares += float(np.square(once - once.mean()).sum())
        n += len(ids)
    expected = [means[after].mean() - means[before].mean(), share, squares / max(1, n - 2), n - 2]
    assert [float(numbers[0]) for numbers in found] == pytest.approx(expected, abs=1e-12)


def test_without_scatter_it_is_the_test_over_groups_and_without_groups_that_over_runs() -> None:
    of_groups = RunScatter(1e-12, 1.0, 1e9)
    assert of_groups.p_value(0.02, 0.01, 30, 2.0) == pytest.approx(two_sided_p(2.0, 29.0))
    half = two_sided_t(0.05, 29.0) * 0.01
    assert of_groups.interval(0.02, 0.01, 30, 2.0) == pytest.approx((0.02 - half, 0.02 + half))
    of_runs = RunScatter(4e-4, 0.0, 7.0)
    assert of_runs.p_value(0.06, 0.0, 30, 1.0) == pytest.approx(two_sided_p(3.0, 7.0))
    half = two_sided_t(0.05, 7.0) * 0.02
    assert of_runs.interval(0.06, 0.0, 30, 1.0) == pytest.approx((0.06 - half, 0.06 + half))
    assert of_runs.p_value(0.0, 0.0, 30, 1.0) == 1.0
    assert of_runs.p_value(1e300, 0.0, 30, 1.0) > 0


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), st.floats(1, 100), st.floats(1e-3, 1), st.floats(0, 0.1))
def test_an_interval_holds_0_where_p_is_large(
    variance: float, own: float, df: float, mean: float, error: float
) -> None:
    scatter = RunScatter(variance, own, df)
    low, high = scatter.interval(mean, error, 50, 0.5)
    assert low <= mean <= high
    p = scatter.p_value(mean, error, 50, 0.5)
    assert (low <= 0) == (p >= 0.05) or p == pytest.approx(0.05)


def test_what_a_series_says() -> None:
    rng = np.random.default_rng(1)
    mean, error = rng.normal(0, 0.02, 4001), np.full(4001, 0.01)
    changed = np.arange(4001) > 0
    found = scatter_of_series(mean, error, changed)
    assert found is not None
    assert math.sqrt(found.variance * 2) == pytest.approx(0.02, rel=0.06)
    assert (math.sqrt(found.own * 2), found.df) == (pytest.approx(0.01), 1000)
    assert found.beyond == found.variance - found.own
    mean[::10] += 5
    contaminated = scatter_of_series(mean, error, changed)
    assert contaminated is not None
    assert contaminated.variance == pytest.approx(found.variance, rel=0.4)
    assert scatter_of_series(mean, error * 3, changed) is None
    assert scatter_of_series(mean[:8], error[:8], changed[:8]) is None
    assert scatter_of_series(mean[:9], error[:9] / 100, changed[:9]) is not None
    changed[::2] = False
    assert scatter_of_series(mean, error, changed) is None


def test_what_neighbours_explain() -> None:
    """Of a series that wanders nothing stays; beside it a step among independent runs does."""
    rng = np.random.default_rng(2)
    changed = np.arange(60) > 0
    wandering = np.cumsum(rng.normal(0, 1, 60))
    dropped, resemblance = RunMeans(wandering, changed).explained_by_neighbours([20, 40], [])
    assert (sorted(dropped), resemblance > 0.7) == ([20, 40], True)
    steady = rng.normal(0, 1, 60) + 3 * (np.arange(60) >= 25)
    assert RunMeans(steady, changed).explained_by_neighbours([25], []) == ([], 0.0)
    assert RunMeans(steady, changed).explained_by_neighbours([25, 50], [])[0] == [50]
    sloping = steady + 0.5 * np.arange(60)
    runs = RunMeans(sloping, changed)
    assert runs.explained_by_neighbours([25], [(0, 24), (25, 59)]) == ([], 0.0)
    assert runs.lead_of_line(0, 25, [12]) > 6 > 0 > RunMeans(steady, changed).lead_of_line(0, 60, [25])
    assert RunMeans(wandering, changed).lead_of_line(0, 60, [20, 40]) == -math.inf
    assert RunMeans(wandering, changed).lead_of_line(0, 60, [20, 40], may_depend=False) > -math.inf


def test_a_step_that_nobody_found_is_no_resemblance() -> None:
    """Further steps help the model of steps as long as they are worth their parameters, be it in pairs."""
    changed = np.arange(40) > 0
    noise = np.random.default_rng(4).normal(0, 1, 40)
    drop = noise - 6 * ((np.arange(40) >= 20) & (np.arange(40) < 25))
    assert [RunMeans(drop, changed).explained_by_neighbours([at], [])[0] for at in (20, 25)] == [[], []]
    square = noise + 6 * (np.arange(40) // 5 % 2)
    assert RunMeans(square, changed).explained_by_neighbours([20], []) == ([], 0.0)


def test_a_run_that_equals_the_one_before_resembles_nothing() -> None:
    changed = np.arange(60) % 2 == 0
    changed[0] = False
    means = np.repeat(np.random.default_rng(3).normal(0, 1, 30), 2) + 3 * (np.arange(60) >= 30)
    assert RunMeans(means, changed).explained_by_neighbours([30], []) == ([], 0.0)

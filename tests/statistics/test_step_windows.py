"""Windows of runs: which there are, and that sums of squares say what the paired t-test says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.statistics.step_windows import absolute_t, clearest_place, windows_of
from ndcg_tracker.statistics.t_test import paired_t, weighted_t


@given(st.integers(0, 400))
def test_windows_lie_within_the_history_and_none_is_there_twice(n_runs: int) -> None:
    changed = np.ones(n_runs, dtype=np.bool_)
    changed[:1] = False
    windows = windows_of(n_runs, changed)
    rows = list(zip(windows.place.tolist(), windows.left.tolist(), windows.right.tolist(), strict=True))
    assert len(set(rows)) == len(rows) <= 4 * n_runs
    for place, left, right in rows:
        assert 0 <= place - left < place < place + right <= n_runs
        assert left + right > 2


def test_windows_with_one_change_are_left_to_the_neighbours() -> None:
    changed = np.zeros(50, dtype=np.bool_)
    changed[20] = True
    assert windows_of(50, changed).place.size == 0
    changed[40] = True
    windows = windows_of(50, changed)
    assert windows.place.size > 0
    assert (windows.place - windows.left < 20).all()
    assert (windows.place + windows.right > 40).all()


@pytest.mark.parametrize("n_runs", [2, 3, 9, 33, 100, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_t_of_every_window_is_that_of_the_paired_test(n_runs: int, weighted: bool) -> None:
    rng = np.random.default_rng(n_runs)
    runs = rng.random((n_runs, 12))
    weights = rng.random(12) + 0.1 if weighted else None
    windows = windows_of(n_runs, np.arange(n_runs) > 0)
    found = absolute_t(runs, weights, windows)
    columns = (windows.place.tolist(), windows.left.tolist(), windows.right.tolist(), found.tolist())
    for place, left, right, t in zip(*columns, strict=True):
        delta = runs[place : place + right].mean(axis=0) - runs[place - left : place].mean(axis=0)
        expected = paired_t(delta) if weights is None else weighted_t(delta, weights)
        assert t == pytest.approx(abs(expected.t or 0.0), rel=1e-9)


def test_constant_differences_and_none() -> None:
    runs = np.tile(np.random.default_rng(1).random(20), (6, 1))
    windows = windows_of(6, np.arange(6) > 0)
    assert absolute_t(runs, None, windows).tolist() == [0.0] * windows.place.size
    runs[3:] += 0.25
    assert absolute_t(runs, None, windows).max() > 1e6


@given(st.integers(0, 2**32 - 1), st.integers(2, 15), st.booleans())
def test_the_clearest_place_has_the_largest_t(seed: int, n_runs: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    runs = rng.random((n_runs, 8))
    weights = rng.random(8) + 0.1 if weighted else None
    places = np.arange(1, n_runs)
    deltas = [runs[place:].mean(axis=0) - runs[:place].mean(axis=0) for place in places]
    tests = [paired_t(delta) if weights is None else weighted_t(delta, weights) for delta in deltas]
    assert clearest_place(runs, weights, places) == 1 + int(np.argmax([abs(test.t or 0.0) for test in tests]))

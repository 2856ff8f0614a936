"""Steps in a history: found where they are, and false ones no more often than promised."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray
from populations import ALL, repeats

from ndcg_tracker.comparison.significance import holm, paired_t, weighted_t
from ndcg_tracker.comparison.steps import history_steps

N_RUNS = 20


def independent_runs(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Runs that scatter around each group's truth: neighbouring differences share a run."""
    return np.diff(rng.normal(0, 0.1, (N_RUNS, n)), axis=0).clip(-1, 1)


def test_a_step_is_marked_where_it_is() -> None:
    rng = np.random.default_rng(1)
    means = np.array([0.5, 0.5, 0.5, 0.53, 0.53, 0.48, 0.48])
    runs = means[:, None] + rng.normal(0, 0.05, (7, 2000))
    found = history_steps(list(np.diff(runs, axis=0)))
    assert [step.is_step for step in found] == [False, False, True, False, True, False]
    assert [step.delta for step in found] == pytest.approx(np.diff(means), abs=0.006)


def test_what_cannot_be_paired_is_no_step_and_takes_no_part() -> None:
    noise = np.tile([0.1, -0.1], 200)
    deltas = [None, noise + 0.012, np.zeros(400), np.zeros(0), np.array([0.5]), np.full(3, 0.25)]
    found = history_steps(deltas)
    p_value = paired_t(noise + 0.012).p_value
    assert (found[0].delta, found[0].p_value, found[0].is_step) == (None, None, False)
    assert found[1].p_value == p_value
    assert [step.p_value for step in found[2:5]] == [None, None, None]
    assert found[5].p_value == 1.0  # three groups, all the same: betting has seen too little
    assert [step.p_adjusted for step in found] == holm([step.p_value for step in found])
    assert found[1].is_step


def test_weights() -> None:
    rng = np.random.default_rng(2)
    delta, weights = rng.normal(0.01, 0.1, 500), rng.integers(0, 3, 500).astype(np.float64)
    (found, *_) = history_steps([delta, -delta], [weights, None])
    assert (found.delta, found.p_value) == (weighted_t(delta, weights).mean, weighted_t(delta, weights).p_value)


def test_beyond_1_low_information_marks_nothing() -> None:
    delta = np.repeat([5.0, 0.0], [60, 440])
    assert (paired_t(delta).p_value or 1.0) < 1e-10
    assert not history_steps([delta])[0].is_step
    assert history_steps([delta / 5])[0].is_step


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, not at 0"):
        history_steps([], alpha=0)
    with pytest.raises(ValueError, match="NaN is refused"):
        history_steps([np.array([0.5, math.nan])])
    assert history_steps([]) == ()


@pytest.mark.parametrize("name", ["independent", "normal", "graded", "sparse", "asymmetric", "skewed"])
def test_false_alarms_per_history(name: str) -> None:
    """In a history of 20 runs in which no mean moves, one or more steps are marked with probability .05 at most."""
    rng, samples, n = np.random.default_rng(3), repeats(400), 250
    alarms = 0
    for _ in range(samples):
        deltas = independent_runs(rng, n) if name == "independent" else ALL[name](rng, (N_RUNS - 1, n))
        alarms += any(step.is_step for step in history_steps(list(deltas)))
    assert alarms / samples <= 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / samples)


def test_t_alone_would_raise_false_alarms() -> None:
    """The harness can fail: without the betting capital most skewed histories get a mark."""
    rng, samples = np.random.default_rng(4), repeats(200)
    alarms = 0
    for _ in range(samples):
        adjusted = holm([paired_t(delta).p_value for delta in ALL["skewed"](rng, (N_RUNS - 1, 250))])
        alarms += any(p is not None and p < 0.05 for p in adjusted)
    assert alarms / samples > 0.2

"""How often the t-test errs where nothing differs, and how often its interval holds: 20,000 samples, fixed seeds."""

import numpy as np
import pytest
from numpy.typing import NDArray

from ndcg_tracker.comparison.significance import detectable_delta, paired_t

SAMPLES = 20_000
BAND = 0.0051


def normal_differences(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.normal(0, 0.14, (SAMPLES, n))


def graded_differences(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    """Differences of two systems of equal quality on graded labels: many ties, symmetric, bounded."""
    values = rng.choice([0.0, 0.3, 0.43, 0.5, 0.63, 0.8, 1.0], (2, SAMPLES, n), p=[0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2])
    moved = rng.random((SAMPLES, n)) < 0.6
    return np.asarray((values[1] - values[0]) * moved)


def rates(differences: NDArray[np.float64], truth: float) -> tuple[float, float]:
    """Return how often the test rejects and how often the interval has the truth."""
    tests = [paired_t(row) for row in differences]
    n_rejected = sum(test.p_value is not None and test.p_value < 0.05 for test in tests)
    n_covered = sum(test.ci is not None and test.ci[0] <= truth <= test.ci[1] for test in tests)
    return n_rejected / SAMPLES, n_covered / SAMPLES


@pytest.mark.parametrize("n", [25, 50, 200])
def test_normal_null(n: int) -> None:
    type_1, covered = rates(normal_differences(np.random.default_rng(100 + n), n), 0.0)
    assert abs(type_1 - 0.05) <= BAND
    assert abs(covered - 0.95) <= BAND


@pytest.mark.parametrize(("n", "low", "high"), [(25, 0.04, 0.055), (50, 0.0449, 0.0551), (200, 0.0449, 0.0551)])
def test_graded_null(n: int, low: float, high: float) -> None:
    type_1, covered = rates(graded_differences(np.random.default_rng(200 + n), n), 0.0)
    assert low <= type_1 <= high
    assert 1 - high <= covered <= 1 - low


def test_a_difference_is_covered_and_found_as_often_as_promised() -> None:
    n, sd = 50, 0.14
    shift = detectable_delta(n, sd)
    assert shift is not None
    found, covered = rates(shift + normal_differences(np.random.default_rng(300), n), shift)
    assert abs(covered - 0.95) <= BAND
    assert abs(found - 0.8) <= 0.01


def test_the_harness_can_fail() -> None:
    """A normal quantile in the place of Student's is wrong at n = 25, and the band shows it."""
    tests = [paired_t(row) for row in normal_differences(np.random.default_rng(125), 25)]
    assert sum(test.t is not None and abs(test.t) > 1.959964 for test in tests) / SAMPLES > 0.05 + BAND

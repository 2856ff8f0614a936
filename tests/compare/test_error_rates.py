"""How often the t-test errs where nothing differs, and how often its interval holds: 20,000 samples, fixed seeds."""

import numpy as np
import pytest
from numpy.typing import NDArray
from populations import Population, Record, graded, repeats

from ndcg_tracker.statistics.t_test import detectable_delta, paired_t, t_test

BATCH = 20_000
SAMPLES = repeats(BATCH)
BAND = 0.0051


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    return rng.normal(0, 0.14, shape)


def rates(population: Population, seed: int, n: int, record: Record, shift: float = 0.0) -> tuple[float, float]:
    """Return how often the test rejects and how often the interval has the truth."""
    rng, n_rejected, n_covered = np.random.default_rng(seed), 0, 0
    for _ in range(SAMPLES // BATCH):
        tests = [paired_t(row) for row in shift + population(rng, (BATCH, n))]
        n_rejected += sum(test.p_value is not None and test.p_value < 0.05 for test in tests)
        n_covered += sum(test.ci is not None and test.ci[0] <= shift <= test.ci[1] for test in tests)
    record("rejected", n_rejected / SAMPLES)
    record("coverage", n_covered / SAMPLES)
    return n_rejected / SAMPLES, n_covered / SAMPLES


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("n", [25, 50, 200])
def test_normal_null(n: int, record_property: Record) -> None:
    type_1, covered = rates(normal, 100 + n, n, record_property)
    assert abs(type_1 - 0.05) <= BAND
    assert abs(covered - 0.95) <= BAND


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(("n", "low", "high"), [(25, 0.04, 0.055), (50, 0.0449, 0.0551), (200, 0.0449, 0.0551)])
def test_graded_null(n: int, low: float, high: float, record_property: Record) -> None:
    type_1, covered = rates(graded, 200 + n, n, record_property)
    assert low <= type_1 <= high
    assert 1 - high <= covered <= 1 - low


def test_a_difference_is_covered_and_found_as_often_as_promised(record_property: Record) -> None:
    n, sd = 50, 0.14
    shift = detectable_delta(t_test(n, 0.0, sd))
    assert shift is not None
    found, covered = rates(normal, 300, n, record_property, shift)
    assert abs(covered - 0.95) <= BAND
    assert abs(found - 0.8) <= 0.01


def test_the_harness_can_fail() -> None:
    """A normal quantile in the place of Student's is wrong at n = 25, and the band shows it."""
    tests = [paired_t(row) for row in normal(np.random.default_rng(125), (BATCH, 25))]
    assert sum(test.t is not None and abs(test.t) > 1.959964 for test in tests) / BATCH > 0.05 + BAND

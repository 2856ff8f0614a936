"""Populations of paired differences with a known mean, and how large a simulation is.

``NDCG_TEST_LONG=1`` in the environment makes every simulation ten times larger, for a nightly run. The options
``--junitxml=FILE -o junit_family=xunit1`` write the measured rates into a file.
"""

import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Population = Callable[[np.random.Generator, tuple[int, int]], Floats]
Record = Callable[[str, object], None]  # the fixture record_property: measured figures, shown by --junitxml

LONG = os.environ.get("NDCG_TEST_LONG") == "1"
GRADED = np.array([0.0, 0.3, 0.43, 0.5, 0.63, 0.8, 1.0])
GRADED_SHARES = np.array([0.3, 0.1, 0.1, 0.1, 0.1, 0.1, 0.2])


def repeats(usual: int) -> int:
    """Return how many samples to draw."""
    return 10 * usual if LONG else usual


def standard_errors(samples: Floats) -> Floats:
    """Return by how many standard errors the mean of each row lies above 0."""
    return np.asarray(samples.mean(axis=1) / samples.std(axis=1, ddof=1) * samples.shape[1] ** 0.5)


def normal(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return rng.normal(0, 0.14, shape).clip(-1, 1)


def graded(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Two systems of equal quality on graded labels: many ties, symmetric, bounded."""
    values = rng.choice(GRADED, (2, *shape), p=GRADED_SHARES)
    return np.asarray((values[1] - values[0]) * (rng.random(shape) < 0.6))


def sparse(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """A change that touches 5% of the groups."""
    return np.asarray((rng.random(shape) < 0.05) * rng.choice([-0.37, -0.1, 0.1, 0.37], shape))


def asymmetric(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Many small gains, few large losses, mean 0."""
    chance, size = rng.random(shape), rng.uniform(0.5, 1.5, shape)
    return np.where(chance < 0.3, 0.05 * size, np.where(chance < 0.33, -0.5 * size, 0.0))


def skewed(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """A little better nearly everywhere, a disaster in one group of fifty, mean 0."""
    return np.where(rng.random(shape) < 0.02, -0.49, 0.01)


ALL: dict[str, Population] = {
    "normal": normal,
    "graded": graded,
    "sparse": sparse,
    "asymmetric": asymmetric,
    "skewed": skewed,
}

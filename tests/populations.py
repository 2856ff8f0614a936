"""Populations of paired differences with a known mean, and how large a simulation is.

No population has ties by construction unless its name or its first line says so: of samples without any variation a
t-test says nothing, which looks like a test that does not err. Each of ``RATED`` has a mirror image, and a copy with
noise too small to matter.

``NDCG_TEST_LONG=1`` in the environment makes every simulation ten times larger, for a nightly run. The options
``--junitxml=FILE -o junit_family=xunit1`` write the measured rates into a file.
"""

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

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
    """A change that touches 5% of the groups; the others are 0."""
    return np.asarray((rng.random(shape) < 0.05) * rng.choice([-0.37, -0.1, 0.1, 0.37], shape))


def asymmetric(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Many small gains, few large losses, mean 0; two thirds are 0."""
    chance, size = rng.random(shape), rng.uniform(0.5, 1.5, shape)
    return np.where(chance < 0.3, 0.05 * size, np.where(chance < 0.33, -0.5 * size, 0.0))


def skewed_with_ties(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """The same small gain nearly everywhere, the same disaster in one group of fifty, mean 0."""
    return np.where(rng.random(shape) < 0.02, -0.49, 0.01)


def rare_losses(share: float, loss: float, sd: float | None = None) -> Population:
    """Return a population in which a share of the groups loses about as much, and the others gain what that costs.

    ``sd``: of normal noise over all; None: each moves by half of its gain, or of .02, at most.
    """
    gain = loss * share / (1 - share)

    def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        has_lost = rng.random(shape) < share
        spread = rng.uniform(-1, 1, shape) * min(gain / 2, 0.01) if sd is None else rng.normal(0, sd, shape)
        return np.asarray(np.where(has_lost, -loss, gain) + spread)

    return drawn


skewed = rare_losses(0.02, 0.49)
"""A little better nearly everywhere, a disaster in one group of fifty, mean 0."""


def exponential(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """The longer a loss the rarer: an exponential one that ends at 1, against a constant gain."""
    return np.asarray(0.1 * (1 - np.exp(-10)) - rng.exponential(0.1, shape).clip(max=1))


def student(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Student's t with 3 degrees of freedom: symmetric, with far tails."""
    return np.asarray((0.06 * rng.standard_t(3, shape)).clip(-0.98, 0.98))


def few_touched(gains: float, gain: float, losses: float, loss: float) -> Population:
    """Return a population of zeros but for a share of gains and one of losses, each of .5 to 1.5 times a size."""

    def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        chance, size = rng.random(shape), rng.uniform(0.5, 1.5, shape)
        moved = np.where(chance < gains, gain * size, -loss * size)
        return np.asarray(np.where(chance < gains + losses, moved, 0.0))

    return drawn


def like_real(quantiles: list[float]) -> Population:
    """Return a population like the differences of a real pair, whose zeros stay, smoothed and moved to mean 0.

    Source: Urbano, Lima and Hanjalic, SIGIR 2019, who fit distributions to real scores and draw from them.
    """
    seen = np.array(quantiles)
    nonzero = seen[seen != 0]
    bandwidth = 0.9 * nonzero.std() * nonzero.size**-0.2 / 2
    centre = nonzero.mean()

    def drawn(rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
        found = rng.choice(seen, shape)
        moved = found - centre + rng.normal(0, bandwidth, shape).clip(-0.1, 0.1)
        return np.where(found != 0, moved, 0.0)

    return drawn


ALL: dict[str, Population] = {
    "normal": normal,
    "graded": graded,
    "sparse": sparse,
    "asymmetric": asymmetric,
    "skewed": skewed,
}


@dataclass(frozen=True)
class Null:
    """A population of mean 0 whose error rates are measured.

    ``touched``: the share of its groups that differ; the others are 0. ``losses``: the share that loses much, where
    few do.
    """

    draw: Population
    touched: float = 1.0
    losses: float | None = None

    def samples(
        self,
        rng: np.random.Generator,
        shape: tuple[int, int],
        *,
        mean: float = 0.0,
        is_mirrored: bool = False,
        noise: float = 0.0,
    ) -> Floats:
        """Return samples, one a row. ``mean``: moves what differs. ``noise``: its standard deviation, in all groups."""
        found = self.draw(rng, shape) * (-1 if is_mirrored else 1)
        if mean:
            found += np.where(found != 0, mean / self.touched, 0.0)
        return found + rng.normal(0, noise, shape) if noise else found


NOISE = 1e-9
REAL: dict[str, list[float]] = json.loads(Path(__file__).with_name("real_differences.json").read_text())
"""What ``real_differences.py`` made: quantiles of differences in ndcg@10 between real systems."""
RATED: dict[str, Null] = {
    "normal": Null(normal),
    "graded, half of them 0": Null(lambda rng, shape: 0.9 * graded(rng, shape), 0.492),  # a drop stays within -1
    "Student t, 3 degrees of freedom": Null(student),
    "exponential losses": Null(exponential),
    "95% zeros, symmetric": Null(sparse, 0.05),
    "95% zeros, gains of .2 in 3%, losses of .3 in 2%": Null(few_touched(0.03, 0.2, 0.02, 0.3), 0.05, 0.02),
    "90% zeros, gains of .1 in 8%, losses of .4 in 2%": Null(few_touched(0.08, 0.1, 0.02, 0.4), 0.1, 0.02),
    "67% zeros, gains of .05 in 30%, losses of .5 in 3%": Null(asymmetric, 0.33, 0.03),
    "a loss of .3 in 5%": Null(rare_losses(0.05, 0.3), losses=0.05),
    "a loss of .49 in 2%": Null(skewed, losses=0.02),
    "a loss of .49 in 2%, all others tied": Null(skewed_with_ties, losses=0.02),
    "a loss of .49 in 2%, sd .02": Null(rare_losses(0.02, 0.49, 0.02), losses=0.02),
    "a loss of .49 in 2%, sd .08": Null(rare_losses(0.02, 0.49, 0.08), losses=0.02),
    "a loss of .97 in 2%": Null(rare_losses(0.02, 0.97), losses=0.02),
    "a loss of .97 in 1%": Null(rare_losses(0.01, 0.97), losses=0.01),
    **{name: Null(like_real(found), np.count_nonzero(found) / len(found)) for name, found in REAL.items()},
}

"""Verdicts on models that are trained anew: how often arms and a gate with a learned margin err.

A training of a recipe moves the mean of its run (``RUNS``) and each group by itself (``RESIDUAL``).
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from populations import Record, repeats
from samples import decided

from ndcg_tracker.questions.gate.decide_bounds import learned_margin
from ndcg_tracker.statistics.repeats import RunVariance, crossed_t
from ndcg_tracker.statistics.t_test import paired_t

RUNS, RESIDUAL = 0.0067, 0.14
Trainings = NDArray[np.float64]


def trainings(rng: np.random.Generator, k: int, groups: NDArray[np.float64], runs: float = RUNS) -> Trainings:
    """Return the group results of k trainings of one recipe."""
    return np.asarray(groups + rng.normal(0, runs, (k, 1)) + rng.normal(0, RESIDUAL, (k, groups.size)))


@pytest.mark.nightly(but=15)
@pytest.mark.parametrize(
    ("n", "k", "most"), [(50, 2, 0.07), (600, 2, 0.07), (2000, 2, 0.07), (600, 3, 0.06), (2000, 5, 0.06)]
)
@pytest.mark.parametrize("runs", [0.0, 0.003, RUNS, 0.02])
def test_arms_of_one_quality(n: int, k: int, most: float, runs: float, record_property: Record) -> None:
    """Both recipes are equally good on average over groups, though not in each group."""
    rng, samples = np.random.default_rng(n + k), repeats(800)
    found = {"groups and runs": 0, "groups alone": 0}
    for _ in range(samples):
        hardness = rng.normal(0.6, 0.2, n)
        one, other = trainings(rng, k, hardness, runs), trainings(rng, k, hardness + rng.normal(0, 0.05, n), runs)
        test = crossed_t(one, other)
        plain = paired_t(other.mean(axis=0) - one.mean(axis=0))
        found["groups and runs"] += test.p_value is not None and test.p_value < 0.05
        found["groups alone"] += plain.p_value is not None and plain.p_value < 0.05
    for name, count in found.items():
        record_property(f"{name}, n = {n}, k = {k}, sd of runs {runs}", count / samples)
    assert found["groups and runs"] / samples <= most + 2.5 * (most * (1 - most) / samples) ** 0.5
    if n >= 600 and runs >= RUNS:
        assert found["groups alone"] / samples > 0.1


@pytest.mark.nightly(but=9)
@pytest.mark.parametrize(
    ("runs", "sds", "least", "most"),
    [
        ((2, 5), (0.02, RUNS), 0.085, 0.12),
        ((2, 5), (RUNS, 0.02), 0.0, 0.055),
        ((2, 5), (0.02, 0.02), 0.0, 0.075),
        ((3, 5), (0.02, RUNS), 0.0, 0.075),
        ((2, 10), (0.02, RUNS), 0.085, 0.125),
        ((3, 10), (0.02, RUNS), 0.0, 0.08),
    ],
)
@pytest.mark.parametrize("n", [600, 2000])
def test_arms_of_unequal_runs_and_scatter(
    runs: tuple[int, int], sds: tuple[float, float], least: float, most: float, n: int, record_property: Record
) -> None:
    """Two runs of the recipe that scatter more are too few beside many of the other: their scatter has one degree."""
    rng, samples, wrong = np.random.default_rng(n), repeats(600), 0
    for _ in range(samples):
        hardness = rng.normal(0.6, 0.2, n)
        one = trainings(rng, runs[0], hardness, sds[0])
        test = crossed_t(one, trainings(rng, runs[1], hardness + rng.normal(0, 0.05, n), sds[1]))
        wrong += test.p_value is not None and test.p_value < 0.05
    record_property(f"n = {n}, runs {runs}, sds {sds}", wrong / samples)
    band = 2.5 * (most * (1 - most) / samples) ** 0.5
    assert least - band <= wrong / samples <= most + band


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("k", [3, 5, 10, 40])
def test_a_gate_with_a_learned_margin(k: int, record_property: Record) -> None:
    rng, samples, n = np.random.default_rng(k), repeats(600), 600
    names = [str(number) for number in range(k)]
    found = {"false FAIL": 0, "harmless PASS": 0, "PASS at -margin": 0, "FAIL at 3 margins": 0}
    for _ in range(samples):
        hardness = rng.normal(0.6, 0.2, n)
        known = trainings(rng, k, hardness)
        variance = RunVariance.of(known)
        margin = learned_margin(names, known.mean(axis=1).tolist()).margin
        baseline, candidate = trainings(rng, 2, hardness)

        found_at = [
            decided(candidate - baseline - drop, margin, training=variance) for drop in (0.0, margin, 3 * margin)
        ]
        assert not any(one.decision == "fail" and (one.delta or 0.0) >= -margin for one in found_at)
        harmless, at_margin, at_three = (one.decision for one in found_at)
        found["false FAIL"] += harmless == "fail"
        found["harmless PASS"] += harmless == "pass"
        found["PASS at -margin"] += at_margin == "pass"
        found["FAIL at 3 margins"] += at_three == "fail"
    for name, count in found.items():
        record_property(f"{name}, {k} repeats", count / samples)
    band = 2.5 * (0.05 * 0.95 / samples) ** 0.5
    assert found["false FAIL"] / samples <= 0.014
    assert found["harmless PASS"] / samples >= 0.5
    assert found["PASS at -margin"] / samples <= 0.058 + band
    assert found["FAIL at 3 margins"] / samples >= 0.95 - band

"""Numbers of estimates and decisions to twelve digits, as they were before there was one path for all of them."""

import numpy as np
import pytest
from samples import decided, sample_of

from ndcg_tracker.compare.estimate import estimate
from ndcg_tracker.compare.options import Methods

RNG = np.random.default_rng(62)
BASELINE = RNG.random(120).round(3)
CANDIDATE = np.clip(BASELINE + RNG.normal(0.01, 0.1, 120), 0, 1).round(3)
WEIGHTS, CLUSTERS = RNG.integers(0, 4, 120).astype(float), np.arange(120) // 3
DELTA = CANDIDATE - BASELINE
LIMITS = (-1.0, 1.0)
PINNED: dict[str, tuple[str, list[float]]] = {
    "plain": (
        "pass",
        [
            0.013583333333333334,
            -0.003026977256756316,
            0.030193643923422983,
            0.10803932701546659,
            1.4965755805634429e-05,
            -0.017391186244611445,
            0.058507034896826626,
        ],
    ),
    "weights": (
        "inconclusive",
        [
            0.011429411764705884,
            -0.009517322638662508,
            0.03237614616807428,
            0.2812139709746173,
            0.00021449652213533177,
            -0.04857554918679763,
            0.09906298530912128,
        ],
    ),
    "clusters": (
        "inconclusive",
        [
            0.013583333333333334,
            -0.004062628106874707,
            0.031229294773541375,
            0.12754758965289248,
            8.102468637138821e-05,
            -0.0701316484770893,
            0.13522247396257314,
        ],
    ),
    "few": (
        "inconclusive",
        [
            0.0026416666666666667,
            -0.00102122921326981,
            0.0063045625466031435,
            0.1558994011920818,
            1.5806444689184825e-50,
            -0.026358071489751778,
            0.04552779222728165,
        ],
    ),
}
"""The decision, then delta, its interval, p, the p of equivalence, and both bounds of the gate."""


@pytest.mark.parametrize("name", PINNED)
def test_the_numbers_stay(name: str) -> None:
    delta = np.where(np.arange(120) % 10 == 0, DELTA, 0.0) if name == "few" else DELTA
    further = {"weights": {"weights": WEIGHTS}, "clusters": {"clusters": CLUSTERS}}.get(name, {})
    moved = (BASELINE + delta) - BASELINE
    found = estimate(sample_of(moved, limits=LIMITS, **further), Methods(equivalence=0.05))
    gated = decided(moved, 0.02, limits=LIMITS, **further)
    decision, numbers = PINNED[name]
    assert found.ci is not None
    assert found.equivalence is not None
    told = [found.delta, *found.ci, found.p_value, found.equivalence.p_value, gated.lower, gated.upper]
    assert (gated.decision, told) == (decision, pytest.approx(numbers, rel=1e-12))

"""No number, and so no decision, hangs on how the last bit of a difference was rounded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import decided

from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.rankings import Floats
from ndcg_tracker.statistics.distribution_free import (
    betting_interval,
    betting_p_value,
    bootstrap_interval,
    sign_flip_p_value,
    wilcoxon_p_value,
)
from ndcg_tracker.statistics.many_tests import largest_t

SEEDS, SIZES = st.integers(0, 2**32 - 1), st.integers(2, 120)
MARGINS = (0.005, 0.02, 0.05, 0.1, 0.2)


def results(seed: int, n: int) -> tuple[Floats, Floats]:
    """NDCG of two runs, equal in some groups; many differences have the same size."""
    random = np.random.default_rng(seed)
    discounts = 1 / np.log2(np.arange(2, 7))
    both = (random.random((2, n, 5)) < 0.4) @ discounts / discounts.sum()
    baseline, candidate = np.asarray(both, np.float64)
    return baseline, np.where(random.random(n) < 0.3, baseline, candidate)


def moved(delta: Floats, seed: int) -> Floats:
    """Each difference that is not 0 by one unit in the last place up or down, or as it was."""
    ways = np.random.default_rng(seed).choice([-np.inf, 0.0, np.inf], delta.size)
    return np.where((ways == 0) | (delta == 0), delta, np.nextafter(delta, ways))


def numbers_of(delta: Floats, weights: Floats) -> list[float | None]:
    found: list[float | None] = [*betting_interval(delta), *betting_interval(delta, weights), betting_p_value(delta)]
    found += [sign_flip_p_value(delta, of) for of in (None, weights)]
    for interval in (bootstrap_interval(delta), bootstrap_interval(delta, weights)):
        found += [None, None] if interval is None else interval
    found += [wilcoxon_p_value(delta)]
    return found


@given(SEEDS, SIZES)
@pytest.mark.nightly
def test_the_last_bit_of_a_difference_moves_nothing(seed: int, n: int) -> None:
    baseline, candidate = results(seed, n)
    delta = candidate - baseline
    weights = np.random.default_rng(seed).integers(1, 4, n).astype(np.float64)
    expected = numbers_of(delta, weights)
    for other in (moved(delta, seed), (baseline + delta) - baseline, (delta + 0.7) - 0.7):
        assert numbers_of(other, weights) == pytest.approx(expected, abs=1e-9)
        for margin in MARGINS:
            found, wanted = (decided(of, margin) for of in (other, delta))
            assert found.decision == wanted.decision
            bounds = [(of.lower, of.upper, of.told.betting_lower, of.told.betting_upper) for of in (found, wanted)]
            assert bounds[0] == pytest.approx(bounds[1], abs=1e-9)


@given(SEEDS)
def test_nor_do_the_last_bits_of_results(seed: int) -> None:
    values = np.stack([*results(seed, 40), *results(seed + 1, 40)])
    others = np.stack([moved(of_run, seed) for of_run in values])
    assert np.allclose(largest_t(others, flips=200), largest_t(values, flips=200), rtol=0, atol=1e-9, equal_nan=True)


def test_the_order_of_groups_moves_nothing_either() -> None:
    baseline, candidate = results(3, 300)
    sample = Sample(candidate - baseline, clusters=np.arange(300) // 3)
    found = []
    for order in (np.arange(300), np.random.default_rng(3).permutation(300)):
        shuffled = sample.of(order)
        bets, bootstrapped = shuffled.independent(), bootstrap_interval(shuffled.delta)
        assert bootstrapped is not None
        found.append([*betting_interval(*bets), *bootstrapped])
    assert found[0] == pytest.approx(found[1], abs=1e-9)

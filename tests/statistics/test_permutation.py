"""The sign-flip test against plain enumeration, scipy, its error rate and its own symmetries."""

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from populations import ALL, Record, repeats

from ndcg_tracker.statistics.distribution_free import ENUMERATED, sign_flip_p_value
from ndcg_tracker.statistics.t_test import paired_t

DIFFERENCES = st.lists(st.integers(-10, 10).map(lambda number: number / 10), min_size=2, max_size=40)


def enumerated(tenths: list[int], weights: list[int] | None = None) -> float:
    """Return the exact p-value of differences in tenths: whole numbers, so no sum is rounded."""
    moves = [d * w for d, w in zip(tenths, weights or [1] * len(tenths), strict=True)]
    nonzero = np.array([move for move in moves if move], dtype=np.int64)
    signs = 1 - 2 * ((np.arange(2**nonzero.size)[:, None] >> np.arange(nonzero.size)) & 1)
    n_as_far = int((np.abs(signs @ nonzero) >= abs(nonzero.sum())).sum())
    return float(Fraction(n_as_far, 2**nonzero.size))


def test_exact_equals_enumeration_with_float_ties(record_property: Record) -> None:
    """.1 + .2 is not .3, and .4 - .1 is not .3 either: ties of the statistic that plain floats miss."""
    rng, farthest = np.random.default_rng(1), 0.0
    for _ in range(500):
        tenths = rng.integers(-4, 5, rng.integers(2, ENUMERATED + 1)).tolist()
        p_value = sign_flip_p_value(np.array(tenths) / 10)
        if any(tenths):
            assert p_value is not None
            farthest = max(farthest, abs(p_value - enumerated(tenths)))
        else:
            assert p_value is None
    record_property("largest difference from enumeration", float(farthest))
    assert farthest <= 1e-12


def test_exact_with_weights_equals_enumeration() -> None:
    rng = np.random.default_rng(2)
    for _ in range(100):
        tenths, weights = rng.integers(-4, 5, 9).tolist(), rng.integers(0, 4, 9).tolist()
        p_value = sign_flip_p_value(np.array(tenths) / 10, np.array(weights, dtype=np.float64))
        if p_value is not None:
            assert abs(p_value - enumerated(tenths, weights)) <= 1e-12


def test_exact_equals_scipy() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 5, 12):
        delta = rng.normal(0.05, 0.14, n)
        theirs = scipy.stats.permutation_test(
            (delta,), np.mean, permutation_type="samples", n_resamples=2**n, vectorized=True
        )
        assert sign_flip_p_value(delta) == pytest.approx(theirs.pvalue, abs=1e-12)


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("n", [13, 60, 3000])
def test_random_flips_equal_scipy_within_their_noise(n: int) -> None:
    rng = np.random.default_rng(n)
    delta = rng.normal(0.14 / math.sqrt(n), 0.14, n)
    delta[: n // 3] = rng.choice([0.1, -0.1, 0.25], n // 3)
    theirs = scipy.stats.permutation_test(
        (delta,), np.mean, permutation_type="samples", n_resamples=4000, vectorized=True, batch=100, rng=rng
    ).pvalue
    mine = sign_flip_p_value(delta, flips=20_000)
    assert mine is not None
    assert abs(mine - theirs) < 4 * math.sqrt(theirs * (1 - theirs) * (1 / 4000 + 1 / 20_000))


@pytest.mark.parametrize("sizes", [[0.25], [0.1, 0.2, 0.3], [1 / n for n in range(3, 60)]])
def test_repeated_sizes_and_distinct_ones_have_the_right_distribution(sizes: list[float]) -> None:
    """The binomial draws and the table of signed sums, each against the variance and the t-test's p."""
    delta = np.repeat(sizes, 2000 // len(sizes)) * np.random.default_rng(5).choice(
        [-1, 1], 2000 // len(sizes) * len(sizes)
    )
    mine, t = sign_flip_p_value(delta, flips=50_000), paired_t(delta).p_value
    assert mine is not None
    assert t is not None
    assert abs(mine - t) < 0.015


def test_more_flips_than_a_block_holds() -> None:
    delta = np.random.default_rng(6).normal(0.02, 0.14, 40)
    few, many = sign_flip_p_value(delta, flips=10_000), sign_flip_p_value(delta, flips=1_500_000)
    assert few is not None
    assert many is not None
    assert abs(few - many) < 0.02


@pytest.mark.parametrize(
    ("delta", "p_value"),
    [([], None), ([0.5], None), ([0.0, 0.0], None), ([0.5, 0.0], 1.0), ([0.25] * 5, 2 / 32), ([0.25, -0.25], 1.0)],
    ids=["none", "one", "all zero", "one nonzero", "constant", "balanced"],
)
def test_small_cases(delta: list[float], p_value: float | None) -> None:
    assert sign_flip_p_value(np.array(delta)) == p_value


def test_the_smallest_p_value_is_one_in_flips_plus_one() -> None:
    assert sign_flip_p_value(np.full(500, 0.25), flips=999) == 1 / 1000


@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_order_and_direction_are_irrelevant_and_it_repeats(differences: list[float], random: Random) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)
    one = sign_flip_p_value(np.array(differences), flips=500)
    for other in (differences, shuffled, [-d for d in shuffled]):
        assert sign_flip_p_value(np.array(other), flips=500) == one
    assert one is None or 0 < one <= 1


@given(DIFFERENCES, st.sampled_from([0.5, 2.0, 4.0]))
def test_equal_weights_are_no_weights(differences: list[float], weight: float) -> None:
    delta = np.array(differences)
    weighted, plain = (
        sign_flip_p_value(delta, np.full(delta.size, weight), flips=2000),
        sign_flip_p_value(delta, flips=2000),
    )
    if weighted is None or plain is None or np.count_nonzero(delta) <= ENUMERATED:
        assert weighted == plain
    else:
        assert abs(weighted - plain) < 0.1


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize(("name", "n"), [("normal", 25), ("graded", 50), ("graded", 200), ("sparse", 1000)])
def test_type_1(name: str, n: int, record_property: Record) -> None:
    samples = repeats(5000)
    differences = ALL[name](np.random.default_rng(n), (samples, n))
    p_values = [sign_flip_p_value(delta, flips=999) for delta in differences]
    type_1 = sum(p is not None and p <= 0.05 for p in p_values) / samples
    record_property("type I error", float(type_1))
    assert 0.04 <= type_1 <= 0.05 + 3.3 * math.sqrt(0.05 * 0.95 / samples)


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN is refused"):
        sign_flip_p_value(np.array([0.5, math.nan]))
    with pytest.raises(ValueError, match="weights must be one number >= 0 for each difference"):
        sign_flip_p_value(np.array([0.5, 0.25]), np.array([1.0]))
    with pytest.raises(ValueError, match="flips must be at least 1, not 0"):
        sign_flip_p_value(np.array([0.5, 0.25]), flips=0)

"""The BCa interval against scipy's, its coverage and its own symmetries."""

import math
from random import Random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from populations import ALL, Record, repeats

from ndcg_tracker.statistics.distribution_free import bootstrap_interval
from ndcg_tracker.statistics.t_test import paired_t, weighted_t

DIFFERENCES = st.lists(st.integers(-20, 20).map(lambda number: number / 20), min_size=2, max_size=30)


@pytest.mark.parametrize(("name", "n"), [("normal", 100), ("normal", 2000), ("graded", 300), ("asymmetric", 500)])
def test_equals_scipy_within_the_noise_of_both(name: str, n: int) -> None:
    (delta,) = ALL[name](np.random.default_rng(n), (1, n))
    theirs = scipy.stats.bootstrap(
        (delta,), np.mean, n_resamples=10_000, batch=200, method="BCa", rng=np.random.default_rng(1)
    ).confidence_interval
    mine = bootstrap_interval(delta)
    assert mine is not None
    error = float(delta.std()) / math.sqrt(n)
    assert abs(mine[0] - theirs.low) < 0.15 * error
    assert abs(mine[1] - theirs.high) < 0.15 * error


@pytest.mark.nightly
def test_bins_lose_nothing_to_speak_of() -> None:
    """10,000 distinct differences, and one far away that makes the bins wide."""
    delta = np.random.default_rng(3).normal(0.001, 0.002, 10_000)
    delta[0] = 1.0
    mine = bootstrap_interval(delta)
    rng = np.random.default_rng(4)
    means = np.array([rng.choice(delta, delta.size).mean() for _ in range(30_000)])
    assert mine is not None
    bias = float(scipy.stats.skew(delta)) / (6 * math.sqrt(delta.size))
    z = bias + scipy.stats.norm.ppf([0.025, 0.975])
    naive = np.quantile(means, scipy.stats.norm.cdf(bias + z / (1 - bias * z)))
    error = float(delta.std()) / math.sqrt(delta.size)
    assert mine == pytest.approx(tuple(naive), abs=0.4 * error)


def test_many_groups_give_the_t_interval() -> None:
    delta = np.random.default_rng(5).normal(0.01, 0.14, 20_000)
    mine, t = bootstrap_interval(delta, resamples=40_000), paired_t(delta).ci
    assert mine == pytest.approx(t, abs=0.03 * 0.14 / math.sqrt(20_000))


def test_weights_give_the_weighted_t_interval() -> None:
    rng = np.random.default_rng(6)
    delta, weights = rng.normal(0.01, 0.14, 5000), rng.integers(0, 5, 5000).astype(np.float64)
    mine, t = bootstrap_interval(delta, weights, resamples=40_000), weighted_t(delta, weights).ci
    assert mine == pytest.approx(t, abs=0.06 * 0.14 / math.sqrt(4000))


@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_order_is_irrelevant_and_swapping_mirrors(differences: list[float], random: Random) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)
    one = bootstrap_interval(np.array(differences), resamples=200)
    back = bootstrap_interval(-np.array(differences), resamples=200)
    other = bootstrap_interval(np.array(shuffled), resamples=200)
    assert bootstrap_interval(np.array(differences), resamples=200) == one
    if one is None or back is None or other is None:
        assert one is back is other is None
        return
    assert one == pytest.approx((-back[1], -back[0]), abs=1e-12)
    assert one[0] <= one[1]


@pytest.mark.nightly
@pytest.mark.parametrize(("name", "n"), [("normal", 100), ("graded", 200), ("asymmetric", 1000)])
def test_coverage(name: str, n: int, record_property: Record) -> None:
    samples = repeats(300)
    differences = ALL[name](np.random.default_rng(n), (samples, n))
    intervals = [bootstrap_interval(delta, resamples=499) for delta in differences]
    covered = sum(ci is not None and ci[0] <= 0 <= ci[1] for ci in intervals) / samples
    record_property("coverage", float(covered))
    assert abs(covered - 0.95) <= 0.04


@pytest.mark.parametrize("delta", [[], [0.5], [0.25] * 9, [0.0] * 9], ids=["none", "one", "constant", "all zero"])
def test_no_interval(delta: list[float]) -> None:
    assert bootstrap_interval(np.array(delta)) is None


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN is refused"):
        bootstrap_interval(np.array([0.5, math.nan]))
    with pytest.raises(ValueError, match=r"level between 0 and 1, not 10 and 1\.5"):
        bootstrap_interval(np.array([0.5, 0.25]), level=1.5, resamples=10)

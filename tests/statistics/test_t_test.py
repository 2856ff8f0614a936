"""The t-test, Holm and power against scipy.stats, naive arithmetic and their own symmetries."""

import itertools
import math
from random import Random

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from populations import Record, repeats

from ndcg_tracker.statistics.many_tests import holm
from ndcg_tracker.statistics.t_distribution import two_sided_t
from ndcg_tracker.statistics.t_test import (
    SMALLEST_P_VALUE,
    detectable_delta,
    information_in,
    paired_t,
    skewness,
    t_interval,
    t_test,
    weighted_t,
)

DIFFERENCES = st.lists(st.integers(-1000, 1000).map(lambda number: number / 1000), min_size=2, max_size=40)


def close(actual: float | None, expected: float) -> bool:
    return actual is not None and math.isclose(actual, expected, rel_tol=1e-10, abs_tol=1e-10)


def test_paired_t_equals_scipy_on_1000_vectors() -> None:
    rng = np.random.default_rng(20)
    for _ in range(1000):
        n = int(rng.integers(2, 300))
        baseline = rng.beta(0.5, 0.5, n)
        candidate = np.clip(baseline + rng.normal(rng.normal(0, 0.05), 0.1, n) * (rng.random(n) < 0.7), 0, 1)
        delta = candidate - baseline
        if np.ptp(delta) == 0:
            delta[0] += 0.125
        mine, paired = paired_t(delta), scipy.stats.ttest_rel(baseline + delta, baseline)
        one = scipy.stats.ttest_1samp(delta, 0.0)
        low, high = one.confidence_interval(0.95)
        assert close(mine.t, one.statistic)
        assert close(mine.p_value, one.pvalue)
        assert close(mine.p_value, paired.pvalue)
        assert mine.ci is not None
        assert close(mine.ci[0], low)
        assert close(mine.ci[1], high)
        assert close(mine.sd, float(np.std(delta, ddof=1)))
        assert close(mine.effect_size, float(np.mean(delta) / np.std(delta, ddof=1)))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_other_levels_equal_scipy(level: float) -> None:
    delta = np.random.default_rng(1).normal(0.1, 1, 30)
    ci = paired_t(delta, level=level).ci
    assert ci == pytest.approx(tuple(scipy.stats.ttest_1samp(delta, 0.0).confidence_interval(level)), abs=1e-12)


@pytest.mark.parametrize(
    ("delta", "mean", "sd"),
    [([], None, None), ([0.5], 0.5, None), ([0.0, 0.0], 0.0, 0.0), ([0.25] * 9, 0.25, 0.0)],
    ids=["none", "one", "all zero", "constant"],
)
def test_no_inference(delta: list[float], mean: float | None, sd: float | None) -> None:
    test = paired_t(np.array(delta))
    assert (test.n, test.mean, test.sd) == (len(delta), mean, sd)
    assert (test.t, test.p_value, test.ci, test.effect_size) == (None, None, None, None)


def test_rounding_of_a_constant_difference_is_no_variation() -> None:
    baseline = np.arange(1, 100) / 128.7
    delta = (baseline + 0.1) - baseline
    assert np.ptp(delta) > 0
    assert paired_t(delta).p_value is None


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_not_finite_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="NaN is refused"):
        paired_t(np.array([0.5, bad, 0.25]))
    with pytest.raises(ValueError, match="NaN is refused"):
        weighted_t(np.array([0.5, 0.25]), np.array([1.0, bad]))


def test_p_value_is_never_zero() -> None:
    test = paired_t(1.0 + 1e-9 * np.random.default_rng(3).normal(size=5000))
    assert test.p_value == SMALLEST_P_VALUE > 0


@settings(deadline=None)
@given(DIFFERENCES)
def test_swapping_the_runs_flips_every_sign(differences: list[float]) -> None:
    delta = np.array(differences)
    one, other = paired_t(delta), paired_t(-delta)
    assert other.mean is not None
    assert one.mean == -other.mean
    assert (one.sd, one.p_value) == (other.sd, other.p_value)
    if one.ci is None or other.ci is None or one.t is None or other.t is None:
        assert one.ci == other.ci
        return
    assert one.ci == (-other.ci[1], -other.ci[0])
    assert one.t == -other.t
    assert one.p_value is not None
    assert 0 < one.p_value <= 1


@settings(deadline=None)
@given(DIFFERENCES, st.randoms(use_true_random=False))
def test_group_order_is_irrelevant(differences: list[float], random: Random) -> None:
    shuffled = list(differences)
    random.shuffle(shuffled)
    one, other = paired_t(np.array(differences)), paired_t(np.array(shuffled))
    assert (one.p_value is None) == (other.p_value is None)
    if one.p_value is not None and other.p_value is not None:
        assert one.p_value == pytest.approx(other.p_value, rel=1e-9)
        assert one.ci == pytest.approx(other.ci, rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(DIFFERENCES, st.floats(0.01, 100))
def test_equal_weights_are_no_weights(differences: list[float], weight: float) -> None:
    delta = np.array(differences)
    weighted, plain = weighted_t(delta, np.full(delta.size, weight)), paired_t(delta)
    assert (weighted.p_value is None) == (plain.p_value is None)
    if weighted.p_value is not None:
        assert weighted.p_value == pytest.approx(plain.p_value, rel=1e-7)
        assert weighted.ci == pytest.approx(plain.ci, rel=1e-9, abs=1e-12)
        assert weighted.sd == pytest.approx(plain.sd, rel=1e-9)


def test_weighted_t_equals_its_formula_and_drops_weight_zero() -> None:
    rng = np.random.default_rng(5)
    delta, weights = rng.normal(0.1, 0.3, 40), rng.integers(0, 4, 40).astype(np.float64)
    pairs = [(d, w) for d, w in zip(delta.tolist(), weights.tolist(), strict=True) if w]
    n, total = len(pairs), sum(w for _, w in pairs)
    mean = sum(d * w for d, w in pairs) / total
    error = math.sqrt(n / (n - 1) * sum(w * w * (d - mean) ** 2 for d, w in pairs)) / total
    test = weighted_t(delta, weights)
    assert test.n == n < 40
    assert close(test.mean, mean)
    assert close(test.t, mean / error)
    assert close(test.p_value, 2 * scipy.stats.t.sf(abs(mean / error), n - 1))
    assert test.ci == pytest.approx(scipy.stats.t.interval(0.95, n - 1, mean, error), abs=1e-12)


def test_weights_that_are_refused() -> None:
    for weights in ([1.0, -1.0], [1.0]):
        with pytest.raises(ValueError, match="weights must be one number >= 0 for each difference"):
            weighted_t(np.array([0.5, 0.25]), np.array(weights))
    assert weighted_t(np.array([0.5, 0.25]), np.zeros(2)).mean is None


def test_an_interval_of_a_mean_agrees_with_scipy() -> None:
    values = np.array([0.1, 0.4, 0.9])
    expected = scipy.stats.t.interval(0.95, 2, np.mean(values), scipy.stats.sem(values))
    assert t_interval(float(np.mean(values)), float(np.std(values, ddof=1)), 3) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 5, 12, 25, 200, 7000, 1_000_000])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.01, 0.95), (0.2, 0.3)])
def test_detectable_delta_has_the_promised_power(n: int, alpha: float, power: float) -> None:
    sd = 0.138
    delta = detectable_delta(t_test(n, 0.0, sd), alpha=alpha, power=power)
    assert delta is not None
    critical, shift = scipy.stats.t.ppf(1 - alpha / 2, n - 1), delta / sd * math.sqrt(n)
    opposite = np.nan_to_num(scipy.stats.nct.cdf(-critical, n - 1, shift))
    assert scipy.stats.nct.sf(critical, n - 1, shift) + opposite == pytest.approx(power, abs=1e-9)


def test_detectable_delta_equals_published_values() -> None:
    # Cohen 1988, table 2.4.1, and G*Power: 34 pairs detect d_z = 0.5 with 80% power at 5% two-sided
    assert detectable_delta(t_test(34, 0.0, 1.0)) == pytest.approx(0.4949, abs=1e-3)
    large = detectable_delta(t_test(1_000_000, 0.0, 1.0))
    normal = (scipy.stats.norm.ppf(0.975) + scipy.stats.norm.ppf(0.8)) / 1000
    assert large == pytest.approx(normal, rel=1e-5)


def test_detectable_delta_without_an_answer() -> None:
    assert detectable_delta(paired_t(np.zeros(1))) is None
    assert detectable_delta(t_test(10, 0.0, 0.0)) is None
    with pytest.raises(ValueError, match="0 < alpha < power < 1"):
        detectable_delta(t_test(10, 0.0, 1.0), alpha=0.8, power=0.5)


def naive_holm(p_values: list[float]) -> list[float]:
    """Reject by the closed procedure: a hypothesis's adjusted p is the largest Bonferroni p of a set that has it."""
    places = range(len(p_values))
    subsets = [s for size in range(1, len(p_values) + 1) for s in itertools.combinations(places, size)]
    return [
        max(min(1.0, len(s) * min(p_values[member] for member in s)) for s in subsets if place in s) for place in places
    ]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0, 1), max_size=7))
def test_holm_equals_the_closed_procedure(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert adjusted == pytest.approx(naive_holm(p_values), rel=1e-12)
    assert all(after is not None and after >= before for before, after in zip(p_values, adjusted, strict=True))


def test_holm_leaves_undefined_out_and_refuses_nan() -> None:
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    for bad in (math.nan, 1.5, -0.1):
        with pytest.raises(ValueError, match="a p-value must be between 0 and 1"):
            holm([0.5, bad])


def test_skewness_equals_scipy() -> None:
    values = np.random.default_rng(8).exponential(size=500)
    assert skewness(values) == pytest.approx(float(scipy.stats.skew(values)), abs=1e-12)
    assert skewness(np.zeros(5)) == skewness(np.zeros(0)) == 0.0


def ndcgs(rng: np.random.Generator, shape: tuple[int, int], signal: float) -> NDArray[np.float64]:
    """The ndcg@10 of queries with 2 relevant items of 30, whose scores are ``signal`` higher: a grid of few values,
    most of them 1."""
    scores = rng.normal(size=(*shape, 30))
    scores[..., :2] += signal
    gains = np.argsort(-scores, axis=-1)[..., :10] < 2
    discounts = 1 / np.log2(np.arange(2, 12))
    return np.asarray(gains @ discounts / discounts[:2].sum())


@pytest.mark.parametrize(
    ("n", "signals", "least", "most"), [(20, (3.0, 4.0), 0.86, 0.93), (30, (1.0, 2.0), 0.93, 0.97)]
)
@pytest.mark.nightly
def test_ndcg_on_a_coarse_grid(
    n: int, signals: tuple[float, float], least: float, most: float, record_property: Record
) -> None:
    """20 queries nearly all of which both systems answer perfectly: the interval covers too little, and is flagged."""
    rng, samples = np.random.default_rng(n), repeats(1000)
    truth = [float(np.mean([ndcgs(rng, (1000, 20), signal).mean() for _ in range(5)])) for signal in signals]
    covered = flagged = 0
    for _ in range(samples // 100):
        delta = ndcgs(rng, (100, n), signals[1]) - ndcgs(rng, (100, n), signals[0])
        low = np.array([information_in(row).is_low for row in delta])
        error = delta.std(axis=1, ddof=1) / math.sqrt(n)
        is_covered = np.abs(delta.mean(axis=1) - truth[1] + truth[0]) <= two_sided_t(0.05, n - 1) * error
        flagged, covered = flagged + int(low.sum()), covered + int(is_covered.sum())
    record_property(f"covered, n = {n}", covered / samples)
    record_property(f"flagged, n = {n}", flagged / samples)
    assert least <= covered / samples <= most
    assert (flagged > 0.99 * samples) is (n < 25)  # some samples have no difference at all

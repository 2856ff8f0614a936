"""Tests of all pairs of runs: against SciPy and statsmodels, pair by pair, and their errors over all pairs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.multitest import multipletests

from ndcg_tracker.statistics.many_tests import all_pairs, all_pairs_of_arms, holm_of_pairs, largest_t
from ndcg_tracker.statistics.t_test import paired_t, weighted_t

SIZES = st.tuples(st.integers(2, 6), st.integers(2, 30))


@given(SIZES.flatmap(lambda size: arrays(np.float64, size, elements=st.floats(0, 1, width=32))))
def test_each_pair_is_the_paired_t_test(values: np.ndarray) -> None:
    found = all_pairs(values)
    for one in range(len(values)):
        for other in range(len(values)):
            test = paired_t(values[one] - values[other])
            assert found.delta[one, other] == pytest.approx(test.mean, abs=1e-12)
            if test.p_value is None:
                assert np.isnan(found.p_value[one, other])
            elif abs(test.t or 0) < 1e6 and np.ptp(values[one] - values[other]) > 1e-9:  # else the spread is rounding
                assert found.p_value[one, other] == pytest.approx(test.p_value, rel=1e-6, abs=1e-12)
                assert found.standard_error[one, other] == pytest.approx(test.standard_error, rel=1e-6)


def test_weights_are_those_of_the_weighted_test() -> None:
    rng = np.random.default_rng(3)
    values, weights = rng.random((4, 60)), rng.integers(0, 4, 60).astype(np.float64)
    found = all_pairs(values, weights)
    for one, other in ((0, 1), (2, 3)):
        test = weighted_t(values[one] - values[other], weights)
        assert found.n == test.n
        assert found.delta[one, other] == pytest.approx(test.mean, abs=1e-14)
        assert found.p_value[one, other] == pytest.approx(test.p_value, rel=1e-10)


def test_runs_that_are_nearly_equal_lose_no_digit() -> None:
    rng = np.random.default_rng(4)
    base = rng.random(500)
    values = np.stack([base, base + 1e-9 * rng.normal(size=500), rng.random(500)])
    found = all_pairs(values)
    expected = scipy.stats.ttest_rel(values[0], values[1]).pvalue
    assert found.p_value[0, 1] == pytest.approx(expected, rel=1e-5)


def test_runs_of_one_search_lose_no_digit() -> None:
    rng = np.random.default_rng(4)
    values = rng.random(300) + 1e-5 * rng.normal(size=(40, 300))
    found = all_pairs(values)
    for one, other in ((0, 1), (5, 39)):
        assert found.p_value[one, other] == pytest.approx(
            scipy.stats.ttest_rel(values[one], values[other]).pvalue, rel=1e-7
        )


def test_holm_is_that_of_statsmodels_over_all_pairs() -> None:
    rng = np.random.default_rng(5)
    values = rng.random((10, 50)) + np.linspace(0, 0.3, 10)[:, None]
    one, other = np.triu_indices(10, 1)
    p_values = [scipy.stats.ttest_rel(values[a], values[b]).pvalue for a, b in zip(one, other, strict=True)]
    _, adjusted, *_ = multipletests(p_values, method="holm")
    assert holm_of_pairs(all_pairs(values).p_value)[one, other] == pytest.approx(adjusted, rel=1e-9)


def test_many_pairs_are_those_of_few() -> None:
    rng = np.random.default_rng(6)
    values = rng.random((60, 40))
    found, few = all_pairs(values), all_pairs(values[:5])
    assert found.p_value[:5, :5] == pytest.approx(few.p_value, rel=1e-9, nan_ok=True)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("corrected", ["holm", "largest t"])
@pytest.mark.parametrize("n", [50, 200])
def test_among_equal_runs_hardly_ever_is_one_called_better(n: int, corrected: str) -> None:
    rng = np.random.default_rng(n)
    rounds, false_alarms = 400, 0
    for _ in range(rounds):
        shared = rng.beta(1, 1.5, n)
        values = np.clip(shared + rng.normal(scale=0.1, size=(6, n)), 0, 1)
        p_values = holm_of_pairs(all_pairs(values).p_value) if corrected == "holm" else largest_t(values, flips=400)
        false_alarms += bool(np.nanmin(p_values) < 0.05)
    assert false_alarms / rounds <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / rounds)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("apart", [0.02, 0.2])
def test_of_runs_in_equal_threes_hardly_ever_is_one_called_better_than_its_like(apart: float) -> None:
    """A part of the hypotheses is true: whatever the others are, no true one is refused more often than promised."""
    rng = np.random.default_rng(3)
    alike = np.repeat([0, 1, 2], 3)
    is_true = (alike[:, None] == alike[None, :]) & ~np.eye(9, dtype=np.bool_)
    rounds, false_alarms = 400, 0
    for _ in range(rounds):
        values = apart * alike[:, None] + rng.normal(scale=0.2, size=100) + rng.normal(scale=0.15, size=(9, 100))
        adjusted = holm_of_pairs(all_pairs(values).p_value)
        false_alarms += bool((adjusted[is_true] < 0.05).any())
    assert false_alarms / rounds <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / rounds)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("spread", [0.01, 0.05])
def test_rank_intervals_hold_for_all_runs_at_once(spread: float) -> None:
    from ndcg_tracker.metrics.language.text import parse_metric
    from ndcg_tracker.questions.leaderboard.decide import metric_board

    rng = np.random.default_rng(8)
    truth = np.sort(rng.normal(0.5, spread, 8))[::-1]
    rounds, held = 300, 0
    for _ in range(rounds):
        values = truth[:, None] + rng.normal(scale=0.2, size=100) + rng.normal(scale=0.15, size=(8, 100))
        board = metric_board(parse_metric("ndcg@10"), list("abcdefgh"), values)
        held += all(one.rank_low <= place <= one.rank_high for place, one in enumerate(board.standings, 1))
    assert held / rounds >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / rounds)


def test_the_largest_t_finds_what_holm_finds_where_it_is_clear() -> None:
    rng = np.random.default_rng(9)
    values = rng.random((4, 80)) + np.array([[0.5], [0.0], [0.0], [0.0]])
    found = largest_t(values, flips=2000)
    assert (found[0, 1:] < 0.01).all()
    assert np.isnan(np.diag(found)).all()
    assert np.array_equal(found, found.T, equal_nan=True)
    assert np.array_equal(found, largest_t(values, flips=2000), equal_nan=True)


def test_a_pair_of_arms_differs_by_its_means() -> None:
    rng = np.random.default_rng(0)
    arms = [rng.random((repeats, 20)) for repeats in (2, 3, 1)]
    weights = rng.random(20) + 0.1
    means = [float(np.average(arm.mean(axis=0), weights=weights)) for arm in arms]
    pairs = all_pairs_of_arms(arms, weights)
    assert pairs.means == pytest.approx(means)
    assert pairs.delta == pytest.approx(np.subtract.outer(means, means))

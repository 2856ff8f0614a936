"""Groups and repeats crossed: the formula, written down once more, and what must not change it."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student

from ndcg_tracker.statistics.repeats import RunVariance, crossed_t, with_runs
from ndcg_tracker.statistics.t_test import paired_t, weighted_t


def arms(seed: int, k: int = 4, other: int = 3, n: int = 30) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    hardness = rng.normal(0.6, 0.2, n)
    one = hardness + rng.normal(0, 0.05, (k, 1)) + rng.normal(0, 0.1, (k, n))
    return one, hardness + 0.1 + rng.normal(0, 0.03, (other, 1)) + rng.normal(0, 0.1, (other, n))


@pytest.mark.parametrize("seed", range(20))
def test_the_formula_once_more(seed: int) -> None:
    one, other = arms(seed)
    test = crossed_t(one, other)
    parts = test.parts
    n, delta = one.shape[1], other.mean(axis=0) - one.mean(axis=0)
    of_groups = delta.var(ddof=1) / n
    components, below = [], of_groups**2 / (n - 1)
    for values in (one, other):
        k = len(values)
        residual = values - values.mean(axis=1, keepdims=True) - values.mean(axis=0) + values.mean()
        of_residual = (residual**2).sum() / ((k - 1) * (n - 1)) / n
        of_means = values.mean(axis=1).var(ddof=1)
        components.append(max(0.0, of_means - of_residual) / k)
        below += (of_means / k) ** 2 / (k - 1)
    variance = of_groups + sum(components)
    df = max(1.0, variance**2 / below)
    assert parts is not None
    assert test.standard_error is not None
    assert (test.n, test.mean, test.sd) == (n, pytest.approx(delta.mean()), pytest.approx(delta.std(ddof=1)))
    assert (parts.groups, parts.runs_baseline, parts.runs_candidate) == pytest.approx((of_groups, *components))
    assert (test.standard_error**2, test.df) == pytest.approx((variance, df))
    p_value = 2 * student.sf(abs(delta.mean()) / variance**0.5, df)
    half = student.ppf(0.975, df) * variance**0.5
    assert test.p_value == pytest.approx(p_value)
    assert test.ci == pytest.approx((delta.mean() - half, delta.mean() + half))
    assert parts.half_width == pytest.approx(half)


@pytest.mark.parametrize("seed", range(5))
def test_what_does_not_matter(seed: int) -> None:
    one, other = arms(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2, one.shape[1])
    test = crossed_t(one, other, weights)
    parts = test.parts
    swapped = crossed_t(other, one, weights)
    order = np.random.default_rng(seed).permutation(one.shape[1])
    shuffled = crossed_t(one[::-1][:, order], other[:, order], weights[order] * 7)
    assert parts is not None
    assert test.mean is not None
    assert test.ci is not None
    for same in (swapped, shuffled):
        assert (same.standard_error, same.df, same.p_value) == pytest.approx(
            (test.standard_error, test.df, test.p_value)
        )
    assert swapped.mean == pytest.approx(-test.mean)
    equal = crossed_t(one, other, np.full(one.shape[1], 3.0))
    plain = crossed_t(one, other)
    assert (equal.standard_error, equal.df) == pytest.approx((plain.standard_error, plain.df))


def test_arms_of_one_run_are_a_paired_t_test() -> None:
    one, other = arms(1, k=1, other=1)
    test = crossed_t(one, other)
    parts = test.parts
    plain = paired_t(other[0] - one[0])
    assert (test.t, test.df, test.p_value) == pytest.approx((plain.t, plain.df, plain.p_value))
    assert parts is not None
    assert parts.runs == 0
    assert parts.with_twice_the_runs == parts.half_width
    weights = np.linspace(1, 2, one.shape[1])
    assert crossed_t(one, other, weights).t == pytest.approx(weighted_t(other[0] - one[0], weights).t)


def test_more_runs_and_more_groups_narrow_what_they_can() -> None:
    rng = np.random.default_rng(4)
    hardness = rng.normal(0.6, 0.2, 400)
    few_runs = [hardness + rng.normal(0, 0.05, (3, 1)) + rng.normal(0, 0.01, (3, 400)) for _ in range(2)]
    few_groups = [hardness[:30] + rng.normal(0, 0.0001, (8, 1)) + rng.normal(0, 0.1, (8, 30)) for _ in range(2)]
    of_runs = crossed_t(*few_runs).parts
    of_groups = crossed_t(*few_groups).parts
    assert of_runs is not None
    assert of_groups is not None
    assert of_runs.with_twice_the_runs < 0.8 * of_runs.half_width < of_runs.with_twice_the_groups
    assert of_groups.with_twice_the_groups < 0.8 * of_groups.half_width


def test_twice_the_runs_halve_the_variance_at_most() -> None:
    """Where the residuals are estimated as more than all that the groups' differences vary."""
    rng = np.random.default_rng(0)
    more = 0
    for _ in range(60):
        one, other = (0.7 + rng.normal(0, 0.08, (4, 20)) for _ in range(2))
        parts = crossed_t(one, other).parts
        assert parts is not None
        assert 0 <= parts.runs_by_groups <= parts.groups
        more += parts.runs_by_groups == parts.groups
        assert parts.with_twice_the_runs >= 1.9599 * ((parts.groups + parts.runs) / 2) ** 0.5
    assert more > 10


def test_nothing_to_infer() -> None:
    same = np.full((3, 5), 0.5)
    assert crossed_t(same, same) == paired_t(np.zeros(5))
    assert crossed_t(same[:, :1], same[:, :1]).p_value is None
    with pytest.raises(ValueError, match=r"^arms must be runs by the same groups, not \(3, 5\) and \(3, 4\)$"):
        crossed_t(same, same[:, :4])


def test_two_single_runs_of_a_known_family() -> None:
    test = paired_t(np.random.default_rng(0).normal(0.01, 0.1, 200))
    runs = RunVariance(5, means=0.0004, residual=0.0001)
    wider = with_runs(test, runs)
    assert test.standard_error is not None
    assert wider.standard_error == pytest.approx((test.standard_error**2 + 2 * 0.0003) ** 0.5)
    assert 4 / 2 < wider.df < 6
    assert with_runs(test, RunVariance(5, means=0.0001, residual=0.0004)).standard_error == test.standard_error
    assert with_runs(paired_t(np.zeros(1)), runs).t is None

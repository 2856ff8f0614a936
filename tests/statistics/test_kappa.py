"""Weighted kappa and the signed error against scikit-learn, statsmodels and a published table; by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.inter_rater import cohens_kappa

from ndcg_tracker.statistics.similarity import SignedError, signed_error, weighted_kappa

GRADES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


def arrays(table: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs of grades that a table counts, rows for the first judge."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    first, second = np.array(pairs, dtype=np.float64).T
    return first, second


@given(GRADES)
def test_the_value_is_that_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    found = weighted_kappa(first, second, np.arange(first.size))
    if np.unique(first).size == np.unique(second).size == 1 and first[0] == second[0]:
        assert found is None
        return
    wanted = cohen_kappa_score(first.astype(int), second.astype(int), labels=[0, 1, 2, 3], weights="quadratic")
    assert found is not None
    assert found.value == pytest.approx(wanted, abs=1e-12)


def test_a_published_value() -> None:
    """Fleiss, Levin and Paik (2003), table 18.1, psychotic or not: (.90 - .68) / (1 - .68)."""
    first, second = arrays([[75, 1, 4], [5, 4, 1], [0, 0, 10]])
    found = weighted_kappa((first == 0) * 1.0, (second == 0) * 1.0, np.arange(first.size))
    assert found is not None
    assert found.value == pytest.approx(0.6875, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_with_one_pair_per_group_the_interval_is_that_of_fleiss_cohen_and_everitt(shift: float) -> None:
    table = [[880, 130, 20], [110, 500, 90], [10, 80, 300]]
    first, second = arrays(table)
    found = weighted_kappa(first + shift, second + shift, np.arange(first.size))
    known = cohens_kappa(np.array(table), wt="quadratic")
    assert found is not None
    assert found.ci is not None
    assert found.value == pytest.approx(known.kappa, abs=1e-9)
    assert found.ci == pytest.approx((known.kappa_low, known.kappa_upp), abs=0.001)


def test_groups_widen_the_interval_where_a_judge_errs_by_group() -> None:
    random = np.random.default_rng(1)
    grades = random.integers(0, 3, (60, 10)).astype(np.float64)
    other = grades + np.repeat(random.integers(-1, 2, (60, 1)), 10, axis=1)
    one_each = weighted_kappa(grades.ravel(), other.ravel(), np.arange(600))
    grouped = weighted_kappa(grades.ravel(), other.ravel(), np.repeat(np.arange(60), 10))
    assert one_each is not None
    assert grouped is not None
    assert one_each.ci is not None
    assert grouped.ci is not None
    assert grouped.value == one_each.value
    assert np.diff(grouped.ci) > 1.3 * np.diff(one_each.ci)


@pytest.mark.nightly
def test_the_interval_covers_kappa_where_judges_err_by_group() -> None:
    """95% within 3 standard errors of 1,000 samples, at 40 groups of 8 labels; the true value is of 400,000 groups."""
    random = np.random.default_rng(7)

    def sampled(n_groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        grades = random.integers(0, 3, (n_groups, 8)).astype(np.float64)
        strict = random.random((n_groups, 1)) < 0.3  # this judge takes one grade off in some groups
        other = np.clip(grades - strict * (random.random(grades.shape) < 0.8), 0, 2)
        other = np.where(random.random(grades.shape) < 0.1, random.integers(0, 3, grades.shape), other)
        return grades.ravel(), other.ravel(), np.repeat(np.arange(n_groups), 8)

    whole = weighted_kappa(*sampled(400_000))
    assert whole is not None
    covered = 0
    for _ in range(1000):
        found = weighted_kappa(*sampled(40))
        assert found is not None
        assert found.ci is not None
        covered += found.ci[0] <= whole.value <= found.ci[1]
    assert 929 <= covered <= 971


def test_what_is_undefined() -> None:
    nothing = np.empty(0)
    assert weighted_kappa(nothing, nothing, np.empty(0, dtype=np.int64)) is None
    assert weighted_kappa(np.ones(3), np.ones(3), np.arange(3)) is None
    assert weighted_kappa(np.ones(1), np.zeros(1), np.arange(1)) is None
    one_group = weighted_kappa(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.zeros(2, dtype=np.int64))
    assert one_group is not None
    assert (one_group.value, one_group.ci) == (1.0, None)
    assert signed_error(nothing, np.empty(0, dtype=np.int64)) == SignedError(0)
    assert signed_error(np.ones(3), np.arange(3)) == SignedError(3, 1.0)
    assert signed_error(np.array([0.0, 1.0]), np.zeros(2, dtype=np.int64)) == SignedError(2, 0.5)


def test_the_signed_error_is_that_of_a_regression_on_a_constant() -> None:
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(50), random.integers(1, 9, 50))
    apart = random.integers(-2, 3, groups.size) + random.integers(0, 2, 50)[groups] * 1.0
    known = OLS(apart, np.ones(groups.size)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True
    )
    found = signed_error(apart, groups)
    assert found.error == pytest.approx(known.params[0])
    assert found.ci == pytest.approx(tuple(known.conf_int()[0]))

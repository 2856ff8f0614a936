"""Weighted kappa and the signed error against scikit-learn, statsmodels and a published table; by simulation, drawn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_worlds import CUTS
from sklearn.metrics import cohen_kappa_score
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.inter_rater import cohens_kappa

from ndcg_tracker.statistics.similarity import SignedError, signed_error, weighted_kappa


def inclusion_probabilities(weights: np.ndarray, budget: float) -> np.ndarray:
    """Return probabilities in proportion to the sizes of weights, 1 at most, which sum to the budget."""
    sizes, is_sure = np.abs(weights), np.zeros(weights.size, dtype=bool)
    while True:
        rest = (budget - is_sure.sum()) * sizes / sizes[~is_sure].sum()
        if not (larger := ~is_sure & (rest > 1)).any():
            return np.where(is_sure, 1.0, rest)
        is_sure |= larger


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


@given(GRADES, st.integers(1, 3), st.floats(1e-3, 1e3))
def test_with_equal_weights_it_is_what_it_is_without(pairs: list[tuple[int, int]], width: int, weight: float) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    groups = np.arange(first.size) // width
    found = weighted_kappa(first, second, groups, np.full(first.size, weight))
    without = weighted_kappa(first, second, groups)
    assert (found is None) == (without is None)
    if found is not None and without is not None:
        assert found.value == pytest.approx(without.value, abs=1e-9)
        assert (found.n, found.n_groups) == (without.n, without.n_groups)
        assert (found.ci is None) == (without.ci is None)
        assert found.ci is None or found.ci == pytest.approx(without.ci, abs=1e-6)
    errors = signed_error(first - second, groups, np.full(first.size, weight)), signed_error(first - second, groups)
    assert errors[0].error == pytest.approx(errors[1].error)
    assert (errors[0].ci is None) == (errors[1].ci is None)
    assert errors[0].ci is None or errors[0].ci == pytest.approx(errors[1].ci)


@given(GRADES, st.data())
def test_weights_are_those_of_scikit_learn_and_of_pairs_that_come_several_times(
    pairs: list[tuple[int, int]], data: st.DataObject
) -> None:
    first, second = np.array(pairs, dtype=np.float64).T
    weights = np.array(data.draw(st.lists(st.integers(1, 5), min_size=first.size, max_size=first.size)))
    groups = np.arange(first.size) // 2
    found = weighted_kappa(first, second, groups, weights.astype(np.float64))
    several = weighted_kappa(np.repeat(first, weights), np.repeat(second, weights), np.repeat(groups, weights))
    if found is None or several is None:
        assert found is several is None
        return
    assert found.value == pytest.approx(several.value, abs=1e-12)
    assert found.ci == (None if several.ci is None else pytest.approx(several.ci, abs=1e-9))
    wanted = cohen_kappa_score(
        first.astype(int), second.astype(int), labels=[0, 1, 2, 3], weights="quadratic", sample_weight=weights
    )
    assert found.value == pytest.approx(wanted, abs=1e-12)


def test_a_published_value() -> None:
    """Fleiss, Levin and Paik (2003), table 18.1, psychotic or not: (.90 - .68) / (1 - .68); weights change nothing."""
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


def test_the_signed_error_is_that_of_a_weighted_regression_on_a_constant() -> None:
    random = np.random.default_rng(3)
    groups = np.repeat(np.arange(50), random.integers(1, 9, 50))
    apart = random.integers(-2, 3, groups.size) + random.integers(0, 2, 50)[groups] * 1.0
    weights = 1 / random.uniform(0.05, 1.0, groups.size)
    known = WLS(apart, np.ones(groups.size), weights=weights).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "df_correction": True}, use_t=True
    )
    found = signed_error(apart, groups, weights)
    assert found.error == pytest.approx(known.params[0])
    assert found.ci == pytest.approx(tuple(known.conf_int()[0]))


def drawable(random: np.random.Generator, n_groups: int) -> tuple[np.ndarray, ...]:
    """Return, of the items that tell two runs apart: grades of people and of a judge that likes the second run's style,
    groups, weights in the difference, and whether the second run alone has them in its first ten."""
    worth, quirk, liked = (random.normal(size=(n_groups, 25)) for _ in range(3))
    true = np.searchsorted(CUTS, worth).astype(np.float64)
    by_judge = np.searchsorted(CUTS, worth + 0.5 * random.normal(size=worth.shape) + 0.8 * liked).astype(np.float64)
    ranks = [np.argsort(np.argsort(-scores, axis=1), axis=1) + 1 for scores in (worth + quirk, worth + liked)]
    before, after = (np.where(rank <= 10, 1 / np.log2(rank + 1), 0.0) for rank in ranks)
    apart = before != after
    groups = np.repeat(np.arange(n_groups), 25)[apart.ravel()]
    alone = (ranks[1] <= 10) & (ranks[0] > 10)
    return true[apart], by_judge[apart], groups, (after - before)[apart], alone[apart]


def test_weighted_figures_of_drawn_items_are_those_of_all_items_apart_and_unweighted_ones_are_not() -> None:
    """95% within 3 standard errors of 400 samples; what holds of all is that of 40,000 groups."""
    random = np.random.default_rng(11)
    true, by_judge, groups, _, alone = drawable(random, 40_000)
    whole = weighted_kappa(by_judge, true, groups)
    error = signed_error((by_judge - true)[alone], groups[alone])
    assert whole is not None
    assert error.error is not None
    kappas, plain, errors, covered = [], [], [], np.zeros(2)
    for _ in range(400):
        true, by_judge, groups, weights, alone = drawable(random, 200)
        probabilities = inclusion_probabilities(weights, 400)
        drawn = random.random(probabilities.size) < probabilities
        counts = 1 / probabilities[drawn]
        found = weighted_kappa(by_judge[drawn], true[drawn], groups[drawn], counts)
        unweighted = weighted_kappa(by_judge[drawn], true[drawn], groups[drawn])
        also = alone[drawn]
        of_run = signed_error((by_judge - true)[drawn][also], groups[drawn][also], counts[also])
        assert found is not None
        assert found.ci is not None
        assert unweighted is not None
        assert of_run.error is not None
        assert of_run.ci is not None
        kappas.append(found.value)
        plain.append(unweighted.value)
        errors.append(of_run.error)
        covered += [found.ci[0] <= whole.value <= found.ci[1], of_run.ci[0] <= error.error <= of_run.ci[1]]
    for values, wanted in ((kappas, whole.value), (errors, error.error)):
        assert abs(np.mean(values) - wanted) < 0.01
    assert np.mean(plain) < whole.value - 0.02
    assert ((covered >= 0.917 * 400) & (covered <= 0.983 * 400)).all()

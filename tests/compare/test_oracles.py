"""The same numbers from scipy, statsmodels and pingouin, to 1e-10."""

import gc
import math
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray
from populations import LONG

from ndcg_tracker.statistics.distribution_free import wilcoxon_p_value
from ndcg_tracker.statistics.many_tests import benjamini_hochberg, holm
from ndcg_tracker.statistics.t_test import equivalence_test, paired_t, t_lower_bound, t_upper_bound, weighted_t


@pytest.fixture(scope="module", autouse=True)
def oracles() -> None:
    """Import them once they are needed: it takes seconds, and most processes of the suite never need them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say of their dependencies meanwhile is not ours to mend
        import pingouin  # noqa: F401
        import statsmodels.stats.weightstats  # noqa: F401


VECTORS = 1000 if LONG else 300
Floats = NDArray[np.float64]


def pairs(n_vectors: int = VECTORS) -> Iterator[tuple[Floats, Floats]]:
    """Results of two runs that differ in a part of the groups."""
    rng = np.random.default_rng(20)
    for _ in range(n_vectors):
        n = int(rng.integers(3, 120))
        baseline = rng.beta(0.5, 0.5, n)
        noise = rng.normal(rng.normal(0, 0.02), 0.1, n) * (rng.random(n) < 0.7)
        noise[:3] += [0.01, -0.02, 0.03]
        yield baseline, np.clip(baseline + noise, -1, 2)


def close(mine: float | None, theirs: float) -> bool:
    return mine is not None and math.isclose(mine, theirs, rel_tol=1e-10, abs_tol=1e-10)


def test_one_sided_bounds_equal_scipy() -> None:
    import scipy.stats

    for baseline, candidate in pairs():
        test = paired_t(candidate - baseline)
        greater = scipy.stats.ttest_rel(candidate, baseline, alternative="greater")
        less = scipy.stats.ttest_rel(candidate, baseline, alternative="less")
        for level in (0.95, 0.99):
            assert close(t_lower_bound(test, level=level), greater.confidence_interval(level).low)
            assert close(t_upper_bound(test, level=level), less.confidence_interval(level).high)


def test_t_and_equivalence_equal_statsmodels() -> None:
    from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

    for baseline, candidate in pairs():
        test = paired_t(candidate - baseline)
        described = DescrStatsW(candidate - baseline)
        t, p_value, _ = described.ttest_mean(0)
        low, high = described.tconfint_mean(0.05)
        assert close(test.t, t)
        assert close(test.p_value, p_value)
        assert test.ci is not None
        assert close(test.ci[0], low)
        assert close(test.ci[1], high)
        found = equivalence_test(test, 0.02)
        assert close(found.p_value, ttost_paired(candidate, baseline, -0.02, 0.02)[0])
        assert found.ci is not None
        assert found.equivalent == (found.ci[0] > -0.02 and found.ci[1] < 0.02)


def test_t_and_equivalence_equal_pingouin() -> None:
    import pingouin

    for baseline, candidate in pairs(VECTORS if LONG else 100):  # it needs 6 ms for each
        test = paired_t(candidate - baseline)
        theirs = pingouin.ttest(candidate, baseline, paired=True, correction=False)
        assert close(test.t, float(theirs.iloc[0]["T"]))
        assert close(test.p_value, float(theirs.iloc[0]["p_val"]))
        assert close(
            equivalence_test(test, 0.02).p_value,
            float(pingouin.tost(candidate, baseline, bound=0.02, paired=True).iloc[0]["pval"]),
        )


def test_wilcoxon_equals_scipy_and_pingouin() -> None:
    import pingouin
    import scipy.stats

    for place, (baseline, candidate) in enumerate(pairs()):
        delta = np.round(candidate - baseline, 12)
        p_value = wilcoxon_p_value(delta)
        assert close(p_value, float(scipy.stats.wilcoxon(delta[delta != 0]).pvalue))
        if place < 100:
            padded = np.append(delta, 0.0)  # zeros that are given to SciPy change its p, those given to us do not
            assert close(wilcoxon_p_value(padded), p_value)
            theirs = pingouin.wilcoxon(delta[delta != 0], correction=False)
            assert close(p_value, float(theirs.iloc[0]["p_val"]))


def test_corrections_equal_statsmodels() -> None:
    from scipy.stats import false_discovery_control
    from statsmodels.stats.multitest import multipletests

    rng = np.random.default_rng(21)
    gc.freeze()  # statsmodels collects garbage at every call: 50 ms with all of these modules loaded
    for _ in range(VECTORS):
        p_values = (rng.random(int(rng.integers(1, 30))) ** 3).round(rng.integers(1, 9)).tolist()
        for mine, method in ((holm(p_values), "holm"), (benjamini_hochberg(p_values), "fdr_bh")):
            assert np.allclose(
                np.array(mine, dtype=float), multipletests(p_values, method=method)[1], rtol=0, atol=1e-10
            )
        assert benjamini_hochberg(p_values) == false_discovery_control(p_values).tolist()
    gc.unfreeze()


def test_the_weighted_standard_error_equals_its_formula_by_statsmodels_means() -> None:
    from statsmodels.stats.weightstats import DescrStatsW

    rng = np.random.default_rng(22)
    for baseline, candidate in pairs(200):
        delta, weights = candidate - baseline, rng.exponential(size=baseline.size)
        test, described = weighted_t(delta, weights), DescrStatsW(delta, weights)
        n = delta.size
        variance = n / (n - 1) * float(np.square(weights * (delta - described.mean)).sum()) / weights.sum() ** 2
        assert close(test.mean, float(described.mean))
        assert test.sd is not None
        assert close(test.sd / math.sqrt(n), math.sqrt(variance))


def test_published_values_of_r() -> None:
    """R's sleep data (Student 1908): t.test(extra ~ group, paired = TRUE) and p.adjust, as R prints them."""
    delta = np.array([-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4])
    test = paired_t(delta)
    assert test.t == pytest.approx(-4.0621, abs=5e-5)
    assert test.p_value == pytest.approx(0.002833, abs=5e-7)
    assert test.ci == pytest.approx((-2.4598858, -0.7001142), abs=5e-8)

"""Means of strata against SciPy's Welch test, their coverage by simulation, and what is undefined."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from thorough import LONG

from ndcg_tracker.statistics.stratified import StratumMean, of_strata, stratified

ROUNDS = 10_000 if LONG else 2_000


def stratum(values: np.ndarray) -> StratumMean:
    return StratumMean(values.size, values.mean(), values.std(ddof=1) / math.sqrt(values.size), values.size - 1.0)


@given(st.integers(0, 2**32 - 1), st.integers(2, 80), st.integers(2, 80))
def test_two_strata_are_the_test_of_welch(seed: int, n: int, m: int) -> None:
    """mean(a) - mean(b) is twice the macro mean of a and -b."""
    random = np.random.default_rng(seed)
    a, b = random.normal(0.2, 1.0, n), random.normal(0.0, 3.0, m)
    found = stratified([stratum(a), stratum(-b)], [1.0, 1.0])
    expected = scipy.stats.ttest_ind(a, b, equal_var=False)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.df == pytest.approx(expected.df, rel=1e-9)
    assert found.ci is not None
    interval = expected.confidence_interval()
    assert np.array(found.ci) * 2 == pytest.approx([interval.low, interval.high], rel=1e-8, abs=1e-8)


def test_one_stratum_is_the_t_test_and_means_of_strata_are_one() -> None:
    values = np.random.default_rng(5).normal(0.1, 1.0, 40)
    expected = scipy.stats.ttest_1samp(values, 0.0)
    assert stratified([stratum(values)], [1.0]).p_value == pytest.approx(expected.pvalue, rel=1e-9)
    assert of_strata(values.tolist()).p_value == pytest.approx(expected.pvalue, rel=1e-9)


def test_the_micro_mean_is_that_of_all_values() -> None:
    random = np.random.default_rng(8)
    parts = [random.normal(place, 1.0, n) for place, n in enumerate((10, 200, 35))]
    found = stratified([stratum(part) for part in parts], [float(part.size) for part in parts])
    assert found.mean == pytest.approx(np.concatenate(parts).mean(), rel=1e-12)


def covers(ci: tuple[float, float] | None, truth: float) -> bool:
    assert ci is not None
    return ci[0] <= truth <= ci[1]


def test_coverage() -> None:
    """Both intervals hold what they say: 95% of new queries of these datasets, and of new datasets."""
    random = np.random.default_rng(20_261_123)
    sizes = (50, 90, 300, 1000, 60)
    of_queries = of_datasets = wrong_question = 0
    for _ in range(ROUNDS):
        effects = random.normal(0.02, 0.03, len(sizes))
        strata = [stratum(random.normal(effect, 0.25, n)) for effect, n in zip(effects, sizes, strict=True)]
        macro = stratified(strata, [1.0] * len(strata))
        of_queries += covers(macro.ci, effects.mean())
        wrong_question += covers(macro.ci, 0.02)
        of_datasets += covers(of_strata([one.mean for one in strata]).ci, 0.02)
    noise = 4 * math.sqrt(0.95 * 0.05 / ROUNDS)
    assert of_queries / ROUNDS == pytest.approx(0.95, abs=noise)
    assert of_datasets / ROUNDS == pytest.approx(0.95, abs=noise)
    assert wrong_question / ROUNDS < 0.9  # why there are two


def test_what_is_undefined() -> None:
    assert of_strata([0.5]).ci is None
    assert stratified([StratumMean(1, 0.5, None, 0.0), StratumMean(9, 0.5, 0.1, 8.0)], [1.0, 1.0]).p_value is None
    alike = stratified([StratumMean(9, 0.0, 0.0, 8.0)], [1.0])
    assert (alike.mean, alike.ci, alike.p_value) == (0.0, None, None)
    for empty in (lambda: of_strata([]), lambda: stratified([], [])):
        with pytest.raises(ValueError, match="no stratum"):
            empty()

"""Student's t distribution: what scipy says, to more digits than anything here is printed with."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import nctdtr, stdtr, stdtrit

from ndcg_tracker.statistics.t_distribution import lower_tail, noncentrality_found, quantile, two_sided_p, two_sided_t

DEGREES = (1, 2, 3, 4, 5, 9, 10, 19, 20, 21, 49, 100, 999, 5000)
FURTHER = (20_000, 100_000, 1_000_000, 10_000_000)


@pytest.mark.parametrize("df", DEGREES + FURTHER)
def test_tails_are_those_of_scipy(df: int) -> None:
    for t in (1e-3, 0.1, 0.5, 0.9, 1.0, 1.1, 1.5, 1.7, 1.74, 2.0, 2.5, 3.0, 4.0, 8.0, 12.0, 20.0, 30.0, 1e3, 1e5):
        expected = 2 * float(stdtr(df, -t))
        if expected > 1e-290:
            found = two_sided_p(t, df)
            assert found == two_sided_p(-t, df) == pytest.approx(expected, rel=1e-12 if df in DEGREES else 1e-9)


@pytest.mark.parametrize("df", DEGREES + FURTHER)
def test_quantiles_are_those_of_scipy(df: int) -> None:
    for p in (0.9, 0.5, 0.32, 0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-12):
        assert two_sided_t(p, df) == pytest.approx(-float(stdtrit(df, p / 2)), rel=1e-10)


@pytest.mark.parametrize("df", DEGREES + FURTHER)
def test_one_tail_is_that_of_scipy(df: int) -> None:
    for t in (-12.0, -2.0, -0.5, 0.0, 0.5, 2.0, 5.0):
        assert lower_tail(t, df) == pytest.approx(float(stdtr(df, t)), rel=1e-9)
    for level in (0.01, 0.05, 0.5, 0.9, 0.95, 0.99):
        assert quantile(level, df) == pytest.approx(float(stdtrit(df, level)), rel=1e-9, abs=1e-15)


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("df", DEGREES + FURTHER)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_power_is_that_of_scipy(df: int, alpha: float) -> None:
    critical = float(stdtrit(df, 1 - alpha / 2))
    for power in (0.3, 0.5, 0.8, 0.9, 0.99):
        found = noncentrality_found(float(df), alpha, power)
        opposite = float(nctdtr(df, found, -critical))  # NaN for a tail that is too small to matter
        rejected = 1 - float(nctdtr(df, found, critical)) + (0.0 if math.isnan(opposite) else opposite)
        assert rejected == pytest.approx(power, abs=1e-9)


@given(st.floats(1e-100, 0.999), st.floats(1, 1e7))
def test_a_quantile_and_its_tail(p: float, df: float) -> None:
    assert two_sided_p(two_sided_t(p, df), df) == pytest.approx(p, rel=1e-9)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.integers(1, 10**6))
def test_further_out_lies_less(one: float, other: float, df: int) -> None:
    near, far = sorted((one, other))
    assert 0 <= two_sided_p(far, df) <= two_sided_p(near, df) * (1 + 1e-9) <= 1 + 1e-9


def test_the_ends() -> None:
    assert two_sided_p(0.0, 5.0) == two_sided_p(2e-161, 226) == 1.0
    assert two_sided_p(math.inf, 5.0) == two_sided_p(-math.inf, 5.0) == 0.0
    assert two_sided_p(1e200, 1.0) == pytest.approx(2 / math.pi * 1e-200, rel=1e-12)
    assert two_sided_p(1e160, 1.0) == pytest.approx(2 * float(stdtr(1, -1e160)), rel=1e-12)
    with pytest.raises(ValueError, match="t = nan with 3 degrees of freedom has no probability"):
        two_sided_p(math.nan, 3)
    with pytest.raises(ValueError, match="with 0 degrees of freedom"):
        two_sided_p(1.0, 0)
    for p, df in ((0.0, 3), (1.0, 3), (math.nan, 3), (1e-200, 3), (0.5, 0)):
        with pytest.raises(ValueError, match=f"1 degree of freedom or more, not {p} with {df}"):
            two_sided_t(p, df)

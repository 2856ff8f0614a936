"""Sums of differences: merged in any way, they are those of all, and give the t-test of the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.statistics.summary import Summary
from ndcg_tracker.statistics.t_test import paired_t

NUMBERS = st.lists(st.sampled_from([0.0, 0.25, -0.5, 1.0]) | st.floats(-1, 1), max_size=40)


@given(st.lists(NUMBERS, max_size=6))
def test_parts_come_to_the_whole(parts: list[list[float]]) -> None:
    whole = Summary.of(np.array([number for part in parts for number in part]))
    merged = Summary.merged(Summary.of(np.array(part)) for part in parts)
    assert (merged.n, merged.wins, merged.losses, merged.ties) == (whole.n, whole.wins, whole.losses, whole.ties)
    assert merged.mean == pytest.approx(whole.mean, abs=1e-15)
    assert merged.m2 == pytest.approx(whole.m2, abs=1e-12)


@given(NUMBERS)
def test_the_test_is_that_of_the_numbers(numbers: list[float]) -> None:
    delta = np.array(numbers)
    found, wanted = Summary.of(delta).test(), paired_t(delta)
    assert (found.n, found.p_value is None) == (wanted.n, wanted.p_value is None)
    assert found.mean == pytest.approx(wanted.mean, abs=1e-15)
    if wanted.p_value is not None:
        assert found.p_value == pytest.approx(wanted.p_value, rel=1e-9, abs=1e-300)
        assert found.ci == pytest.approx(wanted.ci, abs=1e-12)


def test_nearly_equal_numbers_keep_their_spread() -> None:
    numbers = 1e6 + np.random.default_rng(0).normal(size=10_000)  # raw squares keep four digits of their spread
    merged = Summary.merged([Summary.of(part) for part in np.array_split(numbers, 7)])
    assert merged.m2 == pytest.approx(float(np.square(numbers - numbers.mean()).sum()), rel=1e-9)


def test_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN is refused"):
        Summary.of(np.array([np.nan]))

"""Overlap, rank-biased overlap and Kendall's tau: against the formulas, list by list, and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.statistics.rank_similarity import SharedRanks

Lists = list[tuple[list[int], list[int]]]
ONE = st.lists(st.integers(0, 14), min_size=1, max_size=12, unique=True)


def shared(lists: Lists) -> SharedRanks:
    rows = [
        (group, rank, other.index(item) + 1)
        for group, (one, other) in enumerate(lists)
        for rank, item in enumerate(one, 1)
        if item in other
    ]
    group, first, second = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    lengths = np.array([[len(one), len(other)] for one, other in lists], dtype=np.int64)
    return SharedRanks(group, first, second, lengths[:, 0], lengths[:, 1])


def rbo(one: list[int], other: list[int], p: float) -> float:
    """Return equation 32 of Webber et al., term by term."""
    shorter, longer = sorted((one, other), key=len)
    s, n = len(shorter), len(longer)

    def both(depth: int) -> int:
        return len(set(shorter[:depth]) & set(longer[:depth]))

    first = math.fsum(both(d) / d * p**d for d in range(1, n + 1))
    second = math.fsum(both(s) * (d - s) / (s * d) * p**d for d in range(s + 1, n + 1))
    return (1 - p) / p * (first + second) + ((both(n) - both(s)) / n + both(s) / s) * p**n


@given(st.lists(st.tuples(ONE, ONE), min_size=1, max_size=6), st.floats(0.05, 0.99), st.integers(1, 12))
def test_each_number_is_that_of_its_formula(lists: Lists, p: float, depth: int) -> None:
    found = shared(lists)
    overlap, of_bias, tau, same = (
        found.overlap(depth), found.rank_biased_overlap(p), found.kendall_tau(), found.n_same_first(),
    )  # fmt: skip
    for group, (one, other) in enumerate(lists):
        n_first = min(max(len(one), len(other)), depth)
        assert overlap[group] == len(set(one[:depth]) & set(other[:depth])) / n_first
        assert of_bias[group] == pytest.approx(rbo(one, other, p), abs=1e-12)
        assert same[group] == next(
            (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
        )
        both = [item for item in one if item in other]
        if len(both) < 2:
            assert math.isnan(tau[group])
        else:
            places = [other.index(item) for item in both]
            wanted = scipy.stats.kendalltau(range(len(both)), places).statistic
            assert tau[group] == pytest.approx(wanted, abs=1e-12)


def test_the_same_and_the_reverse() -> None:
    found = shared([([1, 2, 3], [1, 2, 3]), ([1, 2, 3], [3, 2, 1]), ([1], [2])])
    assert found.rank_biased_overlap(0.9)[[0, 2]].tolist() == pytest.approx([1.0, 0.0], abs=1e-12)
    assert found.kendall_tau()[:2].tolist() == [1.0, -1.0]
    assert found.overlap(3).tolist() == [1.0, 1.0, 0.0]
    assert found.n_same_first().tolist() == [3, 0, 0]


def test_the_example_of_the_paper() -> None:
    """Of two lists without a common item rbo is 0, of a list and its own beginning 1: it extrapolates."""
    found = shared([([1, 2, 3, 4], [5, 6]), ([1, 2, 3, 4], [1, 2])])
    assert found.rank_biased_overlap(0.8).tolist() == pytest.approx([0.0, 1.0], abs=1e-12)

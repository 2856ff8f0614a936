"""Overlap, rank-biased overlap and Kendall's tau: against the formulas, list by list, and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.statistics.similarity import SharedRanks, repro_eval_ktu

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


def ktu(one: list[str], other: list[str]) -> float:
    """Return what repro_eval 0.5.0 computes of two lists of the same length (``_KTU``)."""
    union = sorted({*one, *other})
    return float(scipy.stats.kendalltau([union.index(item) for item in one], [union.index(item) for item in other])[0])


def rbo_of_repro_eval(one: list[int], other: list[int], p: float, depth: int) -> float:
    """Return what repro_eval 0.5.0 computes (``_rbo``), which stops at the depth and does not extrapolate."""
    score, normalizer = 0.0, 0.0
    for d in range(1, depth + 1):
        score += p ** (d - 1) * len(set(one[:d]) & set(other[:d])) / d
        normalizer += p ** (d - 1)
    return score / normalizer


@given(st.lists(st.tuples(ONE, ONE), min_size=1, max_size=6), st.floats(0.05, 0.99), st.integers(1, 30))
def test_rbo_and_ktu_are_those_of_repro_eval(lists: Lists, p: float, depth: int) -> None:
    of_bias = shared(lists).repro_eval_rbo(p, depth)
    rows = []
    for group, (one, other) in enumerate(lists):
        assert of_bias[group] == pytest.approx(rbo_of_repro_eval(one, other, p, depth), abs=1e-12)
        first, second = (list(map(str, ids))[: min(len(one), len(other))] for ids in (one, other))
        places = zip(first, second, strict=True)
        rows += [(group, sorted(first).index(item), sorted(second).index(beside)) for item, beside in places]
    column, first_places, second_places = np.array(rows, dtype=np.int64).T
    found = repro_eval_ktu(column, first_places, second_places, len(lists))
    for group, (one, other) in enumerate(lists):
        n = min(len(one), len(other))
        if n < 2:
            assert math.isnan(found[group])
        else:
            assert found[group] == pytest.approx(ktu(list(map(str, one))[:n], list(map(str, other))[:n]), abs=1e-12)


def test_rbo_of_short_lists_that_are_the_same_is_below_1() -> None:
    found = shared([([1, 2], [1, 2])])
    assert found.repro_eval_rbo(0.5, 2).tolist() == pytest.approx([1.0])
    assert found.repro_eval_rbo(0.5, 4).tolist() == pytest.approx([(1 + 1 / 2 + 1 / 6 + 1 / 16) / (15 / 8)])

"""Sums of differences: merged in any way, they are those of all, and give the t-test of the numbers."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.compare.inference import Chance
from ndcg_tracker.statistics.summary import PairedSums, Summary
from ndcg_tracker.statistics.t_test import clustered_t, information_in, paired_t

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


def paired_sums(delta: np.ndarray, clusters: np.ndarray) -> PairedSums:
    sizes, totals = np.bincount(clusters), np.bincount(clusters, delta)
    kinds = {int(size): Summary.of(totals[sizes == size]) for size in np.unique(sizes)}
    return PairedSums(Summary.of(delta), clusters=kinds)


def test_sums_of_clusters_give_the_test_of_all_clusters() -> None:
    rng = np.random.default_rng(5)
    for n_groups, n_clusters, n_parts in ((9, 3, 2), (400, 150, 3), (300, 300, 4)):
        clusters = np.unique(rng.integers(0, n_clusters, n_groups), return_inverse=True)[1]
        delta = np.where(rng.random(n_groups) < 0.7, rng.exponential(0.1, n_groups) - 0.08, 0.0)
        wanted = clustered_t(delta, clusters)
        parts = [
            paired_sums(delta[own], np.unique(clusters[own], return_inverse=True)[1])
            for own in (clusters % n_parts == part for part in range(n_parts))
        ]
        for sums in (paired_sums(delta, clusters), PairedSums.merged(parts)):
            found = sums.test()
            assert (found.n, found.df) == (wanted.n, pytest.approx(wanted.df, rel=1e-9))
            assert found.ci == pytest.approx(wanted.ci, rel=1e-9)
            known, own = sums.information(), Chance(clusters=clusters).information(delta, None)
            assert (known.n, known.n_nonzero, known.of_clusters) == (own.n, own.n_nonzero, True)
            assert known.skewness == pytest.approx(own.skewness, rel=1e-6)
        plain = PairedSums(Summary.of(delta)).information()
        assert plain.skewness == pytest.approx(information_in(delta).skewness, rel=1e-9)
        back = PairedSums.from_dict(json.loads(json.dumps(paired_sums(delta, clusters).reversed().to_dict())))
        assert back.reversed() == paired_sums(delta, clusters)


def test_one_cluster_says_nothing() -> None:
    found = paired_sums(np.array([0.5, 0.25]), np.array([0, 0])).test()
    assert (found.n, found.mean, found.ci) == (2, 0.375, None)

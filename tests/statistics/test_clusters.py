"""Clusters of dependent groups: CR2 with Bell and McCaffrey's degrees of freedom, by matrices and by simulation."""

import numpy as np
import pytest
from numpy.typing import NDArray
from populations import Record, repeats

from ndcg_tracker.compare.sample import Sample
from ndcg_tracker.statistics.t_test import clustered_t, clusters_that_count, paired_t


def sizes_of(rng: np.random.Generator, kind: str, n: int) -> NDArray[np.int64]:
    if kind == "equal":
        return np.full(n, 5, dtype=np.int64)
    if kind == "geometric":
        return rng.geometric(0.2, n)
    return np.minimum(np.ceil(rng.pareto(1.2, n)).astype(np.int64).clip(1), 200)


@pytest.mark.parametrize("weighted", [False, True])
def test_by_matrices(weighted: bool) -> None:
    rng = np.random.default_rng(2)
    sizes = sizes_of(rng, "geometric", 12)
    clusters = np.repeat(np.arange(12), sizes)
    delta, n = rng.normal(0.1, 1, clusters.size), clusters.size
    weights = rng.uniform(0.5, 2, n) if weighted else np.ones(n)
    found = clustered_t(delta, clusters, weights if weighted else None)
    mean = (weights * delta).sum() / weights.sum()
    member = (clusters[None, :] == np.arange(12)[:, None]).astype(float) * weights
    share = member.sum(axis=1) / weights.sum()
    factor = 1 / (1 - share)
    sums = member @ (delta - mean)
    assert found.standard_error == pytest.approx((factor * sums**2).sum() ** 0.5 / weights.sum())
    degrees = []
    for together in (np.eye(n), (clusters[:, None] == clusters[None, :]).astype(float)):
        residual = np.eye(12) - share[:, None]
        covariance = residual @ (member @ together @ member.T) @ residual.T
        form = np.sqrt(factor)[:, None] * covariance * np.sqrt(factor)
        degrees.append(np.trace(form) ** 2 / (form**2).sum())
    assert found.df == pytest.approx(min(degrees))
    assert (found.n, found.mean) == (n, pytest.approx(mean))


def test_clusters_of_one_group_each() -> None:
    delta = np.random.default_rng(3).normal(0, 1, 50)
    alone, plain = clustered_t(delta, np.arange(50)), paired_t(delta)
    assert (alone.standard_error, alone.df) == pytest.approx((plain.standard_error, 49))


def test_one_cluster_says_nothing_of_others() -> None:
    found = clustered_t(np.array([0.5, 0.25]), np.zeros(2, dtype=np.int64))
    assert (found.mean, found.t, found.ci) == (0.375, None, None)
    assert clustered_t(np.zeros(0), np.zeros(0, dtype=np.int64)).mean is None


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("kind", ["equal", "geometric", "a few large ones"])
@pytest.mark.parametrize(("n", "shared"), [(10, 0.3), (30, 0.9), (100, 0.3)])
def test_type_one_error(kind: str, n: int, shared: float, record_property: Record) -> None:
    rng, samples = np.random.default_rng(n), repeats(600)
    by_clusters = by_groups = 0
    for _ in range(samples):
        clusters = np.repeat(np.arange(n), sizes_of(rng, kind, n))
        delta = shared**0.5 * rng.normal(size=n)[clusters] + (1 - shared) ** 0.5 * rng.normal(size=clusters.size)
        test, plain = clustered_t(delta, clusters), paired_t(delta)
        by_clusters += test.p_value is not None and test.p_value < 0.05
        by_groups += plain.p_value is not None and plain.p_value < 0.05
    record_property(f"by clusters, {kind}, {n}, {shared}", by_clusters / samples)
    record_property(f"by groups, {kind}, {n}, {shared}", by_groups / samples)
    assert by_clusters / samples <= 0.06 + 2.5 * (0.06 * 0.94 / samples) ** 0.5
    assert by_groups / samples > 0.14


def effects_of_size(rng: np.random.Generator, kind: str) -> tuple[float, float]:
    """The size at which the effect is 0, so that its mean over groups is, and the effect of one group more.

    Its standard deviation over groups is 1.
    """
    sizes = sizes_of(rng, kind, 500_000).astype(float)
    middle = float((sizes**2).sum() / sizes.sum())
    return middle, 1 / float(((sizes * (sizes - middle) ** 2).sum() / sizes.sum()) ** 0.5)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("kind", "n", "unflagged"),
    [
        ("a few large ones", 30, 0.001),
        ("a few large ones", 300, 0.06),
        ("geometric", 30, 0.001),
        ("a few large ones", 100, 0.2),
        ("geometric", 100, 0.03),
    ],
)
def test_an_effect_that_goes_with_the_size(kind: str, n: int, unflagged: float, record_property: Record) -> None:
    """Large clusters gain and small ones lose: a sample that lacks the largest errs. Most are flagged, not all."""
    rng, samples = np.random.default_rng(n), repeats(400)
    middle, effect = effects_of_size(rng, kind)
    wrong = flagged = both = 0
    for _ in range(samples):
        sizes = sizes_of(rng, kind, n)
        clusters = np.repeat(np.arange(n), sizes)
        of_clusters = effect * (sizes - middle) + 0.3**0.5 * rng.normal(size=n)
        delta = of_clusters[clusters] + 0.7**0.5 * rng.normal(size=clusters.size)
        p_value = clustered_t(delta, clusters).p_value
        is_wrong = p_value is not None and p_value < 0.05
        is_low = Sample(delta, clusters=clusters).information().is_low
        wrong, flagged, both = wrong + is_wrong, flagged + is_low, both + (is_wrong and not is_low)
    for name, count in {"wrong": wrong, "flagged": flagged, "wrong and unflagged": both}.items():
        record_property(f"{name}, {kind}, {n}", count / samples)
    assert wrong / samples > 0.05
    assert both / samples <= unflagged + 2.5 * (unflagged / samples) ** 0.5


def test_clusters_of_one_size_all_count() -> None:
    delta = np.random.default_rng(4).normal(0, 1, 150)
    found = Sample(delta, clusters=np.repeat(np.arange(30), 5)).information()
    assert (found.n, found.n_nonzero, found.is_low) == (30, 30, False)
    assert [clusters_that_count(n, np.full(n, 1 / 3)) for n in (0, 1, 20, 24, 25, 30)] == [0, 1, 20, 24, 25, 30]
    sizes = np.repeat([40.0, 1.0], [5, 95])
    assert clusters_that_count(100, sizes) == int(295**2 / (5 * 1600 + 95))
    clusters = np.repeat(np.arange(100), sizes.astype(int))
    low = Sample(np.random.default_rng(5).normal(0, 1, 295), clusters=clusters).information()
    assert (low.n, low.n_nonzero, low.is_low) == (100, 10, True)

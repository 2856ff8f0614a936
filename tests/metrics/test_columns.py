"""Sums by columns against a loop over ranks: equal to the bit, however wide the matrix is."""

import numpy as np
import pytest

from ndcg_tracker.metrics.columns import discounted_sums, prefix_sums, weighted_sums


def sequential(terms: list[float]) -> float:
    total = 0.0
    for term in terms:
        total += term
    return total


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 300])
@pytest.mark.parametrize("width", [1, 7, 8, 9, 130, 1000])
def test_terms_are_added_one_after_the_other(n: int, width: int) -> None:
    terms = np.random.default_rng(n * width).random((width, n))
    cutoffs = [1, 8, 10, 100, 2000]
    expected = [[sequential(column[:cutoff]) for column in terms.T.tolist()] for cutoff in cutoffs]
    assert prefix_sums(terms, cutoffs).tolist() == expected


def random_groups(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = np.concatenate([rng.integers(0, 30, 700), rng.integers(0, 3000, 9)])
    starts = np.cumsum(lengths) - lengths
    return starts, lengths, rng.random(int(lengths.sum()))


def test_discounted_sums_of_groups_of_all_lengths() -> None:
    starts, lengths, gains = random_groups(1)
    weights = np.concatenate([[0.0], 1 / np.log2(np.arange(2, 3002))])
    found = discounted_sums(starts, lengths, lambda rows: gains.take(rows, mode="clip"), weights, [3, 3000])
    for cutoff, sums in zip((3, 3000), found, strict=True):
        expected = [
            sequential((gains[start : start + size] * weights[1 : size + 1])[:cutoff].tolist())
            for start, size in zip(starts.tolist(), lengths.tolist(), strict=True)
        ]
        assert sums.tolist() == expected


def test_weighted_sums_of_groups_of_all_lengths() -> None:
    starts, lengths, gains = random_groups(2)
    ranks = np.random.default_rng(3).integers(1, 9, gains.size)
    weights = [np.arange(10.0), np.linspace(1, 0.1, 10)]
    found = weighted_sums(
        starts,
        lengths,
        lambda rows: gains.take(rows, mode="clip"),
        lambda rows, groups: ranks.take(rows, mode="clip"),
        weights,
    )
    for weight, sums in zip(weights, found, strict=True):
        expected = [
            sequential((gains[start : start + size] * weight[ranks[start : start + size]]).tolist())
            for start, size in zip(starts.tolist(), lengths.tolist(), strict=True)
        ]
        assert sums.tolist() == expected

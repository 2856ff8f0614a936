"""Sums by columns against a loop over ranks: equal to the bit, however wide the matrix is."""

import numpy as np
import pytest

from ndcg_tracker.metrics.kernel.cumulated import discounted_sums, prefix_sums, weighted_sums


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


LEVELS = np.random.default_rng(9).random(200)


def random_groups(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = np.concatenate([rng.integers(0, 30, 700), rng.integers(0, 3000, 9), np.full(40, 12), [1, 0]])
    starts = np.cumsum(lengths) - lengths
    return starts, lengths, rng.integers(0, LEVELS.size, int(lengths.sum())).astype(np.uint8)


def test_discounted_sums_of_groups_of_all_lengths() -> None:
    starts, lengths, codes = random_groups(1)
    weights = np.concatenate([[0.0], 1 / np.log2(np.arange(2, 3002))])
    found = discounted_sums(starts, lengths, codes, LEVELS, weights, [3, 3000])
    for cutoff, sums in zip((3, 3000), found, strict=True):
        expected = [
            sequential((LEVELS[codes[start : start + size]] * weights[1 : size + 1])[:cutoff].tolist())
            for start, size in zip(starts.tolist(), lengths.tolist(), strict=True)
        ]
        assert sums.tolist() == expected


def test_weighted_sums_of_groups_of_all_lengths() -> None:
    starts, lengths, codes = random_groups(2)
    rng = np.random.default_rng(3)
    ranks, before = rng.integers(1, 9, codes.size), rng.integers(0, 1000, lengths.size)
    places = ranks + np.repeat(before, lengths)
    weights = [np.arange(10.0), np.linspace(1, 0.1, 10)]
    found = weighted_sums(starts, lengths, codes, LEVELS, places, before, weights)
    for weight, sums in zip(weights, found, strict=True):
        expected = [
            sequential((LEVELS[codes[start : start + size]] * weight[ranks[start : start + size]]).tolist())
            for start, size in zip(starts.tolist(), lengths.tolist(), strict=True)
        ]
        assert sums.tolist() == expected

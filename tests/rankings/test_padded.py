"""Groups as the rows of padded matrices: values that are taken out and put back are in their old places."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.sorting import group_matrices, similar_groups, windows


@given(st.lists(st.integers(0, 40), max_size=60))
def test_every_row_is_taken_and_put_once(lengths: list[int]) -> None:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    values = np.random.default_rng(0).permutation(int(offsets[-1]))
    found, seen = np.full(values.size, -1), 0
    for block in group_matrices(offsets):
        taken = block.taken(values)
        assert taken.shape == block.shape
        for start, size, row in zip(block.starts.ravel(), block.sizes.ravel(), taken, strict=True):
            assert row[:size].tolist() == values[start : start + size].tolist()
        inside = taken.copy()
        block.fill_behind(inside, -7)
        assert (inside != -7).sum() == block.sizes.sum()
        block.put(inside, found)
        seen += len(taken)
    assert found.tolist() == values.tolist()
    assert seen == np.count_nonzero(lengths)


@given(st.lists(st.integers(0, 300), max_size=60), st.integers(1, 2000))
def test_groups_that_stand_together_are_of_similar_length(lengths: list[int], n_places: int) -> None:
    found = list(similar_groups(np.array(lengths, dtype=np.int64), n_places))
    assert sorted(group for groups in found for group in groups.tolist()) == np.flatnonzero(lengths).tolist()
    for groups in found:
        of_groups = [lengths[group] for group in groups]
        assert of_groups == sorted(of_groups)
        assert of_groups[-1] <= of_groups[0] * 5 // 4
        assert groups.size == 1 or groups.size * of_groups[-1] <= n_places


def test_windows_of_values_that_are_apart_are_refused() -> None:
    assert windows(np.arange(5)[1:], 4).tolist() == [[1, 2, 3, 4]]
    with pytest.raises(ValueError, match="contiguous"):
        windows(np.arange(10)[::2], 2)

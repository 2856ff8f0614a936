"""Sorting within groups against plain Python and NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.grouping import group_codes, is_descending
from ndcg_tracker.rankings.sorting import ascending_order, descending_order, repeats_before, repeats_within_groups

near = [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 1.0 + 1e-13]
values_of_groups = st.lists(
    st.lists(st.sampled_from([0.0, -0.0, 2.0, -5.0, 1e300, -1e300, 5e-324, *near]), max_size=12), max_size=12
)


@given(values_of_groups)
def test_descending_order_is_exact_and_stable(values: list[list[float]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in values])]).astype(np.int64)
    flat = np.array([value for group in values for value in group], dtype=np.float64)
    expected = [
        int(offsets[group]) + place
        for group, numbers in enumerate(values)
        for place in sorted(range(len(numbers)), key=lambda place, numbers=numbers: -numbers[place])
    ]
    assert descending_order(flat, offsets).tolist() == expected
    assert is_descending(flat[expected], offsets)
    assert is_descending(flat, offsets) == all(group == sorted(group, reverse=True) for group in values)


def test_groups_of_very_different_sizes() -> None:
    rng = np.random.default_rng(3)
    sizes = np.concatenate([rng.integers(0, 40, 500), [300_000, 1, 70_000]])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    values = rng.integers(0, 50, int(offsets[-1])).astype(float)
    order = descending_order(values, offsets)
    np.testing.assert_array_equal(order, np.lexsort((-values, group_codes(offsets))))


def test_scores_that_differ_in_their_last_bits_only() -> None:
    rng = np.random.default_rng(4)
    values = 1.0 + rng.integers(0, 1000, 5000) * 2.0**-52
    offsets = np.array([0, 1000, 1000, 1700, 5000])
    order = descending_order(values, offsets)
    np.testing.assert_array_equal(order, np.lexsort((-values, group_codes(offsets))))


def test_values_that_lie_apart_in_memory_are_sorted_too() -> None:
    values = np.random.default_rng(5).random((500, 3))[:, 1]
    offsets = np.array([0, 100, 180, 500])
    np.testing.assert_array_equal(descending_order(values, offsets), np.lexsort((-values, group_codes(offsets))))


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, 3, 2**64 - 2, 2**64 - 1]), max_size=5), max_size=9))
def test_repeats_are_those_within_a_group(hashes: list[list[int]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in hashes])]).astype(np.int64)
    flat = np.array([value for group in hashes for value in group], dtype=np.uint64)
    assert repeats_within_groups(flat, offsets) == any(len(set(group)) < len(group) for group in hashes)


@given(st.lists(st.lists(st.integers(0, 2**63), unique=True, max_size=14), max_size=9))
def test_numbers_in_ascending_order(numbers: list[list[int]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in numbers])]).astype(np.int64)
    flat = np.array([number for group in numbers for number in group], dtype=np.uint64)
    order = ascending_order(flat, offsets)
    assert flat[order].tolist() == [number for group in numbers for number in sorted(group)]


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=9))
def test_repeats_of_the_value_before(values: list[list[int]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in values])]).astype(np.int64)
    expected = [place > 0 and group[place] == group[place - 1] for group in values for place in range(len(group))]
    flat = np.array([value for group in values for value in group], dtype=np.int64)
    assert repeats_before(flat, offsets).tolist() == expected

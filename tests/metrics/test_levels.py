"""Levels of grades and their counts against plain counting."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.metrics.kernel.graded_list import GradeLevels, level_counts

SOME = [0.0, -0.0, 1.0, 4.0, 31.0, 33.0, 255.0]
OTHERS = [256.0, -1.0, 0.5, 1e300]


@given(st.lists(st.sampled_from(SOME)) | st.lists(st.sampled_from([*SOME, *OTHERS])))
def test_levels_are_the_distinct_grades(grades: list[float]) -> None:
    found = GradeLevels.of(np.array(grades, dtype=np.float64))
    assert found.levels.tolist() == sorted(set(grades))
    assert found.levels[found.codes].tolist() == grades


def test_more_levels_than_a_byte_has() -> None:
    grades = np.random.default_rng(1).permutation(np.arange(1000) / 8)
    found = GradeLevels.of(grades)
    np.testing.assert_array_equal(found.levels[found.codes], grades)


@pytest.mark.parametrize("n_levels", [1, 2, 5, 6, 9, 10])
@pytest.mark.parametrize("longest", [4, 3000, 70_000])
def test_counts_per_group_and_level(n_levels: int, longest: int) -> None:
    rng = np.random.default_rng(n_levels)
    lengths = np.concatenate([[0], rng.integers(0, 9, 50), [longest, 0]])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    codes = rng.integers(0, n_levels, int(offsets[-1])).astype(np.uint8)
    expected = [np.bincount(codes[low:high], minlength=n_levels) for low, high in itertools.pairwise(offsets)]
    np.testing.assert_array_equal(level_counts(codes, offsets, n_levels), np.array(expected).T)


@pytest.mark.parametrize("grade", [-1.0, -0.5, 0.5, 255.5, 256.0, 512.0, 2.0**32, 2.0**64, 1e300, -1e300, -256.0])
def test_a_grade_that_no_byte_can_hold_is_a_level_of_its_own(grade: float) -> None:
    grades = np.array([3.0, grade, 0.0, 255.0, grade])
    found = GradeLevels.of(grades)
    assert found.levels.tolist() == sorted({3.0, grade, 0.0, 255.0})
    assert found.levels[found.codes].tolist() == grades.tolist()

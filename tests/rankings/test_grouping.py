"""Grouping and ordering against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings import Keys
from ndcg_tracker.rankings.grouping import group_codes, grouped, is_descending
from ndcg_tracker.rankings.sorting import descending_order

lists = st.lists(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, -5.0, 1e300]), max_size=12), max_size=12)


@given(st.lists(st.sampled_from(["q1", "q2", "q10", ""])))
def test_rows_are_brought_together_in_their_order(groups: list[str]) -> None:
    grouping = grouped(Keys.from_strings(groups))
    rows = list(range(len(groups))) if grouping.rows is None else grouping.rows.tolist()
    names = grouping.keys.to_list()
    assert names == list(dict.fromkeys(groups))
    seen = {
        name: rows[start:stop]
        for name, start, stop in zip(names, grouping.offsets[:-1], grouping.offsets[1:], strict=True)
    }
    assert seen == {name: [row for row, group in enumerate(groups) if group == name] for name in names}
    assert [names[code] for code in group_codes(grouping.offsets)] == [groups[row] for row in rows]


@given(lists)
def test_descending_order_is_stable(values: list[list[float]]) -> None:
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

"""Grouping and ordering against plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.grouping import group_codes, group_ranges, grouped, is_descending
from ndcg_tracker.rankings.keys import Keys


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


@given(st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=6))
def test_values_that_never_rise_within_a_group(values: list[list[int]]) -> None:
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in values])]).astype(np.int64)
    flat = np.array([value for group in values for value in group], dtype=np.float64)
    assert is_descending(flat, offsets) == all(group == sorted(group, reverse=True) for group in values)


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12))
def test_blocks_are_neighbours_and_hold_every_group_once(lengths: list[int], n_rows: int) -> None:
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    blocks = list(group_ranges(offsets, n_rows))
    assert [group for first, last in blocks for group in range(first, last)] == list(range(len(lengths)))
    for first, last in blocks:
        assert offsets[last] - offsets[first] <= n_rows or last == first + 1

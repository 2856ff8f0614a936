"""Ids in byte order within runs against Python's order of bytes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.sorting import id_order

some_id = st.text("ab1é", max_size=20) | st.integers(0, 30).map(lambda number: f"a-long-common-prefix-{number}")


@given(st.lists(st.lists(some_id, unique=True, max_size=12), max_size=6))
def test_runs_are_in_byte_order(runs: list[list[str]]) -> None:
    flat = [key for run in runs for key in run]
    offsets = np.cumsum([0, *map(len, runs)])
    found = id_order(Keys.from_strings(flat), np.arange(len(flat)), offsets)
    assert [flat[entry] for entry in found] == [key for run in runs for key in sorted(run, key=str.encode)]


def test_many_runs_of_all_lengths() -> None:
    rng = np.random.default_rng(1)
    runs = [rng.permutation(2 * size)[:size] for size in rng.integers(1, 60, 400)]
    rows = np.concatenate(runs)
    keys = Keys.from_numbers(np.arange(200) + 999_999_950)  # of nine and of ten digits
    offsets = np.cumsum([0, *map(len, runs)])
    names = keys.to_list()
    found = rows[id_order(keys, rows, offsets)]
    assert found.tolist() == [row for run in runs for row in sorted(run.tolist(), key=lambda row: names[row])]

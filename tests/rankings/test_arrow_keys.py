"""Ids as Arrow arrays of text and back."""

import subprocess
import sys

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.rankings.keys import Keys, arrow_texts, keys_of_arrow

IDS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=6)


@given(IDS, st.integers(0, 6), st.sampled_from([pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]))
def test_ids_of_any_part_of_an_array(ids: list[str], start: int, kind: pa.DataType) -> None:
    array = pa.array([one.encode() for one in ids], pa.binary()).cast(kind)
    keys = keys_of_arrow(array.slice(start))
    assert keys.to_list() == ids[start:]
    assert (keys.offsets[0], keys.offsets[-1]) == (0, keys.data.size)


@given(IDS)
def test_ids_go_to_arrow_and_back(ids: list[str]) -> None:
    keys = Keys.from_strings(ids)
    array = arrow_texts(keys.data, keys.offsets)
    array.validate(full=True)
    assert (array.type, array.to_pylist()) == (pa.large_string(), ids)
    assert keys_of_arrow(array).to_list() == ids


@pytest.mark.parametrize("binary", [False, True])
def test_pandas_is_not_imported(binary: bool) -> None:
    program = (
        "import sys, numpy as np; from ndcg_tracker.rankings.keys import arrow_texts, keys_of_arrow; "
        f"keys_of_arrow(arrow_texts(b'ab', np.array([0, 1, 2]), binary={binary})); print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"

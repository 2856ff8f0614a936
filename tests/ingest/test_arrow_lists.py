"""List columns: one row per group, with arrays of items, scores and labels."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts
from refused import OR_ALLOW
from stream_outcomes import joined, streamed, whole
from thorough import examples

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.ingest.frames import read_frame, read_label_frame
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run

LISTS: dict[str, Any] = {
    "group": ["q", "r", "s"],
    "item": [["a", "b"], ["c"], []],
    "score": [[1.0, 2.0], [3.0], []],
    "label": [[0, 1], [2], []],
}
EXPECTED = (
    [("q", "b", 2.0), ("q", "a", 1.0), ("r", "c", 3.0)],
    [("q", "a", 0.0), ("q", "b", 1.0), ("r", "c", 2.0)],
    None,
)


def arrays(table: dict[str, Any]) -> dict[str, Any]:
    """Return the lists of a table as NumPy arrays, an empty one as NumPy makes it."""
    return {
        name: values if name == "group" else [np.array(value) for value in values] for name, values in table.items()
    }


def parquet(table: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(table), buffer, **options)
    return buffer.getvalue()


def json_lines(table: dict[str, Any]) -> bytes:
    rows = zip(*table.values(), strict=True)
    return "\n".join(json.dumps(dict(zip(table, row, strict=True))) for row in rows).encode()


@pytest.mark.parametrize(
    "frame",
    [
        LISTS,
        arrays(LISTS),
        pd.DataFrame(LISTS),
        pd.DataFrame(arrays(LISTS)),
        pa.table(LISTS),
        pa.concat_tables([pa.table(LISTS).slice(0, 1), pa.table(LISTS).slice(1)]),
        pa.table(LISTS | {"item": pa.array(LISTS["item"], pa.large_list(pa.large_string()))}),
        pa.table(LISTS | {"item": pa.array(LISTS["item"], pa.list_(pa.dictionary(pa.int8(), pa.string())))}),
        pa.table(LISTS | {"score": pa.array(LISTS["score"], pa.list_(pa.float32()))}),
        pl.DataFrame(LISTS),
    ],
)
def test_every_kind_of_frame_gives_the_same_table(frame: object) -> None:
    assert run_parts(read_frame(frame)) == EXPECTED
    assert listed(read_label_frame(frame)) == EXPECTED[1]


def test_parquet_and_json_lines_give_the_same_table() -> None:
    for content in (parquet(LISTS), parquet(LISTS, row_group_size=1), json_lines(LISTS)):
        assert run_parts(read_run("-", stdin=io.BytesIO(content))) == EXPECTED
        assert listed(read_labels("-", stdin=io.BytesIO(content))) == EXPECTED[1]


def test_arrays_of_one_size_are_lists_too() -> None:
    items = pa.FixedSizeListArray.from_arrays(pa.array(["a", "b", "c", "d"]), 2)
    scores = pa.FixedSizeListArray.from_arrays(pa.array([1.0, 2.0, 4.0, 3.0]), 2)
    expected = [("q", "b", 2.0), ("q", "a", 1.0), ("r", "c", 4.0), ("r", "d", 3.0)]
    assert listed(read_frame(pa.table({"group": ["q", "r"], "item": items, "score": scores})).ranking) == expected
    matrix = {"group": ["q", "r"], "item": np.array([["a", "b"], ["c", "d"]]), "score": np.array([[1, 2], [4, 3]])}
    assert listed(read_frame(matrix).ranking) == expected


def test_without_items_elements_are_numbered_and_one_weight_is_for_all() -> None:
    table = {"group": [7, 8], "score": [[1, 3], [2]], "label": [[1, 0], [1]], "weight": [2.0, 3.0]}
    expected = (
        [("7", "2", 3.0), ("7", "1", 1.0), ("8", "1", 2.0)],
        [("7", "1", 1.0), ("7", "2", 0.0), ("8", "1", 1.0)],
        (["7", "8"], [2.0, 3.0], [False, False]),
    )
    assert run_parts(read_frame(pa.table(table))) == expected
    assert run_parts(read_run("-", reader="jsonl", stdin=io.BytesIO(json_lines(table)))) == expected
    assert run_parts(read_run("-", stdin=io.BytesIO(parquet(table)))) == expected


def test_a_list_of_numbers_that_is_null_is_as_many_nulls() -> None:
    table = LISTS | {"label": [None, [2], None]}
    expected = (EXPECTED[0], [("r", "c", 2.0)], None)
    assert run_parts(read_frame(pa.table(table))) == expected
    assert run_parts(read_frame(pd.DataFrame(table))) == expected
    assert run_parts(read_run("-", reader="jsonl", stdin=io.BytesIO(json_lines(table)))) == expected


def refusals(table: dict[str, Any]) -> tuple[str, str, str]:
    """Return what is said of a table as a frame, as Parquet and as JSON lines."""
    said = []
    for read in (
        lambda: read_frame(pa.table(table)),
        lambda: read_run("-", stdin=io.BytesIO(parquet(table))),
        lambda: read_run("-", reader="jsonl", stdin=io.BytesIO(json_lines(table))),
    ):
        with pytest.raises(InputError) as caught:
            read()
        said.append(str(caught.value))
    return said[0], said[1], said[2]


UNEQUAL = (
    "the lists of group 'r' differ in length ('item' 1, 'score' 2, 'label' 1); give one value per item in each list"
)


@pytest.mark.parametrize(
    ("changed", "of_rows", "of_lines"),
    [
        ({"score": [[1, 2], [3, 4], []]}, f"row 2: {UNEQUAL}", f"2: {UNEQUAL}"),
        (
            {"score": [1, 2, 3]},
            "'score' holds single values, but 'item' holds lists; give lists in both",
            "1: 'score' holds single values, but 'item' holds lists; give lists in both",
        ),
        (
            {"item": ["a", "b", "c"]},
            "'item' holds single values, but 'score' holds lists; give lists in both",
            "1: 'item' holds single values, but 'score' holds lists; give lists in both",
        ),
        (
            {"item": [["a", "a"], ["c"], []]},
            "row 1, element 2: item 'a' of group 'q' is in row 1, element 1 already; keep one of the two" + OR_ALLOW,
            "1: item 'a' of group 'q' is in line 1 already; keep one of the two" + OR_ALLOW,
        ),
        (
            {"item": [["a", "b"], [None], []]},
            "row 2, element 1: the item id is empty; every row needs one",
            "2: the item id is empty; every row needs one",
        ),
        (
            {"score": [["1", "2"], ["3"], []]},
            "column 'score' holds string; the score column needs numbers: convert it",
            "1: the score is text; write a number, or null for none",
        ),
        (
            {"group": ["q", None, "s"]},
            "row 2: the group id is empty; every row needs one",
            "2: the group id is empty; every row needs one",
        ),
        (
            {"group": [["q"], ["r"], ["s"]]},
            "column 'group' holds list<element: string>; ids are text or whole numbers: write them as text",
            "1: the group id is an array; ids are text or whole numbers",
        ),
    ],
)
def test_every_refusal_names_the_row_and_the_group(changed: dict[str, Any], of_rows: str, of_lines: str) -> None:
    frame, file, lines = refusals(LISTS | changed)
    assert frame.replace("list<item:", "list<element:") == of_rows
    assert file == f"<stdin>: {of_rows}"
    assert lines == f"<stdin>:{of_lines}"


def test_groups_may_be_bytes() -> None:
    table = pa.table(LISTS | {"group": [b"q", b"r", b"s"]})
    assert run_parts(read_frame(table)) == EXPECTED
    with pytest.raises(InputError) as caught:
        read_frame(pa.table(LISTS | {"group": [b"q", b"r", b"s"], "score": [[1, 2], [3, 4], []]}))
    assert str(caught.value) == f"row 2: {UNEQUAL}"


def test_a_line_without_lists_is_a_row_whichever_path_reads_it() -> None:
    lines = b'{"group":"q","score":[3],"weight":1}\n{"group":"q","weight":4}\n{"group":"r","score":[2],"weight":1}\n'
    expected = [("q", "1", 3.0), ("r", "1", 2.0)], None, (["q", "r"], [2.5, 1.0], [True, False])
    assert whole(lines, "jsonl") == expected
    assert streamed(lines, "jsonl", 90, fast=True) == expected


def test_nan_and_infinity_are_refused_with_their_element() -> None:
    for number in (float("nan"), float("inf")):
        table = LISTS | {"score": [[1.0, 2.0], [number], []]}
        expected = f"row 2, element 1: the score is {number}; use a finite number, or null for none"
        of_frame = expected
        if number != number:  # in a frame it may mean that the item was not retrieved
            of_frame = (
                "row 2, element 1: the score is nan; fix the scores, or, if NaN means not retrieved, "
                "give null_scores='not_retrieved'"
            )
        with pytest.raises(InputError) as caught:
            read_frame(pa.table(table))
        assert str(caught.value) == of_frame
        with (
            pytest.raises(InputError) as caught,
            stream_run("-", stdin=io.BytesIO(parquet(table)), block_rows=1) as run,
        ):
            list(run)
        assert str(caught.value) == f"<stdin>: {expected}"


def test_a_null_list_of_items_beside_scores_is_refused() -> None:
    frame, file, _ = refusals(LISTS | {"item": [["a", "b"], None, []]})
    unequal = "the lists of group 'r' differ in length ('item' null, 'score' 1, 'label' 1)"
    assert frame == f"row 2: {unequal}; give one value per item in each list"
    assert file == f"<stdin>: {frame}"


def test_columns_can_be_named() -> None:
    table = {"user": [1], "recommended": [["a", "b"]], "p": [[0.1, 0.9]], "liked": [[1, 0]]}
    columns = Columns(group="user", item="recommended", score="p", label="liked")
    assert listed(read_frame(pd.DataFrame(table), columns).ranking) == [("1", "b", 0.9), ("1", "a", 0.1)]


ids = st.text("abcé𝄞, ", min_size=1, max_size=3)
numbers = st.integers(-3, 3).map(float) | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def list_tables(draw: st.DrawFn) -> dict[str, list[Any]]:
    """Return list columns of groups, some without items, a group perhaps in several rows; at least one score."""
    table: dict[str, list[Any]] = {"group": [], "item": [], "score": [], "label": []}
    for group in draw(st.lists(ids, min_size=1, max_size=5, unique=True)):
        items = draw(st.lists(ids, max_size=5, unique=True))
        cut = draw(st.integers(0, len(items)))
        for part in (items[:cut], items[cut:]):
            table["group"].append(group)
            table["item"].append(part)
            table["score"].append([draw(numbers) for _ in part])
            table["label"].append([draw(st.none() | numbers) for _ in part])
    table["group"].append("last")
    table["item"].append(["x"])
    table["score"].append([1.0])
    table["label"].append([2.0])
    return table


def flat(table: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the same table with one row per item."""
    groups = [group for group, items in zip(table["group"], table["item"], strict=True) for _ in items]
    columns = {name: [value for values in table[name] for value in values] for name in ("item", "score", "label")}
    return {"group": groups, **columns}


@settings(max_examples=examples(200), deadline=None)
@given(list_tables())
def test_lists_say_what_one_row_per_item_says(table: dict[str, list[Any]]) -> None:
    expected = run_parts(read_frame(flat(table)))
    assert run_parts(read_frame(table)) == expected
    assert run_parts(read_frame(pd.DataFrame(table))) == expected
    assert run_parts(read_frame(pa.table(table))) == expected
    assert run_parts(read_run("-", stdin=io.BytesIO(parquet(table)))) == expected
    assert whole(json_lines(table), "jsonl") == expected


@settings(max_examples=examples(200), deadline=None)
@given(list_tables(), st.integers(1, 200), st.booleans())
def test_a_stream_of_json_lines_is_the_run(table: dict[str, list[Any]], n_bytes: int, fast: bool) -> None:
    content = json_lines(table)
    assert streamed(content, "jsonl", n_bytes, fast=fast) == whole(content, "jsonl")


@settings(max_examples=examples(100), deadline=None)
@given(list_tables(), st.integers(1, 9), st.integers(1, 9))
def test_a_stream_of_parquet_is_the_run(table: dict[str, list[Any]], n_rows: int, row_group: int) -> None:
    content = parquet(table, row_group_size=row_group)
    with stream_run("-", stdin=io.BytesIO(content), block_rows=n_rows) as stream:
        assert joined(list(stream)) == whole(content, "parquet")

from __future__ import annotations

import contextlib
import gzip
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_outcomes import listed, run_parts
from refused import OR_ALLOW, refusal_of
from thorough import LONG

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import Columns, ColumnWarning
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run
from ndcg_tracker.words.notes import Note

TABLE = {"group": ["007", "007", "r"], "item": ["NA", "b", "NA"], "score": [1.0, 2.0, None], "label": [1, None, 0]}
ROWS = [("007", "b", 2.0), ("007", "NA", 1.0)]
LABELS = [("007", "NA", 1.0), ("r", "NA", 0.0)]


def parquet(table: Any, **options: Any) -> bytes:
    buffer = io.BytesIO()
    pq.write_table(pa.table(table), buffer, **options)
    return buffer.getvalue()


def written(folder: Path, content: bytes, name: str = "a.parquet") -> str:
    path = folder / name
    path.write_bytes(content)
    return str(path)


def refusal(path: str, **options: Any) -> str:
    return refusal_of(InputError, read_run, path, **options)


def test_a_table_comes_back_from_a_file_from_gzip_and_from_standard_input(tmp_path: Path) -> None:
    content = parquet(TABLE)
    for table in (
        read_run(written(tmp_path, content)),
        read_run(written(tmp_path, gzip.compress(content), "a.parquet.gz")),
        read_run("-", stdin=io.BytesIO(content)),
    ):
        assert run_parts(table) == (ROWS, LABELS, None)
    assert listed(read_labels(written(tmp_path, content))) == LABELS


@pytest.mark.parametrize(
    "kind",
    [
        pa.string(),
        pa.large_string(),
        pa.binary(),
        pa.dictionary(pa.int8(), pa.string()),
        pa.int64(),
        pa.uint8(),
        pa.binary(2),
    ],
)
def test_ids_may_be_text_or_whole_numbers(tmp_path: Path, kind: pa.DataType) -> None:
    ids = [10, 10, 20] if pa.types.is_integer(kind) else ["10", "10", "20"]
    table = {"group": pa.array(ids, type=kind), "score": pa.array([1, 2, 3], type=pa.int8())}
    expected = [("10", "2", 2.0), ("10", "1", 1.0), ("20", "1", 3.0)]
    assert listed(read_run(written(tmp_path, parquet(table))).ranking) == expected


@pytest.mark.parametrize("block_rows", [None, 2])
def test_ids_that_a_join_made_floats_are_told_once(tmp_path: Path, block_rows: int | None) -> None:
    table = {"group": [7.0, 7.0, 8.0, 8.0, 9.0], "item": [1, 2, 1, 2, 1], "score": [1, 2, 3, 4, 5]}
    path = written(tmp_path, parquet(table, row_group_size=2))
    with pytest.warns(ColumnWarning) as caught, stream_run(path, block_rows=block_rows) as blocks:
        keys = [key for block in blocks for key in block.ranking.group_keys.to_list()]
    assert keys == ["7", "8", "9"]
    assert [str(one.message).partition(";")[0] for one in caught] == [
        "the ids of the groups came as fractions and are all whole numbers: 7.0 is read as 7"
    ]


@pytest.mark.parametrize("block_rows", [None, 2])
def test_lists_without_scores_are_read_as_ranked_and_as_relevant_items(tmp_path: Path, block_rows: int | None) -> None:
    lists = {"group": ["q", "r", "s"], "item": [["b", "a"], ["c"], []]}
    path = written(tmp_path, parquet(lists, row_group_size=1))
    with stream_run(path, block_rows=block_rows) as blocks:
        tables = list(blocks)
    rows = [row for table in tables for row in listed(table.ranking) or []]
    assert rows == [("q", "b", -1.0), ("q", "a", -2.0), ("r", "c", -1.0)]
    assert all(table.notes == (Note("order_of_lists"),) for table in tables)
    with pytest.warns(ColumnWarning, match="lists of items without labels are read as relevant items, of grade 1"):
        assert sorted(listed(read_labels(path)) or []) == [("q", "a", 1.0), ("q", "b", 1.0), ("r", "c", 1.0)]
    assert listed(read_labels(path, columns=Columns(label="=1"))) == [("q", "b", 1.0), ("q", "a", 1.0), ("r", "c", 1.0)]
    twice = written(tmp_path, parquet({"group": ["q", "q"], "item": [["a"], ["b"]]}, row_group_size=1))
    told = f"{twice}: row 2: group 'q' has a list in row 1 already; give one list per group, or scores"
    assert refusal(twice) == told
    unnamed = written(tmp_path, parquet({"group": ["q"], "item": [["a"]], "similarity": [[0.5]]}))
    assert refusal(unnamed).endswith("name the score column with score='similarity'")
    assert refusal_of(InputError, read_labels, unnamed).endswith(
        "scores without labels are a run: are the run and the labels swapped?"
    )


def test_rows_are_counted_over_row_groups(tmp_path: Path) -> None:
    table = {"group": ["q"] * 50, "item": [*map(str, range(49)), "7"], "score": list(range(50))}
    path = written(tmp_path, parquet(table, row_group_size=7))
    expected = f"{path}: row 50: item '7' of group 'q' is in row 8 already; keep one of the two" + OR_ALLOW
    assert refusal(path) == expected


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"score": [1.0, float("nan"), None]}, "row 2: the score is nan; use a finite number, or null for none"),
        ({"score": [1.0, None, np.inf]}, "row 3: the score is inf; use a finite number, or null for none"),
        ({"label": [None, np.inf, 1]}, "row 2: the label is inf; use a finite number, or null for none"),
        ({"group": ["q", None, "r"]}, "row 2: the group id is empty; every row needs one"),
        ({"group": ["q", "q", ""]}, "row 3: the group id is empty; every row needs one"),
        ({"item": ["a", "b", None]}, "row 3: the item id is empty; every row needs one"),
        ({"item": ["a", "b", "c" * 2001]}, "row 3: the item id has 2001 bytes; shorten it to 2000 or fewer"),
        ({"item": ["a", "b\0", "c"]}, "row 2: the item id has a NUL byte; write the file again without it"),
        ({"item": pa.array([b"a", b"b", b"\xff"])}, "row 3: byte 0xff is not UTF-8; write ids as UTF-8"),
        (
            {"group": [1.0, 1.0, 2.5]},
            "row 3: 'group' holds 2.5; ids are text or whole numbers; convert it",
        ),
        (
            {"group": [[1], [1], [2]]},
            "column 'group' holds list<element: int64>; ids are text or whole numbers: write them as text",
        ),
        ({"score": ["1", "2", "3"]}, "column 'score' holds string; the score column needs numbers: convert it"),
        ({"score": [True, True, False]}, "column 'score' holds bool; the score column needs numbers: convert it"),
    ],
)
def test_every_refusal_names_the_row_or_the_column(tmp_path: Path, changed: dict[str, Any], what: str) -> None:
    path = written(tmp_path, parquet(TABLE | changed))
    assert refusal(path) == f"{path}: {what}"


def test_text_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    broken = pa.array([b"ok", b"\xc3", b"x"]).view(pa.string())
    path = written(tmp_path, parquet(TABLE | {"item": broken}))
    assert refusal(path) == f"{path}: row 2: byte 0xc3 is not UTF-8; write ids as UTF-8"


def test_columns_are_named_and_missing_ones_listed(tmp_path: Path) -> None:
    path = written(tmp_path, parquet({"query": [1, 1], "bm25": [1, 2], "a.b": ["x", "y"]}))
    table = read_run(path, columns=Columns(group="query", score="bm25", item="a.b"))
    assert listed(table.ranking) == [("1", "y", 2.0), ("1", "x", 1.0)]
    expected = (
        f"{path}: no columns 'group' and 'score'; the columns are 'query', 'bm25', 'a.b': name the group column with "
    )
    assert refusal(path) == expected + "group='query' and the score column with score="


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, parquet({"group": pa.array([], pa.string()), "score": pa.array([], pa.float64())}))
    assert refusal(path) == f"{path}: there are no rows; give at least one"


def test_numbers_of_other_types_become_doubles(tmp_path: Path) -> None:
    scores = pa.array([Decimal(1), Decimal(2), Decimal(3)])
    table = {
        "group": ["q"] * 3,
        "score": scores,
        "label": [True, False, None],
        "weight": pa.array([1, 1, 1], pa.float32()),
    }
    expected = (
        [("q", "3", 3.0), ("q", "2", 2.0), ("q", "1", 1.0)],
        [("q", "1", 1.0), ("q", "2", 0.0)],
        (["q"], [1.0], [False]),
    )
    assert run_parts(read_run(written(tmp_path, parquet(table)))) == expected


CONTENT = parquet(TABLE, write_page_checksum=True)


def test_a_file_cut_at_any_byte_is_refused(tmp_path: Path) -> None:
    for length in range(1, len(CONTENT), 7):
        path = written(tmp_path, CONTENT[:length])
        assert refusal(path).startswith(f"{path}: not a readable Parquet file (")


@settings(deadline=None)
@given(st.integers(0, len(CONTENT) - 1), st.integers(1, 255))
def test_a_changed_byte_gives_rows_or_a_refusal(place: int, change: int) -> None:
    content = CONTENT[:place] + bytes([CONTENT[place] ^ change]) + CONTENT[place + 1 :]
    message = "<stdin>: "
    try:
        read_run("-", reader="parquet", stdin=io.BytesIO(content))
    except InputError as error:
        message = str(error)
    assert message.startswith("<stdin>: ")
    assert "\n" not in message


@pytest.mark.parametrize("kind", [pa.decimal128(12, 3), pa.decimal256(60, 50)])
def test_a_decimal_becomes_the_nearest_double(tmp_path: Path, kind: Any) -> None:
    texts = ["4.927", "3.885", "-8.257", "0.3", None]
    score = pa.array([None if text is None else Decimal(text) for text in texts], kind)
    table = {"group": ["q"] * 5, "item": list("abcde"), "score": score}
    found = listed(read_run(written(tmp_path, parquet(table))).ranking)
    assert found == [("q", "a", 4.927), ("q", "b", 3.885), ("q", "d", 0.3), ("q", "c", -8.257)]


def test_what_the_library_says_of_a_broken_file_has_no_control_characters(tmp_path: Path) -> None:
    content = parquet(TABLE)
    told = []
    for place in range(len(content) - 300, len(content) - 8):
        path = written(tmp_path, content[:place] + b"\x0f" + content[place + 1 :])
        with contextlib.suppress(InputError):
            read_run(path)
            continue
        told.append(refusal(path))
    assert all(text.isprintable() for text in told)
    assert any("don't know what type: \\x0f" in text for text in told)


def test_a_column_that_is_too_short_ends_no_stream_in_silence(tmp_path: Path) -> None:
    content = parquet({"group": list("abcde"), "score": [5.0, 4.0, 3.0, 2.0, 1.0]}, row_group_size=1)
    told = set()
    for place in range(len(content) - 700, len(content) - 8, 1 if LONG else 2):
        path = written(tmp_path, content[:place] + bytes([content[place] ^ 0x2F]) + content[place + 1 :])
        try:
            with stream_run(path, block_rows=1) as stream:
                n_rows = sum(block.ranking.n_items for block in stream)
        except InputError as error:
            told.add(str(error).removeprefix(f"{path}: "))
        else:
            assert n_rows == 5
    assert "has 4 of the 5 rows that it promises; write the file again" in told

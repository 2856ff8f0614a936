"""Records of JSON lines are held without their keys, and come back row by row as they stood."""

import json
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import records
from ndcg_tracker.ingest.records import json_records, opened_records
from ndcg_tracker.ingest.source import Source

cells = (
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=2) | st.lists(st.integers(0, 1), max_size=2)
)


@given(given=st.lists(st.dictionaries(st.sampled_from("kmn"), cells), max_size=20), wanted=st.permutations("kmn"))
def test_rows_are_those_of_the_file(
    tmp_path_factory: pytest.TempPathFactory, given: list[dict[str, object]], wanted: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n\n" for row in given))
    with Source(str(path)) as source:
        found = json_records(source)
        assert found.header == list(dict.fromkeys(key for row in given for key in row))
        names = [name for name in wanted if name in found.header]
        rows = [list(row) for row in found.rows([found.header.index(name) for name in names])]
        assert rows == [[row.get(name) for name in names] for row in given]
        assert [found.places.place(row) for row in range(len(given))] == [
            f"{path}:{2 * row + 1}" for row in range(len(given))
        ]


@pytest.mark.nightly
def test_short_rows_take_little(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"group": "q"}\n' * 200_000)
    tracemalloc.start()
    try:
        with opened_records(str(path), "groups", reader="jsonl") as found:
            assert sum(1 for _ in found.rows([0])) == 200_000
        assert tracemalloc.get_traced_memory()[1] < 200 * 200_000
    finally:
        tracemalloc.stop()


def test_there_is_an_end_to_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_KEYS", 3)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": 1, "b": 2}\n{"c": 3}\n{"d": 4}\n')
    with pytest.raises(InputError) as caught, opened_records(str(path), "groups", reader="jsonl"):
        pass
    assert str(caught.value) == f"{path}:3: more than 3 different keys; use one key per column"


def test_a_large_list_is_refused_before_it_is_unfolded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "_LARGEST_CELL", 2_000_000)
    path = tmp_path / "rows.parquet"
    table = pa.table({"group": ["a", "b", "c"], "device": [[1.5], None, [0.5] * 300_000]})
    pq.write_table(table, path)
    with pytest.raises(InputError) as caught, opened_records(str(path), "groups") as found:
        assert list(found.rows([0, 1])) == []
    assert str(caught.value) == f"{path}: row 3: a list of 2 MB; write one value per row"
    pq.write_table(table.slice(0, 2), path)
    with opened_records(str(path), "groups") as found:
        assert [tuple(row) for row in found.rows([0, 1])] == [("a", [1.5]), ("b", None)]

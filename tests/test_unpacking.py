"""Parquet files that are small and would not stay so, and honest ones that look as if they would grow."""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ndcg_tracker as nt
from ndcg_tracker import unpacking
from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.groups import read_groups, read_texts
from ndcg_tracker.ingest.reading import read_labels, read_run, stream_run
from ndcg_tracker.unpacking import parquet_batches, struct_at

GROWS = (
    "the Parquet data grows to more than 100 times its size; write it again without compression and "
    "dictionaries if you trust it"
)
LONG = "x" * 1000
N_ROWS = 20_000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file may grow to a mebibyte, so that the bombs of these tests are small."""
    monkeypatch.setattr(unpacking, "SURELY_FINE", 1 << 20)


def written(folder: Path, columns: dict[str, Any], **options: Any) -> Path:
    path = folder / "bomb.parquet"
    pq.write_table(pa.table(columns), path, **{"compression": "zstd", **options})
    return path


def columns(**others: Any) -> dict[str, Any]:
    rows = {
        "group": ["q"] * N_ROWS,
        "item": [f"d{row}" for row in range(N_ROWS)],
        "score": [float(row % 7) for row in range(N_ROWS)],
    }
    return rows | others


BOMBS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "ids in a dictionary": (columns(item=[LONG] * N_ROWS), {}),
    "groups in a dictionary, many row groups": (columns(group=[LONG] * N_ROWS), {"row_group_size": 1000}),
    "ids one by one": (columns(item=[LONG] * N_ROWS), {"use_dictionary": False}),
    "pages of the second version": (columns(item=[LONG] * N_ROWS), {"data_page_version": "2.0"}),
    "ids that repeat the one before": (
        columns(item=[LONG] * N_ROWS),
        {"use_dictionary": False, "column_encoding": {"item": "DELTA_BYTE_ARRAY"}},
    ),
    "lists of ids in a dictionary": (
        {"group": ["q"], "item": [[LONG] * N_ROWS], "score": [[0.0] * N_ROWS]},
        {},
    ),
    "numbers in a list": ({"group": ["q"], "item": [["d"]], "score": [[0.0] * 400_000]}, {}),
    "numbers": (
        {"group": pa.array([0] * 400_000), "item": pa.array([0] * 400_000), "score": pa.array([0] * 400_000)},
        {},
    ),
    "fixed-size binary": (columns(item=pa.array([LONG.encode()] * N_ROWS, pa.binary(1000))), {}),
    "fixed-size binary, one by one": (
        columns(item=pa.array([LONG.encode()] * N_ROWS, pa.binary(1000))),
        {"use_dictionary": False},
    ),
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_is_refused_whichever_way_it_is_read(tmp_path: Path, bomb: str) -> None:
    table, options = BOMBS[bomb]
    path = written(tmp_path, table, **options)
    ways = [
        (str(path), lambda: read_run(str(path))),
        (str(path), lambda: streamed(path)),
        ("<stdin>", lambda: read_run("-", reader="parquet", stdin=io.BytesIO(path.read_bytes()))),
    ]
    for name, read in ways:
        with pytest.raises(InputError) as caught:
            read()
        assert str(caught.value) == f"{name}: {GROWS}"


def test_values_of_one_width_in_a_dictionary_are_refused_before_they_are_read(tmp_path: Path) -> None:
    ids = pa.array([LONG.encode()] * N_ROWS, pa.binary(1000))
    path = written(tmp_path, columns(item=ids))
    with pq.ParquetFile(path) as opened:
        opened.iter_batches = lambda *_, **__: pytest.fail("it was read")
        with pytest.raises(unpacking.GrowsError):
            next(parquet_batches(opened, path, None, 100))


def streamed(path: Path) -> None:
    with stream_run(str(path), block_rows=100) as stream:
        for _ in stream:
            pass


def test_labels_groups_and_texts_are_bounded_too(tmp_path: Path) -> None:
    table = {"group": ["q"] * N_ROWS, "item": [LONG] * N_ROWS, "label": [1] * N_ROWS, "text": [LONG] * N_ROWS}
    path = written(tmp_path, table)
    for read in (read_labels, read_groups, read_texts):
        with pytest.raises(InputError) as caught:
            read(str(path))
        assert str(caught.value) == f"{path}: {GROWS}"


def test_an_export_is_bounded_too(tmp_path: Path) -> None:
    with nt.Tracker(f"sqlite:///{tmp_path / 'a.db'}") as tracker:
        tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [1]}, name="bm25", item="item")
        tracker.export_runs(tmp_path / "out")
        items = pq.read_table(tmp_path / "out/items.parquet")
        place = items.column_names.index("item_key")
        field = items.schema.field(place)
        many = pa.concat_tables([items.set_column(place, field, pa.array([LONG], field.type))] * N_ROWS)
        pq.write_table(many.combine_chunks(), tmp_path / "out/items.parquet", compression="zstd")
    with nt.Tracker(f"sqlite:///{tmp_path / 'b.db'}") as tracker, pytest.raises(InputError) as caught:
        tracker.import_runs(tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path / 'out/items.parquet'}: the Parquet data grows to more than 100 times its size; "
        "export the runs again"
    )


@pytest.mark.parametrize("options", [{}, {"row_group_size": 500}, {"use_dictionary": False}])
def test_a_long_text_among_short_ones_is_no_bomb(tmp_path: Path, options: dict[str, Any]) -> None:
    table = columns(item=[LONG, *(f"d{row}" for row in range(1, N_ROWS))], label=[0] * N_ROWS)
    assert read_run(str(written(tmp_path, table, **options))).ranking.n_items == N_ROWS


def test_columns_that_nobody_wants_do_not_count(tmp_path: Path) -> None:
    table = columns(text=[LONG] * N_ROWS, features=[[0.0] * 100] * N_ROWS)
    assert read_run(str(written(tmp_path, table))).ranking.n_items == N_ROWS


def test_headers_of_any_length_are_read(tmp_path: Path) -> None:
    texts = [f"{row:04d}{'é' * 2000}" for row in range(300)]
    path = written(tmp_path, {"group": texts, "score": [1.0] * 300}, data_page_size=5000, use_dictionary=False)
    with pq.ParquetFile(path) as opened:
        n_rows = sum(batch.num_rows for batch in parquet_batches(opened, path, None, 100))
    assert n_rows == 300


@given(st.binary(max_size=200))
def test_what_is_no_struct_ends(content: bytes) -> None:
    try:
        _, end = struct_at(content, 0)
    except (ValueError, IndexError):
        return
    assert 0 < end <= len(content)


def test_structs_within_structs_end() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        struct_at(b"\x1c" * 100_000, 0)
    with pytest.raises(ValueError, match="nested too deeply"):
        struct_at(b"\x19" + b"\x19" * 100_000, 0)

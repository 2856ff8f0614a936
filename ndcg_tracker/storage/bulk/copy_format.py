"""Rows in the binary format of Postgres' COPY, encoded and decoded a whole block at a time.

Source: PostgreSQL documentation, COPY, "Binary Format"; for arrays ``array_send`` (arrayfuncs.c): number of
dimensions, a flag for NULLs, the element type, then size and lower bound of each dimension, then the elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.arrow_ids import arrow_texts
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
_TEXT_OID, _DOUBLE_OID = 25, 701
_NULL = -1
_ARRAY_HEAD = [("size", ">i4"), ("ndim", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("n", ">i4"), ("first", ">i4")]
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">f8")])


def group_rows(dataset_id: int, ids: Index, keys: Keys) -> bytes:
    """Return rows of (id, dataset_id, key)."""
    heads = _records(ids.size, [("id", ids), ("dataset_id", dataset_id)], n_fields=3, tail=[("key", ">i4")])
    heads["key"] = keys.lengths
    return _interleaved(_fixed_width(heads), (keys.data, keys.offsets))


def list_rows(owner_id: int, group_ids: Index, offsets: Index, keys: Keys, numbers: Floats) -> bytes:
    """Return rows of (owner, group, text array, double array); ``offsets`` are those of the lists in ``keys``."""
    lengths = np.diff(offsets)
    key_bytes = np.diff(keys.offsets[offsets]) + 4 * lengths
    heads = _records(group_ids.size, [("owner", owner_id), ("group", group_ids)], n_fields=4, tail=_ARRAY_HEAD)
    _fill_array_head(heads, lengths, key_bytes, _TEXT_OID)
    middle = np.zeros(group_ids.size, dtype=_ARRAY_HEAD)
    _fill_array_head(middle, lengths, 12 * lengths, _DOUBLE_OID)
    first, last = int(offsets[0]), int(offsets[-1])
    elements = np.empty(last - first, dtype=_ELEMENT)
    elements["size"], elements["value"] = 8, numbers[first:last]
    return _interleaved(
        _fixed_width(heads),
        _length_prefixed(keys.slice(first, last), offsets - first),
        _fixed_width(middle),
        (np.frombuffer(elements.tobytes(), dtype=np.uint8), (offsets - first) * _ELEMENT.itemsize),
    )


def result_rows(evaluation_id: int, group_ids: Index, columns: Sequence[Floats | None], reason: str | None) -> bytes:
    """Return rows of (evaluation_id, group_id, doubles..., reason) that have the same columns NULL (None)."""
    given = [(f"column{number}", column) for number, column in enumerate(columns)]
    text = b"" if reason is None else reason.encode()
    tail = [("reason", ">i4"), ("text", f"V{len(text)}")] if text else [("reason", ">i4")]
    records = _records(
        group_ids.size,
        [("evaluation", evaluation_id), ("group", group_ids), *given],
        n_fields=len(given) + 3,
        tail=tail,
    )
    records["reason"] = _NULL if reason is None else len(text)
    if text:
        records["text"] = np.void(text)
    return records.tobytes()


def _records(
    n_rows: int,
    columns: Sequence[tuple[str, Index | Floats | int | None]],
    *,
    n_fields: int,
    tail: Sequence[tuple[str, str]],
) -> NDArray[Any]:
    """Return one packed record per row with the number of fields and 8-byte columns filled, ``tail`` left open."""
    fields: list[tuple[str, str]] = [("n_fields", ">i2")]
    for name, column in columns:
        fields.append((f"{name}_size", ">i4"))
        if column is not None:
            real = isinstance(column, np.ndarray) and column.dtype.kind == "f"
            fields.append((name, ">f8" if real else ">i8"))
    records = np.empty(n_rows, dtype=np.dtype([*fields, *tail]))
    records["n_fields"] = n_fields
    for name, column in columns:
        records[f"{name}_size"] = _NULL if column is None else 8
        if column is not None:
            records[name] = column
    return records


def _fill_array_head(records: NDArray[Any], lengths: Index, n_bytes: Index, type_oid: int) -> None:
    records["size"] = 20 + n_bytes
    records["ndim"], records["nulls"], records["type"], records["first"] = 1, 0, type_oid, 1
    records["n"] = lengths


def _fixed_width(records: NDArray[Any]) -> tuple[NDArray[np.uint8], Index]:
    """Return records as bytes and where each begins."""
    data = np.frombuffer(records.tobytes(), dtype=np.uint8)
    return data, np.arange(records.size + 1, dtype=np.int64) * records.dtype.itemsize


def _length_prefixed(keys: Keys, offsets: Index) -> tuple[NDArray[np.uint8], Index]:
    """Return the ids of each list, every id after its length in four bytes, and where each list begins."""
    lengths = _fixed_width(keys.lengths.astype(">i4"))
    joined = np.frombuffer(_interleaved(lengths, (keys.data, keys.offsets)), dtype=np.uint8)
    return joined, (keys.offsets[offsets] - keys.offsets[0]) + 4 * offsets


def _interleaved(*columns: tuple[NDArray[np.uint8], Index]) -> bytes:
    """Return row 0 of every column, then row 1 of every column, and so on; a column is its bytes and its offsets."""
    import pyarrow as pa
    import pyarrow.compute as pc

    n_rows = columns[0][1].size - 1
    if n_rows == 0:
        return b""
    arrays = [arrow_texts(data, offsets, binary=True) for data, offsets in columns]
    joined = pc.binary_join_element_wise(*arrays, pa.scalar(b"", pa.large_binary()))
    _, ends, data = joined.buffers()
    edges = np.frombuffer(ends, dtype=np.int64, count=n_rows + 1)
    return bytes(memoryview(data)[int(edges[0]) : int(edges[-1])])


def parsed_arrays(arrays: Sequence[bytes]) -> tuple[Floats, Index]:
    """Return the numbers of several arrays in the format of ``array_send``, and where each array begins.

    >>> parsed_arrays([bytes(8) + b"\\0\\0\\2\\xbd"])[1].tolist()
    [0, 0]
    """
    head = 20
    offsets = np.zeros(len(arrays) + 1, dtype=np.int64)
    np.cumsum([max(len(array) - head, 0) // _ELEMENT.itemsize for array in arrays], out=offsets[1:])
    elements = np.frombuffer(b"".join([array[head:] for array in arrays]), dtype=_ELEMENT)
    return elements["value"].astype(np.float64), offsets


def parsed_keys(texts: Sequence[bytes], offsets: Index, separator: int) -> Keys | None:
    """Return the ids of lists whose ids were joined by a byte, None where an id contains that byte itself.

    Parameters: ``texts``, one per list. ``offsets``: int64, shape (n_lists + 1,), how many ids each list has.

    >>> parsed_keys([b"a|b", b"", b"c"], np.array([0, 2, 2, 3]), ord("|")).to_list()
    ['a', 'b', 'c']
    """
    lengths = np.diff(offsets)
    full = np.flatnonzero(lengths)
    data = np.frombuffer(bytes([separator]).join([texts[number] for number in full.tolist()]), dtype=np.uint8)
    is_separator = data == separator
    if full.size and int(is_separator.sum()) != int(offsets[-1]) - 1:
        return None
    edges = np.concatenate([[-1], np.flatnonzero(is_separator), [data.size]]) if full.size else np.array([-1])
    key_offsets = np.zeros(int(offsets[-1]) + 1, dtype=np.int64)
    np.cumsum(np.diff(edges) - 1, out=key_offsets[1:])
    return Keys(data[~is_separator], key_offsets)

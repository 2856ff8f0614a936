"""Many rows at once on Postgres: COPY in its binary format, encoded and decoded block by block.

Source: PostgreSQL documentation, COPY, "Binary Format"; for arrays ``array_send`` (arrayfuncs.c): number of
dimensions, a flag for NULLs, the element type, then size and lower bound of each dimension, then the elements.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.keys import Keys, arrow_texts
from ndcg_tracker.storage.bulk.protocol import Bulk, Lists, ListTable, ResultRows, joined_lists

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
TRAILER = b"\xff\xff"
_TEXT_OID, _DOUBLE_OID = 25, 701
_NULL = -1
_ARRAY_HEAD = [("size", ">i4"), ("ndim", ">i4"), ("nulls", ">i4"), ("type", ">i4"), ("n", ">i4"), ("first", ">i4")]
_ELEMENT = np.dtype([("size", ">i4"), ("value", ">f8")])


_SEPARATOR = 1  # a byte that is rare in ids: lists with it are read again, id by id
_ROWS_PER_BLOCK = 1 << 18
_ROWS_PER_FETCH = 200


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
    """Return rows of (evaluation_id, group_id, doubles..., reason) with the same columns NULL (None)."""
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
    """Return records as bytes, and where each begins."""
    data = np.frombuffer(records.tobytes(), dtype=np.uint8)
    return data, np.arange(records.size + 1, dtype=np.int64) * records.dtype.itemsize


def _length_prefixed(keys: Keys, offsets: Index) -> tuple[NDArray[np.uint8], Index]:
    """Return the ids of each list, each after its length in four bytes, and where each list begins."""
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
    """Return the ids of lists whose ids were joined by a byte, None if an id contains that byte.

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


class PostgresBulk(Bulk):
    """Fast reading and writing of the wide tables (see ``Bulk``)."""

    among = "= ANY (?)"
    key_bytes = "convert_to(key, 'UTF8')"
    groups_by_id = "groups"
    grade_up_to = "? >= ANY (grades)"

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self._connection = connection

    def _rows(self, query: str, *values: Any) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._connection.execute(query.replace("?", "%s").encode(), values, binary=True)

    def _many(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def insert_groups(self, dataset_id: int, ids: Index, keys: Keys) -> None:
        """Add groups with the given ids."""
        self._copy_in(
            "groups (id, dataset_id, key)",
            (group_rows(dataset_id, ids[rows], keys.slice(rows.start, rows.stop)) for rows in _row_blocks(ids.size)),
        )

    def set_group_weights(self, ids: Index, weights: Floats) -> None:
        """Give groups new weights; NaN removes the weight."""
        values = [None if weight != weight else weight for weight in weights.tolist()]
        self._connection.execute(
            "UPDATE groups SET weight = new.weight FROM unnest(%s::bigint[], %s::double precision[]) "
            "AS new (id, weight) WHERE groups.id = new.id",
            (ids.tolist(), values),
        )

    def insert_lists(self, table: ListTable, owner_id: int, lists: Lists) -> None:
        """Add the lists of a run or a label set; all cores encode lists while earlier ones are sent."""

        def rows(block: slice) -> bytes:
            offsets = lists.offsets[block.start : block.stop + 1]
            return list_rows(owner_id, lists.group_ids[block], offsets, lists.item_keys, lists.numbers)

        self._copy_in(
            f"{table.name} ({table.owner}, group_id, item_keys, {table.numbers})",
            mapped(rows, list(lists.blocks())),
        )

    def lists(self, table: ListTable, owner_id: int, group_ids: Index | None = None) -> Lists:
        """Return the lists of a run or a label set, of some or all groups, with numbers exactly as stored."""
        wanted = "" if group_ids is None else "AND group_id = ANY(%s)"
        values = (owner_id,) if group_ids is None else (owner_id, group_ids.tolist())
        query = (
            f"SELECT group_id, convert_to(array_to_string(item_keys, E'\\x01'), 'UTF8'), array_send({table.numbers}) "
            f"FROM {table.name} WHERE {table.owner} = %s {wanted} ORDER BY group_id"
        )
        all_ids: list[int] = []
        parts: list[tuple[Keys, Index, Floats]] = []
        with self._connection.cursor(name="ndcg_lists", binary=True) as cursor:
            cursor.itersize = _ROWS_PER_FETCH
            cursor.execute(query.encode(), values)
            while rows := cursor.fetchmany(_ROWS_PER_FETCH):
                ids = [row[0] for row in rows]
                all_ids.extend(ids)
                numbers, offsets = parsed_arrays([row[2] for row in rows])
                keys = parsed_keys([row[1] for row in rows], offsets, _SEPARATOR)
                if keys is None:
                    keys = self._keys_one_by_one(table, owner_id, ids)
                parts.append((keys, offsets, numbers))
        return joined_lists(parts, np.array(all_ids, dtype=np.int64))

    def _keys_one_by_one(self, table: ListTable, owner_id: int, group_ids: list[int]) -> Keys:
        query = f"SELECT item_keys FROM {table.name} WHERE {table.owner} = %s AND group_id = ANY (%s) ORDER BY group_id"
        rows = self._connection.execute(query.encode(), (owner_id, group_ids)).fetchall()
        return Keys.from_strings([key for (keys,) in rows if isinstance(keys, list) for key in keys])

    def _insert_result_rows(self, evaluation_id: int, rows: ResultRows) -> None:
        """Store the rows of group results."""
        self._copy_in(
            "group_results (evaluation_id, group_id, value, dcg, ideal_dcg, undefined_reason)",
            (
                result_rows(evaluation_id, rows.group_ids[chosen], columns, reason)
                for chosen, columns, reason in _alike(rows)
            ),
        )

    def _columns(
        self, table: str, id_column: str, names: Sequence[str], condition: str, value: int
    ) -> tuple[Index, list[Floats]]:
        """Return ids, ascending, and some columns of doubles, NaN for NULL; the server packs each into one value."""
        packed = ", ".join(f"string_agg(float8send(coalesce({name}, 'NaN')), '')" for name in names)
        rows = (
            f"(SELECT {id_column}, {', '.join(names)} FROM {table} WHERE {condition} ORDER BY {id_column}) AS ordered"
        )
        row = self._rows(f"SELECT string_agg(int8send({id_column}), ''), {packed} FROM {rows}", value).fetchone()
        ids, *doubles = [cell or b"" for cell in row or [b""] * (len(names) + 1)]
        floats = [np.frombuffer(cell, dtype=">f8").astype(np.float64) for cell in doubles]
        return np.frombuffer(ids, dtype=">i8").astype(np.int64), floats

    def _copy_in(self, target: str, payloads: Iterator[bytes]) -> None:
        with (
            self._connection.cursor() as cursor,
            cursor.copy(f"COPY {target} FROM STDIN (FORMAT BINARY)".encode()) as copy,
        ):
            copy.write(HEADER)
            for payload in payloads:
                copy.write(payload)
            copy.write(TRAILER)


def _row_blocks(n_rows: int) -> Iterator[slice]:
    return (slice(first, min(first + _ROWS_PER_BLOCK, n_rows)) for first in range(0, n_rows, _ROWS_PER_BLOCK))


def _alike(rows: ResultRows) -> Iterator[tuple[Index, list[Floats | None], str | None]]:
    """Yield groups of rows that are NULL in the same columns for the same reason: rows, columns, reason."""
    columns = (rows.values, rows.dcg, rows.ideal_dcg)
    nulls = [np.isnan(column) for column in columns]
    reason_codes = np.zeros(rows.values.size, dtype=np.int64)
    code_of: dict[str, int] = {}
    reason_codes[nulls[0]] = [code_of.setdefault(reason, len(code_of) + 1) for reason in rows.reasons]
    reasons: list[str | None] = [None, *code_of]
    pattern = ((reason_codes * 2 + nulls[0]) * 2 + nulls[1]) * 2 + nulls[2]
    for code in np.unique(pattern).tolist():
        alike = np.flatnonzero(pattern == code)
        for block in _row_blocks(alike.size):
            chosen = alike[block]
            kept = [None if null[chosen[0]] else column[chosen] for column, null in zip(columns, nulls, strict=True)]
            yield chosen, kept, reasons[reason_codes[chosen[0]]]

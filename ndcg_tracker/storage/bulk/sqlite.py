"""Many rows at once on SQLite: executemany, and lists as JSON text that plain SQL unfolds.

Arrow joins and parses whole blocks: 100,000 ids and numbers become text in 8 ms, where Python's ``json`` takes 57 ms
(``benchmarks/tricks.py``). Lists with a character that JSON escapes use ``json``, as do blocks too small to be worth
the import of Arrow.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.rankings import Bytes, Floats, Index
from ndcg_tracker.rankings.keys import Keys, arrow_texts
from ndcg_tracker.storage.bulk.protocol import BLOCK_ITEMS, Bulk, Lists, ListTable, ResultRows, joined_lists

SMALL_BLOCK = 100_000
"""After this many items without Arrow it is imported (0.1 to 0.2 s): a store with this many will have more."""
FEW_ITEMS = 1_000
"""Up to this many items, calls of Arrow never pay off."""

_QUOTE, _COMMA, _OPEN, _BACKSLASH, _CLOSE, _BLANK = b'",[\\] '
_dumped = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
_parsed_numbers = json.JSONDecoder(parse_int=float).decode  # a float, because the integer -0 would lose its sign


_ROWS_PER_STATEMENT = 100
_ROWS_PER_FETCH = 256
_BLOCK_BYTES = BLOCK_ITEMS * 10


class ArrowChoice:
    """Decides for one store when Arrow is worth its import: after ``SMALL_BLOCK`` items handled without it."""

    def __init__(self) -> None:
        self._n_items = 0

    def pays(self, n_items: int) -> bool:
        """Return whether to encode or parse this many items with Arrow."""
        if n_items <= min(FEW_ITEMS, SMALL_BLOCK):
            return False
        self._n_items += n_items
        return self._n_items > SMALL_BLOCK


def json_key_lists(keys: Keys, offsets: Index, *, arrow: bool) -> list[str]:
    """Return the ids of each list as a JSON array.

    Parameters: ``keys``, the ids of all lists. ``offsets``: int64, shape (n_lists + 1,): list ``i`` has the ids
    ``offsets[i]:offsets[i + 1]``. ``arrow``: whether Arrow does the work. Returns: n_lists texts.

    >>> json_key_lists(Keys.from_strings(["a", 'b"', "c"]), np.array([0, 2, 3]), arrow=False)
    ['["a","b\\\\""]', '["c"]']
    """
    first, last = int(offsets[0]), int(offsets[-1])
    if not arrow:
        return [_slow_key_list(keys, offsets, number) for number in range(offsets.size - 1)]
    block = keys.slice(first, last)
    starts = offsets - first
    texts = _joined_texts(arrow_texts(block.data, block.offsets), starts, (b'["', b'","', b'"]'))
    for number in _lists_to_escape(block, starts):
        texts[number] = _slow_key_list(keys, offsets, number)
    return texts


def _slow_key_list(keys: Keys, offsets: Index, number: int) -> str:
    return _dumped(keys.slice(int(offsets[number]), int(offsets[number + 1])).to_list())


def _lists_to_escape(block: Keys, offsets: Index) -> list[int]:
    """Return which lists are empty or have a byte that JSON escapes."""
    start = int(block.offsets[0])
    data = block.data[start : int(block.offsets[-1])]
    places = np.flatnonzero((data < _BLANK) | (data == _QUOTE) | (data == _BACKSLASH)) + start
    rows = np.searchsorted(block.offsets, places, "right") - 1
    lists = np.searchsorted(offsets, rows, "right") - 1
    numbers: list[int] = np.union1d(lists, np.flatnonzero(np.diff(offsets) == 0)).tolist()
    return numbers


def json_number_lists(numbers: Floats, offsets: Index, *, arrow: bool) -> list[str]:
    """Return the numbers of each list as a JSON array of the shortest decimals that give the same doubles.

    Parameters: ``numbers``: float64, finite. ``offsets``: as in ``json_key_lists``. Returns: n_lists texts.

    >>> json_number_lists(np.array([2.5, 0.1, 3.0]), np.array([0, 2, 3]), arrow=False)
    ['[2.5,0.1]', '[3.0]']
    """
    first, last = int(offsets[0]), int(offsets[-1])
    if not arrow:
        values = numbers[first:last].tolist()
        ends = (offsets - first).tolist()
        return [_dumped(values[start:end]) for start, end in pairwise(ends)]
    return _joined_texts(_text_of_doubles(numbers[first:last]), offsets - first, (b"[", b",", b"]"))


def parsed_key_lists(texts: Sequence[bytes]) -> tuple[Keys, Index]:
    """Return the ids of all lists and where each list begins: the inverse of ``json_key_lists``.

    Parameters: ``texts``, JSON arrays of strings in UTF-8.

    >>> keys, offsets = parsed_key_lists([b'["a","b"]', b'["c"]'])
    >>> keys.to_list(), offsets.tolist()
    (['a', 'b', 'c'], [0, 2, 3])
    """
    joined = b"".join(texts)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    if b"\\" in joined:
        lists = [[key.encode() for key in json.loads(text)] for text in texts]
        np.cumsum([len(key_list) for key_list in lists], out=offsets[1:])
        return Keys.from_bytes([key for key_list in lists for key in key_list]), offsets
    data = np.frombuffer(joined, dtype=np.uint8)
    lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    quotes = np.flatnonzero(data == _QUOTE)
    offsets[1:] = np.searchsorted(quotes, np.cumsum(lengths)) // 2
    n_keys = quotes.size // 2
    key_offsets = np.zeros(n_keys + 1, dtype=np.int64)
    np.cumsum(quotes[1::2] - quotes[0::2] - 1, out=key_offsets[1:])
    n_outside = {_OPEN: len(texts), _CLOSE: len(texts), _COMMA: n_keys - np.count_nonzero(np.diff(offsets))}
    if all(np.count_nonzero(data == mark) == n_marks for mark, n_marks in n_outside.items()):  # none within an id
        return Keys(np.frombuffer(joined.translate(None, b'",[]'), dtype=np.uint8), key_offsets), offsets
    return Keys(data[_within_quotes(data)], key_offsets), offsets


def _within_quotes(data: Bytes) -> Bytes:
    """Return which bytes are between an odd quote and the next: bool, shape of ``data``."""
    is_quote = data == _QUOTE
    odd = np.cumsum(is_quote, dtype=np.uint8) & 1
    return np.asarray((odd == 1) & ~is_quote)


def parsed_number_lists(texts: Sequence[bytes], *, arrow: bool) -> Floats:
    """Return the numbers of all lists, one list after the other: the inverse of ``json_number_lists``.

    Parameters: ``texts``, JSON arrays of numbers. Returns: float64, each correctly rounded.

    >>> parsed_number_lists([b"[2.5,-0]", b"[]", b"[3]"], arrow=False).tolist()
    [2.5, -0.0, 3.0]
    """
    inner = b",".join(texts)
    if b"[]" in inner:
        inner = b",".join([text for text in texts if len(text) > len("[]")])
    inner = inner.translate(None, b"[]")
    if not (arrow and inner):
        return np.array(_parsed_numbers(f"[{inner.decode()}]"), dtype=np.float64)
    return _parsed_doubles(_split_text(inner, ","))


def _number_column(values: Floats) -> Any:
    """Return doubles as an Arrow array.

    >>> _number_column(np.array([0.5, -0.0])).to_pylist()
    [0.5, -0.0]
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def _text_of_doubles(values: Floats) -> Any:
    """Return the shortest decimal of each finite double that gives the same double, as Arrow large strings.

    >>> _text_of_doubles(np.array([0.1, -0.0, 1e22, 5e-324])).to_pylist()
    ['0.1', '-0', '1e+22', '5e-324']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.cast(_number_column(values), pa.large_string())


def _parsed_doubles(texts: Any) -> Floats:
    """Return the double nearest to each decimal: the inverse of ``_text_of_doubles``.

    >>> _parsed_doubles(_text_of_doubles(np.array([0.1, -0.0]))).tolist()
    [0.1, -0.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    doubles = pc.cast(texts, pa.float64())
    return np.frombuffer(doubles.buffers()[1], dtype=np.float64, count=len(doubles))


def _split_text(text: bytes, separator: str) -> Any:
    """Return the parts of a UTF-8 text as Arrow large strings.

    >>> _split_text(b"a,bc", ",").to_pylist()
    ['a', 'bc']
    """
    import pyarrow.compute as pc

    return pc.split_pattern(arrow_texts(text, np.array([0, len(text)])), separator).flatten()


def _joined_texts(texts: Any, offsets: Index, edges: tuple[bytes, bytes, bytes]) -> list[str]:
    """Return the texts of each list joined into one text, with ``edges`` before, between and after them.

    Parameters: ``texts``, Arrow's large strings. ``offsets``: int64, shape (n_lists + 1,), from 0, where each list
    begins.

    >>> _joined_texts(arrow_texts(b"abc", np.arange(4)), np.array([0, 2, 3]), (b"[", b",", b"]"))
    ['[a,b]', '[c]']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = np.cumsum([0, *(len(edge) for edge in (*edges, b""))])
    before, between, after, nothing = arrow_texts(b"".join(edges), ends)
    starts = pa.Array.from_buffers(pa.int64(), offsets.size, [None, pa.py_buffer(np.ascontiguousarray(offsets))])
    joined = pc.binary_join(pa.LargeListArray.from_arrays(starts, texts), between)
    whole: list[str] = pc.binary_join_element_wise(before, joined, after, nothing).to_pylist()
    return whole


class SqliteBulk(Bulk):
    """Fast reading and writing of the wide tables (see ``Bulk``)."""

    among = "IN (SELECT value FROM json_each(?))"
    key_bytes = "CAST(key AS BLOB)"
    groups_by_id = "groups NOT INDEXED"
    grade_up_to = "EXISTS (SELECT 1 FROM json_each(grades) g WHERE g.value <= ?)"

    def __init__(self, connection: sqlite3.Connection, arrow: ArrowChoice) -> None:
        self._connection = connection
        self._arrow = arrow

    def _rows(self, query: str, *values: Any) -> sqlite3.Cursor:
        return self._connection.execute(query, values)

    def _many(self, values: Sequence[Any]) -> str:
        return _dumped(list(values))

    def insert_groups(self, dataset_id: int, ids: Index, keys: Keys) -> None:
        """Add groups with the given ids."""
        self._insert_rows("groups (dataset_id, id, key)", f"({int(dataset_id)}, ?, ?)", [ids.tolist(), keys.to_list()])

    def set_group_weights(self, ids: Index, weights: Floats) -> None:
        """Give groups new weights; NaN removes the weight."""
        self._connection.executemany(
            "UPDATE groups SET weight = ? WHERE id = ?", zip(weights.tolist(), ids.tolist(), strict=True)
        )

    def insert_lists(self, table: ListTable, owner_id: int, lists: Lists) -> None:
        """Add the lists of a run or a label set; all cores encode lists while earlier ones are written."""

        def texts(block: slice) -> list[list[Any]]:
            offsets = lists.offsets[block.start : block.stop + 1]
            n_items = int(offsets[-1] - offsets[0])
            keys = json_key_lists(lists.item_keys, offsets, arrow=self._arrow.pays(n_items))
            numbers = json_number_lists(lists.numbers, offsets, arrow=self._arrow.pays(n_items))
            return [lists.group_ids[block].tolist(), keys, numbers]

        for columns in mapped(texts, list(lists.blocks())):
            self._insert_rows(
                f"{table.name} ({table.owner}, group_id, item_keys, {table.numbers})",
                f"({int(owner_id)}, ?, ?, ?)",
                columns,
            )

    def lists(self, table: ListTable, owner_id: int, group_ids: Index | None = None) -> Lists:
        """Return the lists of a run or a label set, of some or all groups, with numbers exactly as stored."""
        wanted = ""
        values: list[int | str] = [owner_id]
        if group_ids is not None:
            wanted = f"AND group_id {self.among}"
            values.append(str(group_ids.tolist()))
        cursor = self._connection.execute(
            f"SELECT group_id, CAST(item_keys AS BLOB), CAST({table.numbers} AS BLOB) FROM {table.name} "
            f"WHERE {table.owner} = ? {wanted} ORDER BY group_id",
            values,
        )
        parts: list[tuple[Keys, Index, Floats]] = []
        all_ids: list[int] = []
        for ids, key_texts, number_texts in _blocks(cursor):
            all_ids += ids
            keys, offsets = parsed_key_lists(key_texts)
            numbers = parsed_number_lists(number_texts, arrow=self._arrow.pays(int(offsets[-1])))
            parts.append((keys, offsets, numbers))
        return joined_lists(parts, np.array(all_ids, dtype=np.int64))

    def _insert_result_rows(self, evaluation_id: int, rows: ResultRows) -> None:
        """Store the rows of group results."""
        defined = ~np.isnan(rows.values)
        owner = int(evaluation_id)
        self._insert_rows(
            "group_results (evaluation_id, group_id, value, dcg, ideal_dcg)",
            f"({owner}, ?, ?, ?, ?)",
            [column[defined].tolist() for column in (rows.group_ids, rows.values, rows.dcg, rows.ideal_dcg)],
        )
        self._insert_rows(
            "group_results (evaluation_id, group_id, dcg, ideal_dcg, undefined_reason)",
            f"({owner}, ?, ?, ?, ?)",
            [*(column[~defined].tolist() for column in (rows.group_ids, rows.dcg, rows.ideal_dcg)), list(rows.reasons)],
        )

    def _insert_rows(self, target: str, row: str, columns: list[list[Any]]) -> None:
        """Insert many rows per statement: for rows of a few hundred bytes this halves the time."""
        n_rows = len(columns[0])
        whole = n_rows - n_rows % _ROWS_PER_STATEMENT
        for first, last, n_together in ((0, whole, _ROWS_PER_STATEMENT), (whole, n_rows, 1)):
            self._connection.executemany(
                f"INSERT INTO {target} VALUES {', '.join([row] * n_together)}",
                _parameters([column[first:last] for column in columns], n_together),
            )

    def _columns(
        self, table: str, id_column: str, names: Sequence[str], condition: str, value: int
    ) -> tuple[Index, list[Floats]]:
        """Return ids, ascending, and some columns of doubles from chosen rows, NaN for NULL.

        Infinity marks NULL on the way: SQLite has infinity but no NaN, and the tables store no infinity.
        """
        doubles = ", ".join(f"coalesce({name}, 9e999)" for name in names)
        rows = f"{table} WHERE {condition} ORDER BY {id_column}"
        cursor = self._rows(f"SELECT {id_column}, {doubles} FROM {rows}", value)
        columns = np.fromiter(cursor, dtype=[("id", np.int64), *((name, np.float64) for name in names)])
        floats = (columns[name] for name in names)
        return np.ascontiguousarray(columns["id"]), [np.where(np.isinf(column), np.nan, column) for column in floats]


def _blocks(cursor: sqlite3.Cursor) -> Iterator[tuple[list[int], list[bytes], list[bytes]]]:
    """Yield the three columns in blocks of about equal size in bytes."""
    ids: list[int] = []
    keys: list[bytes] = []
    numbers: list[bytes] = []
    size = 0
    while rows := cursor.fetchmany(_ROWS_PER_FETCH):
        for column, place in ((ids, 0), (keys, 1), (numbers, 2)):
            column.extend([row[place] for row in rows])
        size += sum(map(len, keys[-len(rows) :])) + sum(map(len, numbers[-len(rows) :]))
        if size >= _BLOCK_BYTES:
            yield ids, keys, numbers
            ids, keys, numbers, size = [], [], [], 0
    if ids:
        yield ids, keys, numbers


def _parameters(columns: list[list[Any]], n_together: int) -> Iterator[list[Any]]:
    """Yield the parameters of one statement after another, each for ``n_together`` rows."""
    flat: list[Any] = [None] * (len(columns) * len(columns[0]))
    for place, column in enumerate(columns):
        flat[place :: len(columns)] = column
    n_parameters = n_together * len(columns)
    return (flat[first : first + n_parameters] for first in range(0, len(flat), n_parameters))

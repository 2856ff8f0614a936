"""Converts lists of ids and of numbers to the JSON text that SQLite stores, and back, many lists at a time.

Arrow joins and parses whole blocks: 100,000 ids and numbers become text in 8 ms, where Python's ``json`` takes 57 ms
(``benchmarks/tricks.py``). Lists with a character that JSON escapes, and blocks too small to be worth the import of
Arrow, go through ``json``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ndcg_tracker.arrow_ids import arrow_texts
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Bytes, Floats, Index

SMALL_BLOCK = 100_000
"""After this many items without it, Arrow is imported, for 0.1 to 0.2 s: a store that had so many has more."""
FEW_ITEMS = 1_000
"""For so few items, calls of Arrow never pay."""

_QUOTE, _COMMA, _OPEN, _BACKSLASH, _CLOSE, _BLANK = b'",[\\] '
_dumped = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
_parsed_numbers = json.JSONDecoder(parse_int=float).decode  # a float, because the integer -0 would lose its sign


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
    """Return the lists that are empty or have a byte that JSON escapes."""
    start = int(block.offsets[0])
    data = block.data[start : int(block.offsets[-1])]
    places = np.flatnonzero((data < _BLANK) | (data == _QUOTE) | (data == _BACKSLASH)) + start
    rows = np.searchsorted(block.offsets, places, "right") - 1
    lists = np.searchsorted(offsets, rows, "right") - 1
    numbers: list[int] = np.union1d(lists, np.flatnonzero(np.diff(offsets) == 0)).tolist()
    return numbers


def json_number_lists(numbers: Floats, offsets: Index, *, arrow: bool) -> list[str]:
    """Return the numbers of each list as a JSON array of the shortest decimals that give back the same doubles.

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
        np.cumsum([len(one) for one in lists], out=offsets[1:])
        return Keys.from_bytes([key for one in lists for key in one]), offsets
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
    inner = b",".join([text[1:-1] for text in texts if len(text) > len("[]")])
    if not (arrow and inner):
        return np.array(_parsed_numbers(f"[{inner.decode()}]"), dtype=np.float64)
    return _parsed_doubles(_split_text(inner, ","))


def _number_column(values: Floats) -> Any:
    """Return doubles as Arrow's.

    >>> _number_column(np.array([0.5, -0.0])).to_pylist()
    [0.5, -0.0]
    """
    import pyarrow as pa

    return pa.Array.from_buffers(pa.float64(), values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def _text_of_doubles(values: Floats) -> Any:
    """Return the shortest decimal of each finite double that gives back the same double, as Arrow's large strings.

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
    """Return the parts of a text in UTF-8 as Arrow's large strings.

    >>> _split_text(b"a,bc", ",").to_pylist()
    ['a', 'bc']
    """
    import pyarrow.compute as pc

    return pc.split_pattern(arrow_texts(text, np.array([0, len(text)])), separator).flatten()


def _joined_texts(texts: Any, offsets: Index, edges: tuple[bytes, bytes, bytes]) -> list[str]:
    """Return the texts of each list in one text: ``edges`` come before, between and after them.

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

"""Lists of ids and of numbers to the JSON text that SQLite stores, and back, many lists at a time.

An id or number at a time this would cost seconds for millions of items, so Arrow joins and parses whole blocks; lists
with a character that JSON escapes, and small blocks, for which Arrow is not worth its import, go the exact slow way.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from ndcg_tracker.rankings.keys import Bytes, Index, Keys
from ndcg_tracker.rankings.ranking import Floats

SMALL_BLOCK = 50_000
"""Blocks of fewer items than this are encoded and parsed without Arrow."""

_QUOTE, _BACKSLASH, _BLANK = 0x22, 0x5C, 0x20
_dumped = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
_parsed_numbers = json.JSONDecoder(parse_int=float).decode  # a float, for the integer -0 would lose its sign


def json_key_lists(keys: Keys, offsets: Index) -> list[str]:
    """Return the ids of each list as a JSON array.

    Parameters: ``keys``, the ids of all lists. ``offsets``: int64, shape (n_lists + 1,): list ``i`` has the ids
    ``offsets[i]:offsets[i + 1]``. Returns: n_lists texts.

    >>> json_key_lists(Keys.from_strings(["a", 'b"', "c"]), np.array([0, 2, 3]))
    ['["a","b\\\\""]', '["c"]']
    """
    first, last = int(offsets[0]), int(offsets[-1])
    if last - first < SMALL_BLOCK:
        return [_slow_key_list(keys, offsets, number) for number in range(offsets.size - 1)]
    import pyarrow as pa
    import pyarrow.compute as pc

    block = keys.slice(first, last)
    strings = pa.LargeStringArray.from_buffers(
        last - first, pa.py_buffer(np.ascontiguousarray(block.offsets)), pa.py_buffer(block.data)
    )
    joined = pc.binary_join(_as_lists(strings, offsets), pa.scalar('","', pa.large_string()))
    edges = [pa.scalar(text, pa.large_string()) for text in ('["', '"]', "")]
    texts: list[str] = pc.binary_join_element_wise(edges[0], joined, edges[1], edges[2]).to_pylist()
    for number in _lists_to_escape(block, offsets - first):
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


def json_number_lists(numbers: Floats, offsets: Index) -> list[str]:
    """Return the numbers of each list as a JSON array of the shortest decimals that give back the same doubles.

    Parameters: ``numbers``: float64, finite. ``offsets``: as in ``json_key_lists``. Returns: n_lists texts.

    >>> json_number_lists(np.array([2.5, 0.1, 3.0]), np.array([0, 2, 3]))
    ['[2.5,0.1]', '[3.0]']
    """
    first, last = int(offsets[0]), int(offsets[-1])
    if last - first < SMALL_BLOCK:
        values = numbers[first:last].tolist()
        ends = (offsets - first).tolist()
        return [_dumped(values[start:end]) for start, end in pairwise(ends)]
    import pyarrow as pa
    import pyarrow.compute as pc

    strings = pc.cast(pa.array(numbers[first:last]), pa.large_string())
    joined = pc.binary_join(_as_lists(strings, offsets), pa.scalar(",", pa.large_string()))
    edges = [pa.scalar(text, pa.large_string()) for text in ("[", "]", "")]
    texts: list[str] = pc.binary_join_element_wise(edges[0], joined, edges[1], edges[2]).to_pylist()
    return texts


def _as_lists(strings: object, offsets: Index) -> object:
    import pyarrow as pa

    return pa.ListArray.from_arrays(pa.array((offsets - offsets[0]).astype(np.int32)), strings)


def parsed_key_lists(texts: Sequence[bytes]) -> tuple[Keys, Index]:
    """Return the ids of all lists and where each list begins: the inverse of ``json_key_lists``.

    Parameters: ``texts``, JSON arrays of strings in UTF-8.

    >>> keys, offsets = parsed_key_lists([b'["a","b"]', b'["c"]'])
    >>> keys.to_list(), offsets.tolist()
    (['a', 'b', 'c'], [0, 2, 3])
    """
    data = np.frombuffer(b"".join(texts), dtype=np.uint8)
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    if (data == _BACKSLASH).any():
        lists = [[key.encode() for key in json.loads(text)] for text in texts]
        np.cumsum([len(one) for one in lists], out=offsets[1:])
        return Keys.from_bytes([key for one in lists for key in one]), offsets
    ends = np.cumsum([len(text) for text in texts], dtype=np.int64)
    quotes = np.flatnonzero(data == _QUOTE)
    offsets[1:] = np.searchsorted(quotes, ends) // 2
    key_offsets = np.zeros(quotes.size // 2 + 1, dtype=np.int64)
    np.cumsum(quotes[1::2] - quotes[0::2] - 1, out=key_offsets[1:])
    return Keys(data[_within_quotes(data)], key_offsets), offsets


def _within_quotes(data: Bytes) -> Bytes:
    """Return which bytes stand between an odd quote and the next: bool, shape of ``data``."""
    is_quote = data == _QUOTE
    odd = np.cumsum(is_quote, dtype=np.uint8) & 1
    return np.asarray((odd == 1) & ~is_quote)


def parsed_number_lists(texts: Sequence[bytes]) -> Floats:
    """Return the numbers of all lists, one list after the other: the inverse of ``json_number_lists``.

    Parameters: ``texts``, JSON arrays of numbers. Returns: float64, each correctly rounded.

    >>> parsed_number_lists([b"[2.5,-0]", b"[]", b"[3]"]).tolist()
    [2.5, -0.0, 3.0]
    """
    inner = b",".join([text[1:-1] for text in texts if len(text) > 2])
    if len(inner) <= SMALL_BLOCK * 2:
        return np.array(_parsed_numbers(f"[{inner.decode()}]"), dtype=np.float64)
    import pyarrow as pa
    import pyarrow.compute as pc

    strings = pc.split_pattern(pa.array([inner], pa.large_binary()).cast(pa.large_string()), ",").flatten()
    return np.asarray(pc.cast(strings, pa.float64()).to_numpy())

"""Lists of ids and of numbers to the JSON text that SQLite stores, and back, many lists at a time.

An id or number at a time this would cost seconds for millions of items, so Arrow joins and parses whole blocks; lists
with a character that JSON escapes, and what is too little for Arrow to be worth its import, go the exact slow way.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Bytes, Floats, Index
from ndcg_tracker.storage.arrow_lists import joined_texts, parsed_doubles, split_text, text_column, text_of_doubles

SMALL_BLOCK = 100_000
"""After this many items in one process, Arrow is worth its import."""
FEW_ITEMS = 1_000
"""For so few items, Arrow is never worth its calls."""

_QUOTE, _COMMA, _OPEN, _BACKSLASH, _CLOSE, _BLANK = b'",[\\] '
_dumped = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
_parsed_numbers = json.JSONDecoder(parse_int=float).decode  # a float, for the integer -0 would lose its sign

_n_items_without_arrow = 0


def _without_arrow(n_items: int) -> bool:
    """Return whether these items are encoded or parsed the slow way; counts those that are."""
    global _n_items_without_arrow
    if n_items > min(FEW_ITEMS, SMALL_BLOCK):
        if _n_items_without_arrow + n_items > SMALL_BLOCK:
            return False
        _n_items_without_arrow += n_items
    return True


def json_key_lists(keys: Keys, offsets: Index) -> list[str]:
    """Return the ids of each list as a JSON array.

    Parameters: ``keys``, the ids of all lists. ``offsets``: int64, shape (n_lists + 1,): list ``i`` has the ids
    ``offsets[i]:offsets[i + 1]``. Returns: n_lists texts.

    >>> json_key_lists(Keys.from_strings(["a", 'b"', "c"]), np.array([0, 2, 3]))
    ['["a","b\\\\""]', '["c"]']
    """
    first, last = int(offsets[0]), int(offsets[-1])
    if _without_arrow(last - first):
        return [_slow_key_list(keys, offsets, number) for number in range(offsets.size - 1)]
    block = keys.slice(first, last)
    starts = offsets - first
    texts = joined_texts(text_column(block.data, block.offsets), starts, (b'["', b'","', b'"]'))
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


def json_number_lists(numbers: Floats, offsets: Index) -> list[str]:
    """Return the numbers of each list as a JSON array of the shortest decimals that give back the same doubles.

    Parameters: ``numbers``: float64, finite. ``offsets``: as in ``json_key_lists``. Returns: n_lists texts.

    >>> json_number_lists(np.array([2.5, 0.1, 3.0]), np.array([0, 2, 3]))
    ['[2.5,0.1]', '[3.0]']
    """
    first, last = int(offsets[0]), int(offsets[-1])
    if _without_arrow(last - first):
        values = numbers[first:last].tolist()
        ends = (offsets - first).tolist()
        return [_dumped(values[start:end]) for start, end in pairwise(ends)]
    return joined_texts(text_of_doubles(numbers[first:last]), offsets - first, (b"[", b",", b"]"))


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
    inner = b",".join([text[1:-1] for text in texts if len(text) > len("[]")])
    if _without_arrow(inner.count(b",")):
        return np.array(_parsed_numbers(f"[{inner.decode()}]"), dtype=np.float64)
    return parsed_doubles(split_text(inner, ","))

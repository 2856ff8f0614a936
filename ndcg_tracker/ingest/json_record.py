"""JSON read strictly: no key twice, no NaN, no number without end; what may stand for an id and for a number."""

from __future__ import annotations

import json
from typing import Any

from ndcg_tracker.ingest.places import shown

_MOST_DIGITS = 400  # a double ends at 309
_NULL = float("nan")
_INFINITY = float("inf")
_KINDS = {
    str: "string",
    bool: "true or false",
    int: "number",
    float: "fraction",
    list: "array",
    dict: "object",
}


def json_record(line: bytes) -> dict[str, Any]:
    """Return the JSON object in a line of UTF-8.

    Raises: ValueError, its message without a place, for anything else, NaN, Infinity and keys that stand twice
    included.

    >>> json_record(b'{"group": "007", "weight": 2}')
    {'group': '007', 'weight': 2}
    """
    try:
        record = _DECODER.decode(line.decode())
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON ({error.msg}, column {error.colno}); write one object per line") from None
    except RecursionError:
        raise ValueError("JSON nested too deeply; write one flat object per line") from None
    if not isinstance(record, dict):
        raise ValueError("no JSON object; write one {...} per line")
    return record


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {shown(twice)} stands twice; keep one of the two")
    return record


def json_integer(text: str) -> int:
    """Return the whole number that some digits spell. Raises: ValueError for more than are ever needed."""
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a whole number of {len(text)} digits is too large; use a smaller one, or text for an id")
    return int(text)


def json_id(value: object, role: str) -> bytes:
    """Return an id as bytes, none for null. Raises: ValueError for what is neither text nor a whole number.

    >>> json_id("d7", "item"), json_id(7, "item"), json_id(None, "item")
    (b'd7', b'7', b'')
    """
    if type(value) is str:
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the {role} id {shown(value)} is half a character; write ids as UTF-8") from None
    if value is None:
        return b""
    if type(value) is int:
        return b"%d" % value
    raise ValueError(f"the {role} id is a JSON {json_kind(value)}; ids are text or whole numbers")


def json_number(value: object, role: str) -> float:
    """Return a number as a double, NaN for null. Raises: ValueError for what is no finite number; labels may be true.

    >>> json_number(3, "score"), json_number(True, "label"), json_number(None, "score")
    (3.0, 1.0, nan)
    """
    if value is None:
        return _NULL
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and role != "label"):
        raise ValueError(f"the {role} is a JSON {json_kind(value)}; write a number, or null for none")
    try:
        number = float(value)
    except OverflowError:
        number = _INFINITY
    if number != number:
        raise ValueError(f"the {role} is NaN; use a finite number, or null for none")
    if number in (_INFINITY, -_INFINITY):
        raise ValueError(f"the {role} is too large for a double; use a finite number")
    return number


def json_kind(value: object) -> str:
    """Return what JSON calls a value."""
    return _KINDS.get(type(value), "null")


def _refused_constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON number; use a finite number, or null for none")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=json_integer, parse_constant=_refused_constant)

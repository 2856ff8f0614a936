"""One line of JSON as one flat object, strictly: no key twice, no NaN, no number without end."""

from __future__ import annotations

import json
from typing import Any

from ndcg_tracker.ingest.places import shown

_MOST_DIGITS = 400  # a double ends at 309


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


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise ValueError(f"a whole number of {len(text)} digits is too large; use a smaller one, or text for an id")
    return int(text)


def _refused_constant(text: str) -> float:
    raise ValueError(f"{text} is no JSON number; use a finite number, or null for none")


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_refused_constant)

"""JSON lines: one object per row; a key that is absent or null is null."""

from __future__ import annotations

import json
from typing import Any

from ndcg_tracker.ingest.columns import NUMBERS, Columns, Wanted
from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.places import Places, shown
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.ingest.table import Rows

_NULL = float("nan")
_INFINITY = float("inf")
_MOST_DIGITS = 400  # a double ends at 309


def exact_rows(source: Source, columns: Columns, wanted: Wanted) -> tuple[Rows, Places]:
    """Return the rows of a JSON lines file and their lines.

    Raises: InputError naming the line for what is no JSON object (NaN, Infinity and keys that stand twice included)
    and for a value of another type: ids are text or whole numbers, scores, labels and weights finite numbers.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_int=_integer, parse_constant=_refused_constant)
    names = {role: columns.name_of(role) for role in wanted.roles}
    number_roles = [role for role in NUMBERS if role in names]
    seen: dict[str, None] = {}
    gathered = GatheredRows(number_roles)
    for line_number, line in source.lines():
        if not line.strip(b" \t"):
            continue
        try:
            record = decoder.decode(line.decode())
            if not isinstance(record, dict):
                raise ValueError("no JSON object; write one {...} per line")
            if not record.keys() <= seen.keys():
                seen.update(dict.fromkeys(record))
            group = _id(record.get(names["group"]), "group")
            item = _id(record.get(names["item"]), "item")
            numbers = [_number(record.get(names[role]), role) for role in number_roles]
        except json.JSONDecodeError as error:
            what = f"no JSON ({error.msg}, column {error.colno}); write one object per line"
            raise source.error(what, line_number) from None
        except RecursionError:
            raise source.error("JSON nested too deeply; write one flat object per line", line_number) from None
        except ValueError as error:
            raise source.error(str(error), line_number) from None
        gathered.add(line_number, group, item, numbers)
    found = columns.positions(list(seen), wanted, source.error)
    return gathered.rows(source.name, without=names.keys() - found.keys())


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


def _id(value: object, role: str) -> bytes:
    if type(value) is str:
        try:
            return value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"the {role} id {shown(value)} is half a character; write ids as UTF-8") from None
    if value is None:
        return b""
    if type(value) is int:
        return b"%d" % value
    raise ValueError(f"the {role} id is a JSON {_kind(value)}; ids are text or whole numbers")


def _number(value: object, role: str) -> float:
    if value is None:
        return _NULL
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and role != "label"):
        raise ValueError(f"the {role} is a JSON {_kind(value)}; write a number, or null for none")
    try:
        number = float(value)
    except OverflowError:
        number = _INFINITY
    if number in (_INFINITY, -_INFINITY):
        raise ValueError(f"the {role} is too large for a double; use a finite number")
    return number


def _kind(value: object) -> str:
    return {str: "string", bool: "true or false", float: "fraction", list: "array", dict: "object"}.get(
        type(value), "?"
    )

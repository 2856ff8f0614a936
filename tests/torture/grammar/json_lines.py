"""JSON lines: one object per line, for one row or, with lists, for several; a key that is absent or null is null."""

from __future__ import annotations

from .json_text import NotJsonError, Number, json_value
from .table import LABELS, RUN, Faults, Role, Row, Table, table
from .text import lines_of

_ROLES = {RUN: ("group", "item", "score", "label", "weight"), LABELS: ("group", "item", "label")}
_NUMBER = {RUN: "score", LABELS: "label"}
_REQUIRED = {RUN: {"group", "score"}, LABELS: {"group", "item", "label"}}


class _WrongTypeError(Exception):
    """A value of a type that its column cannot have."""


def json_lines(content: bytes, role: Role) -> Table:
    """Return a run or labels: ids are text or whole numbers; scores, labels and weights finite numbers.

    Labels may be true or false. Lines of blanks mean nothing. A column that no object names is absent. If the first
    line has a list of ids and neither score nor label, so have all: their order is the ranking, or each has grade 1.
    """
    faults = Faults()
    names: set[str] = set()
    found: list[Row] = []
    first: dict[str, object] | None = None
    for line, text in lines_of(content, faults):
        if not text.strip(b" \t"):
            continue
        try:
            record = json_value(text.decode())
            if not isinstance(record, dict):
                raise NotJsonError("no object")
            first = record if first is None else first
            if _are_ids_alone(first):
                rows = _of_ids(line, record, role, role == RUN and "weight" in first, {row.group for row in found})
                record = {**record, _NUMBER[role]: None}
            else:
                rows = [_row(line, one, role) for one in _unfolded(record, role)]
        except (NotJsonError, _WrongTypeError) as error:
            faults.add(line, str(error))
            continue
        names |= record.keys()
        found += rows
    if not _REQUIRED[role] <= names or (found and found[0].group is None):  # a stream does not wait for it
        faults.add(None, "a column is missing")
    has_weights = role == RUN and "weight" in names
    return table(found, faults, role, has_items="item" in names, has_weights=has_weights)


def _are_ids_alone(first: dict[str, object]) -> bool:
    items = first.get("item")
    has_ids = isinstance(items, list) and not any(isinstance(item, dict | list) for item in items)
    return has_ids and "group" in first and not {"score", "label"} & first.keys()


def _of_ids(
    line: int, record: dict[str, object], role: Role, has_weights: bool, before: set[bytes | None]
) -> list[Row]:
    """Return a row per id of a list, ranked as they stand or relevant."""
    items = record.get("item", _WrongTypeError)
    if items is None or items == []:
        return []
    if not isinstance(items, list) or any(isinstance(item, dict | list) for item in items):
        raise _WrongTypeError("no list of ids")
    group = _id(record.get("group"))
    if isinstance(record.get(_NUMBER[role]), list) or group is None or (role == RUN and group in before):
        raise _WrongTypeError("a list of numbers beside ids, no group, or one again")
    weight = _number(record.get("weight"), "weight") if has_weights else None
    return [
        Row(line, group, _id(item), **{_NUMBER[role]: -place if role == RUN else 1.0, "weight": weight})
        for place, item in enumerate(items, 1)
    ]


def _unfolded(record: dict[str, object], role: Role) -> list[dict[str, object]]:
    """Return one object per element of an object's lists, or the object itself if there are none."""
    values = {name: record.get(name) for name in _ROLES[role]}
    lists = {name: value for name, value in values.items() if isinstance(value, list) and name != "group"}
    if not lists:
        return [values]
    _id(values["group"])
    lengths = {len(value) for value in lists.values()}
    alone = [name for name in values if name not in lists and name not in ("group", "weight")]
    if len(lengths) > 1 or any(values[name] is not None for name in alone):
        raise _WrongTypeError("lists of unequal lengths, or a single value beside lists")
    return [values | {name: value[place] for name, value in lists.items()} for place in range(lengths.pop())]


def _row(line: int, record: dict[str, object], role: Role) -> Row:
    values: dict[str, float | None] = {}
    for name in ("score", "label", "weight"):
        if name in _ROLES[role]:
            values[name] = _number(record.get(name), name)
    return Row(line, _id(record.get("group")), _id(record.get("item")), **values)


def _id(value: object) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, Number) and value.is_whole:
        return b"0" if value.text == "-0" else value.text.encode()
    if isinstance(value, Number) and value.value is not None and value.value.is_integer() and abs(value.value) < 2**53:
        return str(int(value.value)).encode()
    if not isinstance(value, str):
        raise _WrongTypeError("an id that is neither text nor a whole number")
    try:
        return value.encode("utf-8", "strict")
    except UnicodeEncodeError:
        raise _WrongTypeError("half a character") from None


def _number(value: object, name: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) and name == "label":
        return float(value)
    number = value.value if isinstance(value, Number) else None
    if number is None:
        raise _WrongTypeError(f"{name} is not a finite number")
    return number

"""JSON lines: one object per line; a key that is absent or null is null."""

from __future__ import annotations

from .json_text import NotJsonError, Number, json_value
from .table import LABELS, RUN, Faults, Role, Row, Table, table
from .text import lines_of

_ROLES = {RUN: ("group", "item", "score", "label", "weight"), LABELS: ("group", "item", "label")}
_REQUIRED = {RUN: {"group", "score"}, LABELS: {"group", "label"}}


class _WrongTypeError(Exception):
    """A value of a type that its column cannot have."""


def json_lines(content: bytes, role: Role) -> Table:
    """Return a run or labels: ids are text or whole numbers; scores, labels and weights finite numbers.

    Labels may be true or false. Lines of blanks mean nothing. A column that no object names is absent.
    """
    faults = Faults()
    names: set[str] = set()
    found = []
    for line, text in lines_of(content, faults):
        if not text.strip(b" \t"):
            continue
        try:
            record = json_value(text.decode())
            if not isinstance(record, dict):
                raise NotJsonError("no object")
            row = _row(line, record, role)
        except (NotJsonError, _WrongTypeError) as error:
            faults.add(line, str(error))
            continue
        names |= record.keys()
        found.append(row)
    if not _REQUIRED[role] <= names or (found and found[0].group is None):  # a stream does not wait for it
        faults.add(None, "a column is missing")
    has_weights = role == RUN and "weight" in names
    return table(found, faults, role, has_items="item" in names, has_weights=has_weights)


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
        raise _WrongTypeError(f"{name} is no finite number")
    return number

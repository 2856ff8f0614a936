"""Cells of text and of JSON to the rows of a table: checked by column, and the place of a wrong cell only then found.

This is the one path behind every reader that does not give Arrow's columns.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import repeat
from typing import Any, cast
from uuid import UUID

import numpy as np

from ndcg_tracker.errors import InputError, warn
from ndcg_tracker.ingest.cells import (
    KEEP_ONE,
    YES_OR_NO,
    LinePlaces,
    Places,
    WrongValueError,
    number,
    whole_ranks,
)
from ndcg_tracker.ingest.columns import IDS, ColumnWarning, Refused
from ndcg_tracker.ingest.rows import COLUMN_OF, Rows
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.words.texts import shown

ONE_FOR_ALL = ("group", "weight")
"""The roles of which a record with lists may have one value."""
_MOST_DIGITS = 400  # the largest double has 309
_NULL, _INFINITY = float("nan"), float("inf")
_SKIPS = 2.0**53  # from here on doubles skip whole numbers
_OF_NUMBERS = b"0123456789+-.eE"
_KINDS = {
    bool: "true or false",
    int: "a number",
    float: "a fraction",
    str: "text",
    list: "an array",
    dict: "an object",
    type(None): "null",
}


def gathered(
    records: Iterable[tuple[int, Sequence[object]]],
    roles: Sequence[str],
    name: str,
    *,
    if_twice: str = KEEP_ONE,
    unit: str = "line",
    fractions: set[str] | None = None,
) -> tuple[Rows, LinePlaces]:
    """Return the table of records, each with its line and its cells in the order of the roles, and their places.

    ``name``: of the file. Raises: InputError naming the line of the first wrong cell, or what ``records`` raises below.
    """
    lines, every = array("q"), list[object]()  # all cells in one list: a list for each row costs as much as reading it
    places = LinePlaces(name, lines, if_twice, unit)

    def table() -> Rows:
        columns = {role: every[at :: len(roles)] for at, role in enumerate(roles)}
        return checked(columns, places, fractions=fractions)

    try:
        for line, cells in records:
            lines.append(line)
            every += cells
    except InputError:
        table()
        raise
    return table(), places


def checked(
    columns: Mapping[str, Sequence[object]],
    places: Places,
    lengths: Index | None = None,
    fractions: set[str] | None = None,
) -> Rows:
    """Return the table of columns of cells; an empty cell of text and null have no value.

    Parameters: ``lengths``: how many rows each group has, if that is not one for each cell. ``fractions``: see
    ``id_bytes``. Raises: the error of ``places`` for the first wrong cell.
    """
    try:
        found = {role: _column(cells, role, fractions) for role, cells in columns.items()}
    except WrongValueError:
        cells_of = dict(columns)
        if lengths is not None:
            cells_of["group"] = [one for one, n in zip(columns["group"], lengths, strict=True) for _ in range(n)]
        for row, cells in enumerate(zip(*cells_of.values(), strict=True)):
            for role, cell in zip(columns, cells, strict=True):
                try:
                    _ = id_bytes(cell, role, fractions) if role in IDS else _number(cell, role)
                except WrongValueError as error:
                    raise places.error(row, **error.told) from None
        raise
    keys: Keys = found.pop("group")
    others: dict[str, Any] = {COLUMN_OF[role]: column for role, column in found.items()}
    if lengths is not None:
        return Rows(keys, lengths, **{"items": None, **others})
    return Rows(keys, np.ones(len(keys), dtype=np.int64), **{"items": None, **others}).merged()


def _column(cells: Sequence[object], role: str, fractions: set[str] | None) -> Any:
    """Return a column of ids, numbers or ranks (WrongValueError for a wrong cell)."""
    kinds = set(map(type, cells))
    if role in IDS:
        ids = cells if kinds <= {bytes} else [id_bytes(cell, role, fractions) for cell in cells]
        return Keys.from_bytes(cast("Sequence[bytes]", ids))
    numbers: Floats | None = None
    try:
        if kinds <= {int, float}:
            numbers = np.array(cells, dtype=np.float64)
        elif kinds == {bytes} and not b"".join(cast("Sequence[bytes]", cells)).translate(None, _OF_NUMBERS):
            numbers = np.array(list(map(float, cast("Sequence[bytes]", cells))))
    except (OverflowError, ValueError):
        pass
    if numbers is None or not np.isfinite(numbers).all():
        numbers = np.array([_number(cell, role) for cell in cells], dtype=np.float64)
    return whole_ranks(numbers) if role == "rank" else numbers


def cell_number(cell: object, role: str) -> float:
    """Return the number in a cell of any table, also one written as text, NaN for none (WrongValueError for others)."""
    if isinstance(cell, str):
        cell = cell.encode(errors="replace")
    return _number(float(cell) if isinstance(cell, Decimal) else cell, role)


def _number(cell: object, role: str) -> float:
    """Return the number in a cell, NaN for none."""
    if not isinstance(cell, bytes):
        return json_number(cell, role)
    text = cell.strip(b" \t")
    return number(text, role) if text else _NULL


def unfolded(
    records: Iterable[tuple[int, Sequence[object]]], names: Mapping[str, str], place: Callable[[int], str]
) -> Iterator[tuple[int, Sequence[object]]]:
    """Yield records, those with lists once per element; cells are in the order of ``names``, the column of each role.

    A weight may be one for all. Raises: InputError naming the group, and the ``place`` of the record, for lists of
    unequal lengths.

    >>> names = {"group": "qid", "item": "docs", "score": "scores"}
    >>> list(unfolded([(1, ["q", ["a", "b"], [2, 1]])], names, str))
    [(1, ('q', 'a', 2)), (1, ('q', 'b', 1))]
    """
    for line, cells in records:
        if list not in map(type, cells):
            yield line, cells
            continue
        values: dict[str, Any] = dict(zip(names, cells, strict=True))
        rank = values.pop("rank", None)
        lists = {role: value for role, value in values.items() if type(value) is list}
        if "rank" in names:
            values["rank"] = rank if isinstance(rank, list) is bool(lists) else None  # else another column
        if not lists:
            yield line, [*values.values()]
            continue
        lists |= {"rank": rank} if values.get("rank") is not None else {}
        try:
            group = id_bytes(values["group"], "group", set())
            lengths = {role: len(value) for role, value in lists.items()}
            if len(set(lengths.values())) > 1:
                raise unequal(lengths, names, group, WrongValueError)
            length, columns = len(next(iter(lists.values()))), []
            for role, value in values.items():
                if role not in lists and value is not None and role not in ONE_FOR_ALL:
                    raise no_list(role, next(iter(lists)), names, WrongValueError)
                columns.append(value if role in lists else repeat(value, length))
        except WrongValueError as error:
            raise InputError(**error.told, where=place(line)) from None
        yield from zip(repeat(line), zip(*columns, strict=True))


def json_integer(text: str) -> int:
    """Return a whole number from its digits. Raises: WrongValueError for more digits than are ever needed."""
    if len(text) > _MOST_DIGITS:
        raise WrongValueError(
            f"a whole number of {len(text)} digits is too large", advice="use a smaller one, or text for an id"
        )
    return int(text)


def keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises: WrongValueError for a key that is there twice."""
    record = dict(pairs)
    if len(record) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise WrongValueError(f"key {shown(twice)} is there twice", advice="keep one of the two")
    return record


def json_of(line: bytes, decoder: json.JSONDecoder, advice: str) -> Any:
    """Return the JSON value in a line of UTF-8. Raises: WrongValueError, with ``advice``, for none."""
    try:
        return decoder.decode(line.decode())
    except json.JSONDecodeError as error:
        raise WrongValueError(f"not valid JSON ({error.msg}, column {error.colno})", advice=advice) from None
    except RecursionError:
        raise WrongValueError("JSON nested too deeply", advice=advice) from None


def id_bytes(value: object, role: str, fractions: set[str] | None = None) -> bytes:
    """Return an id as bytes, empty for null. Raises: WrongValueError for anything but text, UUIDs and whole numbers.

    ``fractions``: collects the role if the id is a whole number written as a fraction, as after a join in pandas.

    >>> id_bytes("d7", "item"), id_bytes(7, "item"), id_bytes(None, "item"), id_bytes(7.0, "item", set())
    (b'd7', b'7', b'', b'7')
    """
    try:
        if isinstance(value, str):
            return value.encode()
        if type(value) is bytes:
            return value.decode().encode()
    except UnicodeEncodeError:
        what = f"the {role} id {shown(str(value))} has an incomplete character"
        raise WrongValueError(what, advice="write ids as UTF-8") from None
    except UnicodeDecodeError as error:
        what = f"byte 0x{error.object[error.start]:02x} is not UTF-8"
        raise WrongValueError(what, advice="write ids as UTF-8") from None
    if value is None:
        return b""
    if type(value) is float and fractions is not None and value.is_integer() and abs(value) < _SKIPS:
        fractions.add(role)
        value = int(value)
    if type(value) is int or isinstance(value, UUID):
        return str(value).encode()
    raise WrongValueError(f"the {role} id is {kind_of(value)}; ids are text or whole numbers")


def warn_of_fractions(roles: set[str]) -> None:
    """Warn of ids that were whole numbers written as fractions, and forget them."""
    for role in sorted(roles):
        what = f"the ids of the {role}s came as fractions and are all whole numbers: 7.0 is read as 7"
        warn(ColumnWarning(what, advice="write them as whole numbers or text"))
    roles.clear()


def json_number(value: object, role: str) -> float:
    """Return a finite number as a double, NaN for null (else WrongValueError); labels may be Booleans, ranks anything.

    >>> json_number(3, "score"), json_number(True, "label"), json_number(None, "score"), json_number("a", "rank")
    (3.0, 1.0, nan, nan)
    """
    if value is None or (role == "rank" and not _is_whole(value)):
        return _NULL
    if role == "label" and isinstance(value, str):
        value = YES_OR_NO.get(value.encode(errors="replace").lower(), value)
    if not isinstance(value, (int, float)) or (isinstance(value, bool) and role != "label"):
        raise WrongValueError(f"the {role} is {kind_of(value)}", advice="write a number, or null for none")
    try:
        number = float(value)
    except OverflowError:
        number = _INFINITY
    if number != number:
        raise WrongValueError(f"the {role} is NaN", advice="use a finite number, or null for none")
    if number == -_INFINITY and role == "score":
        return _NULL
    if number in (_INFINITY, -_INFINITY):
        raise WrongValueError(f"the {role} is too large for a double", advice="use a finite number")
    return number


def _is_whole(value: object) -> bool:
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def kind_of(value: object) -> str:
    """Return what a value is, in words."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def unequal(
    lengths: Mapping[str, int], names: Mapping[str, str], group: str | bytes | int, refused: Refused
) -> Exception:
    """Return the error of ``refused`` for a row whose lists differ in length; ``lengths``: by role, -1 for null."""
    group = str(group) if isinstance(group, int) else group
    listed = ", ".join(f"{shown(names[role])} {length if length >= 0 else 'null'}" for role, length in lengths.items())
    what = f"the lists of group {shown(group)} differ in length ({listed})"
    return refused(what, advice="give one value per item in each list")


def no_list(role: str, listed: str, names: Mapping[str, str], refused: Refused) -> Exception:
    """Return the error of ``refused`` for single values in the column of a role, next to the lists of another."""
    what = f"{shown(names[role])} holds single values, but {shown(names[listed])} holds lists"
    return refused(what, advice="give lists in both")

"""Attributes and weights of groups: files and frames with one row per group."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, isnan, nan
from typing import Any, BinaryIO

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.columns import Refused, absent_column
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.formats.delimited import cells_of
from ndcg_tracker.ingest.formats.jsonl import json_record
from ndcg_tracker.ingest.formats.parquet import opened_parquet
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import LinePlaces, Places, RowPlaces, shown
from ndcg_tracker.ingest.source import Progress, Source
from ndcg_tracker.ingest.table import LONGEST_ID, NO_ROW, TOO_HEAVY
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.rankings.weights import MAX_WEIGHT

GROUP_READERS = ("csv", "tsv", "jsonl", "parquet")

_HEAD = 1 << 16  # bytes that tell the format
Attribute = str | int | float
_KINDS = {bool: "true or false", float: "a fraction", str: "text", list: "an array", dict: "an object"}
Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class GroupColumns:
    """The names of the columns of a table of groups; None is the default.

    By default the groups stand in ``group``, the weights in ``weight`` if there is such a column, and every further
    column is an attribute. ``attributes`` names those that are.
    """

    group: str | None = None
    weight: str | None = None
    attributes: tuple[str, ...] | None = None


DEFAULT_GROUP_COLUMNS = GroupColumns()


@dataclass(frozen=True, slots=True)
class GroupTable:
    """What is said of some groups.

    ``group_keys``: n ids, none twice. ``weights``: float64, shape (n,), finite and >= 0, NaN for a group that is to
    have none; None where nothing is said of weights. ``attributes``: by name, n values, None for a group that is to
    have none.
    """

    group_keys: Keys
    weights: Floats | None
    attributes: dict[str, list[Attribute | None]]


def read_groups(
    path: str,
    *,
    reader: str | None = None,
    columns: GroupColumns = DEFAULT_GROUP_COLUMNS,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> GroupTable:
    """Return the attributes and weights that a file gives to groups.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input; ``reader``: one of ``GROUP_READERS``,
    None to tell from the file's name and content; ``columns``: see ``GroupColumns``. In CSV and TSV every attribute is
    text, in JSON lines and Parquet text or a number, true and false becoming text; an empty cell, null, and in JSON
    lines an absent key take the attribute or weight away. Raises: InputError, one line,
    ``FILE:LINE: what; what to do``.
    """
    if reader is not None and reader not in GROUP_READERS:
        raise InputError(f"no reader {shown(reader)} for groups; choose one of {' '.join(GROUP_READERS)}")
    with Source(path, stdin=stdin, progress=progress) as source:
        head = source.head(_HEAD)
        if not head:
            raise source.error("is empty; give a file that has rows")
        name = reader or detect_reader(path, head)
        if name == "jsonl":
            return _table(json_records(source), columns)
        if name == "parquet":
            return _table(parquet_records(source), columns)
        if name not in GROUP_READERS:
            choice = " ".join(GROUP_READERS)
            raise source.error(
                f"this is read as {name}, which is not read for groups; name another with "
                f"{argument('reader')} ({choice})"
            )
        return _table(delimited_records(source, b"," if name == "csv" else b"\t"), columns)


def read_group_frame(frame: object, columns: GroupColumns = DEFAULT_GROUP_COLUMNS) -> GroupTable:
    """Return the attributes and weights that a frame gives to groups, one row per group.

    Parameters: ``frame``, a pandas DataFrame, a dict of columns, or what speaks Arrow's C stream interface; in pandas
    and dicts NaN is null. Raises: InputError naming the row or the column.

    >>> read_group_frame({"group": ["q1", "q2"], "device": ["phone", None]}).attributes
    {'device': ['phone', None]}
    """
    return _table(frame_records(frame), columns)


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The places in a header of the group, of the weight (None: nowhere), and of each attribute."""

    group: int
    weight: int | None
    attributes: dict[str, int]


def _table(records: Records, columns: GroupColumns) -> GroupTable:
    chosen = _chosen(records.header, columns, records.refused)
    places = records.places
    names = list(chosen.attributes)
    wanted = [chosen.group, *([] if chosen.weight is None else [chosen.weight]), *chosen.attributes.values()]
    first_row: dict[str, int] = {}
    weights: list[float] = []
    values: list[list[Attribute | None]] = [[] for _ in names]
    for row, cells in enumerate(records.rows(wanted)):
        rest = iter(cells)
        try:
            key = group_id(next(rest))
            if chosen.weight is not None:
                cell = next(rest)
                weights.append(text_weight(cell) if records.is_text and isinstance(cell, str) else group_weight(cell))
            for name, of_attribute, cell in zip(names, values, rest, strict=True):
                of_attribute.append(attribute(cell, name))
        except ValueError as error:
            raise places.error(row, str(error)) from None
        if first_row.setdefault(key, row) != row:
            first = places.mention(first_row[key])
            raise places.error(row, f"group {shown(key)} stands in {first} already; keep one of the two")
    if not first_row:
        raise places.whole(NO_ROW)
    return GroupTable(
        Keys.from_strings(first_row),
        None if chosen.weight is None else np.array(weights, dtype=np.float64),
        dict(zip(names, values, strict=True)),
    )


def _chosen(header: list[str], columns: GroupColumns, refused: Refused) -> _Chosen:
    """Return where the columns are (what ``refused`` makes of one that is absent, stands twice or has no name)."""
    group = columns.group or "group"
    at_group = _place(header, group, "group", refused)
    named = None if columns.attributes is None else list(dict.fromkeys(columns.attributes))
    weight = columns.weight
    if weight is None and "weight" in header and group != "weight" and "weight" not in (named or ()):
        weight = "weight"
    taken = {group: "group", **({} if weight is None else {weight: "weight"})}
    if weight == group:
        raise refused(
            f"column {shown(group)} cannot be both the group and the weight; name another one with {argument('weight')}"
        )
    if named is None:
        named = list(dict.fromkeys(name for name in header if name not in taken))
    attributes = {}
    for name in named:
        if name in taken:
            raise refused(f"column {shown(name)} is the {taken[name]} column; leave it out of {argument('attributes')}")
        attributes[name] = _place(header, name, "attribute", refused)
        if not name.strip():
            raise refused(
                f"column {attributes[name] + 1} has no name; name it, or choose others with {argument('attributes')}"
            )
        try:
            checked_text(name, "a column's name")
        except ValueError as error:
            raise refused(str(error)) from None
    at_weight = None if weight is None else _place(header, weight, "weight", refused)
    if at_weight is None and not attributes:
        raise refused("there is no column beside the group; add one per attribute, or one with weights")
    return _Chosen(at_group, at_weight, attributes)


def _place(header: Sequence[str], name: str, role: str, refused: Refused) -> int:
    count = header.count(name)
    if count > 1:
        raise refused(f"column {shown(name)} appears {count} times; rename all but one")
    if not count:
        raise refused(absent_column(name, role, header))
    return header.index(name)


def group_id(value: object) -> str:
    """Return the group id that a cell holds; whole numbers become their decimal text.

    Raises: ValueError, its message without a place, for an id that is empty, too long, or none.

    >>> group_id("007"), group_id(7)
    ('007', '7')
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            raise ValueError(f"byte 0x{value[error.start]:02x} is not UTF-8; write ids as UTF-8") from None
    if type(value) is int:
        value = str(value)
    if value is None or value == "":
        raise ValueError("the group id is empty; every row needs one")
    if not isinstance(value, str):
        raise ValueError(f"the group id is {_kind(value)}; ids are text or whole numbers")
    n_bytes = len(checked_text(value, "the group id"))
    if n_bytes > LONGEST_ID:
        raise ValueError(f"the group id has {n_bytes} bytes; shorten it to {LONGEST_ID} or fewer")
    return value


def text_weight(cell: str) -> float:
    """Return the weight that a cell of a text file holds, NaN for an empty one (ValueError: see ``group_weight``).

    >>> text_weight(" 2.5 "), text_weight("")
    (2.5, nan)
    """
    stripped = cell.strip(" \t")
    if not stripped:
        return nan
    try:
        weight = number(stripped.encode())
    except ValueError as error:
        raise ValueError(f"weight {error}") from None
    return group_weight(weight)


def group_weight(value: object) -> float:
    """Return the weight that a value is, NaN for None.

    Raises: ValueError, its message without a place, for what is not a number from 0 to ``MAX_WEIGHT``.

    >>> group_weight(3), group_weight(None)
    (3.0, nan)
    """
    if value is None:
        return nan
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise ValueError(f"the weight is {_kind(value)}; write a number, or null for none")
    try:
        weight = float(value)
    except OverflowError:
        raise ValueError("the weight is too large for a double; use a finite number") from None
    if not isfinite(weight):
        raise ValueError(f"the weight is {weight}; use a finite number, or null for none")
    if weight < 0:
        raise ValueError("the weight is negative; weights are 0 or more")
    if weight > MAX_WEIGHT:
        raise ValueError(TOO_HEAVY)
    return abs(weight)  # no -0.0


def attribute(value: object, name: str) -> Attribute | None:
    """Return the text or number that an attribute has for a group, None for an empty one.

    True and false become the texts ``true`` and ``false``. Raises: ValueError, its message without a place, for what
    is neither text nor a finite number.

    >>> attribute("de", "country"), attribute("", "country"), attribute(True, "is_mobile"), attribute(3, "n_words")
    ('de', None, 'true', 3)
    """
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        checked_text(value, shown(name))
        return value
    if isinstance(value, int):
        return value
    if not isinstance(value, float | Decimal):
        raise ValueError(f"{shown(name)} is {_kind(value)}; attributes are text or numbers")
    if not isfinite(value):
        raise ValueError(f"{shown(name)} is {float(value)}; use a finite number, or null for none")
    return float(value)


def checked_text(text: str, what: str) -> bytes:
    """Return the UTF-8 bytes of a text (ValueError where a database cannot keep it)."""
    if "\0" in text:
        raise ValueError(f"{what} has a NUL byte; write the file again without it")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{what} has half a character; write the file as UTF-8") from None


def plain(value: object, *, nan_is_null: bool) -> object:
    """Return a value of a frame as Python's own type; None for what is null there.

    >>> plain(np.int64(3), nan_is_null=True), plain(nan, nan_is_null=True)
    (3, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if nan_is_null and isinstance(value, float) and isnan(value) else value


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class Records:
    """A header, and the cells of all rows under the columns that are asked for by their places in the header.

    ``places``: where each row stands, known once the row was given. ``refused`` makes the error for a wrong header.
    ``is_text``: whether all cells are text, numbers too.
    """

    header: list[str]
    rows: Callable[[Sequence[int]], Iterator[Row]]
    places: Places
    refused: Callable[[str], Exception]
    is_text: bool = False


def delimited_records(source: Source, delimiter: bytes) -> Records:
    """Return the records of a CSV or TSV file (see ``formats.delimited``).

    Raises: InputError naming the line, here or in a row, for a wrong number of cells and a quote out of place.
    """
    read = cells_of(source, delimiter)
    header_line, names = next(read, (1, []))
    header = [name.decode() for name in names]
    lines: list[int] = []

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        for line, cells in read:
            if len(cells) != len(header):
                count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise source.error(f"{count} where the header has {len(header)}; correct the line", line)
            lines.append(line)
            yield [cells[place].decode() for place in wanted]

    places = LinePlaces(source.name, lines)
    return Records(header, rows, places, lambda what: source.error(what, header_line), is_text=True)


def json_records(source: Source) -> Records:
    """Return the records of a JSON lines file; a key that is absent is null.

    Raises: InputError naming the line for what is no JSON object.
    """
    lines: list[int] = []
    found: list[dict[str, Any]] = []
    for line, text in source.lines():
        if not text.strip(b" \t"):
            continue
        try:
            found.append(json_record(text))
        except ValueError as error:
            raise source.error(str(error), line) from None
        lines.append(line)
    header = list(dict.fromkeys(name for record in found for name in record))

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        names = [header[place] for place in wanted]
        return ([record.get(name) for name in names] for record in found)

    return Records(header, rows, LinePlaces(source.name, lines), source.error)


def parquet_records(source: Source) -> Records:
    """Return the records of a Parquet file.

    Raises: InputError, here or in a row, for a file that is broken.
    """
    import pyarrow as pa

    file = source.file_path() or pa.BufferReader(source.content())

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        with opened_parquet(file, source) as opened:
            for batch in opened.iter_batches(columns=[header[place] for place in wanted]):
                columns = [batch.column(header[place]).to_pylist() for place in wanted]
                yield from zip(*columns, strict=True)

    with opened_parquet(file, source) as opened:
        header = [str(name) for name in opened.schema_arrow.names]
    return Records(header, rows, RowPlaces(source.name), source.error)


def frame_records(frame: object) -> Records:
    """Return the records of a pandas DataFrame, a dict of columns, or what speaks Arrow's C stream interface.

    In pandas and dicts NaN is null. Raises: InputError for anything else.
    """
    header, column, nan_is_null = _opened(frame)

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        columns = [column(place) for place in wanted]
        lengths = [len(values) for values in columns]
        if len(set(lengths)) > 1:
            listed = ", ".join(f"{shown(header[at])} {n}" for at, n in zip(wanted, lengths, strict=True))
            raise InputError(f"the columns differ in length ({listed}); give one value per row in each")
        for values in zip(*columns, strict=True):
            yield [plain(value, nan_is_null=nan_is_null) for value in values]

    places = RowPlaces()
    return Records(header, rows, places, places.whole)


def _opened(frame: object) -> tuple[list[str], Callable[[int], Sequence[object]], bool]:
    """Return a frame's column names, a function from a column's place to its values, and whether NaN is null."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return [_name(label) for label in frame.columns], lambda place: frame.iloc[:, place].tolist(), True
    if isinstance(frame, Mapping):
        names, columns = [_name(label) for label in frame], list(frame.values())
        return names, lambda place: _values(columns[place], names[place]), True
    if not hasattr(frame, "__arrow_c_stream__"):
        kind = type(frame).__name__
        raise InputError(f"cannot read a {kind}; give a pandas DataFrame, a pyarrow Table or a dict of columns")
    import pyarrow as pa

    table: Any = pa.table(frame)
    return [str(name) for name in table.column_names], lambda place: table.column(place).to_pylist(), False


def _name(label: object) -> str:
    return label if isinstance(label, str) else repr(label)


def _values(column: Any, name: str) -> Sequence[object]:
    if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
        raise InputError(f"column {shown(name)} is a single {type(column).__name__}; give one value per row")
    return list(column)

"""Read tables of facts about groups and items: the cells of each row of a file or frame, with the row's place."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from math import isnan
from typing import Any, BinaryIO
from uuid import UUID

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import LinePlaces, RowPlaces, WrongValueError
from ndcg_tracker.ingest.columns import Refused, absent_columns, column_name, often_called, refuse_single
from ndcg_tracker.ingest.detection import detect_delimited, detect_reader
from ndcg_tracker.ingest.formats.delimited import cells_of
from ndcg_tracker.ingest.formats.jsonl import json_record
from ndcg_tracker.ingest.formats.parquet import opened_parquet
from ndcg_tracker.ingest.objects import table_in
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.ingest.table import LONGEST_ID
from ndcg_tracker.unpacking import parquet_batches
from ndcg_tracker.words.texts import shown, shown_name

READERS = ("csv", "tsv", "jsonl", "parquet")

MAX_KEYS = 10_000
"""How many different keys the objects of a JSON lines file may have."""

_FEW_TEXTS = 1_000
_LARGEST_CELL = 10_000_000  # bytes; Python takes four times as much for a list of numbers
_HEAD = 1 << 16  # bytes that show the format
_ROWS_AT_ONCE = 1 << 16
_KINDS = {bool: "true or false", float: "a fraction", str: "text", list: "an array", dict: "an object"}
Row = Sequence[object]


@dataclass(frozen=True, slots=True)
class Records:
    """A header, and the cells of all rows in the requested columns, which are given by their places in the header.

    ``places``: the place of each row, known once the row was yielded. ``refused`` makes the error for a wrong header.
    ``is_text``: whether all cells are text, even numbers.
    """

    header: list[str]
    rows: Callable[[Sequence[int]], Iterator[Row]]
    places: LinePlaces | RowPlaces
    refused: Refused
    is_text: bool = False


@contextmanager
def opened_records(
    path: str,
    what: str,
    *,
    reader: str | None = None,
    header: Sequence[str] | None = None,
    stdin: BinaryIO | None = None,
) -> Iterator[Records]:
    """Open a file and yield its records, to be read before it is closed.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input. ``what``: what the rows
    are about. ``reader``: one of ``READERS``, None to detect it from the file's name and content. ``header``: the names
    of all columns of a CSV or TSV file whose first line is a row. Raises: InputError, one line, ``FILE:LINE: what; what
    to do``.
    """
    if reader is not None and reader not in READERS:
        raise InputError(f"no reader {shown(reader)} for {what}", advice=f"choose one of {' '.join(READERS)}")
    with Source(path, stdin=stdin) as source:
        yield records_in(source, path, what, reader=reader, header=header)


def records_in(
    source: Source, path: str, what: str, *, reader: str | None = None, header: Sequence[str] | None = None
) -> Records:
    """Return the records of an open file (see ``opened_records``)."""
    head = source.head(_HEAD)
    if not head:
        raise source.error("is empty", advice="give a file that has rows")
    name = reader or (detect_reader if header is None else detect_delimited)(path, head)
    if header is not None and name not in ("csv", "tsv"):
        words = f"{argument('columns')} is for csv or tsv files without a header"
        raise source.error(f"{words}, but this file is read as {name}", advice="leave it out")
    if name == "jsonl":
        return json_records(source)
    if name == "parquet":
        return parquet_records(source)
    if name in READERS:
        return delimited_records(source, b"," if name == "csv" else b"\t", header)
    raise source.error(
        f"this file is read as {name}, which is not supported for {what}",
        advice=f"name another with {argument('reader')} ({' '.join(READERS)})",
    )


def delimited_records(source: Source, delimiter: bytes, header: Sequence[str] | None = None) -> Records:
    """Return the records of a CSV or TSV file (see ``formats.delimited``).

    ``header``: the names of its columns if the first line is a row; in such TSV files, for example from MS MARCO,
    quotes are ordinary characters. Raises: InputError naming the line, here or in a row, for a wrong number of cells
    and for a misplaced quote.
    """
    is_quoted = header is None or delimiter != b"\t"
    read = cells_of(source, delimiter, quotes=is_quoted)
    named = "the header has" if header is None else f"{argument('columns')} names"
    header_line = 1
    if header is None:
        header_line, names = next(read, (1, []))
        header = [name.decode() for name in names]
    header = list(header)
    lines: list[int] = []

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        for line, cells in read:
            if len(cells) != len(header):
                count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise source.error(f"{count} where {named} {len(header)}", line, advice="correct the line")
            lines.append(line)
            yield [cells[place].decode() for place in wanted]

    places = LinePlaces(source.name, lines)
    return Records(header, rows, places, partial(source.error, line=header_line), is_text=True)


def json_records(source: Source) -> Records:
    """Return the records of a JSON lines file; a key that is absent is null.

    Raises: InputError naming the line for anything but a JSON object, and for more than ``MAX_KEYS`` keys in a file.
    """
    lines = array("q")
    columns: dict[str, _Cells] = {}
    for line, text in source.lines():
        if not text.strip(b" \t"):
            continue
        try:
            record = json_record(text)
        except WrongValueError as error:
            raise error.at(f"{source.name}:{line}") from None
        for name, value in record.items():
            cells = columns.get(name)
            if cells is None:
                if len(columns) == MAX_KEYS:
                    raise source.error(f"more than {MAX_KEYS:,} different keys", line, advice="use one key per column")
                cells = columns[name] = _Cells()
            cells.add(len(lines), value)
        lines.append(line)
    header = list(columns)

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        if not wanted:
            return (() for _ in lines)
        return zip(*(columns[header[place]].of_rows(len(lines)) for place in wanted), strict=True)

    return Records(header, rows, LinePlaces(source.name, lines), source.error)


class _Cells:
    """The values of one key, with their rows: a dict per row would take 250 bytes for a file's 15."""

    def __init__(self) -> None:
        self._rows = array("q")
        self._values: list[object] = []
        self._texts: dict[object, object] = {}

    def add(self, row: int, value: object) -> None:
        """Add the value of a row; equal texts are one object while they are few."""
        if type(value) is str:
            if len(self._texts) < _FEW_TEXTS:
                value = self._texts.setdefault(value, value)
            else:
                value = self._texts.get(value, value)
        self._rows.append(row)
        self._values.append(value)

    def of_rows(self, n_rows: int) -> Iterator[object]:
        """Yield the value of each row, None where it has none."""
        following = 0
        for row, value in zip(self._rows, self._values, strict=True):
            yield from repeat(None, row - following)
            yield value
            following = row + 1
        yield from repeat(None, n_rows - following)


def parquet_records(source: Source) -> Records:
    """Return the records of a Parquet file.

    Raises: InputError, here or in a row, for a file that is broken.
    """
    import pyarrow as pa

    file = source.file_path() or pa.BufferReader(source.content())
    places = RowPlaces(source.name)

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        with opened_parquet(file, source) as opened:
            names = [header[place] for place in wanted]
            first = 0
            for batch in parquet_batches(opened, file, names, _ROWS_AT_ONCE):
                yield from zip(*(_cells_of(batch.column(name), places, first) for name in names), strict=True)
                first += batch.num_rows

    with opened_parquet(file, source) as opened:
        header = [str(name) for name in opened.schema_arrow.names]
    return Records(header, rows, places, source.error)


def _cells_of(column: Any, places: RowPlaces, first: int) -> Iterable[object]:
    """Return the cells of a column from row ``first`` on, those with lists one by one because each may be large."""
    import pyarrow as pa

    if not pa.types.is_nested(column.type):
        return column.to_pylist()  # type: ignore[no-any-return]

    def cells() -> Iterator[object]:
        for row in range(len(column)):
            cell = column.slice(row, 1)
            if cell.nbytes > _LARGEST_CELL:
                raise places.error(
                    first + row, f"a list of {cell.nbytes / 1e6:,.0f} MB", advice="write one value per row"
                )
            yield cell[0].as_py()

    return cells()


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
            raise InputError(f"the columns differ in length ({listed})", advice="give one value per row in each")
        for values in zip(*columns, strict=True):
            yield [plain(value, nan_is_null=nan_is_null) for value in values]

    places = RowPlaces()
    return Records(header, rows, places, places.whole)


def by_group(given: object, name: str) -> object | None:
    """Return a dict or pandas Series of a value per group as a table with the columns ``group`` and ``name``.

    None for what is neither.

    >>> by_group({"q1": 0.5, "q2": None}, "value")
    {'group': ['q1', 'q2'], 'value': [0.5, None]}
    """
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(given, pandas.Series):
        return {"group": given.index.tolist(), name: given.tolist()}
    if not isinstance(given, Mapping):
        return None
    values = list(given.values())
    if any(hasattr(value, "__len__") and not isinstance(value, str) for value in values):
        return None
    return {"group": list(given), name: values}


def _opened(frame: object) -> tuple[list[str], Callable[[int], Sequence[object]], bool]:
    """Return a frame's column names, a function from a column's place to its values, and whether NaN is null."""
    frame = table_in(frame)
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return [column_name(label) for label in frame.columns], lambda place: frame.iloc[:, place].tolist(), True
    if isinstance(frame, Mapping):
        names, columns = [column_name(label) for label in frame], list(frame.values())
        return names, lambda place: _values(columns[place], names[place]), True
    if not hasattr(frame, "__arrow_c_stream__"):
        kind = type(frame).__name__
        raise InputError(
            f"cannot read a {kind}", advice="give a pandas DataFrame, a pyarrow Table or a dict of columns"
        )
    import pyarrow as pa

    try:
        table: Any = pa.table(frame)
    except (pa.ArrowInvalid, TypeError):
        kind = type(frame).__name__
        raise InputError(f"a {kind} has no columns", advice="give a table, such as a pandas DataFrame") from None
    return [str(name) for name in table.column_names], lambda place: table.column(place).to_pylist(), False


def _values(column: Any, name: str) -> Sequence[object]:
    refuse_single(column, name)
    return list(column)


def place_of(header: Sequence[str], name: str, role: str, refused: Refused) -> int:
    """Return where a column is (the error of ``refused`` for one that is absent or appears twice)."""
    count = header.count(name)
    if count > 1:
        raise refused(f"column {shown(name)} appears {count} times", advice="rename all but one")
    if not count:
        alike = often_called(role, header)
        raise absent_columns({name: role}, header, refused, likely={role: alike[0]} if len(alike) == 1 else {})
    return header.index(name)


def cell_id(value: object, role: str) -> str:
    """Return the id of a ``role`` ("group", "item") that a cell holds; whole numbers become their decimal text.

    Raises: WrongValueError for an id that is empty, too long, or not an id.

    >>> cell_id("007", "group"), cell_id(7, "item")
    ('007', '7')
    """
    if isinstance(value, bytes):
        try:
            value = value.decode()
        except UnicodeDecodeError as error:
            raise WrongValueError(
                f"byte 0x{value[error.start]:02x} is not UTF-8", advice="write ids as UTF-8"
            ) from None
    if type(value) is int or isinstance(value, UUID):
        value = str(value)
    if value is None or value == "":
        raise WrongValueError(f"the {role} id is empty; every row needs one")
    if not isinstance(value, str):
        raise WrongValueError(f"the {role} id is {kind_of(value)}; ids are text or whole numbers")
    n_bytes = len(checked_text(value, f"the {role} id"))
    if n_bytes > LONGEST_ID:
        raise WrongValueError(f"the {role} id has {n_bytes} bytes", advice=f"shorten it to {LONGEST_ID} or fewer")
    return value


def checked_text(text: str, what: str) -> bytes:
    """Return the UTF-8 bytes of a text (WrongValueError if a database cannot store it)."""
    if "\0" in text:
        raise WrongValueError(f"{what} has a NUL byte", advice="write the file again without it")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WrongValueError(f"{what} has an incomplete character", advice="write the file as UTF-8") from None


def plain(value: object, *, nan_is_null: bool) -> object:
    """Return a value of a frame as Python's own type; None for what is null there.

    >>> plain(np.int64(3), nan_is_null=True), plain(float("nan"), nan_is_null=True)
    (3, None)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if nan_is_null and isinstance(value, float) and isnan(value) else value


def kind_of(value: object) -> str:
    """Return what a value is, in words."""
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def place_of_pair(path: str | None, group: str, item: str) -> str:
    """Return the place of the row about a group's item in a file, ``FILE:LINE`` if it has lines; "" if unknown."""
    if path in (None, "-"):
        return ""
    try:
        with opened_records(path, "labels") as records:
            for row, cells in enumerate(records.rows(range(len(records.header)))):
                texts = [str(cell) for cell in cells]
                if group in texts and item in texts:
                    return records.places.place(row)
    except InputError:  # a format without rows of cells
        pass
    return shown_name(path)

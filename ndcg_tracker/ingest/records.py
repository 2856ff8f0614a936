"""Read tables of facts about groups and items: the cells of each row of a file or frame, with the row's place."""

from __future__ import annotations

import os
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import isnan
from typing import Any, BinaryIO, TypeVar

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import LinePlaces, Places, RowPlaces, WrongValueError
from ndcg_tracker.ingest.columns import (
    IDS,
    Refused,
    absent_columns,
    column_about,
    often_called,
    refuse_single,
)
from ndcg_tracker.ingest.detection import WITH_COLUMNS, detect_delimited, detect_reader, is_of_package
from ndcg_tracker.ingest.formats.delimited import cells_of, whole_records
from ndcg_tracker.ingest.formats.json_documents import is_table, value_in
from ndcg_tracker.ingest.formats.jsonl import json_lines
from ndcg_tracker.ingest.formats.parquet import opened_parquet
from ndcg_tracker.ingest.objects import table_in
from ndcg_tracker.ingest.plain import id_bytes
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.ingest.table import LONGEST_ID
from ndcg_tracker.ingest.tables import Table, table_of
from ndcg_tracker.unpacking import parquet_batches
from ndcg_tracker.words.texts import counted, shown, shown_name

MAX_KEYS = 10_000
"""How many different keys the objects of a JSON lines file may have."""

_LARGEST_CELL = 10_000_000  # bytes; Python takes four times as much for a list of numbers
_HEAD = 1 << 16  # bytes that show the format
_ROWS_AT_ONCE = 1 << 16
Row = Sequence[object]
Key = TypeVar("Key")
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Records:
    """A header, and the cells of all rows in the requested columns, which are given by their places in the header.

    ``places``: the place of each row, known once the row was yielded. ``refused`` makes the error for a wrong header.
    """

    header: list[str]
    rows: Callable[[Sequence[int]], Iterator[Row]]
    places: Places
    refused: Refused

    def by_key(
        self, wanted: Sequence[int], read: Callable[[Row], tuple[Key, Value] | None], called: Callable[[Key], str]
    ) -> dict[Key, Value]:
        """Return what ``read`` makes of the cells of each row: a key and a value, None for a row to leave out.

        ``called``: a key in words. Raises: InputError naming the row for what ``read`` refuses, and for a key that is
        there twice.
        """
        found: dict[Key, Value] = {}
        first_row: dict[Key, int] = {}
        for row, cells in enumerate(self.rows(wanted)):
            try:
                entry = read(cells)
            except WrongValueError as error:
                raise error.at(self.places.place(row)) from None
            if entry is None:
                continue
            if first_row.setdefault(entry[0], row) != row:
                what = f"{called(entry[0])} is in {self.places.mention(first_row[entry[0]])} already"
                raise self.places.error(row, what, advice="keep one of the two")
            found[entry[0]] = entry[1]
        return found


@contextmanager
def opened_records(
    given: object,
    what: str,
    *,
    reader: str | None = None,
    header: Sequence[str] | None = None,
    stdin: BinaryIO | None = None,
    asked: Sequence[str | None] = (),
    detect: Callable[[str, bytes], str] = detect_reader,
) -> Iterator[Records]:
    """Yield the records of a file or a table, to be read before it is closed.

    Parameters: ``given``, a file, compressed or not, ``-`` for standard input, or a table (see ``frame_records``).
    ``what``: what the rows are about. ``reader``: one of ``WITH_COLUMNS``, None to detect it from the file's name and
    content with ``detect``. ``header``: the names of all columns of a CSV or TSV file whose first line is a row.
    ``asked``: the names of the columns of the key and the value that the caller gave, None for no name; they also name
    those of a value per key. Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    if not isinstance(given, str | os.PathLike):
        yield frame_records(given, asked)
        return
    path = os.fspath(given)
    if reader is not None and reader not in WITH_COLUMNS and not is_of_package(reader):
        raise InputError(f"no reader {shown(reader)} for {what}", advice=f"choose one of {' '.join(WITH_COLUMNS)}")
    with Source(path, stdin=stdin) as source:
        _, name = beginning(source, _HEAD, reader, header, detect)
        yield records_in(source, name, what, header=header, asked=asked)


def beginning(
    source: Source,
    n_bytes: int,
    reader: str | None,
    header: Sequence[str] | None,
    detect: Callable[[str, bytes], str] = detect_reader,
) -> tuple[bytes, str]:
    """Return the first bytes of a file and the name of its reader (InputError for an empty file; see above)."""
    head = source.head(n_bytes)
    if not head:
        raise source.error("is empty", advice="give a file that has rows")
    name = reader or (detect if header is None else detect_delimited)(source.path, head)
    if header is not None and name not in ("csv", "tsv"):
        words = f"{argument('columns')} is for csv or tsv files without a header"
        raise source.error(f"{words}, but this file is read as {name}", advice="leave it out")
    return head, name


def records_in(
    source: Source, name: str, what: str, *, header: Sequence[str] | None = None, asked: Sequence[str | None] = ()
) -> Records:
    """Return the records of an open file, read by a reader (see ``opened_records``)."""
    if name == "jsonl":
        return json_records(source)
    if name == "parquet":
        return parquet_records(source)
    if name in ("csv", "tsv"):
        return delimited_records(source, b"," if name == "csv" else b"\t", header)
    if name == "json" or is_of_package(name):
        return _document_records(source, name, asked)
    raise source.error(
        f"this file is read as {name}, which is not supported for {what}",
        advice=f"name another with {argument('reader')} ({' '.join(WITH_COLUMNS)})",
    )


def qrels_records(source: Source) -> Records:
    """Return the records of a TREC file of labels, in which the grade may be anything."""
    header, numbers = ["group", "iteration", "item", "label"], list[int]()

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        for number, line in source.lines():
            fields = line.decode().split()
            if not fields or fields[0][0] == "#":
                continue
            numbers.append(number)
            if len(fields) != len(header):
                raise source.error(f"{counted(len(fields), 'field')} in place of 4", number, advice="correct the line")
            yield [fields[at] for at in wanted]

    return Records(header, rows, LinePlaces(source.name, numbers), source.error)


def has_key(names: Mapping[str, object]) -> bool:
    """Return whether a name is that of a group or item."""
    return any(column_about(role, None, names, WrongValueError) for role in IDS)


def _document_records(source: Source, reader: str, asked: Sequence[str | None]) -> Records:
    """Return the records of a document: an array of them, or a value or a record for each key; or of a table."""
    document, lines = value_in(source, reader)
    if is_table(document):
        return frame_records(document, asked)
    rows = rows_by_key(document, asked, source.error) if isinstance(document, dict) else document
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise source.error("this JSON has no rows", advice="write {key: value}, {key: {column: value}} or [{...}, ...]")
    return _of_rows(rows, LinePlaces(source.name, lines) if lines else RowPlaces(source.name))


def rows_by_key(
    document: Mapping[Any, object], asked: Sequence[str | None], refused: Refused
) -> list[dict[str, object]]:
    """Return the rows of ``{key: value}`` or ``{key: {column: value}}``; ``asked``: see ``opened_records``.

    >>> rows_by_key({"q1": 0.5, "q2": {"map": 0.25}}, [None, "ndcg"], ValueError)
    [{'group': 'q1', 'ndcg': 0.5}, {'group': 'q2', 'map': 0.25}]
    """
    if has_key(document) and all(isinstance(held, dict) for held in document.values()):
        raise refused("this is a table written by column", advice="write it with to_json(orient='records')")
    key, value = (name or own for name, own in zip(asked or (None, None), ("group", "value"), strict=True))
    return [{key: of, **(held if isinstance(held, dict) else {value: held})} for of, held in document.items()]


def _of_rows(rows: Sequence[Mapping[str, object]], places: Places) -> Records:
    header = list(dict.fromkeys(name for row in rows for name in row))

    def cells(wanted: Sequence[int]) -> Iterator[Row]:
        return ([row.get(header[place]) for place in wanted] for row in rows)

    return Records(header, cells, places, places.whole)


def delimited_records(source: Source, delimiter: bytes, header: Sequence[str] | None = None) -> Records:
    """Return the records of a CSV or TSV file (see ``formats.delimited``).

    ``header``: the names of its columns if the first line is a row; in such TSV files, for example from MS MARCO,
    quotes are ordinary characters. Raises: InputError naming the line, here or in a row, for a wrong number of cells
    and for a misplaced quote.
    """
    is_quoted = header is None or delimiter != b"\t"
    read = cells_of(source, delimiter, quotes=is_quoted)
    header_line, has_header = 1, header is None
    if header is None:
        header_line, names = next(read, (1, []))
        header = [name.decode() for name in names]
    header = list(header)
    lines: list[int] = []

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        for line, cells in whole_records(read, source, len(header), has_header):
            lines.append(line)
            yield [cells[place].decode() for place in wanted]

    places = LinePlaces(source.name, lines)
    return Records(header, rows, places, partial(source.error, line=header_line))


def json_records(source: Source) -> Records:
    """Return the records of a JSON lines file; a key that is absent is null.

    Raises: InputError naming the line for anything but a JSON object, and for more than ``MAX_KEYS`` keys in a file.
    """
    lines, rows = array("q"), list[tuple[tuple[str, ...], tuple[object, ...]]]()
    kinds: dict[
        tuple[str, ...], tuple[str, ...]
    ] = {}  # rows share their keys: a dict for each would take thrice as much
    header: dict[str, None] = {}
    for line, record in json_lines(source):
        keys = tuple(record)
        if keys not in kinds:
            kinds[keys] = keys
            header |= dict.fromkeys(keys)
            if len(header) > MAX_KEYS:
                raise source.error(f"more than {MAX_KEYS:,} different keys", line, advice="use one key per column")
        rows.append((kinds[keys], tuple(record.values())))
        lines.append(line)
    names = list(header)

    def cells(wanted: Sequence[int]) -> Iterator[Row]:
        for keys, values in rows:
            held = dict(zip(keys, values, strict=True))
            yield [held.get(names[place]) for place in wanted]

    return Records(names, cells, LinePlaces(source.name, lines), source.error)


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


def frame_records(frame: Any, asked: Sequence[str | None] = ()) -> Records:
    """Return the records of a table in memory: of pandas or any library that speaks Arrow, or Python's own objects.

    Those are a dict of columns, a value or a dict for each key, and dicts or named tuples. In all but Arrow NaN is
    null. ``asked``: see ``opened_records``. Raises: InputError for anything else.
    """
    frame, pandas = table_in(frame), sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.Series):
        frame = dict(zip(frame.index.tolist(), frame.tolist(), strict=True))
    if isinstance(frame, Mapping) and frame and all(map(_is_value, frame.values())):
        frame = rows_by_key(frame, asked, InputError)
    return records_of(table_of(frame))


def records_of(table: Table) -> Records:
    """Return the records of a table in memory."""

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        columns = [table.column(place, "") for place in wanted]
        for place, column in zip(wanted, columns, strict=True):
            refuse_single(column, table.header[place])
        lengths = list(map(len, columns))
        if len(set(lengths)) > 1:
            listed = ", ".join(f"{shown(table.header[at])} {n}" for at, n in zip(wanted, lengths, strict=True))
            raise InputError(f"the columns differ in length ({listed})", advice="give one value per row in each")
        columns = [column.to_pylist() if hasattr(column, "to_pylist") else column for column in columns]
        for values in zip(*columns, strict=True):
            yield [plain_cell(value, nan_is_null=bool(table.nan_is_null)) for value in values]

    return Records(table.header, rows, table.places, table.places.whole)


def _is_value(held: object) -> bool:
    """Return whether this is the value or the record of a key, and not a column."""
    return isinstance(held, str | dict) or not hasattr(held, "__len__")


def place_of(header: Sequence[str], name: str, role: str, refused: Refused) -> int:
    """Return where a column is (the error of ``refused`` for one that is absent or appears twice)."""
    count = header.count(name)
    if count > 1:
        raise refused(f"column {shown(name)} appears {count} times", advice="rename all but one")
    if not count:
        alike = often_called(role, header)
        raise absent_columns({name: role}, header, refused, likely={role: alike[0]} if len(alike) == 1 else {})
    return header.index(name)


def roles_in(
    header: Sequence[str], asked: Mapping[str, str | None], refused: Refused, required: Sequence[str] = ()
) -> dict[str, int]:
    """Return the place of each role that has a column: the name that was given, its own, or for ids a convention's.

    Raises: the error of ``refused`` for one that was given or is required and is absent, that is there twice, or that
    is the column of two roles.
    """
    places: dict[str, int] = {}
    for role, given in asked.items():
        name = column_about(role, given, header, refused) if role in IDS else given or (role in header and role)
        if not name and role not in required:
            continue
        place = place_of(header, name or role, role, refused)
        taken = next((other for other, at in places.items() if at == place), None)
        if taken is not None:
            what = f"column {shown(header[place])} cannot be both the {taken} and the {role}"
            raise refused(what, advice=f"name another one with {argument(role)}")
        places[role] = place
    return places


def cell_id(value: object, role: str) -> str:
    """Return the id of a ``role`` ("group", "item") that a cell holds; whole numbers become their decimal text.

    Raises: WrongValueError for an id that is empty, too long, or not an id.

    >>> cell_id("007", "group"), cell_id(7, "item")
    ('007', '7')
    """
    found = id_bytes(value, role)
    if not found:
        raise WrongValueError(f"the {role} id is empty; every row needs one")
    if b"\0" in found:
        raise WrongValueError(f"the {role} id has a NUL byte", advice="write the file again without it")
    if len(found) > LONGEST_ID:
        raise WrongValueError(f"the {role} id has {len(found)} bytes", advice=f"shorten it to {LONGEST_ID} or fewer")
    return found.decode()


def checked_text(text: str, what: str) -> bytes:
    """Return the UTF-8 bytes of a text (WrongValueError if a database cannot store it)."""
    if "\0" in text:
        raise WrongValueError(f"{what} has a NUL byte", advice="write the file again without it")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise WrongValueError(f"{what} has an incomplete character", advice="write the file as UTF-8") from None


def plain_cell(value: object, *, nan_is_null: bool) -> object:
    """Return a value of a frame as Python's own type; None for what is null there.

    >>> plain_cell(np.int64(3), nan_is_null=True), plain_cell(float("nan"), nan_is_null=True)
    (3, None)
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    return None if nan_is_null and isinstance(value, float) and isnan(value) else value


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

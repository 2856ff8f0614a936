"""Files and frames with one row per group, as a header and rows of cells."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.group_values import plain
from ndcg_tracker.ingest.json_record import json_record
from ndcg_tracker.ingest.places import LinePlaces, Places, RowPlaces, shown
from ndcg_tracker.ingest.sources import Source

Row = Sequence[object]


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


def delimited_records(source: Source, delimiter: str) -> Records:
    """Return the records of a CSV or TSV file: RFC 4180 quoting, blank lines left out.

    Raises: InputError naming the line, here or in a row, for a wrong number of cells and a quote out of place.
    """
    read = _cells(source, delimiter)
    header_line, header = next(read, (1, []))
    lines: list[int] = []

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        for line, cells in read:
            if len(cells) != len(header):
                count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
                raise source.error(f"{count} where the header has {len(header)}; correct the line", line)
            lines.append(line)
            yield [cells[place] for place in wanted]

    places = LinePlaces(source.name, lines)
    return Records(header, rows, places, lambda what: source.error(what, header_line), is_text=True)


def json_records(source: Source) -> Records:
    """Return the records of a JSON lines file; a key that is absent is null.

    Raises: InputError naming the line for what is no JSON object.
    """
    lines: list[int] = []
    records: list[dict[str, Any]] = []
    for line, text in source.lines():
        if not text.strip(b" \t"):
            continue
        try:
            records.append(json_record(text))
        except ValueError as error:
            raise source.error(str(error), line) from None
        lines.append(line)
    header = list(dict.fromkeys(name for record in records for name in record))

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        names = [header[place] for place in wanted]
        return ([record.get(name) for name in names] for record in records)

    return Records(header, rows, LinePlaces(source.name, lines), source.error)


def parquet_records(source: Source) -> Records:
    """Return the records of a Parquet file.

    Raises: InputError, here or in a row, for a file that is broken.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = source.file_path() or pa.BufferReader(source.content())
    failures = (pa.ArrowException, OSError, UnicodeDecodeError)

    def broken(error: Exception) -> InputError:
        reason = " ".join(str(error).split())[:100]
        return source.error(f"no readable Parquet file ({reason}); write it again")

    def rows(wanted: Sequence[int]) -> Iterator[Row]:
        try:
            with pq.ParquetFile(file, page_checksum_verification=True) as opened:
                for batch in opened.iter_batches(columns=[header[place] for place in wanted]):
                    columns = [batch.column(header[place]).to_pylist() for place in wanted]
                    yield from zip(*columns, strict=True)
        except failures as error:
            raise broken(error) from None

    try:
        header = [str(name) for name in pq.read_schema(file).names]
    except failures as error:
        raise broken(error) from None
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


def _cells(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the first line and the cells of every record."""
    reader = csv.reader((line.decode() + "\n" for _, line in source.lines()), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            what = f"no readable record ({error}); close every quote, and double those inside a cell"
            raise source.error(what, line) from None
        if len(cells) > 1 or "".join(cells).strip(" "):
            yield line, cells


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

"""Read results that another engine computed: a value for each group, or sums over the groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, nan
from typing import Any, BinaryIO

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import LinePlaces, RowPlaces, WrongValueError, number
from ndcg_tracker.ingest.columns import column_about
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.formats.json_documents import json_value
from ndcg_tracker.ingest.formats.jsonl import json_record
from ndcg_tracker.ingest.records import (
    Records,
    Row,
    by_group,
    cell_id,
    frame_records,
    kind_of,
    place_of,
    records_in,
)
from ndcg_tracker.ingest.source import BOM, Source
from ndcg_tracker.ingest.table import no_row
from ndcg_tracker.rankings import Floats
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.words.texts import shown

READERS = ("csv", "tsv", "json", "jsonl", "parquet", "trec_eval")
_HEAD = 1 << 16
_WHOLE = "all"  # trec_eval's name for the summary over the groups, and nuggetizer's for its last row
_UNNAMED = ""  # the header of an index column, as pandas writes it
_PRINTED = 1e-4  # how far the mean of printed digits may be from the printed mean


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The names of the columns of a table of results; None is the default.

    By default the groups are in ``group``, in ``group_key`` (as ``metrics sql`` names it), or in the column of a
    convention, such as ``qid``. The values are in ``value``, or in the only other column, as in a Series that pandas
    wrote. ``measure``: which of the measures to take if a file has several, in its column ``measure``.
    """

    group: str | None = None
    value: str | None = None
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The values of some groups.

    ``group_keys``: n ids, none twice; ``values``: float64, shape (n,), NaN where the group has none.
    """

    group_keys: Keys
    values: Floats


def read_results(
    path: str,
    limits: tuple[float, float],
    *,
    reader: str | None = None,
    columns: ResultColumns | None = None,
    stdin: BinaryIO | None = None,
) -> ResultTable:
    """Return the results that a file has.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input. ``limits``: the range of all values.
    ``reader``: one of ``READERS``, None to detect it from the file's name and content; ``trec_eval`` is the output of
    ``trec_eval -q``. A last row of a group ``all`` whose value is the mean of the others does not count as a group.
    Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    columns = columns or ResultColumns()
    if reader is not None and reader not in READERS:
        raise InputError(f"no reader {shown(reader)} for results", advice=f"choose one of {' '.join(READERS)}")
    with Source(path, stdin=stdin) as source:
        head = source.head(_HEAD)
        if reader == "trec_eval" or (reader is None and _is_trec_eval(head)):
            return _trec_eval(source, limits, columns.measure)
        if reader == "json" or (reader is None and head and _is_json(path, head, columns)):
            return _of_records(_json_records(source), limits, columns)
        return _of_records(records_in(source, path, "results", reader=reader), limits, columns)


def result_frame(results: object, limits: tuple[float, float], columns: ResultColumns | None = None) -> ResultTable:
    """Return the results that a frame has, one row per group, or a dict or pandas Series of a value per group.

    >>> result_frame({"q1": 0.5, "q2": 1}, (0.0, 1.0)).values.tolist()
    [0.5, 1.0]
    """
    columns = columns or ResultColumns()
    table = by_group(results, "value")
    if table is not None:
        return _of_records(frame_records(table), limits, ResultColumns())
    return _of_records(frame_records(results), limits, columns)


def _of_records(records: Records, limits: tuple[float, float], columns: ResultColumns) -> ResultTable:
    header, refused = records.header, records.refused
    given = columns.group or ("group_key" if "group_key" in header and "group" not in header else None)
    group = column_about("group", given, header, refused)
    if group is None:
        group = _UNNAMED if len(header) == 2 and header[0] == _UNNAMED else "group"
    others = [name for name in header if name not in (group, "measure")]
    only = others[0] if "value" not in header and len(others) == 1 else "value"
    wanted = [place_of(header, group, "group", refused), place_of(header, columns.value or only, "value", refused)]
    if columns.measure is not None or "measure" in header:
        wanted.append(place_of(header, "measure", "measure", refused))
    return _table(records.rows(wanted), records.places, limits, columns.measure)


def _table(
    rows: Iterator[Row], places: LinePlaces | RowPlaces, limits: tuple[float, float], measure: str | None
) -> ResultTable:
    """Return the results of rows of a group, a value, and perhaps the measure."""
    first_row: dict[str, int] = {}
    values: list[float] = []
    measures: dict[str, None] = {}
    for row, cells in enumerate(rows):
        try:
            if len(cells) > 2:
                own = cell_id(cells[2], "measure")
                measures[own] = None
                if measure is not None and own != measure:
                    continue
            key = cell_id(cells[0], "group")
            value = _value(cells[1], limits)
        except WrongValueError as error:
            raise error.at(places.place(row)) from None
        if len(measures) > 1 and measure is None:
            named = " and ".join(shown(name) for name in measures)
            raise places.error(row, f"there are measures {named}", advice=f"choose one with {argument('measure')}")
        if first_row.setdefault(key, row) != row:
            first = places.mention(first_row[key])
            raise places.error(row, f"group {shown(key)} is in {first} already", advice="keep one of the two")
        values.append(value)
    if not first_row:
        if measures:
            choices = ", ".join(map(shown, measures))
            raise places.whole(f"there is no measure {shown(measure or '')}", advice=f"choose one of {choices}")
        raise no_row(places.whole)
    if _ends_with_the_mean(first_row, values):
        del first_row[_WHOLE], values[-1]
    return ResultTable(Keys.from_strings(first_row), np.array(values, dtype=np.float64))


def _ends_with_the_mean(groups: Iterable[str], values: Sequence[float]) -> bool:
    """Return whether the last row is the mean of all groups before it, as some tools write it."""
    before = [value for value in values[:-1] if not math.isnan(value)]
    if not before or [*groups][-1] != _WHOLE:
        return False
    return math.isclose(values[-1], math.fsum(before) / len(before), rel_tol=1e-9, abs_tol=_PRINTED)


def _value(cell: object, limits: tuple[float, float]) -> float:
    """Return the value that a cell holds, NaN for an empty one and null.

    Raises: WrongValueError for a value that is not a number or is outside the range.
    """
    if cell is None or cell == "":
        return nan
    if isinstance(cell, str):
        cell = number(cell.strip(" \t").encode(), "value")
    if isinstance(cell, bool) or not isinstance(cell, int | float | Decimal):
        raise WrongValueError(f"the value is {kind_of(cell)}", advice="write a number")
    try:
        value = float(cell)
    except OverflowError:
        value = np.inf
    if not isfinite(value):
        raise WrongValueError("the value is not finite", advice="where there is none, write null or nothing")
    if not limits[0] <= value <= limits[1]:
        raise WrongValueError(
            f"the value {value:g} is outside the range {limits[0]:g} to {limits[1]:g}",
            advice=f"give the range of all values with {argument('range')}",
        )
    return value


def _is_json(path: str, head: bytes, columns: ResultColumns) -> bool:
    """Return whether a file is one JSON value and not JSON lines, of which there may be only one."""
    name = detect_reader(path, head)
    if name != "jsonl" or b"\n" in head.strip():
        return name == "json"
    try:
        return (columns.value or "value") not in json_record(head.removeprefix(BOM))
    except (WrongValueError, UnicodeDecodeError):
        return False  # the reader of lines names the place


def _json_records(source: Source) -> Records:
    """Return the records of one JSON value: ``{group: value}``, ``{group: {measure: value}}`` or an array of rows."""
    try:
        document = json_value(source)
    except WrongValueError as error:
        raise error.at(source.name) from None
    except RecursionError:
        raise source.error("JSON nested too deeply", advice="check that this is the right file") from None
    rows: list[Any] = []
    if isinstance(document, list):
        rows = document
    elif isinstance(document, dict):
        if column_about("group", None, document, source.error) and all(
            isinstance(of, dict) for of in document.values()
        ):
            raise source.error("this is a table written by column", advice="write it with to_json(orient='records')")
        for group, value in document.items():
            by_measure = value.items() if isinstance(value, dict) else ()
            rows += [{"group": group, "measure": measure, "value": inner} for measure, inner in by_measure]
            rows += [] if isinstance(value, dict) else [{"group": group, "value": value}]
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise source.error(
            "this JSON has no value per group", advice="write {group: value}, {group: {measure: value}} or [{...}, ...]"
        )
    header = list(dict.fromkeys(name for row in rows for name in row))

    def cells(wanted: Sequence[int]) -> Iterator[Row]:
        return ([row.get(header[place]) for place in wanted] for row in rows)

    return Records(header, cells, RowPlaces(source.name), source.error)


def _is_trec_eval(head: bytes) -> bool:
    """Return whether a file begins like the output of trec_eval: a measure, a group (or all), and a value."""
    parts = head.partition(b"\n")[0].split()
    if len(parts) != 3 or b"," in head.partition(b"\n")[0]:
        return False
    return parts[1] == _WHOLE.encode() or parts[2][:1] in b"-.0123456789"


def _trec_eval(source: Source, limits: tuple[float, float], measure: str | None) -> ResultTable:
    """Return the results of the lines that ``trec_eval -q`` prints, except those over all groups."""
    lines: list[int] = []

    def rows() -> Iterator[Row]:
        for line, text in source.lines():
            parts = text.split()
            if not parts or (len(parts) > 1 and parts[1] == _WHOLE.encode()):
                continue
            if len(parts) != 3:
                raise source.error(f"{len(parts)} fields where trec_eval has 3", line, advice="correct the line")
            lines.append(line)
            yield [parts[1].decode(), parts[2].decode(), parts[0].decode()]

    return _table(rows(), LinePlaces(source.name, lines), limits, measure)

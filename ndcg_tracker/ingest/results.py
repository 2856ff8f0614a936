"""Results that another engine computed: files and frames with a value for each group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite, nan
from typing import BinaryIO

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.columns import column_about
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import LinePlaces, RowPlaces, WrongValueError
from ndcg_tracker.ingest.records import (
    Records,
    Row,
    by_group,
    cell_id,
    frame_records,
    kind_of,
    opened_records,
    place_of,
)
from ndcg_tracker.ingest.source import Progress, Source
from ndcg_tracker.ingest.table import no_row
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats
from ndcg_tracker.words.quoting import shown

READERS = ("csv", "tsv", "jsonl", "parquet", "trec_eval")
_HEAD = 1 << 16
_WHOLE = "all"  # how trec_eval calls the summary over the groups


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The names of the columns of a table of results; None is the default.

    By default the groups stand in ``group``, in ``group_key``, as in what ``metrics sql`` computes, or in what a
    convention calls them, such as ``qid``, and the values in ``value``. ``measure``: which of the measures to take
    where a file has several, in its column ``measure``.
    """

    group: str | None = None
    value: str | None = None
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A value for each of some groups.

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
    progress: Progress | None = None,
) -> ResultTable:
    """Return the results that a file has.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input. ``limits``: between which numbers all
    values lie. ``reader``: one of ``READERS``, None to tell from the file's name and content; ``trec_eval`` is what
    ``trec_eval -q`` prints. Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    columns = columns or ResultColumns()
    if reader is not None and reader not in READERS:
        raise InputError(f"no reader {shown(reader)} for results", advice=f"choose one of {' '.join(READERS)}")
    if reader in (None, "trec_eval") and path != "-":
        with Source(path) as source:
            if reader == "trec_eval" or _is_trec_eval(source.head(_HEAD)):
                return _trec_eval(source, limits, columns.measure)
    elif reader == "trec_eval":
        with Source(path, stdin=stdin, progress=progress) as source:
            return _trec_eval(source, limits, columns.measure)
    with opened_records(path, "results", reader=reader, stdin=stdin, progress=progress) as records:
        return _of_records(records, limits, columns)


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
    wanted = [place_of(header, column_about("group", given, header, refused) or "group", "group", refused)]
    wanted.append(place_of(header, columns.value or "value", "value", refused))
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
            named = " and ".join(shown(one) for one in measures)
            raise places.error(row, f"there are measures {named}", advice=f"choose one with {argument('measure')}")
        if first_row.setdefault(key, row) != row:
            first = places.mention(first_row[key])
            raise places.error(row, f"group {shown(key)} is in {first} already", advice="keep one of the two")
        values.append(value)
    if not first_row:
        if measures:
            known = ", ".join(map(shown, measures))
            raise places.whole(f"there is no measure {shown(measure or '')}", advice=f"choose one of {known}")
        raise no_row(places.whole)
    return ResultTable(Keys.from_strings(first_row), np.array(values, dtype=np.float64))


def _value(cell: object, limits: tuple[float, float]) -> float:
    """Return the value that a cell holds, NaN for an empty one and null.

    Raises: WrongValueError for what is no number, or lies outside of the range.
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
            f"the value {value:g} lies outside of the range {limits[0]:g} to {limits[1]:g}",
            advice=f"give the range that all values lie in with {argument('range')}",
        )
    return value


def _is_trec_eval(head: bytes) -> bool:
    """Return whether a file begins as the output of trec_eval: a measure, a group, which may be all, and a value."""
    parts = head.partition(b"\n")[0].split()
    if len(parts) != 3 or b"," in head.partition(b"\n")[0]:
        return False
    return parts[1] == _WHOLE.encode() or parts[2][:1] in b"-.0123456789"


def _trec_eval(source: Source, limits: tuple[float, float], measure: str | None) -> ResultTable:
    """Return the results of the lines that ``trec_eval -q`` prints, without those over all groups."""
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

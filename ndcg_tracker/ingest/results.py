"""Read results that another engine computed: a value for each group, or sums over the groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

import numpy as np

from ndcg_tracker.errors import argument
from ndcg_tracker.ingest.cells import WrongValueError
from ndcg_tracker.ingest.columns import column_about
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.formats.jsonl import json_record
from ndcg_tracker.ingest.plain import cell_number
from ndcg_tracker.ingest.records import Records, Row, cell_id, has_key, opened_records, place_of
from ndcg_tracker.ingest.source import BOM
from ndcg_tracker.ingest.table import no_row
from ndcg_tracker.rankings import Floats
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.words.texts import shown

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
    given: object,
    limits: tuple[float, float],
    *,
    reader: str | None = None,
    columns: ResultColumns | None = None,
    stdin: BinaryIO | None = None,
) -> ResultTable:
    """Return the results that a file or a table has.

    Parameters: ``given``, a path or a table, and ``reader``: see ``opened_records``; ``trec_eval`` is the output of
    ``trec_eval -q``. ``limits``: the range of all values. A last row of a group ``all`` whose value is the mean of the
    others does not count as a group. Raises: InputError, one line, ``FILE:LINE: what; what to do``.

    >>> read_results({"q1": 0.5, "q2": 1}, (0.0, 1.0)).values.tolist()
    [0.5, 1.0]
    """
    columns = columns or ResultColumns()
    asked = (columns.group, columns.value)
    with opened_records(
        given, "results", reader=reader, stdin=stdin, asked=asked, detect=partial(_detected, asked)
    ) as records:
        return _of_records(records, limits, columns)


def _detected(asked: Sequence[str | None], path: str, head: bytes) -> str:
    """Return the reader of a file; the output of trec_eval has a measure, a group (or all), and a value."""
    line = head.partition(b"\n")[0]
    parts = line.split()
    if len(parts) == 3 and b"," not in line and (parts[1] == _WHOLE.encode() or parts[2][:1] in b"-.0123456789"):
        return "trec_eval"
    reader = detect_reader(path, head)
    if reader != "jsonl" or b"\n" in head.strip():
        return reader
    try:  # the only line may be one object with a value per group, and no row
        record = json_record(head.removeprefix(BOM))
    except (WrongValueError, UnicodeDecodeError):
        return reader  # which names the place
    is_row = record.keys() & {*asked, "group", "value"} or has_key(record)
    return reader if is_row else "json"


def _of_records(records: Records, limits: tuple[float, float], columns: ResultColumns) -> ResultTable:
    header, refused = records.header, records.refused
    given = columns.group or ("group_key" if "group_key" in header and "group" not in header else None)
    group = column_about("group", given, header, refused)
    if group is None:
        group = _UNNAMED if len(header) == 2 and header[0] == _UNNAMED else "group"
    others = [name for name in header if name not in (group, "measure")]
    only = others[0] if "value" not in header and len(others) == 1 else "value"
    measured = columns.measure if "measure" not in header and columns.measure in others else None
    value = columns.value or measured or only
    wanted = [place_of(header, group, "group", refused), place_of(header, value, "value", refused)]
    if measured is None and (columns.measure is not None or "measure" in header):
        wanted.append(place_of(header, "measure", "measure", refused))
    measures: dict[str, None] = {}

    def result(cells: Row) -> tuple[str, float] | None:
        if len(cells) > 2:
            own = cell_id(cells[2], "measure")
            measures[own] = None
            if columns.measure is not None and own != columns.measure:
                return None
        if len(measures) > 1 and columns.measure is None:
            named = " and ".join(shown(name) for name in measures)
            raise WrongValueError(f"there are measures {named}", advice=f"choose one with {argument('measure')}")
        return cell_id(cells[0], "group"), _value(cells[1], limits)

    found = records.by_key(wanted, result, lambda key: f"group {shown(key)}")
    if not found and measures:
        choices = ", ".join(map(shown, measures))
        what = f"there is no measure {shown(columns.measure or '')}"
        raise records.places.whole(what, advice=f"choose one of {choices}")
    if not found:
        raise no_row(records.places.whole)
    if _ends_with_the_mean(found, list(found.values())):
        del found[_WHOLE]
    return ResultTable(Keys.from_strings(found), np.array(list(found.values()), dtype=np.float64))


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
    value = cell_number(cell, "value")
    if value < limits[0] or value > limits[1]:
        raise WrongValueError(
            f"the value {value:g} is outside the range {limits[0]:g} to {limits[1]:g}",
            advice=f"give the range of all values with {argument('range')}",
        )
    return value

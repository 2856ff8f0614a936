"""Rows for people and for programs: one call prints them as text, JSON, Markdown or CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.json_writer import json_rows, json_text
from ndcg_tracker.reporting.markdown import markdown_table
from ndcg_tracker.reporting.numbers import UNDEFINED, points
from ndcg_tracker.reporting.terminal import Painted, Style, display_width, padded, painted, shortened, visible

Format = Literal["text", "json", "markdown", "csv"]

CELL_WIDTH = 60


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in JSON and CSV, its heading for people ("": the name), the decimals of its floats.

    ``digits`` None: six significant digits. ``signed``: with a plus sign, for differences.
    """

    name: str
    heading: str = ""
    digits: int | None = None
    signed: bool = False


def text_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str | Painted]],
    right: Sequence[bool],
    *,
    color: bool = False,
    cell_width: int = CELL_WIDTH,
) -> list[str]:
    """Return the lines of an aligned table.

    Parameters: ``headings`` and ``rows``: text, escaped here and cut to ``cell_width`` columns. ``right``: which
    columns hold numbers and stand right. ``color``: whether styles are written.

    >>> print(*text_table(["run", "mean"], [["bm25", "0.65"], ["検索", "0.7"]], [False, True]), sep=chr(10))
    run   mean
    bm25  0.65
    検索   0.7
    """
    texts = [headings, *([cell.text if isinstance(cell, Painted) else cell for cell in row] for row in rows)]
    columns = [
        _filled(_safe(column, cell_width), right=is_right)
        for column, is_right in zip(zip(*texts, strict=True), right, strict=True)
    ]
    filled = list(zip(*columns, strict=True)) or [() for _ in texts]
    if not color:
        return ["  ".join(cells).rstrip(" ") for cells in filled]
    styles: list[list[Style | None]] = [["dim"] * len(headings)]
    styles += [[cell.style if isinstance(cell, Painted) else None for cell in row] for row in rows]
    return [_painted_line(cells, of_row) for cells, of_row in zip(filled, styles, strict=True)]


def _safe(column: Sequence[str], cell_width: int) -> Sequence[str]:
    """Return a column's texts escaped and cut; plain ones, as most are, need neither."""
    joined = "".join(column)
    if joined.isascii() and joined.isprintable() and max(map(len, column)) <= cell_width:
        return column
    return [shortened(visible(text), cell_width) for text in column]


def _filled(column: Sequence[str], *, right: bool) -> list[str]:
    """Return a column's texts filled with blanks to the width of the widest."""
    if "".join(column).isascii():
        width = max(map(len, column))
        return [text.rjust(width) if right else text.ljust(width) for text in column]
    width = max(map(display_width, column))
    return [padded(text, width, right=right) for text in column]


def _painted_line(cells: Sequence[str], styles: Sequence[Style | None]) -> str:
    """Return a row's cells side by side, each in its style, the blanks after it bare."""
    line, blanks = "", 0
    for filled, style in zip(cells, styles, strict=True):
        body = filled.rstrip(" ")
        line += " " * blanks + painted(body, style, color=True)
        blanks = len(filled) - len(body) + 2
    return line.rstrip(" ")


def rows_as(
    format: Format,
    columns: Sequence[Column | str],
    rows: Iterable[Sequence[object]],
    *,
    color: bool = False,
    cell_width: int = CELL_WIDTH,
) -> str:
    """Return rows in a format, with a line end after the last one.

    Text and Markdown are for people: rounded, aligned, "-" for what is undefined. JSON (a list of objects) and CSV
    carry full double precision, null or nothing for what is undefined. A name that comes twice gets a number.

    Parameters: ``columns``: one per value of a row. ``rows``: of None, bool, int, float, text, and whatever else a
    database returns. ``color`` and ``cell_width``: of text only.

    >>> print(rows_as("text", ["run", Column("mean", digits=4)], [("bm25", 0.65), ("dense", None)]), end="")
    run      mean
    bm25   0.6500
    dense       -
    >>> print(rows_as("json", ["run"], [("bm25",)]), end="")
    [
    {"run": "bm25"}
    ]
    """
    described = [column if isinstance(column, Column) else Column(column) for column in columns]
    table = [list(row) for row in rows]
    names = _distinct([column.name for column in described])
    if format == "json":
        return json_rows(names, table)
    if format == "csv":
        return csv_text(names, table)
    headings = [column.heading or name for column, name in zip(described, names, strict=True)]
    right = [_is_numeric([row[place] for row in table]) for place in range(len(described))]
    shown = [[_shown(value, column) for value, column in zip(row, described, strict=True)] for row in table]
    if format == "markdown":
        lines = markdown_table(headings, shown, right)
    else:
        lines = text_table(headings, shown, right, color=color, cell_width=cell_width)
    return "".join(line + "\n" for line in lines)


def _distinct(names: Sequence[str]) -> list[str]:
    """Return the names, those that came before with a number behind."""
    distinct: list[str] = []
    for name in names:
        number, candidate = 1, name
        while candidate in distinct:
            number += 1
            candidate = f"{name}_{number}"
        distinct.append(candidate)
    return distinct


def _is_numeric(values: Sequence[object]) -> bool:
    """Return whether a column holds numbers and nothing else."""
    known = [value for value in values if value is not None]
    return bool(known) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in known
    )


def _shown(value: object, column: Column) -> str:
    """Return what people see of one value."""
    if value is None or (isinstance(value, float | Decimal) and not math.isfinite(value)):
        return UNDEFINED
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        if column.digits is not None:
            return points(float(value), signed=column.signed, digits=column.digits)
        return f"{float(value):+.6g}" if column.signed else f"{float(value):.6g}"
    return json_text(value, indent=None).rstrip("\n").strip('"')

"""Reports and tables in the format that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ndcg_tracker.render.csv import csv_of_columns, csv_text
from ndcg_tracker.render.json import json_rows
from ndcg_tracker.render.markdown import reports_markdown, table_markdown
from ndcg_tracker.render.report import WIDTH, Column, Format, Report, Table
from ndcg_tracker.render.text import CELL_WIDTH, reports_text, table_text


def reports_as(
    format: Format, reports: Sequence[Report], *, color: bool = False, width: int = WIDTH, blank_lines: int = 2
) -> str:
    """Return reports for people as text or Markdown (see ``reports_text``)."""
    if format == "markdown":
        return reports_markdown(reports)
    return reports_text(reports, color=color, width=width, blank_lines=blank_lines)


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
    table = Table(described, list(rows))
    if format == "json":
        return json_rows(table.distinct_names, table.rows)
    if format == "csv":
        return csv_text(table.distinct_names, table.rows)
    if format == "markdown":
        return table_markdown(table)
    return table_text(table, color=color, cell_width=cell_width)


def columns_as(
    format: Format, columns: Sequence[Column], values: Sequence[Sequence[object]], *, color: bool = False
) -> str:
    """Return columns of values in a format (see ``rows_as``).

    >>> print(columns_as("csv", [Column("group"), Column("AP")], [["q", "r"], [0.5, None]]), end="")
    group,AP
    q,0.5
    r,
    """
    if format == "csv":
        return csv_of_columns(Table(columns, []).distinct_names, values)
    return rows_as(format, columns, zip(*values, strict=True), color=color)

"""Answers, reports and tables in the requested format.

A question returns an ``Answer``: a dataclass of typed numbers with its output, a ``Said``. A format that all answers
share is in ``Said.in_format``, which imports what writes it; a format of a single answer is in its ``further``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from ndcg_tracker.render.json import json_rows, json_text
from ndcg_tracker.render.report import (
    Column,
    Format,
    ListPaper,
    Paper,
    Report,
    ReportPaper,
    Table,
    at,
    read_by_people,
)
from ndcg_tracker.render.text import CELL_WIDTH, reports_text, table_text
from ndcg_tracker.words.notes import Note, note_text
from ndcg_tracker.words.texts import about

if TYPE_CHECKING:
    import pandas as pd


_PLAIN = frozenset([str, int, float, bool, type(None)])  # nearly all that there is
_shapes: dict[type, Callable[[Any], Mapping[str, object]]] = {}

Row = TypeVar("Row")
Shape = Callable[[Row], Mapping[str, object]]


def shape_of(kind: type[Row]) -> Callable[[Shape[Row]], Shape[Row]]:
    """Return a decorator for a function that returns the JSON object of a class, if that is not its fields."""

    def registered(shape: Shape[Row]) -> Shape[Row]:
        _shapes[kind] = shape
        return shape

    return registered


def fields_of(row: object, *hidden: str) -> dict[str, object]:
    """Return the fields of a dataclass by name, except hidden ones, ``only_in_python``, and empty ones ``if_any``."""
    return {
        own_field.name: value
        for own_field in fields(row)  # type: ignore[arg-type]
        if own_field.name not in hidden and "only_in_python" not in own_field.metadata
        if (value := getattr(row, own_field.name)) or "if_any" not in own_field.metadata
    }


def as_object(value: Any) -> Any:
    """Return a typed row, and everything in it, as plain Python values: dicts, lists, texts, numbers and None.

    A dataclass becomes a dict of its fields, or the result of its ``shape_of`` function; a note becomes its sentence,
    and a table its rows.

    >>> from ndcg_tracker.compare.results import ItemMove
    >>> as_object((ItemMove("sku-1", 3.0, 1, None, 0.5, 0.0, -0.5),))[0]["rank_baseline"]
    1
    """
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Note):
        return note_text(value)
    if isinstance(value, Table):
        return as_object(value.objects)
    if is_dataclass(value):
        shape = _shapes.get(type(value), fields_of)
        return {key: as_object(item) for key, item in shape(value).items()}
    if isinstance(value, Mapping):
        return {key: as_object(item) for key, item in value.items()}
    return [as_object(item) for item in value] if isinstance(value, tuple | list) else value


def paths(text: str) -> dict[str, str]:
    """Return the columns that a text lists, each with its path in a row (see ``at``): without "=", its own name.

    >>> paths("metric ci_low=ci.0")
    {'metric': 'metric', 'ci_low': 'ci.0'}
    """
    pairs = (word.partition("=") for word in text.split())
    return {name: path or name for name, _, path in pairs}


def picked(columns: Mapping[str, str], row: object) -> dict[str, Any]:
    """Return cells by column, each from its path in a row.

    >>> picked(paths("metric ci_low=ci.0 run=of.name"), {"metric": "AP", "ci": None, "of": {"name": "a"}})
    {'metric': 'AP', 'ci_low': None, 'run': 'a'}
    """
    return {name: at(row, path) for name, path in columns.items()}


@dataclass(frozen=True)
class Said:
    """The output of an answer; each part is computed when a format needs it.

    ``value``: the typed numbers, or a function that returns them; JSON and ``to_dict`` show them with ``as_object``.
    ``reports``: the reports that people read. ``table``: the table of CSV and of a frame. ``further``: formats that
    only this answer has, or that it has in its own way. ``blank_lines``: the number of blank lines between reports.
    ``dataset``: whose word for a group they say, by default that of the value.
    """

    value: object
    reports: Callable[[], Sequence[Report]]
    table: Callable[[], Table]
    further: Mapping[str, Callable[[], str]] = field(default_factory=dict)
    blank_lines: int = 2
    dataset: str = ""

    def in_format(self, format: str, **shown: Any) -> str:
        """Return the answer in a format, with a line end; ``shown``: see ``ReportPaper``."""
        with about(self.dataset or getattr(self.value, "dataset", "")):
            if format in self.further:
                return self.further[format]()
            if format == "text":
                return reports_text(self.reports(), ReportPaper(**shown), self.blank_lines)
            if format == "markdown":
                from ndcg_tracker.render.markdown import reports_markdown

                return reports_markdown(self.reports(), ReportPaper(**shown).detail)
            if format == "html":
                from ndcg_tracker.render.html import reports_html

                return reports_html(self.reports()) + "\n"
            if format == "json":
                return json_text(self.plain())
            from ndcg_tracker.render.csv import csv_text

            return csv_text(*self.table().for_programs)

    def plain(self) -> Any:
        """Return the typed numbers as plain Python values."""
        with about(self.dataset or getattr(self.value, "dataset", "")):
            return as_object(self.value() if callable(self.value) else self.value)


class Answer(ABC):
    """The result of a question: typed numbers in Python, a report in notebooks and when it is printed."""

    __slots__ = ()

    @abstractmethod
    def _said(self) -> Said:
        """Return its output."""

    def to_dict(self) -> dict[str, Any]:
        """Return the value that the command prints with ``--format json``."""
        plain: dict[str, Any] = self._said().plain()
        return plain

    def to_frame(self) -> pd.DataFrame:
        """Return the rows that the command prints with ``--format csv``."""
        import pandas as pd

        names, rows = self._said().table().for_programs
        return pd.DataFrame(rows, columns=names)

    def to_html(self) -> str:
        """Return the report as a piece of HTML with its tables, in which ids are text and never markup."""
        return self._said().in_format("html").rstrip("\n")

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_text(self, *, verbose: bool = False) -> str:
        """Return the report as text: one screen, which ``print`` shows, or all that the command prints with ``-v``."""
        return self._said().in_format("text", detail="all" if verbose else "screen")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return self.to_text()


def rows_as(
    format: Format,
    columns: Sequence[Column | str],
    rows: Iterable[Sequence[object]],
    *,
    cell_width: int = CELL_WIDTH,
    **paper: Unpack[ListPaper],
) -> str:
    """Return rows in a format, with a line end after the last one.

    Text and Markdown are for people: rounded, aligned, "-" for undefined values. JSON (a list of objects) and CSV have
    full double precision, and null or nothing for undefined values. A repeated name gets a number.

    Parameters: ``columns``: one per value of a row. ``rows``: of None, bool, int, float, text, and whatever else a
    database returns. ``cell_width`` and ``paper``: of text only (see ``table_text``).

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
        from ndcg_tracker.render.csv import csv_text

        return csv_text(table.distinct_names, table.rows)
    with about():  # a list may have several datasets
        if format == "markdown":
            from ndcg_tracker.render.markdown import table_markdown

            return table_markdown(table)
        return table_text(table, cell_width=cell_width, **paper)


def is_for_people(format: str) -> bool:
    """Return whether people read a format, who know metrics by the names of their tools."""
    return format in ("text", "markdown")


def shown_metric(format: str, text: str, requested_as: str = "") -> str:
    """Return a canonical metric text, and the text it was requested as, as a format shows it."""
    if not is_for_people(format):
        return text
    from ndcg_tracker.metrics.language.dialects import familiar_name

    return familiar_name(text, requested_as)


def metrics_as(
    format: Format, names: Sequence[str], rows: Iterable[tuple[Sequence[object], Any, str]], **paper: Unpack[Paper]
) -> str:
    """Return a table with a row for each metric of some runs.

    ``names``: of the first columns. ``rows``: the values of these; the metric, with its ``mean`` and counts of groups;
    and who gave the labels. People see the text that a metric was requested as, and the judge, if there is any to tell.
    """
    found = ("mean", "n_missing", "n_undefined")
    table = [
        [*of, shown, *(getattr(metric, name) for name in found), metric.requested_as, judge]
        for of, metric, judge in rows
        for shown in [shown_metric(format, metric.metric, metric.requested_as)]
    ]
    further = Column("requested_as", "requested as" if is_for_people(format) else None, is_spare=True)
    columns = [*read_by_people(*names, "metric", *found, mean=4), further, Column("judge")]
    if is_for_people(format):
        n_always = len(columns) - 2
        for row in table:
            row[n_always] = "" if row[n_always] == row[len(names)] else row[n_always]
        is_there = [any(row[place] for row in table) for place in range(len(columns))]
        places = [place for place, is_any in enumerate(is_there) if is_any or place < n_always]
        is_bare = [columns[place].is_spare or (place > len(names) + 1 and not is_there[place]) for place in places]
        columns = [replace(columns[place], is_spare=is_spare) for place, is_spare in zip(places, is_bare, strict=True)]
        table = [[row[place] for place in places] for row in table]
    return rows_as(format, columns, table, **paper)


def columns_as(
    format: Format, columns: Sequence[Column], values: Sequence[Sequence[object]], **paper: Unpack[Paper]
) -> str:
    """Return columns of values in a format (see ``rows_as``).

    >>> print(columns_as("csv", [Column("group"), Column("AP")], [["q", "r"], [0.5, None]]), end="")
    group,AP
    q,0.5
    r,
    """
    if format == "csv":
        from ndcg_tracker.render.csv import csv_of_columns

        return csv_of_columns(Table(columns, []).distinct_names, values)
    return rows_as(format, columns, zip(*values, strict=True), **paper)

"""A report as data: its tables, facts and sentences; the renderers know how each format looks.

Query texts, titles and links are never markup, and links lead only to addresses of the web.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal, TypedDict
from urllib.parse import quote

from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.terminal import Painted, shortened, visible
from ndcg_tracker.words.notes import Told
from ndcg_tracker.words.texts import UNDEFINED, Text, points

Format = Literal["text", "json", "markdown", "csv"]
WIDTH = 100
"""The default width of a report, in columns of a terminal."""


class Paper(TypedDict, total=False):
    """The output of text: whether it has ``color``, and the ``width`` of a terminal (None: there is none)."""

    color: bool
    width: int | None


_HEADINGS = {"run_id": "id", "label_set_version": "labels", "git_commit": "commit"}
_TIME = "_at_utc"
_TO_THE_SECOND = len("2026-01-31T12:00:00")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name in JSON and CSV, its heading for people (None: the name), the decimals of its floats.

    ``digits``: None for six significant digits. ``signed``: with a plus sign, for differences. ``right``: whether its
    cells are aligned right, None to align them right if all are numbers. ``is_time``: people read its times, ISO 8601
    and UTC, to the second. ``is_spare``: text leaves it out if a line would be too long, the last such column first.
    """

    name: str
    heading: str | None = None
    digits: int | None = None
    signed: bool = False
    right: bool | None = None
    is_time: bool = False
    is_spare: bool = False


def heading(name: str) -> str:
    """Return the heading that people read for a stored column or fact.

    >>> heading("n_groups"), heading("created_at_utc"), heading("run")
    ('groups', 'created (UTC)', 'run')
    """
    if name.endswith(_TIME):
        return f"{name.removesuffix(_TIME)} (UTC)"
    return _HEADINGS.get(name) or name.removeprefix("n_").replace("_", " " if name.startswith("n_") else "_")


def to_the_second(time: str) -> str:
    """Return a stored time in the form that people read.

    >>> to_the_second("2026-01-31T12:00:00.000001Z")
    '2026-01-31 12:00:00'
    """
    return time[:_TO_THE_SECOND].replace("T", " ")


def read_by_people(*names: str, **digits: int) -> tuple[Column, ...]:
    """Return stored columns with the headings that people read: without prefixes, and times marked as times.

    ``digits``: the decimals of the floats of a column, by its name.

    >>> [column.heading for column in read_by_people("run", "n_groups")]
    ['run', 'groups']
    """
    return tuple(Column(name, heading(name), digits=digits.get(name), is_time=name.endswith(_TIME)) for name in names)


def columns(*names: str) -> tuple[Column, ...]:
    """Return columns of texts; a ">" before a name aligns the column right.

    >>> [column.right for column in columns("run", ">mean")]
    [False, True]
    """
    return tuple(Column(name.removeprefix(">"), right=name.startswith(">")) for name in names)


@dataclass(frozen=True, slots=True)
class Table:
    """A table: rows of values, or of texts that are ready for people.

    ``marks``: the signs of each row's footnotes. ``footnotes``: below the table, in the order of their signs.
    ``legend``: how to read the table. ``after``: a line below it. ``names``: the one or two columns of names, which are
    cut if a line of text would be too long. ``titles``: the name columns that are cut at their end rather than inside.
    ``n_below``: how many of the last columns move to a second line before names are cut.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[object]]
    title: str = ""
    marks: Sequence[str] = ()
    footnotes: Sequence[str] = ()
    legend: Sequence[str] = ()
    after: str = ""
    names: tuple[int, ...] = (0,)
    titles: tuple[int, ...] = ()
    n_below: int = 0

    @property
    def with_less(self) -> Table | None:
        """The table without the last of its spare columns, None if it has none."""
        spare = [place for place, column in enumerate(self.columns) if column.is_spare]
        if not spare:
            return None
        kept = [place for place in range(len(self.columns)) if place != spare[-1]]
        names, titles = (tuple(map(kept.index, of)) for of in (self.names, self.titles))
        rows = [[row[place] for place in kept] for row in self.rows]
        return replace(self, columns=[self.columns[place] for place in kept], rows=rows, names=names, titles=titles)

    @property
    def distinct_names(self) -> list[str]:
        """The names of the columns, repeated ones with a number appended."""
        distinct: list[str] = []
        for column in self.columns:
            number, name = 1, column.name
            while name in distinct:
                number += 1
                name = f"{column.name}_{number}"
            distinct.append(name)
        return distinct


@dataclass(frozen=True, slots=True)
class Shown:
    """A table as people see it; ``right``: which columns are aligned right."""

    headings: list[str]
    rows: list[list[Painted]]
    right: list[bool]


def shown(table: Table) -> Shown:
    """Return a table as people see it, with the signs of its footnotes in a last column."""
    names = zip(table.columns, table.distinct_names, strict=True)
    headings = [name if column.heading is None else column.heading for column, name in names]
    rows = [[_cell(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]
    right = [
        _is_numeric([row[place] for row in table.rows]) if column.right is None else column.right
        for place, column in enumerate(table.columns)
    ]
    if not table.footnotes:
        return Shown(headings, rows, right)
    marked = [[*row, Painted(signs)] for row, signs in zip(rows, table.marks, strict=True)]
    return Shown([*headings, ""], marked, [*right, False])


def _is_numeric(values: Sequence[object]) -> bool:
    """Return whether a column holds numbers and nothing else."""
    given = [value for value in values if value is not None]
    return bool(given) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in given
    )


def _cell(value: object, column: Column) -> Painted:
    """Return what people see of one value."""
    return value if isinstance(value, Painted) else Painted(_text(value, column))


def _text(value: object, column: Column) -> str:
    if value is None or (isinstance(value, float | Decimal) and not math.isfinite(value)):
        return UNDEFINED
    if isinstance(value, str):
        return to_the_second(value) if column.is_time else value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        if column.digits is not None:
            return points(float(value), signed=column.signed, digits=column.digits)
        return f"{float(value):+.6g}" if column.signed else f"{float(value):.6g}"
    return json_text(value, indent=None).rstrip("\n").strip('"')


Detail = Literal["line", "screen", "all"]
"""How much of a report people read: its headline, one screen, or all of it."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a screen: a ``start``, a text that is wrapped beside it, and a ``command`` to copy, never broken."""

    start: str
    text: str
    command: str = ""

    def __str__(self) -> str:
        told = " ".join(f"{self.start} {self.text}".split())
        return f"{told}: {self.command}" if self.command else told


@dataclass(frozen=True, slots=True)
class Report:
    """One report; nothing in it is escaped yet. It begins with one screen, and the rest comes on request.

    The screen: ``headline``: the finding in a sentence. ``verdict``: a word before it. ``asides``: texts after it, such
    as a sparkline. ``is_headline_wrapped``: whether text wraps a long headline. ``under``: lines right below it.
    ``sentences``: the sentences after it. ``remarks``: further notes on the tables. ``lines``: lines below these.
    ``also``: other commands that tell more.

    The rest: ``legend``: how to read the tables. ``styles``: how to read their styles, shown only in formats with
    styles. ``facts``: names and values. ``minor``: notes that change nothing. ``details``: tables that come last.
    ``rest``: its title, under which formats that can fold hide it; "": they show it.

    ``is_overview``: whether further reports follow that this one sums up, and that also come on request.
    """

    headline: str | None = None
    verdict: Painted | None = None
    asides: Sequence[str] = ()
    is_headline_wrapped: bool = False
    under: Sequence[Line] = ()
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    remarks: Sequence[str] = ()
    lines: Sequence[Line] = ()
    notes: Sequence[Told] = ()
    also: str = ""
    legend: Sequence[str] = ()
    styles: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    minor: Sequence[Told] = ()
    details: Sequence[Table] = ()
    rest: str = ""
    is_overview: bool = False

    @property
    def has_rest(self) -> bool:
        """Whether there is more than one screen."""
        return bool(self.legend or self.facts or self.minor or self.details or self.is_overview)

    @property
    def screen(self) -> Report:
        """The report without its rest."""
        return replace(self, legend=(), styles=(), facts=(), minor=(), details=())


def shown_reports(reports: Sequence[Report], detail: Detail) -> Sequence[Report]:
    """Return the reports of one screen, or all of them; only a first report that sums up the others stands alone."""
    if detail == "all":
        return reports
    return [report.screen for report in (reports[:1] if reports and reports[0].is_overview else reports)]


def marks(footnotes: Sequence[str], shared: list[str]) -> str:
    """Return the signs of footnotes, and add new footnotes to those that all rows share.

    >>> shared = ["left out"]
    >>> marks(["undefined", "left out"], shared), shared
    ('¹ ²', ['left out', 'undefined'])
    """
    shared += [footnote for footnote in dict.fromkeys(footnotes) if footnote not in shared]
    return " ".join(mark(number) for number in sorted({shared.index(footnote) + 1 for footnote in footnotes}))


def mark(number: int) -> str:
    """Return the sign of a footnote.

    >>> mark(12)
    '¹²'
    """
    return str(number).translate(_SUPERSCRIPTS)


def marked(footnotes: Sequence[str]) -> list[str]:
    """Return footnotes, each with its sign before it."""
    return [f"{mark(number)} {note}" for number, note in enumerate(footnotes, 1)]


LONGEST = 200
"""A report shows this many columns of a text, because ranked passages are whole paragraphs."""
_WEB = re.compile(r"https?://[^\s/?#\\]+[^\s\\]*", re.IGNORECASE)


def web_address(url: str | None) -> str:
    """Return an http or https address for a link, with special characters encoded; "" for anything else.

    >>> web_address("https://shop.example/a b"), web_address("https://shop.example/tent(2)|x?q=ü")
    ('', 'https://shop.example/tent%282%29%7Cx?q=%C3%BC')
    >>> web_address("javascript:alert(1)"), web_address(None)
    ('', '')
    """
    if not url or not url.isprintable() or not _WEB.fullmatch(url):
        return ""
    return quote(url, safe=":/?#@!&+,;=%~-._")


def text_words(text: Text, width: int = LONGEST) -> str:
    """Return the words for an id: the title, else the text, else its address; also a URL that cannot be a link.

    >>> text_words(Text("a light tent", "Tent", "ftp://shop.example/1")), text_words(Text("a light tent"))
    ('Tent (ftp://shop.example/1)', 'a light tent')
    """
    words = shortened(visible(text.title or text.text or text.url or ""), width)
    named = text.title or text.text
    if not named or not text.url or web_address(text.url):
        return words
    return f"{words} ({shortened(visible(text.url), width)})"


def text_cell(text: Text | None) -> Painted:
    """Return the words for an id as a cell of a table, a link where the URL is an address of the web."""
    return Painted("") if text is None else Painted(text_words(text), link=web_address(text.url))


def query_cell(query: Text | None) -> Painted:
    """Return the query of a group like ``text_cell`` for an item, but with the text rather than the title."""
    return text_cell(None if query is None else Text(title=query.text or query.title, url=query.url))


def query_words(text: Text) -> str:
    """Return the words for a group, with its URL.

    >>> query_words(Text("light tent", url="https://shop.example/?q=tent"))
    '“light tent” (https://shop.example/?q=tent)'
    """
    words = text.text or text.title
    quoted = [f"“{shortened(visible(words), LONGEST)}”"] if words else []
    return " ".join([*quoted, *([f"({shortened(visible(text.url), LONGEST)})"] if text.url else [])])

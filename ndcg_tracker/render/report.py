"""A report as data: its tables, facts and sentences; the renderers know how each format looks.

Query texts, titles and links are never markup, and links lead only to addresses of the web.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal, TypedDict, cast
from urllib.parse import quote

from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.terminal import Painted, shortened, visible
from ndcg_tracker.words.notes import Told
from ndcg_tracker.words.texts import (
    UNDEFINED,
    Text,
    between,
    distinct,
    interval,
    p_short,
    p_text,
    percent,
    points,
    unit,
    units,
)
from ndcg_tracker.words.verdicts import NO_MARK, Mark, mark_of, marks_legend

Format = Literal["text", "json", "markdown", "csv"]
Kind = Literal["id", "mean", "delta", "interval", "p", "count", "share", "verdict", "text"]
"""What a column holds: names, means, differences, intervals (two columns for programs), p-values, counts, shares of 1,
verdicts (by the words that programs read), and other texts."""
Detail = Literal["line", "screen", "all"]
"""How much of a report people read: its headline, one screen, or all of it; of a list the number of things in it."""
BLANK = "\0"
"""The title of a column that people see without a heading: no text in a database has this character."""
WIDTH = 100
"""The default width of a report, in columns of a terminal."""
SCREEN_ROWS = 15
"""How many rows the tables of a report have together on one screen, unless the caller asked for a number of rows."""


class Paper(TypedDict, total=False):
    """The output of text: whether it has ``color``, and the ``width`` of a terminal (None: there is none)."""

    color: bool
    width: int | None


class ListPaper(Paper, total=False):
    """The output of a list: how much of it (``detail``), and whether its last row is the latest (``by_time``).

    ``n_asked``: how many rows the caller asked for, 0 for no number: a screen shows them all.
    """

    detail: Detail
    n_asked: int
    by_time: bool


@dataclass(frozen=True)
class ReportPaper:
    """What a report is written on, for people: programs read all.

    ``detail``: how much of it; ``more``: what asks for all of it, "" for nothing. ``color``: whether styles are
    written; the caller knows the terminal and NO_COLOR. ``width``: how many columns a line may take, as far as names
    and numbers allow; 60 at least. ``is_terminal``: also wrap headlines, which programs read as one line. ``n_asked``:
    how many rows the caller asked for (see ``Report.screen``).
    """

    detail: Detail = "screen"
    more: str = "to_text(verbose=True)"
    color: bool = False
    width: int | None = None
    is_terminal: bool = False
    n_asked: int = 0


_HEADINGS = {"run_id": "id", "label_set_version": "labels", "git_commit": "commit"}
_TIME = "_at_utc"
_TO_THE_SECOND = len("2026-01-31T12:00:00")
_LEFT = ("id", "verdict", "text")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its ``key`` in JSON, CSV and frames, its ``title`` for people, and the ``kind`` of its values.

    ``key``: "" for a column that programs do not get. ``title``: None for a column that people do not get, ``BLANK``
    for one without a heading; in a table without kinds, None for the key. ``kind``: how every format shows the values;
    None for values as a database returns them, with ``digits`` decimals or six significant digits. ``legend``: how to
    read it.
    ``of``: where a row has its value, a path of keys, attributes and places with dots between, or a function of the
    row; by default the key. ``marked_by``: the keys of the columns that mark its values: of a difference the verdict,
    and perhaps what keeps it open; of anything else, whether it is bold. ``best``: which of its values is coloured as
    the best, in papers bold. ``signed``: with a plus sign, for differences. ``right``: whether its cells are aligned
    right, None to go by kind, or without one by whether all are numbers. ``is_time``: people read its times, ISO 8601
    and UTC, to the second. ``is_spare``: text leaves it out if a line would be too long, the last such column first.
    ``is_superscript``: in papers, it is above the mean before it. ``link``: of the heading on a page.
    """

    key: str
    title: str | None = None
    kind: Kind | None = None
    legend: str = ""
    of: str | Callable[[Any], object] = ""
    marked_by: tuple[str, ...] = ()
    best: Literal["higher", "lower"] | None = None
    digits: int | None = None
    signed: bool = False
    right: bool | None = None
    is_time: bool = False
    is_spare: bool = False
    is_superscript: bool = False
    link: str = ""

    @property
    def heading(self) -> str:
        """What people read over it in a table ``for_people``."""
        return (self.title or "").strip(BLANK)

    def value(self, row: Any) -> object:
        """Return the value of a row: of a dict, or of an object with attributes."""
        if callable(self.of):
            return self.of(row)
        if self.of:
            return at(row, self.of)
        return row.get(self.key) if isinstance(row, Mapping) else getattr(row, self.key)


def at(row: Any, path: str) -> Any:
    """Return what is at a path of keys, attributes and places with dots between; None behind what is None.

    >>> at({"run": Column("mean", marked_by=("a", "b"))}, "run.marked_by.1"), at({"run": None}, "run.key")
    ('b', None)
    """
    for step in path.split("."):
        if row is None:
            return None
        if isinstance(row, list | tuple):
            row = row[int(step)] if int(step) < len(row) else None
        else:
            row = row.get(step) if isinstance(row, Mapping) else getattr(row, step)
    return row


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

    >>> [column.title for column in read_by_people("run", "n_groups")]
    ['run', 'groups']
    """
    return tuple(Column(name, heading(name), digits=digits.get(name), is_time=name.endswith(_TIME)) for name in names)


def unseen(text: str) -> tuple[Column, ...]:
    """Return columns that only programs get: each word is a key, or a key and the path of its value.

    >>> [(column.key, column.of) for column in unseen("step first=step_between.0")]
    [('step', 'step'), ('first', 'step_between.0')]
    """
    pairs = (word.partition("=") for word in text.split())
    return tuple(Column(key, of=path or key) for key, _, path in pairs)


def kinds(text: str) -> tuple[Column, ...]:
    """Return the columns that a text lists: each has a key, a kind, and a title, by default the key.

    An interval behind a difference is one of differences, so that its ends have signs.

    >>> [(column.key, column.kind, column.title) for column in kinds("rbo mean, first_change count first change")]
    [('rbo', 'mean', 'rbo'), ('first_change', 'count', 'first change')]
    """
    parts = [part.split(maxsplit=2) for part in text.split(", ")]
    signed = [before[1] == "delta" for before in ([""] * 2, *parts)]
    found = zip(parts, signed, strict=False)
    return tuple(Column(key, (*of, key)[0], cast("Kind", kind), signed=after) for (key, kind, *of), after in found)


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
    ``by_time``: the last row is the latest.
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
    by_time: bool = False

    @classmethod
    def of(cls, columns: Sequence[Column], objects: Iterable[Any], title: str = "", **more: Any) -> Table:
        """Return the table of objects, one per row, whose values the columns find."""
        return cls(columns, [[column.value(one) for column in columns] for one in objects], title, **more)

    @classmethod
    def of_rows(cls, rows: Sequence[Mapping[str, object]], keys: Sequence[str] = ()) -> Table:
        """Return the table for programs of rows by key; ``keys``: its columns, by default those of the first row."""
        return cls.of([Column(key) for key in keys or rows[0]], rows)

    @property
    def objects(self) -> list[dict[str, object]]:
        """The rows of JSON: values by key."""
        return [{of.key: value for of, value in zip(self.columns, row, strict=True) if of.key} for row in self.rows]

    @property
    def for_programs(self) -> tuple[list[str], list[list[object]]]:
        """The columns and the rows of CSV and of a frame: an interval is two columns, and lists are for JSON alone."""
        names, places = list[str](), list[tuple[int, int | None]]()
        for place, column in enumerate(self.columns):
            if column.key and column.kind == "interval":
                names += [f"{column.key}_low", f"{column.key}_high"]
                places += [(place, 0), (place, 1)]
            elif column.key and not any(isinstance(row[place], list) for row in self.rows):
                names.append(column.key)
                places.append((place, None))
        rows: list[list[Any]] = [list(row) for row in self.rows]
        return names, [
            [row[place] if end is None or row[place] is None else row[place][end] for place, end in places]
            for row in rows
        ]

    @property
    def has_kinds(self) -> bool:
        """Whether the columns say what they hold; else they are as a database returns them, and people see each."""
        return any(column.kind for column in self.columns)

    @property
    def places_shown(self) -> list[int]:
        """The places of the columns that people see: none that is only for programs, or undefined in every row."""
        return [
            place
            for place, column in enumerate(self.columns)
            if not self.has_kinds
            or (column.title is not None and (not self.rows or any(row[place] is not None for row in self.rows)))
        ]

    @property
    def for_people(self) -> Table:
        """The columns that people see, each with its heading and side, and cells as people see them.

        The signs of footnotes are a last column.
        """
        heads, rows = list[Column](), list(zip(*map(self._cells, self.places_shown), strict=True))
        words, names = {"group": unit(), "groups": units()}, self.distinct_names
        for place in self.places_shown:
            of = self.columns[place]
            title = (names[place] or BLANK) if of.title is None else of.title
            right = self.is_right(place)
            heads.append(replace(of, title=words.get(title, title), marked_by=(), best=None, right=right))
        ids = [number for number, of in enumerate(heads) if of.kind == "id" and is_named(of)]
        if self.footnotes:
            heads.append(Column("", BLANK, right=False))
            rows = [(*row, Painted(signs)) for row, signs in zip(rows, self.marks, strict=True)]
        return replace(self, columns=heads, rows=rows, names=tuple(ids[:2]) or self.names)

    @property
    def cells(self) -> Sequence[Sequence[Painted]]:
        """The rows of a table ``for_people``."""
        return cast("Sequence[Sequence[Painted]]", self.rows)

    @property
    def legends(self) -> list[str]:
        """How to read the columns that people see, and the glyphs in them."""
        columns = [self.columns[place] for place in self.places_shown]
        told = [f"{of.title}: {of.legend}" for of in columns if of.legend]
        glyphs = marks_legend(found for column in columns if self._has_glyphs(column) for found in self._marks(column))
        return [*told, glyphs] if glyphs else told

    def is_right(self, place: int) -> bool:
        """Return whether a column is aligned right."""
        column = self.columns[place]
        if column.right is not None:
            return column.right
        return column.kind not in _LEFT if column.kind else _is_numeric([row[place] for row in self.rows])

    def _values(self, key: str) -> list[Any]:
        place = [column.key for column in self.columns].index(key)
        return [row[place] for row in self.rows]

    def _marks(self, column: Column) -> list[Mark]:
        """Return the mark of each row in a column of verdicts or of differences."""
        keys = (column.key, *column.marked_by) if column.kind == "verdict" else column.marked_by
        return (
            [mark_of(*of) for of in zip(*map(self._values, keys), strict=True)] if keys else [NO_MARK] * len(self.rows)
        )

    def _has_glyphs(self, column: Column) -> bool:
        """Return whether a column has glyphs alone: before differences unless another column has the verdict."""
        if column.kind == "verdict":
            return not is_named(column)
        apart = [of.key for of in self.columns if of.kind == "verdict" and of.title is not None]
        return column.kind == "delta" and bool(column.marked_by) and column.marked_by[0] not in apart

    def _cells(self, place: int) -> list[Painted]:
        """Return the cells of a column as people see them."""
        column, values = self.columns[place], [row[place] for row in self.rows]
        if column.kind in ("delta", "verdict"):
            has_glyph = self._has_glyphs(column)
            marks = self._marks(column)
            return [_marked(value, column, of, has_glyph) for value, of in zip(values, marks, strict=True)]
        cells = [Painted("") if value is None and not is_named(column) else _cell(value, column) for value in values]
        if column.marked_by:
            bold = self._values(column.marked_by[0])
            cells = [
                replace(cell, style="bold") if is_bold else cell for cell, is_bold in zip(cells, bold, strict=True)
            ]
        if column.best:
            found = best_places(values, column.best)
            cells = [replace(cell, style="good") if of == 1 else cell for cell, of in zip(cells, found, strict=True)]
        return cells

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

    def first_rows(self, n: int) -> Table:
        """Return the table with its first n rows, or its last if it is ``by_time``, and a line that says so."""
        if len(self.rows) <= n:
            return self
        kept, which = (slice(-n, None), "latest") if self.by_time else (slice(n), "first")
        told = f"the {which} {n:,} of {len(self.rows):,} rows"
        after = f"{told}; {self.after}" if self.after else told
        return replace(self, rows=self.rows[kept], marks=self.marks[kept], after=after)

    @property
    def distinct_names(self) -> list[str]:
        """The names of the columns, repeated ones with a number appended."""
        return distinct(column.key for column in self.columns)


def is_named(column: Column) -> bool:
    """Return whether a column has a heading with words."""
    return column.title != BLANK if column.title is not None else bool(column.key)


def best_places(values: Sequence[Any], best: Literal["higher", "lower"]) -> list[int]:
    """Return the place of each value as shown, 1 for the best; values with the same digits share one, None has 0.

    >>> best_places([0.40254, None, 0.40251, 0.5], "higher")
    [2, 0, 2, 1]
    """
    ordered = sorted((value for value in values if value is not None), reverse=best == "higher")
    place_of = {digits: place for place, digits in enumerate(dict.fromkeys(map(points, ordered)), 1)}
    return [0 if value is None else place_of[points(value)] for value in values]


def _marked(value: object, column: Column, of: Mark, has_glyph: bool) -> Painted:
    """Return a difference, or a verdict, with its mark."""
    if isinstance(value, Painted):
        return value
    if column.kind == "verdict":
        return Painted(of.glyph if has_glyph else f"{of.glyph} {of.word}".strip() or UNDEFINED, of.style)
    told = _text(value, column)
    return Painted(f"{of.glyph} {told}" if has_glyph and of.glyph and value is not None else told, of.style)


def _is_numeric(values: Sequence[object]) -> bool:
    """Return whether a column holds numbers and nothing else."""
    given = [value for value in values if value is not None]
    return bool(given) and all(
        isinstance(value, int | float | Decimal) and not isinstance(value, bool) for value in given
    )


def _cell(value: object, column: Column) -> Painted:
    """Return what people see of one value."""
    return value if isinstance(value, Painted) else Painted(_text(value, column))


_TOLD: Mapping[Kind, Callable[[Any, Column], str]] = {
    "mean": lambda value, column: points(
        value, signed=column.signed, digits=4 if column.digits is None else column.digits
    ),
    "delta": lambda value, column: points(value, signed=True, digits=column.digits or 4),
    "interval": lambda value, column: between(value, digits=column.digits or 4) if column.signed else interval(value),
    "p": lambda value, column: p_short(value) if column.digits else p_text(value),
    "count": lambda value, column: f"{value:,}",
    "share": lambda value, column: percent(value),
}
"""How people read the values of a kind, unless they are ready texts."""


def _text(value: object, column: Column) -> str:
    if value is None or (isinstance(value, float | Decimal) and not math.isfinite(value)):
        return UNDEFINED
    if isinstance(value, str):
        return to_the_second(value) if column.is_time else value
    if (by_kind := _TOLD.get(column.kind or "text")) is not None:
        return by_kind(value, column)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float | Decimal):
        if column.digits is not None:
            return points(float(value), signed=column.signed, digits=column.digits)
        return f"{float(value):+.6g}" if column.signed else f"{float(value):.6g}"
    return json_text(value, indent=None).rstrip("\n").strip('"')


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a screen: a ``start``, a text that is wrapped next to it, and a ``command`` to copy, never broken."""

    start: str
    text: str
    command: str = ""

    def __str__(self) -> str:
        told = " ".join(f"{self.start} {self.text}".split())
        return f"{told.removesuffix(':')}: {self.command}" if self.command else told


@dataclass(frozen=True, slots=True)
class Report:
    """One report; nothing in it is escaped yet. It begins with one screen, and the rest comes on request.

    The screen: ``headline``: the finding in a sentence. ``verdict``: a word before it. ``asides``: texts after it, such
    as a sparkline. ``under``: lines right below it.
    ``sentences``: the sentences after it. ``lines``: lines below these.
    ``also``: other commands that tell more.

    The rest: rows of the tables for which a screen has no room. ``legend``: how to read the tables. ``styles``: how to
    read their styles, shown only in formats with styles. ``facts``: names and values. ``minor``: notes that change
    nothing. ``details``: tables that come last. ``rest``: its title, under which formats that can fold hide it; "":
    they do not fold it. ``behind``: a function that returns these fields, called only if somebody reads the rest.

    ``is_overview``: whether further reports follow that this one sums up, and that also come on request.
    ``is_dense``: text has no blank lines and no line about the rest, and breaks lines only on a terminal.
    """

    headline: str | None = None
    verdict: Painted | None = None
    asides: Sequence[str] = ()
    under: Sequence[Line] = ()
    sentences: Sequence[str] = ()
    tables: Sequence[Table] = ()
    lines: Sequence[Line] = ()
    notes: Sequence[Told] = ()
    also: str = ""
    legend: Sequence[str] = ()
    styles: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    minor: Sequence[Told] = ()
    details: Sequence[Table] = ()
    rest: str = "details"
    behind: Callable[[], Mapping[str, Any]] | None = None
    is_overview: bool = False
    is_dense: bool = False

    @property
    def legends(self) -> list[str]:
        """How to read the tables: what their columns say, and what the report says."""
        of_tables = (line for table in (*self.tables, *self.details) for line in table.legends)
        return list(dict.fromkeys((*of_tables, *self.legend)))

    @property
    def whole(self) -> Report:
        """The report with its rest."""
        return self if self.behind is None else replace(self, behind=None, **self.behind())

    def screen(self, n_asked: int = 0) -> Report:
        """Return the report without the rest; its tables share the rows of a screen, and a long one leaves room.

        ``n_asked``: how many rows the caller asked for; each table shows so many.
        """
        room, tables = SCREEN_ROWS, dict[int, Table]()
        shortest_first = sorted(range(len(self.tables)), key=lambda place: len(self.tables[place].rows))
        for n_left, place in zip(range(len(self.tables), 0, -1), shortest_first, strict=True):
            tables[place] = self.tables[place].first_rows(max(room // n_left, n_asked))
            room -= min(room, len(tables[place].rows))
        return replace(self, tables=[tables[of] for of in sorted(tables)], facts=(), minor=(), details=())

    def has_rest(self, n_asked: int = 0) -> bool:
        """Return whether a screen leaves something out (see ``screen``)."""
        if self.is_overview or self.behind is not None:
            return True
        told = (self.facts, self.legends, self.minor, self.details, *(table.legend for table in self.tables))
        return any(told) or self.screen(n_asked).tables != [*self.tables]


def shown_reports(reports: Sequence[Report], detail: Detail) -> Sequence[Report]:
    """Return the reports of one screen, or all of them; a first report that sums up the others is the only one."""
    return reports[:1] if detail == "screen" and reports and reports[0].is_overview else reports


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


def text_words(text: Text) -> str:
    """Return the words for an id: the title, else the text, else its address; also a URL that cannot be a link.

    >>> text_words(Text("a light tent", "Tent", "ftp://shop.example/1")), text_words(Text("a light tent"))
    ('Tent (ftp://shop.example/1)', 'a light tent')
    """
    words = shortened(visible(text.title or text.text or text.url or ""), LONGEST)
    named = text.title or text.text
    if not named or not text.url or web_address(text.url):
        return words
    return f"{words} ({shortened(visible(text.url), LONGEST)})"


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

"""A comparison as a text report for people: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.reporting import comparison_tables as tables
from ndcg_tracker.reporting import comparison_words as words
from ndcg_tracker.reporting.comparison_tables import ReportTable
from ndcg_tracker.reporting.table import text_table
from ndcg_tracker.reporting.terminal import (
    Painted,
    display_width,
    padded,
    painted,
    shortened_inside,
    visible,
    wrapped,
)

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison

WIDTH = 100
NARROWEST = 60

_LEAST_NAME = 12
_GOOD_NAME = 24
_COMMAND = "ndcg-track "
_INDENT = "    "
_Cells = Sequence[Sequence[Painted]]


@dataclass(frozen=True, slots=True)
class _Page:
    """What a report is written on: ``width`` columns, ``color`` or none; ``spelled``: how arguments are spelled."""

    width: int
    color: bool
    spelled: Spelling

    def bold(self, text: str) -> str:
        return painted(visible(text), "bold", color=self.color)

    def dim(self, sentences: Sequence[str]) -> list[str]:
        lines = [line for sentence in sentences for line in wrapped(sentence, self.width)]
        return [painted(line, "dim", color=self.color) for line in lines]


def comparison_text(
    *comparisons: Comparison, color: bool = False, width: int = WIDTH, spelled: Spelling = in_python
) -> str:
    """Return the text report of one comparison, or of several candidates against one baseline.

    Parameters: ``color``: whether styles are written; the caller knows the terminal and NO_COLOR. ``width``: how many
    columns a line may take, as far as names and numbers allow; 60 at least. ``spelled``: how arguments are spelled,
    as Python does or as options. Returns: text with a line end; everything
    that came from outside is escaped.
    """
    page = _Page(max(width, NARROWEST), color, spelled)
    shown = tuple(words.for_people(comparison) for comparison in comparisons)
    lines: list[str] = []
    if len(shown) > 1:
        overview = tables.overview_table(shown)
        lines += [page.bold(overview.title), "", *_rows(overview, page), "", *page.dim(words.legend(shown)), "", ""]
    for number, (comparison, stored) in enumerate(zip(shown, comparisons, strict=True)):
        if number:
            lines += ["", ""]
        lines += _block(comparison, stored, shown, page)
    return "\n".join(lines) + "\n"


def _block(comparison: Comparison, stored: Comparison, shown: Sequence[Comparison], page: _Page) -> list[str]:
    """Return the lines of one comparison."""
    lines = [page.bold(words.headline(comparison))]
    compared = [metric for metric in comparison.metrics if metric.shown_only is None]
    if len(compared) > 1 and len(shown) == 1:
        for metric in compared:
            verdict = visible(f"{words.sign(metric)} {words.finding(metric)}")
            lines.append("  " + painted(verdict, tables.verdict_style(metric.verdict), color=page.color))
    lines += ["", *_table(tables.metric_table(comparison, shown), page)]
    lines += ["", *_table(tables.evidence_table(comparison), page)]
    for table in tables.equivalence_tables(comparison):
        lines += ["", *_table(table, page)]
    if len(shown) == 1:
        lines += ["", *page.dim(words.legend(shown))]
    lines += ["", *_facts([*words.facts(comparison, page.spelled), *words.canonical_names(comparison, stored)], page)]
    lines += _notes(words.notes(comparison), page)
    slices = tables.slice_table(comparison)
    if slices is not None:
        lines += ["", *_table(slices, page), *page.dim(tables.slice_legend(comparison))]
    for table in tables.group_tables(comparison):
        lines += ["", *_table(table, page)]
    ties = tables.tie_table(comparison)
    if ties is not None:
        lines += ["", *_table(ties, page)]
    return lines


def _table(table: ReportTable, page: _Page) -> list[str]:
    """Return a table with its title and footnotes."""
    lines = [page.bold(table.title)] if table.title else []
    lines += _rows(table, page)
    for number, note in enumerate(table.footnotes, 1):
        lines += wrapped(visible(note), page.width, f"{words.mark(number)} ")
    return lines


def _rows(table: ReportTable, page: _Page) -> list[str]:
    """Return the lines of a table; where names would be cut short, its last columns stand below the others."""
    if not table.rows:
        return []
    cells = [[Painted(visible(heading)) for heading in table.headings], *table.rows]
    first = len(table.headings) - table.n_below
    if not table.n_below or _has_room(cells, table.right, table.names, page.width):
        return _cut(cells, table.right, table.names, page, page.width)
    names = [place for place in table.names if place < first]
    above = _cut([row[:first] for row in cells], table.right[:first], names, page, page.width)
    names = [place - first for place in table.names if place >= first]
    below = _cut([row[first:] for row in cells], table.right[first:], names, page, page.width - len(_INDENT))
    return [line for one, other in zip(above, below, strict=True) for line in (one, _INDENT + other) if line.strip()]


def _has_room(cells: _Cells, right: Sequence[bool], names: Sequence[int], width: int) -> bool:
    """Whether no name has to be cut to fewer columns than it takes to tell names apart."""
    wanted, shares = _name_widths(cells, names), _name_shares(cells, right, names, width)
    rest = width - _width_without(cells, right, names)
    return sum(shares) <= rest and all(
        share >= min(want, _GOOD_NAME) for share, want in zip(shares, wanted, strict=True)
    )


def _cut(cells: _Cells, right: Sequence[bool], names: Sequence[int], page: _Page, width: int) -> list[str]:
    """Return the lines of a table whose names are cut so that its numbers stay within a width."""
    shares = dict(zip(names, _name_shares(cells, right, names, width), strict=True))
    cut = [
        [
            Painted(shortened_inside(visible(cell.text), shares[place]), cell.style) if place in shares else cell
            for place, cell in enumerate(row)
        ]
        for row in cells
    ]
    return text_table([cell.text for cell in cut[0]], cut[1:], right, color=page.color, cell_width=max(width, WIDTH))


def _name_shares(cells: _Cells, right: Sequence[bool], names: Sequence[int], width: int) -> list[int]:
    return _shares(width - _width_without(cells, right, names), _name_widths(cells, names))


def _name_widths(cells: _Cells, names: Sequence[int]) -> list[int]:
    return [max(display_width(visible(row[place].text)) for row in cells) for place in names]


def _width_without(cells: _Cells, right: Sequence[bool], names: Sequence[int]) -> int:
    """Return how many columns a table takes beside its names."""
    blank = [[Painted("|") if place in names else cell for place, cell in enumerate(row)] for row in cells]
    return max(map(display_width, text_table([""] * len(right), blank, right, cell_width=WIDTH))) - len(names)


def _shares(room: int, widths: Sequence[int]) -> list[int]:
    """Return how wide each of up to two columns of names may be: what one does not need, the other has."""
    if sum(widths) <= room:
        return list(widths)
    if len(widths) == 1:
        return [max(_LEAST_NAME, room)]
    first = max(_LEAST_NAME, min(widths[0], max(room // 2, room - widths[1])))
    return [first, max(_LEAST_NAME, room - first)]


def _facts(facts: Sequence[tuple[str, str]], page: _Page) -> list[str]:
    """Return the lines that say what was compared."""
    width = max(display_width(name) for name, _ in facts)
    return [line for name, value in facts for line in wrapped(visible(value), page.width, padded(name, width) + "  ")]


def _notes(notes: Sequence[str], page: _Page) -> list[str]:
    """Return the notes; a command stands whole on a line of its own, ready to be copied."""
    lines = [""] if notes else []
    for note in notes:
        sentence, before, command = visible(note).partition(f": {_COMMAND}")
        lines += wrapped(sentence + before[:1], page.width, "note: ")
        if before:
            lines.append(f"      {_COMMAND}{command}")
    return lines

"""A comparison as a text report for people: the verdict first, then what it rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

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

_LEAST_NAME = 12
_COMMAND = "ndcg-track "


def comparison_text(*comparisons: Comparison, color: bool = False) -> str:
    """Return the text report of one comparison, or of several candidates against one baseline.

    Parameters: ``color``: whether styles are written; the caller knows the terminal and NO_COLOR. Returns: text with a
    line end, 100 columns wide as far as names allow; everything that came from outside is escaped.
    """
    shown = tuple(words.for_people(comparison) for comparison in comparisons)
    lines: list[str] = []
    if len(shown) > 1:
        lines += [*_table(tables.overview_table(shown), color, second=True), "", *_legend(shown, color), "", ""]
    for number, (comparison, stored) in enumerate(zip(shown, comparisons, strict=True)):
        if number:
            lines += ["", ""]
        lines += _block(comparison, stored, shown, color)
    return "\n".join(lines) + "\n"


def _block(comparison: Comparison, stored: Comparison, shown: Sequence[Comparison], color: bool) -> list[str]:
    """Return the lines of one comparison."""
    lines = [painted(visible(words.headline(comparison)), "bold", color=color)]
    if len(comparison.metrics) > 1 and len(shown) == 1:
        for metric in comparison.metrics:
            verdict = visible(f"{words.sign(metric)} {words.finding(metric)}")
            lines.append("  " + painted(verdict, tables.verdict_style(metric.verdict), color=color))
    lines += ["", *_table(tables.metric_table(comparison, shown), color)]
    lines += ["", *_table(tables.evidence_table(comparison), color)]
    equivalences = words.equivalences(comparison)
    if equivalences:
        lines += ["", *(_named(metric, found) for metric, found in equivalences)]
    if len(shown) == 1:
        lines += ["", *_legend(shown, color)]
    lines += ["", *_facts([*words.facts(comparison), *words.canonical_names(comparison, stored)])]
    lines += _notes(words.notes(comparison))
    slices = tables.slice_table(comparison)
    if slices is not None:
        lines += ["", *_table(slices, color)]
        lines += [painted(line, "dim", color=color) for line in tables.slice_legend(comparison)]
    for table in tables.group_tables(comparison):
        lines += ["", *_table(table, color)]
    ties = tables.tie_table(comparison)
    if ties is not None:
        lines += ["", *_table(ties, color)]
    return lines


def _table(table: ReportTable, color: bool, *, second: bool = False) -> list[str]:
    """Return a table with its title and footnotes; names in front (``second``: also in the next column) are cut."""
    lines = [painted(visible(table.title), "bold", color=color)] if table.title else []
    if second:
        lines.append("")
    if table.rows:
        printed = _printed(table, 2 if second else 1, color)
        lines += printed if not table.details else _with_details(printed, table.details)
    for number, note in enumerate(table.footnotes, 1):
        lines += wrapped(visible(note), WIDTH, f"{words.mark(number)} ")
    return lines


def _printed(table: ReportTable, n_names: int, color: bool) -> list[str]:
    """Return the lines of a table whose first columns are names, cut so that the numbers stay within the width."""
    head, *rows = [[Painted(visible(heading)) for heading in table.headings], *table.rows]
    blank = [Painted("")] * n_names
    taken = max(
        map(
            display_width,
            text_table([""] * len(head), [[*blank, *row[n_names:]] for row in (head, *rows)], table.right),
        )
    )
    widths = [max(display_width(visible(row[place].text)) for row in (head, *rows)) for place in range(n_names)]
    room = WIDTH - taken
    cut = []
    for row in (head, *rows):
        names = [
            Painted(shortened_inside(visible(cell.text), width), cell.style)
            for cell, width in zip(row[:n_names], _shares(room, widths), strict=True)
        ]
        cut.append([*names, *row[n_names:]])
    return text_table([cell.text for cell in cut[0]], cut[1:], table.right, color=color, cell_width=WIDTH)


def _shares(room: int, widths: Sequence[int]) -> list[int]:
    """Return how wide each of one or two columns of names may be: what one does not need, the other has."""
    if sum(widths) <= room:
        return list(widths)
    if len(widths) == 1:
        return [max(_LEAST_NAME, room)]
    first = max(_LEAST_NAME, min(widths[0], max(room // 2, room - widths[1])))
    return [first, max(_LEAST_NAME, room - first)]


def _with_details(printed: Sequence[str], details: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with each row's details below it."""
    lines = [printed[0]]
    for row, below in zip(printed[1:], details, strict=True):
        lines += [row, *(f"    {visible(line)}" for line in below)]
    return lines


def _legend(shown: Sequence[Comparison], color: bool) -> list[str]:
    return [painted(line, "dim", color=color) for sentence in words.legend(shown) for line in wrapped(sentence, WIDTH)]


def _facts(facts: Sequence[tuple[str, str]]) -> list[str]:
    """Return the lines that say what was compared."""
    width = max(display_width(name) for name, _ in facts)
    return [line for name, value in facts for line in wrapped(visible(value), WIDTH, padded(name, width) + "  ")]


def _named(name: str, sentence: str) -> str:
    """Return a sentence about a metric, its name cut where the line would be too long."""
    room = max(_LEAST_NAME, WIDTH - display_width(sentence) - 2)
    return f"{shortened_inside(visible(name), room)}: {sentence}"


def _notes(notes: Sequence[str]) -> list[str]:
    """Return the notes; a command stands whole on a line of its own, ready to be copied."""
    lines = [""] if notes else []
    for note in notes:
        sentence, before, command = visible(note).partition(f": {_COMMAND}")
        lines += wrapped(sentence + before[:1], WIDTH, "note: ")
        if before:
            lines.append(f"      {_COMMAND}{command}")
    return lines

"""A comparison as Markdown for a pull request: what must be seen is seen, the rest is folded away."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.reporting import comparison_tables as tables
from ndcg_tracker.reporting import comparison_words as words
from ndcg_tracker.reporting.comparison_tables import ReportTable
from ndcg_tracker.reporting.markdown import markdown_table, markdown_text
from ndcg_tracker.reporting.terminal import visible

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison


def comparison_markdown(*comparisons: Comparison, spelled: Spelling = in_python) -> str:
    """Return the comparison as Markdown: verdict, table, footnotes and notes, and the rest in folds.

    ``spelled``: how arguments are spelled, as Python does or as options.
    """
    shown = tuple(words.for_people(comparison) for comparison in comparisons)
    blocks = []
    if len(shown) > 1:
        overview = tables.overview_table(shown)
        blocks.append([f"## {markdown_text(overview.title)}", "", *_table(overview)])
    for comparison, stored in zip(shown, comparisons, strict=True):
        blocks.append(_block(comparison, stored, shown, spelled))
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def _block(comparison: Comparison, stored: Comparison, shown: Sequence[Comparison], spelled: Spelling) -> list[str]:
    """Return the lines of one comparison."""
    lines = [f"### {markdown_text(words.headline(comparison))}", ""]
    lines += _table(tables.metric_table(comparison, shown, all_columns=True))
    remarks = [f"{metric}: {found}" for metric, found in words.equivalences(comparison)]
    remarks += [f"note: {note}" for note in words.notes(comparison)]
    if remarks:
        lines += ["", *_listed(remarks)]
    facts = [*words.facts(comparison, spelled), *words.canonical_names(comparison, stored)]
    read = [*(f"{name}: {value}" for name, value in facts), *words.legend(shown)]
    lines += _folded("what was compared, and how to read it", _listed(read))
    slices = tables.slice_table(comparison)
    if slices is not None:
        lines += _folded(slices.title, [*_table(slices), "", *_listed(tables.slice_legend(comparison))])
    for table in tables.group_tables(comparison):
        lines += _folded(table.title, _table(table))
    ties = tables.tie_table(comparison)
    if ties is not None and ties.rows:
        lines += _folded(ties.title, _table(ties))
    return lines


def _table(table: ReportTable) -> list[str]:
    """Return a table with its footnotes."""
    lines = markdown_table(table.headings, [[cell.text for cell in row] for row in table.rows], table.right)
    if table.footnotes:
        lines += ["", *_listed([f"{words.mark(number)} {note}" for number, note in enumerate(table.footnotes, 1)])]
    return lines


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return ["", f"<details><summary>{escape(visible(title))}</summary>", "", *lines, "", "</details>"]


def _listed(sentences: Sequence[str]) -> list[str]:
    return [f"- {markdown_text(sentence)}" for sentence in sentences]

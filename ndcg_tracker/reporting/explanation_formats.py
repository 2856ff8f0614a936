"""An explanation as text, JSON, Markdown and CSV: the change first, then what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.comparison.explanation import Explanation, GroupExplanation, RunExplanation
from ndcg_tracker.reporting import explanation_words as words
from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_table, markdown_text
from ndcg_tracker.reporting.table import Format, text_table
from ndcg_tracker.reporting.terminal import Painted, Style, painted, visible

TOP = 10

_ITEM_COLUMNS = (
    "group",
    "metric",
    "item",
    "grade",
    "rank_baseline",
    "rank_candidate",
    "contribution_baseline",
    "contribution_candidate",
    "contribution",
    "kind",
    "grade_baseline",
)
_TOTAL_COLUMNS = ("metric", "table", "row", "n", "contribution")


def explanation_as(format: Format, explanation: Explanation, *, top: int = TOP, color: bool = False) -> str:
    """Return an explanation in a format, with a line end; text and Markdown show ``top`` items."""
    if format == "json":
        return json_text(explanation.to_dict())
    if format == "csv":
        return csv_text(explanation_columns(explanation), explanation_rows(explanation))
    if format == "markdown":
        return explanation_markdown(explanation, top=top)
    return explanation_text(explanation, top=top, color=color)


def explanation_text(explanation: Explanation, *, top: int = TOP, color: bool = False) -> str:
    """Return the text report; everything that came from outside is escaped.

    Parameters: ``top``: how many items are shown. ``color``: whether styles are written; the caller knows the terminal
    and NO_COLOR.
    """
    explanation = words.for_people(explanation)
    lines = [painted(visible(words.headline(explanation)), "bold", color=color)]
    for table in words.tables(explanation, top):
        cells = [
            [Painted(cell, _style(cell) if place == table.signed else None) for place, cell in enumerate(row)]
            for row in table.rows
        ]
        lines += ["", painted(visible(table.title), "bold", color=color)]
        lines += text_table(table.headings, cells, table.right, color=color)
        if table.after:
            lines.append(visible(table.after))
    legend = words.legend(explanation)
    lines += ["", *(painted(visible(line), "dim", color=color) for line in legend)] if legend else []
    notes = words.notes(explanation)
    lines += ["", *(visible(f"note: {note}") for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def explanation_markdown(explanation: Explanation, *, top: int = TOP) -> str:
    """Return the explanation as Markdown for a pull request."""
    explanation = words.for_people(explanation)
    lines = [f"### {markdown_text(words.headline(explanation))}"]
    for table in words.tables(explanation, top):
        lines += ["", f"**{markdown_text(table.title)}**", "", *markdown_table(table.headings, table.rows, table.right)]
        if table.after:
            lines += ["", markdown_text(table.after)]
    remarks = [*words.legend(explanation), *(f"note: {note}" for note in words.notes(explanation))]
    lines += ["", *(f"- {markdown_text(remark)}" for remark in remarks)] if remarks else []
    return "\n".join(lines) + "\n"


def explanation_columns(explanation: Explanation) -> Sequence[str]:
    """Return the columns of an explanation's rows."""
    return _ITEM_COLUMNS if isinstance(explanation, GroupExplanation) else _TOTAL_COLUMNS


def explanation_rows(explanation: Explanation) -> list[list[object]]:
    """Return an explanation as rows: one per item of a group, or one per row of the tables over all groups."""
    if isinstance(explanation, RunExplanation):
        return [[explanation.subject.metric, *row] for row in _total_rows(explanation)]
    shared = {"group": explanation.group, "metric": explanation.subject.metric}
    items = [shared | item for item in explanation.to_dict()["items"]]
    return [[item.get(name) for name in _ITEM_COLUMNS] for item in items]


def _total_rows(explanation: RunExplanation) -> list[list[object]]:
    """Return table, row, number of items (or of groups, or of labels) and contribution of every row of the tables."""
    rows: list[list[object]] = []
    parts, totals = explanation.parts, explanation.totals
    if parts is not None:
        differences = parts.differences
        rows += [
            ["part", "ranking", None, parts.ranking],
            ["part", "labels", differences.n_changed, parts.labels],
            ["part", "coverage", differences.n_added + differences.n_removed, parts.coverage],
        ]
    if totals is not None:
        rows += [["kind", kind.kind, kind.n_items, kind.contribution] for kind in totals.kinds]
        rows += [
            ["grade", "unjudged" if grade.grade is None else f"{grade.grade:g}", grade.n_items, grade.contribution]
            for grade in totals.grades
        ]
        rows += [["rank", words.range_words(rank), rank.n_items, rank.contribution] for rank in totals.ranks]
        rows += [["item", item.item, item.n_groups, item.contribution] for item in totals.items]
        rows.append(["other items", None, totals.n_other_items, totals.other_items])
        rows.append(["remainder", None, None, totals.remainder])
    return rows


def _style(number: str) -> Style | None:
    """Return the style of a signed number."""
    return "bad" if number.startswith("-") else "good" if number.startswith("+") else None

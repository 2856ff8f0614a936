"""An explanation as text, JSON, Markdown and CSV: the change first, then what it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.comparison.explanation import Explanation, GroupExplanation, RunExplanation
from ndcg_tracker.reporting import explanation_words as words
from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.explanation_tables import range_words, tables
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_table, markdown_text
from ndcg_tracker.reporting.table import Format, text_table
from ndcg_tracker.reporting.terminal import Painted, Style, painted, visible, wrapped

TOP = 10
WIDTH = 100

_COMMAND = "ndcg-track "

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
_TOTAL_COLUMNS = ("metric", "table", "row", "n", "contribution", "group", "grade", "rank_baseline", "rank_candidate")


def explanation_as(
    format: Format, explanation: Explanation, *, top: int | None = TOP, color: bool = False, width: int = WIDTH
) -> str:
    """Return an explanation in a format, with a line end.

    Parameters: ``top``: how many items text and Markdown show of those that changed something, None for all items;
    JSON and CSV have all. ``color`` and ``width``: see ``explanation_text``.
    """
    if format == "json":
        return json_text(explanation.to_dict())
    if format == "csv":
        return csv_text(explanation_columns(explanation), explanation_rows(explanation))
    if format == "markdown":
        return explanation_markdown(explanation, top=top)
    return explanation_text(explanation, top=top, color=color, width=width)


def explanation_text(
    explanation: Explanation, *, top: int | None = TOP, color: bool = False, width: int = WIDTH
) -> str:
    """Return the text report; everything that came from outside is escaped.

    Parameters: ``top``: how many items are shown, None for all. ``color``: whether styles are written; the caller knows
    the terminal and NO_COLOR. ``width``: how many columns a sentence may take.
    """
    explanation = words.for_people(explanation)
    lines = [painted(line, "bold", color=color) for line in wrapped(visible(words.headline(explanation)), width)]
    lines += [line for sentence in words.story(explanation) for line in wrapped(visible(sentence), width)]
    for table in tables(explanation, top):
        cells = [
            [Painted(cell, _style(cell) if place == table.signed else None) for place, cell in enumerate(row)]
            for row in table.rows
        ]
        lines += ["", painted(visible(table.title), "bold", color=color)] if table.title else [""]
        lines += text_table(table.headings, cells, table.right, color=color)
        if table.after:
            lines.append(visible(table.after))
    legend = [line for sentence in words.legend(explanation) for line in wrapped(visible(sentence), width)]
    lines += ["", *(painted(line, "dim", color=color) for line in legend)] if legend else []
    lines += _notes(words.notes(explanation), width)
    return "\n".join(lines) + "\n"


def _notes(notes: Sequence[str], width: int) -> list[str]:
    """Return the notes; a command stands whole on a line of its own, ready to be copied."""
    lines = [""] if notes else []
    for note in notes:
        sentence, before, command = visible(note).partition(f": {_COMMAND}")
        lines += wrapped(sentence + before[:1], width, "note: ")
        if before:
            lines.append(f"      {_COMMAND}{command}")
    return lines


def explanation_markdown(explanation: Explanation, *, top: int | None = TOP) -> str:
    """Return the explanation as Markdown for a pull request; ``top``: how many items are shown, None for all."""
    explanation = words.for_people(explanation)
    lines = [f"### {markdown_text(words.headline(explanation))}"]
    for sentence in words.story(explanation):
        lines += ["", markdown_text(sentence)]
    for table in tables(explanation, top):
        lines += ["", f"**{markdown_text(table.title)}**"] if table.title else []
        lines += ["", *markdown_table(table.headings, table.rows, table.right)]
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
        rows = [[explanation.subject.metric, *row] for row in _total_rows(explanation)]
        return [row + [None] * (len(_TOTAL_COLUMNS) - len(row)) for row in rows]
    shared = {"group": explanation.group, "metric": explanation.subject.metric}
    items = [shared | item for item in explanation.to_dict()["items"]]
    return [[item.get(name) for name in _ITEM_COLUMNS] for item in items]


def _total_rows(explanation: RunExplanation) -> list[list[object]]:
    """Return table, row, number of items (or of groups, or of labels) and contribution of every row of the tables."""
    rows: list[list[object]] = []
    parts, totals = explanation.parts, explanation.totals
    if parts is not None:
        differences, of_groups = parts.differences, parts.of_groups
        n_labels = differences.n_added + differences.n_removed
        if of_groups is not None:
            n_labels -= of_groups.n_added + of_groups.n_removed
            n_groups = of_groups.n_came + of_groups.n_went + of_groups.n_between
            rows.append(["part", "groups", n_groups, parts.groups])
        rows += [
            ["part", "ranking", None, parts.ranking],
            ["part", "labels", differences.n_changed, parts.labels],
            ["part", "coverage", n_labels, parts.coverage],
        ]
    if totals is not None:
        rows += [["kind", kind.kind, kind.n_items, kind.contribution] for kind in totals.kinds]
        rows += [
            ["grade", "unjudged" if grade.grade is None else f"{grade.grade:g}", grade.n_items, grade.contribution]
            for grade in totals.grades
        ]
        rows += [["rank", range_words(rank), rank.n_items, rank.contribution] for rank in totals.ranks]
        rows += [
            ["item", *(of_item[name] for name in ("item", "n_groups", "contribution", *_TOTAL_COLUMNS[5:]))]
            for of_item in (item.to_dict() for item in totals.items)
        ]
        rows.append(["other items", None, totals.n_other_items, totals.other_items])
        rows.append(["remainder", None, None, totals.remainder])
    return rows


def _style(number: str) -> Style | None:
    """Return the style of a signed number."""
    return "bad" if number.startswith("-") else "good" if number.startswith("+") else None

"""Reports as pieces of HTML, for notebooks and pages: the sentence first, then tables; what is long is folded away.

Everything that came from outside is text here and never markup. The pieces bring no script and no style sheet, for a
notebook that is not trusted shows neither; on a page, whose security policy forbids styles of single elements, they
name classes of its style sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Literal

from ndcg_tracker.render.report import Report, Table, marked, shown
from ndcg_tracker.render.terminal import Painted, Style, visible

Look = Literal["right", "left", "strong", "better", "worse"]
Looks = Mapping[Look, str]
"""The attribute that gives an element a look."""
# the colours are told apart by those who cannot tell green from red, and readable on a white page and a dark one
STYLES: Looks = {
    "right": 'style="text-align:right"',
    "left": 'style="text-align:left"',
    "strong": 'style="font-weight:bold"',
    "better": 'style="color:#1784a8"',
    "worse": 'style="color:#c27c0e"',
}
CLASSES: Looks = {look: f'class="{look}"' for look in STYLES}
_LOOK_OF: dict[Style, Look] = {"good": "better", "bad": "worse", "bold": "strong"}


def reports_html(reports: Sequence[Report], looks: Looks = STYLES) -> str:
    """Return reports one after the other in one element."""
    pieces = [piece for report in reports for piece in _pieces(report, looks)]
    return "<div>" + "\n".join(piece for piece in pieces if piece) + "</div>"


def _pieces(report: Report, looks: Looks) -> list[str]:
    verdict = "" if report.verdict is None else f"{_painted(report.verdict, looks)}: "
    head = " ".join([verdict + _text(report.headline or ""), *map(_text, report.asides)])
    pieces = [f"<p><strong>{head}</strong></p>"] if report.headline is not None else []
    pieces += [f"<p>{_text(sentence)}</p>" for sentence in report.sentences]
    pieces += [table_html(table, looks) for table in report.tables]
    notes = [f"{note.kind}: {note}" for note in report.notes]
    legend = [] if report.is_overview else [*report.legend, *report.styles]
    if report.fold:
        pieces += [_listed(notes), _folded(report.fold, _facts(report.facts, looks) + _listed(legend))]
    else:
        pieces += [_facts(report.facts, looks), _listed([*report.remarks, *legend, *notes])]
    return [*pieces, *(table_html(table, looks) for table in report.details)]


def table_html(table: Table, looks: Looks = STYLES) -> str:
    """Return a table with its footnotes, what stands after it and how to read it."""
    if not table.rows:
        return f"<p>{_text(table.title)}</p>" if table.title else ""
    found = shown(table)
    sides = [f" {looks['right' if is_right else 'left']}" for is_right in found.right]
    head = "".join(f"<th{side}>{_text(heading)}</th>" for side, heading in zip(sides, found.headings, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_painted(cell, looks)}</td>' for side, cell in zip(sides, row, strict=True))}</tr>"
        for row in found.rows
    )
    title = f"<caption {looks['left']}><strong>{_text(table.title)}</strong></caption>" if table.title else ""
    after = f"<p>{_text(table.after)}</p>" if table.after else ""
    return (
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{_listed(marked(table.footnotes))}{after}{_listed(table.legend)}"
    )


def _facts(facts: Sequence[tuple[str, str]], looks: Looks) -> str:
    """Return names and what they are as a table without a head."""
    rows = [
        f"<tr><th {looks['left']}>{_text(name)}</th><td {looks['left']}>{_text(value)}</td></tr>"
        for name, value in facts
    ]
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _listed(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in sentences)}</ul>" if sentences else ""


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{_text(title)}</summary>{content}</details>"


def _painted(cell: Painted, looks: Looks) -> str:
    text = _text(cell.text)
    if cell.link:
        text = f'<a href="{escape(cell.link)}" target="_blank" rel="noreferrer noopener">{text}</a>'
    look = None if cell.style is None else _LOOK_OF.get(cell.style)
    return text if look is None else f"<span {looks[look]}>{text}</span>"


def _text(text: str) -> str:
    return escape(visible(text))

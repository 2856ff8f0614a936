"""Results as pieces of HTML for notebooks: the sentence first, then tables; what is long is folded away.

Everything that came from outside is text here and never markup. The pieces bring no script and no style sheet, for a
notebook that is not trusted shows neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from ndcg_tracker.reporting import comparison_tables, comparison_words, explanation_words, gate_words
from ndcg_tracker.reporting.explanation_tables import tables as explanation_tables
from ndcg_tracker.reporting.terminal import Painted, Style, visible

if TYPE_CHECKING:
    from ndcg_tracker.comparison.explanation import Explanation
    from ndcg_tracker.comparison.gate_result import Gated
    from ndcg_tracker.comparison.results import Comparison
    from ndcg_tracker.reporting.comparison_tables import ReportTable
    from ndcg_tracker.reporting.explanation_tables import WordTable

ITEMS_SHOWN = 10

# told apart by those who cannot tell green from red, and readable on a white page and a dark one
_COLORS: dict[Style, str] = {"good": "color:#1784a8", "bad": "color:#c27c0e", "bold": "font-weight:bold"}
_VERDICTS: dict[str, Style] = {"pass": "good", "fail": "bad", "inconclusive": "bold"}


def comparison_html(*comparisons: Comparison) -> str:
    """Return one comparison, or several candidates against one baseline, as HTML."""
    shown = tuple(comparison_words.for_people(comparison) for comparison in comparisons)
    pieces = [_report_table(comparison_tables.overview_table(shown))] if len(shown) > 1 else []
    for comparison, stored in zip(shown, comparisons, strict=True):
        pieces += _comparison(comparison, stored, shown)
    return _document(pieces)


def gate_html(gated: Gated) -> str:
    """Return the decision of a gate as HTML."""
    gated = gate_words.for_people(gated)
    verdict = _painted(Painted(gate_words.verdict(gated), _VERDICTS[gated.decision.decision]))
    why = gated.decision.why
    remarks = [f"warning: {warning}" for warning in gate_words.warnings(gated)]
    remarks += [f"note: {note}" for note in gate_words.notes(gated)]
    return _document(
        [
            f"<p><strong>{verdict}: {_text(gate_words.finding(gated))}</strong></p>",
            f"<p>{_text(why[:1].upper() + why[1:])}</p>",
            _pairs(gate_words.facts(gated)),
            _listed(remarks),
        ]
    )


def explanation_html(explanation: Explanation, *, top: int | None = ITEMS_SHOWN) -> str:
    """Return an explanation as HTML; ``top``: how many items are shown, None for all."""
    explanation = explanation_words.for_people(explanation)
    pieces = [f"<p><strong>{_text(explanation_words.headline(explanation))}</strong></p>"]
    pieces += [f"<p>{_text(sentence)}</p>" for sentence in explanation_words.story(explanation)]
    pieces += [_word_table(table) for table in explanation_tables(explanation, top)]
    remarks = [*explanation_words.legend(explanation), *(f"note: {n}" for n in explanation_words.notes(explanation))]
    return _document([*pieces, _listed(remarks)])


def _comparison(comparison: Comparison, stored: Comparison, shown: Sequence[Comparison]) -> list[str]:
    words, tables = comparison_words, comparison_tables
    pieces = [f"<p><strong>{_text(words.headline(comparison))}</strong></p>"]
    pieces.append(_report_table(tables.metric_table(comparison, shown, all_columns=True)))
    pieces += [_report_table(table) for table in tables.equivalence_tables(comparison)]
    pieces.append(_listed([f"note: {note}" for note in words.notes(comparison)]))
    facts = [*words.facts(comparison), *words.canonical_names(comparison, stored)]
    read = _pairs(facts) + _listed(words.legend(shown))
    pieces.append(_folded("what was compared, and how to read it", read))
    slices = tables.slice_table(comparison)
    if slices is not None:
        pieces.append(_report_table(slices) + _listed(tables.slice_legend(comparison)))
    pieces += [_report_table(table) for table in tables.group_tables(comparison)]
    ties = tables.tie_table(comparison)
    return [*pieces, *([_report_table(ties)] if ties is not None else [])]


def _report_table(table: ReportTable) -> str:
    """Return a table of a comparison with its footnotes."""
    notes = [f"{comparison_words.mark(number)} {note}" for number, note in enumerate(table.footnotes, 1)]
    if not table.rows:
        return f"<p>{_text(table.title)}</p>" if table.title else ""
    return _table(table.title, table.headings, table.rows, table.right) + _listed(notes)


def _word_table(table: WordTable) -> str:
    """Return a table of an explanation, its signed numbers coloured."""
    styles: dict[str, Style] = {"+": "good", "-": "bad"}
    rows = [
        [Painted(cell, styles.get(cell[:1]) if place == table.signed else None) for place, cell in enumerate(row)]
        for row in table.rows
    ]
    after = f"<p>{_text(table.after)}</p>" if table.after else ""
    return _table(table.title, table.headings, rows, table.right) + after


def _table(title: str, headings: Sequence[str], rows: Sequence[Sequence[Painted]], right: Sequence[bool]) -> str:
    """Return a table; ``right``: which columns hold numbers and stand right."""
    sides = [f' style="text-align:{"right" if is_right else "left"}"' for is_right in right]
    head = "".join(f"<th{side}>{_text(heading)}</th>" for side, heading in zip(sides, headings, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_painted(cell)}</td>' for side, cell in zip(sides, row, strict=True))}</tr>"
        for row in rows
    )
    caption = f'<caption style="text-align:left"><strong>{_text(title)}</strong></caption>' if title else ""
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _pairs(facts: Sequence[tuple[str, str]]) -> str:
    """Return names and what they are as a table without a head."""
    rows = [
        f'<tr><th style="text-align:left">{_text(name)}</th><td style="text-align:left">{_text(value)}</td></tr>'
        for name, value in facts
    ]
    return f"<table><tbody>{''.join(rows)}</tbody></table>"


def _listed(sentences: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{_text(sentence)}</li>' for sentence in sentences)}</ul>" if sentences else ""


def _folded(title: str, content: str) -> str:
    return f"<details><summary>{_text(title)}</summary>{content}</details>"


def _document(pieces: Sequence[str]) -> str:
    return "<div>" + "\n".join(piece for piece in pieces if piece) + "</div>"


def _painted(cell: Painted) -> str:
    style = _COLORS.get(cell.style) if cell.style is not None else None
    return _text(cell.text) if style is None else f'<span style="{style}">{_text(cell.text)}</span>'


def _text(text: str) -> str:
    return escape(visible(text))

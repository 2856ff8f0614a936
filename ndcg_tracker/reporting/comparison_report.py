"""A comparison as a text report for people: the verdict first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.reporting import comparison_words as words
from ndcg_tracker.reporting.table import text_table
from ndcg_tracker.reporting.terminal import Painted, Style, display_width, padded, painted, visible

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison, MetricComparison


def comparison_text(*comparisons: Comparison, color: bool = False) -> str:
    """Return the text report of one comparison, or of several candidates against one baseline.

    Parameters: ``color``: whether styles are written; the caller knows the terminal and NO_COLOR. Returns: text with a
    line end; everything that came from outside is escaped.
    """
    comparisons = tuple(words.for_people(comparison) for comparison in comparisons)
    blocks = [_block(comparison, comparisons, color) for comparison in comparisons]
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n"


def _block(comparison: Comparison, all_comparisons: tuple[Comparison, ...], color: bool) -> list[str]:
    """Return the lines of one comparison."""
    lines = [painted(visible(words.headline(comparison)), "bold", color=color), ""]
    footnotes: list[str] = []
    rows = [
        [
            Painted(cell, _style(metric) if heading == "delta" else None)
            for heading, cell in zip(words.METRIC_HEADINGS, words.metric_cells(metric, footnotes), strict=True)
        ]
        for metric in comparison.metrics
    ]
    lines += text_table(words.METRIC_HEADINGS, rows, words.METRIC_RIGHT, color=color)
    lines += [visible(f"{words.mark(number)} {note}") for number, note in enumerate(footnotes, 1)]
    lines += ["", *(painted(line, "dim", color=color) for line in words.legend(all_comparisons))]
    lines += [visible(sentence) for sentence in words.detectable(comparison)]
    lines += ["", *_facts(comparison)]
    for title, groups in words.group_tables(comparison):
        cells = [
            [Painted(cell, _sign_style(row[-1]) if place == len(row) - 1 else None) for place, cell in enumerate(row)]
            for row in groups
        ]
        lines += ["", painted(visible(title), "bold", color=color)]
        lines += text_table(words.GROUP_HEADINGS, cells, words.GROUP_RIGHT, color=color)
    if comparison.tie_groups is not None:
        title = f"groups that ties in scores leave open in {comparison.metrics[0].metric}"
        rows_of_ties = words.tie_rows(comparison)
        lines += ["", painted(visible(title if rows_of_ties else f"no {title}"), "bold", color=color)]
        if rows_of_ties:
            lines += text_table(words.TIE_HEADINGS, rows_of_ties, words.TIE_RIGHT, color=color)
    notes = words.notes(comparison)
    if notes:
        lines += ["", *(visible(f"note: {note}") for note in notes)]
    return lines


def _facts(comparison: Comparison) -> list[str]:
    """Return the lines that say what was compared."""
    facts = words.facts(comparison)
    width = max(display_width(name) for name, _ in facts)
    return [f"{padded(name, width)}  {visible(value)}" for name, value in facts]


def _style(metric: MetricComparison) -> Style | None:
    """Return the style of a metric's difference."""
    if metric.verdict == "improved":
        return "good"
    return "bad" if metric.verdict == "regressed" else None


def _sign_style(delta: str) -> Style:
    """Return the style of a signed number."""
    return "bad" if delta.startswith("-") else "good"

"""Reports and tables as Markdown in which text from outside stays text: no markup, no links, no notifications.

The important parts are visible, and the rest is folded away.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

from ndcg_tracker.render.report import Detail, Report, Table, marked, shown_reports
from ndcg_tracker.render.terminal import Painted, visible

_SPECIAL = re.compile(r"[\\`*\[\]|~#$]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK_START = re.compile(r"\A([-+=]|:(?=:)|\d+(?=[.)]))")
_MENTION = re.compile(r"(?<![\w)])@(?=\w)")  # after a bracket it is a metric's cutoff


def markdown_text(text: str) -> str:
    """Return one line of text in a form that Markdown (CommonMark, GitHub) shows unchanged.

    >>> print(markdown_text("<b> a|b *c* my_run ndcg@10"))
    &lt;b&gt; a\\|b \\*c\\* my_run ndcg@10
    """
    escaped = markdown_cell(text)
    return _BLOCK_START.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", escaped)


def markdown_cell(text: str) -> str:
    """Return text for a place where no block begins, such as a table cell: ``markdown_text`` except at its start.

    >>> markdown_cell("-0.5"), markdown_text("-0.5")
    ('-0.5', '\\\\-0.5')
    """
    escaped = visible(text).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # an invisible character after the sign keeps GitHub from notifying a user
    return _MENTION.sub("@&#8203;", _SPECIAL.sub(r"\\\g<0>", escaped))


def markdown_table(
    headings: Sequence[str], rows: Sequence[Sequence[str | Painted]], right: Sequence[bool]
) -> list[str]:
    """Return the lines of a Markdown table.

    Parameters: ``headings`` and ``rows``: text, escaped here, perhaps with a link. ``right``: which columns hold
    numbers and are aligned right.

    >>> print(*markdown_table(["run", "mean"], [["a|b", "0.5"]], [False, True]), sep=chr(10))
    | run | mean |
    | --- | ---: |
    | a\\|b | 0.5 |
    """
    lines = [[markdown_cell(heading) for heading in headings], ["---:" if is_right else "---" for is_right in right]]
    lines += [[_cell(cell) for cell in row] for row in rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _cell(cell: str | Painted) -> str:
    if isinstance(cell, str) or not cell.link:
        return markdown_cell(cell if isinstance(cell, str) else cell.text)
    return f"[{markdown_cell(cell.text)}]({cell.link.replace('&', '&amp;')})"


def reports_markdown(reports: Sequence[Report], detail: Detail = "screen") -> str:
    """Return reports one after the other, with a line end; the rest of those that name it is folded."""
    if detail == "line":
        return "".join(_headline(report) + "\n" for report in reports[:1])
    blocks = [
        "\n\n".join("\n".join(part) for part in _parts(report, detail) if part)
        for report in shown_reports(reports, detail)
    ]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _parts(report: Report, detail: Detail) -> list[list[str]]:
    """Return the parts of a report; the caller puts a blank line between them."""
    report = report.whole
    head = [_headline(report)] if report.headline is not None else []
    parts = [[*head, *_listed(list(map(str, report.under)))]]
    parts += [[markdown_text(sentence)] for sentence in report.sentences]
    parts += [part for table in report.tables for part in _titled(table)]
    parts.append(_listed(list(map(str, [*report.lines, *report.notes]))))
    facts = [f"{name}: {value}" for name, value in report.facts]
    rest = [_listed([*facts, *report.legends, *map(str, report.minor)])]
    rest += [part for table in report.details for part in _titled(table)]
    return parts + (_folded(report.rest, rest) if detail == "screen" and any(rest) else rest)


def _titled(table: Table) -> list[list[str]]:
    return [*([[f"**{markdown_text(table.title)}**"]] if table.title else []), *(_table(table) if table.rows else [])]


def _headline(report: Report) -> str:
    verdict = "" if report.verdict is None else f"{report.verdict.text}: "
    told = [markdown_text(verdict + (report.headline or "")), *map(markdown_text, report.asides)]
    return f"{'##' if report.is_overview else '###'} {' '.join(filter(None, told))}"


def _table(table: Table) -> list[list[str]]:
    """Return a table with its footnotes, the line after it and how to read it."""
    people = table.for_people
    after = [markdown_text(table.after)] if table.after else []
    return [
        markdown_table([of.heading for of in people.columns], people.cells, [bool(of.right) for of in people.columns]),
        _listed(marked(table.footnotes)),
        after,
        _listed(table.legend),
    ]


def table_markdown(table: Table) -> str:
    """Return the lines of a table alone, each with a line end."""
    return "".join(line + "\n" for line in _table(table)[0])


def _folded(title: str, parts: Sequence[list[str]]) -> list[list[str]]:
    return [[f"<details><summary>{escape(visible(title))}</summary>"], *parts, ["</details>"]]


def _listed(sentences: Sequence[str]) -> list[str]:
    return [f"- {markdown_text(sentence)}" for sentence in sentences]

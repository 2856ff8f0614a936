"""Markdown in which text from outside is text: no markup, no links, no one called to the scene."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ndcg_tracker.reporting.terminal import visible

_SPECIAL = re.compile(r"[\\`*\[\]|~#$]|(?<![^\W_])_|_(?![^\W_])")
_BLOCK_START = re.compile(r"\A([-+=]|\d+(?=[.)]))")
_MENTION = re.compile(r"(?<![\w)])@(?=\w)")  # after a bracket it is a metric's cutoff


def markdown_text(text: str) -> str:
    """Return one line of text such that Markdown (CommonMark, GitHub) shows it as it is.

    >>> print(markdown_text("<b> a|b *c* my_run ndcg@10"))
    &lt;b&gt; a\\|b \\*c\\* my_run ndcg@10
    """
    escaped = markdown_cell(text)
    return _BLOCK_START.sub(lambda match: f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}", escaped)


def markdown_cell(text: str) -> str:
    """Return text for a place where no block begins, such as a table cell: ``markdown_text`` but for its start.

    >>> markdown_cell("-0.5"), markdown_text("-0.5")
    ('-0.5', '\\\\-0.5')
    """
    escaped = visible(text).strip().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # an invisible character after the sign keeps GitHub from notifying a user
    return _MENTION.sub("@&#8203;", _SPECIAL.sub(r"\\\g<0>", escaped))


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Return the lines of a Markdown table.

    Parameters: ``headings`` and ``rows``: text, escaped here. ``right``: which columns hold numbers and stand right.

    >>> print(*markdown_table(["run", "mean"], [["a|b", "0.5"]], [False, True]), sep=chr(10))
    | run | mean |
    | --- | ---: |
    | a\\|b | 0.5 |
    """
    lines = [[markdown_cell(heading) for heading in headings], ["---:" if is_right else "---" for is_right in right]]
    lines += [[markdown_cell(cell) for cell in row] for row in rows]
    return ["| " + " | ".join(line) + " |" for line in lines]

"""Tables for papers: LaTeX with booktabs, in which ids are text and never commands."""

from __future__ import annotations

import re

from ndcg_tracker.render.report import Table, best_places, is_named
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.words.texts import UNDEFINED

_EMPHASIZED = {1: r"\textbf{%s}", 2: r"\underline{%s}"}
EMPHASIS = "Bold: the best mean of a column; underlined: the second best."
"""What a caption says about the means of ``table_latex``."""
_SPECIAL = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}", "]": "{]}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}  # fmt: skip
TIMES = r" \cdot "
_POWER = re.compile(r"([\d.]+)e([+-]\d+)")
_LIGATURE = re.compile(
    r"(?<=([-'`:]))(?=\1)"
)  # :: is not a ligature, but it begins a command in the log of a GitHub build


def latex_text(text: str) -> str:
    """Return text in a form that LaTeX prints unchanged, from left to right on one line (see ``visible``).

    >>> print(latex_text("my_run & 50%"), latex_text("--a" + chr(0x202E)))
    my\\_run \\& 50\\% -{}-a\\textbackslash{}u202e
    """
    escaped = re.sub("|".join(map(re.escape, _SPECIAL)), lambda match: _SPECIAL[match[0]], visible(text))
    return _LIGATURE.sub("{}", escaped)


def latex_number(text: str) -> str:
    """Return a number, an interval or a p-value in mathematical notation, with the digits that reports show.

    >>> print(latex_number("-0.0123"), latex_number("[-2.0e-05, +0.0045]"), latex_number("<1e-4"), latex_number("-"))
    $-0.0123$ $[-2.0 \\cdot 10^{-5}, +0.0045]$ $<10^{-4}$ --
    """
    if text == UNDEFINED:
        return "--"
    shown = _POWER.sub(lambda power: f"{'' if power[1] == '1' else power[1] + TIMES}10^{{{int(power[2])}}}", text)
    return f"${shown}$".replace(" to ", "$ to $")


_GLYPHS = {"▲": r"$\uparrow$", "▼": r"$\downarrow$", "~": r"$\sim$"}


def table_latex(table: Table, caption: str) -> str:
    """Return a table of booktabs: the columns that people see, the best mean bold, the second underlined."""
    heads, cells, people = list[str](), list[list[str]](), table.for_people
    aligned, below = "", -1
    for number, place in enumerate(table.places_shown):
        column, told = table.columns[place], [row[number].text for row in people.cells]
        if column.is_superscript:
            above = [text.replace(" ", ",").replace("-", "--") if text != UNDEFINED else "" for text in told]
            cells[below] = [before + _superscript(of) for before, of in zip(cells[below], above, strict=True)]
            continue
        below = len(cells) if column.kind == "mean" else below
        heads.append(latex_text(column.title or column.key) if is_named(column) else "")
        aligned += "r" if table.is_right(place) else "l"
        if column.kind in ("interval", "p", "delta") and not any(text[:1] in _GLYPHS for text in told):
            cells.append(list(map(latex_number, told)))
        elif column.best:
            best = best_places([row[place] for row in table.rows], column.best)
            cells.append([_EMPHASIZED.get(of, "%s") % _cell(text) for text, of in zip(told, best, strict=True)])
        else:
            cells.append(list(map(_cell, told)))
    if table.footnotes:
        signs = [row[-1].text.translate(_DIGITS).replace(" ", ",") for row in people.cells]
        cells[1] = [before + _superscript(of) for before, of in zip(cells[1], signs, strict=True)]
    below_table = [
        rf"\par\smallskip\footnotesize\textsuperscript{{{number}}} {latex_text(note)}."
        for number, note in enumerate(table.footnotes, 1)
    ]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            r"\smallskip",
            rf"\begin{{tabular}}{{{aligned}}}",
            r"\toprule",
            rf"{' & '.join(heads)} \\",
            r"\midrule",
            *(rf"{' & '.join(line)} \\" for line in zip(*cells, strict=True)),
            r"\bottomrule",
            r"\end{tabular}",
            *below_table,
            r"\end{table}",
            "",
        ]
    )


def _superscript(text: str) -> str:
    return rf"\textsuperscript{{{text}}}" if text else ""


_DIGITS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


def _cell(text: str) -> str:
    """Return a cell as LaTeX, with a glyph as a symbol that every font has."""
    glyph, _, rest = text.partition(" ") if text[:1] in _GLYPHS else ("", "", text)
    signs = "".join(_GLYPHS.get(sign, sign) for sign in glyph)
    return " ".join(filter(None, [signs, "--" if rest == UNDEFINED else latex_text(rest)]))

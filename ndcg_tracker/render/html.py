"""Reports as pieces of HTML, for notebooks, and pages of them: one file each, which asks nothing of any network.

Everything that came from outside is text here and never markup. The pieces bring no script and no style sheet, for a
notebook that is not trusted shows neither; on a page, whose security policy forbids styles of single elements, they
name classes of its style sheet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Literal

from ndcg_tracker.render.json import plain_json_text
from ndcg_tracker.render.report import Report, Table, marked, shown
from ndcg_tracker.render.terminal import Painted, Style, visible
from ndcg_tracker.render.theme import COLORS, Spec, Theme, config

if TYPE_CHECKING:
    from jinja2 import Environment


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
    shown_table = shown(table)
    sides = [f" {looks['right' if is_right else 'left']}" for is_right in shown_table.right]
    head = "".join(
        f"<th{side}>{_text(heading)}</th>" for side, heading in zip(sides, shown_table.headings, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_painted(cell, looks)}</td>' for side, cell in zip(sides, row, strict=True))}</tr>"
        for row in shown_table.rows
    )
    title = f"<caption {looks['left']}><strong>{_text(table.title)}</strong></caption>" if table.title else ""
    after = f"<p>{_text(table.after)}</p>" if table.after else ""
    return (
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{_listed(marked(table.footnotes))}{after}{_listed(table.legend)}"
    )


def _facts(facts: Sequence[tuple[str, str]], looks: Looks) -> str:
    """Return names and their values as a table without a head."""
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


_POLICY = "default-src 'none'; script-src {scripts}; style-src {style}; base-uri 'none'; form-action 'none'"


def page(template: str, data: object, *, scripts: Sequence[str] = ("vega.js",), **values: object) -> str:
    """Return a page that is made from a template.

    Parameters: ``template``: its file. ``data``: what its scripts read, as JSON. ``scripts``: files of scripts, in
    their order. ``values``: what the template shows; text is escaped, but for ``Markup``.
    """
    from markupsafe import Markup

    style = asset("page.css")
    texts = [asset(name) for name in scripts]
    policy = _POLICY.format(scripts=" ".join(map(_source, texts)), style=_source(style))
    return (
        environment()
        .get_template(template)
        .render(
            policy=policy,
            style=Markup(style),
            scripts=[Markup(text) for text in texts],
            data=Markup(script_json(data)),
            **values,
        )
    )


def themes() -> dict[str, dict[str, object]]:
    """Return what a script needs to draw charts on a light page and on a dark one."""
    return {theme: _theme(theme) for theme in COLORS}


def _theme(theme: Theme) -> dict[str, object]:
    look = config(theme)
    return {"params": look.pop("params"), "config": look}


@cache
def asset(name: str) -> str:
    """Return a file that pages carry."""
    from importlib import resources

    return resources.files("ndcg_tracker.render").joinpath("pages", "assets", name).read_text("utf-8")


@cache
def environment() -> Environment:
    """Return the template environment: everything is escaped, and what a terminal or a browser would obey is shown."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("ndcg_tracker.render", "pages/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )


def script_json(value: object) -> str:
    """Return a value as JSON that stands inside a script element and cannot end it.

    >>> script_json({"group": "</script><script>"})
    '{"group":"\\\\u003c/script\\\\u003e\\\\u003cscript\\\\u003e"}'
    """
    text = plain_json_text(value)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(value: object) -> object:
    """Return a value of a template as it is shown; markup of ours stays."""
    return visible(value) if type(value) is str else value


def _source(text: str) -> str:
    import base64  # imported here, because printing a table does not need it
    import hashlib

    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def chart_page(spec: Spec, reports: Sequence[Report] = ()) -> str:
    """Return a chart as one file of HTML, with reports below it."""
    from markupsafe import Markup

    title = spec["title"]
    below = [Markup(reports_html([report], CLASSES)) for report in reports]
    return page(
        "chart.html",
        {"themes": themes(), "chart": spec},
        scripts=("vega.js", "draw.js", "chart.js"),
        title=title["text"],
        subtitle=title.get("subtitle", ""),
        reports=below,
    )

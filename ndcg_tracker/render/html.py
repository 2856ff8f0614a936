"""Reports as pieces of HTML for notebooks, and whole pages: one file each, which loads nothing from any network.

Text from outside is always text and never markup. The pieces have no script and no style sheet, because a notebook that
is not trusted shows neither. On a page, whose security policy forbids styles of single elements, they use classes of
its style sheet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import Column, Report, Table, is_named, marked
from ndcg_tracker.render.terminal import Painted, Style, shortened_apart, shown_strings, visible
from ndcg_tracker.words.texts import unit, units

if TYPE_CHECKING:
    from jinja2 import Environment


Spec = dict[str, Any]
"""A Vega-Lite specification: JSON as plain Python values."""
Theme = Literal["light", "dark"]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

BETTER, SAME, WORSE = "better", "same", "worse"
COLORS: Mapping[Theme, Mapping[str, str]] = {
    "light": {
        BETTER: "#1f77b4",
        SAME: "#a3a7ab",
        WORSE: "#d95f02",
        "chosen": "#5b35c4",
        "text": "#1a1b20",
        "muted": "#5f636b",
        "grid": "#e4e4e1",
        "page": "#fbfaf8",
        "card": "#ffffff",
    },
    "dark": {
        BETTER: "#58a6e0",
        SAME: "#7f848c",
        WORSE: "#f28e3c",
        "chosen": "#b49bff",
        "text": "#ececf0",
        "muted": "#a5a9b3",
        "grid": "#35373d",
        "page": "#16171b",
        "card": "#1e2025",
    },
}
"""People who cannot distinguish red from green can distinguish these (Okabe and Ito, Color Universal Design)."""
SLICE_COLORS = ["#009e73", "#cc79a7", "#b8a900", "#7a6bd0", "#5fc0b4", "#b2386b", "#d9c36a", "#a0674b"]
"""The colours of slices, in this order; blue and orange mean better and worse, and grey is for the other slices."""
_NUMBERS = {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""], "minus": "-"}
"""How charts write numbers: with the plain minus sign of all other texts, so that other tools can read them."""
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"


def config(theme: Theme = "light") -> Spec:
    """Return the Vega-Lite configuration of a theme."""
    colors = COLORS[theme]
    axis = {
        "labelColor": colors["muted"],
        "titleColor": colors["muted"],
        "gridColor": colors["grid"],
        "domain": False,
        "ticks": False,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelPadding": 6,
        "titlePadding": 8,
    }
    return {
        "font": FONT,
        "background": None,
        "aria": False,  # a screen reader gets the description and the table of numbers, not each mark
        "view": {"stroke": None},
        "mark": {"aria": False},
        "axis": axis,
        "legend": {
            "labelColor": colors["muted"],
            "titleColor": colors["muted"],
            "orient": "top",
            "symbolType": "circle",
        },
        "title": {"color": colors["text"], "subtitleColor": colors["muted"], "anchor": "start", "fontSize": 13},
        "text": {"color": colors["text"], "fontSize": 11},
        "rule": {"color": colors["muted"]},
        "header": {"labelColor": colors["muted"], "title": None},
        "range": {"category": SLICE_COLORS},
        "locale": {"number": _NUMBERS},
        "params": [{"name": name, "value": color} for name, color in colors.items()],
    }


def chart(
    title: str,
    layers: Sequence[Spec],
    rows: Sequence[Mapping[str, object]] | None = None,
    *,
    subtitle: str = "",
    height: int | Spec = 240,
    **more: object,
) -> Spec:
    """Return a chart of layers over one table of rows, as wide as its place.

    Texts must be safe to show, because ids and names come from outside.
    """
    spec: Spec = {"$schema": SCHEMA, "title": {"text": title}, "width": "container", "height": height}
    spec["description"] = ": ".join(filter(None, (title, subtitle)))
    spec["autosize"] = {"type": "fit-x", "contains": "padding"}
    if subtitle:
        spec["title"]["subtitle"] = subtitle
    if rows is not None:
        spec["data"] = {"values": [dict(row) for row in rows]}
    whole: Spec = shown_strings({**spec, "layer": list(layers), **more})
    return whole


def layer(mark: str, encoding: Mapping[str, object], *, where: str = "", **look: object) -> Spec:
    """Return a layer: marks of one type with their looks, for the rows that match ``where``."""
    filtered: Spec = {"transform": [{"filter": where}]} if where else {}
    return filtered | {"mark": {"type": mark, **look}, "encoding": dict(encoding)}


def number(field: str = "", **more: object) -> Spec:
    """Return the encoding of a field of numbers, or of a number that ``more`` gives."""
    return ({"field": field} if field else {}) | {"type": "quantitative", **more}


def nominal(field: str, **more: object) -> Spec:
    """Return the encoding of a field of names."""
    return {"field": field, "type": "nominal", **more}


def named_axis(names: Sequence[str], width: int, **more: object) -> Spec:
    """Return an axis or a legend of names, each cut to ``width`` characters that distinguish it from the others.

    >>> named_axis(["bm25", "dense"], 9, grid=False)
    {'grid': False}
    >>> named_axis(["a-long-name", "another-long-name"], 9)["labelExpr"].count("datum.value")
    2
    """
    each = list(dict.fromkeys(map(visible, names)))
    short = dict(zip(each, shortened_apart(each, width), strict=True))
    cut = [name for name in each if short[name] != name]
    if not cut:
        return dict(more)
    at = f"indexof({json.dumps(cut)}, datum.value)"
    return {"labelExpr": f"{at} < 0 ? datum.label : {json.dumps([short[name] for name in cut])}[{at}]", **more}


def tooltip(*fields: str | tuple[str, str] | tuple[str, str, str]) -> list[Spec]:
    """Return the encoding of what a pointer shows: fields, each with its title ("" for the field) and its format."""
    each = ((field, "", "") if isinstance(field, str) else (*field, "")[:3] for field in fields)
    parts = ({"field": field, "title": title, "format": format} for field, title, format in each)
    return [{key: text for key, text in part.items() if text} for part in parts]


def themed(spec: Spec, theme: Theme = "light") -> Spec:
    """Return a chart with its theme inside, ready for any renderer of Vega-Lite."""
    look = themes()[theme]
    whole = look["config"] | {"background": COLORS[theme]["card"]}
    return {**spec, "params": [*look["params"], *spec.get("params", [])], "config": whole}


def direction(delta: float) -> str:
    """Return the name of a difference, which is the key of its colour.

    >>> direction(-0.5), direction(0.0)
    ('worse', 'same')
    """
    return BETTER if delta > 0 else WORSE if delta < 0 else SAME


def by_direction() -> Spec:
    """Return the colour encoding of the field ``direction``; the theme's colours are parameters of the view."""
    directions = (WORSE, SAME, BETTER)
    scale = {"domain": [*directions], "range": [{"expr": direction} for direction in directions]}
    return nominal("direction", scale=scale, legend=None)


def signed_axis(title: str | None = None, **more: object) -> Spec:
    """Return an axis of differences, each with its sign."""
    zero = "datum.value == 0 ? '0' : datum.label"
    return {"title": title, "format": "+.3~f", "labelExpr": zero, "tickCount": 5, **more}


Look = Literal["right", "left", "strong", "better", "worse"]
Looks = Mapping[Look, str]
"""The attribute that gives an element a look."""
# people who cannot distinguish green from red can distinguish these colours, on a white page and on a dark one
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
    pieces = ["\n".join(filter(None, _pieces(report, looks))) for report in reports]
    if reports and reports[0].is_overview and pieces[1:]:
        pieces[1:] = [_folded(reports[0].rest, "\n".join(pieces[1:]))]
    return "<div>" + "\n".join(pieces) + "</div>"


def _pieces(report: Report, looks: Looks) -> list[str]:
    report = report.whole
    verdict = "" if report.verdict is None else f"{_painted(report.verdict, looks)}: "
    head = " ".join([verdict + _text(report.headline or ""), *map(_text, report.asides)])
    pieces = [f"<p><strong>{head}</strong></p>"] if report.headline is not None else []
    pieces += [_listed(list(map(str, report.under))), *(f"<p>{_text(sentence)}</p>" for sentence in report.sentences)]
    pieces += [table_html(table, looks) for table in report.tables]
    pieces.append(_listed(list(map(str, [*report.lines, *report.notes]))))
    legend = [*report.legends, *report.styles, *map(str, report.minor)]
    tables = [table_html(table, looks) for table in report.details]
    rest = "".join([_facts(report.facts, looks), _listed(legend), *tables])
    return [*pieces, _folded(report.rest, rest) if report.rest and rest else rest]


def table_html(table: Table, looks: Looks = STYLES) -> str:
    """Return a table with its footnotes, the line after it and how to read it; with classes, each cell has its kind."""
    if not table.rows:
        return f"<p>{_text(table.title)}</p>" if table.title else ""
    return people_html(table.for_people, looks)


def people_html(table: Table, looks: Looks) -> str:
    """Return a table ``for_people`` (see ``table_html``)."""
    sides = [f" {_look(looks, of)}" for of in table.columns]
    head = "".join(
        f"<th{side}>{_painted(Painted(of.heading, link=of.link), looks)}</th>"
        if is_named(of)
        else f"<td{side}></td>"  # no words say nothing
        for side, of in zip(sides, table.columns, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(f'<td{side}>{_painted(cell, looks)}</td>' for side, cell in zip(sides, row, strict=True))}</tr>"
        for row in table.cells
    )
    title = f"<caption {looks['left']}><strong>{_text(table.title)}</strong></caption>" if table.title else ""
    after = f"<p>{_text(table.after)}</p>" if table.after else ""
    return (
        f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"{_listed(marked(table.footnotes))}{after}{_listed(table.legend)}"
    )


def _look(looks: Looks, column: Column) -> str:
    """Return the attribute of a cell: its side, and on a page its kind, and whether a narrow screen hides it."""
    side: Look = "right" if column.right else "left"
    if looks is not CLASSES:
        return looks[side]
    return f'class="{" ".join(filter(None, [side, column.kind, "wide-only" if column.is_spare else ""]))}"'


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
        apart = "" if cell.link.startswith("/") else ' target="_blank" rel="noreferrer noopener"'
        text = f'<a href="{escape(cell.link)}"{apart}>{text}</a>'
    look = None if cell.style is None else _LOOK_OF.get(cell.style)
    return text if look is None else f"<span {looks[look]}>{text}</span>"


def _text(text: str) -> str:
    return escape(visible(text))


def policy(style: str, scripts: Sequence[str]) -> str:
    """Return the security policy of a page that loads nothing and runs only its own scripts."""
    sources = " ".join(map(_source, scripts))
    return f"default-src 'none'; script-src {sources}; style-src {_source(style)}; base-uri 'none'; form-action 'none'"


def page(template: str, data: object, *, scripts: Sequence[str] = ("vega.js",), **values: object) -> str:
    """Return a page that is made from a template.

    Parameters: ``template``: its file. ``data``: the JSON data for its scripts. ``scripts``: files of scripts, in their
    order. ``values``: the values for the template; text is escaped, except ``Markup``.
    """
    from markupsafe import Markup

    style = asset("page.css")
    texts = [asset(name) for name in scripts]
    return (
        environment()
        .get_template(template)
        .render(
            policy=policy(style, texts),
            style=Markup(style),
            scripts=[Markup(text) for text in texts],
            data=Markup(script_json(data)),
            **values,
        )
    )


def themes() -> dict[Theme, Spec]:
    """Return the themes that a script needs to draw charts on a light page and on a dark one."""
    looks = {theme: config(theme) for theme in COLORS}
    return {theme: {"params": look.pop("params"), "config": look} for theme, look in looks.items()}


@cache
def asset(name: str) -> str:
    """Return a file that pages carry."""
    from importlib import resources

    return resources.files("ndcg_tracker.render").joinpath("pages", "assets", name).read_text("utf-8")


@cache
def environment() -> Environment:
    """Return the template environment: everything is escaped, and control characters are made visible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("ndcg_tracker.render", "pages/templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.globals |= {"unit": unit, "units": units}
    return made


def script_json(value: object) -> str:
    """Return a value as JSON for the inside of a script element, which it cannot end.

    >>> script_json({"group": "</script><script>"})
    '{"group":"\\\\u003c/script\\\\u003e\\\\u003cscript\\\\u003e"}'
    """
    text = json_text(value, indent=None, separators=(",", ":")).rstrip("\n")
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _shown(value: object) -> object:
    """Return a value of a template in the form that the page shows; our own markup stays."""
    return visible(value) if type(value) is str else value


def _source(text: str) -> str:
    import base64  # printing a table does not need this import
    import hashlib

    digest = base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
    return f"'sha256-{digest}'"


def chart_page(spec: Spec) -> str:
    """Return a chart as one file of HTML."""
    title = spec["title"]
    return page(
        "chart.html",
        {"themes": themes(), "chart": spec},
        scripts=("vega.js", "draw.js", "chart.js"),
        title=title["text"],
        subtitle=title.get("subtitle", ""),
    )

"""A page: one file of HTML that brings all it shows, asks nothing of any network, and runs no script but its own."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from ndcg_tracker.render.html import CLASSES, reports_html
from ndcg_tracker.render.json import plain_json_text
from ndcg_tracker.render.report import Report
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.render.theme import COLORS, Spec, Theme, config

if TYPE_CHECKING:
    from jinja2 import Environment


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
    found = config(theme)
    return {"params": found.pop("params"), "config": found}


@cache
def asset(name: str) -> str:
    """Return a file that pages carry."""
    return resources.files("ndcg_tracker.render").joinpath("pages", "assets", name).read_text("utf-8")


@cache
def environment() -> Environment:
    """Return what renders templates: everything is escaped, and what a terminal or a browser would obey is shown."""
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

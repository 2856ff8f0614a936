"""A single chart as a page."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.render.charts.theme import Spec
from ndcg_tracker.render.html import CLASSES, reports_html
from ndcg_tracker.render.pages.page import page, themes
from ndcg_tracker.render.report import Report


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

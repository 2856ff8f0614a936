"""A single chart as a page."""

from __future__ import annotations

from ndcg_tracker.reporting.charts.theme import Spec
from ndcg_tracker.reporting.pages.page import page, themes


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

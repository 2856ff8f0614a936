"""How charts look, on a light page and on a dark one, and what a chart is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ndcg_tracker.render.terminal import shown_strings

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
"""Blue and orange are told apart by eyes that do not tell red from green (Okabe and Ito, Color Universal Design)."""
SLICE_COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#b8a900"]
"""The colours of slices, in this order (Okabe and Ito)."""
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

    Texts are as people may see them: ids and names come from outside.
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
    """Return a layer: marks of one type, as they look, for the rows that ``where`` takes."""
    filtered: Spec = {"transform": [{"filter": where}]} if where else {}
    return filtered | {"mark": {"type": mark, **look}, "encoding": dict(encoding)}


def themed(spec: Spec, theme: Theme = "light") -> Spec:
    """Return a chart with its theme inside, ready for any renderer of Vega-Lite."""
    look = config(theme) | {"background": COLORS[theme]["card"]}
    params = look.pop("params")
    return {**spec, "params": [*params, *spec.get("params", [])], "config": look}


def direction(delta: float) -> str:
    """Return what a difference is called: the key of its colour.

    >>> direction(-0.5), direction(0.0)
    ('worse', 'same')
    """
    return BETTER if delta > 0 else WORSE if delta < 0 else SAME


def by_direction() -> Spec:
    """Return the colour encoding of the field ``direction``; the theme's colours are parameters of the view."""
    return {
        "field": "direction",
        "type": "nominal",
        "scale": {"domain": [WORSE, SAME, BETTER], "range": [{"expr": "worse"}, {"expr": "same"}, {"expr": "better"}]},
        "legend": None,
    }


def signed_axis(title: str | None = None, **more: object) -> Spec:
    """Return an axis of differences, each with its sign."""
    return {"title": title, "format": "+.3~f", "tickCount": 5, **more}

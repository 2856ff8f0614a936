"""A chart of a metric over the runs of a dataset."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ndcg_tracker.questions.history.say import HistoryRow, gain_of
from ndcg_tracker.render.charts.theme import BETTER, WORSE, Spec, chart

MOST_RUNS = 400
"""So many runs, the newest, are drawn."""


def history(rows: Sequence[HistoryRow], metric: str, *, marked: Collection[str] = (), height: int = 220) -> Spec:
    """Return a metric over runs with its 95% intervals, the steps and the changes of labels.

    ``marked``: the names of runs that are pointed out.
    """
    shown = [row for row in rows if row["mean"] is not None][-MOST_RUNS:]
    table: list[dict[str, object]] = []
    for place, row in enumerate(shown):
        low, high = row["ci"] or (None, None)
        version = row.get("label_set_version")
        change = gain_of(row, row.get("step_change"))
        is_new = place > 0 and version != shown[place - 1].get("label_set_version")
        table.append(
            {
                "place": place,
                "run": row["run"],
                "mean": row["mean"],
                "low": low,
                "high": high,
                "labels": version,
                "stored": row["created_at_utc"],
                "new_labels": f"labels {version}" if is_new else "",
                "step": "" if not row.get("step") else WORSE if change is not None and change < 0 else BETTER,
                "marked": row["run"] if row["run"] in marked else "",
            }
        )
    names = [str(row["run"]) for row in table]
    title = f"History of {metric}"
    words = "mean with its 95% interval, run after run"
    if len(shown) < len(rows):
        words += f"; the newest {len(shown):,} of {len(rows):,} runs"
    x: Spec = {
        "field": "place",
        "type": "quantitative",
        "scale": {"nice": False, "domain": [-0.5, max(0.5, len(shown) - 0.5)]},
        "axis": {
            "title": None,
            "grid": False,
            "tickMinStep": 1,
            "labelExpr": "names[datum.value] || ''",
            "labelAngle": -30,
            "labelLimit": 120,
            "labelOverlap": True,
            **({"values": list(range(len(shown)))} if len(shown) <= 12 else {}),
        },
    }
    y = {"type": "quantitative", "title": None, "scale": {"zero": False}, "axis": {"tickCount": 5}}
    tooltip = [
        {"field": "run"},
        {"field": "mean", "format": ".4f"},
        {"field": "low", "title": "from", "format": ".4f"},
        {"field": "high", "title": "to", "format": ".4f"},
        {"field": "labels", "title": "label version"},
        {"field": "stored"},
    ]
    color = {"expr": "chosen"}
    detail = {"field": "labels", "type": "nominal"}
    band = {
        "mark": {"type": "area", "opacity": 0.16, "color": color}
        if len(shown) > 1
        else {"type": "rule", "color": color},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "detail": detail},
    }
    line = {
        "mark": {"type": "line", "color": color, "strokeWidth": 2},
        "encoding": {"x": x, "y": {**y, "field": "mean"}, "detail": detail},
    }
    dots = {
        "mark": {"type": "circle", "color": color, "size": 40 if len(shown) <= 60 else 12, "opacity": 1},
        "encoding": {"x": x, "y": {**y, "field": "mean"}, "tooltip": tooltip},
    }
    steps = {
        "transform": [{"filter": "datum.step != ''"}],
        "mark": {"type": "point", "filled": True, "size": 150, "opacity": 1},
        "encoding": {
            "x": x,
            "y": {**y, "field": "mean"},
            "shape": {
                "field": "step",
                "scale": {"domain": [BETTER, WORSE], "range": ["triangle-up", "triangle-down"]},
                "legend": None,
            },
            "color": {
                "field": "step",
                "scale": {"domain": [BETTER, WORSE], "range": [{"expr": "better"}, {"expr": "worse"}]},
                "legend": None,
            },
            "tooltip": [{"field": "step", "title": "stepped here"}, *tooltip],
        },
    }
    labels: list[Spec] = [
        {
            "transform": [{"filter": "datum.new_labels != ''"}],
            "mark": mark,
            "encoding": {"x": x, **more},
        }
        for mark, more in (
            ({"type": "rule", "strokeDash": [4, 3], "color": {"expr": "muted"}}, {}),
            (
                {"type": "text", "align": "left", "dx": 4, "dy": 6, "color": {"expr": "muted"}, "baseline": "top"},
                {"y": {"value": 0}, "text": {"field": "new_labels"}},
            ),
        )
    ]
    named = {
        "transform": [{"filter": "datum.marked != ''"}],
        "mark": {"type": "text", "dy": -12, "fontWeight": "bold", "limit": 140},
        "encoding": {"x": x, "y": {**y, "field": "mean"}, "text": {"field": "marked"}},
    }
    rings = {
        "transform": [{"filter": "datum.marked != ''"}],
        "mark": {
            "type": "point",
            "color": color,
            "size": 110,
            "strokeWidth": 2.5,
            "fill": {"expr": "card"},
            "opacity": 1,
        },
        "encoding": {"x": x, "y": {**y, "field": "mean"}, "tooltip": tooltip},
    }
    layers: list[Spec] = [band, line, dots]
    more = [("marked", [rings]), ("step", [steps]), ("new_labels", labels), ("marked", [named])]
    for field, some in more:
        if any(row[field] for row in table):  # a layer without rows spoils the scales of the others
            layers += some
    return chart(
        title,
        layers,
        table,
        subtitle=words,
        height=height,
        params=[{"name": "names", "value": names}],
    )

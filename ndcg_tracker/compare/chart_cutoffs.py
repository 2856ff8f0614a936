"""A chart of a metric against its cutoff, for two runs."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.compare.report_facts import AtCutoff
from ndcg_tracker.render.theme import Spec, chart


def cutoffs(
    rows: Sequence[AtCutoff], baseline: str, candidate: str, *, metric: str, cutoff: int | None, height: int = 220
) -> Spec:
    """Return a metric at every cutoff; where the band leaves the baseline, the runs differ there.

    The band is the 95% interval of the difference, drawn around the candidate: one for each cutoff, not for all at
    once. ``cutoff``: of the metric that was compared.
    """
    table: list[dict[str, object]] = []
    for row in rows:
        low, high = row.ci or (None, None)
        shared = {
            "cutoff": row.cutoff,
            "delta": row.delta,
            "low": _moved(row.baseline, low),
            "high": _moved(row.baseline, high),
        }
        table.append({**shared, "run": baseline, "value": row.baseline})
        table.append({**shared, "run": candidate, "value": row.candidate})
    x = {
        "field": "cutoff",
        "type": "quantitative",
        "title": "cutoff",
        "scale": {"nice": False, "zero": False},
        "axis": {"grid": False, "tickMinStep": 1},
    }
    y = {"type": "quantitative", "title": None, "scale": {"zero": False}, "axis": {"tickCount": 5}}
    color = {
        "field": "run",
        "type": "nominal",
        "scale": {"domain": [baseline, candidate], "range": [{"expr": "muted"}, {"expr": "chosen"}]},
        "legend": {"title": None, "symbolType": "stroke"},
    }
    band = {
        "transform": [{"filter": {"field": "run", "equal": candidate}}],
        "mark": {"type": "area", "opacity": 0.18, "color": {"expr": "chosen"}},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
    }
    line = {
        "mark": {"type": "line", "strokeWidth": 2, "point": len(rows) <= 20},
        "encoding": {
            "x": x,
            "y": {**y, "field": "value"},
            "color": color,
            "tooltip": [
                {"field": "run"},
                {"field": "cutoff"},
                {"field": "value", "format": ".4f"},
                {"field": "delta", "format": "+.4f"},
            ],
        },
    }
    layers: list[Spec] = [band, line]
    if cutoff is not None:
        layers.append(
            {
                "data": {"values": [{"cutoff": cutoff}]},
                "mark": {"type": "rule", "color": {"expr": "muted"}, "strokeDash": [4, 3]},
                "encoding": {"x": {"field": "cutoff", "type": "quantitative"}},
            }
        )
    subtitle = (
        "the band is the 95% interval of the difference at each cutoff: where it leaves the grey line, the runs differ"
    )
    return chart(f"{metric} at other cutoffs", layers, table, subtitle=subtitle, height=height)


def _moved(mean: float, end: float | None) -> float | None:
    return None if end is None else mean + end

"""A chart of a metric against its cutoff, for two runs."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.compare.report_facts import AtCutoff
from ndcg_tracker.render.theme import Spec, chart, layer


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
    span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    tooltip = [
        {"field": "run"},
        {"field": "cutoff"},
        {"field": "value", "format": ".4f"},
        {"field": "delta", "format": "+.4f"},
    ]
    value = {"x": x, "y": {**y, "field": "value"}, "color": color, "tooltip": tooltip}
    layers: list[Spec] = [
        {
            "transform": [{"filter": {"field": "run", "equal": candidate}}],
            **layer("area", span, opacity=0.18, color={"expr": "chosen"}),
        },
        layer("line", value, strokeWidth=2, point=len(rows) <= 20),
    ]
    if cutoff is not None:
        at = {"x": {"field": "cutoff", "type": "quantitative"}}
        rule = layer("rule", at, color={"expr": "muted"}, strokeDash=[4, 3])
        layers.append({"data": {"values": [{"cutoff": cutoff}]}, **rule})
    subtitle = (
        "the band is the 95% interval of the difference at each cutoff: where it leaves the grey line, the runs differ"
    )
    return chart(f"{metric} at other cutoffs", layers, table, subtitle=subtitle, height=height)


def _moved(mean: float, end: float | None) -> float | None:
    return None if end is None else mean + end

"""A chart of one group: where each item stood in both lists."""

from __future__ import annotations

from collections.abc import Sequence

from ndcg_tracker.comparison.report import GroupLists, ListedItem
from ndcg_tracker.reporting.charts.theme import SAME, Spec, by_direction, chart, direction

SHOWN = 12
"""So many ranks of each list are drawn."""
_WIDEST = 24  # signs of an item's id


def rank_moves(lists: GroupLists, baseline: str, candidate: str, *, n_ranks: int = SHOWN, row_height: int = 24) -> Spec:
    """Return both lists of a group, each item joined to itself; thick lines: relevant items."""
    return moves_chart(
        move_rows(lists.items, n_ranks),
        baseline,
        candidate,
        title=f"Group {lists.group}",
        n_ranks=n_ranks,
        row_height=row_height,
    )


def move_rows(items: Sequence[ListedItem], n_ranks: int = SHOWN) -> list[dict[str, object]]:
    """Return two rows per item that stands among the first ``n_ranks`` of either list: one per side."""
    best = max((item.grade for item in items if item.grade is not None), default=0.0)
    rows: list[dict[str, object]] = []
    for item in items:
        ranks = (item.rank_baseline, item.rank_candidate)
        if not any(rank is not None and rank <= n_ranks for rank in ranks):
            continue
        before, after = item.contribution_baseline or 0.0, item.contribution_candidate or 0.0
        change = after - before
        if item.contribution_baseline is None:
            change = float((ranks[0] or n_ranks + 1) - (ranks[1] or n_ranks + 1))
        name = item.item if len(item.item) <= _WIDEST else item.item[: _WIDEST - 1] + "…"
        for side, rank in zip(("baseline", "candidate"), ranks, strict=True):
            is_in = rank is not None and rank <= n_ranks
            rows.append(
                {
                    "item": item.item,
                    "side": side,
                    "place": rank if is_in else n_ranks + 1,
                    "words": (f"{name}  {rank}" if side == "baseline" else f"{rank}  {name}") if is_in else "",
                    "rank": "not in the list" if rank is None else str(rank),
                    "grade": "unjudged" if item.grade is None else f"{item.grade:g}",
                    "weight": 0.0 if item.grade is None or best <= 0 else max(0.0, item.grade / best),
                    "change": round(change, 6),
                    "direction": direction(change) if item.grade else SAME,
                }
            )
    return rows


def moves_chart(
    rows: Sequence[dict[str, object]],
    baseline: str,
    candidate: str,
    *,
    title: str = "",
    n_ranks: int = SHOWN,
    row_height: int = 24,
) -> Spec:
    """Return the chart of such rows; its table is named ``moves``, so that a page can show another group in it."""
    x = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": ["baseline", "candidate"], "padding": 0.9},
        "axis": {
            "orient": "top",
            "title": None,
            "labelAngle": 0,
            "grid": False,
            "labelFontWeight": "bold",
            "labelLimit": 200,
            "labelExpr": "datum.value == 'baseline' ? baseline_run : candidate_run",
        },
    }
    y = {
        "field": "place",
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [n_ranks + 1.4, 0.6], "nice": False, "zero": False},
    }
    tooltip = [{"field": name} for name in ("item", "grade", "rank")] + [{"field": "change", "format": "+.4f"}]
    weight = {"field": "weight", "type": "quantitative", "legend": None}
    lines = {
        "mark": {"type": "line", "interpolate": "monotone"},
        "encoding": {
            "x": x,
            "y": y,
            "detail": {"field": "item"},
            "color": by_direction(),
            "strokeWidth": {**weight, "scale": {"domain": [0, 1], "range": [1, 4]}},
            "opacity": {**weight, "scale": {"domain": [0, 1], "range": [0.35, 1]}},
            "tooltip": tooltip,
        },
    }
    dots = {
        "mark": {"type": "circle"},
        "encoding": {
            "x": x,
            "y": y,
            "color": by_direction(),
            "tooltip": tooltip,
            "size": {**weight, "scale": {"domain": [0, 1], "range": [20, 110]}},
            "opacity": {**weight, "scale": {"domain": [0, 1], "range": [0.5, 1]}},
        },
    }
    texts = [
        {
            "transform": [{"filter": {"field": "side", "equal": side}}],
            "mark": {"type": "text", "align": align, "dx": dx, "tooltip": None, "limit": 190},
            "encoding": {
                "x": x,
                "y": y,
                "text": {"field": "words"},
                "opacity": {**weight, "scale": {"domain": [0, 1], "range": [0.65, 1]}},
            },
        }
        for side, align, dx in (("baseline", "right", -10), ("candidate", "left", 10))
    ]
    floor = {
        "data": {"values": [{}]},
        "mark": {"type": "rule", "strokeDash": [2, 3], "color": {"expr": "muted"}},
        "encoding": {"y": {"datum": n_ranks + 0.6, "type": "quantitative", "axis": None, "scale": y["scale"]}},
    }
    found = chart(
        title,
        [floor, lines, dots, *texts],
        subtitle="thick lines are relevant items; below the dotted line: further down, or not in the list",
        height=(n_ranks + 1) * row_height,
        data={"name": "moves", "values": list(rows)},
        params=[{"name": "baseline_run", "value": baseline}, {"name": "candidate_run", "value": candidate}],
    )
    return found

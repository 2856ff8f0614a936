"""A chart of one group: the rank of each item in both lists."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ndcg_tracker.compare.chart_groups import queries_of
from ndcg_tracker.compare.report_facts import GroupLists, ListedItem
from ndcg_tracker.render.html import BETTER, SAME, WORSE, Spec, by_direction, chart, layer, nominal, number, tooltip
from ndcg_tracker.render.terminal import shortened_apart, visible
from ndcg_tracker.words.texts import GroupTexts, Text, unit

SHOWN = 12
"""How many ranks of each list are drawn."""
_FAR = 1_000_000  # the rank of an item that is not in a list
_ROW_HEIGHT = 24


def rank_moves(
    lists: GroupLists,
    baseline: str,
    candidate: str,
    *,
    metric: str = "",
    texts: GroupTexts | None = None,
) -> Spec:
    """Return the chart of both lists of a group, with a line for each item; thick lines are relevant items.

    ``metric``: the metric that the items contribute to. ``texts``: the text of the group, and titles to show instead of
    item ids.
    """
    texts = texts or GroupTexts()
    rows = [move_row(item, texts.items.get(item.item)) for item in lists.items]
    words = queries_of({lists.group: texts}).get(lists.group)
    return moves_chart(
        rows,
        baseline,
        candidate,
        title=": ".join(filter(None, (f"{unit().capitalize()} {lists.group}", words))),
        metric=metric,
        has_titles=any(row["title"] for row in rows),
    )


def move_row(item: ListedItem, text: Text | None = None) -> dict[str, object]:
    """Return an item as the chart reads it; ``change``: of its contribution, None if the metric is not a sum."""
    before, after = item.contribution_baseline, item.contribution_candidate
    return {
        "item": item.item,
        "title": "" if text is None else text.title or text.text or "",
        "grade": item.grade,
        "baseline": item.rank_baseline,
        "candidate": item.rank_candidate,
        "change": None if before is None or after is None else after - before,
    }


_ROOM = "0.35 * width - 32"  # next to a list, to the edge
_FIT = f"floor(({_ROOM}) / 5.8)"  # characters
_FITTING = (
    f"length(datum.name) <= {_FIT} ? datum.name : {_FIT} < 24 ? datum.item : "
    f"slice(datum.name, 0, ceil({_FIT} * 0.6) - 1) + '…' + slice(datum.name, -floor({_FIT} * 0.4))"
)
"""The title of an item if there is room, else its id (titles often begin the same way), or both ends of the title."""


def _transform() -> list[Spec]:
    """Return the steps that turn each item into two rows: one per side, at its rank or below the last rank."""
    is_in = f"(isValid(datum.rank) && datum.rank <= {SHOWN})"
    up = f"(isValid(datum.baseline) ? datum.baseline : {_FAR}) - (isValid(datum.candidate) ? datum.candidate : {_FAR})"
    better = "isValid(datum.change) ? datum.change : " + up
    steps = {
        "name": "datum.title || datum.item",
        "gain": f"datum.grade > 0 ? {better} : 0",
        "direction": f"datum.gain > 0 ? '{BETTER}' : datum.gain < 0 ? '{WORSE}' : '{SAME}'",
    }
    of_sides = {
        "place": f"{is_in} ? datum.rank : {SHOWN + 1}",
        "place_name": f"{is_in} ? datum.rank : ''",
        "words": f"{is_in} ? {_FITTING} : ''",
        "stands": "isValid(datum.rank) ? datum.rank : 'not in the list'",
        "judged": "isValid(datum.grade) ? datum.grade : 'unjudged'",
        "weight": "datum.best > 0 && datum.grade > 0 ? datum.grade / datum.best : 0",
    }
    near = " || ".join(f"(isValid(datum.{side}) && datum.{side} <= {SHOWN})" for side in ("baseline", "candidate"))
    return [
        {"joinaggregate": [{"op": "max", "field": "grade", "as": "best"}]},
        {"filter": near},
        *({"calculate": expression, "as": name} for name, expression in steps.items()),
        {"fold": ["baseline", "candidate"], "as": ["side", "rank"]},
        *({"calculate": expression, "as": name} for name, expression in of_sides.items()),
    ]


def moves_chart(
    rows: Sequence[dict[str, object]],
    baseline: str,
    candidate: str,
    *,
    title: str = "",
    metric: str = "",
    has_titles: bool = False,
) -> Spec:
    """Return the chart of such rows; its table is named ``moves``, so that a page can show another group in it."""
    labels = {"labelAngle": 0, "labelFontWeight": "bold", "labelLimit": {"expr": "0.28 * width"}}
    names = [visible(baseline), visible(candidate)]
    narrow, middle, wide = (json.dumps(shortened_apart(names, width)) for width in (11, 16, 22))
    fitting = f"(width < 400 ? {narrow} : width < 600 ? {middle} : {wide})"
    labels["labelExpr"] = f"{fitting}[datum.value == 'baseline' ? 0 : 1]"
    above = {"orient": "top", "title": None, "grid": False, **labels}
    x = nominal("side", scale={"domain": ["baseline", "candidate"], "padding": 1.2}, axis=above)
    ranks = {"domain": [SHOWN + 1.4, 0.6], "nice": False, "zero": False}
    change = ("change", f"change{metric and f' of {metric}'}", "+.4f")
    told = tooltip("item", *(["title"] if has_titles else []), ("judged", "grade"), ("stands", "rank"), change)
    weight = number("weight", legend=None)
    at = {"x": x, "y": number("place", axis=None, scale=ranks)}
    opacity = {**weight, "scale": {"domain": [0, 1], "range": [0.55, 1]}}
    width = {**weight, "scale": {"domain": [0, 1], "range": [1, 4]}}
    size = {**weight, "scale": {"domain": [0, 1], "range": [20, 110]}}
    joined = {**at, "detail": {"field": "item"}, "color": by_direction(), "strokeWidth": width, "opacity": opacity}
    lines = layer("line", {**joined, "tooltip": told}, interpolate="monotone")
    dots = layer("circle", {**at, "color": by_direction(), "tooltip": told, "size": size, "opacity": opacity})
    room = {"expr": _ROOM}
    texts = [
        {
            "transform": [{"filter": {"field": "side", "equal": side}}],
            **layer("text", {**at, "text": {"field": words}, "opacity": opacity}, align=align, dx=sign * dx, **look),
        }
        for side, align, sign in (("baseline", "right", -1), ("candidate", "left", 1))
        for words, dx, look in (("place_name", 10, {"tooltip": None}), ("words", 28, {"tooltip": None, "limit": room}))
    ]
    end = {"y": number(datum=SHOWN + 0.6, axis=None, scale=ranks)}
    floor = {"data": {"values": [{}]}, **layer("rule", end, strokeDash=[2, 3], color={"expr": "muted"})}
    return chart(
        title,
        [floor, lines, dots, *texts],
        subtitle=f"both lists by rank{metric and f', as {metric} sees them'}; thick lines are relevant items; "
        "below the dotted line: further down, or not in the list",
        height=(SHOWN + 1) * _ROW_HEIGHT,
        data={"name": "moves", "values": list(rows)},
        transform=_transform(),
    )

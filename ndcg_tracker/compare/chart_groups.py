"""Charts of every group of a comparison: from worst to best, one run against the other, and how many changed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.compare.report_facts import EveryGroup
from ndcg_tracker.compare.say_where import value_name
from ndcg_tracker.compare.slices import MOST_SLICES, numbered
from ndcg_tracker.rankings import Index
from ndcg_tracker.render.html import (
    SLICE_COLORS,
    Spec,
    by_direction,
    chart,
    direction,
    layer,
    nominal,
    number,
    signed_axis,
    tooltip,
)
from ndcg_tracker.render.terminal import shortened, shortened_apart
from ndcg_tracker.words.texts import GroupTexts, counted, unit, units

COLUMNS = 600
"""Above this number of groups, several share a column, which shows the one that changed most."""
DOTS = 1_500
"""Above this number of groups, neighbouring groups share a dot."""
NAMED = 60
"""Up to this number of groups, each column has the id of its group below it if there is room."""
_CELLS = 60  # places along each side of the scatter
MOST_BINS = 40
MOST_COLORS = 8
"""If an attribute has more values, the slices that changed most have colours, and all others share grey."""
OTHERS = "(others)"

Queries = Mapping[str, str]
"""The query texts of groups, by their ids."""
_LONGEST_QUERY = 80


def queries_of(texts: Mapping[str, GroupTexts]) -> dict[str, str]:
    """Return the query texts of groups, without texts that only repeat the id."""
    said = {key: text.query.text or text.query.title for key, text in texts.items() if text.query is not None}
    return {key: shortened(words, _LONGEST_QUERY) for key, words in said.items() if words and words != key}


Slices = Mapping[str, Mapping[str | None, str]]
"""For each attribute that colours can show, how each of its values is shown."""


def every_group(groups: EveryGroup, metric: str, by: str | None = None, *, queries: Queries | None = None) -> Spec:
    """Return the chart of every group, worst to best; those that did not change take one place in the middle.

    ``by``: the attribute that colours the columns, by default better and worse.
    """
    slices, columns = colored(groups), columns_of(groups)
    first, end = columns.gap
    is_dense = len(columns.places) > 100  # neighbours overlap by half a column then, so that no seams shine through
    rows = [
        {
            "x": start,
            "x2": start + (1.5 if is_dense and start + 1 not in (first, columns.end) else 1),
            **_group_row(groups, place, slices, queries),
        }
        for start, place in zip(columns.starts, columns.places, strict=True)
    ]
    words = []
    if columns.n_each > 1:
        words.append(f"each column stands for {columns.n_each:,} {units()} and shows the one that changed most")
    if columns.n_same:
        words.append(f"{counted(columns.n_same, 'group')} in the middle did not change")
    names = _names_below(groups, columns)
    scale = {"domain": [0, max(1, columns.end)], "nice": False}
    x = number("x", scale=scale, axis=_column_axis(names))
    encoding = {
        "x": x,
        "x2": {"field": "x2"},
        "y": number("delta", axis=signed_axis(f"change of {metric}")),
        "y2": {"datum": 0},
        "color": by_direction() if by is None else slice_color(slices, by),
    }
    bars = layer("rect", encoding, **({"stroke": None} if is_dense else {"strokeWidth": 1}))
    whole = {"x": x, "x2": {"field": "x2"}, "y": {"value": 0}, "y2": {"value": "height"}}
    targets = layer("rect", {**whole, "tooltip": _told(slices, queries)}, opacity=0, cursor="pointer")
    n_same = [{"x": end if first else 0, "words": f"{columns.n_same:,} the same"}] if columns.n_same else []
    words_at = {"x": {**x}, "y": {"datum": 0}, "text": nominal("words")}
    free: Spec = {"align": "right", "dy": -10} if first else {"align": "left", "dy": 12}  # places without a column
    same = {"data": {"values": n_same}, **layer("text", words_at, color={"expr": "muted"}, fontSize=11, **free)}
    look: Spec = {"color": {"expr": "chosen"}, "strokeWidth": 2, "strokeDash": [3, 2]}
    chosen = {"data": {"name": "chosen", "values": []}, **layer("rule", {"x": {**x, "field": "place"}}, **look)}
    return chart(
        f"Every {unit()}, worst to best",
        [bars, same, chosen, targets],
        rows,
        subtitle="; ".join([f"change of {metric} in each {unit()}", *words]),
        height=200,
        **({"params": [{"name": "names", "value": names}]} if names else {}),
    )


def _column_axis(names: Sequence[str]) -> Spec:
    axis: Spec = {"title": f"{units()}, worst to best", "grid": False}
    if not names:
        return {**axis, "labels": False}
    places = [place + 0.5 for place, name in enumerate(names) if name]
    of_labels = {"labelExpr": "names[floor(datum.value)]", "labelAngle": -90, "labelLimit": 90, "labelFontSize": 10}
    return {**axis, "values": places, "labelOverlap": True, **of_labels}


def _names_below(groups: EveryGroup, columns: Columns) -> list[str]:
    """Return the texts below the columns: ids if there is room for all of them, else nothing."""
    first, end = columns.gap
    if len(groups.keys) > NAMED:
        return []
    names = [""] * columns.end
    same = np.flatnonzero(groups.delta == 0).tolist()
    for start, place in zip([*columns.starts, *range(first, end)], [*columns.places, *same], strict=True):
        names[start] = groups.keys[place]
    return names


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of ``every_group``: places of groups, from the worst to the best, and where each column begins.

    ``n_each``: how many groups share a column. ``n_same``: the number of groups that did not change, which lie between
    the two ends of ``gap``. ``end``: the end of the last column.
    """

    places: list[int]
    starts: list[int]
    n_each: int
    n_same: int
    gap: tuple[int, int]
    end: int

    @property
    def same_at(self) -> float | None:
        """The middle of the groups that did not change, None if there are none."""
        return sum(self.gap) / 2 if self.n_same else None


def columns_of(groups: EveryGroup) -> Columns:
    """Return the columns that show every group; a shared column shows the group that changed most.

    >>> columns_of(EveryGroup("abc", np.zeros(3), np.array([0.5, 0.0, -0.25])))
    Columns(places=[2, 0], starts=[0, 2], n_each=1, n_same=1, gap=(1, 2), end=3)
    """
    delta = groups.gain
    order = np.argsort(delta, kind="stable")
    lost, won = order[delta[order] < 0], order[delta[order] > 0]
    n_each = max(1, -(-(lost.size + won.size) // COLUMNS))
    worst = lost[::n_each].tolist()
    best = won[::-1][::n_each][::-1].tolist()
    n_same = delta.size - lost.size - won.size
    most = max(NAMED if delta.size <= NAMED else 10, (len(worst) + len(best)) * 3 // 20)
    gap = len(worst), len(worst) + min(most, -(-n_same // n_each))  # no wider than columns of as many groups
    end = gap[1] + len(best)
    return Columns([*worst, *best], [*range(gap[0]), *range(gap[1], end)], n_each, n_same, gap, end)


def _group_row(groups: EveryGroup, place: int, slices: Slices, queries: Queries | None = None) -> dict[str, object]:
    baseline, candidate = float(groups.baseline[place]), float(groups.candidate[place])
    key = groups.keys[place]
    return {
        "group": key,
        **({"query": queries.get(key, "")} if queries else {}),
        "baseline": _short(baseline),
        "candidate": _short(candidate),
        "delta": _short(candidate - baseline),
        "direction": direction(float(groups.gain[place])),
        **{_field(slices, name): shown_as[groups.attributes[name][place]] for name, shown_as in slices.items()},
    }


def colored(groups: EveryGroup) -> dict[str, dict[str | None, str]]:
    """Return, for each attribute that colours can show, how each of its values is shown, the worst slice first.

    The slices that changed most have their own colours. The order is by mean change times the square root of the number
    of groups, so that a small slice is not among them by chance. All other slices share one entry, the last.
    """
    slices = {}
    for name, values in groups.attributes.items():
        distinct, codes = numbered(values)
        if not 2 <= len(distinct) <= MOST_SLICES:
            continue
        sizes, sums = np.bincount(codes), np.bincount(codes, groups.gain)
        n_alone = MOST_COLORS if len(distinct) <= MOST_COLORS else MOST_COLORS - 1
        alone = np.argsort(-np.abs(sums) / np.sqrt(sizes), kind="stable")[:n_alone].tolist()
        alone.sort(key=lambda number: sums[number] / sizes[number])
        shown = {distinct[n]: value_name(distinct[n]) for n in alone}
        slices[name] = {**shown, **{value: OTHERS for value in distinct if value not in shown}}
    return slices


def slice_color(slices: Slices, attribute: str) -> Spec:
    """Return the colour encoding of an attribute."""
    values = list(dict.fromkeys(slices[attribute].values()))
    colors: list[object] = [*SLICE_COLORS[: len(values)]]
    if values[-1] == OTHERS and len(slices[attribute]) > len(values):
        colors[-1] = {"expr": "same"}
    legend = {"title": attribute, "columns": 4}
    return nominal(_field(slices, attribute), scale={"domain": values, "range": colors}, legend=legend)


def _told(slices: Slices, queries: Queries | None) -> list[Spec]:
    numbers = [("baseline", "", ".4f"), ("candidate", "", ".4f"), ("delta", "", "+.4f")]
    of_slices = [(_field(slices, attribute), attribute) for attribute in slices]
    return tooltip("group", *(["query"] if queries else []), *numbers, *of_slices)


def _field(slices: Slices, attribute: str) -> str:
    """Return the column name of an attribute; Vega could read the attribute's own name as a path."""
    return f"slice_{list(slices).index(attribute)}"


def _short(number: float) -> float:
    """Return a number with a few more digits than a picture can show."""
    return round(number, 6)


def scatter(
    groups: EveryGroup,
    baseline: str,
    candidate: str,
    by: str | None = None,
    *,
    metric: str,
    queries: Queries | None = None,
) -> Spec:
    """Return the chart of one run against the other, a dot per group; on one side of the diagonal it is better."""
    slices = colored(groups)
    places, n_groups = thinned(groups)
    rows = [
        {**_group_row(groups, place, slices, queries), "n": n}
        for place, n in zip(places.tolist(), n_groups.tolist(), strict=True)
    ]
    is_thinned = places.size < len(groups.keys)
    values = np.concatenate([groups.baseline, groups.candidate, np.array([0.0])])
    domain = [float(values.min()), max(1.0, float(values.max())) if values.max() > 0.5 else float(values.max()) or 1.0]
    shared: Spec = {"scale": {"domain": domain}, "axis": {"tickCount": 5, "titleLimit": 260}}
    short = shortened_apart([baseline, candidate], 30)
    sides = (("x", "baseline", short[0]), ("y", "candidate", short[1]))
    axes = {axis: number(side, title=f"{metric} of {run}", **shared) for axis, side, run in sides}
    ends = {"values": [{"baseline": end, "candidate": end} for end in domain]}
    diagonal = {"data": ends, **layer("line", axes, color={"expr": "muted"}, strokeDash=[4, 3], strokeWidth=1)}
    encoding = {
        **axes,
        "color": by_direction() if by is None else slice_color(slices, by),
        "tooltip": _told(slices, queries),
    }
    look: Spec = {"opacity": 0.7, "size": 45 if len(rows) < 500 else 22}
    better, worse = ("above", "below") if groups.direction == "higher" else ("below", "above")
    words = f"{better} the dashed line {candidate} is better, {worse} it worse"
    if is_thinned:
        encoding["tooltip"] = [*encoding["tooltip"], number("n", title=f"{units()} here")]
        scale = {"type": "log", "domain": [1, max(2, int(n_groups.max()))], "range": [10, 120]}
        encoding["size"] = number("n", scale=scale, legend=None)
        look = {"opacity": 0.6}
        words += f"; {counted(len(groups.keys), 'group')}: close ones share a dot, which is larger for more {units()}"
    dots = layer("circle", encoding, cursor="pointer", **look)
    look = {"color": {"expr": "chosen"}, "size": 160, "strokeWidth": 2.5, "opacity": 1}
    chosen = {"data": {"name": "chosen", "values": []}, **layer("point", axes, **look)}
    title = f"{metric} of each {unit()} in both runs"
    return chart(title, [diagonal, dots, chosen], rows, subtitle=words, height=320)


def thinned(groups: EveryGroup) -> tuple[Index, Index]:
    """Return the groups that a scatter shows, and how many share each dot: a dot shows the most changed group.

    >>> places, n_groups = thinned(EveryGroup("abc", np.zeros(3), np.array([0.5, 0.0, -0.25])))
    >>> places.tolist(), n_groups.tolist()
    ([0, 1, 2], [1, 1, 1])
    """
    n = len(groups.keys)
    if n <= DOTS:
        return np.arange(n), np.ones(n, np.int64)
    values = [groups.baseline, groups.candidate]
    low, high = min(float(of_run.min()) for of_run in values), max(float(of_run.max()) for of_run in values)
    width = (high - low) / _CELLS or 1.0
    across, down = (((of_run - low) / width).astype(np.int64) for of_run in values)
    order = np.argsort(-np.abs(groups.delta), kind="stable")
    _, first, n_groups = np.unique((across + down * (_CELLS + 1))[order], return_index=True, return_counts=True)
    return order[first], n_groups


_LEAST_REACH = 1e-300


def histogram(groups: EveryGroup, metric: str) -> Spec:
    """Return the chart of how much groups changed; those that did not change are counted in its subtitle."""
    delta = groups.delta
    changed = delta[delta != 0]
    reach = float(np.abs(changed).max(initial=0.0)) or 1.0
    n_bins = 2 * max(5, min(MOST_BINS // 2, math.ceil(math.sqrt(changed.size))))
    reach = max(reach, _LEAST_REACH)  # of subnormal numbers no bins can be made
    counts, edges = np.histogram(changed, bins=n_bins, range=(-reach, reach))
    rows = [
        {
            "low": _short(float(low)),
            "high": _short(float(high)),
            "n": int(n),
            "direction": direction(float(low + high) / 2 if groups.direction == "higher" else -float(low + high) / 2),
        }
        for n, low, high in zip(counts, edges[:-1], edges[1:], strict=True)
    ]
    n_same = delta.size - changed.size
    axis = signed_axis(f"change of {metric}", tickCount=7)
    encoding = {
        "x": number("low", bin={"binned": True}, axis=axis),
        "x2": {"field": "high"},
        "y": number("n", title=units(), axis={"tickCount": 4, "tickMinStep": 1}),
        "color": by_direction(),
        "tooltip": tooltip(("low", "from", "+.4f"), ("high", "to", "+.4f"), ("n", units())),
    }
    bars = layer("bar", encoding, binSpacing=1)
    subtitle = f"{counted(changed.size, 'group')} changed" + (
        f", {n_same:,} did not and {'is' if n_same == 1 else 'are'} not drawn" if n_same else ""
    )
    return chart(f"How much {units()} changed", [bars], rows, subtitle=subtitle, height=320)

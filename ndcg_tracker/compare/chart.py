"""Charts of a comparison: every group, one run against the other, the deltas, the intervals, and many runs at once."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from ndcg_tracker.compare.report_facts import MOST_SLICES, AtCutoff, EveryGroup, PairReports, RunPairDelta
from ndcg_tracker.compare.results import Comparison, MetricComparison, SliceComparison, ToldVerdict
from ndcg_tracker.compare.say import for_people
from ndcg_tracker.compare.say_tables import NO_VALUE
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.html import BETTER, SAME, WORSE, Spec, by_direction, chart, direction, layer, signed_axis
from ndcg_tracker.words.texts import counted, interval, p_text, points


def cutoffs(
    rows: Sequence[AtCutoff], baseline: str, candidate: str, *, metric: str, cutoff: int | None, height: int = 220
) -> Spec:
    """Return the chart of a metric at every cutoff; the runs differ where the band leaves the baseline.

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


COLUMNS = 1_200
"""Above this number of groups, several share a column, which shows the one that changed most."""
DOTS = 4_000
"""Above this number of groups, those that stand close together share a dot."""
_CELLS = 150  # places along each side of the scatter
MOST_BINS = 40
MOST_COLORS = 8
"""An attribute of more values shows the largest of them and the rest together."""
OTHERS = "(others)"

_GROUP_TOOLTIP = [
    {"field": "group", "type": "nominal"},
    {"field": "baseline", "type": "quantitative", "format": ".4f"},
    {"field": "candidate", "type": "quantitative", "format": ".4f"},
    {"field": "delta", "type": "quantitative", "format": "+.4f"},
]


Slices = Mapping[str, Mapping[str | None, str]]
"""For each attribute that colours can show, how each of its values is shown."""


def every_group(groups: EveryGroup, metric: str, by: str | None = None, *, height: int = 200) -> Spec:
    """Return the chart of every group, worst to best; those that did not change take one place in the middle.

    ``by``: the attribute that colours the columns, by default better and worse.
    """
    slices, columns = colored(groups), columns_of(groups)
    rows = [
        {"x": start, "x2": start + 1, **_group_row(groups, place, slices)}
        for start, place in zip(columns.starts, columns.places, strict=True)
    ]
    words = []
    if columns.n_each > 1:
        words.append(f"each column stands for {columns.n_each:,} groups and shows the one that changed most")
    if columns.n_same:
        words.append(f"{counted(columns.n_same, 'group')} in the middle did not change")
    domain = [0, max(1, columns.end)]
    x = {"field": "x", "type": "quantitative", "axis": None, "scale": {"domain": domain, "nice": False}}
    y = {"field": "delta", "type": "quantitative", "axis": signed_axis()}
    encoding = {
        "x": x,
        "x2": {"field": "x2"},
        "y": y,
        "y2": {"datum": 0},
        "color": by_direction() if by is None else slice_color(slices, by),
        "tooltip": [*_GROUP_TOOLTIP, *_slice_tooltip(slices)],
    }
    stroke: Spec = {"stroke": None} if len(rows) > 100 else {"strokeWidth": 1}
    bars = layer("rect", encoding, cursor="pointer", **stroke)
    n_same = [] if columns.same_at is None else [{"x": columns.same_at, "words": f"{columns.n_same:,} the same"}]
    words_at = {"x": {**x}, "y": {"datum": 0}, "text": {"field": "words", "type": "nominal"}}
    same = {"data": {"values": n_same}, **layer("text", words_at, dy=-10, color={"expr": "muted"}, fontSize=11)}
    look: Spec = {"color": {"expr": "chosen"}, "strokeWidth": 2, "strokeDash": [3, 2]}
    chosen = {"data": {"name": "chosen", "values": []}, **layer("rule", {"x": {**x, "field": "place"}}, **look)}
    return chart(
        "Every group, worst to best",
        [bars, same, chosen],
        rows,
        subtitle="; ".join([f"change of {metric} in each group", *words]),
        height=height,
    )


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns of ``every_group``: places of groups, from the worst to the best, and where each column begins.

    ``n_each``: how many groups share a column. ``n_same``: groups that did not change, which stand at ``same_at``, None
    where there are none. ``end``: where the last column ends.
    """

    places: list[int]
    starts: list[int]
    n_each: int
    n_same: int
    same_at: float | None
    end: int


def columns_of(groups: EveryGroup) -> Columns:
    """Return the columns that show every group; where groups share one, it shows the one that changed most.

    >>> columns_of(EveryGroup("abc", np.zeros(3), np.array([0.5, 0.0, -0.25])))
    Columns(places=[2, 0], starts=[0, 3], n_each=1, n_same=1, same_at=2.0, end=4)
    """
    delta = groups.gain
    order = np.argsort(delta, kind="stable")
    lost, won = order[delta[order] < 0], order[delta[order] > 0]
    n_each = max(1, -(-(lost.size + won.size) // COLUMNS))
    worst = lost[::n_each].tolist()
    best = won[::-1][::n_each][::-1].tolist()
    n_same = delta.size - lost.size - won.size
    gap = max(2, -(-(len(worst) + len(best)) * 3 // 20)) if n_same else 0  # as wide as the words that stand there
    end = len(worst) + gap + len(best)
    return Columns(
        [*worst, *best],
        [*range(len(worst)), *range(len(worst) + gap, end)],
        n_each,
        n_same,
        len(worst) + gap / 2 if n_same else None,
        end,
    )


def _group_row(groups: EveryGroup, place: int, slices: Slices) -> dict[str, object]:
    baseline, candidate = float(groups.baseline[place]), float(groups.candidate[place])
    return {
        "group": groups.keys[place],
        "baseline": _short(baseline),
        "candidate": _short(candidate),
        "delta": _short(candidate - baseline),
        "direction": direction(float(groups.gain[place])),
        **{_field(slices, name): shown_as[groups.attributes[name][place]] for name, shown_as in slices.items()},
    }


def colored(groups: EveryGroup) -> dict[str, dict[str | None, str]]:
    """Return, for each attribute that colours can show, how each of its values is shown."""
    slices = {}
    for name, values in groups.attributes.items():
        sizes = Counter(values)
        if not 2 <= len(sizes) <= MOST_SLICES:
            continue
        n_alone = MOST_COLORS if len(sizes) <= MOST_COLORS else MOST_COLORS - 1
        alone = {value for value, _ in sizes.most_common(n_alone)}
        slices[name] = {value: (NO_VALUE if value is None else value) if value in alone else OTHERS for value in sizes}
    return slices


def slice_color(slices: Slices, attribute: str) -> Spec:
    """Return the colour encoding of an attribute."""
    values = sorted(set(slices[attribute].values()), key=lambda value: (value == OTHERS, value))
    return {
        "field": _field(slices, attribute),
        "type": "nominal",
        "scale": {"domain": values},
        "legend": {"title": attribute, "columns": 4},
    }


def _slice_tooltip(slices: Slices) -> list[Spec]:
    return [{"field": _field(slices, name), "type": "nominal", "title": name} for name in slices]


def _field(slices: Slices, attribute: str) -> str:
    """Return the name of the column of an attribute, whose own name Vega may read as a path."""
    return f"slice_{list(slices).index(attribute)}"


def _short(number: float) -> float:
    """Return a number with the digits that a picture can show, and a few more."""
    return round(number, 6)


def scatter(groups: EveryGroup, baseline: str, candidate: str, by: str | None = None, *, height: int = 320) -> Spec:
    """Return the chart of one run against the other, a dot per group; above the diagonal the candidate is better."""
    places, slices = thinned(groups), colored(groups)
    rows = [_group_row(groups, place, slices) for place in places]
    values = np.concatenate([groups.baseline, groups.candidate, np.array([0.0])])
    domain = [float(values.min()), max(1.0, float(values.max())) if values.max() > 0.5 else float(values.max()) or 1.0]
    words = (
        ""
        if len(places) == len(groups.keys)
        else f"; {len(places):,} of {len(groups.keys):,} dots, the others stand behind one of them"
    )

    shared = {"type": "quantitative", "scale": {"domain": domain}, "axis": {"tickCount": 5, "titleLimit": 200}}
    axes = {
        "x": {**shared, "field": "baseline", "title": baseline},
        "y": {**shared, "field": "candidate", "title": candidate},
    }
    ends = {"values": [{"baseline": end, "candidate": end} for end in domain]}
    diagonal = {
        "data": ends,
        **layer("line", axes, color={"expr": "muted"}, strokeDash=[4, 3], strokeWidth=1),
    }
    encoding = {
        **axes,
        "color": by_direction() if by is None else slice_color(slices, by),
        "tooltip": [*_GROUP_TOOLTIP, *_slice_tooltip(slices)],
    }
    opacity, size = (0.6, 45) if len(rows) < 500 else (0.4, 22)
    dots = layer("circle", encoding, opacity=opacity, size=size, cursor="pointer")
    look: Spec = {"color": {"expr": "chosen"}, "size": 160, "strokeWidth": 2.5, "opacity": 1}
    chosen = {"data": {"name": "chosen", "values": []}, **layer("point", axes, **look)}
    return chart(
        f"{candidate} against {baseline}",
        [diagonal, dots, chosen],
        rows,
        subtitle=f"above the line {candidate} is better{words}",
        height=height,
    )


def thinned(groups: EveryGroup) -> list[int]:
    """Return the groups that a scatter shows: the first in each place, and the 200 that changed most."""
    n = len(groups.keys)
    if n <= DOTS:
        return list(range(n))
    cells = _CELLS
    values = [groups.baseline, groups.candidate]
    low, high = min(float(of_run.min()) for of_run in values), max(float(of_run.max()) for of_run in values)
    while True:
        width = (high - low) / cells or 1.0
        codes = sum(
            (((of_run - low) / width).astype(np.int64) * (cells + 1) ** power) for power, of_run in enumerate(values)
        )
        _, first = np.unique(codes, return_index=True)
        if first.size <= DOTS or cells <= 20:
            return list(dict.fromkeys([*first.tolist(), *groups.most_changed(200).tolist()]))
        cells = int(cells * 0.8)


_LEAST_REACH = 1e-300


def histogram(groups: EveryGroup, *, height: int = 320) -> Spec:
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
    axis = signed_axis("change", tickCount=7)
    encoding = {
        "x": {"field": "low", "type": "quantitative", "bin": {"binned": True}, "axis": axis},
        "x2": {"field": "high"},
        "y": {"field": "n", "type": "quantitative", "title": "groups", "axis": {"tickCount": 4, "tickMinStep": 1}},
        "color": by_direction(),
        "tooltip": [
            {"field": "low", "title": "from", "format": "+.4f"},
            {"field": "high", "title": "to", "format": "+.4f"},
            {"field": "n", "title": "groups"},
        ],
    }
    bars = layer("bar", encoding, binSpacing=1)
    subtitle = f"{counted(changed.size, 'group')} changed" + (
        f", {n_same:,} did not and {'is' if n_same == 1 else 'are'} not drawn" if n_same else ""
    )
    return chart("How much groups changed", [bars], rows, subtitle=subtitle, height=height)


@dataclass(frozen=True, slots=True)
class Bar:
    """A row of a forest plot; ``attribute``: of a slice, None for a metric."""

    name: str
    attribute: str | None
    delta: float
    ci: tuple[float, float] | None
    verdict: ToldVerdict | None
    p_adjusted: float | None
    n: int

    @property
    def label(self) -> str:
        """Its name, with the attribute before the value of a slice."""
        return self.name if self.attribute is None else f"{self.attribute}: {self.name}"


def bars_of(comparison: Comparison, slices: Mapping[str, Sequence[SliceComparison]]) -> list[Bar]:
    """Return the metrics of a comparison, and the first of them slice by slice."""
    bars = [metric_bar(metric) for metric in comparison.metrics if metric.delta is not None]
    for attribute, rows in slices.items():
        bars += [
            Bar(
                NO_VALUE if row.value is None else row.value,
                attribute,
                row.delta,
                row.ci,
                row.verdict,
                row.p_adjusted,
                row.n,
            )
            for row in rows
            if row.delta is not None
        ]
    return bars


def metric_bar(metric: MetricComparison, name: str = "") -> Bar:
    """Return a metric as a row of a forest plot; its delta is known."""
    assert metric.delta is not None
    return Bar(name or metric.metric, None, metric.delta, metric.ci, metric.told, metric.p_adjusted, metric.n)


def forest(bars: Sequence[Bar], title: str = "Differences with their 95% intervals", *, row_height: int = 22) -> Spec:
    """Return the chart of differences with their intervals; grey where no difference was detected."""
    rows = [
        {
            "name": bar.label,
            "delta": bar.delta,
            "low": None if bar.ci is None else bar.ci[0],
            "high": None if bar.ci is None else bar.ci[1],
            "direction": {"improved": BETTER, "regressed": WORSE}.get(bar.verdict or "", SAME),
            "verdict": "" if bar.verdict is None else bar.verdict.replace("_", " "),
            "interval": interval(bar.ci, signed=True),
            "p": p_text(bar.p_adjusted),
            "groups": bar.n,
        }
        for bar in bars
    ]
    y = {"field": "name", "type": "nominal", "sort": None, "title": None, "axis": {"labelLimit": 220, "grid": False}}
    tooltip = [
        {"field": "name", "title": "of"},
        {"field": "delta", "format": "+.4f"},
        {"field": "interval", "title": "95% interval"},
        *({"field": name} for name in ("p", "groups", "verdict")),
    ]
    at_zero = {"x": {"datum": 0, "type": "quantitative", "axis": signed_axis()}}
    zero = {"data": {"values": [{}]}, **layer("rule", at_zero, color={"expr": "muted"}, strokeDash=[4, 3])}
    shared = {"y": y, "color": by_direction(), "tooltip": tooltip}
    low = {"field": "low", "type": "quantitative", "axis": signed_axis(), "title": None}
    lines = layer("rule", {"x": low, "x2": {"field": "high"}, **shared}, strokeWidth=2.5)
    dots = layer("circle", {"x": {"field": "delta", "type": "quantitative"}, **shared}, size=90, opacity=1)
    words = "grey: no difference detected" + (", or open" if any(bar.verdict == "open" for bar in bars) else "")
    if any(_is_lost_by_correction(bar) for bar in bars):
        words += "; p-values are corrected for all tests, intervals are not"
    return chart(title, [zero, lines, dots], rows, subtitle=words, height={"step": row_height})


def _is_lost_by_correction(bar: Bar) -> bool:
    """Return whether the interval of a bar excludes 0, though no difference was detected after correction."""
    return bar.verdict == "no_difference_detected" and bar.ci is not None and not bar.ci[0] <= 0 <= bar.ci[1]


def heatmap(deltas: Sequence[RunPairDelta], names: Sequence[str], metric: str, *, row_height: int = 30) -> Spec:
    """Return the chart of the difference between any two runs, hatched where none was detected."""
    reach = max((abs(pair.delta) for pair in deltas), default=1.0) or 1.0
    rows = [
        {
            "baseline": pair.baseline,
            "candidate": pair.candidate,
            "delta": pair.delta,
            "shown": points(pair.delta, signed=True),
            "p": p_text(pair.p_adjusted),
            "verdict": pair.verdict.replace("_", " "),
            "hatch": "" if pair.verdict in ("improved", "regressed") else "╱" * 8,
            "strength": 1.0 if pair.verdict in ("improved", "regressed") else 0.35,
        }
        for pair in deltas
    ]
    x = {
        "field": "candidate",
        "type": "nominal",
        "sort": list(names),
        "axis": {"orient": "top", "labelAngle": -30, "labelLimit": 140, "title": None},
    }
    y = {"field": "baseline", "type": "nominal", "sort": list(names), "title": None, "axis": {"labelLimit": 200}}
    tooltip = [
        {"field": "candidate", "title": "run"},
        {"field": "baseline", "title": "against"},
        {"field": "shown", "title": "delta"},
        {"field": "p"},
        {"field": "verdict"},
    ]
    colors = {"domain": [-reach, 0, reach], "range": [{"expr": "worse"}, {"expr": "grid"}, {"expr": "better"}]}
    shades = {
        "color": {"field": "delta", "type": "quantitative", "scale": colors, "legend": None},
        "opacity": {"field": "strength", "type": "quantitative", "scale": None},
    }
    cells = layer("rect", {"x": x, "y": y, **shades, "tooltip": tooltip}, cornerRadius=3)
    look: Spec = {"color": {"expr": "muted"}, "opacity": 0.55, "fontSize": 16, "clip": True, "tooltip": None}
    hatch = layer("text", {"x": x, "y": y, "text": {"field": "hatch"}}, **look)
    is_dark = {"test": f"datum.strength == 1 && abs(datum.delta) > {reach / 2}", "value": "white"}
    ink = {"condition": is_dark, "value": {"expr": "text"}}
    numbers = layer("text", {"x": x, "y": y, "text": {"field": "shown"}, "color": ink}, fontSize=10, tooltip=None)
    layers = [cells, hatch, *([numbers] if len(names) <= 14 else [])]
    return chart(
        f"{metric}: every run against every other",
        layers,
        rows,
        subtitle="column against row; hatched: no difference detected (Holm over all pairs)",
        height={"step": row_height},
    )


ComparisonChart = Literal["every", "scatter", "histogram", "forest", "slices", "cutoffs", "heatmap"]


def checked_kind(kind: str) -> None:
    """Raise InputError unless there is such a kind of chart."""
    if kind not in get_args(ComparisonChart):
        raise InputError(f"unknown chart {kind!r}", advice=f"choose {', '.join(get_args(ComparisonChart))}", joint=": ")


_WITH_INTERVALS = ("forest", "slices", "cutoffs", "heatmap")


def comparison_chart(kind: ComparisonChart, reports: PairReports, by: str | None = None) -> Spec:
    """Return a chart of a comparison, naming the runs and the dataset; a chart of one candidate shows the first.

    ``by``: a group attribute (see ``ComparisonResult.plot``). Raises: InputError for a chart that cannot be drawn.
    """
    comparison = reports.pairs[0].comparison
    runs = "" if kind in ("forest", "heatmap") else f"{comparison.candidate.name} against {comparison.baseline.name} "
    spec = _chart_of_kind(kind, reports, by)
    where = f"{runs}on {comparison.dataset}"
    clusters = comparison.metrics[0].clusters
    if clusters is not None and kind in _WITH_INTERVALS:
        where += f", clustered by {clusters.attribute}"
    title = spec["title"]
    return {**spec, "title": {**title, "subtitle": "; ".join(filter(None, [where, title.get("subtitle", "")]))}}


def _chart_of_kind(kind: ComparisonChart, reports: PairReports, by: str | None) -> Spec:
    pairs = reports.pairs
    first = pairs[0]
    comparison = for_people(first.comparison)
    metric = comparison.metrics[0].metric
    baseline, candidate = comparison.baseline.name, comparison.candidate.name
    if by is not None and by not in first.groups.attributes:
        attributes = ", ".join(first.groups.attributes) or "none"
        raise InputError(f"no group that was compared has an attribute {by!r}; there is {attributes}")
    if by is not None and kind in ("every", "scatter") and by not in colored(first.groups):
        raise InputError(f"attribute {by!r} has one value, or more than {MOST_SLICES}, which colours do not tell")
    if kind == "every":
        return every_group(first.groups, metric, by)
    if kind == "scatter":
        return scatter(first.groups, baseline, candidate, by)
    if kind == "histogram":
        return histogram(first.groups)
    if kind == "slices":
        wanted = {name: rows for name, rows in first.slices.items() if by in (None, name)}
        if not wanted:
            raise InputError(
                f"no attribute has between 2 and {MOST_SLICES} values", advice="set one with: ndcg-track groups set"
            )
        return forest(bars_of(replace(comparison, metrics=comparison.metrics[:1]), wanted), f"{metric} by slices")
    if kind == "cutoffs":
        if not first.at_cutoffs:
            raise InputError(f"{metric} has no cutoff to vary, or no test applies to it", advice="name another metric")
        return cutoffs(first.at_cutoffs, baseline, candidate, metric=metric, cutoff=first.cutoff)
    if kind == "heatmap":
        names = [baseline, *(pair.comparison.candidate.name for pair in pairs)]
        return heatmap(reports.deltas, names, metric)
    several = [for_people(pair.comparison) for pair in pairs]
    bars = [
        metric_bar(shown, f"{each.candidate.name}: {shown.metric}" if len(pairs) > 1 else "")
        for each in several
        for shown in each.metrics
        if shown.delta is not None
    ]
    return forest(bars, f"{candidate if len(pairs) == 1 else 'Candidates'} against {baseline}")

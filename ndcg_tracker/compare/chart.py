"""Charts of a comparison: cutoffs, intervals, many runs at once, and a chart by the name of its kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ndcg_tracker.compare.chart_groups import colored, every_group, histogram, queries_of, scatter
from ndcg_tracker.compare.report_facts import AtCutoff, PairReport, PairReports, RunPairDelta
from ndcg_tracker.compare.results import Comparison, Estimate, ToldVerdict
from ndcg_tracker.compare.say import for_people
from ndcg_tracker.compare.say_tables import bare_name, suite_means
from ndcg_tracker.compare.say_where import value_name
from ndcg_tracker.compare.slices import MOST_SLICES
from ndcg_tracker.errors import InputError
from ndcg_tracker.render.html import (
    BETTER,
    SAME,
    WORSE,
    Spec,
    by_direction,
    chart,
    layer,
    named_axis,
    nominal,
    number,
    signed_axis,
    tooltip,
)
from ndcg_tracker.words.texts import counted, interval, p_text, points
from ndcg_tracker.words.verdicts import mark_of


def cutoffs(rows: Sequence[AtCutoff], baseline: str, candidate: str, *, metric: str, cutoff: int | None) -> Spec:
    """Return the chart of a metric at every cutoff; the runs differ where the band leaves the baseline.

    The band is the 95% interval of the difference, drawn around the candidate. It holds for each cutoff by itself, not
    for all of them together. ``cutoff``: the cutoff of the compared metric.
    """
    table: list[dict[str, object]] = []
    for row in rows:
        low, high = (None, None) if row.ci is None else (row.baseline + end for end in row.ci)
        shared = {"cutoff": row.cutoff, "delta": row.delta, "low": low, "high": high}
        table.append({**shared, "run": baseline, "value": row.baseline})
        table.append({**shared, "run": candidate, "value": row.candidate})
    scale, axis = {"nice": False, "zero": False}, {"grid": False, "tickMinStep": 1}
    x = number("cutoff", title="cutoff", scale=scale, axis=axis)
    y = number(title="mean", scale={"zero": False}, axis={"tickCount": 5})
    colors = {"domain": [baseline, candidate], "range": [{"expr": "muted"}, {"expr": "chosen"}]}
    color = nominal("run", scale=colors, legend=named_axis([baseline, candidate], 20, title=None, symbolType="stroke"))
    span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    told = tooltip("run", "cutoff", ("value", "", ".4f"), ("delta", "", "+.4f"))
    value = {"x": x, "y": {**y, "field": "value"}, "color": color, "tooltip": told}
    of_candidate = {"transform": [{"filter": {"field": "run", "equal": candidate}}]}
    layers: list[Spec] = [
        of_candidate | layer("area", span, opacity=0.18, color={"expr": "chosen"}),
        layer("line", value, strokeWidth=2, point=len(rows) <= 20),
    ]
    if cutoff is not None:
        rule = layer("rule", {"x": number("cutoff")}, color={"expr": "muted"}, strokeDash=[4, 3])
        layers.append({"data": {"values": [{"cutoff": cutoff}]}, **rule})
    subtitle = "band: 95% interval of the difference at each cutoff; where the grey line is outside it, the runs differ"
    return chart(f"{metric} at other cutoffs", layers, table, subtitle=subtitle, height=220)


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

    @classmethod
    def of(cls, found: Estimate, name: str, attribute: str | None = None, n: int | None = None) -> Bar:
        """Return the row of an estimate; ``n``: of how many groups, by default those that count."""
        told = found.delta or 0.0, found.ci, found.told, found.p_adjusted
        return cls(name, attribute, *told, found.n if n is None else n)

    @property
    def label(self) -> str:
        """The name of the row; for a slice, the attribute before its value."""
        return self.name if self.attribute is None else f"{self.attribute}: {self.name}"

    @property
    def found(self) -> str:
        """The verdict in words, "" if there is none."""
        if self.p_adjusted is None and self.verdict not in ("identical", None):
            return "not tested"
        return mark_of(self.verdict).word


def bars_of(comparison: Comparison, slices: Mapping[str, Sequence[Estimate]]) -> list[Bar]:
    """Return the metrics of a comparison, and the first of them slice by slice."""
    bars = [Bar.of(metric, metric.metric) for metric in comparison.metrics if metric.delta is not None]
    rows = [(attribute, row) for attribute, of in slices.items() for row in of if row.delta is not None]
    return bars + [Bar.of(row, value_name(row.about.value), attribute) for attribute, row in rows]


def suite_bars(*comparisons: Comparison) -> list[Bar]:
    """Return the difference on each dataset of a suite with its interval, then of all datasets together.

    With several candidates or metrics, each row names its own.
    """
    bars, candidates = list[Bar](), {comparison.candidate.name for comparison in comparisons}
    for comparison in map(for_people, comparisons):
        for metric in comparison.metrics:
            name = bare_name(metric)
            named = (len(candidates) > 1, comparison.candidate.name), (len(comparison.metrics) > 1, name)
            whose = " ".join(word for is_told, word in named if is_told) or None
            each = [(of.about.value or "", of) for of in comparison.slices or () if of.metric == name]
            n = sum(of.n for _, of in each)
            each += [(f"{mean}, {' '.join(what.split()[:2])}", of) for mean, what, of in suite_means(metric)]
            bars += [Bar.of(of, what, whose, None if of.about.value else n) for what, of in each]
    return bars


def suite_forest(*comparisons: Comparison) -> Spec:
    """Return the chart of ``suite_bars``."""
    first, metrics = for_people(comparisons[0]), {metric.metric for of in comparisons for metric in of.metrics}
    who = first.candidate.name if len(comparisons) == 1 else counted(len(comparisons), "candidate")
    title = f"{who} against {first.baseline.name} on suite {first.dataset}"
    only = bare_name(first.metrics[0]) if len(metrics) == 1 else ""
    return forest(suite_bars(*comparisons), f"{title}: {only}" if only else title, metric=only)


def forest(bars: Sequence[Bar], title: str = "Differences with their 95% intervals", *, metric: str = "") -> Spec:
    """Return the chart of differences with their intervals, grey if no difference was detected.

    ``metric``: the metric of all bars, "" if they have several.
    """
    rows = [
        {
            "name": bar.label,
            "delta": bar.delta,
            "low": None if bar.ci is None else bar.ci[0],
            "high": None if bar.ci is None else bar.ci[1],
            "direction": {"improved": BETTER, "regressed": WORSE}.get(bar.verdict or "", SAME),
            "verdict": bar.found,
            "interval": interval(bar.ci, signed=True),
            "p": p_text(bar.p_adjusted),
            "groups": bar.n,
        }
        for bar in bars
    ]
    y = nominal(
        "name", sort=None, title=None, axis=named_axis([bar.label for bar in bars], 36, labelLimit=230, grid=False)
    )
    told = tooltip(("name", "of"), ("delta", "", "+.4f"), ("interval", "95% interval"), "p", "groups", "verdict")
    axis = signed_axis(f"change{metric and f' of {metric}'}", labelBound=4)  # one that would be cut off is left out
    at_zero = {"x": number(datum=0, axis=axis)}
    zero = {"data": {"values": [{}]}, **layer("rule", at_zero, color={"expr": "muted"}, strokeDash=[4, 3])}
    shared = {"y": y, "color": by_direction(), "tooltip": told}
    lines = layer("rule", {"x": number("low", axis=axis), "x2": {"field": "high"}, **shared}, strokeWidth=2.5)
    dots = layer("circle", {"x": number("delta"), **shared}, size=90, opacity=1)
    grey = [name for name in ("no difference detected", "open", "not tested") if any(bar.found == name for bar in bars)]
    words = f"grey: {', or '.join(grey or ['no difference detected'])}"
    if any(_is_lost_by_correction(bar) for bar in bars):
        words += "; p-values are corrected for all tests, intervals are not"
    return chart(title, [zero, lines, dots], rows, subtitle=words, height={"step": 22})


def _is_lost_by_correction(bar: Bar) -> bool:
    """Return whether the interval of a bar excludes 0 although no difference was detected after correction."""
    return bar.verdict == "no_difference_detected" and bar.ci is not None and not bar.ci[0] <= 0 <= bar.ci[1]


_MOST_NUMBERED = 14  # runs whose cells have room for numbers


def heatmap(deltas: Sequence[RunPairDelta], names: Sequence[str], metric: str) -> Spec:
    """Return the chart of the difference between any two runs; it marks differences that were not detected."""
    has_numbers = len(names) <= _MOST_NUMBERED
    reach = max((abs(pair.delta) for pair in deltas), default=1.0) or 1.0
    rows = [
        {
            "baseline": pair.baseline,
            "candidate": pair.candidate,
            "delta": pair.delta,
            "shown": ("" if is_sure else "~") + points(pair.delta, signed=True, is_aligned=True),
            "p": p_text(pair.p_adjusted),
            "verdict": mark_of(pair.verdict).word,
            "hatch": "" if is_sure else "╱" * 8,
            "strength": 1.0 if is_sure else 0.35,
        }
        for pair in deltas
        for is_sure in (pair.verdict in ("improved", "regressed"),)
    ]
    above = named_axis(names, 20, orient="top", labelAngle=30, labelLimit=140, title="run")
    x = nominal("candidate", sort=list(names), axis=above)
    y = nominal("baseline", sort=list(names), title="against", axis=named_axis(names, 30, labelLimit=200))
    told = tooltip(("candidate", "run"), ("baseline", "against"), ("shown", "delta"), "p", "verdict")
    ends = [{"expr": name} for name in ("worse", "grid", "better")]
    colors = {"domain": [-reach, 0, reach], "range": ends, "interpolate": "rgb"}
    shades = {"color": number("delta", scale=colors, legend=None), "opacity": number("strength", scale=None)}
    cells = layer("rect", {"x": x, "y": y, **shades, "tooltip": told}, cornerRadius=3)
    look: Spec = {"color": {"expr": "muted"}, "opacity": 0.55, "fontSize": 16, "clip": True, "tooltip": None}
    hatch = layer("text", {"x": x, "y": y, "text": {"field": "hatch"}}, **look)
    is_dark = {"test": f"datum.strength == 1 && abs(datum.delta) > {reach / 2}", "value": "white"}
    ink = {"condition": is_dark, "value": {"expr": "text"}}
    size = {"expr": "min(10, bandwidth('x') / 5.8)"}  # as wide as a cell
    numbers = layer("text", {"x": x, "y": y, "text": {"field": "shown"}, "color": ink}, fontSize=size, tooltip=None)
    return chart(
        f"{metric}: every run against every other",
        [cells, numbers if has_numbers else hatch],
        rows,
        subtitle="column against row; "
        f"{'pale, with ~' if has_numbers else 'hatched'}: no difference detected (Holm over all pairs)",
        height={"step": 30},
    )


ComparisonChart = Literal["every", "scatter", "histogram", "forest", "slices", "cutoffs", "heatmap"]


def checked_kind(kind: str) -> None:
    """Raise InputError unless the kind of chart exists."""
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
    clusters = comparison.metrics[0].about.clusters
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
        raise InputError(f"no compared group has an attribute {by!r}; the attributes are: {attributes}")
    if by is not None and kind in ("every", "scatter") and by not in colored(first.groups):
        raise InputError(f"attribute {by!r} has one value, or more than {MOST_SLICES}, so colours cannot show it")
    queries = queries_of(first.texts)
    if kind == "every":
        return every_group(first.groups, metric, by, queries=queries)
    if kind == "scatter":
        return scatter(first.groups, baseline, candidate, by, metric=metric, queries=queries)
    if kind == "histogram":
        return histogram(first.groups, metric)
    if kind == "slices":
        wanted = _slices_by(first, by)
        only_first = replace(comparison, metrics=comparison.metrics[:1])
        return forest(bars_of(only_first, wanted), f"{metric} by slices", metric=metric)
    if kind == "cutoffs":
        if not first.at_cutoffs:
            raise InputError(f"{metric} has no cutoff to vary, or no test applies to it", advice="name another metric")
        return cutoffs(first.at_cutoffs, baseline, candidate, metric=metric, cutoff=first.cutoff)
    if kind == "heatmap":
        if not reports.deltas:
            what = f"no test applies to {metric} of all these runs under one version of the labels"
            raise InputError(what, advice="choose forest")
        names = [baseline, *(pair.comparison.candidate.name for pair in pairs)]
        return heatmap(reports.deltas, names, metric)
    several = [for_people(pair.comparison) for pair in pairs]
    only = metric if {of.metric for each in several for of in each.metrics} == {metric} else ""
    bars: list[Bar] = []
    for each, pair in zip(several, pairs, strict=True):
        slices = {} if by is None else _slices_by(pair, by)
        bars += _bars_of_candidate(each, slices, is_one=len(pairs) == 1, only=only)
    title = f"{candidate if len(pairs) == 1 else 'Candidates'} against {baseline}"
    return forest(bars, f"{title}: {only}" if only else title, metric=only)


def _slices_by(pair: PairReport, by: str | None) -> dict[str, tuple[Estimate, ...]]:
    """Return the slices by an attribute, or by all attributes. Raises: InputError if there are none."""
    wanted = {name: rows for name, rows in pair.slices.items() if by in (None, name)}
    if not wanted:
        raise InputError(
            f"no attribute has between 2 and {MOST_SLICES} values"
            if by is None
            else f"attribute {by!r} has one value, or more than {MOST_SLICES}, or no test applies",
            advice="set one with: ndcg-track groups set" if by is None else "name another",
        )
    return wanted


def _bars_of_candidate(
    comparison: Comparison, slices: Mapping[str, Sequence[Estimate]], *, is_one: bool, only: str
) -> list[Bar]:
    """Return the rows of one of several candidates, with its name; ``only``: the metric if all rows share one."""
    bars = bars_of(comparison, slices)
    if is_one:
        return bars
    name, named = comparison.candidate.name, []
    for bar in bars:
        of_metric = name if only else f"{name}: {bar.name}"
        named.append(replace(bar, name=of_metric if bar.attribute is None else f"{bar.name} ({name})"))
    return named

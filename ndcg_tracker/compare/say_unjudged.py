"""What unjudged items leave open, as tables."""

from __future__ import annotations

from dataclasses import replace

from ndcg_tracker.compare.results import Comparison, MetricComparison, PossibleDelta, UnjudgedBounds
from ndcg_tracker.compare.say_groups import VERDICT_STYLES, delta_cell
from ndcg_tracker.render.report import Table, columns
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.numbers import counted, interval, p_text, points

_COLUMNS = columns("labels", ">delta", ">95% interval", ">p", "verdict")
_LEGEND = (
    "least, greatest: over all grades in use of the unjudged items in the first ranks of either run",
    "unjudged items beyond the cutoff could enlarge the ideal as well; they are left out",
    "between least and greatest p may be higher or lower than at either",
)
_CONDENSED = "condensed: unjudged items taken out of both lists"


def unjudged_tables(comparison: Comparison) -> list[Table]:
    """Return what unjudged items leave open, one table per metric; none where nobody asked."""
    found = [(metric, metric.unjudged_bounds) for metric in comparison.metrics if metric.unjudged_bounds is not None]
    legend = list(_LEGEND if any(bounds.least is not None for _, bounds in found) else ())
    legend += [_CONDENSED] if any(bounds.condensed is not None for _, bounds in found) else []
    tables = [_table(metric, bounds) for metric, bounds in found]
    return [*tables[:-1], *(replace(table, legend=legend) for table in tables[-1:])]


def _table(metric: MetricComparison, bounds: UnjudgedBounds) -> Table:
    as_is = PossibleDelta(metric.delta, metric.ci, metric.p_value, metric.p_adjusted, metric.verdict)
    known = (("as they are", as_is), ("least", bounds.least), ("greatest", bounds.greatest))
    rows = [[name, *_cells(found)] for name, found in (*known, ("condensed", bounds.condensed)) if found is not None]
    title = f"what unjudged items leave open in {metric.metric}: {_extent(bounds)}"
    return Table(_COLUMNS, rows, title, after=_shrunk(metric, bounds))


def _shrunk(metric: MetricComparison, bounds: UnjudgedBounds) -> str:
    """Return how wide the interval and the bounds were under older labels, and how wide they are now."""
    earlier, least, greatest = bounds.earlier, bounds.least, bounds.greatest
    if earlier is None or least is None or greatest is None:
        return ""
    then, now = _width(earlier.least, earlier.greatest), _width(least.delta, greatest.delta)
    widths = f"least to greatest {then} wide under labels version {earlier.version}, now {now}"
    if earlier.ci is None or metric.ci is None:
        return widths
    return f"{widths}; the interval of delta {_width(*earlier.ci)}, now {_width(*metric.ci)}"


def _width(low: float | None, high: float | None) -> str:
    return points(None if low is None or high is None else high - low)


def _extent(bounds: UnjudgedBounds) -> str:
    if bounds.not_supported is not None:
        what = "this measure" if bounds.not_supported == "measure" else bounds.not_supported
        return f"not known with {what}" if "=" in what else f"not known for {what}"
    if not bounds.n_items:
        return "nothing, no item in the first ranks is unjudged"
    return f"{counted(bounds.n_items, 'item')} in {counted(bounds.n_groups, 'group')}"


def _cells(found: PossibleDelta) -> list[object]:
    verdict = "-" if found.verdict is None else found.verdict.replace("_", " ")
    if found.p_value is None and found.verdict != "identical":
        verdict = "cannot be judged"
    return [
        delta_cell(found.delta, None),
        interval(found.ci, signed=True),
        p_text(found.p_adjusted),
        Painted(verdict, VERDICT_STYLES.get(found.verdict)),
    ]

"""The tables of a comparison, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ndcg_tracker.reporting import comparison_words as words
from ndcg_tracker.reporting.numbers import UNDEFINED, counted, interval, p_text, points, shown_margin
from ndcg_tracker.reporting.terminal import Painted, Style

if TYPE_CHECKING:
    from ndcg_tracker.comparison.moves import ItemMove
    from ndcg_tracker.comparison.results import Comparison, GroupDelta, MetricComparison
    from ndcg_tracker.comparison.slices import SliceComparison

SLICES_SHOWN = 10
"""So many of the worst slices and so many of the best are shown to people."""
NO_VALUE = "(none)"


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table of a report.

    ``title``: "" for none. ``right``: which columns stand right. ``rows``: cells, a style on those that have one.
    ``footnotes``: below it, in the order of their marks. ``names``: the columns of names, one or two, which are cut
    where a line would be too long. ``n_below``: so many of the last columns go into a line of their own before names
    are cut short.
    """

    title: str
    headings: tuple[str, ...]
    right: tuple[bool, ...]
    rows: list[list[Painted]]
    footnotes: list[str] = field(default_factory=list)
    names: tuple[int, ...] = (0,)
    n_below: int = 0


def verdict_style(verdict: str | None) -> Style | None:
    """Return the style of a verdict."""
    styles: dict[str | None, Style] = {"improved": "good", "regressed": "bad"}
    return styles.get(verdict)


def metric_table(
    comparison: Comparison, comparisons: Sequence[Comparison], *, all_columns: bool = False
) -> ReportTable:
    """Return the means, differences and p-values; ``all_columns``: with those of ``evidence_table`` behind."""
    notes: list[str] = []
    rows = []
    for metric in comparison.metrics:
        cells = words.metric_cells(metric, notes, comparisons)
        delta = words.METRIC_HEADINGS.index("delta")
        style = verdict_style(metric.verdict)
        rows.append([Painted(cell, style if place == delta else None) for place, cell in enumerate(cells)])
    headings: tuple[str, ...] = words.METRIC_HEADINGS
    if all_columns:
        evidence = evidence_table(comparison)
        headings += evidence.headings[1:]
        rows = [[*row[:-1], *behind[1:], row[-1]] for row, behind in zip(rows, evidence.rows, strict=True)]
    return _noted("", headings, rows, notes)


def _noted(title: str, headings: tuple[str, ...], rows: list[list[Painted]], notes: list[str]) -> ReportTable:
    """Return a table of one name and numbers, behind which the signs of footnotes stand if there are any."""
    right = (False, *[True] * (len(headings) - 1))
    if not notes:
        return ReportTable(title, headings, right, [row[:-1] for row in rows])
    return ReportTable(title, (*headings, ""), (*right, False), rows, notes)


def evidence_table(comparison: Comparison) -> ReportTable:
    """Return what the verdicts rest on, without the columns that no metric has anything in."""
    columns: list[tuple[str, Callable[[MetricComparison], str]]] = [
        ("wins", lambda metric: f"{metric.wins:,}"),
        ("ties", lambda metric: f"{metric.ties:,}"),
        ("losses", lambda metric: f"{metric.losses:,}"),
        ("d_z", lambda metric: f"{metric.effect_size:+.2f}" if metric.effect_size is not None else UNDEFINED),
        ("detectable", lambda m: points(m.detectable_delta) if words.is_detectable_shown(m) else UNDEFINED),
        ("betting interval", lambda m: interval(m.betting_ci, signed=True) if words.is_betting_shown(m) else UNDEFINED),
    ]
    metrics = comparison.metrics
    shown = [(name, cell) for name, cell in columns if any(cell(metric) != UNDEFINED for metric in metrics)]
    rows = [[Painted(metric.metric), *(Painted(cell(metric)) for _, cell in shown)] for metric in metrics]
    headings = ("metric", *(name for name, _ in shown))
    return ReportTable("", headings, (False, *[True] * len(shown)), rows)


def equivalence_tables(comparison: Comparison) -> list[ReportTable]:
    """Return what the test of equivalence says of each metric, one table; none where nobody asked."""
    found = [(metric.metric, metric.equivalence) for metric in comparison.metrics if metric.equivalence is not None]
    if not found:
        return []
    rows = [
        [
            Painted(cell)
            for cell in (name, words.equivalence_finding(one), interval(one.ci, signed=True), p_text(one.p_value))
        ]
        for name, one in found
    ]
    title = f"equivalence within ±{shown_margin(found[0][1].margin)}"
    return [ReportTable(title, ("metric", "finding", "90% interval", "p"), (False, False, True, True), rows)]


def overview_table(comparisons: Sequence[Comparison]) -> ReportTable:
    """Return the verdict on every candidate and metric."""
    rows = []
    for comparison in comparisons:
        for metric in comparison.metrics:
            verdict = "shown, not compared" if metric.verdict is None else metric.verdict.replace("_", " ")
            verdict = "cannot be judged" if words.sign(metric) == "?" else verdict
            row = [
                Painted(comparison.candidate.name),
                Painted(metric.metric),
                Painted(f"{words.sign(metric)} {verdict}", verdict_style(metric.verdict)),
                Painted(points(metric.delta, signed=True), verdict_style(metric.verdict)),
                Painted(p_text(metric.p_adjusted)),
            ]
            rows.append(row)
    first = comparisons[0]
    title = f"{counted(len(comparisons), 'candidate')} against {first.baseline.name} on {first.dataset}"
    headings, right = ("candidate", "metric", "verdict", "delta", "p"), (False, False, False, True, True)
    return ReportTable(title, headings, right, rows, names=(0, 1))


def group_tables(comparison: Comparison) -> list[ReportTable]:
    """Return the tables of the worst and the best groups, those without rows left out."""
    metric = comparison.metrics[0].metric
    tables = [(f"worst groups in {metric}", comparison.worst), (f"best groups in {metric}", comparison.best)]
    return [_group_table(title, groups) for title, groups in tables if groups]


def _group_table(title: str, groups: Sequence[GroupDelta]) -> ReportTable:
    """Return groups, each with the item that explains most of its delta where the metric is a sum over items."""
    has_moves = any(group.moves for group in groups)
    rows = []
    for group in groups:
        style: Style = "bad" if group.delta < 0 else "good"
        delta = Painted(points(group.delta, signed=True), style)
        row = [Painted(group.group), Painted(points(group.baseline)), Painted(points(group.candidate)), delta]
        rows.append([*row, *_move_cells(group.moves)] if has_moves else row)
    table = ReportTable(title, ("group", "baseline", "candidate", "delta"), (False, True, True, True), rows)
    if not has_moves:
        return table
    headings, right = (*table.headings, "of which", "rank", "item"), (*table.right, True, False, False)
    return replace(table, headings=headings, right=right, names=(0, len(headings) - 1), n_below=3)


def _move_cells(moves: Sequence[ItemMove] | None) -> list[Painted]:
    """Return what one item did to a group's delta, where it went, and its name with its grade."""
    if not moves:
        return [Painted("")] * 3
    move = moves[0]
    grade = "unjudged" if move.grade is None else f"grade {move.grade:g}"
    item = f"{move.item} ({grade})"
    return [Painted(points(move.contribution, signed=True)), Painted(_ranks(move)), Painted(item)]


def _ranks(move: ItemMove) -> str:
    before, after = move.rank_baseline, move.rank_candidate
    if before is None:
        return f"new at {after}"
    if after is None:
        return f"gone from {before}"
    return f"stays {after}" if before == after else f"{before} → {after}"


def slice_table(comparison: Comparison) -> ReportTable | None:
    """Return the slices, the worst first; None where nobody asked. Of many, those in the middle are left out."""
    slices, attribute = comparison.slices, comparison.slice_attribute
    if slices is None or attribute is None:
        return None
    shown, n_hidden = list(slices), len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        shown = [*slices[:SLICES_SHOWN], *slices[-SLICES_SHOWN:]]
    notes: list[str] = []
    rows = [_slice_row(row, words.marks(_slice_notes(row), notes)) for row in shown]
    moved = [
        f"{number} {verdict}"
        for verdict in ("regressed", "improved")
        if (number := sum(row.verdict == verdict for row in slices))
    ]
    n_slices = counted(len(slices), "slice")
    title = (
        f"{comparison.metrics[0].metric} by {attribute}: {', '.join(moved) or 'no difference detected'} ({n_slices})"
    )
    headings = (attribute, "n", "baseline", "candidate", "delta", "95% interval", "p", "q")
    table = _noted(title, headings, rows, notes)
    return replace(table, n_below=len(table.headings) - headings.index("95% interval"))


def slice_legend(comparison: Comparison) -> list[str]:
    """Return how to read the table of slices, and how many are not in it."""
    slices = comparison.slices or ()
    lines = []
    n_tested = sum(row.p_value is not None for row in slices)
    if n_tested:
        holm = f", Holm-corrected over {counted(n_tested, 'slice')}" if n_tested > 1 else ""
        lines.append(f"p, which decides: paired t-test{holm}; q, for listing: Benjamini-Hochberg")
    if any(row.value is None for row in slices):
        lines.append(f"{NO_VALUE}: the groups without this attribute")
    n_hidden = len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        lines.append(f"{counted(n_hidden, 'slice')} between the worst and the best not shown; JSON and CSV have all")
    return lines


def _slice_row(row: SliceComparison, marks: str) -> list[Painted]:
    delta = points(row.delta, signed=True)
    cells = [
        NO_VALUE if row.value is None else row.value,
        f"{row.n:,}",
        points(row.baseline),
        points(row.candidate),
        f"~ {delta}" if row.verdict == "no_difference_detected" else delta,
        interval(row.ci, signed=True),
        p_text(row.p_adjusted),
        p_text(row.q_value),
        marks,
    ]
    return [Painted(cell, verdict_style(row.verdict) if place == 4 else None) for place, cell in enumerate(cells)]


def _slice_notes(row: SliceComparison) -> list[str]:
    """Return the footnotes of one slice, worded so that slices can share them."""
    if row.verdict == "not_comparable":
        return ["no group that counts"]
    if row.verdict == "identical":
        return ["identical in every group: no interval, no p-value"]
    if row.n == 1:
        return ["one group says nothing about others: no interval and no p-value"]
    if row.ci is None:
        return ["all groups differ by the same amount: the interval and the p-value are undefined"]
    if row.warning:
        return [words.FEW_OR_SKEWED]
    return []


def tie_table(comparison: Comparison) -> ReportTable | None:
    """Return the groups that ties in scores leave most open; None where nobody asked."""
    if comparison.tie_groups is None:
        return None
    numbers = [
        (group, [points(number) for number in (group.worst, group.value, group.best)])
        for group in comparison.tie_groups
    ]
    rows = [[group.group, group.run, *shown] for group, shown in numbers if shown[0] != shown[-1]]
    n_open = len(rows) if comparison.n_tie_groups is None else comparison.n_tie_groups
    title = f"groups that ties in scores leave open in {comparison.metrics[0].metric}"
    if n_open > len(rows):
        title += f" ({len(rows) or 'none'} of {n_open:,} shown)"
    headings = ("group", "run", "worst", "value", "best")
    painted = [[Painted(cell) for cell in row] for row in rows]
    return ReportTable(title if n_open else f"no {title}", headings, (False, False, True, True, True), painted)

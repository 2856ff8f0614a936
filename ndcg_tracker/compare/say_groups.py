"""The groups and the slices of a comparison as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ndcg_tracker.compare.results import Comparison, GroupDelta, ItemMove, SliceComparison, Verdict
from ndcg_tracker.render.report import Column, Table, columns, marks
from ndcg_tracker.render.terminal import Painted, Style
from ndcg_tracker.words.notes import Note, few_differences, sentence
from ndcg_tracker.words.numbers import counted, interval, p_text, points

SLICES_SHOWN = 10
"""So many of the worst slices and so many of the best are shown to people."""
NO_VALUE = "(none)"
IDENTICAL = "identical in every group: no interval, no p-value"
VERDICT_STYLES: dict[str | None, Style] = {"improved": "good", "regressed": "bad"}

_NUMBERS = (">n", ">baseline", ">candidate", ">delta", ">95% interval", ">p", ">q")


def delta_cell(delta: float | None, verdict: Verdict | None) -> Painted:
    """Return a difference, with a sign before it where it was not detected and in the style of its verdict."""
    text = points(delta, signed=True)
    return Painted(f"~ {text}" if verdict == "no_difference_detected" else text, VERDICT_STYLES.get(verdict))


def slice_tables(comparison: Comparison) -> list[Table]:
    """Return the slices, the worst first, one table; none where nobody asked. Of many, the middle is left out."""
    slices, attribute, first = comparison.slices, comparison.slice_attribute, comparison.metrics[0]
    if slices is None or attribute is None:
        return []
    found, n_hidden = list(slices), len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        found = [*slices[:SLICES_SHOWN], *slices[-SLICES_SHOWN:]]
    moved = [
        f"{number} {verdict}"
        for verdict in ("regressed", "improved")
        if (number := sum(row.verdict == verdict for row in slices))
    ]
    footnotes: list[str] = []
    table = Table(
        (Column("", attribute, right=False), *columns(*_NUMBERS)),
        [_slice_cells(row) for row in found],
        f"{first.metric} by {attribute}: {', '.join(moved) or 'no difference detected'} "
        f"({counted(len(slices), 'slice')})",
        marks=[marks(_slice_footnotes(row), footnotes) for row in found],
        legend=_slice_legend(slices, is_paired=first.variance is None and first.clusters is None),
        n_below=3,
    )
    return [replace(table, footnotes=footnotes)]


def _slice_legend(slices: Sequence[SliceComparison], *, is_paired: bool) -> list[str]:
    """Return how to read the table of slices, and how many are not in it; ``is_paired``: by plain paired t-tests."""
    lines = []
    n_tested = sum(row.p_value is not None for row in slices)
    if n_tested:
        holm = f", Holm-corrected over {counted(n_tested, 'slice')}" if n_tested > 1 else ""
        test = "paired t-test" if is_paired else "t-test, as above"
        lines.append(f"p, which decides: {test}{holm}; q, for listing: Benjamini-Hochberg")
    if any(row.value is None for row in slices):
        lines.append(f"{NO_VALUE}: the groups without this attribute")
    n_hidden = len(slices) - 2 * SLICES_SHOWN
    if n_hidden > 0:
        lines.append(f"{counted(n_hidden, 'slice')} between the worst and the best not shown; JSON and CSV have all")
    return lines


def _slice_cells(row: SliceComparison) -> list[object]:
    return [
        NO_VALUE if row.value is None else row.value,
        f"{row.n:,}",
        points(row.baseline),
        points(row.candidate),
        delta_cell(row.delta, row.verdict),
        interval(row.ci, signed=True),
        p_text(row.p_adjusted),
        p_text(row.q_value),
    ]


def _slice_footnotes(row: SliceComparison) -> list[str]:
    """Return the footnotes of one slice, worded so that slices can share them."""
    if row.verdict == "not_comparable":
        return ["no group that counts"]
    if row.verdict == "identical":
        return [IDENTICAL]
    if row.n == 1:
        return [sentence(Note("one_group"))]
    if row.ci is None:
        return ["all groups differ by the same amount: the interval and the p-value are undefined"]
    if row.warning is not None:
        return [few_differences(row.warning.facts["enough"])]
    return []


def group_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of the worst and the best groups, those without rows left out."""
    metric = comparison.metrics[0].metric
    worst = _group_table(f"worst groups in {metric}", comparison.worst, "bad")
    best = _group_table(f"best groups in {metric}", comparison.best, "good")
    return [table for table in (worst, best) if table.rows]


def _group_table(title: str, groups: Sequence[GroupDelta], style: Style) -> Table:
    """Return groups, each with the item that explains most of its delta where the metric is a sum over items."""
    has_moves = any(group.moves for group in groups)
    rows: list[list[object]] = []
    for group in groups:
        delta = Painted(points(group.delta, signed=True), style)
        row: list[object] = [group.group, points(group.baseline), points(group.candidate), delta]
        rows.append([*row, *_move_cells(group.moves)] if has_moves else row)
    of_groups = columns("group", ">baseline", ">candidate", ">delta")
    if not has_moves:
        return Table(of_groups, rows, title)
    of_moves = columns(">of which", "rank", "item")
    return Table((*of_groups, *of_moves), rows, title, names=(0, len(of_groups) + 2), n_below=len(of_moves))


def _move_cells(moves: Sequence[ItemMove] | None) -> list[str]:
    """Return what one item did to a group's delta, where it went, and its name with its grade."""
    if not moves:
        return [""] * 3
    move = moves[0]
    grade = "unjudged" if move.grade is None else f"grade {move.grade:g}"
    return [points(move.contribution, signed=True), _ranks(move), f"{move.item} ({grade})"]


def _ranks(move: ItemMove) -> str:
    before, after = move.rank_baseline, move.rank_candidate
    if before is None:
        return f"new at {after}"
    if after is None:
        return f"gone from {before}"
    return f"stays {after}" if before == after else f"{before} → {after}"


def tie_tables(comparison: Comparison) -> list[Table]:
    """Return the groups that ties in scores leave most open, one table; none where nobody asked."""
    if comparison.tie_groups is None:
        return []
    numbers = [
        (group, [points(number) for number in (group.worst, group.value, group.best)])
        for group in comparison.tie_groups
    ]
    rows = [[group.group, group.run, *shown] for group, shown in numbers if shown[0] != shown[-1]]
    n_open = len(rows) if comparison.n_tie_groups is None else comparison.n_tie_groups
    title = f"groups that ties in scores leave open in {comparison.metrics[0].metric}"
    if n_open > len(rows):
        title += f" ({len(rows) or 'none'} of {n_open:,} shown)"
    return [Table(columns("group", "run", ">worst", ">value", ">best"), rows, title if n_open else f"no {title}")]

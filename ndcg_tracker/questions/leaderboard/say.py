"""A leaderboard, of runs or of systems on a suite, for people, for programs and for papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

from ndcg_tracker.compare.results import RunRef
from ndcg_tracker.compare.say_tables import labels_text
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.leaderboard.decide import Leaderboard, MetricBoard, Standing, SuiteRow, SuiteTable
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.latex import EMPHASIS, latex_text, table_latex
from ndcg_tracker.render.report import BLANK, Column, Report, Table, columns, unseen
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.rules import refuse
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import UNDEFINED, counted, percent_span, points, queries, units

LeaderboardFormat = Literal["text", "json", "markdown", "csv", "latex", "html"]
MOST_LETTERS = 26
MOST_COLUMNS = 8
_TESTS = {
    "t": "two-sided paired t-test, Holm-corrected over all pairs of runs of a metric",
    "permutation": "sign flips, corrected over all pairs of runs of a metric by the largest t",
}


@dataclass(frozen=True, slots=True)
class _Line:
    """A run under one metric, or a system of a suite: what the columns of a leaderboard read.

    ``place``: from 0. ``standing``: None for a system without a rank. ``names``, ``signs``: of all lines. ``row``: the
    run or the system.
    """

    place: int
    standing: Standing | None
    names: Sequence[str]
    signs: Sequence[str]
    of: MetricBoard | SuiteTable
    row: RunRef | SuiteRow
    board: Leaderboard | None = None


_RANKS = "the places that it could hold, given the tests (95%, all together)"
_BETTER_THAN = "the letters of those that it is significantly better than"


def _letters(line: _Line) -> str | None:
    return (line.standing and better_than(line.standing, line.signs)) or None


def _beaten(line: _Line) -> list[str] | None:
    return None if line.standing is None else [line.names[place] for place in line.standing.better_than]


STANDING = (
    Column("verdict", BLANK, "verdict", of=lambda line: line.standing and _verdict(line.standing)),
    *unseen("rank=standing.rank rank_low=standing.rank_low rank_high=standing.rank_high"),
    Column("", "ranks", "count", _RANKS, of=lambda line: line.standing and ranks(line.standing)),
    *unseen("is_tied_with_best=standing.is_tied_with_best"),
    Column("n_better_than", of=lambda line: line.standing and len(line.standing.better_than)),
    Column("better_than", of=_beaten),
)
"""What a leaderboard shows of the standing of a run, and the table of a suite of that of a system."""
BETTER_THAN = Column("", "better than", "text", _BETTER_THAN, of=_letters, is_spare=True, is_superscript=True)
_RUN = (
    Column("", BLANK, "id", of=lambda line: line.signs[line.place]),
    Column("run", "run", "id", of="row.name", marked_by=("is_tied_with_best",)),
    *unseen("run_id=row.run_id dataset=board.dataset label_set_version=board.labels.version"),
    *unseen("metric=of.metric slice=of.value n=of.n"),
)
_INTERVAL = Column("ci", "95% interval", "interval", of="standing.ci", is_spare=True)
_JUDGED = Column("judged", kind="share", of="standing.judged")


def leaderboard_said(board: Leaderboard) -> Said:
    """Return the output for a leaderboard; CSV has a row per metric, slice and run."""
    return Said(
        board,
        lambda: [leaderboard_report(board)],
        lambda: Table.of(
            _columns(board), [line for of in (*board.metrics, *board.slices) for line in _lines(board, of)]
        ),
        further={"latex": lambda: leaderboard_latex(board)},
    )


def _lines(board: Leaderboard, of: MetricBoard) -> list[_Line]:
    names, signs = [run.name for run in board.runs], letters(len(board.runs))
    return [
        _Line(place, standing, names, signs, of, run, board)
        for place, (run, standing) in enumerate(zip(board.runs, of.standings, strict=True))
    ]


def _columns(board: Leaderboard) -> list[Column]:
    """Return the columns of a run under one metric."""
    first = board.metrics[0]
    judged = f"judged@{first.cutoff}" if first.cutoff else "judged"
    is_apart = first.judged is not None and first.judged.is_apart
    measures = [Column(name, name, of=partial(_measure, name)) for name in board.measures]
    shared = replace(_JUDGED, title=judged if is_apart else None)
    judge = Column("judge", of="board.labels.judge")
    return [*_RUN, _mean(first), _INTERVAL, *STANDING, BETTER_THAN, shared, judge, *measures]


def _mean(of: MetricBoard) -> Column:
    name = familiar_name(of.metric, of.requested_as)
    return Column("mean", name, "mean", of="standing.mean", best=of.direction)


def _measure(name: str, line: _Line) -> float | None:
    return None if line.board is None else line.board.measures[name][line.place]


def _within(column: Column, place: str | int) -> Column:
    """Return a column of one part of a row: of the part under a name, or at a place."""
    return replace(column, of=lambda row: column.value(row[place]))


def leaderboard_table(board: Leaderboard) -> Table:
    """Return the table for people: a row per run, the first metric with all columns, the others next to it."""
    heads: list[Column] = []
    for column in (of for of in _columns(board) if of.title is not None or of.key == "is_tied_with_best"):
        heads.append(_within(column, 0))
        for number, of in enumerate(board.metrics[1:] if column is BETTER_THAN else (), 1):
            heads += [_within(_mean(of), number), _within(replace(BETTER_THAN, legend=""), number)]
    return Table.of(heads, list(zip(*(_lines(board, of) for of in board.metrics), strict=True)))


@shape_of(MetricBoard)
def _metric_shape(board: MetricBoard) -> Mapping[str, object]:
    hidden = ("value",) if board.value is None else ()
    return fields_of(board, "standings", "pairs", *hidden)


@shape_of(Leaderboard)
def _board_shape(board: Leaderboard) -> Mapping[str, object]:
    def of_metric(of: MetricBoard) -> dict[str, object]:
        rows = Table.of(_columns(board), _lines(board, of))
        return {**as_object(of), "rows": rows, "pairs": of.pairs}

    hidden = () if board.attribute is not None else ("attribute", "slices")
    unasked = () if board.measures else ("measures",)
    shape = fields_of(board, *hidden, *unasked) | {"metrics": [*map(of_metric, board.metrics)]}
    return shape if hidden else shape | {"slices": [*map(of_metric, board.slices)]}


def letters(n: int) -> list[str]:
    """Return a letter for each of n runs, or its number if there are more runs than letters."""
    return [chr(ord("a") + place) if n <= MOST_LETTERS else str(place + 1) for place in range(n)]


def better_than(standing: Standing, names: Sequence[str]) -> str:
    """Return the letters of the runs that a run is significantly better than; three or more in a row become a range.

    >>> better_than(Standing(0.5, None, 1, 1, 1, True, (1, 2, 3, 5)), "abcdef")
    'b-d f'
    """
    parts = []
    for _, grouped in groupby(enumerate(standing.better_than), lambda pair: pair[1] - pair[0]):
        places = [place for _, place in grouped]
        if len(places) > 2:
            parts.append(f"{names[places[0]]}-{names[places[-1]]}")
        else:
            parts += [names[place] for place in places]
    return " ".join(parts)


def _verdict(standing: Standing) -> str | None:
    """Return the verdict on a run against the one with the best mean, None for the best."""
    if standing.rank == 1:
        return None
    return "no_difference_detected" if standing.is_tied_with_best else "regressed"


def ranks(standing: Standing) -> str:
    """Return the range of ranks that a run may have.

    >>> ranks(Standing(0.5, None, 1, 1, 3, True, ()))
    '1-3'
    """
    low, high = standing.rank_low, standing.rank_high
    return str(low) if low == high else f"{low}-{high}"


def leaderboard_report(board: Leaderboard) -> Report:
    """Return the report of a leaderboard."""
    first = board.metrics[0]
    names = [familiar_name(metric.metric, metric.requested_as) for metric in board.metrics]
    numbers = dict.fromkeys(metric.n for metric in board.metrics)
    groups = [f"{metric.n:,} by {name}" for metric, name in zip(board.metrics, names, strict=True)]
    facts = [
        ("labels", labels_text(board.labels)),
        (units(), ", ".join(groups) if len(numbers) > 1 else " ".join(f"{n:,}" for n in numbers)),
        ("test", f"{_test(board)}; p < 0.05"),
    ]
    if first.judged is not None and not first.judged.is_apart:
        judged = f"judged@{first.cutoff}" if first.cutoff else "judged"
        facts.insert(1, (judged, percent_span(first.judged.least, first.judged.greatest)))
    styles = [f"bold: the best run by {names[0]}, and those with no difference detected to it; coloured: the best mean"]
    tables = [leaderboard_table(board), *([_slice_table(board)] if board.slices else [])]
    notes = [*map(told, board.notes)]
    return Report(_headline(board, names[0]), tables=tables, styles=styles, facts=facts, notes=notes)


def _test(board: Leaderboard) -> str:
    """Return the test of the pairs; no test applies to runs with equal results."""
    any_equal = any(pair.p_value is None for metric in board.metrics for pair in metric.pairs)
    of_arms = f"two-sided t-test over {units()} and runs, crossed, Holm-corrected over all pairs of arms of a metric"
    test = of_arms if any(run.runs for run in board.runs) else _TESTS[board.test]
    return test + (", without pairs of equal results" if any_equal else "")


def _headline(board: Leaderboard, metric: str) -> str:
    first = board.metrics[0]
    best = board.runs[0].name
    standings = zip(board.runs, first.standings, strict=True)
    tied = [run.name for run, standing in standings if standing.is_tied_with_best][1:]
    what = "arm" if any(run.runs for run in board.runs) else "run"
    judge = f", judge {board.labels.judge!r}" if board.labels.judge else ""
    where = f"{board.dataset} ({queries(first.n)}{judge})"
    leads = f"{counted(len(board.runs), what)} on {where}: {best} leads by {metric}"
    if not tied:
        return f"{leads}, and every other run is worse"
    shown = ", ".join(tied[:3]) + (f" and {len(tied) - 3} more" if len(tied) > 3 else "")
    return f"{leads}; no difference detected to {shown}"


def _slice_table(board: Leaderboard) -> Table:
    """Return the first metric of each run on the groups of each value; few runs have a column each, many a row each."""
    title = f"{familiar_name(board.metrics[0].metric, board.metrics[0].requested_as)} by {board.attribute}"
    cells = [[_slice_cell(standing) for standing in of_slice.standings] for of_slice in board.slices]
    names = [run.name for run in board.runs]
    after = "*: significantly worse than the best there"
    if len(names) <= MOST_COLUMNS:
        heads = [*columns(board.attribute or "", ">n"), *(Column(name, right=True) for name in names)]
        rows: list[list[object]] = [
            [of_slice.value, f"{of_slice.n:,}", *row] for of_slice, row in zip(board.slices, cells, strict=True)
        ]
        return Table(heads, rows, title, after=after)
    heads = [Column("run"), *(Column(f"{of_slice.value} ({of_slice.n:,})", right=True) for of_slice in board.slices)]
    rows = [[name, *(row[place] for row in cells)] for place, name in enumerate(names)]
    return Table(heads, rows, title, after=after)


def _slice_cell(standing: Standing) -> Painted:
    return Painted(
        f"{points(standing.mean)}{' ' if standing.is_tied_with_best else '*'}", "good" if standing.rank == 1 else None
    )


def leaderboard_latex(board: Leaderboard) -> str:
    """Return a table for a paper: booktabs, the best mean bold, the second underlined, letters as superscripts."""
    refuse("leaderboard", {"by": board.attribute, "paper": True})
    n = [str(metric.n) for metric in board.metrics]
    several = "" if len({*n}) == 1 else ", in the order of columns"
    n_queries = f"$n = {', '.join(n) if several else n[0]}$ {units('query')}{several}"
    is_zero = any(note.kind in ("in_no_run", "groups_lacking") and note.command for note in board.notes)
    zero = f" {units('query').capitalize()} missing from a run count as 0." if is_zero else ""
    caption = (
        f"Means on {latex_text(board.dataset)} ({n_queries}). {EMPHASIS} A superscript "
        f"names the runs that a run is significantly better than ({_test(board)}, $p < 0.05$).{zero}"
    )
    return table_latex(leaderboard_table(board), caption)


def suite_tables_said(*tables: SuiteTable) -> Said:
    """Return the output for the tables of a suite, one per metric; CSV has a row per cell."""
    return Said(
        lambda: suite_tables_object(*tables),
        lambda: list(map(suite_table_report, tables)),
        lambda: Table.of(_SUITE, [cell for table in tables for cell in _suite_cells(table)]),
        further={"latex": lambda: "\n".join(map(suite_latex, tables))},
    )


def suite_tables_object(first: SuiteTable, *further: SuiteTable) -> dict[str, Any]:
    """Return the JSON object of a suite's table, with those of further metrics in it."""
    as_json: dict[str, Any] = as_object(first)
    return as_json | ({"further": as_object(further)} if further else {})


_MEAN = paths("mean standard_error df ci p_value")


@shape_of(SuiteTable)
def _table_shape(table: SuiteTable) -> Mapping[str, object]:
    """Return the table with the standing of each system as in CSV."""
    standings = Table.of(STANDING, _suite_lines(table)).objects
    rows = []
    for row, standing in zip(table.rows, standings, strict=True):
        shape = fields_of(row, "standing") | standing
        if row.macro is not None:
            shape |= {name: picked(_MEAN, getattr(row, name)) for name in ("macro", "over_datasets", "micro")}
        rows.append(shape)
    return fields_of(table) | {"rows": rows}


_SUITE = (
    *unseen("system=line.row.system dataset label_set_version metric=line.of.metric"),
    *unseen("run=cell.run run_id=cell.run_id n=cell.n mean=cell.mean macro=line.row.macro.mean"),
    *(_within(column, "line") for column in STANDING),
    *unseen("micro=line.row.micro.mean judged=cell.judged judge"),
)
"""The columns of a system on one dataset, in CSV and frames; the mean is None without a run there."""


def _suite_lines(table: SuiteTable) -> list[_Line]:
    names = [row.system for row in table.rows]
    signs = letters(len(names)) if any(row.standing for row in table.rows) else []
    return [_Line(place, row.standing, names, signs, table, row) for place, row in enumerate(table.rows)]


def _suite_cells(table: SuiteTable) -> list[dict[str, object]]:
    return [
        {"line": line, "cell": cell, "dataset": dataset, "label_set_version": version, "judge": judge}
        for line, row in zip(_suite_lines(table), table.rows, strict=True)
        for dataset, version, judge, cell in zip(table.datasets, table.versions, table.judges, row.cells, strict=True)
    ]


def suite_wide_table(table: SuiteTable) -> Table:
    """Return the table for people: a row per system, a column per dataset."""
    best = table.direction
    means = [
        Column("", name, "mean", of=f"row.cells.{place}.mean", best=best) for place, name in enumerate(table.datasets)
    ]
    heads = [
        Column("", BLANK, "id", of=lambda line: line.signs[line.place] if line.signs else None),
        Column("system", "system", "id", of="row.system"),
        *means,
        Column("macro", "macro", "mean", "each dataset counts once", of="row.macro.mean", best=best),
        *STANDING,
        BETTER_THAN,
        Column("micro", "micro", "mean", "each query counts once", of="row.micro.mean", best=best),
    ]
    return Table.of(heads, _suite_lines(table))


def suite_table_report(table: SuiteTable) -> Report:
    """Return the report of a suite's table."""
    metric = familiar_name(table.metric)
    complete = [row for row in table.rows if row.macro is not None]
    of_means = (
        Column("system", "system", "id"),
        Column("macro", "macro, other queries", "interval", of="macro.ci"),
        Column("over_datasets", "macro, other datasets", "interval", of="over_datasets.ci"),
        Column("micro", "micro, other queries", "interval", of="micro.ci"),
    )
    tables = [suite_wide_table(table), *([Table.of(of_means, complete, "95% intervals")] if complete else [])]
    lacking = len(table.rows) - len(complete)
    legend = [
        f"other {units('query')}: what other {units('query')} of these datasets would give; other datasets: what other "
        "datasets like these would give"
    ]
    if any(row.standing is not None for row in table.rows):
        legend.append("test: paired t-tests for other queries, Holm-corrected over all pairs")
    if lacking:
        legend.append(f"{UNDEFINED}: no run on this dataset, so no mean over the suite ({counted(lacking, 'system')})")
    facts = [
        ("metric", metric),
        ("queries", ", ".join(f"{name} {n:,}" for name, n in zip(table.datasets, _sizes(table), strict=True))),
        ("labels", _versions(table)),
    ]
    return Report(
        _finding(table, complete),
        tables=tables,
        legend=legend,
        styles=["coloured: the best mean of a column"],
        facts=facts,
        notes=[*map(told, table.notes)],
    )


def _finding(table: SuiteTable, complete: Sequence[SuiteRow]) -> str:
    metric = familiar_name(table.metric)
    title = f"{counted(len(table.rows), 'system')} on suite {table.suite} ({counted(len(table.datasets), 'dataset')})"
    if not complete:
        return f"{title}: none has a {metric} on every dataset"
    end = "highest" if table.direction == "higher" else "lowest"
    leads = f"{title}: {complete[0].system} has the {end} macro {metric}"
    tied = [row.system for row in complete[1:] if row.standing is not None and row.standing.is_tied_with_best]
    if complete[0].standing is None:
        return leads
    if not tied:
        return f"{leads}, and every other system is worse"
    return f"{leads}; no difference detected to {', '.join(tied[:3])}" + (
        f" and {len(tied) - 3} more" if len(tied) > 3 else ""
    )


def _versions(table: SuiteTable) -> str:
    versions = [
        None if version is None else f"version {version}" + (f" of judge {judge!r}" if judge else "")
        for version, judge in zip(table.versions, table.judges, strict=True)
    ]
    if len(set(versions)) == 1:
        return f"{versions[0]} of each dataset"
    return ", ".join(f"{name} {version}" for name, version in zip(table.datasets, versions, strict=True) if version)


def _sizes(table: SuiteTable) -> list[int]:
    return [
        max((cell.n for row in table.rows if (cell := row.cells[place]) is not None), default=0)
        for place in range(len(table.datasets))
    ]


def suite_latex(table: SuiteTable) -> str:
    """Return a table for a paper: booktabs, the best mean of each column bold, the second underlined, letters."""
    n = ", ".join(f"{latex_text(name)}: {n}" for name, n in zip(table.datasets, _sizes(table), strict=True))
    caption = (
        f"{latex_text(familiar_name(table.metric))} on suite {latex_text(table.suite)} (queries: {n}). "
        f"{EMPHASIS} Macro: each dataset counts once. A superscript names the systems whose macro mean is "
        "significantly worse (two-sided paired t-test for other queries of these datasets, Holm-corrected over all "
        "pairs, $p < 0.05$)."
    )
    return table_latex(suite_wide_table(table), caption)

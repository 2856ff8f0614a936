"""A leaderboard, of runs or of systems on a suite, for people, for programs and for papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Literal

from ndcg_tracker.compare.say_tables import labels_text
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.leaderboard.decide import Leaderboard, MetricBoard, Standing, SuiteRow, SuiteTable
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.latex import EMPHASIS, latex_mean, latex_table, latex_text, shown_places
from ndcg_tracker.render.report import Column, Report, Table, columns
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.statistics.stratified import Estimate
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import UNDEFINED, counted, interval, percent, percent_span, points

LeaderboardFormat = Literal["text", "json", "markdown", "csv", "latex", "html"]
MOST_LETTERS = 26
MOST_COLUMNS = 8
_TESTS = {
    "t": "two-sided paired t-test, Holm-corrected over all pairs of runs of a metric",
    "permutation": "sign flips, corrected over all pairs of runs of a metric by the largest t",
}
_OF_ARMS = "two-sided t-test over groups and runs, crossed, Holm-corrected over all pairs of arms of a metric"
_ROW = paths(
    "run=run.name run_id=run.run_id dataset=board.dataset label_set_version=board.labels.version metric=of.metric "
    "slice=of.value n=of.n mean=standing.mean ci_low=standing.ci.0 ci_high=standing.ci.1 rank=standing.rank "
    "rank_low=standing.rank_low rank_high=standing.rank_high is_tied_with_best=standing.is_tied_with_best "
    "judged=standing.judged judge=board.labels.judge"
)


def leaderboard_said(board: Leaderboard) -> Said:
    """Return the output for a leaderboard; CSV has a row per metric, slice and run."""
    return Said(
        board,
        lambda: [leaderboard_report(board)],
        lambda: Table.of_rows(leaderboard_rows(board)),
        further={"latex": lambda: leaderboard_latex(board)},
    )


@shape_of(MetricBoard)
def _metric_shape(board: MetricBoard) -> Mapping[str, object]:
    return fields_of(board, "value") if board.value is None else fields_of(board)


@shape_of(Leaderboard)
def _board_shape(board: Leaderboard) -> Mapping[str, object]:
    names = [run.name for run in board.runs]

    def of_metric(metric_board: MetricBoard) -> dict[str, Any]:
        as_json: dict[str, Any] = as_object(metric_board)
        as_json["standings"] = [
            {"run": name, **row, "better_than": [names[place] for place in row["better_than"]]}
            for name, row in zip(names, as_json["standings"], strict=True)
        ]
        return as_json

    hidden = () if board.attribute is not None else ("attribute", "slices")
    unasked = () if board.measures else ("measures",)
    shape = fields_of(board, *hidden, *unasked) | {"metrics": [of_metric(metric) for metric in board.metrics]}
    return shape if hidden else shape | {"slices": [of_metric(of_slice) for of_slice in board.slices]}


def leaderboard_rows(board: Leaderboard) -> list[dict[str, Any]]:
    """Return one row per metric, slice and run, as CSV and frames have it."""
    return [
        {
            **picked(_ROW, {"run": run, "board": board, "of": of_metric, "standing": standing}),
            "n_better_than": len(standing.better_than),
            **{name: numbers[place] for name, numbers in board.measures.items()},
        }
        for of_metric in (*board.metrics, *board.slices)
        for place, (run, standing) in enumerate(zip(board.runs, of_metric.standings, strict=True))
    ]


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


def ranks(standing: Standing) -> str:
    """Return the range of ranks that a run may have.

    >>> ranks(Standing(0.5, None, 1, 1, 3, True, ()))
    '1-3'
    """
    low, high = standing.rank_low, standing.rank_high
    return str(low) if low == high else f"{low}-{high}"


def leaderboard_report(board: Leaderboard) -> Report:
    """Return the report of a leaderboard."""
    first, signs = board.metrics[0], letters(len(board.runs))
    places = [shown_places([standing.mean for standing in each.standings], _ranks(each)) for each in board.metrics]
    names = [familiar_name(metric.metric, metric.requested_as) for metric in board.metrics]
    rows: list[list[object]] = []
    judged = f"judged@{first.cutoff}" if first.cutoff else "judged"
    is_apart = first.judged is not None and first.judged.is_apart
    for place, run in enumerate(board.runs):
        of_first = first.standings[place]
        row: list[object] = [signs[place], Painted(run.name, "bold" if of_first.is_tied_with_best else None)]
        for number, of_metric in enumerate(board.metrics):
            standing = of_metric.standings[place]
            row.append(Painted(points(standing.mean), "good" if places[number][place] == 1 else None))
            row += [interval(standing.ci), ranks(standing)] if number == 0 else []
            row.append(better_than(standing, signs))
        rows.append([*row, *([share_text(of_first.judged)] if is_apart else []), *_numbers(board, place)])
    heads = [*columns("", "run")]
    for number, name in enumerate(names):
        heads += columns(f">{name}", *([">95% interval", ">ranks"] if number == 0 else []))
        heads.append(Column(f"better than by {name}", "better than", is_spare=number > 0))
    heads += columns(*([f">{judged}"] if is_apart else []), *(f">{name}" for name in board.measures))
    tables = [Table(heads, rows, names=(1,))]
    if board.slices:
        tables.append(_slice_table(board))
    numbers = dict.fromkeys(metric.n for metric in board.metrics)
    groups = [f"{metric.n:,} by {name}" for metric, name in zip(board.metrics, names, strict=True)]
    facts = [
        ("labels", labels_text(board.labels)),
        ("groups", ", ".join(groups) if len(numbers) > 1 else " ".join(f"{n:,}" for n in numbers)),
        ("test", f"{_test(board)}; p < 0.05"),
    ]
    if first.judged is not None and not is_apart:
        facts.insert(1, (judged, percent_span(first.judged.least, first.judged.greatest)))
    legend = [
        "ranks: the best is 1 + the number of significantly better runs, the worst all minus the significantly worse; "
        "95% for all at once",
        "better than: the letters of the runs that this run is significantly better than",
    ]
    styles = [f"bold: the best run by {names[0]}, and runs not shown to differ from it; coloured: the best mean"]
    notes = [*map(told, board.notes)]
    return Report(_headline(board, names[0]), tables=tables, legend=legend, styles=styles, facts=facts, notes=notes)


def share_text(share: float | None) -> str:
    """Return which share is judged.

    >>> share_text(0.923), share_text(None)
    ('92.3%', '-')
    """
    return UNDEFINED if share is None else percent(share)


def _test(board: Leaderboard) -> str:
    """Return the test of the pairs; no test applies to runs with equal results."""
    any_equal = any(pair.p_value is None for metric in board.metrics for pair in metric.pairs)
    test = _OF_ARMS if any(run.runs for run in board.runs) else _TESTS[board.test]
    return test + (", without pairs of equal results" if any_equal else "")


def _numbers(board: Leaderboard, place: int) -> list[str]:
    """Return the measures of a run."""
    return [UNDEFINED if numbers[place] is None else f"{numbers[place]:g}" for numbers in board.measures.values()]


def _headline(board: Leaderboard, metric: str) -> str:
    first = board.metrics[0]
    best = board.runs[0].name
    standings = zip(board.runs, first.standings, strict=True)
    tied = [run.name for run, standing in standings if standing.is_tied_with_best][1:]
    what = "arm" if any(run.runs for run in board.runs) else "run"
    leads = f"{counted(len(board.runs), what)} on {board.dataset}: {best} leads by {metric}"
    if not tied:
        return f"{leads}, and no other run is tied with it"
    shown = ", ".join(tied[:3]) + (f" and {len(tied) - 3} more" if len(tied) > 3 else "")
    return f"{leads}; not shown to differ from it: {shown}"


def _slice_table(board: Leaderboard) -> Table:
    """Return the first metric of each run on the groups of each value; few runs have a column each, many a row each."""
    title = f"{familiar_name(board.metrics[0].metric, board.metrics[0].requested_as)} by {board.attribute}"
    cells = [[_slice_cell(standing) for standing in of_slice.standings] for of_slice in board.slices]
    names = [run.name for run in board.runs]
    legend = ["*: significantly worse than the best there"]
    if len(names) <= MOST_COLUMNS:
        heads = [*columns(board.attribute or "", ">n"), *(Column(name, right=True) for name in names)]
        rows: list[list[object]] = [
            [of_slice.value, f"{of_slice.n:,}", *row] for of_slice, row in zip(board.slices, cells, strict=True)
        ]
        return Table(heads, rows, title, legend=legend)
    heads = [Column("run"), *(Column(f"{of_slice.value} ({of_slice.n:,})", right=True) for of_slice in board.slices)]
    rows = [[name, *(row[place] for row in cells)] for place, name in enumerate(names)]
    return Table(heads, rows, title, legend=legend)


def _slice_cell(standing: Standing) -> Painted:
    return Painted(
        f"{points(standing.mean)}{' ' if standing.is_tied_with_best else '*'}", "good" if standing.rank == 1 else None
    )


def leaderboard_latex(board: Leaderboard) -> str:
    """Return a table for a paper: booktabs, the best mean bold, the second underlined, letters as superscripts."""
    if board.attribute is not None:
        what = f"a table for a paper has no slices, but {argument('by', board.attribute)} asks for them"
        raise InputError(what, advice="leave it out, or take another format")
    signs = letters(len(board.runs))
    names = [latex_text(familiar_name(metric.metric, metric.requested_as)) for metric in board.metrics]
    places = [shown_places([standing.mean for standing in each.standings], _ranks(each)) for each in board.metrics]
    lines = []
    for place, run in enumerate(board.runs):
        cells = []
        for number, metric in enumerate(board.metrics):
            mean = latex_mean(metric.standings[place].mean, places[number][place])
            cells.append(mean + superscript(metric.standings[place], signs))
        cells += _numbers(board, place)
        lines.append(rf"({signs[place]}) {latex_text(run.name)} & {' & '.join(cells)} \\")
    n = [str(metric.n) for metric in board.metrics]
    n_queries = f"$n = {n[0]}$ queries" if len({*n}) == 1 else f"$n = {', '.join(n)}$ queries, in the order of columns"
    is_zero = any(note.kind in ("in_no_run", "groups_lacking") and note.command for note in board.notes)
    zero = " Queries missing from a run count as 0." if is_zero else ""
    caption = (
        f"Means on {latex_text(board.dataset)} ({n_queries}). {EMPHASIS} A superscript "
        f"names the runs that a run is significantly better than ({_test(board)}, $p < 0.05$).{zero}"
    )
    aligned = "l" + "l" * len(board.metrics) + "r" * len(board.measures)
    return latex_table(caption, aligned, ["Run", *names, *map(latex_text, board.measures)], lines)


def superscript(standing: Standing, signs: Sequence[str]) -> str:
    """Return the letters of the runs that a run is significantly better than, as a superscript.

    >>> superscript(Standing(0.5, None, 1, 1, 1, True, (1, 2, 3, 5)), "abcdef")
    '\\\\textsuperscript{b--d,f}'
    >>> superscript(Standing(0.5, None, 1, 1, 1, True, (1, 2, 4)), "abcdef")
    '\\\\textsuperscript{b,c,e}'
    """
    beaten = better_than(standing, signs).replace(" ", ",").replace("-", "--")
    return rf"\textsuperscript{{{beaten}}}" if beaten else ""


def _ranks(board: MetricBoard) -> list[int]:
    return [standing.rank for standing in board.standings]


def suite_tables_said(*tables: SuiteTable) -> Said:
    """Return the output for the tables of a suite, one per metric; CSV has a row per cell."""
    return Said(
        lambda: suite_tables_object(*tables),
        lambda: list(map(suite_table_report, tables)),
        lambda: Table.of_rows([row for table in tables for row in suite_rows(table)]),
        further={"latex": lambda: "\n".join(map(suite_latex, tables))},
    )


def suite_tables_object(first: SuiteTable, *further: SuiteTable) -> dict[str, Any]:
    """Return the JSON object of a suite's table, with those of further metrics in it."""
    as_json: dict[str, Any] = as_object(first)
    return as_json | ({"further": as_object(further)} if further else {})


@shape_of(SuiteTable)
def _table_shape(table: SuiteTable) -> Mapping[str, object]:
    """Return the table with the names of the systems that each system is better than."""
    rows = []
    for row in table.rows:
        shape = as_object(row)
        if row.standing is not None:
            names = [table.rows[place].system for place in row.standing.better_than]
            shape["standing"] = {**shape["standing"], "better_than": names}
        rows.append(shape)
    return fields_of(table) | {"rows": rows}


def suite_rows(table: SuiteTable) -> list[dict[str, Any]]:
    """Return one row per system and dataset, as CSV and frames have it; the mean is None without a run there."""
    return [
        {
            "system": row.system,
            "dataset": dataset,
            "label_set_version": version,
            "metric": table.metric,
            "run": None if cell is None else cell.run,
            "run_id": None if cell is None else cell.run_id,
            "n": None if cell is None else cell.n,
            "mean": None if cell is None else cell.mean,
            "macro": None if row.macro is None else row.macro.mean,
            "rank_low": None if row.standing is None else row.standing.rank_low,
            "rank_high": None if row.standing is None else row.standing.rank_high,
            "micro": None if row.micro is None else row.micro.mean,
            "judged": None if cell is None else cell.judged,
            "judge": judge,
        }
        for row in table.rows
        for dataset, version, judge, cell in zip(table.datasets, table.versions, table.judges, row.cells, strict=True)
    ]


def suite_table_report(table: SuiteTable) -> Report:
    """Return the report of a suite's table."""
    from ndcg_tracker.compare.say_suite import OTHER_DATASETS, OTHER_QUERIES, suite_notes

    metric = familiar_name(table.metric)
    places_of = _places(table)
    has_places = any(row.standing is not None for row in table.rows)
    signs = letters(len(table.rows))
    rows: list[list[object]] = []
    for number, row in enumerate(table.rows):
        cells = [
            UNDEFINED if cell is None else Painted(points(cell.mean), "bold" if place == 1 else None)
            for cell, place in zip(row.cells, places_of[number], strict=True)
        ]
        standing = row.standing
        place = (
            [] if not has_places else ["", ""] if standing is None else [ranks(standing), better_than(standing, signs)]
        )
        sign = [signs[number]] if has_places else []
        rows.append([*sign, row.system, *cells, _mean(row.macro), *place, _mean(row.micro)])
    heads = [
        *columns(*([""] if has_places else []), "system"),
        *(Column(name, right=True) for name in table.datasets),
        *columns(">macro", *([">ranks", "better than"] if has_places else []), ">micro"),
    ]
    complete = [row for row in table.rows if row.macro is not None]
    intervals: list[list[object]] = [
        [row.system, _interval(row.macro), _interval(row.over_datasets), _interval(row.micro)] for row in complete
    ]
    tables = [Table(heads, rows, names=(int(has_places),))]
    if intervals:
        of_means = columns("system", ">macro, other queries", ">macro, other datasets", ">micro, other queries")
        tables.append(Table(of_means, intervals, "95% intervals", names=(0,)))
    lacking = len(table.rows) - len(complete)
    legend = [
        "macro: each dataset counts once; micro: each query counts once",
        f"other queries: what {OTHER_QUERIES} would give; other datasets: what {OTHER_DATASETS} would give",
    ]
    if has_places:
        legend += [
            "ranks: from 1 + the number of systems with a significantly better macro mean to all minus those with a "
            "significantly worse one",
            "better than: the letters of the systems that this system is significantly better than",
            "test: paired t-tests for other queries, Holm-corrected over all pairs",
        ]
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
        styles=["bold: the best mean on each dataset"],
        facts=facts,
        notes=suite_notes(table.notes),
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
        return f"{leads}, and no other system is tied with it"
    return f"{leads}; not shown to differ from it: {', '.join(tied[:3])}" + (
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


def _places(table: SuiteTable) -> list[list[int]]:
    """Return the place of each cell among those of its dataset, by the digits shown; 0 if there is no cell."""
    sign = -1.0 if table.direction == "higher" else 1.0
    places = [[0] * len(table.datasets) for _ in table.rows]
    for place in range(len(table.datasets)):
        means = {number: cell.mean for number, row in enumerate(table.rows) if (cell := row.cells[place]) is not None}
        ranks = [1 + sum(sign * other < sign * mean for other in means.values()) for mean in means.values()]
        for number, shown in zip(means, shown_places(list(means.values()), ranks), strict=True):
            places[number][place] = shown
    return places


def _sizes(table: SuiteTable) -> list[int]:
    return [
        max((cell.n for row in table.rows if (cell := row.cells[place]) is not None), default=0)
        for place in range(len(table.datasets))
    ]


def suite_latex(table: SuiteTable) -> str:
    """Return a table for a paper: booktabs, the best mean of each column bold, the second underlined, letters."""
    signs, places_of = letters(len(table.rows)), _places(table)
    ranked = [
        (row.system, row.macro.mean, standing.rank) for row in table.rows if row.macro and (standing := row.standing)
    ]
    macro_places = shown_places([mean for _, mean, _ in ranked], [rank for _, _, rank in ranked])
    macro_place_of = {system: place for (system, _, _), place in zip(ranked, macro_places, strict=True)}
    lines = []
    for number, row in enumerate(table.rows):
        cells = [
            "--" if cell is None else latex_mean(cell.mean, place)
            for cell, place in zip(row.cells, places_of[number], strict=True)
        ]
        standing = row.standing
        macro = "--" if row.macro is None else latex_mean(row.macro.mean, macro_place_of.get(row.system, 0))
        cells.append(macro if standing is None else macro + superscript(standing, signs))
        sign = f"({signs[number]}) " if any(other.standing is not None for other in table.rows) else ""
        lines.append(rf"{sign}{latex_text(row.system)} & {' & '.join(cells)} \\")
    n = ", ".join(f"{latex_text(name)}: {n}" for name, n in zip(table.datasets, _sizes(table), strict=True))
    caption = (
        f"{latex_text(familiar_name(table.metric))} on suite {latex_text(table.suite)} (queries: {n}). "
        f"{EMPHASIS} Macro: each dataset counts once. A superscript names the systems whose macro mean is "
        "significantly worse (two-sided paired t-test for other queries of these datasets, Holm-corrected over all "
        "pairs, $p < 0.05$)."
    )
    heads = ["System", *map(latex_text, table.datasets), "Macro"]
    return latex_table(caption, "l" + "r" * len(table.datasets) + "l", heads, lines)


def _mean(estimate: Estimate | None) -> str:
    return UNDEFINED if estimate is None else points(estimate.mean)


def _interval(estimate: Estimate | None) -> str:
    return UNDEFINED if estimate is None else interval(estimate.ci)

"""Systems on the datasets of a suite as a table for people, for papers and as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ndcg_tracker.compare.say_suite import OTHER_DATASETS, OTHER_QUERIES, suite_notes
from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.questions.leaderboard.decide_suite import SuiteRow, SuiteTable
from ndcg_tracker.questions.leaderboard.say import (
    better_than,
    latex_mean,
    latex_table,
    latex_text,
    letters,
    ranks,
    shown_places,
    superscript,
)
from ndcg_tracker.render.formats import Said
from ndcg_tracker.render.report import Column, Report, Table, columns
from ndcg_tracker.render.rows import as_object, fields_of, shape_of
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.statistics.stratified import Estimate
from ndcg_tracker.words.numbers import UNDEFINED, counted, interval, points


def suite_tables_said(*tables: SuiteTable) -> Said:
    """Return what there is to say of the tables of a suite, one per metric; CSV has a row per cell."""
    return Said(
        lambda: suite_tables_object(*tables),
        lambda: list(map(suite_table_report, tables)),
        lambda: [row for table in tables for row in suite_rows(table)],
        further={"latex": lambda: "\n".join(map(suite_latex, tables))},
    )


def suite_tables_object(first: SuiteTable, *further: SuiteTable) -> dict[str, Any]:
    """Return the JSON object of a suite's table; those of further metrics stand in it."""
    found: dict[str, Any] = as_object(first)
    return found | ({"further": as_object(further)} if further else {})


@shape_of(SuiteTable)
def _table_shape(table: SuiteTable) -> Mapping[str, object]:
    """Return the table with the names of the systems that each is better than."""
    rows = []
    for row in table.rows:
        found = as_object(row)
        if row.standing is not None:
            names = [table.rows[place].system for place in row.standing.better_than]
            found["standing"] = {**found["standing"], "better_than": names}
        rows.append(found)
    return fields_of(table) | {"rows": rows}


def suite_rows(table: SuiteTable) -> list[dict[str, Any]]:
    """Return one row per system and dataset, as CSV and frames have it; no mean where the system has no run there."""
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
        }
        for row in table.rows
        for dataset, version, cell in zip(table.datasets, table.versions, row.cells, strict=True)
    ]


def suite_table_report(table: SuiteTable) -> Report:
    """Return the report of a suite's table."""
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
        one = row.standing
        place = [] if not has_places else ["", ""] if one is None else [ranks(one), better_than(one, signs)]
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
        legend.append(
            "ranks: 1 + how many systems have a significantly better macro mean, to all less those that have a worse "
            "one; better than: their letters; paired t-tests for other queries, Holm-corrected over all pairs"
        )
    if lacking:
        legend.append(f"{UNDEFINED}: no run there, so no mean over the suite ({counted(lacking, 'system')})")
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
        return f"{leads}, and no other is tied with it"
    return f"{leads}; not shown to differ from it: {', '.join(tied[:3])}" + (
        f" and {len(tied) - 3} more" if len(tied) > 3 else ""
    )


def _versions(table: SuiteTable) -> str:
    if len(set(table.versions)) == 1:
        return f"version {table.versions[0]} of each dataset"
    each = [f"{name} version {v}" for name, v in zip(table.datasets, table.versions, strict=True) if v is not None]
    return ", ".join(each)


def _places(table: SuiteTable) -> list[list[int]]:
    """Return the place of each cell among those of its dataset as they are shown, 0 where there is none."""
    sign = -1.0 if table.direction == "higher" else 1.0
    found = [[0] * len(table.datasets) for _ in table.rows]
    for place in range(len(table.datasets)):
        means = {number: cell.mean for number, row in enumerate(table.rows) if (cell := row.cells[place]) is not None}
        ranks = [1 + sum(sign * other < sign * mean for other in means.values()) for mean in means.values()]
        for number, shown in zip(means, shown_places(list(means.values()), ranks), strict=True):
            found[number][place] = shown
    return found


def _sizes(table: SuiteTable) -> list[int]:
    return [
        max((cell.n for row in table.rows if (cell := row.cells[place]) is not None), default=0)
        for place in range(len(table.datasets))
    ]


def suite_latex(table: SuiteTable) -> str:
    """Return a table for a paper: booktabs, the best mean of each column bold, the second underlined, letters."""
    signs, places_of = letters(len(table.rows)), _places(table)
    ranked = [(row.system, row.macro.mean, one.rank) for row in table.rows if row.macro and (one := row.standing)]
    macro_places = shown_places([mean for _, mean, _ in ranked], [rank for _, _, rank in ranked])
    macro_place_of = {system: place for (system, _, _), place in zip(ranked, macro_places, strict=True)}
    lines = []
    for number, row in enumerate(table.rows):
        cells = [
            "--" if cell is None else latex_mean(cell.mean, place)
            for cell, place in zip(row.cells, places_of[number], strict=True)
        ]
        one = row.standing
        macro = "--" if row.macro is None else latex_mean(row.macro.mean, macro_place_of.get(row.system, 0))
        cells.append(macro if one is None else macro + superscript(one, signs))
        sign = f"({signs[number]}) " if any(other.standing is not None for other in table.rows) else ""
        lines.append(rf"{sign}{latex_text(row.system)} & {' & '.join(cells)} \\")
    n = ", ".join(f"{latex_text(name)}: {n}" for name, n in zip(table.datasets, _sizes(table), strict=True))
    caption = (
        f"{latex_text(familiar_name(table.metric))} on suite {latex_text(table.suite)} (queries: {n}). Best in bold, "
        "second underlined. Macro: each dataset counts once. A superscript names the systems whose macro mean is "
        "significantly worse (two-sided paired t-test for other queries of these datasets, Holm-corrected over all "
        "pairs, $p < 0.05$)."
    )
    heads = ["System", *map(latex_text, table.datasets), "Macro"]
    return latex_table(caption, "l" + "r" * len(table.datasets) + "l", heads, lines)


def _mean(one: Estimate | None) -> str:
    return UNDEFINED if one is None else points(one.mean)


def _interval(one: Estimate | None) -> str:
    return UNDEFINED if one is None else interval(one.ci)

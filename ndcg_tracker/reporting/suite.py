"""Systems on the datasets of a suite, and two of them compared, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.comparison.suite import SuiteComparison, SuiteNote, SuiteTable
from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.reporting.csv import csv_text
from ndcg_tracker.reporting.formats import reports_as
from ndcg_tracker.reporting.groups import delta_cell
from ndcg_tracker.reporting.json import json_text
from ndcg_tracker.reporting.notes import Told, told
from ndcg_tracker.reporting.numbers import UNDEFINED, counted, interval, p_text, points
from ndcg_tracker.reporting.report import Column, Format, Report, Table, columns
from ndcg_tracker.reporting.rows import as_object, paths, picked
from ndcg_tracker.reporting.terminal import Painted
from ndcg_tracker.statistics.stratified import Estimate

_DELTA_COLUMNS = paths(
    "dataset label_set_version baseline candidate n baseline_mean candidate_mean delta ci_low=ci.0 ci_high=ci.1 "
    "p_value p_adjusted verdict wins ties losses"
)
_VERDICTS = {
    "improved": "improved by {}",
    "regressed": "regressed by {}",
    "no_difference_detected": "no difference detected ({})",
    "identical": "identical in every group",
}
_OTHER_QUERIES = "other queries of these datasets"
_OTHER_DATASETS = "other datasets like these"


def suite_table_as(format: Format, table: SuiteTable, *, color: bool = False) -> str:
    """Return the table of a suite in a format, with a line end; CSV has a row per system and dataset."""
    if format == "json":
        return json_text(as_object(table))
    if format == "csv":
        rows = suite_rows(table)
        return csv_text(list(rows[0]), [list(row.values()) for row in rows])
    return reports_as(format, [suite_table_report(table)], color=color)


def suite_comparison_as(format: Format, found: SuiteComparison, *, color: bool = False) -> str:
    """Return a comparison on a suite in a format, with a line end; CSV has a row per dataset."""
    if format == "json":
        return json_text(as_object(found))
    if format == "csv":
        rows = delta_rows(found)
        return csv_text(list(rows[0]), [list(row.values()) for row in rows])
    return reports_as(format, [suite_comparison_report(found)], color=color)


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
            "micro": None if row.micro is None else row.micro.mean,
        }
        for row in table.rows
        for dataset, version, cell in zip(table.datasets, table.versions, row.cells, strict=True)
    ]


def delta_rows(found: SuiteComparison) -> list[dict[str, Any]]:
    """Return one row per dataset, as CSV and frames have it."""
    return [picked(_DELTA_COLUMNS, as_object(one)) for one in found.deltas]


def suite_table_report(table: SuiteTable) -> Report:
    """Return the report of a suite's table."""
    metric = familiar_name(table.metric)
    best = {
        place: max((row.cells[place].mean for row in table.rows if row.cells[place] is not None), default=None)  # type: ignore[union-attr]
        for place in range(len(table.datasets))
    }
    rows: list[list[object]] = []
    for row in table.rows:
        cells = [
            UNDEFINED if cell is None else Painted(points(cell.mean), "bold" if cell.mean == best[place] else None)
            for place, cell in enumerate(row.cells)
        ]
        rows.append([row.system, *cells, _mean(row.macro), _mean(row.micro)])
    heads = [Column("system"), *(Column(name, right=True) for name in table.datasets), *columns(">macro", ">micro")]
    complete = [row for row in table.rows if row.macro is not None]
    intervals: list[list[object]] = [
        [row.system, _interval(row.macro), _interval(row.over_datasets), _interval(row.micro)] for row in complete
    ]
    tables = [Table(heads, rows, names=(0,))]
    if intervals:
        of_means = columns("system", ">macro, other queries", ">macro, other datasets", ">micro, other queries")
        tables.append(Table(of_means, intervals, "95% intervals", names=(0,)))
    lacking = len(table.rows) - len(complete)
    title = f"{counted(len(table.rows), 'system')} on suite {table.suite} ({counted(len(table.datasets), 'dataset')})"
    lead = f": {complete[0].system} leads by macro {metric}" if complete else f": none has a {metric} on every dataset"
    legend = [
        "macro: each dataset counts once; micro: each query counts once",
        f"other queries: what {_OTHER_QUERIES} would give; other datasets: what {_OTHER_DATASETS} would give",
    ]
    if lacking:
        legend.append(f"{UNDEFINED}: no run there, so no mean over the suite ({counted(lacking, 'system')})")
    sizes = [max((row.cells[place].n for row in table.rows if row.cells[place]), default=0) for place in best]  # type: ignore[union-attr]
    facts = [
        ("metric", metric),
        ("queries", ", ".join(f"{name} {n:,}" for name, n in zip(table.datasets, sizes, strict=True))),
    ]
    return Report(title + lead, tables=tables, legend=legend, facts=facts, notes=suite_notes(table.notes))


def suite_comparison_report(found: SuiteComparison) -> Report:
    """Return the report of a comparison on a suite."""
    metric = familiar_name(found.metric)
    together: list[list[object]] = [
        [name, question, points(one.mean, signed=True), interval(one.ci, signed=True), p_text(one.p_value)]
        for name, question, one in (
            ("macro", _OTHER_QUERIES, found.macro),
            ("macro", _OTHER_DATASETS, found.over_datasets),
            ("micro", _OTHER_QUERIES, found.micro),
        )
    ]
    n, of = len(found.deltas), len(found.deltas) + len(found.missing)
    where = f"suite {found.suite}" if n == of else f"{n} of the {of} datasets of suite {found.suite}"
    size = points(found.macro.mean, signed=found.verdict == "no_difference_detected").removeprefix("-")
    if found.verdict == "no_difference_detected":
        size = points(found.macro.mean, signed=True)
    verdict = _VERDICTS[found.verdict].format(size)
    facts = [("no run of both on", ", ".join(found.missing))] if found.missing else []
    return Report(
        f"{found.candidate} against {found.baseline} on {where}: macro {metric} {verdict}",
        tables=[
            delta_table(found),
            Table(columns("mean", "generalizes to", ">delta", ">95% interval", ">p"), together, "all datasets"),
        ],
        legend=[
            "macro: each dataset counts once, the verdict rests on its first row; micro: each query counts once",
        ],
        facts=facts,
        notes=suite_notes(found.notes),
    )


def delta_table(found: SuiteComparison) -> Table:
    """Return the table of the comparisons on each dataset."""
    rows: list[list[object]] = [
        [
            one.dataset,
            f"{one.n:,}",
            points(one.baseline_mean),
            points(one.candidate_mean),
            delta_cell(one.delta, one.verdict),
            interval(one.ci, signed=True),
            p_text(one.p_adjusted),
            f"{one.wins:,}/{one.ties:,}/{one.losses:,}",
        ]
        for one in found.deltas
    ]
    heads = columns("dataset", ">n", ">baseline", ">candidate", ">delta", ">95% interval", ">p", ">w/t/l")
    legend = ["delta: candidate - baseline, in absolute points; p: paired t-test, Holm-corrected over the datasets"]
    return Table(heads, rows, names=(0,), legend=legend)


def suite_notes(notes: Sequence[SuiteNote]) -> list[Told]:
    """Return what else to know of single datasets."""
    return [replace(told(one.note), sentence=f"{one.dataset}: {told(one.note).sentence}") for one in notes]


def _mean(one: Estimate | None) -> str:
    return UNDEFINED if one is None else points(one.mean)


def _interval(one: Estimate | None) -> str:
    return UNDEFINED if one is None else interval(one.ci)

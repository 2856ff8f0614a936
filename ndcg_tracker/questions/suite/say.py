"""Systems on the datasets of a suite, two of them compared, and a gate's decision: for people, programs and CI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.chart import Bar, forest
from ndcg_tracker.compare.say_groups import delta_cell
from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.metrics.language.agreement import familiar_name
from ndcg_tracker.questions.gate.say import (
    STYLES,
    Outcome,
    Sides,
    bounds_in_words,
    by_t_alone,
    decision_properties,
    junit_document,
    ordinal,
    reason,
    slice_table,
    to_decide,
)
from ndcg_tracker.questions.leaderboard.say import (
    LeaderboardFormat,
    better_than,
    latex_mean,
    latex_table,
    latex_text,
    letters,
    ranks,
    shown_places,
    superscript,
)
from ndcg_tracker.questions.suite.decide import SuiteComparison, SuiteGated, SuiteNote, SuiteRow, SuiteTable, verdict_of
from ndcg_tracker.render.csv import csv_text
from ndcg_tracker.render.formats import reports_as
from ndcg_tracker.render.html import reports_html
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import Column, Format, Report, Table, columns
from ndcg_tracker.render.rows import as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.render.theme import Spec
from ndcg_tracker.statistics.stratified import Estimate
from ndcg_tracker.words.notes import Told, sentence, told
from ndcg_tracker.words.numbers import UNDEFINED, counted, interval, p_text, points

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


def suite_table_as(format: LeaderboardFormat, table: SuiteTable, *, color: bool = False) -> str:
    """Return the table of a suite in a format, with a line end; CSV has a row per system and dataset."""
    if format == "json":
        return json_text(as_object(table))
    if format == "csv":
        rows = suite_rows(table)
        return csv_text(list(rows[0]), [list(row.values()) for row in rows])
    if format == "latex":
        return suite_latex(table)
    if format == "html":
        return reports_html([suite_table_report(table)]) + "\n"
    return reports_as(format, [suite_table_report(table)], color=color)


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
            "rank_low": None if row.standing is None else row.standing.rank_low,
            "rank_high": None if row.standing is None else row.standing.rank_high,
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
        f"other queries: what {_OTHER_QUERIES} would give; other datasets: what {_OTHER_DATASETS} would give",
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


_SENTENCES = {
    "pass": "{candidate} may replace {baseline} on suite {suite}",
    "fail": "{candidate} must not replace {baseline} on suite {suite}",
    "inconclusive": "not known whether {candidate} may replace {baseline} on suite {suite}",
}
_KEYS = paths("alpha_budget decision_id decision_number=number acknowledged=acknowledgement")
_ROW = paths(
    "decision reason suite baseline candidate metric margin n delta lower lower_method upper upper_method pass_level "
    "fail_alpha low_information decision_id decision_number acknowledged_by=acknowledged.by "
    "acknowledged_reason=acknowledged.reason"
)


def suite_gate_as(format: Format, gated: SuiteGated, *, color: bool = False, spelled: Spelling = in_python) -> str:
    """Return a decision on a suite in a format, with a line end; ``spelled``: how arguments are spelled for people."""
    if format == "json":
        return json_text(as_object(gated))
    if format == "csv":
        row = suite_gate_row(gated)
        return csv_text(list(row), [list(row.values())])
    return reports_as(format, [suite_gate_report(gated, spelled)], color=color)


def suite_gate_row(gated: SuiteGated) -> dict[str, Any]:
    """Return one row: both systems, the metric, and the decision with its numbers."""
    return picked(_ROW, as_object(gated))


@shape_of(SuiteGated)
def _shape(gated: SuiteGated) -> Mapping[str, object]:
    found: dict[str, object] = as_object(gated.comparison) | as_object(gated.decision)
    return found | picked(_KEYS, gated)


def suite_gate_report(gated: SuiteGated, spelled: Spelling = in_python) -> Report:
    """Return the report of a decision on a suite; ``spelled``: how arguments are spelled."""
    comparison, decision = gated.comparison, gated.decision
    finding = _SENTENCES[decision.decision].format(
        candidate=comparison.candidate, baseline=comparison.baseline, suite=comparison.suite
    )
    why, slices = reason(decision), decision.slices
    tables = [delta_table(comparison)]
    if slices is not None and slices.rows:
        tables.append(slice_table(slices, Sides(decision), "datasets"))
    low = decision.low_information
    return Report(
        f"{finding}, but it was overridden" if gated.acknowledgement is not None else finding,
        tables=tables,
        verdict=Painted(decision.decision.upper(), STYLES[decision.decision]),
        sentences=[why[:1].upper() + why[1:]],
        facts=_facts(gated),
        notes=[*([] if low is None else [Told("warning", sentence(low))]), *suite_notes(comparison.notes)],
    )


def _facts(gated: SuiteGated) -> list[tuple[str, str]]:
    comparison, decision = gated.comparison, gated.decision
    baseline = sum(one.baseline_mean or 0.0 for one in comparison.deltas) / len(comparison.deltas)
    candidate = sum(one.candidate_mean or 0.0 for one in comparison.deltas) / len(comparison.deltas)
    pairs = [
        (f"macro {familiar_name(comparison.metric)}", f"baseline {points(baseline)}, candidate {points(candidate)}"),
        ("delta", ", ".join([points(decision.delta, signed=True), *bounds_in_words(decision)])),
        *by_t_alone(decision),
        ("margin", points(decision.margin)),
        ("queries", f"{decision.n:,} of {counted(len(comparison.deltas), 'dataset')}, each of which counts once"),
    ]
    if gated.alpha_budget is not None and decision.fail_alpha is not None:
        spent = f"{decision.fail_alpha:.3g} of {gated.alpha_budget:g}, for the {ordinal(gated.number)} decision"
        pairs.append(("alpha", f"{spent} of this gate"))
    if to_decide(decision):
        pairs.append(("to decide", to_decide(decision)))
    if gated.decision_id is None:
        pairs.append(("decision", "not recorded (dry run)"))
    else:
        pairs.append(("decision", f"the {ordinal(gated.number)} of this gate (decision_id {gated.decision_id})"))
    if gated.acknowledgement is not None:
        pairs.append(("overridden", f"by {gated.acknowledgement.by}: {gated.acknowledgement.reason}"))
    return pairs


def suite_gate_junit(gated: SuiteGated, outcome: Outcome, spelled: Spelling = in_python) -> str:
    """Return the XML document of a JUnit report with the gate as its one test case; see ``gate.gate_junit``."""
    comparison = gated.comparison
    name = f"macro {familiar_name(comparison.metric)}: {comparison.candidate} against {comparison.baseline}"
    properties = decision_properties(gated.decision, gated.decision_id, gated.acknowledgement)
    text = suite_gate_as("text", gated, spelled=spelled)
    return junit_document((f"ndcg-track.suite.{comparison.suite}", name), gated.decision, text, properties, outcome)


def suite_forest(found: SuiteComparison) -> Spec:
    """Return the difference on each dataset with its interval, then those of all datasets together."""
    bars = [
        Bar(one.dataset, None, one.delta, one.ci, one.verdict, one.p_adjusted, one.n)
        for one in found.deltas
        if one.delta is not None
    ]
    n = sum(bar.n for bar in bars)
    for name, one in (
        ("macro, other queries", found.macro),
        ("macro, other datasets", found.over_datasets),
        ("micro, other queries", found.micro),
    ):
        verdict = verdict_of(one.mean, one.p_value, found.direction)
        bars.append(Bar(name, None, one.mean, one.ci, verdict, one.p_value, n))
    title = f"{found.candidate} against {found.baseline} on suite {found.suite}: {familiar_name(found.metric)}"
    return forest(bars, title)

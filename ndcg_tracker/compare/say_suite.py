"""Systems on the datasets of a suite as a report, as rows and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.chart import Bar, forest
from ndcg_tracker.compare.decide_suite import SuiteComparison, SuiteDelta, SuiteNote, verdict_of
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_reports, interval_name, metric_footnotes, test_name
from ndcg_tracker.compare.say_tables import delta_cell, in_neither
from ndcg_tracker.errors import Spelling, argument, in_python, worded
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Report, Table, columns, marks
from ndcg_tracker.render.theme import Spec
from ndcg_tracker.words.notes import Told, told
from ndcg_tracker.words.numbers import counted, interval, p_text, points

OTHER_QUERIES = "other queries of these datasets"
OTHER_DATASETS = "other datasets like these"
_DELTA_COLUMNS = paths(
    "dataset label_set_version baseline candidate n baseline_mean candidate_mean delta ci_low=ci.0 ci_high=ci.1 "
    "p_value p_adjusted verdict wins ties losses low_information metric"
)
_VERDICTS = {
    "improved": "improved by {}",
    "regressed": "regressed by {}",
    "no_difference_detected": "no difference detected ({})",
    "identical": "identical in every group",
}


def suite_comparison_said(
    *comparisons: SuiteComparison,
    on_datasets: Sequence[Comparison] = (),
    spelled: Spelling = in_python,
    details: bool = False,
) -> Said:
    """Return what there is to say of comparisons on a suite; CSV has a row per dataset.

    ``on_datasets`` and ``details``: the comparisons on each dataset, and whether to show them as well.
    """

    def value() -> dict[str, Any]:
        found = suite_comparison_object(*comparisons)
        return found | {"on_datasets": on_datasets} if details else found

    return Said(
        value,
        lambda: suite_comparison_reports(*comparisons, on_datasets=on_datasets, spelled=spelled, details=details),
        lambda: [row for one in comparisons for row in delta_rows(one)],
    )


def suite_comparison_object(first: SuiteComparison, *further: SuiteComparison) -> dict[str, Any]:
    """Return the JSON object of a comparison on a suite; those of further candidates and metrics stand in it."""
    found: dict[str, Any] = as_object(first)
    return found | ({"further": as_object(further)} if further else {})


def delta_rows(found: SuiteComparison) -> list[dict[str, Any]]:
    """Return one row per dataset, as CSV and frames have it."""
    return [picked(_DELTA_COLUMNS, as_object(one) | {"metric": found.metric}) for one in found.deltas]


@shape_of(SuiteDelta)
def _delta_shape(delta: SuiteDelta) -> Mapping[str, object]:
    return fields_of(delta, "metric")


@shape_of(SuiteComparison)
def _comparison_shape(found: SuiteComparison) -> Mapping[str, object]:
    return fields_of(found, "information") | {"low_information": found.has_low_information}


def suite_comparison_reports(
    *comparisons: SuiteComparison,
    on_datasets: Sequence[Comparison] = (),
    spelled: Spelling = in_python,
    details: bool = False,
) -> list[Report]:
    """Return a report per candidate and metric; of several, one before them; with ``details`` one per dataset too."""
    reports = [suite_comparison_report(one, spelled) for one in comparisons]
    if len(reports) > 1:
        overview = _overview(comparisons)
        if len({one.candidate for one in comparisons}) > 1 and not details:
            notes = dict.fromkeys(note for report in reports for note in report.notes)
            more = worded(f"{argument('details')}: the tables of each candidate", spelled)
            facts = [(name, f"{one.candidate}: {value}") for one in comparisons for name, value in _facts(one, spelled)]
            legend = [*overview.legend, more]
            facts = list(dict.fromkeys(facts))
            return [replace(overview, legend=legend, facts=facts, notes=list(notes), is_overview=False)]
        reports = [overview, *reports]
    if details:
        reports += [report for one in on_datasets for report in comparison_reports(one, spelled=spelled)]
    return reports


def _overview(comparisons: Sequence[SuiteComparison]) -> Report:
    """Return the verdict on every candidate and metric."""
    first, metrics = comparisons[0], dict.fromkeys(one.metric for one in comparisons)
    rows: list[list[object]] = [
        [
            one.candidate,
            familiar_name(one.metric),
            one.verdict.replace("_", " ") + (" (low information)" if one.has_low_information else ""),
            delta_cell(one.macro.mean, one.verdict),
            interval(one.macro.ci, signed=True),
            p_text(one.p_adjusted),
        ]
        for one in comparisons
    ]
    n = len(dict.fromkeys(one.candidate for one in comparisons))
    of = f"{counted(n, 'candidate')} against {first.baseline} on suite {first.suite}"
    return Report(
        of if n > 1 else f"{of}: {counted(len(metrics), 'metric')}",
        tables=[
            Table(columns("system", "metric", "verdict", ">macro delta", ">95% interval", ">p"), rows, names=(0, 1))
        ],
        legend=[
            f"delta: candidate - baseline; p: t-test of the macro mean, Holm-corrected over {len(rows)} tests",
            "macro: each dataset counts once",
        ],
        is_overview=True,
    )


def suite_comparison_report(found: SuiteComparison, spelled: Spelling = in_python) -> Report:
    """Return the report of a comparison on a suite."""
    metric = familiar_name(found.metric)
    together: list[list[object]] = [
        [name, question, points(one.mean, signed=True), interval(one.ci, signed=True), p_text(one.p_value)]
        for name, question, one in (
            ("macro", OTHER_QUERIES, found.macro),
            ("macro", OTHER_DATASETS, found.over_datasets),
            ("micro", OTHER_QUERIES, found.micro),
        )
    ]
    n, of = len(found.deltas), len(found.deltas) + len(found.missing)
    where = f"suite {found.suite}" if n == of else f"{n} of the {of} datasets of suite {found.suite}"
    is_open = found.verdict == "no_difference_detected"
    size = points(found.macro.mean, signed=True) if is_open else points(found.macro.mean).removeprefix("-")
    few = ("; low information" if is_open else "") if found.has_low_information else ""
    verdict = _VERDICTS[found.verdict].format(size + few)
    if found.has_low_information and not is_open:
        verdict += " (low information: not a safe verdict)"
    facts = _facts(found, spelled)
    if found.p_adjusted != found.macro.p_value:
        told_p = f"p {p_text(found.p_adjusted)}, Holm-corrected over all metrics and candidates"
        facts.insert(0, ("verdict", f"rests on {told_p}"))
    return Report(
        f"{found.candidate} against {found.baseline} on {where}: macro {metric} {verdict}",
        tables=[
            delta_table(found),
            Table(columns("mean", "generalizes to", ">delta", ">95% interval", ">p"), together, "all datasets"),
        ],
        legend=["macro: each dataset counts once, the verdict rests on its first row; micro: each query counts once"],
        facts=facts,
        notes=suite_notes(found.notes),
    )


def _facts(found: SuiteComparison, spelled: Spelling) -> list[tuple[str, str]]:
    """Return the datasets that are not in the comparison, and the labelled groups that neither run has."""
    facts = [("no run of both on", ", ".join(found.missing))] if found.missing else []
    for one in found.deltas:
        facts += [
            ("in neither run", f"{one.dataset}: {worded(text, spelled)}") for text in in_neither(one.metric.groups)
        ]
    return facts


def delta_table(found: SuiteComparison) -> Table:
    """Return the table of the comparisons on each dataset."""
    footnotes: list[str] = []
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
    metrics = [one.metric for one in found.deltas]
    tests = " and ".join(dict.fromkeys(map(test_name, metrics)))
    intervals = " and ".join(dict.fromkeys(map(interval_name, metrics)))
    what = "delta: candidate - baseline, in absolute points"
    if intervals != "paired t":
        what += f"; 95% interval: {intervals}"
    heads = columns("dataset", ">n", ">baseline", ">candidate", ">delta", ">95% interval", ">p", ">w/t/l")
    return Table(
        heads,
        rows,
        names=(0,),
        legend=[f"{what}; p: {tests}, Holm-corrected over the datasets"],
        marks=[marks(metric_footnotes(metric), footnotes) for metric in metrics],
        footnotes=footnotes,
        n_below=3,
    )


def suite_notes(notes: Sequence[SuiteNote]) -> list[Told]:
    """Return what else to know of single datasets."""
    return [replace(told(one.note), sentence=f"{one.dataset}: {told(one.note).sentence}") for one in notes]


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

"""Systems on the datasets of a suite as a report, as rows and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.chart import Bar, forest
from ndcg_tracker.compare.decide_suite import OnDataset, SuiteComparison, SuiteNote
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_reports, metric_footnotes, unjudged_shape, unless
from ndcg_tracker.compare.say_latex import suite_comparison_latex
from ndcg_tracker.compare.say_tables import (
    delta_cell,
    in_neither,
    interval_name,
    is_judged,
    mark_legends,
    rare_loss_words,
    test_name,
)
from ndcg_tracker.errors import Spelling, argument, in_python, worded
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.render.formats import Said, as_object, paths, picked, shape_of
from ndcg_tracker.render.html import Spec
from ndcg_tracker.render.report import Report, Table, columns, marks
from ndcg_tracker.words.notes import Told, told
from ndcg_tracker.words.texts import UNDEFINED, counted, interval, p_text, points

OTHER_QUERIES = "other queries of these datasets"
OTHER_DATASETS = "other datasets like these"
_DELTA_COLUMNS = paths(
    "dataset label_set_version baseline candidate n baseline_mean candidate_mean delta ci_low=ci.0 ci_high=ci.1 "
    "p_value p_adjusted verdict wins ties losses low_information metric judge"
)
_DELTA_KEYS = paths(
    "dataset label_set_version=labels.version baseline candidate n=found.n baseline_mean=found.baseline "
    "candidate_mean=found.candidate delta=found.delta ci=found.ci p_value=found.p_value p_adjusted=found.p_adjusted "
    "verdict=found.verdict wins=found.wins ties=found.ties losses=found.losses "
    "low_information=found.has_low_information judge=labels.judge"
)
_SUITE_KEYS = paths(
    "suite metric baseline candidate verdict=macro.verdict deltas missing notes direction=macro.direction "
    "p_adjusted=macro.p_adjusted low_information=macro.has_low_information is_open=macro.is_open open=macro.open"
)
_MEAN_KEYS = paths("mean=delta standard_error df ci p_value")
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
    """Return the output for comparisons on a suite; CSV has a row per dataset.

    ``on_datasets`` and ``details``: the comparisons on each dataset, and whether to show them as well.
    """

    def value() -> dict[str, Any]:
        as_json = suite_comparison_object(*comparisons)
        return as_json | {"on_datasets": on_datasets} if details else as_json

    return Said(
        value,
        lambda: suite_comparison_reports(*comparisons, on_datasets=on_datasets, spelled=spelled, details=details),
        lambda: Table.of_rows([row for comparison in comparisons for row in delta_rows(comparison)]),
        further={"latex": lambda: "\n".join(map(suite_comparison_latex, comparisons))},
    )


def suite_comparison_object(first: SuiteComparison, *further: SuiteComparison) -> dict[str, Any]:
    """Return the JSON object of a comparison on a suite, with those of further candidates and metrics in it."""
    as_json: dict[str, Any] = as_object(first)
    return as_json | ({"further": as_object(further)} if further else {})


def delta_rows(comparison: SuiteComparison) -> list[dict[str, Any]]:
    """Return one row per dataset, as CSV and frames have it."""
    return [picked(_DELTA_COLUMNS, as_object(delta) | {"metric": comparison.metric}) for delta in comparison.deltas]


@shape_of(OnDataset)
def _delta_shape(on: OnDataset) -> Mapping[str, object]:
    return picked(_DELTA_KEYS, on)


@shape_of(SuiteComparison)
def _comparison_shape(comparison: SuiteComparison) -> Mapping[str, object]:
    shape, macro = picked(_SUITE_KEYS, comparison), comparison.macro
    shape |= {name: picked(_MEAN_KEYS, getattr(comparison, name)) for name in ("macro", "over_datasets", "micro")}
    further = {"unjudged": unjudged_shape(macro), "rare_loss": macro.rare_loss}
    return shape | {name: of for name, of in further.items() if of is not None}


def suite_comparison_reports(
    *comparisons: SuiteComparison,
    on_datasets: Sequence[Comparison] = (),
    spelled: Spelling = in_python,
    details: bool = False,
) -> list[Report]:
    """Return a report per candidate and metric, before several an overview, with ``details`` one per dataset too."""
    reports = [suite_comparison_report(comparison, spelled) for comparison in comparisons]
    if len(reports) > 1:
        overview = _overview(comparisons)
        if len({comparison.candidate for comparison in comparisons}) > 1 and not details:
            notes = dict.fromkeys(note for report in reports for note in report.notes)
            more = worded(f"{argument('details')}: the tables of each candidate", spelled)
            facts = [
                (name, f"{comparison.candidate}: {value}")
                for comparison in comparisons
                for name, value in _facts(comparison, spelled)
            ]
            legend = [*overview.legend, more]
            facts = list(dict.fromkeys(facts))
            return [replace(overview, legend=legend, facts=facts, notes=list(notes), is_overview=False)]
        reports = [overview, *reports]
    if details:
        reports += [report for comparison in on_datasets for report in comparison_reports(comparison, spelled=spelled)]
    return reports


def _overview(comparisons: Sequence[SuiteComparison]) -> Report:
    """Return the verdict on every candidate and metric."""
    first, metrics = comparisons[0], dict.fromkeys(comparison.metric for comparison in comparisons)
    rows: list[list[object]] = [
        [
            comparison.candidate,
            familiar_name(comparison.metric),
            (comparison.macro.told or "").replace("_", " ")
            + (" (low information)" if comparison.macro.has_low_information else ""),
            delta_cell(comparison.macro.delta, comparison.macro.told),
            interval(comparison.macro.ci, signed=True),
            p_text(comparison.macro.p_adjusted),
        ]
        for comparison in comparisons
    ]
    verdicts = [comparison.macro.told for comparison in comparisons]
    n = len(dict.fromkeys(comparison.candidate for comparison in comparisons))
    of = f"{counted(n, 'candidate')} against {first.baseline} on suite {first.suite}"
    return Report(
        of if n > 1 else f"{of}: {counted(len(metrics), 'metric')}",
        tables=[
            Table(
                columns("system", "metric", "verdict", ">macro delta", ">95% interval", ">p"),
                rows,
                names=(0, 1),
                n_below=2,
            )
        ],
        legend=[
            "; ".join(["delta: candidate - baseline", *mark_legends(verdicts)]),
            f"p: t-test of the macro mean, Holm-corrected for {len(rows)} tests at once",
            "macro: each dataset counts once",
        ],
        is_overview=True,
    )


def suite_comparison_report(comparison: SuiteComparison, spelled: Spelling = in_python) -> Report:
    """Return the report of a comparison on a suite."""
    together: list[list[object]] = [
        [
            name,
            question,
            points(estimate.delta, signed=True),
            interval(estimate.ci, signed=True),
            p_text(estimate.p_value),
        ]
        for name, question, estimate in (
            ("macro", OTHER_QUERIES, comparison.macro),
            ("macro", OTHER_DATASETS, comparison.over_datasets),
            ("micro", OTHER_QUERIES, comparison.micro),
        )
    ]
    n, of = len(comparison.deltas), len(comparison.deltas) + len(comparison.missing)
    where = f"suite {comparison.suite}" if n == of else f"{n} of the {of} datasets of suite {comparison.suite}"
    facts = _facts(comparison, spelled)
    if comparison.macro.p_adjusted != comparison.macro.p_value:
        told_p = f"p {p_text(comparison.macro.p_adjusted)}, Holm-corrected for all metrics and candidates at once"
        facts.insert(0, ("verdict", f"rests on {told_p}"))
    return Report(
        f"{comparison.candidate} against {comparison.baseline} on {where}: {verdict_on_suite(comparison)}",
        tables=[
            delta_table(comparison),
            Table(columns("mean", "generalizes to", ">delta", ">95% interval", ">p"), together, "all datasets"),
        ],
        legend=[
            "macro: each dataset counts once; the first macro row gives the verdict; micro: each query counts once"
        ],
        facts=facts,
        notes=suite_notes(comparison.notes),
        is_headline_wrapped=comparison.macro.is_open,
    )


def verdict_on_suite(comparison: SuiteComparison) -> str:
    """Return the finding for the macro mean, in a sentence."""
    is_open = comparison.macro.verdict == "no_difference_detected"
    size = points(comparison.macro.delta, signed=True) if is_open else points(comparison.macro.delta).removeprefix("-")
    few = ("; low information" if is_open else "") if comparison.macro.has_low_information else ""
    verdict = _VERDICTS[comparison.macro.verdict or ""].format(size + few)
    if comparison.macro.has_low_information and not is_open:
        verdict += " (low information: not a safe verdict)"
    verdict += unless(comparison.macro)
    return f"macro {familiar_name(comparison.metric)} {verdict}"


def _facts(comparison: SuiteComparison, spelled: Spelling) -> list[tuple[str, str]]:
    """Return the datasets that are not in the comparison, and the labelled groups that neither run has."""
    facts = [("without both", ", ".join(comparison.missing))] if comparison.missing else []
    for on in comparison.deltas:
        facts += [("in neither run", f"{on.dataset}: {worded(text, spelled)}") for text in in_neither(on.found.groups)]
    return [*facts, *rare_loss_fact(comparison)]


def rare_loss_fact(comparison: SuiteComparison) -> list[tuple[str, str]]:
    """Return the losses that the queries of all datasets cannot rule out, as a name and its value."""
    if comparison.macro.rare_loss is None:
        return []
    of_clusters = comparison.deltas[0].found.clusters is not None
    return [("rare loss", rare_loss_words(comparison.macro.rare_loss, of_clusters=of_clusters))]


def delta_table(comparison: SuiteComparison) -> Table:
    """Return the table of the comparisons on each dataset."""
    footnotes, metrics = list[str](), [on.found for on in comparison.deltas]
    verdicts = [found.told if is_judged(found) else None for found in metrics]
    rows: list[list[object]] = [
        [
            on.dataset,
            f"{found.n:,}",
            points(found.baseline),
            points(found.candidate),
            delta_cell(found.delta, told),
            interval(found.ci, signed=True),
            p_text(found.p_adjusted),
            UNDEFINED if found.wins is None else f"{found.wins:,}/{found.ties:,}/{found.losses:,}",
        ]
        for on, found, told in zip(comparison.deltas, metrics, verdicts, strict=True)
    ]
    tests = " and ".join(dict.fromkeys(map(test_name, metrics)))
    intervals = " and ".join(dict.fromkeys(map(interval_name, metrics)))
    what = "; ".join(["delta: candidate - baseline, in absolute points", *mark_legends(verdicts)])
    if intervals != "paired t":
        what += f"; 95% interval: {intervals}"
    heads = columns("dataset", ">n", ">baseline", ">candidate", ">delta", ">95% interval", ">p", ">w/t/l")
    heads = (*heads[:-1], replace(heads[-1], is_spare=True))
    return Table(
        heads,
        rows,
        names=(0,),
        legend=[f"{what}; p: {tests}, Holm-corrected for the datasets at once"],
        marks=[marks(metric_footnotes(metric), footnotes) for metric in metrics],
        footnotes=footnotes,
        n_below=3,
    )


def suite_notes(notes: Sequence[SuiteNote]) -> list[Told]:
    """Return the notes on single datasets."""
    return [
        replace(told(suite_note.note), sentence=f"{suite_note.dataset}: {told(suite_note.note).sentence}")
        for suite_note in notes
    ]


def suite_bars(*comparisons: SuiteComparison) -> list[Bar]:
    """Return the difference on each dataset with its interval, then of all datasets together.

    With several comparisons, each row names its candidate or its metric.
    """
    candidates = {comparison.candidate for comparison in comparisons}
    bars = []
    for comparison in comparisons:
        whose = comparison.candidate if len(candidates) > 1 else ""
        if len(comparisons) > max(1, len(candidates)):
            whose = " ".join(filter(None, (whose, familiar_name(comparison.metric))))
        each = [*((on.dataset, on.found) for on in comparison.deltas)]
        n = sum(found.n for _, found in each)
        together = (
            ("macro, other queries", comparison.macro),
            ("macro, other datasets", comparison.over_datasets),
            ("micro, other queries", comparison.micro),
        )
        bars += [
            Bar(name, whose or None, of.delta or 0.0, of.ci, of.told, of.p_adjusted, of.n if name in on else n)
            for on in [dict(each)]
            for name, of in (*each, *together)
        ]
    return bars


def suite_forest(*comparisons: SuiteComparison) -> Spec:
    """Return the chart of ``suite_bars``."""
    first, metrics = comparisons[0], {familiar_name(comparison.metric) for comparison in comparisons}
    n = len({comparison.candidate for comparison in comparisons})
    who = first.candidate if n == 1 else counted(n, "candidate")
    title = f"{who} against {first.baseline} on suite {first.suite}"
    only = metrics.pop() if len(metrics) == 1 else ""
    return forest(suite_bars(*comparisons), f"{title}: {only}" if only else title, metric=only)

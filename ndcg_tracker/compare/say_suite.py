"""Systems on the datasets of a suite as a report, as rows and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.chart import Bar, forest
from ndcg_tracker.compare.decide_suite import OnDataset, SuiteComparison, SuiteNote
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import (
    WAYS_ON,
    comparison_reports,
    found,
    metric_footnotes,
    moves_words,
    open_words,
    unjudged_shape,
)
from ndcg_tracker.compare.say_tables import (
    Row,
    in_neither,
    interval_name,
    rare_loss_words,
    rows_table,
    span_of,
    test_name,
)
from ndcg_tracker.errors import Spelling, in_python, worded
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.render.formats import Said, as_object, paths, picked, shape_of
from ndcg_tracker.render.html import Spec
from ndcg_tracker.render.latex import latex_text, table_latex
from ndcg_tracker.render.report import Column, Report, Table
from ndcg_tracker.words.notes import Told, told
from ndcg_tracker.words.texts import counted, p_text, queries

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
    "suite metric baseline candidate verdict=macro.verdict deltas missing notes direction=macro.about.direction "
    "p_adjusted=macro.p_adjusted low_information=macro.has_low_information is_open=macro.is_open open=macro.open"
)
_MEAN_KEYS = paths("mean=delta standard_error df ci p_value")


def suite_comparison_said(
    *comparisons: SuiteComparison, on_datasets: Sequence[Comparison] = (), spelled: Spelling = in_python
) -> Said:
    """Return the output for comparisons on a suite; CSV has a row per dataset.

    ``on_datasets``: the comparisons on each dataset, which follow on request.
    """
    return Said(
        lambda: suite_comparison_object(*comparisons) | ({"on_datasets": on_datasets} if on_datasets else {}),
        lambda: suite_comparison_reports(*comparisons, on_datasets=on_datasets, spelled=spelled),
        lambda: Table.of_rows([row for comparison in comparisons for row in delta_rows(comparison)]),
        further={"latex": lambda: "\n".join(map(suite_comparison_latex, comparisons))},
    )


def suite_comparison_latex(comparison: SuiteComparison) -> str:
    """Return two tables for a paper: all datasets together and each, and what the means generalize to."""
    report = suite_comparison_report(comparison)
    tables = (*report.tables, *report.details)
    captions = ([report.headline or "", *report.legend], ["all datasets"])
    return "\n".join(
        table_latex(table, " ".join(f"{latex_text(sentence)}." for sentence in sentences))
        for table, sentences in zip(tables, captions, strict=True)
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
    *comparisons: SuiteComparison, on_datasets: Sequence[Comparison] = (), spelled: Spelling = in_python
) -> list[Report]:
    """Return a report per candidate and metric, before several one that sums them up, and one per dataset."""
    reports = [suite_comparison_report(comparison, spelled) for comparison in comparisons]
    pages = [report for comparison in on_datasets for report in comparison_reports(comparison, spelled=spelled)]
    if len(reports) == 1:
        return [replace(reports[0], is_overview=bool(pages)), *pages]
    notes = list(dict.fromkeys(note for report in reports for note in report.notes))
    return [replace(_overview(comparisons), notes=notes), *reports, *pages]


def _overview(comparisons: Sequence[SuiteComparison]) -> Report:
    """Return the verdict on every candidate and metric."""
    first, n = comparisons[0], len({comparison.candidate for comparison in comparisons})
    who, what = (counted(n, "candidate"), "comparison") if n > 1 else (first.candidate, "metric")
    told = moves_words([comparison.macro.verdict for comparison in comparisons], what)
    rows = [
        _macro_row(comparison, (comparison.candidate, familiar_name(comparison.metric))) for comparison in comparisons
    ]
    return Report(
        f"{who} against {first.baseline} on suite {first.suite} ({_queries_of(first)}): {told}"
        + open_words([comparison.macro.is_open for comparison in comparisons], what),
        tables=[rows_table(rows, ("run", "metric"), (first.baseline, "mean"))],
        remarks=[f"{of.candidate} has no run on {', '.join(of.missing)}" for of in comparisons if of.missing],
        legend=[
            "delta: candidate - baseline",
            f"p: t-test of the macro mean, Holm-corrected for {len(rows)} tests at once",
            "macro: each dataset counts once",
        ],
        rest="the page of each",
        is_overview=True,
    )


def _queries_of(comparison: SuiteComparison) -> str:
    return f"{counted(len(comparison.deltas), 'dataset')}, {queries(sum(of.found.n for of in comparison.deltas))}"


def macro_means(comparison: SuiteComparison) -> tuple[float, float]:
    """Return the means of the datasets' means, of the baseline and of the candidate."""
    n = len(comparison.deltas)
    return (
        sum(on.found.baseline or 0.0 for on in comparison.deltas) / n,
        sum(on.found.candidate or 0.0 for on in comparison.deltas) / n,
    )


def _macro_row(comparison: SuiteComparison, names: Sequence[str]) -> Row:
    """Return the row of all datasets together."""
    macro = comparison.macro
    found = (macro.delta, macro.ci, macro.p_adjusted, span_of(macro))
    few = ["low information: not a safe verdict"] if macro.has_low_information else ()
    return Row(names, macro.verdict, macro.open, macro_means(comparison), *found, footnotes=few)


def suite_table(comparison: SuiteComparison) -> Table:
    """Return the table that a screen begins with: all datasets together, then each."""
    rows = [_macro_row(comparison, ("macro",))]
    metrics = [on.found for on in comparison.deltas]
    rows += [
        replace(Row.of(on.found, (on.dataset,), metric_footnotes(on.found)), n=on.found.n) for on in comparison.deltas
    ]
    tests = " and ".join(dict.fromkeys(map(test_name, metrics)))
    intervals = " and ".join(dict.fromkeys(map(interval_name, metrics)))
    legend = [f"95% interval of a dataset: {intervals}; p: {tests}, Holm-corrected for the datasets at once"]
    return rows_table(rows, ["dataset"], (comparison.baseline, comparison.candidate), legend=legend)


_TOGETHER = (
    Column("mean", "mean", "text", of="0"),
    Column("question", "generalizes to", "text", of="1"),
    Column("delta", "delta", "delta", of="2.delta"),
    Column("ci", "95% interval", "interval", of="2.ci", signed=True),
    Column("p", "p", "p", of="2.p_value", digits=2),
)


def suite_comparison_report(comparison: SuiteComparison, spelled: Spelling = in_python) -> Report:
    """Return the report of a comparison on a suite."""
    together = (
        ("macro", OTHER_QUERIES, comparison.macro),
        ("macro", OTHER_DATASETS, comparison.over_datasets),
        ("micro", OTHER_QUERIES, comparison.micro),
    )
    n, of = len(comparison.deltas), len(comparison.deltas) + len(comparison.missing)
    where = f"suite {comparison.suite}" if n == of else f"{n} of the {of} datasets of suite {comparison.suite}"
    facts = _facts(comparison, spelled)
    if comparison.macro.p_adjusted != comparison.macro.p_value:
        told_p = f"p {p_text(comparison.macro.p_adjusted)}, Holm-corrected for all metrics and candidates at once"
        facts.insert(0, ("verdict", f"rests on {told_p}"))
    who = f"{comparison.candidate} against {comparison.baseline} on {where} ({_queries_of(comparison)})"
    return Report(
        f"{who}: {verdict_on_suite(comparison)}",
        tables=[suite_table(comparison)],
        notes=suite_notes(comparison.notes),
        also=WAYS_ON,
        legend=[
            "macro: each dataset counts once; the first macro row gives the verdict; micro: each query counts once"
        ],
        facts=facts,
        details=[Table.of(_TOGETHER, together, "all datasets")],
        rest="statistics and datasets",
    )


def verdict_on_suite(comparison: SuiteComparison) -> str:
    """Return the finding for the macro mean, in a sentence."""
    name = f"macro {familiar_name(comparison.metric)}"
    if comparison.macro.verdict == "identical":
        return f"{name} is identical on all queries"
    macro = comparison.macro
    return found(name, macro.verdict, macro.delta or 0.0, is_low=macro.has_low_information, is_open=macro.is_open)


def _facts(comparison: SuiteComparison, spelled: Spelling) -> list[tuple[str, str]]:
    """Return the datasets that are not in the comparison, and the labelled groups that neither run has."""
    facts = [("without both", ", ".join(comparison.missing))] if comparison.missing else []
    for on in comparison.deltas:
        facts += [
            ("in neither run", f"{on.dataset}: {worded(text, spelled)}") for text in in_neither(on.found.about.groups)
        ]
    return [*facts, *rare_loss_fact(comparison)]


def rare_loss_fact(comparison: SuiteComparison) -> list[tuple[str, str]]:
    """Return the losses that the queries of all datasets cannot rule out, as a name and its value."""
    if comparison.macro.rare_loss is None:
        return []
    of_clusters = comparison.deltas[0].found.about.clusters is not None
    return [("rare loss", rare_loss_words(comparison.macro.rare_loss, of_clusters=of_clusters))]


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

"""A comparison as a report and as rows: the verdict first, then the evidence for it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.results import (
    ALPHA,
    ENDS,
    NOT_COMPARABLE,
    Comparison,
    Estimate,
    GroupDelta,
    Verdict,
)
from ndcg_tracker.compare.say_drawn import (
    CHECK_LEGEND,
    check_facts,
    checked_by,
    favours,
    few_words,
)
from ndcg_tracker.compare.say_tables import (
    IDENTICAL,
    MACRO,
    Row,
    canonical_names,
    count_footnotes,
    detectable_cell,
    equivalence_tables,
    evidence_words,
    facts,
    group_tables,
    is_judged,
    n_datasets,
    rows_table,
    slice_tables,
    suite_tables,
    tie_tables,
)
from ndcg_tracker.compare.say_where import APART_KEYS, where_lines, where_shape
from ndcg_tracker.errors import InputError, Spelling, argument, in_python, worded
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import WIDTH, Column, Line, Report, Table
from ndcg_tracker.render.terminal import display_width, shortened, visible
from ndcg_tracker.rules import refuse
from ndcg_tracker.statistics.t_test import enough_for
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import MINOR, Note, few_differences, first_of_kinds, major, renamed, sentence, told
from ndcg_tracker.words.sentences import T_INTERVAL, low_information
from ndcg_tracker.words.texts import counted, judge_words, p_text, percent, points, queries, short, units
from ndcg_tracker.words.verdicts import MARKS

MOVED: Mapping[Verdict | None, str] = {of: MARKS[of].word for of in ("regressed", "improved")}
JUDGED = "share of the first ranks with a label, in the baseline and in the candidate"
DETECTABLE = "the smallest difference detected with 80% power; none: not even the largest possible"
EFFECT = "effect size, mean difference / standard deviation of the differences"
WAYS_ON = "explain why   report a page"
_NAMED = 3  # groups on each side that one screen names
_NAME_WIDTH = 24  # of a query

RUN_COLUMNS = paths(
    "baseline_run=baseline_of.name baseline_run_id=baseline_of.run_id candidate_run=candidate_of.name "
    "candidate_run_id=candidate_of.run_id dataset label_set_version=label_set.version label_set_digest=label_set.digest"
)
"""The columns about the runs in a row for programs, and their paths (see ``with_runs``)."""
_RESULT_COLUMNS = paths(
    "metric baseline candidate delta ci_low=ci.0 ci_high=ci.1 ci_method p_value p_adjusted test n wins ties losses"
)
_SLICE_COLUMNS = paths("attribute value q_value")
_CSV_COLUMNS = {
    **RUN_COLUMNS,
    **_RESULT_COLUMNS,
    **paths(
        "effect_size detectable_delta verdict paired=groups.paired only_in_baseline=groups.only_in_baseline "
        "only_in_candidate=groups.only_in_candidate undefined=groups.undefined "
        "missing_in_baseline=groups.missing_in_baseline missing_in_candidate=groups.missing_in_candidate warnings "
        "baseline_worst=tie_bounds.baseline.0 baseline_best=tie_bounds.baseline.1 "
        "candidate_worst=tie_bounds.candidate.0 candidate_best=tie_bounds.candidate.1 "
        "ties_could_change_verdict=tie_bounds.could_change_verdict betting_ci_low=betting_ci.0 "
        "betting_ci_high=betting_ci.1 equivalence_margin=equivalence.margin equivalence_p_value=equivalence.p_value "
        "equivalence_ci_low=equivalence.ci.0 equivalence_ci_high=equivalence.ci.1 equivalent=equivalence.equivalent"
    ),
    **_SLICE_COLUMNS,
    **paths("requested_as in_neither=groups.in_neither not_comparable shown_only"),
    **paths(
        "n_unjudged=unjudged.n_items direction baseline_judged=judged.baseline "
        "candidate_judged=judged.candidate delta_low=unjudged.low.delta delta_high=unjudged.high.delta "
        "verdict_low=unjudged.low.verdict verdict_high=unjudged.high.verdict is_open judge=label_set.judge "
        "worst_loss=rare_loss.worst share_of_more=rare_loss.share checked_by=check.checked_by "
        "judge_delta=check.judge.delta judge_ci_low=check.judge.ci.0 judge_ci_high=check.judge.ci.1 "
        "favour=check.favour.delta favour_ci_low=check.favour.ci.0 favour_ci_high=check.favour.ci.1 "
        "n_drawn=check.n_answered n_left_out=check.n_left_out n_missing=check.n_missing open"
    ),
    **paths("rest share p_apart stands_out"),
}


def comparison_said(*comparisons: Comparison, spelled: Spelling = in_python) -> Said:
    """Return the output for one comparison, or for several candidates with one baseline.

    ``spelled``: how arguments are spelled for people.
    """
    return Said(
        lambda: comparison_object(*comparisons),
        lambda: comparison_reports(*comparisons, spelled=spelled),
        lambda: Table.of_rows(
            [row for each in comparisons for row in (*metric_rows(each), *slice_rows(each))], list(_CSV_COLUMNS)
        ),
        {"latex": lambda: comparison_latex(*comparisons)},
        dataset=comparisons[0].dataset,
    )


def comparison_latex(*stored: Comparison) -> str:
    """Return a table for a paper: a row per metric, or for several candidates a row per candidate and metric.

    Raises: InputError for comparisons with tables that it cannot show (slices, bounds, equivalence), and for several
    versions of the labels, whose means are not comparable.
    """
    from ndcg_tracker.render.latex import latex_text, table_latex

    asked = {
        "by": any(each.slices is not None and each.suite is None for each in stored),
        "tie_bounds": any(each.tie_groups is not None for each in stored),
        "equivalence": any(metric.equivalence is not None for each in stored for metric in each.metrics),
    }
    refuse("compare", {**asked, "paper": True})
    if len(versions := sorted({comparison.label_set.version for comparison in stored})) > 1:
        what = f"these runs were compared under versions {' and '.join(map(str, versions))} of the labels"
        again = f"ndcg-track rescore --all --dataset {shlex.quote(stored[0].dataset)} --labels"
        advice = f"choose one with {argument('labels')}, or evaluate all runs under one with: {again} {versions[-1]}"
        raise InputError(what, advice=advice)
    shown = tuple(for_people(comparison) for comparison in stored)
    report = _overview(shown, in_python) if len(shown) > 1 else _report(shown[0], stored[0], shown, in_python)
    sentences = [report.headline or "", *evidence_words(shown)]
    tables = [table_latex(report.tables[0], " ".join(f"{latex_text(sentence)}." for sentence in sentences))]
    of_datasets = [(each, table) for each in shown if each.suite is not None for table in slice_tables(each)]
    tables += [table_latex(table, f"{latex_text(f'{runs(each)}: {table.title}')}.") for each, table in of_datasets]
    return "\n".join(tables)


def comparison_object(first: Comparison, *further: Comparison) -> dict[str, Any]:
    """Return the JSON object of a comparison.

    Its list "further" has the objects of further candidates, and its list "comparisons" those of all candidates.
    """
    of_first: dict[str, Any] = as_object(first)
    if not further:
        return of_first
    others = as_object(further)
    return of_first | {"further": others, "comparisons": [of_first, *others]}


def metric_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a row per metric, with the columns of CSV that do not concern slices."""
    as_json = as_object(comparison)
    wanted = {name: path for name, path in _CSV_COLUMNS.items() if name not in _SLICE_COLUMNS}
    return [
        picked(wanted, {**with_runs(as_json), **metric, "warnings": "; ".join(metric["warnings"])})
        for metric in as_json["metrics"]
    ]


def slice_rows(comparison: Comparison) -> list[dict[str, Any]]:
    """Return a row per slice of the first metric, with the columns of CSV that concern slices."""
    as_json = as_object(comparison)
    first = as_json["metrics"][0]
    shared = {"metric": first["metric"], "requested_as": first["requested_as"], "ci_method": "t", "test": "t"}
    wanted = {**RUN_COLUMNS, **_RESULT_COLUMNS, **_SLICE_COLUMNS}
    wanted |= paths("verdict requested_as warnings judge=label_set.judge is_open open rest share p_apart stands_out")
    of_dataset = {each["dataset"]: each for each in as_json.get("on_datasets", ())}
    return [
        picked(
            wanted,
            {**with_runs(of_dataset.get(row["value"], as_json)), **shared, **row, "warnings": row["warning"] or ""},
        )
        for row in as_json.get("slices", ())
    ]


def with_runs(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a comparison with its runs under names that no mean has."""
    return {**comparison, "baseline_of": comparison["baseline"], "candidate_of": comparison["candidate"]}


@shape_of(Comparison)
def _comparison_shape(comparison: Comparison) -> Mapping[str, object]:
    shape = fields_of(comparison, "tie_groups", "n_tie_groups", "slices", "where", "are_labels_asked", "texts", "suite")
    if comparison.tie_groups is not None:
        shape |= {"tie_groups": comparison.tie_groups, "n_tie_groups": comparison.n_tie_groups}
    if comparison.slices is not None:
        keys = SLICE_KEYS | (APART_KEYS if comparison.suite is None else _DATASET_KEYS)
        shape["slices"] = [picked(keys, row) for row in comparison.slices]
    if comparison.where is not None:
        shape["where"] = where_shape(comparison.where)
    if comparison.suite is not None:
        suite = comparison.suite
        del shape["label_set"], shape["coverage"], shape["listed"]  # each dataset has its own
        shape |= {"suite": comparison.dataset, "missing": suite.missing, "on_datasets": suite.each}
    return shape


_METRIC_KEYS = paths(
    "metric baseline candidate delta ci ci_method=about.ci_method p_value p_adjusted test=about.test wins ties losses "
    "effect_size detectable_delta warnings verdict not_comparable=about.not_comparable n groups=about.groups "
    "shown_only=about.shown_only equivalence variance clusters=about.clusters rare_loss "
    "low_information=has_low_information direction=about.direction judged=about.judged is_open open"
)
_IF_ANY = ("equivalence", "variance", "clusters", "rare_loss")
_END_KEYS = paths("delta ci p_value p_adjusted verdict")
SLICE_KEYS = paths(
    "attribute=about.attribute value=about.value n baseline candidate delta ci wins ties losses p_value q_value "
    "p_adjusted verdict warning=warnings.0"
)
_DATASET_KEYS = paths(
    "metric requested_as=about.requested_as ci_method=about.ci_method test=about.test low_information="
    "has_low_information is_open open"
)
_MEAN_KEYS = paths("mean=delta standard_error df ci p_value")


@shape_of(Estimate)
def _metric_shape(metric: Estimate) -> Mapping[str, object]:
    shape = {key: of for key, of in picked(_METRIC_KEYS, metric).items() if of is not None or key not in _IF_ANY}
    shape["requested_as"] = metric.about.requested_as or metric.metric
    shape["betting_ci"] = metric.ci if metric.about.ci_method == "betting" else None
    if metric.about.unjudged is not None:
        shape["unjudged"] = unjudged_shape(metric)
    if metric.about.check is not None:
        alone = {name: picked(paths("delta ci p_value"), metric.others.get(name)) for name in ("judge", "favour")}
        shape["check"] = fields_of(metric.about.check) | alone
    if "micro" in metric.others:
        means = {"macro": metric, **{name: metric.others[name] for name in ("over_datasets", "micro")}}
        shape |= {name: picked(_MEAN_KEYS, of) for name, of in means.items()}
    effect = metric.about.tie_effect
    shape["tie_bounds"] = effect and {
        "baseline": (effect.baseline.worst, effect.baseline.best),
        "candidate": (effect.candidate.worst, effect.candidate.best),
        "delta": effect.delta,
        "could_change_verdict": metric.ties_could_change_verdict,
    }
    return shape


def unjudged_shape(metric: Estimate) -> Mapping[str, object] | None:
    """Return what unjudged items leave open of an estimate: how many, why it is not known, and both ends."""
    left = metric.about.unjudged
    ends: dict[str, object] = {
        end: picked(_END_KEYS, metric.others[end]) if end in metric.others else None for end in ENDS
    }
    return None if left is None else {"n_items": left.n_items, **ends, "stop": left.stop}


@shape_of(GroupDelta)
def _group_shape(group: GroupDelta) -> Mapping[str, object]:
    return fields_of(group) if group.moves is not None else fields_of(group, "moves")


def comparison_reports(*comparisons: Comparison, spelled: Spelling = in_python) -> list[Report]:
    """Return a report per candidate; before those of several candidates, one with the verdict on each."""
    shown = tuple(for_people(comparison) for comparison in comparisons)
    reports = [
        _report(comparison, stored, shown, spelled) for comparison, stored in zip(shown, comparisons, strict=True)
    ]
    alone = [of for each in shown if each.suite is not None for of in each.suite.each]
    pages = [page for of in alone for page in comparison_reports(of, spelled=spelled)]
    return [*(reports if len(shown) == 1 else [_overview(shown, spelled), *reports]), *pages]


def _report(comparison: Comparison, stored: Comparison, shown: Sequence[Comparison], spelled: Spelling) -> Report:
    suite, tables = comparison.suite, slice_tables(comparison)

    def behind() -> dict[str, object]:
        return {
            "legend": legend(shown, spelled),
            "facts": [
                *(("not compared", told) for told in _lacks(comparison)),
                (units(), f"{comparison.groups.paired:,} paired"),
                *facts(comparison, spelled, beside_table=True),
                *check_facts(comparison),
                *canonical_names(comparison, stored),
            ],
            "minor": [told(note) for note in comparison.notes if note.kind in MINOR],
            "details": [
                *tables[len(tables) if suite is None else 1 :],
                *suite_tables(comparison),
                Table.of(_STATISTICS, comparison.metrics),
                *group_tables(comparison),
            ],
        }

    return Report(
        headline(comparison),
        tables=[
            _screen_table([comparison], shown),
            *equivalence_tables(comparison),
            *(tables if suite is None else tables[:1]),
            *tie_tables(comparison),
        ],
        under=[Line("", text) for text in where_lines(comparison, spelled)],
        lines=[*_extremes(comparison), *(Line("", favour) for favour in favours(comparison))],
        notes=[*map(told, major(comparison.notes))] if suite is None else first_of_kinds(comparison.notes),
        also=WAYS_ON,
        rest=f"statistics and {units()}" if suite is None else "statistics and datasets",
        behind=behind,
        is_overview=suite is not None and bool(suite.each),
    )


def _lacks(comparison: Comparison) -> list[str]:
    """Return on which datasets of a suite one of the two has no run."""
    missing = () if comparison.suite is None else comparison.suite.missing
    both = f"{comparison.baseline.name} or {comparison.candidate.name}"
    return [f"{both} has no run on {', '.join(missing)}"] if missing else []


def _overview(comparisons: Sequence[Comparison], spelled: Spelling) -> Report:
    """Return the verdict on every candidate and metric, and the first note of each kind."""
    first, metrics = comparisons[0], [metric for each in comparisons for metric in each.metrics]
    title = f"{counted(len(comparisons), 'candidate')} against {first.baseline.name} on {judged_dataset(first)}"
    favoured = [f"{each.candidate.name}: {told}" for each in comparisons for told in (*_lacks(each), *favours(each))]
    return Report(
        f"{title} ({_on_what(first)}): {tally(metrics, 'comparison')}",
        tables=[_screen_table(comparisons, comparisons)],
        lines=[Line("", favour) for favour in favoured],
        notes=first_of_kinds(note for each in comparisons for note in each.notes),
        also=WAYS_ON,
        legend=legend(comparisons, spelled),
        rest="the page of each",
        is_overview=first.suite is not None
        or not any(each.slices or each.tie_groups or equivalence_tables(each) for each in comparisons),
    )


def _screen_table(comparisons: Sequence[Comparison], shown: Sequence[Comparison]) -> Table:
    """Return the table of a comparison by metric, or of several candidates."""
    first, is_several = comparisons[0], len(comparisons) > 1
    rows = [
        Row.of(
            metric,
            [each.candidate.name, metric.metric][not is_several :],
            [*_other_labels(metric, each, first), *metric_footnotes(metric, shown)],
        )
        for each in comparisons
        for metric in each.metrics
    ]
    heads, check = ("run", "metric") if is_several else ("metric",), first.metrics[0].about.check
    alone = "" if check is None else "unjudged as 0," if check.aim == "holes" else judge_words(first.label_set.judge)
    runs = (first.baseline.name, "mean" if is_several else first.candidate.name)
    return rows_table(rows, heads, runs, alone=alone)


def _extremes(comparison: Comparison) -> list[Line]:
    """Return the queries that lost and gained most, on one line if they fit."""
    named = [
        ", ".join(
            f"{shortened(visible(comparison.texts.get(of.group, of.group)), _NAME_WIDTH)} ({short(of.delta)})"
            for of in groups[:_NAMED]
        )
        for groups in (comparison.worst, comparison.best)
    ]
    told = [f"{start}: {words}" for start, words in zip(("worst", "best"), named, strict=True) if words]
    one = "     ".join(told)
    return [Line("", text) for text in ([one] if display_width(one) <= WIDTH else told) if text]


def for_people(comparison: Comparison) -> Comparison:
    """Return the comparison with its metrics named as people know them."""
    from ndcg_tracker.metrics.language.dialects import familiar_name  # printing a table needs no NumPy

    names = {metric.metric: familiar_name(metric.metric, metric.about.requested_as) for metric in comparison.metrics}

    def shown(metric: Estimate, what: str = "") -> Estimate:
        return replace(metric, about=replace(metric.about, metric=what + names[metric.metric]))

    is_suite, slices = comparison.suite is not None, comparison.slices
    metrics = tuple(shown(metric, MACRO * is_suite) for metric in comparison.metrics)
    slices = tuple(map(shown, slices or ())) if is_suite else slices
    notes = tuple(renamed(note, names) for note in comparison.notes)
    return replace(comparison, metrics=metrics, slices=slices, notes=notes)


def runs(comparison: Comparison) -> str:
    """Return which runs were compared on which dataset, and whose labels if a judge is named."""
    return f"{comparison.candidate.name} against {comparison.baseline.name} on {judged_dataset(comparison)}"


def judged_dataset(comparison: Comparison) -> str:
    judge, who, suite = comparison.label_set.judge, checked_by(comparison), comparison.suite
    where: str = comparison.dataset if suite is None else f"suite {comparison.dataset}"
    if suite is not None and suite.missing:
        where = f"{len(suite.each)} of the {len(suite.each) + len(suite.missing)} datasets of {where}"
    if judge in NO_LABELS_HERE:
        return where
    told = ", ".join(filter(None, (judge and f"judge {judge!r}", who and f"checked by {who!r}")))
    return f"{where} ({told})" if told else where


def _on_what(comparison: Comparison) -> str:
    """Return how many queries were compared, on a suite of how many datasets."""
    n = queries(comparison.groups.paired)
    return n if comparison.suite is None else f"{counted(n_datasets(comparison), 'dataset')}, {n}"


def headline(comparison: Comparison) -> str:
    """Return the verdict in one sentence: on the metric, or on how many of several."""
    metrics = [metric for metric in comparison.metrics if metric.about.shown_only is None]
    if not metrics:
        shown = comparison.metrics
        told = finding(shown[0]) if len(shown) == 1 else f"{counted(len(shown), 'metric')} shown, none compared"
    else:
        comparable = metrics
        if not any(metric.verdict in MOVED for metric in metrics):
            comparable = [metric for metric in metrics if metric.verdict != "not_comparable"] or metrics
        told = finding(comparable[0]) if len(comparable) == 1 else tally(comparable)
        if len(comparable) < len(metrics):
            told += f", {len(metrics) - len(comparable)} more cannot be compared"
    return f"{runs(comparison)} ({_on_what(comparison)}): {told}"


def tally(metrics: Sequence[Estimate], what: str = "metric") -> str:
    """Return how many of several metrics moved, which way, how many have low information, and how many are open."""
    n_low = sum(metric.has_low_information for metric in metrics)
    low = f" ({n_low} of {len(metrics)} on low information)" if n_low else ""
    verdicts = [metric.verdict if is_judged(metric) else "not_comparable" for metric in metrics]
    return moves_words(verdicts, what) + low + open_words([metric.is_open for metric in metrics], what)


def moves_words(verdicts: Sequence[Verdict | None], what: str) -> str:
    """Return how many of several verdicts went which way."""
    n_all, of_all = len(verdicts), counted(len(verdicts), what)
    every = f"both {what}s" if n_all == 2 else f"all {of_all}"
    moved = [(word, n) for verdict, word in MOVED.items() if (n := verdicts.count(verdict))]
    if moved:
        (first, n), *others = moved
        share = every if n == n_all else f"{n} of {of_all}"
        return ", ".join([f"{share} {first}", *(f"{number} {word}" for word, number in others)])
    if verdicts.count("identical") == n_all:
        return f"identical in {every}"
    if verdicts.count("not_comparable") == n_all:
        return f"none of {of_all} can be compared"
    return "no difference detected"


def open_words(are_open: Sequence[bool], what: str = "metric") -> str:
    """Return that unknown labels could change verdicts, "" if they could not.

    >>> open_words([True, True]), open_words([True, False]), open_words([False])
    (' as judged; open', ' as judged; 1 of 2 metrics open', '')
    """
    n = sum(are_open)
    which = "" if n == len(are_open) else f"{n} of {counted(len(are_open), what)} "
    return f" as judged; {which}open" if n else ""


def finding(metric: Estimate) -> str:
    """Return the finding for one metric, in a few words."""
    if metric.about.shown_only is not None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}: shown, not compared"
    if metric.verdict == "not_comparable" or metric.delta is None:
        why = None if metric.about.not_comparable is None else NOT_COMPARABLE[metric.about.not_comparable]
        return f"{metric.metric} cannot be compared" + (f": {why}" if why else "")
    if metric.verdict == "identical":
        return f"{metric.metric} is identical on {'all ' if metric.n > 1 else 'the '}{queries(metric.n)}"
    if few := few_words(metric.about.check):
        return f"open: {few} ({metric.metric} {points(metric.delta, signed=True)} so far)"
    if metric.p_value is None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}, which no test can judge"
    return found(metric.metric, metric.verdict, metric.delta, is_low=metric.has_low_information, is_open=metric.is_open)


def found(name: str, verdict: Verdict | None, delta: float, *, is_low: bool, is_open: bool) -> str:
    """Return what a test found; ``is_low``: on low information; ``is_open``: whether unknown labels could change it.

    >>> found("ndcg@10", "improved", 0.0609, is_low=False, is_open=True)
    'ndcg@10 better by 0.0609 as judged; open'
    """
    if verdict in MOVED:
        few = " (low information: not a safe verdict)" if is_low else ""
        return f"{name} {MOVED[verdict]} by {points(abs(delta))}{few}{open_words([is_open])}"
    few = "; low information" if is_low else ""
    return f"no difference detected in {name} ({points(delta, signed=True)}{few}){open_words([is_open])}"


def judged_cell(metric: Estimate) -> str | None:
    """Return the judged shares of the first ranks of both runs, None if they are about the same."""
    share = metric.about.judged
    if share is None or share.baseline is None or share.candidate is None or not share.is_apart:
        return None
    return f"{percent(share.baseline)}, {percent(share.candidate)}"


_STATISTICS = (
    Column("metric", "metric", "id"),
    Column("wins", "better", "count"),
    Column("ties", "same", "count"),
    Column("losses", "worse", "count"),
    Column("alone", "alone", "interval", "the 95% interval by the judge alone", of="others.judge.ci", signed=True),
    Column("d_z", "d_z", "mean", EFFECT, of="effect_size", signed=True, digits=2),
    Column("detectable", "detectable", "text", DETECTABLE, of=detectable_cell, right=True),
    Column("judged", "judged", "text", JUDGED, of=judged_cell, right=True),
)
"""The further evidence of a metric."""


def _other_labels(metric: Estimate, comparison: Comparison, first: Comparison) -> list[str]:
    """Return the labels of a candidate if they differ from the first candidate's, with the baseline's mean."""
    version = comparison.label_set.version
    if version == first.label_set.version or metric.baseline is None:
        return []
    mean = f"the baseline has {points(metric.baseline)} in {metric.metric}"
    return [f"under version {version} of the labels, not {first.label_set.version}: {mean}"]


def metric_footnotes(metric: Estimate, comparisons: Sequence[Comparison] = ()) -> list[str]:
    """Return the footnotes of one metric.

    ``comparisons``: all comparisons that are shown together; their correction may have decided a verdict.
    """
    footnotes = count_footnotes(metric.about.groups)
    warnings = [warning for warning in metric.warnings if warning.kind != "tests_symmetry"]  # the legend says so
    footnotes += [_warning(warning, metric.about.ci_method, comparisons) for warning in warnings]
    if metric.about.not_comparable == "nothing_judged":
        footnotes.append("neither run has a judged item that counts, so their equal results say nothing about them")
    if metric.about.not_comparable in ("baseline_not_judged", "candidate_not_judged"):
        side = metric.about.not_comparable.partition("_")[0]
        footnotes.append(f"the {side} has no judged item that counts, so its results say nothing about it")
    if metric.verdict == "identical":
        footnotes.append(IDENTICAL)
    if metric.p_value is not None and comparisons:
        alone = f"p {p_text(metric.p_value)} by itself, which is not enough when {n_tested(comparisons)} are tested"
        is_lost = metric.verdict == "no_difference_detected" and metric.p_value < ALPHA
        footnotes += [f"{alone} together"] * is_lost
    return footnotes


def _warning(warning: Note, ci_method: str, comparisons: Sequence[Comparison]) -> str:
    """Return a warning about the interval that is shown, worded so that metrics can share it where several have it."""
    if warning.kind != "low_information":
        return sentence(warning)
    shown = {"t": T_INTERVAL, "betting": ""}.get(ci_method, "the interval")
    if sum(metric.has_low_information for comparison in comparisons for metric in comparison.metrics) > 1:
        return few_differences(warning, shown)
    facts: Mapping[str, Any] = warning.facts
    return low_information(**facts, interval=shown)


def n_tested(comparisons: Sequence[Comparison]) -> int:
    """Return how many p-values Holm's correction covers."""
    return sum(metric.p_value is not None for comparison in comparisons for metric in comparison.metrics)


def together_words(metric: Estimate, n: int) -> str:
    """Return the finding for one metric among all that are tested together, "" if it is tested alone.

    Parameters: ``metric``: corrected together with the others. ``n``: the number of p-values.
    """
    if n < 2 or metric.p_value is None:
        return ""
    return (
        f"p is for {metric.metric} tested alone. Holm-corrected over the {n} tests of all metrics that these runs "
        f"share, p is {p_text(metric.p_adjusted)}: {finding(metric)}."
    )


def legend(comparisons: Sequence[Comparison], spelled: Spelling = in_python) -> list[str]:
    """Return how to read the numbers of these comparisons, which share one correction of their p-values."""
    metrics = [metric for comparison in comparisons for metric in comparison.metrics]
    lines = evidence_words(comparisons)
    if any(metric.is_drawn for metric in metrics):
        return [CHECK_LEGEND, *lines[1:]]
    if comparisons[0].suite is not None:
        lines.append("macro: each dataset counts once; micro: each query counts once")
    if any(_could_bet(metric) for metric in metrics):
        wide = f"{argument('ci', 'betting')}: an interval that allows for rare, large differences"
        lines.append(worded(wide, spelled))
    if any(metric.equivalence is not None and metric.equivalence.p_value is not None for metric in metrics):
        lines.append("equivalence: two one-sided t-tests (TOST), each metric on its own")
    return lines


def _could_bet(metric: Estimate) -> bool:
    """Return whether the verdict rests on a t interval of few nonzero differences."""
    is_detected = metric.verdict in ("improved", "regressed") and metric.about.ci_method == "t"
    n_moved = (metric.wins or 0) + (metric.losses or 0)
    return is_detected and not metric.is_drawn and (metric.has_low_information or n_moved < enough_for(0.05))

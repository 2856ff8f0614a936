"""A comparison as a report and as rows: the verdict first, then the evidence for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.results import (
    ALPHA,
    ENDS,
    NOT_COMPARABLE,
    Comparison,
    Estimate,
    GroupCounts,
    GroupDelta,
)
from ndcg_tracker.compare.say_drawn import (
    CHECK_LEGEND,
    check_facts,
    check_table,
    checked_by,
    favours,
    few_words,
    is_drawn,
)
from ndcg_tracker.compare.say_tables import (
    IDENTICAL,
    VERDICT_STYLES,
    canonical_names,
    delta_cell,
    detectable_cell,
    detectable_legend,
    equivalence_tables,
    evidence_words,
    facts,
    group_tables,
    is_judged,
    marks_of,
    slice_tables,
    tie_tables,
    told_in_table,
)
from ndcg_tracker.errors import Spelling, argument, in_python, worded
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Report, Table, columns, marks
from ndcg_tracker.render.terminal import Painted, Style
from ndcg_tracker.statistics.t_test import enough_for
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Note, few_differences, renamed, sentence, told
from ndcg_tracker.words.sentences import T_INTERVAL, low_information
from ndcg_tracker.words.texts import UNDEFINED, counted, interval, p_text, percent, points

SIGNS = {
    "improved": "▲",
    "regressed": "▼",
    "no_difference_detected": "~",
    "identical": "=",
    "not_comparable": "?",
    "open": "?",
}
JUDGED = "judged: share of the first ranks with a label, in the baseline and in the candidate"
FOLD = "what was compared, and how to read it"

_METRIC_COLUMNS = columns("metric", ">baseline", ">candidate", ">delta", ">95% interval", ">p")

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
}


def comparison_said(*comparisons: Comparison, spelled: Spelling = in_python, details: bool = True) -> Said:
    """Return the output for one comparison, or for several candidates with one baseline.

    Parameters: ``spelled``: how arguments are spelled for people. ``details``: whether a report per candidate follows
    the table of several, for people.
    """
    return Said(
        lambda: comparison_object(*comparisons),
        lambda: comparison_reports(*comparisons, spelled=spelled, details=details),
        lambda: Table.of_rows(
            [row for each in comparisons for row in (*metric_rows(each), *slice_rows(each))], list(_CSV_COLUMNS)
        ),
    )


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
    shared = {**with_runs(as_json), "metric": first["metric"], "requested_as": first["requested_as"]}
    wanted = {**RUN_COLUMNS, **_RESULT_COLUMNS, **_SLICE_COLUMNS}
    wanted |= paths("verdict requested_as warnings judge=label_set.judge")
    return [
        picked(wanted, {**shared, "ci_method": "t", "test": "t", **row, "warnings": row["warning"] or ""})
        for row in as_json.get("slices", ())
    ]


def with_runs(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object of a comparison with its runs under names that no mean has."""
    return {**comparison, "baseline_of": comparison["baseline"], "candidate_of": comparison["candidate"]}


@shape_of(Comparison)
def _comparison_shape(comparison: Comparison) -> Mapping[str, object]:
    shape = fields_of(comparison, "tie_groups", "n_tie_groups", "slices", "slice_attribute", "are_labels_asked")
    if comparison.tie_groups is not None:
        shape |= {"tie_groups": comparison.tie_groups, "n_tie_groups": comparison.n_tie_groups}
    if comparison.slices is not None:
        shape["slices"] = [
            {"attribute": comparison.slice_attribute, **picked(SLICE_KEYS, row)} for row in comparison.slices
        ]
    return shape


_METRIC_KEYS = paths(
    "metric baseline candidate delta ci ci_method p_value p_adjusted test wins ties losses effect_size "
    "detectable_delta warnings verdict not_comparable n groups shown_only equivalence variance clusters rare_loss "
    "low_information=has_low_information direction judged is_open open"
)
_IF_ANY = ("equivalence", "variance", "clusters", "rare_loss")
_END_KEYS = paths("delta ci p_value p_adjusted verdict")
SLICE_KEYS = paths(
    "value n baseline candidate delta ci wins ties losses p_value q_value p_adjusted verdict warning=warnings.0"
)


@shape_of(Estimate)
def _metric_shape(metric: Estimate) -> Mapping[str, object]:
    shape = {key: of for key, of in picked(_METRIC_KEYS, metric).items() if of is not None or key not in _IF_ANY}
    shape["requested_as"] = metric.requested_as or metric.metric
    shape["betting_ci"] = metric.ci if metric.ci_method == "betting" else None
    if metric.about.unjudged is not None:
        shape["unjudged"] = unjudged_shape(metric)
    if metric.check is not None:
        alone = {name: picked(paths("delta ci p_value"), metric.others.get(name)) for name in ("judge", "favour")}
        shape["check"] = fields_of(metric.check, "mean") | alone
    effect = metric.tie_effect
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


def comparison_reports(*comparisons: Comparison, spelled: Spelling = in_python, details: bool = True) -> list[Report]:
    """Return a report per candidate, after an overview of several; without ``details``, only the overview."""
    shown = tuple(for_people(comparison) for comparison in comparisons)
    reports = [
        _report(comparison, stored, shown, spelled) for comparison, stored in zip(shown, comparisons, strict=True)
    ]
    if len(shown) == 1:
        return reports
    overview = _overview(shown, spelled)
    if details:
        return [replace(overview, legend=legend(shown, spelled), is_overview=True), *reports]
    facts = dict.fromkeys(
        fact for report in reports for fact in report.facts if fact[0] in ("groups", "labels", "look")
    )
    notes = dict.fromkeys(note for report in reports for note in report.notes)
    return [replace(overview, facts=list(facts), notes=list(notes))]


def _report(comparison: Comparison, stored: Comparison, shown: Sequence[Comparison], spelled: Spelling) -> Report:
    compared = [metric for metric in comparison.metrics if metric.shown_only is None]
    paired = ("groups", f"{comparison.groups.paired:,} paired")
    findings = [Painted(f"{sign(metric)} {finding(metric)}", style_of(metric)) for metric in compared]
    return Report(
        headline(comparison),
        findings=findings if len(compared) > 1 and len(shown) == 1 else (),
        sentences=[*(_changed_labels(comparison) if len(shown) == 1 else ()), *favours(comparison)],
        tables=[_metric_table(comparison, shown), *equivalence_tables(comparison)],
        legend=legend(shown, spelled),
        facts=[
            paired,
            *facts(comparison, spelled, beside_table=True),
            *check_facts(comparison),
            *canonical_names(comparison, stored),
        ],
        notes=[told(note) for note in comparison.notes if note.kind != "labels_changed"],
        details=[*slice_tables(comparison), *group_tables(comparison), *tie_tables(comparison)],
        fold=FOLD,
        is_headline_wrapped=any(metric.is_open for metric in compared),
    )


def _changed_labels(comparison: Comparison) -> list[str]:
    """Return how labels changed, which may be all that the difference is about, and a command, each on its line."""
    changes = [told(note) for note in comparison.notes if note.kind == "labels_changed"]
    return [line for of in changes for line in (f"{of.sentence}{':' if of.command else ''}", of.command) if line]


def _overview(comparisons: Sequence[Comparison], spelled: Spelling) -> Report:
    """Return the verdict on every candidate and metric."""
    first = comparisons[0]
    rows: list[list[object]] = [
        [first.baseline.name, metric.metric, points(metric.baseline), "baseline", *[""] * 4] for metric in first.metrics
    ]
    beside, footnotes = [""] * len(rows), list[str]()
    for comparison in comparisons:
        for metric in comparison.metrics:
            told_apart = _other_labels(metric, comparison, first)
            beside.append(marks([*told_apart, *metric_footnotes(metric, comparisons)], footnotes))
            verdict = "shown, not compared" if metric.told is None else metric.told.replace("_", " ")
            verdict = verdict if is_judged(metric) else "cannot be judged"
            told_so = (f"{sign(metric)} {verdict}", points(metric.delta, signed=True))
            painted = [Painted(text, style_of(metric)) for text in told_so]
            evidence = [*painted, interval(metric.ci, signed=True), p_text(metric.p_adjusted), _beside(metric)]
            rows.append([comparison.candidate.name, metric.metric, points(metric.candidate), *evidence])
    is_checked = any(map(is_drawn, comparisons))
    last = "alone" if is_checked else "w/t/l"
    heads = [*columns("run", "metric", ">mean", "verdict", ">delta", ">95% interval", ">p", f">{last}")]
    spare = ("mean", "w/t/l")
    heads = [replace(column, is_spare=column.key in spare) for column in heads]
    if is_checked:  # of a sample, the means of runs are not known
        heads, rows = [*heads[:2], *heads[3:]], [[*row[:2], *row[3:]] for row in rows]
    table = Table(heads, rows, names=(0, 1), marks=beside, footnotes=footnotes, n_below=3)
    title = f"{counted(len(comparisons), 'candidate')} against {first.baseline.name} on {judged_dataset(first)}"
    changed = dict.fromkeys(line for each in comparisons for line in _changed_labels(each))
    favoured = [f"{each.candidate.name}: {favour}" for each in comparisons for favour in favours(each)]
    tested = [] if is_checked else ["w/t/l: groups won, tied and lost"]
    more = worded(f"{argument('details')}: the tables of each candidate", spelled)
    told = evidence_words(comparisons)
    told = [CHECK_LEGEND, *told[1:]] if is_checked else told
    return Report(title, sentences=[*changed, *favoured], tables=[table], legend=[*told, *tested, more])


def _beside(metric: Estimate) -> str:
    """Return how many groups won, tied and lost; of a judge whom people check, the difference by its labels alone."""
    if metric.check is not None:
        return points(metric.others["judge"].delta, signed=True)
    if metric.wins is None:
        return UNDEFINED
    return f"{metric.wins:,}/{metric.ties:,}/{metric.losses:,}"


def for_people(comparison: Comparison) -> Comparison:
    """Return the comparison with its metrics named as people know them."""
    from ndcg_tracker.metrics.language.dialects import familiar_name  # printing a table needs no NumPy

    names = {metric.metric: familiar_name(metric.metric, metric.requested_as) for metric in comparison.metrics}
    metrics = tuple(
        replace(metric, about=replace(metric.about, metric=names[metric.metric])) for metric in comparison.metrics
    )
    return replace(comparison, metrics=metrics, notes=tuple(renamed(note, names) for note in comparison.notes))


def runs(comparison: Comparison) -> str:
    """Return which runs were compared on which dataset, and whose labels if a judge is named."""
    return f"{comparison.candidate.name} against {comparison.baseline.name} on {judged_dataset(comparison)}"


def judged_dataset(comparison: Comparison) -> str:
    judge, who = comparison.label_set.judge, checked_by(comparison)
    if judge in NO_LABELS_HERE:
        return comparison.dataset
    told = ", ".join(filter(None, (judge and f"judge {judge!r}", who and f"checked by {who!r}")))
    return f"{comparison.dataset} ({told})" if told else comparison.dataset


def headline(comparison: Comparison) -> str:
    """Return the verdict in one sentence: on the metric, or on how many of several."""
    metrics = [metric for metric in comparison.metrics if metric.shown_only is None]
    if not metrics:
        shown = comparison.metrics
        told = finding(shown[0]) if len(shown) == 1 else f"{counted(len(shown), 'metric')} shown, none compared"
    else:
        comparable = metrics
        if not any(metric.verdict in ("improved", "regressed") for metric in metrics):
            comparable = [metric for metric in metrics if metric.verdict != "not_comparable"] or metrics
        told = finding(comparable[0]) if len(comparable) == 1 else tally(comparable)
        if len(comparable) < len(metrics):
            told += f", {len(metrics) - len(comparable)} more cannot be compared"
    return f"{runs(comparison)}: {told}"


def _every(n: int) -> str:
    return "both metrics" if n == 2 else f"all {n} metrics"


def tally(metrics: Sequence[Estimate]) -> str:
    """Return how many of several metrics changed, which way, and how many of these verdicts have low information."""
    n_low = sum(metric.has_low_information for metric in metrics)
    return _moves(metrics) + (f" ({n_low} of {len(metrics)} on low information)" if n_low else "")


def _moves(metrics: Sequence[Estimate]) -> str:
    counts = {verdict: sum(metric.told == verdict for metric in metrics) for verdict in SIGNS}
    n_metrics = counted(len(metrics), "metric")
    moved = [verdict for verdict in ("regressed", "improved", "open") if counts[verdict]]
    if moved:
        first, *others = moved
        share = _every(len(metrics)) if counts[first] == len(metrics) else f"{counts[first]} of {n_metrics}"
        return ", ".join([f"{share} {first}", *(f"{counts[verdict]} {verdict}" for verdict in others)])
    if counts["identical"] == len(metrics):
        return f"identical in {_every(len(metrics))}"
    if counts["not_comparable"] == len(metrics):
        return f"none of {n_metrics} can be compared"
    return f"no difference detected in any of {n_metrics}"


def finding(metric: Estimate) -> str:
    """Return the finding for one metric, in a few words."""
    if metric.shown_only is not None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}: shown, not compared"
    if metric.verdict == "not_comparable" or metric.delta is None:
        why = None if metric.not_comparable is None else NOT_COMPARABLE[metric.not_comparable]
        return f"{metric.metric} cannot be compared" + (f": {why}" if why else "")
    if metric.verdict == "identical":
        return f"{metric.metric} is identical on {'all ' if metric.n > 1 else 'the '}{counted(metric.n, 'group')}"
    if few := few_words(metric.check):
        return f"open: {few} ({metric.metric} {points(metric.delta, signed=True)} so far)"
    if metric.p_value is None:
        return f"{metric.metric} differs by {points(metric.delta, signed=True)}, which no test can judge"
    if metric.verdict == "no_difference_detected":
        few = "; low information" if metric.has_low_information else ""
        undetected = f"no difference detected in {metric.metric} ({points(metric.delta, signed=True)}{few})"
        return undetected + unless(metric)
    unsafe = " (low information: not a safe verdict)" if metric.has_low_information else ""
    return f"{metric.metric} {metric.verdict} by {points(abs(metric.delta))}{unsafe}{unless(metric)}"


def unless(metric: Estimate) -> str:
    """Return the condition under which a verdict holds, if unknown labels could change it."""
    turning = metric.turning
    if turning is None or metric.is_wide:
        return ""
    whose = "candidate" if turning is metric.others["high"] else "baseline"
    moved = turning.verdict in ("improved", "regressed") and turning.delta is not None
    found = (
        f"but {turning.verdict} by {points(abs(turning.delta or 0.0))}"
        if moved
        else f"but no difference is detected ({points(turning.delta, signed=True)})"
    )
    return f" if unjudged items are worth nothing, {found} if the {whose}'s are as good as its judged items"


def style_of(metric: Estimate) -> Style | None:
    """Return the style of a metric's verdict, None for an open one."""
    return VERDICT_STYLES.get(metric.told)


def sign(metric: Estimate) -> str:
    """Return the sign of a metric's verdict; "?" also if nothing could be tested."""
    if metric.verdict is None:
        return "·"
    return SIGNS[metric.told or metric.verdict] if is_judged(metric) else SIGNS["not_comparable"]


def _metric_table(comparison: Comparison, comparisons: Sequence[Comparison]) -> Table:
    """Return the table of means, differences and p-values, and of the evidence that at least one metric has."""
    if is_drawn(comparison):
        return check_table(comparison, lambda metric: metric_footnotes(metric, comparisons))
    evidence: list[tuple[str, Callable[[Estimate], str | None]]] = [
        ("wins", lambda metric: None if metric.wins is None else f"{metric.wins:,}"),
        ("ties", lambda metric: None if metric.ties is None else f"{metric.ties:,}"),
        ("losses", lambda metric: None if metric.losses is None else f"{metric.losses:,}"),
        ("d_z", lambda metric: f"{metric.effect_size:+.2f}" if metric.effect_size is not None else None),
        ("detectable", detectable_cell),
        ("judged", judged_cell),
    ]
    metrics, footnotes = comparison.metrics, list[str]()
    shown = [(name, cell) for name, cell in evidence if any(cell(metric) is not None for metric in metrics)]
    return Table(
        (*_METRIC_COLUMNS, *columns(*(f">{name}" for name, _ in shown))),
        [[*metric_cells(metric), *(cell(metric) or UNDEFINED for _, cell in shown)] for metric in metrics],
        marks=[marks(metric_footnotes(metric, comparisons), footnotes) for metric in metrics],
        footnotes=footnotes,
        second=len(_METRIC_COLUMNS),
    )


def judged_cell(metric: Estimate) -> str | None:
    """Return the judged shares of the first ranks of both runs, None if they are about the same."""
    share = metric.judged
    if share is None or share.baseline is None or share.candidate is None or not share.is_apart:
        return None
    return f"{percent(share.baseline)}, {percent(share.candidate)}"


def metric_cells(metric: Estimate) -> list[object]:
    """Return the row of one metric: its means, what changed, between which values, and the p-value."""
    return [
        metric.metric,
        points(metric.baseline),
        points(metric.candidate),
        delta_cell(metric.delta, told_in_table(metric)),
        interval(metric.ci, signed=True),
        p_text(metric.p_adjusted),
    ]


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
    footnotes = _count_footnotes(metric.groups)
    warnings = [warning for warning in metric.warnings if warning.kind != "tests_symmetry"]  # the legend says so
    footnotes += [_warning(warning, metric.ci_method, comparisons) for warning in warnings]
    if metric.not_comparable == "nothing_judged":
        footnotes.append("neither run has a judged item that counts, so their equal results say nothing about them")
    if metric.not_comparable in ("baseline_not_judged", "candidate_not_judged"):
        side = metric.not_comparable.partition("_")[0]
        footnotes.append(f"the {side} has no judged item that counts, so its results say nothing about it")
    if metric.verdict == "identical":
        footnotes.append(IDENTICAL)
    if metric.p_value is not None and comparisons:
        footnotes += _second_thoughts(metric, metric.p_value, n_tested(comparisons))
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


def _second_thoughts(metric: Estimate, p_value: float, n_metrics: int) -> list[str]:
    """Return a footnote if the p-value would have been small enough without correction."""
    notes = []
    if metric.verdict == "no_difference_detected" and p_value < ALPHA:
        notes.append(f"p {p_text(p_value)} by itself, which is not enough when {n_metrics} are tested together")
    return notes


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
        return ["; ".join([CHECK_LEGEND, *marks_of(metrics)]), *lines[1:]]
    if all(metric.p_value is None for metric in metrics):
        return lines
    lines.append("d_z: effect size, mean difference / standard deviation of the differences")
    lines += detectable_legend(metrics)
    if any(judged_cell(metric) is not None for metric in metrics):
        lines.append(JUDGED)
    if any(_could_bet(metric) for metric in metrics):
        wide = f"{argument('ci', 'betting')}: an interval that allows for rare, large differences"
        lines.append(worded(wide, spelled))
    if any(metric.equivalence is not None and metric.equivalence.p_value is not None for metric in metrics):
        lines.append("equivalence: two one-sided t-tests (TOST), each metric on its own")
    return lines


def _could_bet(metric: Estimate) -> bool:
    """Return whether the verdict rests on a t interval of few nonzero differences."""
    is_detected = metric.verdict in ("improved", "regressed") and metric.ci_method == "t"
    n_moved = (metric.wins or 0) + (metric.losses or 0)
    return is_detected and not metric.is_drawn and (metric.has_low_information or n_moved < enough_for(0.05))


def _count_footnotes(groups: GroupCounts) -> list[str]:
    """Return a sentence for every count of groups that do not have a result in both runs."""
    fate = "counted as 0 in the other" if groups.missing == "zero" else "left out"
    of_missing = "left out" if groups.missing in ("intersect", "skip") else "counted as 0"
    in_neither = 0 if groups.missing == "skip" else groups.in_neither
    sentences = [
        (
            groups.in_neither,
            f"with labels but in neither run: {'counted the same in both' if in_neither else 'left out'}",
        ),
        (groups.missing_in_baseline - in_neither, f"with labels but missing in the baseline run: {of_missing}"),
        (groups.missing_in_candidate - in_neither, f"with labels but missing in the candidate run: {of_missing}"),
        (groups.only_in_baseline, f"with a result in the baseline only: {fate}"),
        (groups.only_in_candidate, f"with a result in the candidate only: {fate}"),
        (groups.undefined, "undefined in both runs: left out"),
    ]
    return [f"{counted(n, 'group')} {sentence}" for n, sentence in sentences if n]

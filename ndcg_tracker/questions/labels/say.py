"""Versions of labels, what judges agree on, and a comparison under each version."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Unpack

from ndcg_tracker.compare.results import Comparison, LabelSetRef
from ndcg_tracker.compare.say import (
    for_people,
    legend,
    metric_footnotes,
    metric_rows,
    runs,
)
from ndcg_tracker.compare.say_tables import Row, reason_lines, rows_table, whose
from ndcg_tracker.questions.labels.decide import (
    Conclusion,
    JudgesAgreement,
    LabelsDiff,
    LabelVersion,
    VersionsComparison,
)
from ndcg_tracker.render.csv import csv_text
from ndcg_tracker.render.formats import Said, as_object, fields_of, rows_as, shape_of
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import (
    BLANK,
    Column,
    Format,
    ListPaper,
    Report,
    Table,
    columns,
    kinds,
    read_by_people,
)
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import counted, in_a_row, interval, judge_words, percent, units

MOST_GRADES = 12
"""With more grades than this, their number is shown instead of each grade."""
_VERSION_COLUMNS = ("version", "digest", "created_at_utc", "source", "n_groups", "n_items", "n_labels", "n_runs")
_SPARE = ("digest", "source")
_ORIGIN_COLUMNS = ("extends", "added_by", "from_runs", "model", "prompt", "repeats", "left_out")
_GRADE_COLUMNS = ("dataset", "first", "second", "grade_first", "grade_second", "n")


def label_versions_as(format: Format, versions: Sequence[LabelVersion], **paper: Unpack[ListPaper]) -> str:
    """Return the versions of a dataset's labels in a format, with a line end."""
    if format == "json":
        return json_text(as_object(tuple(versions)))
    if format == "csv":
        names = ["dataset", *_VERSION_COLUMNS, "judge", "grades", *_ORIGIN_COLUMNS]
        return csv_text(names, Table.of([Column(name, of=_CELLS.get(name, "")) for name in names], versions).rows)
    told = [name for name in ("judge", *_ORIGIN_COLUMNS) if any(getattr(version, name) for version in versions)]
    cells = _CELLS | {"digest": lambda version: version.digest[:12], "grades": _few_grades}
    heads = [
        replace(of, of=cells.get(of.key, ""), kind="count" if of.key[:2] == "n_" else None, is_spare=of.key in _SPARE)
        for of in read_by_people(*_VERSION_COLUMNS, *told, "grades")
    ]
    return rows_as(format, heads, Table.of(heads, versions).rows, **paper)


def _grades(version: LabelVersion, equals: str = "=", between: str = " ") -> str:
    return between.join(f"{frequency.grade:g}{equals}{frequency.n}" for frequency in version.grades)


def _few_grades(version: LabelVersion) -> str:
    """Return how often each grade was given, or how many grades there are."""
    grades = version.grades
    if len(grades) > MOST_GRADES:
        return f"{len(grades):,} from {grades[0].grade:g} to {grades[-1].grade:g}"
    return _grades(version, ": ", ", ")


_CELLS: dict[str, Callable[[LabelVersion], str]] = {"grades": _grades, "from_runs": lambda of: " ".join(of.from_runs)}


def labels_diff_said(diff: LabelsDiff) -> Said:
    """Return the output for two label sets; CSV has a row per pair of grades."""
    return Said(diff, lambda: [labels_diff_report(diff)], lambda: _grade_table(diff))


def _grade_table(diff: LabelsDiff) -> Table:
    of_both = (diff.dataset, diff.first.version, diff.second.version)
    return Table(columns(*_GRADE_COLUMNS), [(*of_both, of.first, of.second, of.n) for of in diff.grades])


def labels_diff_report(diff: LabelsDiff) -> Report:
    """Return the report of two label sets: agreement, sizes, grades against grades, and the largest changes."""
    first, second = (_named(label_set) for label_set in (diff.first, diff.second))
    n_changed = diff.labels.in_both - diff.n_equal
    agreement = "they have no label in common"
    if diff.labels.in_both:
        agreement = (
            f"{percent(diff.agreement)} of the {counted(diff.labels.in_both, 'label')} in both have the same grade"
        )
    sides = {"first": first, "second": second, "in_both": "in both", "gone": "gone", "new": "new"}
    of_sides = (Column("", title, "count", of=f"1.{key}") for key, title in sides.items())
    heads = (Column("", BLANK, "id", of="0"), *of_sides)
    sizes = Table.of(heads, [(units(), diff.groups), ("labels", diff.labels)])
    tables = [sizes, *_grade_tables(diff)]
    if diff.changes:
        rows = [[change.group, change.item, f"{change.first:g}", f"{change.second:g}"] for change in diff.changes]
        title = f"labels whose grade changed most ({len(rows)} of {n_changed:,})"
        tables.append(Table(columns("group", "item", f">{first}", f">{second}"), rows, title, names=(0, 1)))
    reasons = [
        (f"{change.group}, {change.item} ({grade:g})", detail)
        for change in diff.changes
        for grade, detail in ((change.first, change.first_detail), (change.second, change.second_detail))
    ]
    gone, new = (diff.gone_groups, diff.groups.gone), (diff.new_groups, diff.groups.new)
    moved = [f"{name} {units()}: {_listed(*of)}" for name, of in (("gone", gone), ("new", new)) if of[1]]
    headline = f"labels of {diff.dataset}, {second} against {first}: {agreement}"
    return Report(headline, sentences=moved, tables=tables, lines=reason_lines(reasons))


def _grade_tables(diff: LabelsDiff, *, of_pairs: bool = False) -> list[Table]:
    """Return one table of how often each grade of the first labels met each of the second; none for many grades.

    ``of_pairs``: count only what both have.
    """
    first, second = (_named(label_set) for label_set in (diff.first, diff.second))
    levels = sorted({grade for count in diff.grades for grade in (count.first, count.second) if grade is not None})
    if not levels or len(levels) > MOST_GRADES:
        return []
    of = {(count.first, count.second): f"{count.n:,}" for count in diff.grades} | {(None, None): ""}
    across: list[float | None] = [*levels, *([] if of_pairs else [None])]
    names = ["none" if grade is None else f"{grade:g}" for grade in across]
    rows = [
        [name, *(of.get((grade, other), "0") for other in across)] for name, grade in zip(names, across, strict=True)
    ]
    heads = columns("", *(f">{name}" for name in names))
    return [Table(heads, rows, f"grades: rows from {first}, columns from {second}")]


def _named(labels: LabelSetRef) -> str:
    return f"version {labels.version}{whose(labels)}" if labels.version else f"answers{whose(labels)}"


def _listed(keys: Sequence[str], n: int) -> str:
    more = f" and {n - len(keys):,} more" if n > len(keys) else ""
    return ", ".join(keys) + more


def agreement_said(agreement: JudgesAgreement) -> Said:
    """Return the output for two judges; CSV has a row per pair of grades."""
    return Said(
        agreement,
        lambda: [_agreement_report(agreement)],
        lambda: _grade_table(agreement.diff),
        dataset=agreement.diff.dataset,
    )


@shape_of(JudgesAgreement)
def _agreement_shape(agreement: JudgesAgreement) -> dict[str, object]:
    return fields_of(agreement, "pairs", "reasons")


def pairs_csv(agreement: JudgesAgreement) -> str:
    """Return CSV with the grades of both judges side by side and their reasons, to tune the prompt of one."""
    names = [judge or "unnamed" for judge in (agreement.judge, agreement.against)]
    if not agreement.reasons:
        return csv_text(["group", "item", *names], agreement.pairs)
    rows = [(*pair, *reasons) for pair, reasons in zip(agreement.pairs, agreement.reasons, strict=True)]
    return csv_text(["group", "item", *names, *(f"reason of {name}" for name in names)], rows)


def _agreement_report(agreement: JudgesAgreement) -> Report:
    """Return the report of two judges: kappa, grades against grades, and errors by run."""
    diff, answers, n_pairs = agreement.diff, agreement.answers, agreement.signed_error.n
    first, second = (judge.judge or "unnamed" for judge in (diff.first, diff.second))
    labels = labels_diff_report(diff)
    kappa, sentence = "weighted kappa is undefined", labels.headline or ""
    if agreement.kappa is not None:
        ci = "" if agreement.kappa.ci is None else f" {interval(agreement.kappa.ci)}"
        kappa = f"weighted kappa {agreement.kappa.value:.3f}{ci}"
    if answers is not None:
        numbers = in_a_row([f"{number}" for number in answers.designs])
        sentence = f"{counted(answers.n, 'answer')} of {answers.checked_by!r} to "
        sentence += f"design{'' if len(answers.designs) == 1 else 's'} {numbers}"
        if n_pairs < answers.n:
            sentence += f" ({answers.n - n_pairs:,} of them for items without a grade of {judge_words(answers.judge)})"
        sentence += f": {percent(diff.agreement)} have the same grade" if n_pairs else ""
    tables = [*_grade_tables(diff, of_pairs=True), *labels.tables[1 + len(_grade_tables(diff)) :]]
    legend = [f"weighted kappa: Cohen's, quadratic weights; 95% interval: jackknife over {units()}"]
    if n_pairs:
        title = f"grade of {agreement.judge or 'unnamed'} minus grade of {agreement.against or 'unnamed'}"
        heads = kinds("run id, n count labels, error delta, ci interval 95% interval")
        total = agreement.signed_error
        of_all = {"run": "all labels", "n": total.n, "error": total.error, "ci": total.ci}
        tables.append(Table.of(heads, [*agreement.signed_errors, of_all], title))
        legend.append(f"error: the mean among the first ranks of a run; 95% interval: t over {units()}")
    return Report(
        f"{second} against {first} on {diff.dataset}: {kappa}",
        sentences=[sentence],
        tables=tables if answers is not None else [labels.tables[0], *tables],
        lines=labels.lines,
        legend=legend,
        notes=list(map(told, agreement.notes)),
    )


def versions_said(versions: VersionsComparison) -> Said:
    """Return the output for a comparison under every version; CSV has a row per candidate, version and metric."""
    return Said(
        versions,
        lambda: versions_reports(versions),
        lambda: Table.of_rows([row for comparison in versions.comparisons for row in metric_rows(comparison)]),
        dataset=versions.comparisons[0].dataset,
    )


@shape_of(VersionsComparison)
def _versions_shape(versions: VersionsComparison) -> dict[str, object]:
    names = ("candidate", "version", "judge")
    return {
        "versions": versions.comparisons,
        "conclusions": versions.conclusions,
        "not_evaluated": [dict(zip(names, of, strict=True)) for of in versions.not_evaluated],
        "notes": versions.notes,
    }


def versions_reports(versions: VersionsComparison) -> list[Report]:
    """Return a report per candidate: whether the conclusion changes, and a row per version and metric."""
    shown = [for_people(comparison) for comparison in versions.comparisons]
    conclusions = VersionsComparison(tuple(shown)).conclusions
    reports = [
        _versions_report(
            [comparison for comparison in shown if comparison.candidate.name == name],
            [conclusion for conclusion in conclusions if conclusion.candidate == name],
        )
        for name in dict.fromkeys(comparison.candidate.name for comparison in shown)
    ]
    return [*reports[:-1], replace(reports[-1], notes=[told(note) for note in versions.notes])]


def _versions_report(of_run: Sequence[Comparison], conclusions: Sequence[Conclusion]) -> Report:
    judges = {comparison.label_set.judge for comparison in of_run}
    of_judges = len(judges) > 1
    changing = [conclusion.metric for conclusion in conclusions if conclusion.changes]
    turning = [conclusion.metric for conclusion in conclusions if conclusion.turns_between_judges]
    if of_judges and turning:
        outcome = f"the verdict on {', '.join(turning)} turns between judges"
    elif changing:
        outcome = f"the conclusion on {', '.join(changing)} changes"
    elif len(of_run) == 1 or not conclusions:
        outcome = "nothing to compare it with" if conclusions else "no metric is tested"
    else:
        outcome = "the verdict is the same under each" if of_judges else "the conclusion is the same under each"
    whose = any(judges)
    rows = [
        Row.of(
            metric,
            [*([of.label_set.judge or "unnamed"] if whose else []), f"{of.label_set.version}", metric.metric],
            metric_footnotes(metric, [of]),
        )
        for of in of_run
        for metric in of.metrics
    ]
    heads = [*(["judge"] if whose else []), "labels", "metric"]
    table = rows_table(rows, heads, (of_run[0].baseline.name, of_run[0].candidate.name))
    under = f"{counted(len(of_run), 'version')} of the labels"
    under += f" of {counted(len(judges), 'judge')}" if of_judges else ""
    first = of_run[0]
    of_runs = f"{first.candidate.name} against {first.baseline.name} on {first.dataset}" if of_judges else runs(first)
    return Report(
        f"{of_runs}, {under}: {outcome}",
        tables=[table],
        legend=legend(of_run[-1:])[:2],
    )

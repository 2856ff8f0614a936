"""Versions of labels, what judges agree on, and a comparison under each version."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Unpack

from ndcg_tracker.compare.results import Comparison, LabelSetRef
from ndcg_tracker.compare.say import (
    for_people,
    legend,
    metric_footnotes,
    metric_rows,
    runs,
)
from ndcg_tracker.compare.say_tables import Row, rows_table, whose
from ndcg_tracker.questions.labels.decide import (
    Conclusion,
    DrawnAnswers,
    GradeCount,
    JudgesAgreement,
    LabelsDiff,
    LabelVersion,
    RunError,
    SliceAgreement,
    VersionsComparison,
    VersionVerdict,
)
from ndcg_tracker.render.csv import csv_text
from ndcg_tracker.render.formats import Said, as_object, fields_of, rows_as, shape_of
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import Column, Format, Paper, Report, Table, columns, heading, to_the_second
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.statistics.similarity import SignedError
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import UNDEFINED, counted, in_a_row, interval, judge_words, percent, points
from ndcg_tracker.words.verdicts import MARKS

MOST_GRADES = 12
"""With more grades than this, their number is shown instead of each grade."""
_DIGEST = 12
_VERSION_COLUMNS = ("version", "digest", "created_at_utc", "source", "n_groups", "n_items", "n_labels", "n_runs")
_SPARE = ("digest", "source")
_ORIGIN_COLUMNS = ("extends", "added_by", "from_runs")
_GRADE_COLUMNS = ("dataset", "first", "second", "grade_first", "grade_second", "n")


def label_versions_as(format: Format, versions: Sequence[LabelVersion], **paper: Unpack[Paper]) -> str:
    """Return the versions of a dataset's labels in a format, with a line end."""
    if format == "json":
        return json_text(as_object(tuple(versions)))
    if format == "csv":
        names = ["dataset", *_VERSION_COLUMNS, "judge", "grades", *_ORIGIN_COLUMNS]
        return csv_text(
            names,
            [
                [_grades(version, "=", " ") if name == "grades" else _origin(version, name) for name in names]
                for version in versions
            ],
        )
    shown = [
        Column(name, heading(name), right=name == "version" or name.startswith("n_"), is_spare=name in _SPARE)
        for name in _VERSION_COLUMNS
    ]
    judges = [name for name in ("judge", *_ORIGIN_COLUMNS) if any(getattr(version, name) for version in versions)]
    rows = [
        [
            *(_shown(name, getattr(version, name)) for name in _VERSION_COLUMNS),
            *(_origin(version, name) for name in judges),
            _grades(version, ": ", ", ", MOST_GRADES),
        ]
        for version in versions
    ]
    named = [Column(name, name.replace("_", " ")) for name in judges]
    return rows_as(format, [*shown, *named, Column("grades")], rows, **paper)


def _origin(version: LabelVersion, name: str) -> Any:
    """Return the cell of a version in a column, which may contain several runs."""
    value = getattr(version, name)
    return " ".join(value) if name == "from_runs" else value


def _shown(name: str, value: Any) -> object:
    if name == "digest":
        return value[:_DIGEST]
    if name == "created_at_utc":
        return to_the_second(value)
    return f"{value:,}" if isinstance(value, int) else value


def _grades(version: LabelVersion, equals: str, between: str, most: int | None = None) -> str:
    grades = version.grades
    if most is not None and len(grades) > most:
        return f"{len(grades):,} from {grades[0].grade:g} to {grades[-1].grade:g}"
    return between.join(f"{frequency.grade:g}{equals}{frequency.n}" for frequency in grades)


def labels_diff_said(diff: LabelsDiff) -> Said:
    """Return the output for two label sets; CSV has a row per pair of grades."""
    return Said(diff, lambda: [labels_diff_report(diff)], lambda: _grade_table(diff))


def _grade_table(diff: LabelsDiff, *more: str) -> Table:
    of_both = {"dataset": diff.dataset, "first": diff.first.version, "second": diff.second.version}
    counts = [
        {**of_both, "grade_first": count.first, "grade_second": count.second, "n": count.n, "share": count.share}
        for count in diff.grades
    ]
    return Table.of_rows(counts, (*_GRADE_COLUMNS, *more))


@shape_of(LabelsDiff)
def _diff_shape(diff: LabelsDiff) -> dict[str, object]:
    sizes = {
        name: fields_of(size) | {"gone": size.gone, "new": size.new}
        for name, size in (("groups", diff.groups), ("labels", diff.labels))
    }
    return fields_of(diff) | sizes | {"agreement": diff.agreement}


def labels_diff_report(diff: LabelsDiff) -> Report:
    """Return the report of two label sets: agreement, sizes, grades against grades, and the largest changes."""
    first, second = (_named(label_set) for label_set in (diff.first, diff.second))
    n_changed = diff.labels.in_both - diff.n_equal
    agreement = "they have no label in common"
    if diff.labels.in_both:
        agreement = (
            f"{percent(diff.agreement)} of the {counted(diff.labels.in_both, 'label')} in both have the same grade"
        )
    sizes = Table(
        columns("", f">{first}", f">{second}", ">in both", ">gone", ">new"),
        [
            [name, *(f"{n:,}" for n in (size.first, size.second, size.in_both, size.gone, size.new))]
            for name, size in (("groups", diff.groups), ("labels", diff.labels))
        ],
    )
    tables = [sizes, *grade_tables(diff)]
    if diff.changes:
        rows = [[change.group, change.item, f"{change.first:g}", f"{change.second:g}"] for change in diff.changes]
        title = f"labels whose grade changed most ({len(rows)} of {n_changed:,})"
        tables.append(Table(columns("group", "item", f">{first}", f">{second}"), rows, title, names=(0, 1)))
    facts = [
        (name, _listed(keys, n))
        for name, keys, n in (
            ("gone groups", diff.gone_groups, diff.groups.gone),
            ("new groups", diff.new_groups, diff.groups.new),
        )
        if n
    ]
    return Report(f"labels of {diff.dataset}, {second} against {first}: {agreement}", tables=tables, facts=facts)


def grade_tables(diff: LabelsDiff) -> list[Table]:
    """Return one table of how often each grade of the first labels met each of the second; none for many grades."""
    first, second = (_named(label_set) for label_set in (diff.first, diff.second))
    levels = sorted({grade for count in diff.grades for grade in (count.first, count.second) if grade is not None})
    if not levels or len(levels) > MOST_GRADES:
        return []
    of = {(count.first, count.second): count for count in diff.grades}
    is_drawn = any(count.share is not None for count in diff.grades)
    across: list[float | None] = [*levels] if is_drawn else [*levels, None]

    def cell(grade: float | None, other: float | None) -> Painted:
        count = of.get((grade, other), GradeCount(grade, other, 0))
        text = percent(count.share or 0.0) if is_drawn else f"{count.n:,}"
        return Painted("" if (grade, other) == (None, None) else text)

    rows = [["none" if grade is None else f"{grade:g}", *(cell(grade, other) for other in across)] for grade in across]
    title = f"{'shares of grades' if is_drawn else 'grades'}: rows from {first}, columns from {second}"
    heads = columns("", *(f">{level:g}" for level in levels), *([] if is_drawn else [">none"]))
    return [Table(heads, rows, title)]


def _named(labels: LabelSetRef) -> str:
    return f"version {labels.version}{whose(labels)}" if labels.version else f"answers{whose(labels)}"


def _listed(keys: Sequence[str], n: int) -> str:
    more = f" and {n - len(keys):,} more" if n > len(keys) else ""
    return ", ".join(keys) + more


def agreement_said(agreement: JudgesAgreement) -> Said:
    """Return the output for two judges; CSV has a row per pair of grades, with its share if pairs were drawn."""
    return Said(agreement, lambda: [agreement_report(agreement)], lambda: _grade_table(agreement.diff, "share"))


@shape_of(JudgesAgreement)
def _agreement_shape(agreement: JudgesAgreement) -> dict[str, object]:
    return fields_of(agreement, "pairs")


def pairs_csv(agreement: JudgesAgreement) -> str:
    """Return CSV with the grades of both judges side by side, for anyone who tunes the prompt of one."""
    names = [judge or "unnamed" for judge in (agreement.judge, agreement.against)]
    return csv_text(["group", "item", *names], agreement.pairs)


def agreement_report(agreement: JudgesAgreement) -> Report:
    """Return the report of two judges: kappa, grades against grades, and errors by run and slice."""

    diff = agreement.diff
    first, second = (judge.judge or "unnamed" for judge in (diff.first, diff.second))
    labels = labels_diff_report(diff)
    kappa, answers = "weighted kappa is undefined", agreement.answers
    if agreement.kappa is not None:
        ci = "" if agreement.kappa.ci is None else f" {interval(agreement.kappa.ci)}"
        kappa = f"weighted kappa {agreement.kappa.value:.3f}{ci}"
    sentences = [(labels.headline or "") if answers is None else _answers_sentence(agreement, answers)]
    tables = [*(labels.tables if answers is None else labels.tables[1:]), *_error_tables(agreement)]
    legend = ["weighted kappa: Cohen's, quadratic weights; 95% interval: jackknife over groups"]
    if agreement.signed_error.n:
        legend.append(_error_legend(agreement))
    if answers is not None and answers.of_items:
        legend.append(
            "weighted: each answer counts 1 / probability, so these figures are about the items that "
            f"{_designs(answers)} could draw; an item that tells no two runs apart is not among them"
        )
    return Report(
        f"{second} against {first} on {diff.dataset}: {kappa}",
        sentences=sentences,
        tables=tables,
        legend=legend,
        facts=labels.facts if answers is None else [],
        notes=list(map(told, agreement.notes)),
    )


def _designs(answers: DrawnAnswers) -> str:
    """Return the designs for a sentence.

    >>> from ndcg_tracker.questions.labels.decide import DrawnAnswers
    >>> [_designs(DrawnAnswers("llama", "ann", designs, 9, 0)) for designs in ((1,), (1, 2, 5))]
    ['design 1', 'designs 1, 2 and 5']
    """
    return f"design{'' if len(answers.designs) == 1 else 's'} {in_a_row([f'{number}' for number in answers.designs])}"


def _answers_sentence(agreement: JudgesAgreement, answers: DrawnAnswers) -> str:
    """Return which answers were used, and how far the judge agrees with them."""
    n_used = agreement.signed_error.n
    used = f"{counted(answers.n, 'answer')} of {answers.checked_by!r} to {_designs(answers)}"
    used += ", weighted by 1/probability" if answers.of_items else ""
    without = answers.n - n_used
    if without:
        used += f" ({without:,} of them for items without a grade of {judge_words(answers.judge)})"
    if not n_used:
        return f"{used}: no answer is for an item that {judge_words(answers.judge)} graded"
    return f"{used}: {percent(agreement.diff.agreement)} have the same grade"


def _error_tables(agreement: JudgesAgreement) -> list[Table]:
    """Return by how much the judge errs, for each run and in each slice."""
    every = agreement.signed_error
    if not every.n:
        return []
    title = f"grade of {agreement.judge or 'unnamed'} minus grade of {agreement.against or 'unnamed'}"
    rows = [
        [run.run, *_error_cells(run), *(_error_cells(run.alone) if run.alone else ())]
        for run in agreement.signed_errors
    ]
    width = max(map(len, rows), default=4)
    rows.append(["all labels", *_error_cells(every), *[""] * (width - 4)])
    heads = _right("run", "labels", "error", "95% interval", "alone", "error", "95% interval")[:width]
    tables = [Table(heads, rows, title)]
    if agreement.slices:
        attribute = agreement.slices[0].attribute
        of_slices = []
        for row in agreement.slices:
            n, *error = _error_cells(row)
            kappa, ci = (UNDEFINED, None) if row.kappa is None else (f"{row.kappa.value:.3f}", row.kappa.ci)
            of_slices.append(["none" if row.value is None else row.value, n, kappa, interval(ci), *error])
        heads = _right(attribute, "labels", "weighted kappa", "95% interval", "error", "95% interval")
        tables.append(Table(heads, of_slices, f"by {attribute}: agreement, and {title}"))
    return tables


def _right(*headings: str) -> list[Column]:
    """Return columns with these headings, all except the first aligned right; headings may repeat."""
    return [Column(f"{place}", heading, right=place > 0) for place, heading in enumerate(headings)]


def _error_cells(error: SignedError | RunError | SliceAgreement) -> list[object]:
    return [f"{error.n:,}", points(error.error, signed=True), interval(error.ci, signed=True)]


def _error_legend(agreement: JudgesAgreement) -> str:
    """Return the legend of errors."""
    from ndcg_tracker.metrics.language.text import parse_metric

    cutoff = parse_metric(agreement.metric).cutoff
    ranks = "among the items of a run" if cutoff is None else f"among the first {counted(cutoff, 'item')} of a run"
    has_alone = any(run.alone is not None for run in agreement.signed_errors)
    alone = "; alone: of items that no other run has there" if has_alone else ""
    return f"error: the mean {ranks}{alone}; 95% interval: t over groups"


def versions_said(versions: VersionsComparison) -> Said:
    """Return the output for a comparison under every version; CSV has a row per candidate, version and metric."""
    return Said(
        versions,
        lambda: versions_reports(versions),
        lambda: Table.of_rows([row for comparison in versions.comparisons for row in metric_rows(comparison)]),
    )


@shape_of(VersionsComparison)
def _versions_shape(versions: VersionsComparison) -> dict[str, object]:
    conclusions = [
        as_object(conclusion) | {"changes": conclusion.changes, "turns_between_judges": conclusion.turns_between_judges}
        for conclusion in versions.conclusions
    ]
    lacking = [
        {"candidate": name, "version": version, "judge": versions.judge_of.get(version, "")}
        for name, version in versions.not_evaluated
    ]
    return {
        "versions": versions.comparisons,
        "conclusions": conclusions,
        "not_evaluated": lacking,
        "notes": versions.notes,
    }


def versions_reports(versions: VersionsComparison) -> list[Report]:
    """Return a report per candidate: whether the conclusion changes, and a row per version and metric."""
    shown = [for_people(comparison) for comparison in versions.comparisons]
    conclusions = VersionsComparison(tuple(shown)).conclusions
    reports = []
    for name in dict.fromkeys(comparison.candidate.name for comparison in shown):
        lacking = [
            LabelSetRef(version, "", versions.judge_of.get(version, ""))
            for candidate, version in versions.not_evaluated
            if candidate == name
        ]
        of_run = [conclusion for conclusion in conclusions if conclusion.candidate == name]
        reports.append(
            _versions_report([comparison for comparison in shown if comparison.candidate.name == name], lacking, of_run)
        )
    return [*reports[:-1], replace(reports[-1], notes=[told(note) for note in versions.notes])]


def _versions_report(
    of_run: Sequence[Comparison], lacking: Sequence[LabelSetRef], conclusions: Sequence[Conclusion]
) -> Report:
    judges = dict.fromkeys(labels.judge for labels in (*(of.label_set for of in of_run), *lacking))
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
    rows = [
        (of.label_set, Row.of(metric, [*_whose(of.label_set, judges), metric.metric], metric_footnotes(metric, [of])))
        for of in of_run
        for metric in of.metrics
    ]
    rows += [
        (labels, Row([*_whose(labels, judges), "not evaluated"], None, None, (None, None), None, None, None))
        for labels in lacking
    ]
    rows.sort(key=lambda row: (list(judges).index(row[0].judge), row[0].version))
    heads = [*(["judge"] if any(judges) else []), "labels", "metric"]
    table = rows_table([row for _, row in rows], heads, (of_run[0].baseline.name, of_run[0].candidate.name))
    under = f"{counted(len(of_run), 'version')} of the labels"
    under += f" of {counted(len({of.label_set.judge for of in of_run}), 'judge')}" if of_judges else ""
    first = of_run[0]
    of_runs = f"{first.candidate.name} against {first.baseline.name} on {first.dataset}" if of_judges else runs(first)
    return Report(
        f"{of_runs}, {under}: {outcome}",
        sentences=[_sentence(conclusion) for conclusion in conclusions if len(of_run) > 1],
        tables=[table],
        legend=legend(of_run[-1:])[:2],
    )


def _whose(labels: LabelSetRef, judges: Iterable[str]) -> list[str]:
    return [*([labels.judge or "unnamed"] if any(judges) else []), f"{labels.version}"]


def _verdict(verdict: str | None, *, low: bool = False) -> str:
    words = "shown only" if verdict is None else MARKS[verdict].word
    return words + (" (low information)" if low else "")


def _sentence(conclusion: Conclusion) -> str:
    """Return how the verdict on a metric depends on the labels.

    >>> from ndcg_tracker.questions.labels.decide import VersionVerdict
    >>> one, two, three = (VersionVerdict(n, "improved") for n in (1, 2, 3))
    >>> _sentence(Conclusion("dense", "map", (VersionVerdict(1, "no_difference_detected", True), two, three)))
    'map: no difference detected (low information) under version 1 of the labels, improved under versions 2 and 3'
    >>> _sentence(Conclusion("dense", "map", (one, two)))
    'map: improved under both versions of the labels'
    >>> by_gpt = VersionVerdict(4, "regressed", judge="gpt")
    >>> _sentence(Conclusion("dense", "map", (one, two, by_gpt)))
    "map: improved under versions 1 and 2 of the labels, regressed under version 4 (judge 'gpt')"
    """
    of: dict[str, list[VersionVerdict]] = {}
    for of_version in conclusion.verdicts:
        words = _verdict(of_version.verdict, low=of_version.low_information)
        of.setdefault(words + (" (open)" if of_version.is_open else ""), []).append(of_version)
    if len(of) == 1:
        n = len(conclusion.verdicts)
        return f"{conclusion.metric}: {next(iter(of))} under {'both' if n == 2 else f'all {n}'} versions of the labels"
    first, *rest = [f"{words} under {_versions(versions)}" for words, versions in of.items()]
    return f"{conclusion.metric}: " + ", ".join([f"{first} of the labels", *rest])


def _versions(versions: Sequence[VersionVerdict]) -> str:
    """Return versions as words for a sentence, with the name of a named judge."""
    each = [f"{of.version}" + (f" (judge {of.judge!r})" if of.judge else "") for of in versions]
    if len(each) == 1:
        return f"version {each[0]}"
    return f"versions {', '.join(each[:-1])} and {each[-1]}"

"""Versions of labels, a comparison under each, and what to judge next: for people, and as files to fill in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from ndcg_tracker.compare.results import Comparison, LabelSetRef
from ndcg_tracker.compare.say import for_people, legend, metric_cells, metric_footnotes, metric_rows, runs, sign
from ndcg_tracker.compare.say_tables import VERDICT_STYLES, delta_cell, whose
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.questions.labels.decide import (
    Conclusion,
    JudgesAgreement,
    LabelsDiff,
    LabelVersion,
    NeededLabel,
    NeededLabels,
    PairVerdict,
    VersionsComparison,
)
from ndcg_tracker.render.csv import csv_text, safe_cell
from ndcg_tracker.render.formats import Said, as_object, fields_of, rows_as, shape_of
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import Column, Format, Report, Table, columns, marks
from ndcg_tracker.render.terminal import Painted
from ndcg_tracker.words.notes import renamed, told
from ndcg_tracker.words.numbers import UNDEFINED, counted, interval, percent, points

MOST_GRADES = 12
"""More grades than that are counted, and not shown one by one."""
_DIGEST = 12
_VERSION_COLUMNS = ("version", "digest", "created_at_utc", "source", "n_groups", "n_items", "n_labels", "n_runs")
_GRADE_COLUMNS = ("dataset", "first", "second", "grade_first", "grade_second", "n")
_HEADINGS = {"created_at_utc": "created (UTC)", "n_runs": "runs"}


def label_versions_as(format: Format, versions: Sequence[LabelVersion], *, color: bool = False) -> str:
    """Return the versions of a dataset's labels in a format, with a line end."""
    if format == "json":
        return json_text(as_object(tuple(versions)))
    if format == "csv":
        names = ["dataset", *_VERSION_COLUMNS, "judge", "grades"]
        return csv_text(
            names, [[*(getattr(one, name) for name in names[:-1]), _grades(one, "=", " ")] for one in versions]
        )
    shown = [
        Column(name, _HEADINGS.get(name, name.removeprefix("n_")), right=name == "version" or name.startswith("n_"))
        for name in _VERSION_COLUMNS
    ]
    judges = ["judge"] if any(one.judge for one in versions) else []
    rows = [
        [
            *(_shown(name, getattr(one, name)) for name in _VERSION_COLUMNS),
            *(one.judge for _ in judges),
            _grades(one, ": ", ", ", MOST_GRADES),
        ]
        for one in versions
    ]
    return rows_as(format, [*shown, *map(Column, judges), Column("grades")], rows, color=color)


def _shown(name: str, value: Any) -> object:
    if name == "digest":
        return value[:_DIGEST]
    if name == "created_at_utc":
        return value.replace("T", " ").split(".")[0].removesuffix("Z").removesuffix("+00:00")
    return f"{value:,}" if isinstance(value, int) else value


def _grades(version: LabelVersion, equals: str, between: str, most: int | None = None) -> str:
    grades = version.grades
    if most is not None and len(grades) > most:
        return f"{len(grades):,} from {grades[0].grade:g} to {grades[-1].grade:g}"
    return between.join(f"{one.grade:g}{equals}{one.n}" for one in grades)


def labels_diff_said(found: LabelsDiff) -> Said:
    """Return what there is to say of two label sets; CSV has a row per pair of grades."""
    return Said(found, lambda: [labels_diff_report(found)], lambda: _grade_rows(found), _GRADE_COLUMNS)


def _grade_rows(found: LabelsDiff) -> list[dict[str, object]]:
    of_both = {"dataset": found.dataset, "first": found.first.version, "second": found.second.version}
    return [{**of_both, "grade_first": one.first, "grade_second": one.second, "n": one.n} for one in found.grades]


@shape_of(LabelsDiff)
def _diff_shape(found: LabelsDiff) -> dict[str, object]:
    sizes = {
        name: fields_of(size) | {"gone": size.gone, "new": size.new}
        for name, size in (("groups", found.groups), ("labels", found.labels))
    }
    return fields_of(found) | sizes | {"agreement": found.agreement}


def labels_diff_report(found: LabelsDiff) -> Report:
    """Return the report of two label sets: agreement, sizes, grades against grades, and what changed most."""
    first, second = (_named(one) for one in (found.first, found.second))
    n_changed = found.labels.in_both - found.n_equal
    agreement = "they share no label"
    if found.labels.in_both:
        agreement = (
            f"{percent(found.agreement)} of the {counted(found.labels.in_both, 'label')} in both have the same grade"
        )
    sizes = Table(
        columns("", f">{first}", f">{second}", ">in both", ">gone", ">new"),
        [
            [name, *(f"{n:,}" for n in (size.first, size.second, size.in_both, size.gone, size.new))]
            for name, size in (("groups", found.groups), ("labels", found.labels))
        ],
    )
    tables = [sizes, *grade_tables(found)]
    if found.changes:
        rows = [[one.group, one.item, f"{one.first:g}", f"{one.second:g}"] for one in found.changes]
        title = f"labels whose grade changed most ({len(rows)} of {n_changed:,})"
        tables.append(Table(columns("group", "item", f">{first}", f">{second}"), rows, title, names=(0, 1)))
    facts = [
        (name, _listed(keys, n))
        for name, keys, n in (
            ("gone groups", found.gone_groups, found.groups.gone),
            ("new groups", found.new_groups, found.groups.new),
        )
        if n
    ]
    return Report(f"labels of {found.dataset}, {second} against {first}: {agreement}", tables=tables, facts=facts)


def grade_tables(found: LabelsDiff) -> list[Table]:
    """Return how often each grade of the first labels met each of the second, one table; none where there are many."""
    first, second = (_named(one) for one in (found.first, found.second))
    levels = sorted({grade for one in found.grades for grade in (one.first, one.second) if grade is not None})
    if not levels or len(levels) > MOST_GRADES:
        return []
    n_of = {(one.first, one.second): one.n for one in found.grades}
    across: list[float | None] = [*levels, None]
    rows = [
        [
            "none" if grade is None else f"{grade:g}",
            *(
                Painted("" if (grade, other) == (None, None) else f"{n_of.get((grade, other), 0):,}")
                for other in across
            ),
        ]
        for grade in across
    ]
    title = f"grades: rows are those of {first}, columns those of {second}"
    heads = columns("", *(f">{level:g}" for level in levels), ">none")
    return [Table(heads, rows, title)]


def _named(labels: LabelSetRef) -> str:
    return f"version {labels.version}{whose(labels)}"


def _listed(keys: Sequence[str], n: int) -> str:
    more = f" and {n - len(keys):,} more" if n > len(keys) else ""
    return ", ".join(keys) + more


def agreement_said(found: JudgesAgreement) -> Said:
    """Return what there is to say of two judges; CSV has a row per pair of grades."""
    return Said(found, lambda: [agreement_report(found)], lambda: _grade_rows(found.diff), _GRADE_COLUMNS)


def agreement_report(found: JudgesAgreement) -> Report:
    """Return the report of two judges: kappa and grades, the order of the runs under each, and verdicts that turn."""
    from ndcg_tracker.metrics.language.dialects import familiar_name  # as in ``compare.for_people``

    diff, metric = found.diff, familiar_name(found.metric, "")
    first, second = (judge.judge or "unnamed" for judge in (diff.first, diff.second))
    labels = labels_diff_report(diff)
    kappa = "weighted kappa is undefined"
    if found.kappa is not None:
        ci = "" if found.kappa.ci is None else f" {interval(found.kappa.ci)}"
        kappa = f"weighted kappa {found.kappa.value:.3f}{ci}"
    sentences = [labels.headline or ""]
    if found.kendall_tau is not None:
        n_runs = counted(len(found.runs), "run")
        turned = f"verdicts on pairs of them that turn: {len(found.turned)} of {found.n_pairs:,}"
        sentences.append(f"{metric} of {n_runs}: Kendall's tau of their order {found.kendall_tau:.3f}; {turned}")
    tables = list(labels.tables)
    if found.runs:
        rows = [
            [
                run.run,
                points(run.first),
                f"{1 + sum(other.first > run.first for other in found.runs)}",
                points(run.second),
                f"{1 + sum(other.second > run.second for other in found.runs)}",
            ]
            for run in found.runs
        ]
        heads = (*columns("run", f">{first}", ">rank", f">{second}"), Column("other rank", "rank", right=True))
        tables.append(Table(heads, rows, f"{metric} under the labels of each"))
    if found.turned:
        turned_rows = [
            [one.baseline, one.candidate, *_pair_cells(one.first), *_pair_cells(one.second)] for one in found.turned
        ]
        heads = (
            *columns("baseline", "candidate", f">{first}", "verdict", f">{second}"),
            Column("other verdict", "verdict"),
        )
        tables.append(Table(heads, turned_rows, "verdicts that turn", names=(0, 1)))
    legend = ["weighted kappa: Cohen's, quadratic weights; 95% interval: jackknife over groups"]
    if found.n_pairs:
        legend.append(f"verdicts: paired t-test, Holm-corrected over {counted(found.n_pairs, 'pair')} under each judge")
    return Report(
        f"{second} against {first} on {diff.dataset}: {kappa}",
        sentences=sentences,
        tables=tables,
        legend=legend,
        facts=labels.facts,
        notes=[told(renamed(note, {found.metric: metric})) for note in found.notes],
    )


def _pair_cells(found: PairVerdict) -> list[object]:
    words = _verdict(found.verdict, low=found.low_information)
    return [delta_cell(found.delta, found.verdict), Painted(words, VERDICT_STYLES.get(found.verdict))]


def versions_said(found: VersionsComparison) -> Said:
    """Return what there is to say of a comparison under every version; CSV has a row per candidate, version, metric."""
    return Said(
        found, lambda: versions_reports(found), lambda: [row for one in found.comparisons for row in metric_rows(one)]
    )


@shape_of(VersionsComparison)
def _versions_shape(found: VersionsComparison) -> dict[str, object]:
    conclusions = [as_object(one) | {"changes": one.changes} for one in found.conclusions]
    lacking = [{"candidate": name, "version": version} for name, version in found.not_evaluated]
    return {"versions": found.comparisons, "conclusions": conclusions, "not_evaluated": lacking, "notes": found.notes}


def versions_reports(found: VersionsComparison) -> list[Report]:
    """Return a report per candidate: whether the conclusion changes, and a row per version and metric."""
    shown = [for_people(one) for one in found.comparisons]
    conclusions = VersionsComparison(tuple(shown)).conclusions
    reports = []
    for name in dict.fromkeys(one.candidate.name for one in shown):
        lacking = [version for candidate, version in found.not_evaluated if candidate == name]
        of_run = [one for one in conclusions if one.candidate == name]
        reports.append(_versions_report([one for one in shown if one.candidate.name == name], lacking, of_run))
    return [*reports[:-1], replace(reports[-1], notes=[told(note) for note in found.notes])]


def _versions_report(of_run: Sequence[Comparison], lacking: Iterable[int], conclusions: Sequence[Conclusion]) -> Report:
    changing = [one.metric for one in conclusions if one.changes]
    if changing:
        outcome = f"the conclusion on {', '.join(changing)} changes"
    elif len(of_run) == 1 or not conclusions:
        outcome = "nothing to hold it against" if conclusions else "nothing that is tested"
    else:
        outcome = "the conclusion is the same under each"
    heads = columns(">labels", "verdict", "metric", ">baseline", ">candidate", ">delta", ">95% interval", ">p")
    footnotes: list[str] = []
    rows = [
        (
            one.label_set.version,
            [
                Painted(f"{sign(metric)} {_verdict(metric.verdict)}", VERDICT_STYLES.get(metric.verdict)),
                *metric_cells(metric),
            ],
            marks(metric_footnotes(metric, [one]), footnotes),
        )
        for one in of_run
        for metric in one.metrics
    ]
    rows += [(version, ["not evaluated", *[UNDEFINED] * (len(heads) - 2)], "") for version in lacking]
    rows.sort(key=lambda row: row[0])
    table = Table(
        heads,
        [[f"{version}", *cells] for version, cells, _ in rows],
        names=(2,),
        marks=[signs for _, _, signs in rows],
        footnotes=footnotes,
    )
    return Report(
        f"{runs(of_run[0])}, {counted(len(of_run), 'version')} of the labels: {outcome}",
        sentences=[_sentence(one) for one in conclusions if len(of_run) > 1],
        tables=[table],
        legend=legend(of_run[-1:])[:2],
    )


def _verdict(verdict: str | None, *, low: bool = False) -> str:
    words = "shown only" if verdict is None else verdict.replace("_", " ")
    return words + (" (low information)" if low else "")


def _sentence(one: Conclusion) -> str:
    """Return whether the verdict on a metric changes with the labels.

    >>> from ndcg_tracker.questions.labels.decide import VersionVerdict
    >>> one, two, three = (VersionVerdict(n, "improved") for n in (1, 2, 3))
    >>> _sentence(Conclusion("dense", "map", (VersionVerdict(1, "no_difference_detected", True), two, three)))
    'map: no difference detected (low information) under version 1 of the labels, improved under versions 2 and 3'
    >>> _sentence(Conclusion("dense", "map", (one, two)))
    'map: improved under both versions of the labels'
    """
    of: dict[str, list[int]] = {}
    for found in one.verdicts:
        of.setdefault(_verdict(found.verdict, low=found.low_information), []).append(found.version)
    if len(of) == 1:
        n = len(one.verdicts)
        return f"{one.metric}: {next(iter(of))} under {'both' if n == 2 else f'all {n}'} versions of the labels"
    first, *rest = [f"{words} under {_versions(versions)}" for words, versions in of.items()]
    return f"{one.metric}: " + ", ".join([f"{first} of the labels", *rest])


def _versions(versions: Sequence[int]) -> str:
    if len(versions) == 1:
        return f"version {versions[0]}"
    return f"versions {', '.join(map(str, versions[:-1]))} and {versions[-1]}"


NeededFormat = Literal["text", "json", "markdown", "csv", "quepid", "elasticsearch"]
_LEGEND = "could move: by how much the grade of this item alone could move the mean difference"


def needed_said(needed: NeededLabels) -> Said:
    """Return what there is to say of what to judge next.

    CSV has an empty column ``label``, Quepid's CSV an empty ``rating``, Elasticsearch's requests of ``_rank_eval`` have
    a ``rating`` of null: where it is filled in, ``labels add`` reads a label. Raises: InputError for CSV of an id that
    a spreadsheet would take for a formula, or with control characters: it would not be read back as it is.
    """
    return Said(
        needed,
        lambda: [_report(needed)],
        lambda: list(map(fields_of, needed.items)),
        ("group", "item", "could_move"),
        {
            "csv": lambda: _csv(needed, ["group", "item", "label", "could_move"], lambda one: (None, one.could_move)),
            "quepid": lambda: _csv(needed, ["query", "docid", "rating"], lambda _: (None,)),
            "elasticsearch": lambda: json_text(_requests(needed)),
        },
    )


def _csv(needed: NeededLabels, names: list[str], further: Callable[[NeededLabel], tuple[object, ...]]) -> str:
    for one in needed.items:
        for what, key in (("group", one.group), ("item", one.item)):
            if safe_cell(key) != key:
                raise InputError(
                    f"{what} {key!r} cannot be read back from CSV that is safe to open",
                    advice=f"use {argument('format', 'elasticsearch')}",
                )
    return csv_text(names, [[one.group, one.item, *further(one)] for one in needed.items])


def _requests(needed: NeededLabels) -> dict[str, object]:
    """Return the requests of ``_rank_eval``, a group each; the index is that of the dataset's name."""
    ratings: dict[str, list[object]] = {}
    for one in needed.items:
        ratings.setdefault(one.group, []).append({"_index": needed.dataset, "_id": one.item, "rating": None})
    return {"requests": [{"id": group, "ratings": found} for group, found in ratings.items()]}


def _report(needed: NeededLabels) -> Report:
    from ndcg_tracker.metrics.language.dialects import familiar_name  # NumPy is not for those who only print a table

    candidates = " and ".join(
        filter(None, [", ".join(run.name for run in needed.candidates[:-1]), needed.candidates[-1].name])
    )
    what = f"{candidates} against {needed.baseline.name} on {needed.dataset}"
    if not needed.items:
        title = f"{what}: no label could move {familiar_name(needed.metric)}"
    else:
        of_all = counted(needed.n_unjudged, "unjudged item")
        title = f"{what}: judge these {len(needed.items):,} of {of_all} next, for {familiar_name(needed.metric)}"
    rows = [[one.group, one.item, points(one.could_move)] for one in needed.items]
    table = Table(columns("group", "item", ">could move"), rows, names=(0, 1), legend=[_LEGEND])
    facts = [("labels", f"version {needed.label_set.version}, digest {needed.label_set.digest[:12]}")]
    return Report(title, tables=[table] if rows else [], facts=facts)

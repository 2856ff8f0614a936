"""An explanation as a report and as rows: the change first, then its parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ndcg_tracker.compare.say_tables import SLICES_SHOWN, reason_lines, whose
from ndcg_tracker.compare.say_where import NO_VALUE
from ndcg_tracker.questions.explain.decide import (
    ChangeParts,
    ChangeTotals,
    ExplainedItem,
    Explanation,
    GradeTotal,
    GroupDifferences,
    GroupExplanation,
    ItemTotal,
    KindTotal,
    LabelDifferences,
    RankTotal,
    RunExplanation,
    SliceTotal,
    Subject,
)
from ndcg_tracker.render.formats import Said, as_object, fields_of, paths, picked, shape_of
from ndcg_tracker.render.report import Column, Line, Report, Table, kinds, query_words, text_cell
from ndcg_tracker.render.terminal import shortened, visible
from ndcg_tracker.words.notes import told
from ndcg_tracker.words.texts import UNDEFINED, Text, counted, points, unit, units
from ndcg_tracker.words.verdicts import mark_of

TOP = 10
"""How many items are shown to people unless they ask for more."""
N_CAUSES = 3
"""How many items the first sentence names."""
NO_ITEM = "(no item)"

_KINDS = {
    "moved_up": "rose",
    "moved_down": "fell",
    "entered": "entered the list",
    "left": "left the list",
    "label": "other grade",
    "same_rank": "same rank",
    "unjudged": "unjudged",
}
_DIGITS, _MORE_DIGITS = 4, 6
_TITLE = 40  # characters of a title in a sentence
_ITEM_COLUMNS = (
    *("group", "metric", "item", "grade", "rank_baseline", "rank_candidate", "contribution_baseline"),
    *("contribution_candidate", "contribution", "kind", "grade_baseline"),
)
_TEXT_COLUMNS = ("title", "text", "url")
_TOTAL_COLUMNS = ("metric", "table", "row", "n", "contribution", "group", "grade", "rank_baseline", "rank_candidate")


def explanation_said(explanation: Explanation, top: int | None = TOP) -> Said:
    """Return the output for an explanation.

    ``top``: how many of the items with an effect people see, None for all; programs get all.
    """
    return Said(
        explanation,
        lambda: [explanation_report(explanation, top)],
        lambda: Table.of_rows(explanation_rows(explanation), explanation_columns(explanation)),
        dataset=explanation.subject.dataset,
    )


@shape_of(GroupExplanation)
def _group_shape(explanation: GroupExplanation) -> Mapping[str, object]:
    """Return the object of a group; the part that no item accounts for is a row without an item."""
    texts = explanation.texts
    items = as_object(explanation.items)
    for item in items:
        item |= _text_shape(texts.items.get(item["item"]))
    if explanation.remainder:
        nothing = dict.fromkeys(_ITEM_COLUMNS[2:])
        items.append(nothing | {"contribution": explanation.remainder, "kind": "remainder"})
    head = _shape(explanation, explanation.group) | _text_shape(texts.query)
    return head | {"items": items} | _end_of_shape(explanation)


def _text_shape(text: Text | None) -> dict[str, object]:
    """Return the texts of a group or an item by their JSON keys, without missing ones."""
    return {} if text is None else {name: told for name, told in fields_of(text).items() if told is not None}


@shape_of(RunExplanation)
def _run_shape(explanation: RunExplanation) -> Mapping[str, object]:
    shape = _shape(explanation, None) | {"verdict": explanation.verdict, "n_groups": explanation.n_groups}
    if explanation.totals is not None:
        shape |= as_object(explanation.totals) | {"worst_group": explanation.worst_group}
    return shape | _end_of_shape(explanation)


def _shape(explanation: Explanation, group: str | None) -> dict[str, object]:
    return {"group": group} | picked(paths("metric=subject.metric baseline candidate delta"), explanation)


def _end_of_shape(explanation: Explanation) -> dict[str, object]:
    """Return the last entries of an explanation's object: the parts, the runs and their labels, the notes."""
    subject = explanation.subject
    shape: dict[str, object] = {} if explanation.parts is None else {"parts": explanation.parts}
    shape |= picked(paths("baseline_run candidate_run dataset label_set=candidate_labels"), subject)
    if not subject.is_same_labels:
        shape["baseline_label_set"] = subject.baseline_labels
    return shape | {"notes": explanation.notes}


@shape_of(ExplainedItem)
def _item_shape(item: ExplainedItem) -> Mapping[str, object]:
    detail = {} if item.detail is None else fields_of(item.detail)
    return fields_of(item.move) | fields_of(item, "move", "detail") | detail


@shape_of(LabelDifferences)
def _labels_shape(differences: LabelDifferences) -> Mapping[str, object]:
    return picked(paths("changed=n_changed added=n_added removed=n_removed"), differences)


@shape_of(GroupDifferences)
def _groups_shape(differences: GroupDifferences) -> Mapping[str, object]:
    counts = "common=n_common came=n_came went=n_went between=n_between labels_added=n_added labels_removed=n_removed"
    return picked(paths(f"{counts} baseline_over_common=baseline candidate_over_common=candidate"), differences)


@shape_of(ChangeParts)
def _parts_shape(parts: ChangeParts) -> Mapping[str, object]:
    means = "candidate_under_baseline_labels=other_run candidate_under_changed_grades=other_grades"
    of_groups = "" if parts.of_groups is None else "groups groups_changed=of_groups"
    return picked(paths(f"ranking labels coverage {means} labels_changed=differences {of_groups}"), parts)


@shape_of(ChangeTotals)
def _totals_shape(totals: ChangeTotals) -> Mapping[str, object]:
    others = {"n_items": totals.n_other_items, "contribution": totals.other_items}
    hidden = ("slices",) if totals.slices is None else ()
    return fields_of(totals, "n_other_items", "remainder", *hidden) | {
        "other_items": others,
        "remainder": totals.remainder,
    }


def explanation_columns(explanation: Explanation) -> Sequence[str]:
    """Return the columns of an explanation's rows."""
    if not isinstance(explanation, GroupExplanation):
        return _TOTAL_COLUMNS
    texts = _TEXT_COLUMNS if explanation.texts.items else ()
    detail = next((item.detail for item in explanation.items if item.detail is not None), None)
    return (*_ITEM_COLUMNS, *texts, *(fields_of(detail) if detail is not None else ()))


def explanation_rows(explanation: Explanation) -> list[dict[str, object]]:
    """Return an explanation as rows: one per item of a group, or one per row of the tables over all groups."""
    if isinstance(explanation, RunExplanation):
        metric = explanation.subject.metric
        return [dict(zip(_TOTAL_COLUMNS, [metric, *row], strict=False)) for row in _total_rows(explanation)]
    shared = {"group": explanation.group, "metric": explanation.subject.metric}
    return [shared | item for item in as_object(explanation)["items"]]


def _total_rows(explanation: RunExplanation) -> list[list[object]]:
    """Return table, row, number of items (or of groups, or of labels) and contribution of every row of the tables."""
    rows: list[list[object]] = []
    parts, totals = explanation.parts, explanation.totals
    if parts is not None:
        differences, of_groups = parts.differences, parts.of_groups
        n_labels = differences.n_added + differences.n_removed
        if of_groups is not None:
            n_labels -= of_groups.n_added + of_groups.n_removed
            n_groups = of_groups.n_came + of_groups.n_went + of_groups.n_between
            rows.append(["part", "groups", n_groups, parts.groups])
        rows += [
            ["part", "ranking", None, parts.ranking],
            ["part", "labels", differences.n_changed, parts.labels],
            ["part", "coverage", n_labels, parts.coverage],
        ]
    if totals is not None:
        rows += [["kind", kind.kind, kind.n_items, kind.contribution] for kind in totals.kinds]
        rows += [["grade", _grade_of(grade), grade.n_items, grade.contribution] for grade in totals.grades]
        rows += [["rank", _range_words(rank), rank.n_items, rank.contribution] for rank in totals.ranks]
        item_columns = ("item", "n_groups", "contribution", *_TOTAL_COLUMNS[5:])
        rows += [["item", *(getattr(item, name) for name in item_columns)] for item in totals.items]
        rows += [["slice", row.value, row.n_groups, row.contribution] for row in totals.slices or ()]
        rows.append(["other items", None, totals.n_other_items, totals.other_items])
        rows.append(["remainder", None, None, totals.remainder])
    return rows


def explanation_report(explanation: Explanation, top: int | None = TOP) -> Report:
    """Return the report of an explanation; ``top``: how many items are shown, None for all."""
    subject = replace(explanation.subject, metric=_familiar(explanation.subject.metric))
    explanation = replace(explanation, subject=subject)
    return Report(
        _headline(explanation),
        sentences=_story(explanation),
        tables=_tables(explanation, top),
        lines=_reasons(explanation, top),
        legend=_legend(explanation),
        details=_details(explanation, top),
        notes=[told(note) for note in explanation.notes],
    )


def _familiar(metric: str) -> str:
    from ndcg_tracker.metrics.language.dialects import familiar_name  # printing a table needs no NumPy

    return familiar_name(metric)


def _headline(explanation: Explanation) -> str:
    """Return what changed and by how much."""
    subject, delta = explanation.subject, explanation.delta
    if isinstance(explanation, GroupExplanation):
        verb = "fell" if delta < 0 else "rose" if delta > 0 else "did not change"
        return f"{unit()} {explanation.group} {verb} in {subject.metric}: {_change(explanation)}"
    if not delta:
        return f"{_runs(subject, 'against')}: {subject.metric} did not change: {_change(explanation)}"
    word = mark_of(explanation.verdict).word
    if explanation.verdict == "no_difference_detected":
        return f"{_runs(subject, 'against')}: {subject.metric} {_change(explanation, word)}, split by item"
    return f"{_runs(subject, f'is {word} than' if word else 'against')}: {subject.metric} {_change(explanation)}"


def _story(explanation: Explanation) -> list[str]:
    """Return the sentences on a group: its query, what happened to the items with the largest effect, and both runs."""
    if not isinstance(explanation, GroupExplanation):
        return []
    runs = _runs(explanation.subject, "against")
    query = explanation.texts.query
    head = [] if query is None else [query_words(query)]
    causes = [item for item in _by_cost(explanation) if item.move.contribution * explanation.delta > 0][:N_CAUSES]
    if not causes:
        return [*head, runs]
    rank = "mean rank" if _of_repeats(explanation.subject) else "rank"
    names = [_named(item, explanation.texts.items.get(item.move.item)) for item in causes]
    told = [
        f"{name} {happened(item, rank)} ({points(item.move.contribution, signed=True)})"
        for name, item in zip(names, causes, strict=True)
    ]
    return [*head, f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0], runs]


def _by_cost(explanation: GroupExplanation) -> list[ExplainedItem]:
    """Return the items of a group, those that explain its change first: where it fell, the largest loss."""
    falls = explanation.delta <= 0
    return sorted(explanation.items, key=lambda item: item.move.contribution if falls else -item.move.contribution)


_IN_MORE = {"entered": "in more lists", "left": "in fewer lists"}


def _of_repeats(subject: Subject) -> bool:
    """Return whether ranks are means over repeats."""
    return bool(subject.baseline_run.runs or subject.candidate_run.runs)


def happened(item: ExplainedItem, rank: str = "rank") -> str:
    """Return what happened to an item, as the end of a sentence that begins with its name; ``rank``: its word."""
    before, after = item.move.rank_baseline, item.move.rank_candidate
    if item.kind == "label":
        return f"is {_grade_words(item.move.grade)} instead of {_grade_words(item.grade_baseline)}"
    if before is None and after is None:
        return "is not ranked"
    if before is None:
        return f"entered at {rank} {_rank(after)}"
    if after is None:
        return f"left from {rank} {_rank(before)}"
    if item.kind in _IN_MORE:  # of repeats, whose ranks are means over the lists that have it
        return f"is {_IN_MORE[item.kind]}, at {rank} {_rank(after)} instead of {_rank(before)}"
    if before == after:
        return f"stayed at {rank} {_rank(after)}"
    return f"{'rose' if after < before else 'fell'} from {rank} {_rank(before)} to {_rank(after)}"


def _legend(explanation: Explanation) -> list[str]:
    """Return how to read the numbers."""
    if isinstance(explanation, GroupExplanation):
        shown = any(item.move.contribution for item in explanation.items)
        return [
            f"before, after: what the item adds to the {unit()}'s value; change: its part of the difference"
        ] * shown
    if explanation.totals is None:
        return []
    return [
        f"change: part of the difference between the means over {counted(explanation.n_groups, 'group')}; "
        "n: items whose contribution changed"
    ]


def _change(explanation: Explanation, *words: str) -> str:
    if not explanation.delta:
        return points(explanation.candidate)
    change = f"{points(explanation.baseline)} → {points(explanation.candidate)}"
    return f"{change} ({', '.join([points(explanation.delta, signed=True), *words])})"


def _runs(subject: Subject, between: str) -> str:
    """Return both runs, the candidate first, with the labels each is evaluated against."""
    candidate, baseline = subject.candidate_run.name, subject.baseline_run.name
    labels, other_labels = subject.candidate_labels, subject.baseline_labels
    if subject.is_same_labels:
        judge = f" (judge {labels.judge!r})" if labels.judge else ""
        return f"{candidate} {between} {baseline} on {subject.dataset}{judge}"
    candidate = f"{candidate} (labels version {labels.version}{whose(labels)})"
    baseline = f"{baseline} (labels version {other_labels.version}{whose(other_labels)})"
    return f"{candidate} {between} {baseline} on {subject.dataset}"


def _named(item: ExplainedItem, text: Text | None) -> str:
    """Return an item by its title, if it has one, and its id, with its grade unless the grade changed."""
    told = [] if item.kind == "label" else [_grade_words(item.move.grade)]
    name = item.move.item
    if text is not None and text.title:
        name, told = f"“{shortened(visible(text.title), _TITLE)}”", [name, *told]
    return f"{name} ({', '.join(told)})" if told else name


def _grade_words(grade: float | None) -> str:
    return "unjudged" if grade is None else f"grade {grade:g}"


def _tables(explanation: Explanation, top: int | None) -> list[Table]:
    """Return the tables of an explanation, empty ones left out; ``top`` None: with all their rows."""
    tables = [] if explanation.parts is None else [_parts_table(explanation.parts, explanation.subject)]
    if isinstance(explanation, GroupExplanation):
        tables.append(_item_table(explanation, top))
    elif explanation.totals is not None:
        tables += _total_tables(explanation.totals, explanation.delta, top)
    return [table for table in tables if table.rows]


def _kind_words(total: KindTotal | ExplainedItem) -> str:
    return _KINDS.get(total.kind, total.kind)


def _grade_of(total: GradeTotal) -> str:
    return "unjudged" if total.grade is None else f"{total.grade:g}"


def _range_words(total: RankTotal) -> str:
    """Return a range of ranks in words."""
    if total.first is None:
        return "not listed"
    if total.last is None:
        return f"from {total.first}"
    return str(total.first) if total.first == total.last else f"{total.first}-{total.last}"


def _shown_items(explanation: GroupExplanation, top: int | None) -> list[ExplainedItem]:
    """Return the ``top`` items that changed the group's value most; those that explain it come first."""
    kept = explanation.items if top is None else [item for item in explanation.items[:top] if item.move.contribution]
    of_these = {id(item) for item in kept}
    return [item for item in _by_cost(explanation) if id(item) in of_these]


def _reasons(explanation: Explanation, top: int | None) -> list[Line]:
    """Return why the items in the table have their grades, as far as labels say it."""
    items = _shown_items(explanation, top) if isinstance(explanation, GroupExplanation) else []
    return reason_lines((f"{item.move.item} ({_grade_words(item.move.grade)})", item.detail) for item in items)


def _item_table(explanation: GroupExplanation, top: int | None) -> Table:
    """Return the table of the items that are shown."""
    chosen = _shown_items(explanation, top)
    kept = {id(item) for item in chosen}
    rows = [_item_row(item, explanation) for item in chosen]
    if _is_seen(explanation.remainder, explanation.delta):
        lacks_list = any(note.kind == "group_not_in_run" for note in explanation.notes)
        why = "no list is stored" if lacks_list else "rounding or convention"
        rows.append({"item": NO_ITEM, "title": "", "change": explanation.remainder, "what": why})
    rest = [item for item in explanation.items if id(item) not in kept]
    others = [item for item in rest if item.move.contribution]
    words = []
    if others:
        change = sum(item.move.contribution for item in others)
        words.append(f"{counted(len(others), 'more item')}: {points(change, signed=True)}")
    if len(rest) > len(others):
        words.append(f"{counted(len(rest) - len(others), 'item')} that changed nothing")
    after = f"... and {', and '.join(words)}" if words else ""
    has_titles = any(text_cell(explanation.texts.items.get(item.move.item)).text for item in chosen)
    heads = [of for of in _ITEMS if of.key != "title" or has_titles]
    if _of_repeats(explanation.subject):
        heads = [replace(of, title="mean rank") if of.key == "rank" else of for of in heads]
    return Table.of(heads, rows, after=after, titles=(1,) if has_titles else ())


_ITEMS = kinds(
    "item id, title id, grade count, rank count, before mean, after mean, change delta, what text what happened"
)


def _item_row(item: ExplainedItem, explanation: GroupExplanation) -> dict[str, object]:
    move, cutoff = item.move, explanation.subject.cutoff
    grade = _grade(move.grade)
    if item.kind == "label":
        grade = f"{_grade(item.grade_baseline)} → {grade}"
    what = _kind_words(item)
    before, after = move.rank_baseline, move.rank_candidate
    if before is not None and after is not None:
        if _of_repeats(explanation.subject):
            what = _IN_MORE.get(item.kind, what)
        elif cutoff is not None and before <= cutoff < after:
            what += f", out of the top {cutoff}"
        elif cutoff is not None and after <= cutoff < before:
            what += f", into the top {cutoff}"
    title = text_cell(explanation.texts.items.get(move.item))
    values = {"before": move.contribution_baseline, "after": move.contribution_candidate, "change": move.contribution}
    told = {"item": move.item, "title": title, "grade": grade, "rank": _ranks(before, after)}
    return {**told, **values, "what": what}


def _grade(grade: float | None) -> str:
    return UNDEFINED if grade is None else f"{grade:g}"


def _rank(rank: float | None) -> str:
    """Return a rank; that of repeats is a mean."""
    return UNDEFINED if rank is None else f"{rank:.1f}".removesuffix(".0")


def _ranks(before: float | None, after: float | None) -> str:
    """Return the ranks of an item in both runs."""
    return " → ".join(map(_rank, dict.fromkeys((before, after))))


def _total_tables(totals: ChangeTotals, delta: float, top: int | None) -> list[Table]:
    """Return the change by what happened, and the items that explain it; for the rest, see ``_details``."""
    tables = [] if not totals.slices else [_slice_totals(totals.slices)]
    seen = _remainder_seen(totals, delta)
    tables.append(_total_table("by what happened to the item", "what happened", _kind_words, totals.kinds, seen))
    return [*tables, _moved(totals, top, are_costs=delta <= 0)]


def _details(explanation: Explanation, top: int | None) -> list[Table]:
    """Return the items that moved the other way, and the change by grade and by rank."""
    if isinstance(explanation, GroupExplanation) or (totals := explanation.totals) is None:
        return []
    seen = _remainder_seen(totals, explanation.delta)
    tables = [
        _moved(totals, top, are_costs=explanation.delta > 0),
        _total_table("by the grade of the item", "grade", _grade_of, totals.grades, seen),
        _total_table("by the rank of the item in the baseline", "rank", _range_words, totals.ranks, seen),
    ]
    return [table for table in tables if table.rows]


def _moved(totals: ChangeTotals, top: int | None, *, are_costs: bool) -> Table:
    moved = [total for total in totals.items if (total.contribution < 0) == are_costs and total.contribution]
    return _item_totals(f"items that {'cost' if are_costs else 'gained'} most", moved[:top])


def _remainder_seen(totals: ChangeTotals, delta: float) -> float:
    return totals.remainder if _is_seen(totals.remainder, delta) else 0.0


def _slice_totals(slices: Sequence[SliceTotal]) -> Table:
    shown = slices if len(slices) <= 2 * SLICES_SHOWN else [*slices[:SLICES_SHOWN], *slices[-SLICES_SHOWN:]]
    hidden, attribute = len(slices) - len(shown), slices[0].attribute
    legend = [f"{counted(hidden, 'slice')} in between not shown; JSON and CSV have all"] if hidden else []
    heads = (
        Column("value", attribute, "id", of=lambda row: NO_VALUE if row.value is None else row.value),
        *kinds("n_groups count groups, delta delta own delta"),
        _change_column(slices),
    )
    return Table.of(heads, shown, f"by the {attribute} of the {unit()}", legend=legend)


def _change_column(totals: Sequence[SliceTotal | ItemTotal | KindTotal | GradeTotal | RankTotal]) -> Column:
    """Return the column of contributions, with as many decimals as tell small ones apart."""
    largest = max((abs(total.contribution) for total in totals), default=0.0)
    return Column("contribution", "change", "delta", digits=_DIGITS if largest >= 0.001 else _MORE_DIGITS)


def _item_totals(title: str, totals: Sequence[ItemTotal]) -> Table:
    def where(total: ItemTotal) -> str:
        return f"in {counted(total.n_groups, 'group')}" if total.group is None else total.group

    def ranks(total: ItemTotal) -> str | None:
        return None if total.group is None else _ranks(total.rank_baseline, total.rank_candidate)

    heads = (
        Column("item", "item", "id"),
        Column("group", "group", "id", of=where),
        Column("grade", "grade", "count", of=lambda total: total.group and _grade(total.grade)),
        Column("rank", "rank", "count", of=ranks),
        _change_column(totals),
    )
    return Table.of(heads, totals, title)


def _total_table(
    title: str,
    what: str,
    name: Callable[[Any], str],
    totals: Sequence[KindTotal | GradeTotal | RankTotal],
    remainder: float,
) -> Table:
    heads = (Column("name", what, "id", of=name), Column("n_items", "n", "count"), _change_column(totals))
    table = Table.of(heads, totals, title)
    return replace(table, rows=[*table.rows, [NO_ITEM, None, remainder]]) if remainder else table


def _parts_table(parts: ChangeParts, subject: Subject) -> Table:
    """Return the steps from the baseline to the candidate, each from the one before."""
    old, new = subject.baseline_labels.version, subject.candidate_labels.version
    differences, of_groups = parts.differences, parts.of_groups
    n_added, n_removed, last = differences.n_added, differences.n_removed, parts.candidate
    if of_groups is not None:
        n_added, n_removed, last = n_added - of_groups.n_added, n_removed - of_groups.n_removed, of_groups.candidate
    same_run = subject.baseline_run == subject.candidate_run
    same = "the same runs" if subject.baseline_run.runs else "the same run"
    run = same if same_run else f"{subject.candidate_run.name} instead of {subject.baseline_run.name}"
    changed = counted(differences.n_changed, "grade")
    added = counted(n_added, "label")
    rows: list[tuple[object, ...]] = []
    after = ""
    if of_groups is not None and of_groups.is_any:
        rows.append((units(), None, parts.groups, _group_words(of_groups)))
        after = f"ranking, labels, coverage: over the {counted(of_groups.n_common, 'group')} with a value at every step"
    rows += [
        ("ranking", parts.other_run, parts.ranking, f"{run}, labels version {old}"),
        ("labels", parts.other_grades, parts.labels, f"{changed} changed in version {new}"),
        ("coverage", last, parts.coverage, f"{added} added in version {new}, {n_removed:,} gone"),
    ]
    heads = kinds("part text, value mean value then, change delta, step id")
    return Table(heads, rows, "what changed it, step by step", after=after)


def _group_words(groups: GroupDifferences) -> str:
    """Return what happened to the groups that are in only one of the means."""
    n_labels = f" ({counted(groups.n_added, 'label')})" if groups.n_came and groups.n_added else ""
    step = f"{counted(groups.n_came, 'group')} came{n_labels}, {groups.n_went:,} went"
    return step + (f", {groups.n_between:,} undefined between" if groups.n_between else "")


def _is_seen(remainder: float, delta: float) -> bool:
    """Return whether the part that no item accounts for is large enough to show to people."""
    return abs(remainder) >= 0.5 * 10**-_DIGITS or abs(remainder) > 0.01 * abs(delta)

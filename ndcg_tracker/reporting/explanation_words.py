"""The sentences and tables of an explanation, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.explanation import GroupExplanation, RunExplanation
from ndcg_tracker.reporting.numbers import UNDEFINED, counted, points

if TYPE_CHECKING:
    from ndcg_tracker.comparison.change_parts import ChangeParts
    from ndcg_tracker.comparison.change_totals import ChangeTotals, RankTotal
    from ndcg_tracker.comparison.explanation import ExplainedItem, Explanation, Subject

_KINDS = {
    "moved_up": "moved up",
    "moved_down": "moved down",
    "entered": "entered the list",
    "left": "left the list",
    "label": "other grade",
    "same_rank": "same rank",
    "unjudged": "unjudged",
}
NO_ITEM = "(no item)"


@dataclass(frozen=True, slots=True)
class WordTable:
    """A table for people; ``signed``: the column of signed numbers, which carry the colour; ``after``: a line below."""

    title: str
    headings: tuple[str, ...]
    rows: list[list[str]]
    right: tuple[bool, ...]
    signed: int
    after: str = ""


def for_people(explanation: Explanation) -> Explanation:
    """Return the explanation with its metric named as people know it."""
    from ndcg_tracker.metrics.agreement import familiar_name  # NumPy is not for those who only print a table

    subject = replace(explanation.subject, metric=familiar_name(explanation.subject.metric))
    return replace(explanation, subject=subject)


def headline(explanation: Explanation) -> str:
    """Return what is explained and by how much it changed, in one sentence."""
    subject = explanation.subject
    runs = f"{subject.candidate_run.name} against {subject.baseline_run.name} on {subject.dataset}"
    if not subject.is_same_labels:
        runs = (
            f"{subject.candidate_run.name} (labels version {subject.candidate_labels.version}) against "
            f"{subject.baseline_run.name} (labels version {subject.baseline_labels.version}) on {subject.dataset}"
        )
    where = f", group {explanation.group}" if isinstance(explanation, GroupExplanation) else ""
    change = f"{points(explanation.baseline)} -> {points(explanation.candidate)}"
    return f"{runs}{where}: {subject.metric} {change} ({points(explanation.delta, signed=True)})"


def legend(explanation: Explanation) -> list[str]:
    """Return how to read the numbers."""
    if isinstance(explanation, GroupExplanation):
        return ["before, after: what the item adds to the group's value; change: its part of the difference"]
    if explanation.totals is None:
        return []
    return [
        f"change: part of the difference of the means over {counted(explanation.n_groups, 'group')}; "
        "n: the items that add another amount"
    ]


def tables(explanation: Explanation, top: int) -> list[WordTable]:
    """Return the tables of an explanation, those without rows left out."""
    found = [] if explanation.parts is None else [_parts_table(explanation.parts, explanation.subject)]
    if isinstance(explanation, GroupExplanation):
        found.append(_item_table(explanation, top))
    elif explanation.totals is not None:
        found += _total_tables(explanation.totals, top)
    return [table for table in found if table.rows]


def notes(explanation: Explanation) -> list[str]:
    """Return what else to know."""
    subject = explanation.subject
    found = list(explanation.notes)
    if explanation.parts is None and not subject.is_same_labels:
        found.append("no split into ranking, labels and coverage: the group has no value in one of the steps between")
    if isinstance(explanation, RunExplanation):
        runs = [subject.baseline_run.name, subject.candidate_run.name]
        if explanation.totals is None:
            version = str(subject.baseline_labels.version)
            options = ["--labels-baseline", version, "--labels-candidate", version]
            found.append(f"the ranking's part in detail: {_command(subject, runs, *options)}")
        elif explanation.worst_group is not None:
            found.append(f"the group that lost most: {_command(subject, runs, '--group', explanation.worst_group)}")
    return found


def kind_words(kind: str) -> str:
    """Return what happened to an item, in words."""
    return _KINDS.get(kind, kind)


def range_words(total: RankTotal) -> str:
    """Return a range of ranks in words."""
    if total.first is None:
        return "not listed"
    if total.last is None:
        return f"from {total.first}"
    return str(total.first) if total.first == total.last else f"{total.first}-{total.last}"


def _command(subject: Subject, runs: Sequence[str], *options: str) -> str:
    """Return an explain command to type."""
    words = ["ndcg-track", "explain", *dict.fromkeys(runs)]
    if len(set(runs)) == 1:
        words.append(runs[0])
    return shlex.join([*words, "--dataset", subject.dataset, "--metric", subject.metric, *options])


def _item_table(explanation: GroupExplanation, top: int) -> WordTable:
    shown, rest = explanation.items[:top], explanation.items[top:]
    rows = [_item_row(item) for item in shown]
    if explanation.remainder:
        rows.append([NO_ITEM, "", "", "", "", points(explanation.remainder, signed=True), "rounding or convention"])
    after = ""
    if rest:
        left = sum(item.move.contribution for item in rest)
        after = f"... and {counted(len(rest), 'more item')}: {_signed(left)}"
    headings = ("item", "grade", "rank", "before", "after", "change", "what happened")
    return WordTable("items", headings, rows, (False, True, True, True, True, True, False), 5, after)


def _item_row(item: ExplainedItem) -> list[str]:
    move = item.move
    grade = UNDEFINED if move.grade is None else f"{move.grade:g}"
    if item.kind == "label":
        before = UNDEFINED if item.grade_baseline is None else f"{item.grade_baseline:g}"
        grade = f"{before} -> {grade}"
    ranks = " -> ".join(UNDEFINED if rank is None else str(rank) for rank in (move.rank_baseline, move.rank_candidate))
    numbers = [points(move.contribution_baseline), points(move.contribution_candidate)]
    return [move.item, grade, ranks, *numbers, _signed(move.contribution), kind_words(item.kind)]


def _total_tables(totals: ChangeTotals, top: int) -> list[WordTable]:
    items = [total for total in totals.items if total.contribution < 0][:top]
    gains = [total for total in totals.items if total.contribution > 0][:top]
    kinds = [[kind_words(row.kind), f"{row.n_items:,}", _signed(row.contribution)] for row in totals.kinds]
    if totals.remainder:
        kinds.append([NO_ITEM, "", _signed(totals.remainder)])
    grades = [
        ["unjudged" if row.grade is None else f"{row.grade:g}", f"{row.n_items:,}", _signed(row.contribution)]
        for row in totals.grades
    ]
    ranks = [[range_words(row), f"{row.n_items:,}", _signed(row.contribution)] for row in totals.ranks]
    tables = [
        _total_table("by what happened to the item", "what happened", kinds),
        _total_table("by the grade of the item", "grade", grades),
        _total_table("by the rank of the item in the baseline", "rank", ranks),
    ]
    for title, rows in (("items that cost most", items), ("items that brought most", gains)):
        cells = [
            [row.item, row.group if row.group is not None else f"in {row.n_groups:,} groups", _signed(row.contribution)]
            for row in rows
        ]
        tables.append(WordTable(title, ("item", "group", "change"), cells, (False, False, True), 2))
    return tables


def _total_table(title: str, what: str, rows: list[list[str]]) -> WordTable:
    return WordTable(title, (what, "n", "change"), rows, (False, True, True), 2)


def _parts_table(parts: ChangeParts, subject: Subject) -> WordTable:
    """Return the steps from the baseline to the candidate, each from the one before."""
    old, new = subject.baseline_labels.version, subject.candidate_labels.version
    differences = parts.differences
    same_run = subject.baseline_run == subject.candidate_run
    run = "the same run" if same_run else f"{subject.candidate_run.name} instead of {subject.baseline_run.name}"
    changed = counted(differences.n_changed, "grade")
    rows = [
        ["ranking", points(parts.other_run), _signed(parts.ranking), f"{run}, labels version {old}"],
        ["labels", points(parts.other_grades), _signed(parts.labels), f"{changed} changed in version {new}"],
        [
            "coverage",
            points(parts.candidate),
            _signed(parts.coverage),
            f"{differences.n_added:,} labels added in version {new}, {differences.n_removed:,} gone",
        ],
    ]
    return WordTable(
        "what changed it, step by step",
        ("part", "value then", "change", "step"),
        rows,
        (False, True, True, False),
        2,
    )


def _signed(value: float) -> str:
    return points(value, signed=True) if value else points(0.0)

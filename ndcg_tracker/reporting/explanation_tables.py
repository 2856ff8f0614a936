"""The tables of an explanation, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.explanation import GroupExplanation
from ndcg_tracker.reporting.explanation_words import by_cost
from ndcg_tracker.reporting.numbers import UNDEFINED, counted, points

if TYPE_CHECKING:
    from ndcg_tracker.comparison.change_parts import ChangeParts, GroupDifferences
    from ndcg_tracker.comparison.change_totals import ChangeTotals, ItemTotal, RankTotal
    from ndcg_tracker.comparison.explanation import ExplainedItem, Explanation, Subject

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


@dataclass(frozen=True, slots=True)
class WordTable:
    """A table for people; ``signed``: the column of signed numbers, which carry the colour; ``after``: a line below."""

    title: str
    headings: tuple[str, ...]
    rows: list[list[str]]
    right: tuple[bool, ...]
    signed: int
    after: str = ""


def tables(explanation: Explanation, top: int | None) -> list[WordTable]:
    """Return the tables of an explanation, those that say nothing left out; ``top`` None: with all their rows."""
    found = [] if explanation.parts is None else [_parts_table(explanation.parts, explanation.subject)]
    if isinstance(explanation, GroupExplanation):
        found.append(_item_table(explanation, top))
    elif explanation.totals is not None:
        found += _total_tables(explanation.totals, explanation.delta, top)
    return [table for table in found if table.rows]


def range_words(total: RankTotal) -> str:
    """Return a range of ranks in words."""
    if total.first is None:
        return "not listed"
    if total.last is None:
        return f"from {total.first}"
    return str(total.first) if total.first == total.last else f"{total.first}-{total.last}"


def _item_table(explanation: GroupExplanation, top: int | None) -> WordTable:
    """Return the items that changed the group's value most, ``top`` of them, what explains its change first."""
    if top is None:
        chosen = list(explanation.items)
    else:
        chosen = [item for item in explanation.items[:top] if item.move.contribution]
    kept = {id(item) for item in chosen}
    rows = [_item_row(item, explanation.subject.cutoff) for item in by_cost(explanation) if id(item) in kept]
    if _is_seen(explanation.remainder, explanation.delta):
        rows.append([NO_ITEM, "", "", "", "", _signed(explanation.remainder), "rounding or convention"])
    rest = [item for item in explanation.items if id(item) not in kept]
    others = [item for item in rest if item.move.contribution]
    words = []
    if others:
        words.append(f"{counted(len(others), 'more item')}: {_signed(sum(item.move.contribution for item in others))}")
    if len(rest) > len(others):
        words.append(f"{counted(len(rest) - len(others), 'item')} that changed nothing")
    after = f"... and {', and '.join(words)}" if words else ""
    headings = ("item", "grade", "rank", "before", "after", "change", "what happened")
    return WordTable("", headings, rows, (False, True, True, True, True, True, False), 5, after)


def _item_row(item: ExplainedItem, cutoff: int | None) -> list[str]:
    move = item.move
    grade = _grade(move.grade)
    if item.kind == "label":
        grade = f"{_grade(item.grade_baseline)} → {grade}"
    numbers = [points(move.contribution_baseline), points(move.contribution_candidate)]
    what = _KINDS.get(item.kind, item.kind)
    before, after = move.rank_baseline, move.rank_candidate
    if cutoff is not None and before is not None and after is not None:
        if before <= cutoff < after:
            what += f", out of the top {cutoff}"
        elif after <= cutoff < before:
            what += f", into the top {cutoff}"
    return [move.item, grade, _ranks(before, after), *numbers, _signed(move.contribution), what]


def _grade(grade: float | None) -> str:
    return UNDEFINED if grade is None else f"{grade:g}"


def _ranks(before: int | None, after: int | None) -> str:
    """Return where an item stood in both runs."""
    if before == after:
        return UNDEFINED if after is None else str(after)
    return " → ".join(UNDEFINED if rank is None else str(rank) for rank in (before, after))


def _total_tables(totals: ChangeTotals, delta: float, top: int | None) -> list[WordTable]:
    """Return the change by what happened, grade and rank, then the items that cost and brought most."""
    kinds = [(_KINDS.get(row.kind, row.kind), row.n_items, row.contribution) for row in totals.kinds]
    grades = [
        ("unjudged" if row.grade is None else f"{row.grade:g}", row.n_items, row.contribution) for row in totals.grades
    ]
    ranks = [(range_words(row), row.n_items, row.contribution) for row in totals.ranks]
    remainder = totals.remainder if _is_seen(totals.remainder, delta) else 0.0
    found = [
        _total_table("by what happened to the item", "what happened", kinds, remainder),
        _total_table("by the grade of the item", "grade", grades, remainder),
        _total_table("by the rank of the item in the baseline", "rank", ranks, remainder),
    ]
    costs = [total for total in totals.items if total.contribution < 0][:top]
    gains = [total for total in totals.items if total.contribution > 0][:top]
    found += [
        _item_totals(title, rows)
        for title, rows in (("items that cost most", costs), ("items that brought most", gains))
    ]
    return found


def _item_totals(title: str, totals: Sequence[ItemTotal]) -> WordTable:
    digits = _digits([total.contribution for total in totals])
    rows = []
    for total in totals:
        where = [f"in {total.n_groups:,} groups", "", ""]
        if total.group is not None:
            where = [total.group, _grade(total.grade), _ranks(total.rank_baseline, total.rank_candidate)]
        rows.append([total.item, *where, _signed(total.contribution, digits)])
    headings = ("item", "group", "grade", "rank", "change")
    return WordTable(title, headings, rows, (False, False, True, True, True), 4)


def _total_table(title: str, what: str, totals: Sequence[tuple[str, int, float]], remainder: float) -> WordTable:
    digits = _digits([change for _, _, change in totals])
    rows = [[name, f"{n_items:,}", _signed(change, digits)] for name, n_items, change in totals]
    if remainder:
        rows.append([NO_ITEM, "", _signed(remainder, digits)])
    return WordTable(title, (what, "n", "change"), rows, (False, True, True), 2)


def _parts_table(parts: ChangeParts, subject: Subject) -> WordTable:
    """Return the steps from the baseline to the candidate, each from the one before."""
    old, new = subject.baseline_labels.version, subject.candidate_labels.version
    differences, of_groups = parts.differences, parts.of_groups
    n_added, n_removed, last = differences.n_added, differences.n_removed, parts.candidate
    if of_groups is not None:
        n_added, n_removed, last = n_added - of_groups.n_added, n_removed - of_groups.n_removed, of_groups.candidate
    same_run = subject.baseline_run == subject.candidate_run
    run = "the same run" if same_run else f"{subject.candidate_run.name} instead of {subject.baseline_run.name}"
    changed = counted(differences.n_changed, "grade")
    added = counted(n_added, "label")
    rows = _group_rows(of_groups, parts.groups) if of_groups is not None and of_groups.is_any else []
    rows += [
        ["ranking", points(parts.other_run), _signed(parts.ranking), f"{run}, labels version {old}"],
        ["labels", points(parts.other_grades), _signed(parts.labels), f"{changed} changed in version {new}"],
        [
            "coverage",
            points(last),
            _signed(parts.coverage),
            f"{added} added in version {new}, {n_removed:,} gone",
        ],
    ]
    after = ""
    if rows[0][0] == "groups" and of_groups is not None:
        after = f"ranking, labels, coverage: over the {counted(of_groups.n_common, 'group')} that all steps have"
    return WordTable(
        "what changed it, step by step",
        ("part", "value then", "change", "step"),
        rows,
        (False, True, True, False),
        2,
        after,
    )


def _group_rows(groups: GroupDifferences, change: float) -> list[list[str]]:
    """Return the row of the groups that are in one of the means only."""
    n_labels = f" ({counted(groups.n_added, 'label')})" if groups.n_came and groups.n_added else ""
    step = f"{counted(groups.n_came, 'group')} came{n_labels}, {groups.n_went:,} went"
    if groups.n_between:
        step += f", {groups.n_between:,} undefined between"
    return [["groups", UNDEFINED, _signed(change), step]]


def _is_seen(remainder: float, delta: float) -> bool:
    """Return whether what no item accounts for is large enough to be shown to people."""
    return abs(remainder) >= 0.5 * 10**-_DIGITS or abs(remainder) > 0.01 * abs(delta)


def _digits(changes: Sequence[float]) -> int:
    """Return the decimals that tell small changes apart."""
    return _DIGITS if max(map(abs, changes), default=0.0) >= 0.001 else _MORE_DIGITS


def _signed(value: float, digits: int = _DIGITS) -> str:
    return points(value, signed=True, digits=digits) if value else points(0.0, digits=digits)

"""The sentences of an explanation, shared by its text and its Markdown; nothing here is escaped yet."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.explanation import GroupExplanation, RunExplanation
from ndcg_tracker.reporting.numbers import counted, points

if TYPE_CHECKING:
    from ndcg_tracker.comparison.explanation import ExplainedItem, Explanation, Subject

N_CAUSES = 3
"""How many items the first sentence names."""


def for_people(explanation: Explanation) -> Explanation:
    """Return the explanation with its metric named as people know it."""
    from ndcg_tracker.metrics.language.agreement import familiar_name  # NumPy is not for those who only print a table

    subject = replace(explanation.subject, metric=familiar_name(explanation.subject.metric))
    return replace(explanation, subject=subject)


def headline(explanation: Explanation) -> str:
    """Return what changed and by how much."""
    subject, verb = explanation.subject, _verb(explanation.delta)
    if isinstance(explanation, GroupExplanation):
        what = f"group {explanation.group} {verb} in {subject.metric}:"
    elif explanation.delta:
        what = f"{_runs(subject, f'{verb} against')}: {subject.metric}"
    else:
        what = f"{_runs(subject, 'against')}: {subject.metric} {verb}:"
    return f"{what} {_change(explanation)}"


def story(explanation: Explanation) -> list[str]:
    """Return what happened, the items that did most of it first, and in which runs; of a group only."""
    if not isinstance(explanation, GroupExplanation):
        return []
    runs = _runs(explanation.subject, "against")
    causes = [item for item in by_cost(explanation) if item.move.contribution * explanation.delta > 0][:N_CAUSES]
    if not causes:
        return [runs]
    told = [f"{_named(item)} {happened(item)} ({points(item.move.contribution, signed=True)})" for item in causes]
    return [f"{', '.join(told[:-1])} and {told[-1]}" if len(told) > 1 else told[0], runs]


def by_cost(explanation: GroupExplanation) -> list[ExplainedItem]:
    """Return the items of a group, those that explain its change first: where it fell, the largest loss."""
    falls = explanation.delta <= 0
    return sorted(explanation.items, key=lambda item: item.move.contribution if falls else -item.move.contribution)


def happened(item: ExplainedItem) -> str:
    """Return what happened to an item, as the end of a sentence that begins with its name."""
    before, after = item.move.rank_baseline, item.move.rank_candidate
    if item.kind == "label":
        return f"is {_grade(item.move.grade)} instead of {_grade(item.grade_baseline)}"
    if before is None and after is None:
        return "is not ranked"
    if before is None:
        return f"entered at rank {after}"
    if after is None:
        return f"left from rank {before}"
    if before == after:
        return f"stayed at rank {after}"
    return f"{'rose' if after < before else 'fell'} from rank {before} to {after}"


def legend(explanation: Explanation) -> list[str]:
    """Return how to read the numbers."""
    if isinstance(explanation, GroupExplanation):
        shown = any(item.move.contribution for item in explanation.items)
        return ["before, after: what the item adds to the group's value; change: its part of the difference"] * shown
    if explanation.totals is None:
        return []
    return [
        f"change: part of the difference of the means over {counted(explanation.n_groups, 'group')}; "
        "n: the items that add another amount"
    ]


def notes(explanation: Explanation) -> list[str]:
    """Return what else to know."""
    subject = explanation.subject
    found = list(explanation.notes)
    if explanation.parts is None and not subject.is_same_labels:
        found.append("no split into ranking, labels and coverage: the group has no value in one of the steps between")
    if isinstance(explanation, RunExplanation):
        version = str(subject.baseline_labels.version)
        options = ["--labels-baseline", version, "--labels-candidate", version]
        if explanation.totals is None:
            found.append(f"the ranking's part in detail: {_command(subject, *options)}")
        elif explanation.worst_group is not None:
            named = options if subject.are_labels_named else []
            words = _command(subject, *named, "--group", explanation.worst_group)
            found.append(f"the group that lost most: {words}")
    return found


def _verb(delta: float) -> str:
    return "fell" if delta < 0 else "rose" if delta > 0 else "did not change"


def _change(explanation: Explanation) -> str:
    if not explanation.delta:
        return points(explanation.candidate)
    change = f"{points(explanation.baseline)} -> {points(explanation.candidate)}"
    return f"{change} ({points(explanation.delta, signed=True)})"


def _runs(subject: Subject, between: str) -> str:
    """Return both runs, the candidate first, with the labels that each is held to."""
    one, other = subject.candidate_run.name, subject.baseline_run.name
    if subject.is_same_labels:
        return f"{one} {between} {other} on {subject.dataset}"
    version, other_version = subject.candidate_labels.version, subject.baseline_labels.version
    return f"{one} (labels version {version}) {between} {other} (labels version {other_version}) on {subject.dataset}"


def _named(item: ExplainedItem) -> str:
    """Return an item with its grade, unless that is what is told of it."""
    return item.move.item if item.kind == "label" else f"{item.move.item} ({_grade(item.move.grade)})"


def _grade(grade: float | None) -> str:
    return "unjudged" if grade is None else f"grade {grade:g}"


def _command(subject: Subject, *options: str) -> str:
    """Return an explain command to type."""
    words: Sequence[str] = (
        "ndcg-track",
        "explain",
        subject.baseline_run.name,
        subject.candidate_run.name,
        "--dataset",
        subject.dataset,
        "--metric",
        subject.metric,
        *options,
    )
    return shlex.join(words)

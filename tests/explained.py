"""Explanations for the reports, with any id wherever text from outside can stand."""

from __future__ import annotations

from ndcg_tracker.compare.results import ItemMove, LabelSetRef, RunRef
from ndcg_tracker.questions.explain.decide import (
    ChangeParts,
    ChangeTotals,
    ExplainedItem,
    GradeTotal,
    GroupDifferences,
    GroupExplanation,
    ItemTotal,
    KindTotal,
    LabelDifferences,
    RankTotal,
    RunExplanation,
    Subject,
)
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import GroupTexts, Text


def subject(text: str | None = None, *, versions: tuple[int, int] = (1, 1), metric: str = "ndcg@10") -> Subject:
    """Return what is explained; ``text`` in the place of every name."""
    one, other = (LabelSetRef(version, f"digest{version}") for version in versions)
    runs = (RunRef(text or "bm25", 1), RunRef(text or "dense", 2))
    return Subject(text or metric, *runs, text or "shop", one, other, 10)


def _named(text: str | None) -> tuple[Note, ...]:
    """Return a note with names from outside; none where there are none."""
    return () if text is None else (Note("group_not_in_run", {"group": text, "run": text, "value": 0.0}),)


def _texts(text: str | None, items: tuple[ExplainedItem, ...]) -> GroupTexts:
    """Return texts from outside, whose URLs are no addresses of the web; none where there are none."""
    if text is None:
        return GroupTexts()
    told = Text(text or "empty", text, f"javascript:{text}")
    return GroupTexts(told, {item.move.item: told for item in items})


def _command(text: str | None, *options: str) -> tuple[str, ...]:
    names = (text or "bm25", text or "dense", "--dataset", text or "shop", "--metric", text or "ndcg@10")
    return ("ndcg-track", "explain", *names, *options)


def group_explanation(text: str | None = None, *, versions: tuple[int, int] = (1, 1)) -> GroupExplanation:
    """Return why a group fell from 0.75 to 0.375, with every kind of item and something left over."""
    items = (
        ExplainedItem(ItemMove(text or "d1", 3.0, 1, 14, 0.5, 0.0, -0.5), "moved_down", 3.0),
        ExplainedItem(ItemMove(text or "d2", 2.0, 12, 2, 0.0, 0.25, 0.25), "moved_up", 2.0),
        ExplainedItem(ItemMove(text or "d3", 1.0, 5, None, 0.125, 0.0, -0.125), "left", 1.0),
        ExplainedItem(ItemMove(text or "d4", 1.0, None, 5, 0.0, 0.0625, 0.0625), "entered", None),
        ExplainedItem(ItemMove(text or "d5", None, 3, 3, 0.0625, 0.0, -0.0625), "label", 2.0),
        ExplainedItem(ItemMove(text or "d6", 1.5, 4, 4, 0.0, 0.03125, 0.03125), "label", None),
        ExplainedItem(ItemMove(text or "d7", 1.0, 6, 6, 0.03125, 0.0, -0.03125), "same_rank", 1.0),
        ExplainedItem(ItemMove(text or "d8", None, 7, 1, 0.0, 0.0, 0.0), "unjudged", None),
        ExplainedItem(ItemMove(text or "d9", 0.0, 8, 7, 0.0, 0.0, 0.0), "moved_up", 0.0),
    )
    parts = None if versions[0] == versions[1] else ChangeParts(0.75, 0.5, 0.625, 0.375, LabelDifferences(1, 1200, 2))
    notes = (Note("unjudged_items", {"cutoff": 10, "baseline": 1, "candidate": 2}), *_named(text))
    return GroupExplanation(
        subject(text, versions=versions), text or "q17", 0.75, 0.3755, items, parts, notes, _texts(text, items)
    )


def run_explanation(text: str | None = None) -> RunExplanation:
    """Return why a mean rose by 0.03, with items of one group and of several."""
    totals = ChangeTotals(
        (KindTotal("moved_up", 1200, 0.05), KindTotal("left", 3, -0.02)),
        (GradeTotal(2.0, 1000, 0.04), GradeTotal(1.5, 200, -0.01), GradeTotal(None, 3, 0.0)),
        (
            RankTotal(1, 1, 7, -0.01),
            RankTotal(2, 3, 90, 0.02),
            RankTotal(1001, None, 6, 0.02),
            RankTotal(None, None, 1, 0.0),
        ),
        (
            ItemTotal(text or "d1", 2, 0.0004),
            ItemTotal(text or "d2", 1, -0.0002, text or "q1", 3.0, 1, 12),
            ItemTotal(text or "d3", 1, 0.0001, text or "q2", None, None, 3),
        ),
        997,
        0.0297,
        0.0,
    )
    return RunExplanation(
        subject(text),
        0.4,
        0.43,
        1234,
        totals,
        worst_group=text or "q17",
        verdict="no_difference_detected",
        notes=(
            Note("in_one_run_only", {"n": 1}),
            *_named(text),
            Note("worst_group", command=_command(text, "--group", text or "q17")),
        ),
    )


def groups_explanation() -> RunExplanation:
    """Return what groups that came did to a mean beside its ranking, labels and coverage."""
    of_groups = GroupDifferences(30, 20, 1, 2, 900, 7, 0.5, 0.75)
    parts = ChangeParts(0.5, 0.625, 0.5625, 0.45, LabelDifferences(1, 1000, 9), of_groups)
    return RunExplanation(subject(versions=(1, 2)), 0.5, 0.45, 50, parts=parts)


def parts_explanation(text: str | None = None) -> RunExplanation:
    """Return what the ranking, the labels and their coverage did to a mean."""
    parts = ChangeParts(0.5, 0.625, 0.5625, 0.75, LabelDifferences(1, 2, 0))
    command = _command(text, "--labels-baseline", "1", "--labels-candidate", "1")
    notes = (Note("ranking_in_detail", command=command),)
    return RunExplanation(subject(text, versions=(1, 2)), 0.5, 0.75, 40, parts=parts, notes=notes)

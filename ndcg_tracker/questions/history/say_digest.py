"""A digest on one screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.say import finding, for_people
from ndcg_tracker.questions.history.say import step_sentence, where_lines
from ndcg_tracker.render.report import Column, Line, Report, Table, to_the_second
from ndcg_tracker.words.notes import Told, first_of_kinds
from ndcg_tracker.words.texts import counted, judge_words, points, unit, units

if TYPE_CHECKING:
    from ndcg_tracker.questions.history.digest import Digest

MOST_STEPS = 2
"""How many steps a screen tells."""
MOST_RUNS = 3
"""How many runs and versions a screen names."""
MOST_NOTES = 2
"""How many notes a screen tells."""


def digest_report(digest: Digest) -> Report:
    """Return a digest as a report; -v has all steps and notes."""
    before, new, steps = digest.since, digest.runs, digest.steps
    since = f"since {before['run']} ({to_the_second(before['created_at_utc'])})"
    counts = f"{counted(len(new), 'new run')}, {counted(len(steps), 'new step')}" if new else "no new run"
    title = f"{digest.metric} on {digest.dataset} {since}: {counts}"
    lines = [
        Line("new runs: ", _named([f"{row['run']} {points(row['mean'])}" for row in new])),
        *where_lines(steps[-MOST_STEPS:]),
    ]
    lines = lines if new else []
    found, needed = digest.comparison, digest.needed
    if found is not None:
        lines.append(
            Line(f"{found.candidate.name}: ", f"{finding(for_people(found).metrics[0])}:", digest.command("compare"))
        )
    lines.append(Line("labels: ", _named([_version(of) for of in digest.labels]) or "none added"))
    if needed is not None:
        command = digest.command("labels", "needed") if needed.items else ""
        what = f"{counted(needed.n_unjudged, 'item')} without a label" if needed.items else "nothing could move this"
        lines.append(Line("to judge: ", f"{what}{command and ':'}", command))
    notes = [*(Told("note", problem) for problem in digest.problems), *first_of_kinds(digest.notes)]
    further = [("also", step_sentence(row)) for row in steps[:-MOST_STEPS]]
    heads = (
        Column("group", unit(), "id"),
        Column("text", "text", "text"),
        *(Column(key, key, "mean") for key in ("baseline", "candidate")),
        Column("delta", "delta", "delta", of="delta"),
    )
    title_of_worst = f"{units()} that lost most, {before['run']} to {new[-1]['run']}" if new else ""
    return Report(
        title,
        sentences=[step_sentence(row) for row in steps[-MOST_STEPS:]],
        tables=[Table.of(heads, digest.worst, title_of_worst)] if digest.worst else [],
        lines=lines,
        notes=notes[:MOST_NOTES],
        facts=further,
        minor=notes[MOST_NOTES:],
    )


def _named(words: list[str]) -> str:
    """Return the latest of some words, and how many come before them."""
    more = len(words) - MOST_RUNS
    return ", ".join(words[-MOST_RUNS:]) + (f" (and {more} before)" if more > 0 else "")


def _version(of: Mapping[str, Any]) -> str:
    """Return a version of the labels in words."""
    judge = f", {judge_words(of['judge'])}" if of["judge"] else ""
    extends = f", extends {of['extends']}" if of["extends"] else ""
    return f"version {of['version']} ({counted(of['n_labels'], 'label')}{extends}{judge})"

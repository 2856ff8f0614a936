"""What is new in a history since a run: the facts, and one screen of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import finding, for_people
from ndcg_tracker.questions.history.question import HistoryFilter
from ndcg_tracker.questions.history.say import HistoryRow, history_table, step_sentence, where_lines
from ndcg_tracker.questions.labels.decide import NeededLabels
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.render.report import Column, Line, Report, Table, to_the_second
from ndcg_tracker.runs.judges import judge_option
from ndcg_tracker.words.notes import Note, Told, command_line, first_of_kinds, note_text
from ndcg_tracker.words.texts import counted, judge_words, points, unit, units

MOST_STEPS = 2
"""How many steps a screen tells."""
MOST_RUNS = 3
"""How many runs and versions a screen names."""
MOST_LOST = 3
"""How many of the worst queries a screen names."""


@dataclass(frozen=True, repr=False)
class Digest(Answer):
    """What is new in a history since a run; notebooks and ``print`` show it on one screen.

    ``since``: the row of the last run that is not new. ``runs``: the rows of the new ones. ``steps``: the rows of steps
    that these reveal. ``comparison``: of the latest run with ``since``, None without a new run, or if it is not
    possible. ``labels``: the versions stored since then. ``needed``: the items to judge, None if that is not known.
    ``problems``: why something is not known, with what to type. ``asked``: which runs are meant. ``to_frame`` has a row
    per new run.
    """

    dataset: str
    metric: str
    since: HistoryRow
    runs: tuple[HistoryRow, ...]
    steps: tuple[HistoryRow, ...]
    comparison: Comparison | None
    labels: tuple[Mapping[str, Any], ...]
    needed: NeededLabels | None
    notes: tuple[Note, ...]
    problems: tuple[str, ...]
    asked: HistoryFilter

    def command(self, *words: str) -> str:
        """Return the command that tells more of the latest run and the run before the new ones."""
        of = ("--dataset", self.dataset, "--metric", self.metric, *judge_option(self.since.get("judge", "")))
        of += () if self.asked.labels is None else ("--labels", str(self.asked.labels))
        return command_line(("ndcg-track", *words, self.since["run"], self.runs[-1]["run"], *of))

    @property
    def worst(self) -> list[dict[str, Any]]:
        """The groups that lost most, with their texts."""
        found = self.comparison
        keys = ("group", "baseline", "candidate", "delta")
        lost = [] if found is None else [of for of in found.worst if of.delta]
        texts = {} if found is None else found.texts
        return [{**{key: getattr(of, key) for key in keys}, "text": texts.get(of.group)} for of in lost]

    def _said(self) -> Said:
        needed = self.needed
        shape: dict[str, Any] = {key: getattr(self, key) for key in ("dataset", "metric", "since", "runs", "steps")}
        to_judge = None if needed is None else {"n_unjudged": needed.n_unjudged, "items": needed.items}
        notes = [*self.problems, *map(note_text, self.notes)]
        shape |= {"worst": self.worst, "labels": self.labels, "needed": to_judge, "notes": notes}
        return Said(shape, lambda: [_report(self)], lambda: history_table(self.runs), dataset=self.dataset)


def _report(digest: Digest) -> Report:
    """Return a digest as a report; -v has all steps and notes."""
    before, new, steps = digest.since, digest.runs, digest.steps
    since = f"since {before['run']} ({to_the_second(before['created_at_utc'])})"
    counts = f"{counted(len(new), 'new run')}, {counted(len(steps), 'new step')}" if new else "no new run"
    title = f"{digest.metric} on {digest.dataset} {since}: {counts}"
    names = _named([f"{row['run']} {points(row['mean'])}" for row in new])
    lines = [Line("new runs: ", names), *where_lines(steps[-MOST_STEPS:])] if new else []
    found, needed = digest.comparison, digest.needed
    if found is not None:
        lines.append(
            Line(f"{found.candidate.name}: ", f"{finding(for_people(found).metrics[0])}:", digest.command("compare"))
        )
    lines.append(Line("labels: ", _named([_version(of) for of in digest.labels]) or "none added"))
    if needed is not None:
        command = digest.command("labels", "needed") if needed.items else ""
        what = (
            f"{counted(needed.n_unjudged, 'item')} without a label"
            if needed.items
            else f"nothing: no label could move {digest.metric}"
        )
        lines.append(Line("to judge: ", f"{what}{command and ':'}", command))
    notes = [*(Told("note", problem) for problem in digest.problems), *first_of_kinds(digest.notes)]
    n_notes = 1 if digest.worst else 2  # with a full table, more would not fit 24 lines
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
        tables=[Table.of(heads, digest.worst[:MOST_LOST], title_of_worst)] if digest.worst else [],
        lines=lines,
        notes=notes[:n_notes],
        facts=further,
        minor=notes[n_notes:],
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

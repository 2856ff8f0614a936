"""What is new in a history since a run: runs, steps, the queries that lost most, labels, and what to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.gather import compared
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.gather import History, HistoryFilter, history_of, new_steps_of
from ndcg_tracker.questions.history.say import HistoryRow, history_table
from ndcg_tracker.questions.history.say_digest import digest_report
from ndcg_tracker.questions.labels.decide import NeededLabels
from ndcg_tracker.questions.labels.gather import labels_needed
from ndcg_tracker.questions.labels.question import NeededQuestion
from ndcg_tracker.render.formats import Answer, Said
from ndcg_tracker.runs.judges import judge_option
from ndcg_tracker.storage.records import NO_LABELS_HERE
from ndcg_tracker.words.notes import Note, command_line, note_text

if TYPE_CHECKING:
    from ndcg_tracker.storage.store import ReadTransaction

MOST_TOLD = 5
"""How many of the worst queries, and of the items to judge, a digest has."""


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
        return Said(shape, lambda: [digest_report(self)], lambda: history_table(self.runs), dataset=self.dataset)


def digest_of(tx: ReadTransaction, since: str, found: History, metric: str, wanted: HistoryFilter) -> Digest:
    """Return what is new in a history since a run (see ``Tracker.history_digest``); ``found``: all of the history.

    Raises: ReferenceNotFoundError for an unknown run, and if none of the wanted runs is that old.
    """
    name = found.dataset
    mark = tx.runs.resolve(since, name)
    old = [row for row in found.rows if (row["created_at_utc"], row["run_id"]) <= (mark.created_at_utc, mark.id)]
    if not old:
        what = f"none of the runs that are asked for is as old as {mark.name!r}"
        raise ReferenceNotFoundError(what, advice="name an older run, or use fewer filters")
    new = found.rows[len(old) :]
    names = [row["run"] for row in new]
    steps = new_steps_of(found, lambda: history_of(tx, name, metric, wanted, without=names)) if new else ()
    added = [of for of in tx.labels.sets(mark.dataset_id) if of.judge not in NO_LABELS_HERE]
    keys = ("version", "judge", "created_at_utc", "n_labels", "extends", "added_by")
    labels = [{key: getattr(of, key) for key in keys} for of in added if of.created_at_utc > mark.created_at_utc]
    comparison, needed, problems = None, None, list[str]()
    if new:
        before, latest, parsed = old[-1]["run"], names[-1], parse_metric(metric)
        view: dict[str, Any] = {"dataset": name, "labels": wanted.labels, "judge": wanted.judge}
        try:
            options = CompareOptions(metrics=(parsed,), top=MOST_TOLD, for_screen=True, **view)
            comparison = compared(tx, before, [latest], options)[0].comparison
            both = tx.runs.resolve_all([before, latest], name)
            needed = labels_needed(tx, both[0], both[1:], NeededQuestion(metric=parsed, budget=MOST_TOLD, **view))
        except (InputError, NotComparableError) as error:  # the rest of the digest is known without it
            problems.append(str(error))
    shown = found.rows[-1].get("requested_as") or metric
    each = (old[-1], new, steps, comparison, tuple(labels), needed, found.notes, tuple(problems))
    return Digest(name, shown, *each, wanted)

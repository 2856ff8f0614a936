"""What is new in a history since a run: runs, steps, the queries that lost most, labels, and what to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ndcg_tracker.compare.gather import compared
from ndcg_tracker.compare.options import CompareOptions
from ndcg_tracker.errors import InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.history.digest import Digest
from ndcg_tracker.questions.history.gather import History, HistoryFilter, history_of, new_steps_of
from ndcg_tracker.questions.labels.gather import labels_needed
from ndcg_tracker.questions.labels.question import NeededQuestion
from ndcg_tracker.storage.records import NO_LABELS_HERE

if TYPE_CHECKING:
    from ndcg_tracker.storage.store import ReadTransaction

MOST_TOLD = 5
"""How many of the worst queries, and of the items to judge, a digest has."""


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
    steps = (
        new_steps_of(found, len(old), lambda later: history_of(tx, name, metric, wanted, without=later)) if new else ()
    )
    stored = min(tx.evaluations.of_run(mark.id), key=lambda evaluation: evaluation.id, default=None)
    known = 0 if stored is None else stored.label_set_id  # a run may be older than the labels that it was stored with
    keys = ("version", "judge", "created_at_utc", "n_labels", "extends", "added_by")
    labels = [
        {key: getattr(of, key) for key in keys}
        for of in tx.labels.sets(mark.dataset_id)
        if of.judge not in NO_LABELS_HERE and of.created_at_utc > mark.created_at_utc and of.id > known
    ]
    comparison, needed, problems = None, None, list[str]()
    if new:
        before, latest, parsed = old[-1]["run"], names[-1], parse_metric(metric)
        view: dict[str, Any] = {"dataset": name, "labels": wanted.labels, "judge": wanted.judge}
        try:
            options = CompareOptions(metrics=(parsed,), top=MOST_TOLD, for_screen=True, **view)
            pair = compared(tx, before, [latest], options)[0]
            comparison, runs = pair.comparison, (pair.both.baseline.run, pair.both.candidate.run)
            needed = labels_needed(tx, runs[0], runs[1:], NeededQuestion(metric=parsed, budget=MOST_TOLD, **view))
        except (InputError, NotComparableError) as error:  # the rest of the digest is known without it
            problems.append(str(error))
    shown = found.rows[-1].get("requested_as") or metric
    each = (old[-1], new, steps, comparison, tuple(labels), needed, found.notes, tuple(problems))
    return Digest(name, shown, *each, wanted)

"""Choose the old runs that lose their items, or the results under old labels; means stay where items are deleted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rules import refuse
from ndcg_tracker.storage.checks import stored_time
from ndcg_tracker.storage.runs import BYTES_OF_RESULT

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import RunRecord
    from ndcg_tracker.storage.store import ReadTransaction

_DAYS = {"d": 1, "w": 7}
_AGE = re.compile(r"([0-9]{1,6})([dw])", re.ASCII)


@dataclass(frozen=True, slots=True)
class PruneQuestion:
    """Which runs of a dataset to prune: those made before a moment, except protected ones.

    ``before_utc``: None to delete the results under old labels instead (see ``evaluations.of_old_labels``).
    ``keep_tags``: keys, or texts KEY=VALUE. ``keep_alias``: also keep runs that an alias once pointed to.
    ``summaries_only``: group results are deleted too.
    """

    before_utc: str | None
    dataset: str | None = None
    keep_tags: Sequence[str] = ()
    keep_alias: bool = False
    summaries_only: bool = False


@dataclass(frozen=True, slots=True)
class PrunedRun:
    """A run and what is deleted of it; ``n_bytes``: about how much space that takes."""

    run: str
    run_id: int
    dataset: str
    created_at_utc: str
    n_items: int
    n_results: int
    n_bytes: int


@dataclass(frozen=True, slots=True)
class Pruned:
    """What a pruning deletes, or would delete; ``n_kept``: how many runs of that age are protected.

    ``before_utc``: None for the results under old labels, whatever the age of the runs.
    """

    before_utc: str | None
    runs: tuple[PrunedRun, ...]
    n_kept: int
    is_applied: bool = False


def moment_before(age: str | timedelta, now: datetime | None = None) -> str:
    """Return the moment an age ago, or of a date or time, in the stored form.

    >>> moment_before("2w", datetime(2026, 3, 15, tzinfo=UTC)), moment_before("2026-01-31")
    ('2026-03-01T00:00:00.000000Z', '2026-01-31T00:00:00.000000Z')
    """
    match = _AGE.fullmatch(age.strip()) if isinstance(age, str) else None
    try:
        span = age if match is None else timedelta(days=int(match[1]) * _DAYS[match[2]])
        return stored_time((now or datetime.now(UTC)) - span if isinstance(span, timedelta) else span)
    except (InputError, OverflowError):
        raise InputError(
            f"{argument('older_than', age)} is not an age", advice="write 90d, 12w or a date such as 2026-01-31"
        ) from None


def moment_asked_for(older_than: str | timedelta | None, results_of_old_labels: bool) -> str | None:
    """Return the moment before which runs lose their items, None if results under old labels are to be deleted."""
    refuse("runs prune", {"older_than": older_than, "results_of_old_labels": results_of_old_labels})
    return None if older_than is None else moment_before(older_than)


def runs_to_prune(tx: ReadTransaction, question: PruneQuestion) -> Pruned:
    """Return the runs to prune, and what is deleted of them."""
    if question.before_utc is None:
        results = tx.evaluations.of_old_labels()
        runs = (
            PrunedRun(run.name, run.id, run.dataset, run.created_at_utc, 0, n_results, n_results * BYTES_OF_RESULT)
            for run in tx.runs.chosen((), question.dataset)
            if (n_results := sum(results.get(run.id, {}).values()))
        )
        return Pruned(None, tuple(runs), 0)
    old = [run for run in tx.runs.chosen((), question.dataset) if run.created_at_utc < question.before_utc]
    used = tx.runs.used_ids(once=question.keep_alias)
    kept = {run.id for run in old if run.id in used or any(_has(run, tag) for tag in question.keep_tags)}
    done = tx.runs.without("results" if question.summaries_only else "items")
    chosen = [run for run in old if run.id not in kept and run.id not in done]
    sizes = tx.runs.sizes(chosen, results=question.summaries_only)
    pruned = [PrunedRun(run.name, run.id, run.dataset, run.created_at_utc, *sizes[run.id]) for run in chosen]
    return Pruned(question.before_utc, tuple(pruned), len(kept))


def _has(run: RunRecord, tag: str) -> bool:
    """Return whether a run has a tag, given by its key or as KEY=VALUE."""
    key, equals, value = tag.partition("=")
    return key in run.tags and (not equals or str(run.tags[key]) == value)

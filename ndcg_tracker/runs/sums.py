"""Runs of which only sums are known, and what they cannot answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import RunRecord


def refuse_sums(tx: ReadTransaction, runs: Sequence[RunRecord]) -> None:
    """Raise InputError for a run that was stored as sums, in questions about groups."""
    for run in runs:
        found = tx.runs.prunings(run.id).get(run.id)
        if found is not None and found.is_of_sums:
            tx.runs.refuse_pruned(run.id)

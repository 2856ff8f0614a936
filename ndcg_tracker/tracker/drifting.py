"""How far accepted candidates have moved away from a pinned baseline, by a gate's recorded decisions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.comparison.gate_result import Drift

if TYPE_CHECKING:
    from ndcg_tracker.storage.read import ReadTransaction
    from ndcg_tracker.storage.records import DecisionRecord, RunRecord


def of_gate(decisions: Sequence[DecisionRecord], metric: str, alias: str | None) -> list[DecisionRecord]:
    """Return the decisions of one gate, oldest first: those of a metric and a baseline alias."""
    return [one for one in decisions if one.metric == metric and one.baseline_alias == alias]


def drift_since_pin(
    tx: ReadTransaction,
    baseline: RunRecord,
    earlier: Sequence[DecisionRecord],
    alias: str | None,
    delta: float | None,
) -> Drift | None:
    """Return the drift under an alias; None where the baseline was given otherwise.

    Parameters: ``baseline``: what the alias stands for. ``earlier``: the decisions of this gate, oldest first.
    ``delta``: of the present candidate, against ``baseline``.
    """
    if alias is None:
        return None
    pin = next(one for one in tx.aliases.all(baseline.dataset) if one.name == alias)
    accepted = [one for one in earlier if one.decision == "pass" or one.acknowledged_by is not None]
    against_pin = [one for one in accepted if one.baseline_run_id == baseline.id]
    latest = against_pin[-1] if against_pin else None
    moves = _moves(accepted, baseline.id)
    deltas = [one.delta for one in moves if one.delta is not None]
    is_known = bool(moves) and len(deltas) == len(moves)
    moved_delta = math.fsum(deltas) if is_known else None
    return Drift(
        alias,
        baseline.name,
        pin.updated_at_utc,
        n_accepted=len({one.candidate_run for one in against_pin}),
        latest_accepted=None if latest is None else latest.candidate_run,
        latest_delta=None if latest is None else latest.delta,
        n_moves=len(moves),
        first_run=moves[-1].baseline_run if moves else None,
        moved_delta=moved_delta,
        total_delta=None if moved_delta is None or delta is None else moved_delta + delta,
    )


def _moves(accepted: Sequence[DecisionRecord], pinned_run_id: int) -> list[DecisionRecord]:
    """Return the decisions whose candidates the alias was moved to, the latest first."""
    moves: list[DecisionRecord] = []
    target: int | None = pinned_run_id
    for decision in reversed(accepted):
        if target is not None and decision.candidate_run_id == target != decision.baseline_run_id:
            moves.append(decision)
            target = decision.baseline_run_id
    return moves

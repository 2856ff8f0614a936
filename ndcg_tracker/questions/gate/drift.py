"""How far the candidates that were accepted have moved away from what a baseline alias stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ndcg_tracker.questions.gate.result import Drift

if TYPE_CHECKING:
    from ndcg_tracker.storage.records import AliasRecord, DecisionRecord


def of_gate(decisions: Sequence[DecisionRecord], metric: str, alias: str | None) -> list[DecisionRecord]:
    """Return the decisions of one gate, oldest first: those of a metric and a baseline alias."""
    return [one for one in decisions if one.metric == metric and one.baseline_alias == alias]


def drift_since_pin(pin: AliasRecord, earlier: Sequence[DecisionRecord], delta: float | None) -> Drift:
    """Return the drift under an alias.

    Parameters: ``pin``: what the alias stands for. ``earlier``: the decisions of this gate, oldest first. ``delta``: of
    the present candidate, against the pinned run.
    """
    let_through = [one for one in earlier if one.decision == "pass" or one.acknowledged_by is not None]
    newest: dict[str, DecisionRecord] = {}
    for one in let_through:
        if one.baseline_run_id == pin.run_id:
            newest.pop(one.candidate_run, None)  # in the order of the newest decisions
            newest[one.candidate_run] = one
    accepted = [one for one in newest.values() if one.decision == "pass"]
    overridden = [one for one in newest.values() if one.decision != "pass"]
    moves = _moves(let_through, pin.run_id)
    deltas = [one.delta for one in moves if one.delta is not None]
    is_known = bool(moves) and len(deltas) == len(moves)
    moved_delta = math.fsum(deltas) if is_known else None
    return Drift(
        pin.name,
        pin.run,
        pin.updated_at_utc,
        n_accepted=len(accepted),
        latest_accepted=accepted[-1].candidate_run if accepted else None,
        latest_delta=accepted[-1].delta if accepted else None,
        n_moves=len(moves),
        first_run=moves[-1].baseline_run if moves else None,
        moved_delta=moved_delta,
        total_delta=None if moved_delta is None or delta is None else moved_delta + delta,
        n_overridden=len(overridden),
        latest_overridden=overridden[-1].candidate_run if overridden else None,
        latest_overridden_delta=overridden[-1].delta if overridden else None,
        n_moves_overridden=sum(one.decision != "pass" for one in moves),
    )


def _moves(let_through: Sequence[DecisionRecord], pinned_run_id: int) -> list[DecisionRecord]:
    """Return the decisions whose candidates the alias was moved to, the latest first."""
    moves: list[DecisionRecord] = []
    target: int | None = pinned_run_id
    for decision in reversed(let_through):
        if target is not None and decision.candidate_run_id == target != decision.baseline_run_id:
            moves.append(decision)
            target = decision.baseline_run_id
    return moves

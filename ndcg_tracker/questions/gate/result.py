"""The input and the result of a gate: comparison, decision, and what both rest on."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ndcg_tracker.compare.results import Comparison, Estimate
from ndcg_tracker.errors import argument
from ndcg_tracker.questions.gate.decide import Decision, Part
from ndcg_tracker.questions.gate.decide_bounds import LearnedMargin
from ndcg_tracker.questions.gate.question import Acknowledgement, GateQuestion

if TYPE_CHECKING:
    from ndcg_tracker.compare.decide import Results
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.compare.slices import Slicing
    from ndcg_tracker.storage.locks import TurnName
    from ndcg_tracker.storage.marks import BudgetResetRecord, DecisionRecord, PolicyRecord
    from ndcg_tracker.storage.records import (
        AliasRecord,
    )
    from ndcg_tracker.storage.store import ReadTransaction, Store, WriteTransaction

SealedDecision = Literal["pass", "not_passed"]


@dataclass(frozen=True, slots=True)
class Basis:
    """The basis of a decision that others may change: runs, labels, means, the alias, decisions and repeats.

    ``earlier``: the decisions of this gate, oldest first. ``pin``: the alias of the baseline, None if the baseline was
    not given by an alias. ``learned``: None for a given margin. ``number``: the number of the decision among those of
    this gate in its scope, under labels of the same judge, checked by the same people. ``judge_alone``: the named judge
    on whose labels alone it rests, "" if somebody checks the judge or the judge has no name. ``look``: which look of a
    budget it is, None without a budget. ``question``: the question under the policy of its alias. ``policy``: None
    without one; ``restarted``: when its alias was last moved or its budget reset, None if never. ``outside``: the alias
    whose policy does not count, although the baseline is its run; "" for none. ``drawn_look``: which decision about
    these runs and this metric by drawn answers it would be. ``pairs``: the runs on the dataset, or on each of a suite.
    """

    question: GateQuestion
    pairs: Mapping[str, RunPair]
    earlier: tuple[DecisionRecord, ...] = ()
    pin: AliasRecord | None = None
    learned: LearnedMargin | None = None
    number: int = 1
    judge_alone: str = ""
    look: Look | None = None
    policy: PolicyRecord | None = None
    restarted: BudgetResetRecord | None = None
    outside: str = ""
    drawn_look: int = 1

    @property
    def runs(self) -> RunPair:
        """The runs on the dataset, or on the first of a suite."""
        return next(iter(self.pairs.values()))

    @property
    def on_each(self) -> Mapping[str, RunPair]:
        """The runs by the words that follow a name to say where: "" for one dataset."""
        is_suite = self.question.suite is not None
        return {f" on {dataset}" if is_suite else "": both for dataset, both in self.pairs.items()}


@dataclass(frozen=True, slots=True)
class Look:
    """A look under a budget: which one it is, and its level, of PASS and of FAIL.

    ``number``: from 1. ``budget``: the budget that all looks share; ``looks``: how many looks share it, None for any
    number. ``level``: the level of this look, 0 after the last one.
    """

    number: int
    budget: float
    looks: int | None
    level: float

    @property
    def columns(self) -> dict[str, Any]:
        """What the record of its decision has of it."""
        return {"budget": self.budget, "looks": self.looks, "look": self.number}


@dataclass(frozen=True, slots=True)
class GateFacts:
    """Everything that a decision on two arms rests on.

    ``results``: the results of the groups, sliced ``by`` the requested attribute and by every attribute with few values
    (``slicings``).
    """

    basis: Basis
    comparison: Comparison
    results: Results
    by: Slicing | None = None
    slicings: tuple[Slicing, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """How far accepted candidates have moved away from the run of a baseline alias, as the decisions recorded it.

    ``alias``: without the @. ``pinned_run``: the run that it stands for, since ``pinned_at_utc``. ``n_accepted``: the
    number of candidates that PASSed against that run, ``n_overridden``: of those that were overridden without a PASS.
    ``n_moves``: how often the alias was moved to a candidate of either kind. ``first_run``: the run before the moves,
    ``moved_delta``: the sum of the deltas of those candidates, ``total_delta``: that sum plus the present delta.
    Undefined values are None.
    """

    alias: str
    pinned_run: str
    pinned_at_utc: str
    n_accepted: int = 0
    n_overridden: int = 0
    n_moves: int = 0
    first_run: str | None = None
    moved_delta: float | None = None
    total_delta: float | None = None


@dataclass(frozen=True, slots=True)
class Gated:
    """A decision with everything that a report says about it.

    ``comparison``: of the one metric, with further facts in its notes. ``decision``: the decision. ``basis``: what it
    rests on. ``decision_id``: its number in the database, None if it was not recorded. ``drift``: None if the baseline
    is not an alias. ``acknowledgement``: None if nobody overrode the decision. ``ties_could_change_decision``: whether
    another order of items of equal score could change it. ``regressed_slices``: of all attributes of the groups, if all
    groups together pass; else none. ``decided_before``: whether this very question was decided and recorded before.
    """

    comparison: Comparison
    decision: Decision
    basis: Basis
    decision_id: int | None = None
    drift: Drift | None = None
    acknowledgement: Acknowledgement | None = None
    ties_could_change_decision: bool = False
    regressed_slices: tuple[Part, ...] = ()
    decided_before: bool = False

    @property
    def metric(self) -> Estimate:
        """The comparison of the one metric that was asked for."""
        return self.comparison.metrics[0]

    @property
    def drawn_look(self) -> int:
        """Which decision by drawn answers it is, 0 where they do not decide or a budget gives the level."""
        check = self.decision.check
        is_drawn = check is not None and check.mean is not None
        return self.basis.drawn_look if is_drawn and self.basis.look is None else 0

    @property
    def is_accepted(self) -> bool:
        """Whether the candidate may replace the baseline: PASS, or overridden."""
        return self.decision.decision == "pass" or self.acknowledgement is not None


def question_digest(question: GateQuestion, pairs: Iterable[RunPair]) -> str:
    """Return the digest of a question of a gate: its rules, the names and contents of the runs, and their labels."""
    named = ("candidate", "baseline", "dataset", "labels", "top", "named")  # what they stand for counts
    rules = {name: str(value) for name, value in vars(question).items() if name not in named}
    rules |= {"alias": str(question.alias), "suite": question.suite or ""}
    sides = [
        [
            both.dataset_id,
            both.baseline.label_set.id,
            [[(run.name, run.digest) for run in arm.runs] for arm in both.arms],
        ]
        for both in pairs
    ]
    return hashlib.blake2b(json.dumps([rules, sides]).encode(), digest_size=16).hexdigest()


Grounds = TypeVar("Grounds")
Decided = TypeVar("Decided")


def decided_and_recorded(
    store: Store,
    basis_of: Callable[[ReadTransaction], Grounds],
    decide: Callable[[ReadTransaction, Grounds], Decided],
    record: Callable[[WriteTransaction, Grounds, Decided], Decided],
    before: Callable[[ReadTransaction], Decided | None],
    *,
    dry_run: bool = False,
) -> Decided:
    """Decide, record the decision unless ``dry_run``, and return it; every decision keeps its number in the series.

    The gate decides while others may write, and again where they changed the basis: first alongside those who store
    runs, then alone. Parameters: ``basis_of``: returns the basis that others may change, without group results.
    ``decide``: reads the group results and decides. ``record``: writes the decision and returns it with its number.
    ``before``: returns what was decided on this very question before, if nothing has changed since: it is returned and
    costs nothing.
    """
    with store.read() as tx:
        if not dry_run and (again := before(tx)) is not None:
            return again
        basis = basis_of(tx)
        outcome = decide(tx, basis)
    for turn in () if dry_run else TURNS:
        with recording(store, turn) as tx:
            if (now := basis_of(tx)) != basis:
                if (again := before(tx)) is not None:
                    return again
                basis, outcome = now, decide(tx, now)
                tx.look_again()
                if turn != TURNS[-1] and basis_of(tx) != basis:  # on Postgres, others may store runs meanwhile
                    continue
            return record(tx, basis, outcome)
    return outcome


TURNS: tuple[TurnName, ...] = ("marks", "alone")


@contextmanager
def recording(store: Store, turn: TurnName) -> Iterator[WriteTransaction]:
    """Yield a writer for a decision (see ``Store.write``); if the database is read-only, the error says what to do."""
    from ndcg_tracker.storage.connection import ReadOnlyDatabaseError

    try:
        with store.write(turn) as tx:
            yield tx
    except ReadOnlyDatabaseError as error:
        told = error.at("", f"or add {argument('dry_run')} to record nothing")
    else:
        return
    raise told


def of_gate(decisions: Sequence[DecisionRecord], metric: str, alias: str | None) -> list[DecisionRecord]:
    """Return the decisions of one gate, oldest first: those of a metric and a baseline alias."""
    return [decision for decision in decisions if decision.metric == metric and decision.baseline_alias == alias]


def drift_since_pin(pin: AliasRecord, earlier: Sequence[DecisionRecord], delta: float | None) -> Drift:
    """Return the drift under an alias.

    Parameters: ``pin``: what the alias stands for. ``earlier``: the decisions of this gate, oldest first. ``delta``: of
    the present candidate, against the pinned run.
    """
    let_through = [
        decision for decision in earlier if decision.decision == "pass" or decision.acknowledged_by is not None
    ]
    newest = {of.candidate_run: of.decision for of in let_through if of.baseline_run_id == pin.run_id}
    n_accepted = sum(decision == "pass" for decision in newest.values())
    moves = _moves(let_through, pin.run_id)
    deltas = [move.delta for move in moves if move.delta is not None]
    is_known = bool(moves) and len(deltas) == len(moves)
    moved_delta = math.fsum(deltas) if is_known else None
    return Drift(
        pin.name,
        pin.run,
        pin.updated_at_utc,
        n_accepted=n_accepted,
        n_overridden=len(newest) - n_accepted,
        n_moves=len(moves),
        first_run=moves[-1].baseline_run if moves else None,
        moved_delta=moved_delta,
        total_delta=None if moved_delta is None or delta is None else moved_delta + delta,
    )


def _moves(let_through: Sequence[DecisionRecord], pinned_run_id: int) -> list[DecisionRecord]:
    """Return the decisions to whose candidates the alias was moved, the latest first."""
    moves: list[DecisionRecord] = []
    target: int | None = pinned_run_id
    for decision in reversed(let_through):
        if target is not None and decision.candidate_run_id == target != decision.baseline_run_id:
            moves.append(decision)
            target = decision.baseline_run_id
    return moves

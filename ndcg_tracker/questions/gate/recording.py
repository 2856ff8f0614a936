"""A decision and its record: decided while others may write, and again where they changed what it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ndcg_tracker.errors import argument

if TYPE_CHECKING:
    from ndcg_tracker.storage.locks import TurnName
    from ndcg_tracker.storage.store import Store
    from ndcg_tracker.storage.transactions import ReadTransaction, WriteTransaction

ROUNDS = 3
"""How often a gate decides without keeping other gates out, then while other content is stored, then alone."""
Basis = TypeVar("Basis")
Decided = TypeVar("Decided")


def decided_and_recorded(
    store: Store,
    basis_of: Callable[[ReadTransaction], Basis],
    decide: Callable[[ReadTransaction, Basis], Decided],
    record: Callable[[WriteTransaction, Basis, Decided], Decided],
    *,
    dry_run: bool = False,
) -> Decided:
    """Return what is decided, recorded unless ``dry_run``: every decision is the one of its number in the series.

    ``basis_of``: what the decision rests on and others may change, without results of groups. ``decide``: reads these
    and decides. ``record``: writes the decision and returns it with its number.
    """
    for _ in range(ROUNDS):
        with store.read() as tx:
            basis = basis_of(tx)
            found = decide(tx, basis)
        if dry_run:
            return found
        with recording(store, "marks") as tx:
            if basis_of(tx) == basis:
                return record(tx, basis, found)
    for _ in range(ROUNDS):  # many gates at once: each would find the decision of another one before its own
        with recording(store, "marks") as tx:
            basis = basis_of(tx)
            found = decide(tx, basis)
            tx.look_again()
            if basis_of(tx) == basis:  # on Postgres runs may be stored and changed meanwhile
                return record(tx, basis, found)
    with recording(store, "alone") as tx:
        basis = basis_of(tx)
        return record(tx, basis, decide(tx, basis))


@contextmanager
def recording(store: Store, turn: TurnName) -> Iterator[WriteTransaction]:
    """Yield a writer for a decision (see ``Store.write``); where nothing may be written, it is told how to decide."""
    from ndcg_tracker.storage.connection import ReadOnlyDatabaseError

    try:
        with store.write(turn) as tx:
            yield tx
    except ReadOnlyDatabaseError as error:
        told = error.at("", f"or add {argument('dry_run')}, to record nothing")
    else:
        return
    raise told

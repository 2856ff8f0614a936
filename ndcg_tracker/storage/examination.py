"""What a database rests on, looked at piece by piece, and what to do about each piece that is not well."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.connection import database_engine
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.handshake import Kind, State, refusal
from ndcg_tracker.storage.migrate import database_state
from ndcg_tracker.storage.store import Store

Health = Literal["ok", "note", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: its state, what was found, and what to do ("" where nothing).

    The texts hold arguments that are still to be worded (see ``errors.worded``).
    """

    check: str
    state: Health
    found: str
    advice: str = ""


def examined(location: Location) -> Iterator[Finding]:
    """Yield what is found, from the ground up; what cannot be looked at because of an earlier finding is left out."""
    if location.path is not None:
        from ndcg_tracker.storage.examination_sqlite import file_findings

        yield from file_findings(location)
    try:
        state = database_state(location)
    except DatabaseError as error:
        yield _problem("database", error, location)
        return
    yield _of_state(state, location)
    if state.kind is not Kind.CURRENT:
        return
    try:
        if location.url is not None:
            from ndcg_tracker.storage.examination_postgres import server_findings

            yield from server_findings(location)
        yield _integrity(location)
    except DatabaseError as error:
        yield _problem("integrity", error, location)


def _of_state(state: State, location: Location) -> Finding:
    if state.kind is Kind.CURRENT:
        return Finding("schema", "ok", f"{state.detail}, the newest that this program knows")
    found, _, advice = _without_place(refusal(state, location).message, location).partition("; ")
    return Finding("schema", "note" if state.kind in (Kind.MISSING, Kind.EMPTY, Kind.OLDER) else "bad", found, advice)


def _integrity(location: Location) -> Finding:
    with Store(database_engine(location), location) as store, store.read() as tx:
        damage = tx.damage()
        n_runs = len(tx.runs())
    if damage:
        return Finding("integrity", "bad", "; ".join(damage), "restore a backup, or report what was found")
    return Finding(
        "integrity", "ok", f"{n_runs:,} {'run' if n_runs == 1 else 'runs'}, each with all its lists and results"
    )


def _problem(check: str, error: DatabaseError, location: Location) -> Finding:
    found, _, advice = _without_place(error.message, location).partition(": ")
    return Finding(check, "bad", found, advice)


def _without_place(message: str, location: Location) -> str:
    return message.removeprefix(f"{location.display_url}: ")

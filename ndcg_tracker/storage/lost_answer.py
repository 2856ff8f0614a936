"""A commit whose answer was lost with the connection: looked up, so that what is told is what is stored."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection, Engine

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.connection import write_transaction
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.failures import LostAnswerError
from ndcg_tracker.storage.schema import decisions, evaluations, label_sets, runs

RECONNECT_SECONDS = 10.0
"""How long a server may take to answer again, such as after a restart."""
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Written:
    """What a transaction has made: content digests by the ids of runs and label sets, and other ids."""

    runs: Mapping[int, str]
    label_sets: Mapping[int, str]
    evaluation_ids: frozenset[int]
    decision_ids: frozenset[int]

    def is_in(self, connection: Connection) -> bool | None:
        """Return whether the transaction was committed; None where it made nothing that could tell.

        It was whole or not at all, so any one row tells. What has a content digest is asked first: the digest must be
        the same, for a server that took over may have given the id to other content.
        """
        for table, digests in ((runs, self.runs), (label_sets, self.label_sets)):
            if digests:
                rows = connection.execute(sa.select(table.c.id, table.c.digest).where(table.c.id.in_(sorted(digests))))
                return any(digests[key] == digest for key, digest in rows)
        for table, ids in ((evaluations, self.evaluation_ids), (decisions, self.decision_ids)):
            if ids:
                query = sa.select(table.c.id).where(table.c.id.in_(sorted(ids))).limit(1)
                return connection.execute(query).first() is not None
        return None


def resolve_lost_answer(engine: Engine, location: Location, written: Written) -> None:
    """Return if a commit whose answer was lost has stored what was written; else raise.

    Raises: DatabaseError where nothing was stored; LostAnswerError where that cannot be found out, because the server
    does not answer in time or nothing written could tell. Either way the same command may be run again.
    """
    deadline = time.monotonic() + RECONNECT_SECONDS
    while True:
        try:
            # A writer's turn: it comes when the lost session has ended, with its commit or without.
            with write_transaction(engine, location) as connection:
                stored = written.is_in(connection)
            break
        except DatabaseError:
            if time.monotonic() > deadline:
                raise LostAnswerError(location) from None
            time.sleep(_PAUSE_SECONDS)
    if stored is None:
        raise LostAnswerError(location)
    if not stored:
        raise DatabaseError(
            f"{location.display_url}: the connection to the server broke before the commit; nothing was stored: run "
            "the same command again"
        )

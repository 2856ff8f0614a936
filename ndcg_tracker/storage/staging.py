"""Stage batches of groups in Postgres, which several processes write for one run before it is published.

A staged run is a row that the driver begins and deletes. Each attempt of a task writes its batches in one transaction,
under its own random id. Only attempts that report to the driver count; the batches of others are deleted with the run.
Batches refer to the row by a key that is checked when an attempt commits, so an attempt that ends after its run is gone
stores nothing. While the driver lives it holds an advisory lock of a transaction, which a pooler of connections leaves
alone.
"""

from __future__ import annotations

import getpass
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.checks import utc_now
from ndcg_tracker.storage.connection import database_errors, opened, write_transaction
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.locks import WriterLocks, holders, publishing
from ndcg_tracker.storage.schema import datasets, seals, staged_batches, staged_runs

_GONE = "the staged run was published, abandoned or cleared; nothing was stored"
_NO_OWNER = "23503"
"""The SQLSTATE of a row that refers to a deleted row."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt of a task, as it reports itself: how many batches it has staged, with how many groups in all."""

    id: str
    partition: int
    n_batches: int
    n_groups: int


@dataclass(frozen=True, slots=True)
class StagedRunRecord:
    """A staged run and what all attempts wrote for it, whether they count or not; ``is_running``: its driver lives.

    ``n_batches``, ``n_groups``, ``n_bytes``: None on a standby, which does not have these tables.
    """

    id: int
    dataset: str
    run: str
    started_by: str
    created_at_utc: str
    is_running: bool
    n_batches: int | None
    n_groups: int | None
    n_bytes: int | None


@contextmanager
def staged_run(location: Location, dataset: str, run: str) -> Iterator[int]:
    """Begin a staged run and yield its id; at the end the rest of it is deleted.

    Raises: InputError on SQLite, because no other machine can write into its file.
    """
    if location.url is None:
        raise InputError(
            "several processes of a cluster cannot write to a SQLite file",
            where=location.display_url,
            advice="use a Postgres database, or write Parquet with integrations.spark.staged and ingest that",
        )
    values = {"dataset": dataset, "run": run, "started_by": _this_process(), "created_at_utc": utc_now()}
    with ExitStack() as stack:
        engine = stack.enter_context(opened(location))
        with database_errors(location):
            alive = engine.connect().execution_options(isolation_level="READ COMMITTED")
            stack.callback(_ended, alive)
            alive.exec_driver_sql("SET LOCAL idle_in_transaction_session_timeout = 0")
            with write_transaction(engine, location, taking=WriterLocks(())) as connection:
                new = staged_runs.insert().returning(staged_runs.c.id)
                staged_id = int(connection.execute(new, values).scalar_one())
                alive.exec_driver_sql(f"SELECT pg_advisory_xact_lock_shared({publishing(staged_id).sql})")
        try:
            yield staged_id
        finally:
            with suppress(DatabaseError), write_transaction(engine, location, taking=WriterLocks(())) as connection:
                delete_staged(connection, staged_id)  # if that fails, doctor finds it


def _ended(connection: Connection) -> None:
    with suppress(DBAPIError):  # it may have been lost while nobody used it
        connection.invalidate()


@contextmanager
def attempt(location: Location, staged_id: int, attempt_id: str, partition: int) -> Iterator[Callable[..., None]]:
    """Yield a function that stages a batch, from ``n_groups`` and ``content``; all batches are committed at the end.

    Raises: DatabaseError if the run was published or abandoned meanwhile; then nothing is stored.
    """
    n_batches = 0
    with opened(location) as engine, write_transaction(engine, location, taking=WriterLocks(())) as connection:
        driver: Any = connection.connection.driver_connection

        def stage(n_groups: int, content: bytes) -> None:
            nonlocal n_batches
            driver.execute(
                "INSERT INTO staged_batches (staged_run_id, attempt, number, partition, n_groups, content) "
                "VALUES (%s, %s, %s, %s, %s, %b)",
                (staged_id, attempt_id, n_batches, partition, n_groups, content),
            )
            n_batches += 1

        yield stage
        try:
            connection.exec_driver_sql("SET CONSTRAINTS ALL IMMEDIATE")
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != _NO_OWNER:
                raise
            raise DatabaseError(_GONE, where=location.display_url, advice="run the same command again") from None


def delete_staged(connection: Connection, staged_id: int) -> bool:
    """Delete a staged run with all its batches; return whether it was there.

    Its row is deleted first: this waits for attempts that are committing, and refuses all later ones.
    """
    is_there = connection.execute(staged_runs.delete().where(staged_runs.c.id == staged_id)).rowcount > 0
    connection.execute(staged_batches.delete().where(staged_batches.c.staged_run_id == staged_id))
    return is_there


class StagedWrites:
    """Reads the staged batches in the transaction that publishes them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def taken(self, staged_id: int, attempts: Sequence[Attempt]) -> Iterator[bytes]:
        """Return the batches of these attempts, by partition, to be read one at a time; all are deleted in the end.

        Raises: DatabaseError if the staged run is gone, or if batches of an attempt are missing.
        """
        if not self._connection.execute(staged_runs.delete().where(staged_runs.c.id == staged_id)).rowcount:
            raise DatabaseError(_GONE, advice="run the same command again")
        table = staged_batches
        counts = sa.select(table.c.attempt, sa.func.count(), sa.func.sum(table.c.n_groups))
        rows = self._connection.execute(counts.where(table.c.staged_run_id == staged_id).group_by(table.c.attempt))
        staged = {attempt_id: (n_batches, int(n_groups)) for attempt_id, n_batches, n_groups in rows}
        n_lacking = sum(
            staged.get(task_attempt.id, (0, 0)) != (task_attempt.n_batches, task_attempt.n_groups)
            for task_attempt in attempts
        )
        if n_lacking:
            raise DatabaseError(
                f"the batches of {n_lacking} of {len(attempts)} tasks are gone, for example after a crash of the "
                "server; nothing was stored",
                advice="run the same command again",
            )
        return self._contents(staged_id, attempts)

    def _contents(self, staged_id: int, attempts: Sequence[Attempt]) -> Iterator[bytes]:
        driver: Any = self._connection.connection.driver_connection
        query = "SELECT content FROM staged_batches WHERE staged_run_id = %s AND attempt = %s AND number = %s"
        for task_attempt in sorted(attempts, key=lambda each: each.partition):
            for number in range(task_attempt.n_batches):
                with driver.cursor(binary=True) as cursor:
                    yield cursor.execute(query, (staged_id, task_attempt.id, number)).fetchone()[0]

    def discard(self, staged_id: int) -> None:
        """Delete all batches of a staged run, including those of attempts that do not count."""
        self._connection.execute(staged_batches.delete().where(staged_batches.c.staged_run_id == staged_id))


def all_staged(connection: Connection, *, opens_seals: bool = False) -> list[StagedRunRecord]:
    """Return all staged runs with their facts, the oldest first; those of sealed datasets only if asked."""
    runs, batches = staged_runs, staged_batches
    query = sa.select(runs).order_by(runs.c.id)
    if not opens_seals:
        sealed = sa.select(datasets.c.name).join_from(datasets, seals).where(seals.c.is_sealed)
        query = query.where(runs.c.dataset.not_in(sealed))
    rows = connection.execute(query).all()
    if not rows:
        return []
    n_bytes = sa.func.sum(sa.func.octet_length(batches.c.content))
    counts = sa.select(batches.c.staged_run_id, sa.func.count(), sa.func.sum(batches.c.n_groups), n_bytes)
    sums_of: dict[int, tuple[int | None, ...]] | None = None
    if not connection.exec_driver_sql("SELECT pg_is_in_recovery()").scalar_one():
        each = connection.execute(counts.group_by(batches.c.staged_run_id))
        sums_of = {staged_id: tuple(map(int, sums)) for staged_id, *sums in each}
    return [
        StagedRunRecord(
            row.id,
            row.dataset,
            row.run,
            row.started_by,
            row.created_at_utc,
            bool(holders(connection, publishing(row.id))),
            *((None, None, None) if sums_of is None else sums_of.get(row.id, (0, 0, 0))),
        )
        for row in rows
    ]


def clear_staged(connection: Connection) -> list[StagedRunRecord]:
    """Delete the staged runs whose driver does not live any more, and return them."""
    cleared = []
    for staged in all_staged(connection, opens_seals=True):
        lock = f"SELECT pg_try_advisory_xact_lock({publishing(staged.id).sql})"
        if connection.exec_driver_sql(lock).scalar_one() and delete_staged(connection, staged.id):
            cleared.append(staged)
    return cleared


def _this_process() -> str:
    """Return user, host and process, for people."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = "unknown"
    return f"{user}@{platform.node() or 'unknown'}, process {os.getpid()}"

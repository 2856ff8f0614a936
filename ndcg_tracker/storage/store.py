"""The store: one database, opened, read and written in transactions, with one part per kind of data."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import sqlalchemy as sa
from sqlalchemy import Engine
from sqlalchemy.exc import DBAPIError

from ndcg_tracker.asked import SEALED_DATABASE
from ndcg_tracker.errors import DatabaseError, SealedError, argument
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.sqlite import ArrowChoice
from ndcg_tracker.storage.connection import (
    FailedDatabaseError,
    LostAnswerError,
    database_engine,
    read_transaction,
    write_transaction,
    writer_locks,
)
from ndcg_tracker.storage.database_url import MEMORY, Location, parsed_location
from ndcg_tracker.storage.datasets import (
    DatasetReads,
    DatasetWrites,
    GroupReads,
    GroupWrites,
    SuiteReads,
    SuiteWrites,
    TextReads,
    TextWrites,
)
from ndcg_tracker.storage.evaluations import EvaluationReads, EvaluationWrites
from ndcg_tracker.storage.labels import DesignReads, DesignWrites, LabelReads, LabelWrites
from ndcg_tracker.storage.locks import TURNS, Lock, TurnName, storing
from ndcg_tracker.storage.runs import RunReads, RunWrites
from ndcg_tracker.storage.session import Session, Written
from ndcg_tracker.storage.upkeep.handshake import Kind, found_state, refusal, state_within

if TYPE_CHECKING:
    from ndcg_tracker.storage.copying import CopyReads
    from ndcg_tracker.storage.guard.query_result import QueryResult
    from ndcg_tracker.storage.marks import AliasReads, DecisionReads


Opens = Literal["open", "sealed", "any"]
"""Which databases are opened: "open"; "sealed": a sealed one, too; "any": also one whose sealed dataset must move to
another."""


class ReadTransaction:
    """One consistent state of the database."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.datasets = DatasetReads(session)
        self.groups = GroupReads(session)
        self.suites = SuiteReads(session)
        self.runs = RunReads(session)
        self.labels = LabelReads(session)
        self.evaluations = EvaluationReads(session)
        self.designs = DesignReads(session)
        self.texts = TextReads(session)

    @cached_property
    def aliases(self) -> AliasReads:
        """Aliases, and the rules of the gates against them."""
        from ndcg_tracker.storage.marks import AliasReads

        return AliasReads(self._session)

    @cached_property
    def decisions(self) -> DecisionReads:
        """The decisions of gates."""
        from ndcg_tracker.storage.marks import DecisionReads

        return DecisionReads(self._session)

    @cached_property
    def copies(self) -> CopyReads:
        """The rows of any table, for copies of a database."""
        from ndcg_tracker.storage.copying import CopyReads

        return CopyReads(self._session)

    def look_again(self) -> None:
        """Clear the cache: a writer on Postgres sees what others have stored meanwhile."""
        self._session.look_again()

    def damage(self) -> list[str]:
        """Return one sentence per kind of damage in the database, none if it is intact."""
        from ndcg_tracker.storage.upkeep.integrity import damage_in

        return damage_in(self._session.connection, self._session.bulk)


class WriteTransaction(ReadTransaction):
    """A writer: it sees its own writes, and writes by the parts in ``write``."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.write = Writes(session)

    def keep_creators_out(self) -> bool:
        """Keep others from creating datasets, groups, labels, metrics and weights until the end.

        Return whether they may have done so until now; if so, look again at what is there.
        """
        return self._session.keep_creators_out()

    def keep_marks(self) -> None:
        """Keep others from setting tags and aliases and from recording decisions until the end."""
        self._session.locks.keep_marks()
        self._session.look_again()

    def check(self) -> None:
        """Raise DatabaseError if written data is incomplete; called before the commit."""
        from ndcg_tracker.storage.upkeep.integrity import check_written

        check_written(self._session.connection, self.write.made)


class Writes:
    """The parts that write; ``made`` is everything they have created so far."""

    def __init__(self, session: Session) -> None:
        from ndcg_tracker.storage.copying import CopyWrites
        from ndcg_tracker.storage.marks import AliasWrites, DecisionWrites

        self.made = session.made
        self.datasets = DatasetWrites(session)
        self.groups = GroupWrites(session)
        self.labels = LabelWrites(session)
        self.runs = RunWrites(session)
        self.evaluations = EvaluationWrites(session)
        self.aliases = AliasWrites(session, RunReads(session).with_id)
        self.suites = SuiteWrites(session)
        self.decisions = DecisionWrites(session, RunReads(session).with_id)
        self.designs = DesignWrites(session)
        self.texts = TextWrites(session)
        self.copies = CopyWrites(session)


# Migrations and guards are imported where they are used: most commands only read, and most of their time is the start.

RECONNECT_SECONDS = 10.0
"""How long to wait for a server to answer again, such as after a restart."""
STATISTICS_SECONDS = 20
"""How long a writer lets the server look at what it has stored."""
_PAUSE_SECONDS = 0.2


class HasStore(Protocol):
    """An object with an open database, such as a ``Tracker``, which has the questions as methods."""

    location: str

    def store(self, *, create: bool = False, dataset: str | None = None) -> Store:
        """Return the open store, or the sealed one that has a dataset (see ``Tracker.store``)."""


class Store:
    """A database with the latest schema, on SQLite or Postgres.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store.open(f"{folder}/shop.db", create=True) as store:
    ...     with store.write() as tx:
    ...         name = tx.write.datasets.ensure("shop").name
    ...     with store.read() as rx:
    ...         print([dataset.name for dataset in rx.datasets.all()])
    ['shop']
    """

    def __init__(self, engine: Engine, location: Location, *, read_only: bool = False) -> None:
        self._engine = engine
        self._location = location
        self._read_only = read_only
        self._arrow = ArrowChoice()

    @classmethod
    def open(cls, location: str, *, create: bool = False, read_only: bool = False, opens: Opens = "open") -> Store:
        """Return the store at a path or URL; opening never creates or upgrades unless asked.

        Parameters: ``location``, a path of a SQLite file or a URL. ``create``: create a missing SQLite file; on
        Postgres only ``db upgrade`` creates the schema. ``read_only``: nothing can be written. ``opens``: see
        ``Opens``. Raises: InputError for an invalid location; SealedError; DatabaseError, with the command to run, for
        a location that is missing, empty, older, newer, of another program or not a database.
        """
        where = parsed_location(location)
        engine = database_engine(where, read_only=read_only)
        try:
            state = found_state(engine, where)
            if create and not read_only and where.path is not None and state.kind in (Kind.MISSING, Kind.EMPTY):
                from ndcg_tracker.storage.upkeep.migrate import upgrade_database

                upgrade_database(where)
            elif state.kind is not Kind.CURRENT:
                raise refusal(state, where)
            else:
                _refuse_seal(engine, where, opens)
        except BaseException:
            engine.dispose()
            raise
        return cls(engine, where, read_only=read_only)

    @classmethod
    def in_memory(cls) -> Store:
        """Return a new store with nothing in it and nothing on disk, which is gone when it is closed."""
        from ndcg_tracker.storage.upkeep.migrate import filled

        where = Location("sqlite", Path(MEMORY), None, "the database in memory")
        engine = database_engine(where)
        filled(engine, where)
        return cls(engine, where)

    @property
    def location(self) -> Location:
        """The location of the database, with its secrets."""
        return self._location

    @property
    def display_url(self) -> str:
        """The location of the database for printing, with masked secrets."""
        return self._location.display_url

    @property
    def dialect(self) -> str:
        """The engine: ``sqlite`` or ``postgresql``."""
        return self._location.dialect

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[ReadTransaction]:
        """Yield one state of the database, unchanged whatever others write meanwhile."""
        try:
            with read_transaction(self._engine, self._location) as connection:
                yield ReadTransaction(Session(connection, self._arrow))
        except FailedDatabaseError as error:
            with suppress(DatabaseError):  # it may have been upgraded since it was opened
                state = found_state(self._engine, self._location)
                error = error if state.kind is Kind.CURRENT else refusal(state, self._location)
            raise error from None

    @contextmanager
    def write(self, turn: TurnName = "alone", *, run: tuple[str, str] | None = None) -> Iterator[WriteTransaction]:
        """Yield a writer: its work is committed at the end, or rolled back completely on any exception.

        Other writers wait up to a minute, then raise DatabaseError. On SQLite all of them wait; on Postgres only those
        that ``turn`` keeps out, or, for a writer that stores one run, the dataset and name in ``run`` (see
        ``storage/locks.py``). If the connection is lost with the reply to the commit, the content digest of what was
        written shows whether it is stored (see ``resolve_lost_answer``).
        """
        if self._read_only:
            raise DatabaseError("it was opened for reading only; nothing was stored", where=self.display_url)
        written: Written | None = None
        taken = TURNS[turn] if run is None else storing(*run)
        locks = writer_locks(self._location, taken)
        try:
            with write_transaction(self._engine, self._location, taking=locks) as connection:
                state = state_within(connection)
                if state.kind is not Kind.CURRENT:
                    raise refusal(state, self._location)
                transaction = WriteTransaction(Session(connection, self._arrow, locks))
                yield transaction
                transaction.check()
                written = transaction.write.made
        except LostAnswerError:
            if written is None:  # it belongs to another transaction, within this one
                raise
            resolve_lost_answer(self._engine, self._location, written, taken)
        if self._engine.dialect.name == "postgresql" and written is not None and written.is_much:
            refresh_statistics(self._engine)

    def query(
        self, query: str, *, timeout_seconds: float = 60.0, max_rows: int | None = None, explain: bool = False
    ) -> QueryResult:
        """Run a read-only query on a separate, guarded connection (see the guards for their errors).

        ``explain``: return the engine's plan instead, one line per row, and do not run it.
        """
        path, url = self._location.path, self._location.url
        if url is None:
            from ndcg_tracker.storage.guard.sqlite import run_guarded_sqlite

            return run_guarded_sqlite(
                str(path), query, timeout_seconds=timeout_seconds, max_rows=max_rows, explain=explain
            )
        from ndcg_tracker.storage.guard.postgres import run_guarded_postgres

        address, mark, options = url.set(drivername="postgresql").render_as_string(hide_password=False).partition("?")
        conninfo = f"{address}{mark}{options.replace('+', '%20')}".replace(" ", "%20")  # libpq takes no other blanks
        return run_guarded_postgres(
            conninfo, query, timeout_seconds=timeout_seconds, max_rows=max_rows, explain=explain
        )


def _refuse_seal(engine: Engine, where: Location, opens: Opens) -> None:
    """Refuse a sealed database, the only place that does (SealedError)."""
    if opens == "any":
        return
    with read_transaction(engine, where) as connection:  # of these tables, all roles read the one of seals
        seal = connection.execute(sa.select(schema.seals.c.metric).where(schema.seals.c.is_sealed)).first()
        if seal is None or (seal.metric is not None and opens == "sealed"):
            return
        if seal.metric is not None:
            advice = f"for ingest and gate, name it with {SEALED_DATABASE}, and an open one with {argument('location')}"
            raise SealedError(
                "the database is sealed: only ingest, gate and db may use it",
                where=where.display_url,
                advice=advice,
            )
        named = sa.select(schema.datasets.c.name).join(schema.seals).where(schema.seals.c.is_sealed)
        name = connection.execute(named).scalars().first()
    command = f"{SEALED_DATABASE}=FILE {where.command(f'datasets split {shlex.quote(str(name))} --move')}"
    raise SealedError(
        "the database has sealed data, which now need a database of their own",
        where=where.display_url,
        advice=f"move them with: {command} --metric METRIC --margin X",
    )


def refresh_statistics(engine: Engine) -> None:
    """Let Postgres analyse tables that have changed, so that it plans well from the first run on.

    Only the owner of a table may do so, so the migrations created a function that runs as the owner. The data are
    stored whether this succeeds or not, and autovacuum does the same within minutes if it is on.
    """
    with suppress(DBAPIError), engine.begin() as connection:
        connection.exec_driver_sql(f"SET LOCAL statement_timeout = '{STATISTICS_SECONDS}s'")
        connection.exec_driver_sql("SELECT ndcg_tracker_analyze()")


def resolve_lost_answer(
    engine: Engine, location: Location, written: Written, turn: tuple[Lock, ...] = TURNS["alone"]
) -> None:
    """Return if a commit whose reply was lost stored the data; otherwise raise an error.

    Raises: DatabaseError if nothing was stored; LostAnswerError if this is unknown, because the server does not reply
    in time or the written rows cannot show it. In both cases you may run the same command again.
    """
    deadline = time.monotonic() + RECONNECT_SECONDS
    while True:
        try:
            # The locks of its turn: they are free when the lost session has ended, with or without its commit.
            with write_transaction(engine, location, taking=writer_locks(location, turn)) as connection:
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
            "the connection to the server broke before the commit; nothing was stored",
            where=location.display_url,
            advice="run the same command again",
            joint=": ",
        )

"""The locks of writers on Postgres: who waits for whom, and facts about the process that holds a lock.

SQLite has one writer at a time. On Postgres a writer keeps out only what it could disturb:

- ``CONTENT``: a process that changes what is stored holds it alone; runs are stored side by side, so they share it.
- one lock per run name: a process that stores a run holds the lock of its name, so that the same run is stored once.
- ``CREATION``: taken by a process that stores a run when it first creates what others may create as well: a dataset,
  groups, labels, a metric, weights. It then looks again, because another writer may have done so in the meantime.
- ``MARKS``: tags, aliases and decisions of gates. A process that only sets these takes no other lock, so it
  waits for no ingest.

Everybody takes them in this order, and nobody gives one back before the transaction ends: no two can wait for
each other. All are advisory locks of the transaction, which a pooler of connections leaves alone, and of the schema.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal
from zlib import crc32

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

WAIT_SECONDS = 60.0
"""How long a writer waits for another one."""
TOLD_AFTER_SECONDS = 5.0
"""After how long the program says whom a writer waits for."""
IDLE_SECONDS = 3
"""A process that has sent nothing to the server for this long counts as idle."""
LOCKED = "55P03"
"""The SQLSTATE of a lock that was not available in time."""

_FIRST_KEY = 0x6E646367  # "ndcg"
_OF_THIS_SCHEMA = "coalesce(quote_ident(current_schema())::regnamespace::oid::int4, 0)"
_HOLDERS = """
    SELECT a.pid, coalesce(nullif(a.application_name, ''), 'unknown'), a.usename::text,
        to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
        CASE WHEN left(a.state, 4) = 'idle' AND a.state_change < clock_timestamp() - interval '{idle} s'
        THEN to_char(a.state_change AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') END
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2 AND l.pid <> pg_backend_pid()
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.classid = {number} AND l.objid = ({key})::int4::oid
    ORDER BY a.xact_start, a.pid
"""


@dataclass(frozen=True, slots=True)
class Lock:
    """A lock: two numbers of 32 bits; ``key``: None for the schema. ``is_shared``: others may share it."""

    number: int
    key: int | None = None
    is_shared: bool = False

    @property
    def sql(self) -> str:
        """The two numbers, for Postgres."""
        return f"{self.number}, {_OF_THIS_SCHEMA if self.key is None else self.key}"


CONTENT = Lock(_FIRST_KEY)
CREATION = Lock(_FIRST_KEY + 1)
MARKS = Lock(_FIRST_KEY + 2)


TurnName = Literal["alone", "content", "marks"]
TURNS: dict[TurnName, tuple[Lock, ...]] = {
    "alone": (CONTENT, CREATION, MARKS),
    "content": (CONTENT, CREATION),
    "marks": (MARKS,),
}
"""The locks that a writer takes as it begins: the only writer; the only one that changes runs, labels, groups and
results, while others may set tags and aliases and record decisions; the only one that does these."""


def storing(dataset: str, name: str) -> tuple[Lock, ...]:
    """Return the locks that the writer of a run takes first; runs of other names are stored at the same time."""
    key = crc32(f"{dataset}\0{name}".encode("utf-8", "surrogatepass"))
    return Lock(_FIRST_KEY, is_shared=True), Lock(_FIRST_KEY + 3, key - (1 << 31))


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that holds a lock.

    ``since``: when its transaction began, None where this role may not know. ``idle_since``: since when it has sent
    nothing, None if it has.
    """

    pid: int
    program: str
    role: str
    since: str | None
    idle_since: str | None


class LockedError(Exception):
    """A lock was not available in time; ``holder``: who had it, None if nobody has it any more."""

    def __init__(self, holder: Holder | None) -> None:
        super().__init__(holder)
        self.holder = holder


class WriterLocks:
    """The locks of one write transaction; on SQLite, where it never begins, it has all of them.

    ``tell``: called with the process that holds the lock, after ``TOLD_AFTER_SECONDS``.
    """

    def __init__(
        self, turn: tuple[Lock, ...] = TURNS["alone"], tell: Callable[[Holder], None] = lambda _: None
    ) -> None:
        self._turn = turn
        self._tell = tell
        self._connection: Connection | None = None
        self._held: set[Lock] = set()

    def begin(self, connection: Connection) -> None:
        """Take the locks of the turn, as the first thing in a transaction of Postgres (LockedError)."""
        self._connection = connection
        for lock in self._turn:
            self._take(lock)

    def keep_creators_out(self) -> bool:
        """Take ``CREATION``; return whether to look again, because others may have created something until now."""
        return self._take(CREATION)

    def keep_marks(self) -> None:
        """Take ``MARKS``, to move what others may be marking."""
        self._take(CREATION)
        self._take(MARKS)

    def _take(self, lock: Lock) -> bool:
        """Take a lock and return True, False where there was nothing to take."""
        if self._connection is None or lock in self._held:
            return False
        acquire(self._connection, lock, self._tell)
        self._held.add(lock)
        return True


def acquire(connection: Connection, lock: Lock, tell: Callable[[Holder], None]) -> None:
    """Take a lock until the end of the transaction; LockedError if that takes too long.

    A waiting writer is in the server's queue, in which nobody overtakes.
    """
    shared = "_shared" if lock.is_shared else ""
    if connection.exec_driver_sql(f"SELECT pg_try_advisory_xact_lock{shared}({lock.sql})").scalar():
        return
    first = min(TOLD_AFTER_SECONDS, WAIT_SECONDS)
    rest = WAIT_SECONDS - first
    for seconds in (first, rest) if rest else (first,):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {max(1, int(1000 * seconds))}")
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock{shared}({lock.sql})")
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = {int(1000 * WAIT_SECONDS)}")
            return
        except DBAPIError as error:
            if getattr(error.orig, "sqlstate", None) != LOCKED:
                raise
        blocking = holders(connection, lock)
        if rest and blocking:
            tell(blocking[0])
            rest = 0.0
    raise LockedError(blocking[0] if blocking else None)


def holders(connection: Connection, lock: Lock) -> list[Holder]:
    """Return the processes that hold a lock, in the order in which they began."""
    key = _OF_THIS_SCHEMA if lock.key is None else lock.key
    query = _HOLDERS.format(idle=IDLE_SECONDS, number=lock.number, key=key)
    return [Holder(*row) for row in connection.exec_driver_sql(query)]

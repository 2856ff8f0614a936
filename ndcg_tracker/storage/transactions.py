"""The transactions: one state of the database to read, and a writer, by a part per kind of data."""

from __future__ import annotations

from collections.abc import Mapping

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
from ndcg_tracker.storage.labels import LabelReads, LabelWrites
from ndcg_tracker.storage.marks import AliasReads, AliasWrites, DecisionReads, DecisionWrites
from ndcg_tracker.storage.runs import RunReads, RunWrites
from ndcg_tracker.storage.session import Session
from ndcg_tracker.storage.staging import StagedWrites
from ndcg_tracker.storage.upkeep.catalogue import catalogue, differing_things
from ndcg_tracker.storage.upkeep.integrity import (
    Written,
    broken_references,
    check_written,
    differing_values,
    engine_damage,
    lost_records,
    malformed_objects,
)


class ReadTransaction:
    """One consistent state of the database."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.datasets = DatasetReads(session)
        self.groups = GroupReads(session)
        self.aliases = AliasReads(session)
        self.suites = SuiteReads(session)
        self.runs = RunReads(session, self.datasets, self.aliases, self.groups)
        self.labels = LabelReads(session, self.groups)
        self.evaluations = EvaluationReads(session, self.runs)
        self.decisions = DecisionReads(session)
        self.texts = TextReads(session)

    def look_again(self) -> None:
        """Read anew what was read before: a writer on Postgres sees what others have stored meanwhile."""
        self._session.look_again()

    def damage(self) -> list[str]:
        """Return one sentence per kind of damage in the whole database, none if it is intact."""
        connection = self._session.connection
        whole = (engine_damage, broken_references, malformed_objects, lost_records)
        found = [line for look in whole for line in look(connection)]
        return found or differing_values(connection, self._session.bulk)

    def schema_damage(self, expected: Mapping[str, object]) -> list[str]:
        """Return what of the tables, indexes, views and triggers is not as in an expected catalogue."""
        return differing_things(catalogue(self._session.connection), expected)


class WriteTransaction(ReadTransaction):
    """A writer: it sees its own writes, and writes by the parts in ``write``."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.write = Writes(session, self)

    def keep_creators_out(self) -> bool:
        """Keep others from creating datasets, groups, labels, metrics and weights until the end.

        Return whether they may have done so until now: then look again at what is there.
        """
        return self._session.keep_creators_out()

    def keep_marks(self) -> None:
        """Keep others from setting tags and aliases and from recording decisions until the end."""
        self._session.locks.keep_marks()
        self._session.look_again()

    def check(self) -> None:
        """Raise DatabaseError if written data is incomplete; called before the commit."""
        check_written(self._session.connection, self.write.made)


class Writes:
    """The parts that write; ``made`` is what they have created so far."""

    def __init__(self, session: Session, read: ReadTransaction) -> None:
        made = self.made = Written()
        self.datasets = DatasetWrites(session, read.datasets)
        self.groups = GroupWrites(session, read.groups)
        self.labels = LabelWrites(session, read.labels, self.groups, made)
        self.runs = RunWrites(session, read.runs, read.datasets, read.aliases, self.groups, made)
        self.evaluations = EvaluationWrites(session, made)
        self.aliases = AliasWrites(session, read.aliases, read.runs.with_id)
        self.suites = SuiteWrites(session, read.suites, read.datasets)
        self.decisions = DecisionWrites(session, read.runs.with_id, made)
        self.texts = TextWrites(session, made)
        self.staged = StagedWrites(session.connection)

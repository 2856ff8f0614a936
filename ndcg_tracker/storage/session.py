"""The connection of one transaction, with a cache of what was read on it, and what it has created."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select

from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.keys import KeyPlaces, Keys
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import (
    Bulk,
)
from ndcg_tracker.storage.bulk.sqlite import ArrowChoice, SqliteBulk
from ndcg_tracker.storage.locks import WriterLocks

Record = TypeVar("Record")


Answer = TypeVar("Answer")


FEW = 500
"""Up to this many groups are looked up one by one; for more, all groups of the dataset are read once."""


@dataclass(slots=True)
class Written:
    """Everything a transaction has created: content digests by the ids of runs and label sets, and other ids.

    ``text_dataset_ids``: of the datasets that got texts.
    """

    runs: dict[int, str] = field(default_factory=dict)
    label_sets: dict[int, str] = field(default_factory=dict)
    evaluation_ids: set[int] = field(default_factory=set)
    decision_ids: set[int] = field(default_factory=set)
    text_dataset_ids: set[int] = field(default_factory=set)

    def ids(self, table: str) -> Collection[int]:
        """Return the ids of the owners whose rows in a table were created."""
        if table == "texts":
            return self.text_dataset_ids
        if table in ("runs", "ranked_lists"):
            return self.runs
        return self.label_sets if table in ("label_sets", "label_lists") else self.evaluation_ids

    @property
    def is_much(self) -> bool:
        """Whether large tables have grown."""
        return bool(self.runs or self.label_sets or self.evaluation_ids)

    def is_in(self, connection: Connection) -> bool | None:
        """Return whether the transaction was committed; None if it created nothing that shows it.

        A transaction is committed completely or not at all, so one row is enough. Rows with a content digest come
        first. The digest must be equal, because a server that took over may have given the id to other content.
        """
        for table, digests in ((schema.runs, self.runs), (schema.label_sets, self.label_sets)):
            if digests:
                rows = connection.execute(sa.select(table.c.id, table.c.digest).where(table.c.id.in_(sorted(digests))))
                return any(digests[key] == digest for key, digest in rows)
        for table, ids in ((schema.evaluations, self.evaluation_ids), (schema.decisions, self.decision_ids)):
            if ids:
                query = sa.select(table.c.id).where(table.c.id.in_(sorted(ids))).limit(1)
                return connection.execute(query).first() is not None
        return None


class KnownGroups:
    """The groups of a dataset: their ids, int64, ascending, and their keys.

    >>> known = KnownGroups(np.array([4, 7]), Keys.from_strings(["q", "r"]))
    >>> known.add(np.array([9]), Keys.from_strings(["s"]))
    >>> known.ids_of(Keys.from_strings(["s", "x", "q"])).tolist(), known.keys_of(np.array([9])).to_list()
    ([9, -1, 4], ['s'])
    """

    def __init__(self, ids: Index, keys: Keys) -> None:
        self._ids = ids
        self._places = KeyPlaces(keys)

    def add(self, ids: Index, keys: Keys) -> None:
        """Add groups, whose ids ascend and are larger than all before."""
        self._ids = np.concatenate([self._ids, ids])
        self._places.add(keys)

    def keys_of(self, ids: Index) -> Keys:
        """Return the key of each id. Raises: KeyError for the first unknown id."""
        places = np.minimum(np.searchsorted(self._ids, ids), max(self._ids.size - 1, 0))
        wrong = np.flatnonzero(self._ids[places] != ids) if self._ids.size else np.arange(ids.size)
        if wrong.size:
            raise KeyError(int(ids[wrong[0]]))
        return self._places.keys.take(places)

    def ids_of(self, keys: Keys) -> Index:
        """Return the id of each key, -1 for an unknown key: int64, shape (n,)."""
        places = self._places.of(keys)
        return np.append(self._ids, -1)[places]


class Session:
    """The connection of one transaction: for narrow tables, and as ``bulk`` for wide ones.

    ``locks``: the locks of a writer. ``made``: everything that it has created so far. ``known_groups``: all groups of
    datasets, read once. ``dataset_of``: the dataset of a "run" or of "labels" by its id, as far as it was read.
    ``undated``: new runs without a date.
    """

    def __init__(self, connection: Connection, arrow: ArrowChoice, locks: WriterLocks | None = None) -> None:
        self.connection = connection
        self.locks = locks or WriterLocks()
        self.bulk = _bulk(connection, arrow)
        self.made = Written()
        self.is_sqlite = connection.dialect.name == "sqlite"
        self.known_groups: dict[int, KnownGroups] = {}
        self.dataset_of: dict[tuple[str, int], int] = {}
        self.undated: set[int] = set()
        self._answers: dict[Hashable, Any] = {}
        self.named_runs: list[int] = []

    def once(self, question: Hashable, ask: Callable[[], Answer]) -> Answer:
        """Return a result, from the cache if it was read before (see ``look_again``)."""
        if question not in self._answers:
            self._answers[question] = ask()
        answer: Answer = self._answers[question]
        return answer

    def look_again(self) -> None:
        """Clear the cache: this transaction has written, or others may have while it waited."""
        self._answers.clear()
        self.named_runs.clear()

    def keep_creators_out(self) -> bool:
        """Take the lock for creating datasets, groups, labels and metrics; return whether to look again."""
        taken = self.locks.keep_creators_out()
        if taken:
            self.look_again()
        return taken

    def once_each(
        self, question: str, run_ids: Sequence[int], ask: Callable[[Sequence[int]], Mapping[int, Answer]]
    ) -> dict[int, Answer]:
        """Return the result for each of some runs (see ``once``), without the runs that have none.

        A result for one run that a reference named will be needed for the others, so it is read for all of them.
        """
        if new := [run_id for run_id in run_ids if (question, run_id) not in self._answers]:
            more = [
                run_id for run_id in self.named_runs if run_id not in new and (question, run_id) not in self._answers
            ]
            answers = ask([*new, *more])
            self.keep(question, {run_id: answers.get(run_id) for run_id in [*new, *more]})
        each = ((run_id, self._answers[question, run_id]) for run_id in run_ids)
        return {run_id: answer for run_id, answer in each if answer is not None}

    def keep(self, question: str, answers: Mapping[int, object]) -> None:
        """Cache the results for some runs, None for no result."""
        self._answers.update({(question, run_id): answer for run_id, answer in answers.items()})

    def records(self, kind: Callable[..., Record], query: Select[Any]) -> list[Record]:
        """Return a record per row, by column names; SQLAlchemy's row mapping takes twice as long."""
        try:
            cursor = self.connection.execute(query)
        except UnicodeEncodeError:
            return []  # the name has a lone surrogate, which no database can hold
        names = tuple(cursor.keys())
        return [kind(**dict(zip(names, row, strict=True))) for row in cursor.all()]

    def execute(self, statement: sa.Executable, values: Any = None) -> sa.CursorResult[Any]:
        """Run a statement, with the values of one row or of several."""
        self.look_again()
        return self.connection.execute(statement, values)

    def rows(self, query: Select[Any]) -> Sequence[Row[Any]]:
        """Return the rows of a query."""
        return self.connection.execute(query).all()

    def insert(self, table: sa.Table, values: Mapping[str, Any]) -> int:
        """Insert a row and return its id."""
        self.look_again()
        return int(self.connection.execute(table.insert().returning(table.c.id), values).scalar_one())


class TransactionPart:
    """The part of a transaction that reads or writes one kind of data; what it has read and made is its session's."""

    def __init__(self, session: Session) -> None:
        self._session = session


def _bulk(connection: Connection, arrow: ArrowChoice) -> Bulk:
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        return SqliteBulk(driver, arrow)
    from ndcg_tracker.storage.bulk.postgres import PostgresBulk

    return PostgresBulk(cast("Any", driver))

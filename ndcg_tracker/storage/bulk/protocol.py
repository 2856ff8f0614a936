"""Bulk reads and writes of the wide tables, as far as both engines do the same; an ORM would take minutes for them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.keys import Keys

BLOCK_ITEMS = 1 << 19
"""How many items are encoded or parsed at a time; this limits the memory of a block."""


@dataclass(frozen=True, slots=True)
class ListTable:
    """One of the two tables with a row per list: its name, the owner column and the numbers column."""

    name: str
    owner: str
    numbers: str


RANKED_LISTS = ListTable("ranked_lists", "run_id", "scores")
LABEL_LISTS = ListTable("label_lists", "label_set_id", "grades")


@dataclass(frozen=True, slots=True)
class Lists:
    """The lists of a run or a label set, by ascending group id.

    ``group_ids``: int64, shape (n_lists,). ``offsets``: int64, shape (n_lists + 1,). ``item_keys`` and ``numbers``:
    the items of all lists.
    """

    group_ids: Index
    offsets: Index
    item_keys: Keys
    numbers: Floats

    def blocks(self) -> Iterator[slice]:
        """Yield ranges of complete lists with about equally many items each, up to ``BLOCK_ITEMS``."""
        n_items = int(self.offsets[-1] - self.offsets[0])
        share = -(-n_items // max(1, -(-n_items // BLOCK_ITEMS)))
        first = 0
        while first < self.group_ids.size:
            last = int(np.searchsorted(self.offsets, self.offsets[first] + share, "right")) - 1
            last = min(max(last, first + 1), self.group_ids.size)
            yield slice(first, last)
            first = last


@dataclass(frozen=True, slots=True)
class ResultRows:
    """Group results to write, by ascending group id; NaN is NULL, and ``reasons`` are for the NULL values."""

    group_ids: Index
    values: Floats
    dcg: Floats
    ideal_dcg: Floats
    reasons: Sequence[str]


class Bulk(ABC):
    """Fast reading and writing of the wide tables within a transaction.

    The engines have their own ways of moving lists and columns, and their own words for: a value that is among many,
    the bytes of the id of a group, groups that are read by number, and whether a list has a grade up to another.
    """

    among: ClassVar[str]
    key_bytes: ClassVar[str]
    groups_by_id: ClassVar[str]
    grade_up_to: ClassVar[str]

    @abstractmethod
    def _rows(self, query: str, *values: Any) -> Any:
        """Return the rows of a query, in which ``?`` stands for each value."""

    @abstractmethod
    def _many(self, values: Sequence[Any]) -> Any:
        """Return many values as the one that ``among`` takes."""

    @abstractmethod
    def _columns(
        self, table: str, id_column: str, names: Sequence[str], condition: str, value: int
    ) -> tuple[Index, list[Floats]]:
        """Return ids, ascending, and some columns of doubles from chosen rows, NaN for NULL."""

    @abstractmethod
    def insert_groups(self, dataset_id: int, ids: Index, keys: Keys) -> None:
        """Add groups with the given ids."""

    @abstractmethod
    def set_group_weights(self, ids: Index, weights: Floats) -> None:
        """Give groups new weights; NaN removes the weight."""

    @abstractmethod
    def insert_lists(self, table: ListTable, owner_id: int, lists: Lists) -> None:
        """Add the lists of a run or a label set; all cores encode lists while earlier ones are written."""

    @abstractmethod
    def lists(self, table: ListTable, owner_id: int, group_ids: Index | None = None) -> Lists:
        """Return the lists of a run or a label set, of some or all groups, with numbers exactly as stored."""

    @abstractmethod
    def _insert_result_rows(self, evaluation_id: int, rows: ResultRows) -> None:
        """Store the rows of group results."""

    def group_rows(self, dataset_id: int) -> tuple[Index, Keys]:
        """Return the ids, ascending, and keys of all groups of a dataset."""
        query = f"SELECT id, {self.key_bytes} FROM groups WHERE dataset_id = ? ORDER BY id"
        rows = self._rows(query, dataset_id).fetchall()
        ids = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
        return ids, Keys.from_bytes([row[1] for row in rows])

    def group_ids(self, dataset_id: int, keys: Sequence[bytes]) -> list[int]:
        """Return the id of each of a few groups, -1 for one that does not exist."""
        texts = [key.decode() for key in keys]
        query = f"SELECT key, id FROM groups WHERE dataset_id = ? AND key {self.among}"
        ids = dict(self._rows(query, dataset_id, self._many(texts)).fetchall())
        return [ids.get(text, -1) for text in texts]

    def group_keys(self, dataset_id: int, ids: Sequence[int]) -> list[bytes | None]:
        """Return the key of each of a few groups, None for one that is not of this dataset."""
        # the plus keeps SQLite from reading all groups of the dataset
        query = f"SELECT id, {self.key_bytes} FROM groups WHERE id {self.among} AND +dataset_id = ?"
        keys = dict(self._rows(query, self._many(ids), dataset_id).fetchall())
        return [keys.get(number) for number in ids]

    def group_weights(self, dataset_id: int) -> tuple[Index, Floats]:
        """Return the ids, ascending, and weights of the groups of a dataset that have one."""
        weighted = "dataset_id = ? AND weight IS NOT NULL"
        ids, (weights,) = self._columns(self.groups_by_id, "id", ["weight"], weighted, dataset_id)
        return ids, weights

    def list_group_ids(self, table: ListTable, owner_id: int) -> Index:
        """Return the ids, ascending, of the groups with lists in a run or a label set."""
        query = f"SELECT group_id FROM {table.name} WHERE {table.owner} = ? ORDER BY group_id"
        return np.fromiter((row[0] for row in self._rows(query, owner_id)), dtype=np.int64)

    def has_grade_up_to(self, label_set_id: int, grade: float) -> bool:
        """Return whether a label set has a label of this grade or below; the search stops at the first."""
        query = f"SELECT EXISTS (SELECT 1 FROM label_lists WHERE label_set_id = ? AND {self.grade_up_to})"
        return bool(self._rows(query, label_set_id, grade).fetchone()[0])

    def insert_results(self, evaluation_id: int, rows: ResultRows) -> None:
        """Store the group results of an evaluation: the rows, and the packed values."""
        query = "UPDATE evaluations SET packed_group_ids = ?, packed_values = ? WHERE id = ?"
        self._rows(query, *packed(rows.group_ids, rows.values), evaluation_id)
        self._insert_result_rows(evaluation_id, rows)

    def results(self, evaluation_id: int) -> tuple[Index, Floats]:
        """Return ids and values (NaN for NULL) of all groups of an evaluation, by id, from the packed columns."""
        query = "SELECT packed_group_ids, packed_values FROM evaluations WHERE id = ?"
        return unpacked(*(self._rows(query, evaluation_id).fetchone() or (b"", b"")))

    def result_columns(self, evaluation_id: int, *names: str) -> tuple[Index, list[Floats]]:
        """Return ids and some columns (NaN for NULL) of all groups of an evaluation, by id, from the rows."""
        return self._columns("group_results", "group_id", names, "evaluation_id = ?", evaluation_id)

    def reasons(self, evaluation_id: int) -> list[str]:
        """Return the reasons of the groups without a value, by id."""
        rows = "group_results WHERE evaluation_id = ? AND value IS NULL ORDER BY group_id"
        return [reason for (reason,) in self._rows(f"SELECT undefined_reason FROM {rows}", evaluation_id)]


def joined_lists(parts: Sequence[tuple[Keys, Index, Floats]], group_ids: Index) -> Lists:
    """Return the lists of several blocks as one block; each has its keys, its offsets from 0 and its numbers."""
    lengths = [np.diff(offsets) for _, offsets, _ in parts]
    offsets = np.zeros(group_ids.size + 1, dtype=np.int64)
    np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *lengths]), out=offsets[1:])
    key_lengths = [keys.lengths for keys, _, _ in parts]
    key_offsets = np.zeros(int(offsets[-1]) + 1, dtype=np.int64)
    np.cumsum(np.concatenate([np.zeros(0, dtype=np.int64), *key_lengths]), out=key_offsets[1:])
    data = np.concatenate([np.zeros(0, dtype=np.uint8), *(keys.data for keys, _, _ in parts)])
    numbers = np.concatenate([np.zeros(0, dtype=np.float64), *(numbers for _, _, numbers in parts)])
    return Lists(group_ids, offsets, Keys(data, key_offsets), numbers)


def packed(group_ids: Index, values: Floats) -> tuple[bytes, bytes]:
    """Return the results of an evaluation as little-endian int64 and float64; for consecutive ids only the first id.

    Reading two columns of bytes takes milliseconds; a million rows take half a second (``benchmarks/tricks.py``).

    Parameters: ``group_ids``: int64, shape (n,), strictly ascending. ``values``: float64, shape (n,).

    >>> [len(column) for column in packed(np.array([4, 5, 6]), np.array([0.5, np.nan, 1.0]))]
    [8, 24]
    """
    one_by_one = group_ids.size > 0 and int(group_ids[-1] - group_ids[0]) == group_ids.size - 1
    kept = group_ids[:1] if one_by_one else group_ids
    return kept.astype("<i8").tobytes(), values.astype("<f8").tobytes()


def unpacked(ids: bytes, values: bytes) -> tuple[Index, Floats]:
    """Return the unpacked ids and values: int64 and float64, shape (n,); ValueError if their sizes differ.

    >>> unpacked(*packed(np.array([4, 6]), np.array([0.5, -0.0])))
    (array([4, 6]), array([ 0.5, -0. ]))
    """
    group_ids = np.frombuffer(ids, dtype="<i8").astype(np.int64)
    floats = np.frombuffer(values, dtype="<f8").astype(np.float64)
    if group_ids.size == 1:
        group_ids = np.arange(group_ids[0], group_ids[0] + floats.size, dtype=np.int64)
    if group_ids.size != floats.size:
        raise ValueError(f"{group_ids.size} group ids for {floats.size} values")
    return group_ids, floats

"""Bulk reads and writes on SQLite: sqlite3's executemany within the one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from ndcg_tracker.concurrency import mapped
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.storage.bulk.json_lists import (
    ArrowChoice,
    json_key_lists,
    json_number_lists,
    parsed_key_lists,
    parsed_number_lists,
)
from ndcg_tracker.storage.bulk.protocol import BLOCK_ITEMS, Lists, ListTable, ResultRows, joined_lists, packed, unpacked

_ROWS_PER_STATEMENT = 100
_BLOCK_BYTES = BLOCK_ITEMS * 10


class SqliteBulk:
    """Fast reading and writing of the wide tables (see ``Bulk``)."""

    def __init__(self, connection: sqlite3.Connection, arrow: ArrowChoice) -> None:
        self._connection = connection
        self._arrow = arrow

    def insert_groups(self, dataset_id: int, ids: Index, keys: Keys) -> None:
        """Add groups with the given ids."""
        texts = keys.to_list()
        self._insert_rows("groups (dataset_id, id, key)", f"({int(dataset_id)}, ?, ?)", [ids.tolist(), texts])

    def group_rows(self, dataset_id: int) -> tuple[Index, Keys]:
        """Return the ids, ascending, and keys of all groups of a dataset."""
        rows = self._connection.execute(
            "SELECT id, CAST(key AS BLOB) FROM groups WHERE dataset_id = ? ORDER BY id", (dataset_id,)
        ).fetchall()
        ids = np.fromiter((row[0] for row in rows), dtype=np.int64, count=len(rows))
        return ids, Keys.from_bytes([row[1] for row in rows])

    def group_ids(self, dataset_id: int, keys: Sequence[bytes]) -> list[int]:
        """Return the id of each of a few groups, -1 for one that does not exist."""
        wanted = json.dumps([key.decode() for key in keys], ensure_ascii=False)
        found = self._connection.execute(
            "SELECT coalesce(g.id, -1) FROM json_each(?) w "
            "LEFT JOIN groups g ON g.dataset_id = ? AND g.key = w.value ORDER BY w.key",
            (wanted, dataset_id),
        )
        return [group_id for (group_id,) in found]

    def group_keys(self, dataset_id: int, ids: Sequence[int]) -> list[bytes | None]:
        """Return the key of each of a few groups, None for one that is not of this dataset."""
        found = self._connection.execute(
            "SELECT CAST(g.key AS BLOB) FROM json_each(?) w "
            "LEFT JOIN groups g ON g.id = w.value AND g.dataset_id = ? ORDER BY w.key",
            (json.dumps(list(ids)), dataset_id),
        )
        return [key for (key,) in found]

    def group_weights(self, dataset_id: int) -> tuple[Index, Floats]:
        """Return the ids, ascending, and weights of the groups of a dataset that have one."""
        rows = self._connection.execute(
            "SELECT id, weight FROM groups NOT INDEXED WHERE dataset_id = ? AND weight IS NOT NULL ORDER BY id",
            (dataset_id,),
        )
        columns = np.fromiter(rows, dtype=[("id", np.int64), ("weight", np.float64)])
        return np.ascontiguousarray(columns["id"]), np.ascontiguousarray(columns["weight"])

    def set_group_weights(self, ids: Index, weights: Floats) -> None:
        """Give groups new weights; NaN removes the weight."""
        self._connection.executemany(
            "UPDATE groups SET weight = ? WHERE id = ?", zip(weights.tolist(), ids.tolist(), strict=True)
        )

    def insert_lists(self, table: ListTable, owner_id: int, lists: Lists) -> None:
        """Add the lists of a run or a label set."""
        self._connection.executemany(
            f"INSERT INTO {table.name} ({table.owner}, group_id, item_keys, {table.numbers}) VALUES (?, ?, ?, ?)",
            _list_rows(owner_id, lists, self._arrow),
        )

    def lists(self, table: ListTable, owner_id: int, group_ids: Index | None = None) -> Lists:
        """Return the lists of a run or a label set, of some groups or all, numbers exactly as they were."""
        wanted = ""
        values: list[int | str] = [owner_id]
        if group_ids is not None:
            wanted = "AND group_id IN (SELECT value FROM json_each(?))"
            values.append(str(group_ids.tolist()))
        cursor = self._connection.execute(
            f"SELECT group_id, CAST(item_keys AS BLOB), CAST({table.numbers} AS BLOB) FROM {table.name} "
            f"WHERE {table.owner} = ? {wanted} ORDER BY group_id",
            values,
        )
        parts: list[tuple[Keys, Index, Floats]] = []
        found: list[int] = []
        for rows in _blocks(cursor):
            found.extend(row[0] for row in rows)
            keys, offsets = parsed_key_lists([row[1] for row in rows])
            numbers = parsed_number_lists([row[2] for row in rows], arrow=self._arrow.pays(int(offsets[-1])))
            parts.append((keys, offsets, numbers))
        return joined_lists(parts, np.array(found, dtype=np.int64))

    def list_group_ids(self, table: ListTable, owner_id: int) -> Index:
        """Return the ids, ascending, of the groups that a run or a label set has lists for."""
        query = f"SELECT group_id FROM {table.name} WHERE {table.owner} = ? ORDER BY group_id"
        return np.fromiter((row[0] for row in self._connection.execute(query, (owner_id,))), dtype=np.int64)

    def insert_results(self, evaluation_id: int, rows: ResultRows) -> None:
        """Give an evaluation its group results: the rows, and their values packed."""
        self._connection.execute(
            "UPDATE evaluations SET packed_group_ids = ?, packed_values = ? WHERE id = ?",
            (*packed(rows.group_ids, rows.values), evaluation_id),
        )
        defined = ~np.isnan(rows.values)
        owner = int(evaluation_id)
        self._insert_rows(
            "group_results (evaluation_id, group_id, value, dcg, ideal_dcg)",
            f"({owner}, ?, ?, ?, ?)",
            [column[defined].tolist() for column in (rows.group_ids, rows.values, rows.dcg, rows.ideal_dcg)],
        )
        self._insert_rows(
            "group_results (evaluation_id, group_id, dcg, ideal_dcg, undefined_reason)",
            f"({owner}, ?, ?, ?, ?)",
            [*(column[~defined].tolist() for column in (rows.group_ids, rows.dcg, rows.ideal_dcg)), list(rows.reasons)],
        )

    def _insert_rows(self, target: str, row: str, columns: list[list[Any]]) -> None:
        """Insert rows, many of them per statement: for narrow rows that halves the time."""
        n_rows = len(columns[0])
        whole = n_rows - n_rows % _ROWS_PER_STATEMENT
        for first, last, n_together in ((0, whole, _ROWS_PER_STATEMENT), (whole, n_rows, 1)):
            self._connection.executemany(
                f"INSERT INTO {target} VALUES {', '.join([row] * n_together)}",
                _parameters([column[first:last] for column in columns], n_together),
            )

    def results(self, evaluation_id: int) -> tuple[Index, Floats]:
        """Return ids and values (NaN for NULL) of all groups of an evaluation, by id, as they were packed."""
        query = "SELECT packed_group_ids, packed_values FROM evaluations WHERE id = ?"
        row = self._connection.execute(query, (evaluation_id,)).fetchone()
        return unpacked(*(row or (b"", b"")))

    def values(self, evaluation_id: int) -> tuple[Index, Floats]:
        """Return what ``results`` returns, but from the rows."""
        rows = self._connection.execute(
            "SELECT group_id, coalesce(value, 9e999) FROM group_results WHERE evaluation_id = ? ORDER BY group_id",
            (evaluation_id,),
        )
        columns = np.fromiter(rows, dtype=[("id", np.int64), ("value", np.float64)])
        return np.ascontiguousarray(columns["id"]), _nan_for_inf(columns["value"])

    def reasons(self, evaluation_id: int) -> list[str]:
        """Return why the groups without a value have none, by id."""
        rows = self._connection.execute(
            "SELECT undefined_reason FROM group_results WHERE evaluation_id = ? AND value IS NULL ORDER BY group_id",
            (evaluation_id,),
        )
        return [reason for (reason,) in rows]

    def components(self, evaluation_id: int) -> tuple[Index, Floats, Floats]:
        """Return ids, dcg and ideal_dcg (NaN for NULL) of all groups of an evaluation, by id."""
        rows = self._connection.execute(
            "SELECT group_id, coalesce(dcg, 9e999), coalesce(ideal_dcg, 9e999) FROM group_results "
            "WHERE evaluation_id = ? ORDER BY group_id",
            (evaluation_id,),
        )
        columns = np.fromiter(rows, dtype=[("id", np.int64), ("dcg", np.float64), ("ideal_dcg", np.float64)])
        return np.ascontiguousarray(columns["id"]), _nan_for_inf(columns["dcg"]), _nan_for_inf(columns["ideal_dcg"])


def _nan_for_inf(values: Floats) -> Floats:
    """Return the values with NaN in place of infinity, which marks NULL: SQLite has infinity but no NaN."""
    return np.where(np.isinf(values), np.nan, values)


def _list_rows(owner_id: int, lists: Lists, arrow: ArrowChoice) -> Iterator[tuple[int, int, str, str]]:
    """Yield the rows, their texts made on all cores while those before are written."""

    def texts(block: slice) -> tuple[slice, list[str], list[str]]:
        offsets = lists.offsets[block.start : block.stop + 1]
        n_items = int(offsets[-1] - offsets[0])
        keys = json_key_lists(lists.item_keys, offsets, arrow=arrow.pays(n_items))
        return block, keys, json_number_lists(lists.numbers, offsets, arrow=arrow.pays(n_items))

    for block, keys, numbers in mapped(texts, lists.blocks()):
        for group_id, *row in zip(lists.group_ids[block].tolist(), keys, numbers, strict=True):
            yield owner_id, group_id, *row


def _blocks(cursor: sqlite3.Cursor) -> Iterator[list[tuple[int, bytes, bytes]]]:
    """Yield the rows in blocks of about equal size in bytes."""
    rows: list[tuple[int, bytes, bytes]] = []
    size = 0
    for row in cursor:
        rows.append(row)
        size += len(row[1]) + len(row[2])
        if size >= _BLOCK_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _parameters(columns: list[list[Any]], n_together: int) -> Iterator[list[Any]]:
    """Yield the parameters of one statement after the other, each with ``n_together`` rows."""
    rows = zip(*columns, strict=True)
    while batch := list(islice(rows, n_together)):
        yield list(chain.from_iterable(batch))

"""Writing datasets and their groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import InputError
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk import Bulk
from ndcg_tracker.storage.json_objects import checked_object
from ndcg_tracker.storage.names import checked_name, utc_now
from ndcg_tracker.storage.reads import FEW, ReadTransaction
from ndcg_tracker.storage.records import DatasetRecord

MAX_GROUP_KEY_BYTES = 2000
"""Longer ids do not fit an index of Postgres; refused on both engines alike."""


class GroupWriter(ReadTransaction):
    """Writes datasets and groups."""

    def __init__(self, connection: Connection, bulk: Bulk) -> None:
        super().__init__(connection, bulk)
        self._group_ids: dict[int, dict[bytes, int]] = {}

    def ensure_dataset(self, name: str) -> DatasetRecord:
        """Return the dataset of this name, made if there is none."""
        found = self.dataset(checked_name("dataset", name))
        if found is not None:
            return found
        values = {"name": name, "created_at_utc": utc_now()}
        return DatasetRecord(id=self._insert(schema.datasets, values), **values)

    def ensure_groups(self, dataset_id: int, keys: Keys) -> Index:
        """Return the ids of groups, in the order of ``keys``, those that were missing made: int64, shape (n,).

        Raises: InputError for an id that no database can hold (a NUL, or too long).
        """
        _check_group_keys(keys)
        wanted = keys.to_bytes_list()
        if len(wanted) <= FEW and dataset_id not in self._group_ids:
            ids = self._bulk.group_ids(dataset_id, wanted)
        else:
            if dataset_id not in self._group_ids:
                self._group_ids[dataset_id] = self._id_of_key(dataset_id)
            id_of = self._group_ids[dataset_id]
            ids = [id_of.get(key, -1) for key in wanted]
        all_ids = np.array(ids, dtype=np.int64)
        missing = np.flatnonzero(all_ids < 0)
        if missing.size:
            all_ids[missing] = self._new_groups(dataset_id, keys if missing.size == len(keys) else keys.take(missing))
        return all_ids

    def _new_groups(self, dataset_id: int, keys: Keys) -> Index:
        """Insert groups, each once although it may be given more often, and return their ids."""
        next_id = self._connection.execute(sa.select(sa.func.coalesce(sa.func.max(schema.groups.c.id), 0))).scalar_one()
        id_of: dict[bytes, int] = {}
        ids = np.array(
            [id_of.setdefault(key, next_id + 1 + len(id_of)) for key in keys.to_bytes_list()], dtype=np.int64
        )
        new_ids = np.arange(next_id + 1, next_id + 1 + len(id_of))
        self._bulk.insert_groups(dataset_id, new_ids, keys if len(id_of) == len(keys) else Keys.from_bytes(list(id_of)))
        if dataset_id in self._group_ids:
            self._group_ids[dataset_id].update(id_of)
        return ids

    def set_group_weights(self, dataset_id: int, ids: Index, weights: Floats) -> None:
        """Give groups of a dataset weights (finite, >= 0); NaN takes the weight away."""
        if np.isinf(weights).any() or (weights < 0).any():
            raise InputError("a group weight is negative or infinite; weights are finite and at least 0")
        self.group_keys(dataset_id, ids)
        self._bulk.set_group_weights(ids, weights)

    def set_group_attributes(self, dataset_id: int, attributes: Mapping[int, Mapping[str, Any] | None]) -> None:
        """Give groups of a dataset, by id, new attributes in place of those they have; None takes them away."""
        self.group_keys(dataset_id, np.array(list(attributes), dtype=np.int64))
        table = schema.groups
        statement = table.update().where(table.c.id == sa.bindparam("group"))
        statement = statement.values(attributes=sa.bindparam("new", type_=table.c.attributes.type))
        rows = [{"group": key, "new": checked_object("attributes", given)} for key, given in attributes.items()]
        if rows:
            self._connection.execute(statement, rows)

    def _insert(self, table: sa.Table, values: Mapping[str, Any]) -> int:
        return int(self._connection.execute(table.insert().returning(table.c.id), values).scalar_one())


def _check_group_keys(keys: Keys) -> None:
    if has_nul(keys):
        raise InputError("a group id contains a NUL character, which no database keeps; remove it")
    lengths = keys.lengths
    if lengths.size and int(lengths.max()) > MAX_GROUP_KEY_BYTES:
        longest = int(lengths.argmax())
        start = keys.bytes_at(longest)[:20].decode(errors="replace")
        raise InputError(
            f"group id {start + '...'!r} has {lengths[longest]} bytes; a group id has at most {MAX_GROUP_KEY_BYTES}"
        )


def has_nul(keys: Keys) -> bool:
    """Return whether some id contains a NUL character."""
    return not keys.data[int(keys.offsets[0]) : int(keys.offsets[-1])].all()

"""What can be read within a transaction: the records, and whole columns of lists and results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import ReferenceNotFoundError
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import LabelLists, Ranking
from ndcg_tracker.rankings.types import Floats, Index
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk import BLOCK_ITEMS, LABEL_LISTS, RANKED_LISTS, Bulk, Lists
from ndcg_tracker.storage.integrity import broken_references, differing_values, engine_damage
from ndcg_tracker.storage.packed_results import unpacked
from ndcg_tracker.storage.record_reads import RecordReader
from ndcg_tracker.storage.records import GroupResultColumns, RunRecord

FEW = 500
"""Up to this many groups are looked up one by one; for more, all groups of the dataset are read, once."""


class ReadTransaction(RecordReader):
    """One consistent state of the database."""

    def __init__(self, connection: Connection, bulk: Bulk) -> None:
        super().__init__(connection)
        self._bulk = bulk
        self._group_rows: dict[int, tuple[Index, Keys]] = {}

    def read_labels(self, label_set_id: int, group_ids: Index | None = None) -> LabelLists:
        """Return the labels of a label set, of some groups or all, groups by ascending id."""
        return LabelLists(*self._grouped(self._bulk.lists(LABEL_LISTS, label_set_id, group_ids)))

    def label_group_ids(self, label_set_id: int) -> Index:
        """Return the ids, ascending, of the groups that a label set has labels for."""
        return self._bulk.list_group_ids(LABEL_LISTS, label_set_id)

    def ranked_group_ids(self, run_id: int) -> Index:
        """Return the ids, ascending, of the groups that a run has."""
        return self._bulk.list_group_ids(RANKED_LISTS, run_id)

    def read_ranking(self, run_id: int, group_ids: Index | None = None) -> Ranking:
        """Return the items of a run as they were stored, scores to the bit, of some groups or all, by ascending id."""
        return Ranking(*self._grouped(self._bulk.lists(RANKED_LISTS, run_id, group_ids)))

    def ranking_blocks(self, run: RunRecord, n_items: int = BLOCK_ITEMS) -> Iterator[Ranking]:
        """Yield the items of a run in blocks of about so many items (see ``read_ranking``)."""
        if run.n_items <= n_items:
            yield self.read_ranking(run.id)
            return
        ids = self._bulk.list_group_ids(RANKED_LISTS, run.id)
        n_groups = max(1, n_items * run.n_groups // run.n_items)
        for first in range(0, ids.size, n_groups):
            yield Ranking(*self._grouped(self._bulk.lists(RANKED_LISTS, run.id, ids[first : first + n_groups])))

    def group_results(self, evaluation_id: int, *, components: bool = False) -> GroupResultColumns:
        """Return the group results of an evaluation as columns; ``components``: with dcg and ideal_dcg."""
        ids, values = self._bulk.results(evaluation_id)
        undefined = np.flatnonzero(np.isnan(values))
        reasons = self._bulk.reasons(evaluation_id) if undefined.size else []
        columns = GroupResultColumns(ids, values, undefined, reasons)
        if not components:
            return columns
        _, dcg, ideal_dcg = self._bulk.components(evaluation_id)
        return replace(columns, dcg=dcg, ideal_dcg=ideal_dcg)

    def group_keys(self, dataset_id: int, ids: Index) -> Keys:
        """Return the keys of groups of a dataset, in the order of ``ids`` (ReferenceNotFoundError for a wrong id)."""
        if ids.size <= FEW:
            found = self._bulk.group_keys(dataset_id, ids.tolist())
            keys = [key for key in found if key is not None]
            if len(keys) == len(found):
                return Keys.from_bytes(keys)
            raise ReferenceNotFoundError(f"no group with id {ids[found.index(None)]} in dataset {dataset_id}")
        was_read = dataset_id in self._group_rows
        if not was_read:
            self._group_rows[dataset_id] = self._bulk.group_rows(dataset_id)
        all_ids, all_keys = self._group_rows[dataset_id]
        places = np.minimum(np.searchsorted(all_ids, ids), max(all_ids.size - 1, 0))
        wrong = np.flatnonzero(all_ids[places] != ids) if all_ids.size else np.arange(ids.size)
        if not wrong.size:
            return all_keys.take(places)
        if was_read:  # the group may have come since
            del self._group_rows[dataset_id]
            return self.group_keys(dataset_id, ids)
        raise ReferenceNotFoundError(f"no group with id {ids[wrong[0]]} in dataset {dataset_id}")

    def group_ids(self, dataset_id: int, keys: Keys) -> Index:
        """Return the id of each group, -1 for one that the dataset does not have: int64, shape (n,)."""
        wanted = keys.to_bytes_list()
        if len(wanted) <= FEW:
            return np.array(self._bulk.group_ids(dataset_id, wanted), dtype=np.int64)
        id_of = self._id_of_key(dataset_id)
        return np.array([id_of.get(key, -1) for key in wanted], dtype=np.int64)

    def groups(self, dataset_id: int) -> tuple[Index, Keys]:
        """Return the ids, ascending, and keys of all groups of a dataset."""
        return self._bulk.group_rows(dataset_id)

    def group_weights(self, dataset_id: int) -> tuple[Index, Floats]:
        """Return the ids, ascending, and weights of the groups of a dataset that have one."""
        return self._bulk.group_weights(dataset_id)

    def group_attributes(self, dataset_id: int) -> dict[int, dict[str, Any]]:
        """Return the attributes of the groups that have some, by group id."""
        table = schema.groups
        chosen = (table.c.dataset_id == dataset_id, table.c.attributes.is_not(None))
        query = sa.select(table.c.id, table.c.attributes).where(*chosen).order_by(table.c.id)
        return {row.id: row.attributes for row in self._rows(query)}

    def history_results(self, evaluation_ids: Sequence[int]) -> list[tuple[Index, Floats]]:
        """Return ids and values (NaN: undefined) of the groups of each evaluation; ids that are equal are one array.

        The values are not to be written to: they are the bytes that the database returned.
        """
        table = schema.evaluations
        query = sa.select(table.c.id, table.c.packed_group_ids, table.c.packed_values)
        known: dict[tuple[bytes, int], Index] = {}
        found: dict[int, tuple[Index, Floats]] = {}
        for first in range(0, len(evaluation_ids), FEW):
            wanted = table.c.id.in_(evaluation_ids[first : first + FEW])
            for evaluation_id, ids, packed_values in self._connection.execute(query.where(wanted)):
                values = np.frombuffer(packed_values or b"", dtype="<f8").astype(np.float64, copy=False)
                key = (bytes(ids or b""), values.size)
                if key not in known:
                    known[key], _ = unpacked(ids or b"", packed_values or b"")
                found[evaluation_id] = known[key], values
        return [found[evaluation_id] for evaluation_id in evaluation_ids]

    def damage(self) -> list[str]:
        """Return one sentence per kind of damage in the whole database, none if it is whole."""
        found = [*engine_damage(self._connection), *broken_references(self._connection)]
        return found or differing_values(self._connection, self._bulk)

    def _id_of_key(self, dataset_id: int) -> dict[bytes, int]:
        ids, keys = self._bulk.group_rows(dataset_id)
        return dict(zip(keys.to_bytes_list(), ids.tolist(), strict=True))

    def _grouped(self, lists: Lists) -> tuple[Keys, Index, Keys, Floats]:
        if not lists.group_ids.size:
            return Keys.from_bytes([]), lists.offsets, lists.item_keys, lists.numbers
        query = sa.select(schema.groups.c.dataset_id).where(schema.groups.c.id == int(lists.group_ids[0]))
        dataset_id = self._connection.execute(query).scalar_one()
        return self.group_keys(dataset_id, lists.group_ids), lists.offsets, lists.item_keys, lists.numbers

"""Writing runs and label sets: a record each, and one list per group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import ConflictError, InputError
from ndcg_tracker.rankings.ranking import GroupedItems, LabelLists, Ranking
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk import LABEL_LISTS, RANKED_LISTS, Bulk, Lists
from ndcg_tracker.storage.group_writes import GroupWriter, has_nul
from ndcg_tracker.storage.json_objects import checked_object
from ndcg_tracker.storage.names import checked_commit, checked_name, checked_time, utc_now
from ndcg_tracker.storage.records import LabelSetRecord, RunRecord


class ListWriter(GroupWriter):
    """Writes runs and label sets, each whole or block after block."""

    def __init__(self, connection: Connection, bulk: Bulk) -> None:
        super().__init__(connection, bulk)
        self._run_digests: dict[int, str] = {}
        self._label_set_digests: dict[int, str] = {}

    def insert_label_set(self, dataset_id: int, labels: LabelLists, source: str | None = None) -> LabelSetRecord:
        """Store labels as the next version of a dataset's labels and return its record."""
        label_set_id = self.begin_label_set(dataset_id, source, by_row_number=labels.by_row_number)
        self.append_labels(label_set_id, dataset_id, labels)
        return self.finish_label_set(label_set_id, labels.digest(), labels.n_groups, labels.n_items)

    def begin_label_set(self, dataset_id: int, source: str | None = None, *, by_row_number: bool | None = False) -> int:
        """Make the next version of a dataset's labels, still empty, and return the id of the label set."""
        newest = self.newest_label_set(dataset_id)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "version": 1 if newest is None else newest.version + 1,
            "digest": "",
            "n_groups": 0,
            "n_labels": 0,
            "source": source,
            "created_at_utc": utc_now(),
            "by_row_number": by_row_number,
        }
        label_set_id = self._insert(schema.label_sets, values)
        self._label_set_digests[label_set_id] = ""
        return label_set_id

    def append_labels(self, label_set_id: int, dataset_id: int, labels: LabelLists) -> None:
        """Add the labels of groups that a label set under way does not have yet."""
        self._bulk.insert_lists(LABEL_LISTS, label_set_id, self._lists(dataset_id, labels, "grade"))

    def append_labels_of(self, label_set_id: int, other_id: int) -> None:
        """Add the labels that another label set has for the groups which a label set under way lacks."""
        table = schema.label_lists
        own = sa.select(table.c.group_id).where(table.c.label_set_id == label_set_id)
        others = sa.select(sa.literal(label_set_id), table.c.group_id, table.c.item_keys, table.c.grades).where(
            table.c.label_set_id == other_id, table.c.group_id.not_in(own)
        )
        names = ["label_set_id", "group_id", "item_keys", "grades"]
        self._connection.execute(table.insert().from_select(names, others))

    def finish_label_set(self, label_set_id: int, digest: str, n_groups: int, n_labels: int) -> LabelSetRecord:
        """Say what a label set holds, now that it is whole, and return its record."""
        table = schema.label_sets
        values = {"digest": digest, "n_groups": n_groups, "n_labels": n_labels}
        self._connection.execute(table.update().where(table.c.id == label_set_id).values(values))
        self._label_set_digests[label_set_id] = digest
        return self._records(LabelSetRecord, sa.select(table).where(table.c.id == label_set_id))[0]

    def discard_label_set(self, label_set_id: int) -> None:
        """Take back a label set under way."""
        for table, owner in ((schema.label_lists, "label_set_id"), (schema.label_sets, "id")):
            self._connection.execute(table.delete().where(table.c[owner] == label_set_id))
        self._label_set_digests.pop(label_set_id, None)

    def insert_run(
        self,
        dataset_id: int,
        name: str,
        ranking: Ranking,
        *,
        source: str | None = None,
        git_commit: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
        created_at_utc: str | None = None,
    ) -> RunRecord:
        """Store a run with all its items and return its record; ConflictError where the name is taken.

        Parameters: ``created_at_utc``: now, if None.
        """
        run_id = self.begin_run(
            dataset_id,
            name,
            source=source,
            git_commit=git_commit,
            parameters=parameters,
            tags=tags,
            created_at_utc=created_at_utc,
        )
        self.append_items(run_id, dataset_id, ranking)
        return self.finish_run(run_id, ranking.digest(), ranking.n_groups, ranking.n_items)

    def begin_run(
        self,
        dataset_id: int,
        name: str,
        *,
        source: str | None = None,
        git_commit: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        tags: Mapping[str, Any] | None = None,
        created_at_utc: str | None = None,
    ) -> int:
        """Make a run, still without items, and return its id (see ``insert_run``)."""
        self.check_name_free(dataset_id, name)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "name": name,
            "digest": "",
            "created_at_utc": checked_time(created_at_utc),
            "source": source,
            "git_commit": checked_commit(git_commit),
            "parameters": checked_object("parameters", parameters or {}),
            "tags": checked_object("tags", tags or {}),
            "n_groups": 0,
            "n_items": 0,
        }
        run_id = self._insert(schema.runs, values)
        self._run_digests[run_id] = ""
        return run_id

    def append_items(self, run_id: int, dataset_id: int, ranking: Ranking) -> None:
        """Add the items of groups that a run under way does not have yet."""
        self._bulk.insert_lists(RANKED_LISTS, run_id, self._lists(dataset_id, ranking, "score"))

    def finish_run(self, run_id: int, digest: str, n_groups: int, n_items: int) -> RunRecord:
        """Say what a run holds, now that it is whole, and return its record."""
        values = {"digest": digest, "n_groups": n_groups, "n_items": n_items}
        self._connection.execute(schema.runs.update().where(schema.runs.c.id == run_id).values(values))
        self._run_digests[run_id] = digest
        return self.run(run_id)

    def check_name_free(self, dataset_id: int, name: str) -> None:
        """Raise ConflictError where another run of the dataset has this name, InputError where no run may have it."""
        checked_name("run", name)
        taken = self.find_run(dataset_id, name)
        if taken is not None:
            raise ConflictError(
                f"run {name!r} exists already in dataset {taken.dataset!r} (id {taken.id}); choose another name"
            )

    def _forget_run(self, run_id: int) -> None:
        """Check nothing of a deleted run before the commit."""
        self._run_digests.pop(run_id, None)

    def _lists(self, dataset_id: int, items: GroupedItems, number: str) -> Lists:
        if not np.isfinite(items.numbers).all():
            raise InputError(f"a {number} is not a finite number; only finite numbers are stored")
        if has_nul(items.item_keys):
            raise InputError("an item id contains a NUL character, which no database keeps; remove it")
        return Lists(self.ensure_groups(dataset_id, items.group_keys), items.offsets, items.item_keys, items.numbers)

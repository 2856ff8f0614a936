"""What can be written within a transaction, besides all that can be read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import ConflictError, InputError
from ndcg_tracker.rankings.keys import Index, Keys
from ndcg_tracker.rankings.ranking import Floats, GroupedItems, LabelLists, Ranking
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk import LABEL_LISTS, RANKED_LISTS, Bulk, Lists, ResultRows
from ndcg_tracker.storage.integrity import check_written
from ndcg_tracker.storage.json_objects import checked_object
from ndcg_tracker.storage.names import checked_name, checked_time, utc_now
from ndcg_tracker.storage.reads import FEW, ReadTransaction
from ndcg_tracker.storage.records import DatasetRecord, LabelSetRecord, RunRecord

MAX_GROUP_KEY_BYTES = 2000
"""Longer ids do not fit an index of Postgres; refused on both engines alike."""

_SAFE_TO_SQUARE = 1e150


class RunWriter(ReadTransaction):
    """Writes datasets, groups, labels, runs and their evaluations."""

    def __init__(self, connection: Connection, bulk: Bulk) -> None:
        super().__init__(connection, bulk)
        self._group_ids: dict[int, dict[bytes, int]] = {}
        self._run_ids: set[int] = set()
        self._label_set_ids: set[int] = set()
        self._evaluation_ids: set[int] = set()

    def check(self) -> None:
        """Raise DatabaseError where something written is not whole; called before the commit."""
        check_written(self._connection, self._run_ids, self._label_set_ids, self._evaluation_ids)

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

    def insert_label_set(self, dataset_id: int, labels: LabelLists, source: str | None = None) -> LabelSetRecord:
        """Store labels as the next version of a dataset's labels and return its record."""
        newest = self.newest_label_set(dataset_id)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "version": 1 if newest is None else newest.version + 1,
            "digest": labels.digest(),
            "n_groups": labels.n_groups,
            "n_labels": labels.n_items,
            "source": source,
            "created_at_utc": utc_now(),
        }
        lists = self._lists(dataset_id, labels, "grade")
        record = LabelSetRecord(id=self._insert(schema.label_sets, values), **values)
        self._label_set_ids.add(record.id)
        self._bulk.insert_lists(LABEL_LISTS, record.id, lists)
        return record

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
        digest: str | None = None,
    ) -> RunRecord:
        """Store a run with all its items and return its record; ConflictError where the name is taken.

        Parameters: ``digest``, that of the ranking where the caller has it already. ``created_at_utc``: now, if None.
        """
        self.check_name_free(dataset_id, name)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "name": name,
            "digest": digest or ranking.digest(),
            "created_at_utc": checked_time(created_at_utc),
            "source": source,
            "git_commit": git_commit,
            "parameters": checked_object("parameters", parameters or {}),
            "tags": checked_object("tags", tags or {}),
            "n_groups": ranking.n_groups,
            "n_items": ranking.n_items,
        }
        lists = self._lists(dataset_id, ranking, "score")
        run_id = self._insert(schema.runs, values)
        self._run_ids.add(run_id)
        self._bulk.insert_lists(RANKED_LISTS, run_id, lists)
        return self.run(run_id)

    def insert_evaluation(
        self,
        run_id: int,
        label_set_id: int,
        metric: str,
        *,
        mean: float | None,
        tie_bounds: tuple[float | None, float | None] = (None, None),
        n_groups: int,
        n_missing: int,
        n_undefined: int,
        group_ids: Index,
        values: Floats,
        dcg: Floats | None = None,
        ideal_dcg: Floats | None = None,
        reasons: Sequence[str | None] | None = None,
    ) -> int:
        """Store a run's results under a label set and a metric and return the evaluation's id.

        Parameters: ``metric``, its canonical text. ``mean``: None (or NaN) where no group has a value.
        ``tie_bounds``: the mean if all ties fell for the worst, and for the best. ``group_ids``: int64, shape (n,),
        distinct. ``values``, ``dcg``, ``ideal_dcg``: float64, shape (n,), NaN where undefined. ``reasons``: shape
        (n,), why the value of each undefined group is; None for the others. Raises: ConflictError where the
        evaluation exists, InputError for an undefined value without a reason or an infinite one.
        """
        metric_id = self._metric_id(metric)
        table = schema.evaluations
        key = (table.c.run_id == run_id, table.c.label_set_id == label_set_id, table.c.metric_id == metric_id)
        if self._rows(sa.select(table.c.id).where(*key)):
            raise ConflictError(f"run {run_id} has {metric} under label set {label_set_id} already")
        order = np.argsort(group_ids, kind="stable")
        nothing = np.full(values.size, np.nan)
        value, gain, ideal = ((nothing if one is None else one)[order] for one in (values, dcg, ideal_dcg))
        if any(np.isinf(one).any() for one in (value, gain, ideal)) or (mean is not None and math.isinf(mean)):
            raise InputError(f"{metric} of run {run_id} has an infinite value; only finite numbers are stored")
        undefined = order[np.isnan(value)].tolist()
        why = [reasons[row] if reasons is not None else None for row in undefined]
        known = [reason for reason in why if reason]
        if len(known) != len(why):
            raise InputError(f"{metric} of run {run_id} has an undefined value without a reason")
        defined = value[~np.isnan(value)]
        row = {
            "run_id": run_id,
            "label_set_id": label_set_id,
            "metric_id": metric_id,
            "mean": None if mean is None or math.isnan(mean) else float(mean),
            "worst_mean": tie_bounds[0],
            "best_mean": tie_bounds[1],
            "std_dev": _std_dev(defined),
            "n_groups": n_groups,
            "n_missing": n_missing,
            "n_undefined": n_undefined,
            "created_at_utc": utc_now(),
        }
        evaluation_id = self._insert(table, row)
        self._evaluation_ids.add(evaluation_id)
        self._bulk.insert_results(evaluation_id, ResultRows(group_ids[order], value, gain, ideal, known))
        return evaluation_id

    def insert_coverage(self, run_id: int, label_set_id: int, cutoff: int | None, judged_share: float) -> None:
        """Store which share of a run's top ``cutoff`` (None or 0: of all) has a label; a stored one is replaced."""
        table = schema.coverages
        key = {"run_id": run_id, "label_set_id": label_set_id, "cutoff": cutoff or 0}
        self._connection.execute(table.delete().where(*(table.c[name] == value for name, value in key.items())))
        self._connection.execute(table.insert(), {**key, "judged_share": float(judged_share)})

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
        self._run_ids.discard(run_id)

    def _lists(self, dataset_id: int, items: GroupedItems, number: str) -> Lists:
        if not np.isfinite(items.numbers).all():
            raise InputError(f"a {number} is not a finite number; only finite numbers are stored")
        if _has_nul(items.item_keys):
            raise InputError("an item id contains a NUL character, which no database keeps; remove it")
        return Lists(self.ensure_groups(dataset_id, items.group_keys), items.offsets, items.item_keys, items.numbers)

    def _metric_id(self, text: str) -> int:
        table = schema.metrics
        found = self._rows(sa.select(table.c.id).where(table.c.text == text))
        return int(found[0][0]) if found else self._insert(table, {"text": text})

    def _insert(self, table: sa.Table, values: Mapping[str, Any]) -> int:
        return int(self._connection.execute(table.insert().returning(table.c.id), values).scalar_one())


def _check_group_keys(keys: Keys) -> None:
    if _has_nul(keys):
        raise InputError("a group id contains a NUL character, which no database keeps; remove it")
    lengths = keys.lengths
    if lengths.size and int(lengths.max()) > MAX_GROUP_KEY_BYTES:
        longest = int(lengths.argmax())
        start = keys.bytes_at(longest)[:20].decode(errors="replace")
        raise InputError(
            f"group id {start + '...'!r} has {lengths[longest]} bytes; a group id has at most {MAX_GROUP_KEY_BYTES}"
        )


def _std_dev(values: Floats) -> float | None:
    """Return the sample standard deviation, None below two values."""
    if values.size < 2:
        return None
    largest = float(np.abs(values).max())
    scale = largest if largest > _SAFE_TO_SQUARE else 1.0
    return float(np.std(values / scale, ddof=1)) * scale


def _has_nul(keys: Keys) -> bool:
    return not keys.data[int(keys.offsets[0]) : int(keys.offsets[-1])].all()

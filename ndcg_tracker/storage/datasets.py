"""Read and write datasets, suites, groups, and the texts of groups and items."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Select

from ndcg_tracker.asked import SEALED_DATABASE, OwnName
from ndcg_tracker.errors import ConflictError, InputError, ReferenceNotFoundError, SealedError, argument
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import GroupedItems, Unweighted
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import (
    Lists,
)
from ndcg_tracker.storage.checks import (
    check_group_keys,
    checked_name,
    checked_object,
    checked_time,
    has_nul,
    utc_now,
)
from ndcg_tracker.storage.column_types import exact
from ndcg_tracker.storage.records import (
    DatasetCounts,
    DatasetRecord,
    GroupWeightsById,
    SealRecord,
    SuiteRecord,
    TextRecord,
)
from ndcg_tracker.storage.references import unknown_dataset
from ndcg_tracker.storage.session import FEW, KnownGroups, TransactionPart
from ndcg_tracker.words.texts import group_word, now_about

_TEXT_COLUMNS = ("text", "title", "url")


_TEXTS_AT_ONCE = 10_000
_OTHERS = ""  # no file has this key; its row holds the weight of the groups that have none


class DatasetReads(TransactionPart):
    """Reads datasets."""

    def all(self) -> list[DatasetRecord]:
        """Return all datasets in id order."""
        return self._session.records(DatasetRecord, sa.select(schema.datasets).order_by(schema.datasets.c.id))

    def counts(self) -> dict[int, DatasetCounts]:
        """Return how much each dataset holds, by its id."""
        of_groups = _counted(schema.groups).where(schema.groups.c.key != _OTHERS)
        queries = _counted(schema.runs), of_groups, _counted(schema.label_sets)
        each = [dict(tuple(row) for row in self._session.rows(query)) for query in queries]
        return {dataset.id: DatasetCounts(*(numbers.get(dataset.id, 0) for numbers in each)) for dataset in self.all()}

    def named(self, name: str) -> DatasetRecord | None:
        """Return the dataset of this name, None if it does not exist."""
        rows = self._rows(name, schema.datasets.c.name)
        for dataset in rows:
            now_about(dataset.name)
        return rows[0] if rows else None

    def with_id(self, dataset_id: int) -> DatasetRecord:
        """Return the dataset of this id."""
        return self._rows(dataset_id, schema.datasets.c.id)[0]

    def _rows(self, value: str | int, column: sa.Column[Any]) -> list[DatasetRecord]:
        query = sa.select(schema.datasets).where(column == value)
        return self._session.once(("dataset", value), partial(self._session.records, DatasetRecord, query))

    def seal_of(self, dataset_id: int) -> SealRecord | None:
        """Return the mark of a dataset that is sealed or an open part; None if it is neither."""
        query = sa.select(schema.seals).where(schema.seals.c.dataset_id == dataset_id)
        records = self._session.records(SealRecord, query)
        return records[0] if records else None

    def sealed(self) -> list[DatasetRecord]:
        """Return the dataset of a sealed database; none in an open one."""
        query = sa.select(schema.datasets).join(schema.seals).where(schema.seals.c.is_sealed)
        return self._session.records(DatasetRecord, query.order_by(schema.datasets.c.id))

    def refuse_other_part(self, name: str) -> None:
        """Raise InputError if an unknown dataset is the sealed part of a known one."""
        query = sa.select(schema.datasets.c.name, schema.seals.c.split).join_from(schema.seals, schema.datasets)
        for row in self._session.rows(query.where(schema.seals.c.is_sealed.is_(False))):
            if row.split is not None and row.split.get("other_part") == name:
                raise SealedError(
                    f"dataset {name!r} is sealed, in a database of its own: only ingest and gate (in Python "
                    "gate_sealed) may use it",
                    advice=f"for these, {SEALED_DATABASE} names it; else use {argument('dataset', row.name)}",
                )

    def known(self, name: str) -> DatasetRecord:
        """Return the dataset of this name; ReferenceNotFoundError, with the existing names, if there is none.

        If nobody named one (``asked.DEFAULT_DATASET``), it is the only dataset that may be read.
        """
        dataset = self.named(name)
        if dataset is not None:
            return dataset
        every = self.all()
        if len(every) == 1 and isinstance(name, OwnName):
            now_about(every[0].name)
            return every[0]
        self.refuse_other_part(name)
        raise unknown_dataset(name, [record.name for record in every], is_named=not isinstance(name, OwnName))


class DatasetWrites(DatasetReads):
    """Writes datasets."""

    def ensure(self, name: str, created_at_utc: str | None = None, *, group_column: str = "") -> DatasetRecord:
        """Return the dataset of this name, created if it does not exist, at ``created_at_utc`` (None: now).

        ``group_column``: the column that had its groups; the first that says what a group is decides the word for it.
        """
        word = group_word(group_column)
        dataset = self.named(checked_name("dataset", name))
        if dataset is None and self._session.keep_creators_out():
            dataset = self.named(name)
        if dataset is not None and (word is None or dataset.word is not None):
            return dataset
        if dataset is not None:
            table = schema.datasets
            self._session.execute(table.update().where(table.c.id == dataset.id).values(word=word))
            return replace(dataset, word=word)
        self.refuse_other_part(name)
        created = checked_time(created_at_utc)
        values = {"name": name, "created_at_utc": created, "word": word}
        record = DatasetRecord(self._session.insert(schema.datasets, values), name, created, word)
        now_about(record.name)
        return record

    def mark(self, seal: SealRecord) -> None:
        """Mark a dataset as sealed, or as the open part of a split one."""
        if seal.split is not None:
            checked_object("split", seal.split)
        self._session.execute(schema.seals.insert(), asdict(seal))

    def check_unseen(self, dataset: DatasetRecord) -> None:
        """Raise ConflictError if a record shows that runs of a dataset were seen, or if it is part of a suite."""
        seen = (schema.runs, schema.decisions, schema.alias_moves, schema.designs, schema.budget_resets)
        for table in (*seen, schema.suite_datasets):
            if self._session.rows(sa.select(table.c.dataset_id).where(table.c.dataset_id == dataset.id).limit(1)):
                what = "is part of a suite" if table is schema.suite_datasets else "has recorded results"
                raise ConflictError(f"dataset {dataset.name!r} {what}", advice="split one before its first run")


class SuiteReads(TransactionPart):
    """Reads suites."""

    def all(self) -> list[SuiteRecord]:
        """Return the suites by name, each with its datasets in their order."""
        table = schema.suite_datasets
        query = (
            sa.select(table.c.suite, schema.datasets.c.name, table.c.created_at_utc)
            .join_from(table, schema.datasets)
            .order_by(table.c.suite, table.c.place)
        )
        by_suite: dict[str, list[Any]] = {}
        for row in self._session.rows(query):
            by_suite.setdefault(row.suite, []).append(row)
        return [
            SuiteRecord(name, tuple(row.name for row in rows), rows[0].created_at_utc)
            for name, rows in by_suite.items()
        ]

    def known(self, name: str) -> SuiteRecord:
        """Return the suite of this name; ReferenceNotFoundError if there is none."""
        suites = self.all()
        named = next((suite for suite in suites if suite.name == name), None)
        if named is None:
            names = ", ".join(repr(suite.name) for suite in suites)
            raise ReferenceNotFoundError(
                f"there is no suite {name!r}; there is {names}" if suites else "there is no suite yet",
                advice="create one with: ndcg-track suite create NAME DATASET...",
            )
        return named


class SuiteWrites(SuiteReads):
    """Writes suites."""

    def create(self, name: str, datasets: Sequence[str], *, replace: bool) -> SuiteRecord:
        """Create a suite of datasets (ConflictError if its name has other datasets, unless ``replace``)."""
        checked_name("suite", name)
        existing = {suite.name: suite for suite in self.all()}.get(name)
        if existing is not None:
            if existing.datasets == tuple(datasets):
                return existing
            if not replace:
                raise ConflictError(
                    f"suite {name!r} has other datasets: {', '.join(existing.datasets)}",
                    advice=f"give {argument('replace', True)} to use these instead",
                )
            self.delete(name)
        ids = [DatasetReads(self._session).known(dataset).id for dataset in datasets]
        table, now = schema.suite_datasets, utc_now()
        rows = [
            {"suite": name, "dataset_id": dataset_id, "place": place, "created_at_utc": now}
            for place, dataset_id in enumerate(ids)
        ]
        self._session.execute(table.insert(), rows)
        return SuiteRecord(name, tuple(datasets), now)

    def delete(self, name: str) -> SuiteRecord:
        """Delete a suite and return what it was (ReferenceNotFoundError if there is none); its datasets stay."""
        suite = self.known(name)
        table = schema.suite_datasets
        self._session.execute(table.delete().where(table.c.suite == name))
        return suite


class GroupReads(TransactionPart):
    """Reads the groups of datasets."""

    def all(self, dataset_id: int) -> tuple[Index, Keys]:
        """Return the ids, ascending, and keys of all groups of a dataset."""
        ids, keys = self._session.bulk.group_rows(dataset_id)
        named = np.flatnonzero(keys.lengths)
        return (ids, keys) if named.size == ids.size else (ids[named], keys.take(named))

    def containing(self, dataset_id: int, text: str, n: int) -> list[tuple[int, str]]:
        """Return ids and keys of at most ``n`` groups whose key, or whose own text, contains a text, in id order.

        Case does not matter for the letters that the engine folds: ASCII on SQLite.
        """
        table = schema.groups
        query = sa.select(table.c.id, table.c.key).where(table.c.dataset_id == dataset_id, table.c.key != _OTHERS)
        if text:
            texts, words = schema.texts, sa.func.lower(_escaped(text))
            told = sa.select(texts.c.group_id).where(
                texts.c.dataset_id == dataset_id,
                texts.c.item_key == "",
                sa.func.lower(sa.func.coalesce(texts.c.text, texts.c.title)).contains(words, escape="\\"),
            )
            query = query.where(
                sa.func.lower(table.c.key).contains(words, escape="\\") | table.c.id.in_(told.scalar_subquery())
            )
        rows = self._session.rows(query.order_by(table.c.id).limit(n))
        return [(row.id, row.key) for row in rows]

    def keys(self, dataset_id: int, ids: Index) -> Keys:
        """Return the keys of groups of a dataset, in the order of ``ids`` (ReferenceNotFoundError for a wrong id)."""
        if ids.size <= FEW:
            group_keys = self._session.bulk.group_keys(dataset_id, ids.tolist())
            keys = [key for key in group_keys if key is not None]
            if len(keys) == len(group_keys):
                return Keys.from_bytes(keys)
            raise ReferenceNotFoundError(f"no group with id {ids[group_keys.index(None)]} in dataset {dataset_id}")
        try:
            return self._all_known(dataset_id).keys_of(ids)
        except KeyError as unknown:
            raise ReferenceNotFoundError(f"no group with id {unknown.args[0]} in dataset {dataset_id}") from None

    def ids(self, dataset_id: int, keys: Keys) -> Index:
        """Return the id of each group, -1 for a group that the dataset does not have: int64, shape (n,)."""
        if len(keys) <= FEW and dataset_id not in self._session.known_groups:
            return np.array(self._session.bulk.group_ids(dataset_id, keys.to_bytes_list()), dtype=np.int64)
        return self._all_known(dataset_id).ids_of(keys)

    def _all_known(self, dataset_id: int) -> KnownGroups:
        """Return all groups of a dataset; they are read once."""
        if dataset_id not in self._session.known_groups:
            self._session.known_groups[dataset_id] = KnownGroups(*self._session.bulk.group_rows(dataset_id))
        return self._session.known_groups[dataset_id]

    def weights(self, dataset_id: int) -> GroupWeightsById:
        """Return the weights of the groups of a dataset."""
        table, datasets = schema.groups, schema.datasets
        others = sa.and_(table.c.dataset_id == datasets.c.id, table.c.key == _OTHERS)
        query = sa.select(datasets.c.name, table.c.id, table.c.weight).join_from(datasets, table, others, isouter=True)
        row = self._session.rows(query.where(datasets.c.id == dataset_id))[0]
        ids, weights = self._session.bulk.group_weights(dataset_id)
        own = ids != (row.id or 0)
        return GroupWeightsById(ids[own], weights[own], Unweighted(row.name, row.weight))

    def attributes(self, dataset_id: int) -> dict[int, dict[str, Any]]:
        """Return the attributes of the groups that have some, by group id."""
        table = schema.groups
        chosen = (table.c.dataset_id == dataset_id, table.c.attributes.is_not(None))
        query = sa.select(table.c.id, table.c.attributes).where(*chosen).order_by(table.c.id)
        return {row.id: row.attributes for row in self._session.rows(query)}

    def attribute_rows(self, dataset_id: int) -> tuple[Index, list[dict[str, Any]]]:
        """Return the ids of the groups that have attributes, and these as ``attributes``, but with unsorted keys."""
        table = schema.groups
        chosen = (table.c.dataset_id == dataset_id, table.c.attributes.is_not(None))
        query = sa.select(table.c.id, sa.cast(table.c.attributes, sa.Text)).where(*chosen).order_by(table.c.id)
        found = self._session.connection.execute(query).all()
        try:
            rows = json.loads(f"[{','.join(text for _, text in found)}]", parse_int=exact)
        except (ValueError, RecursionError):
            rows = None
        if rows is None or len(rows) != len(found) or not all(isinstance(row, dict) for row in rows):
            stored = self.attributes(dataset_id)  # which names what is damaged
            return np.array([*stored], dtype=np.int64), [*stored.values()]
        return np.array([group_id for group_id, _ in found], dtype=np.int64), rows

    def keyed(self, lists: Lists, dataset_id: int | None = None) -> tuple[Keys, Index, Keys, Floats]:
        """Return lists with the keys of their groups instead of the ids; ``dataset_id``: of the groups, if known."""
        if not lists.group_ids.size:
            return Keys.from_bytes([]), lists.offsets, lists.item_keys, lists.numbers
        if dataset_id is None:
            query = sa.select(schema.groups.c.dataset_id).where(schema.groups.c.id == int(lists.group_ids[0]))
            dataset_id = self._session.connection.execute(query).scalar()
        if dataset_id is None:
            raise ReferenceNotFoundError(f"no group with id {lists.group_ids[0]}")
        return self.keys(dataset_id, lists.group_ids), lists.offsets, lists.item_keys, lists.numbers


class GroupWrites(GroupReads):
    """Writes the groups of datasets."""

    def ensure(self, dataset_id: int, keys: Keys) -> Index:
        """Return the ids of groups, in the order of ``keys``; missing groups are created: int64, shape (n,).

        Raises: InputError for an id that no database can store (a NUL, or too long).
        """
        check_group_keys(keys)
        ids = self.ids(dataset_id, keys)
        missing = np.flatnonzero(ids < 0)
        if missing.size and self._session.keep_creators_out():
            self._session.known_groups.pop(dataset_id, None)  # another writer may have created some
            ids = self.ids(dataset_id, keys)
            missing = np.flatnonzero(ids < 0)
        if not missing.size:
            return ids
        ids = ids.copy()
        ids[missing] = self._new_groups(dataset_id, keys if missing.size == len(keys) else keys.take(missing))
        return ids

    def lists(self, dataset_id: int, items: GroupedItems, number: str) -> Lists:
        """Return lists as they are stored, and create missing groups; ``number``: the kind of their numbers.

        Raises: InputError for content that no database can store.
        """
        if not np.isfinite(items.numbers).all():
            raise InputError(f"a {number} is not a finite number; only finite numbers are stored")
        if has_nul(items.item_keys):
            raise InputError("an item id contains a NUL character, which no database can store", advice="remove it")
        return Lists(self.ensure(dataset_id, items.group_keys), items.offsets, items.item_keys, items.numbers)

    def _new_groups(self, dataset_id: int, keys: Keys) -> Index:
        """Insert groups, each once even if given several times, and return their ids."""
        last_id = self._session.execute(sa.select(sa.func.coalesce(sa.func.max(schema.groups.c.id), 0))).scalar_one()
        ids = np.arange(last_id + 1, last_id + 1 + len(keys))
        new_ids, new_keys = ids, keys
        hashes = np.sort(keys.hashes())
        if (hashes[1:] == hashes[:-1]).any():
            id_of: dict[bytes, int] = {}
            places = [id_of.setdefault(key, len(id_of)) for key in keys.to_bytes_list()]
            ids, new_ids, new_keys = ids[places], ids[: len(id_of)], Keys.from_bytes(list(id_of))
        self._session.bulk.insert_groups(dataset_id, new_ids, new_keys)
        if dataset_id in self._session.known_groups:
            self._session.known_groups[dataset_id].add(new_ids, new_keys)
        return ids

    def delete(self, dataset_id: int, ids: Index) -> None:
        """Delete groups of a dataset that no run has; their labels and texts must be gone."""
        table = schema.groups
        for first in range(0, ids.size, FEW):
            some = ids[first : first + FEW].tolist()
            self._session.execute(table.delete().where(table.c.dataset_id == dataset_id, table.c.id.in_(some)))
        self._session.look_again()

    def set_weights(self, dataset_id: int, ids: Index, weights: Floats) -> None:
        """Give groups of a dataset weights (finite, >= 0); NaN removes the weight."""
        if np.isinf(weights).any() or (weights < 0).any():
            raise InputError("a group weight is negative or infinite; weights are finite and at least 0")
        self.keys(dataset_id, ids)
        self._session.bulk.set_group_weights(ids, weights)

    def set_default_weight(self, dataset_id: int, weight: float) -> None:
        """Give the groups of a dataset that have no weight this one, also those that come later."""
        self.set_weights(dataset_id, self.ensure(dataset_id, Keys.from_strings([_OTHERS])), np.array([weight]))

    def set_attributes(self, dataset_id: int, attributes: Mapping[int, Mapping[str, Any] | None]) -> None:
        """Replace the attributes of groups of a dataset, by id; None removes them."""
        self.keys(dataset_id, np.array(list(attributes), dtype=np.int64))
        table = schema.groups
        statement = table.update().where(table.c.id == sa.bindparam("group"))
        statement = statement.values(attributes=sa.bindparam("new", type_=table.c.attributes.type))
        rows = [{"group": key, "new": checked_object("attributes", given)} for key, given in attributes.items()]
        if rows:
            self._session.execute(statement, rows)


class TextReads(TransactionPart):
    """Reads the texts of groups and items."""

    def all(self, dataset_id: int, group_id: int | None = None) -> list[TextRecord]:
        """Return the texts of a dataset, or of only one of its groups, by group and item."""
        query = self._query(dataset_id)
        return self._records(query if group_id is None else query.where(schema.texts.c.group_id == group_id))

    def of_groups(self, dataset_id: int, group_ids: Sequence[int]) -> list[TextRecord]:
        """Return the texts of some groups themselves."""
        return self._in_parts(dataset_id, schema.texts.c.group_id, group_ids, schema.texts.c.item_key == "")

    def of_pairs(self, dataset_id: int, group_ids: Sequence[int]) -> list[TextRecord]:
        """Return the texts of items in some groups."""
        return self._in_parts(dataset_id, schema.texts.c.group_id, group_ids, schema.texts.c.item_key != "")

    def of_items(self, dataset_id: int, item_keys: Sequence[str]) -> list[TextRecord]:
        """Return the texts that hold for some items in every group."""
        return self._in_parts(dataset_id, schema.texts.c.item_key, item_keys, schema.texts.c.group_id == 0)

    def any(self, dataset_id: int) -> bool:
        """Return whether a dataset has texts."""
        table = schema.texts
        query = sa.select(table.c.dataset_id).where(table.c.dataset_id == dataset_id).limit(1)
        return bool(self._session.rows(query))

    def _query(self, dataset_id: int) -> Select[Any]:
        of = schema.texts.c
        query = sa.select(of.group_id, of.item_key, of.text, of.title, of.url).where(of.dataset_id == dataset_id)
        return query.order_by(of.group_id, of.item_key)

    def _records(self, query: Select[Any]) -> list[TextRecord]:
        return self._session.records(TextRecord, query)

    def _in_parts(
        self, dataset_id: int, column: sa.Column[Any], values: Sequence[Any], condition: sa.ColumnElement[bool]
    ) -> list[TextRecord]:
        """Return the texts with one of these values in a column, in batches of as many values as a statement takes."""
        query = self._query(dataset_id).where(condition)
        parts = (values[first : first + FEW] for first in range(0, len(values), FEW))
        return [record for part in parts for record in self._records(query.where(column.in_(part)))]


class TextWrites(TransactionPart):
    """Writes the texts of groups and items."""

    def set(self, dataset_id: int, texts: Sequence[TextRecord], columns: Sequence[str]) -> None:
        """Set texts of groups and items of a dataset; texts that the records do not name stay.

        Parameters: ``columns``: which of text, title and url to set; None removes one.
        """
        named = ", ".join(f"{name} = excluded.{name}" for name in columns)
        self._insert(dataset_id, texts, f"DO UPDATE SET {named}")
        table = schema.texts
        nothing = (table.c[name].is_(None) for name in _TEXT_COLUMNS)
        self._session.execute(table.delete().where(table.c.dataset_id == dataset_id, *nothing))

    def add(self, dataset_id: int, texts: Sequence[TextRecord]) -> None:
        """Store texts; groups and items that have some already keep theirs."""
        self._insert(dataset_id, texts, "DO NOTHING")

    def delete(self, dataset_id: int, group_id: int | None = None) -> int:
        """Delete the texts of a dataset, or of only one of its groups, and return how many there were."""
        table = schema.texts
        chosen = () if group_id is None else (table.c.group_id == group_id,)
        return self._session.execute(table.delete().where(table.c.dataset_id == dataset_id, *chosen)).rowcount

    def _insert(self, dataset_id: int, texts: Sequence[TextRecord], on_conflict: str) -> None:
        check_group_keys(Keys.from_strings(record.item_key for record in texts), "item")
        if any("\0" in (getattr(record, name) or "") for record in texts for name in _TEXT_COLUMNS):
            raise InputError("a text contains a NUL character, which no database can store", advice="remove it")
        names = ("dataset_id", "group_id", "item_key", *_TEXT_COLUMNS)
        values = ", ".join(f":{name}" for name in names)
        statement = sa.text(
            f"INSERT INTO texts ({', '.join(names)}) VALUES ({values}) "
            f"ON CONFLICT (dataset_id, group_id, item_key) {on_conflict}"
        )
        for first in range(0, len(texts), _TEXTS_AT_ONCE):
            some = texts[first : first + _TEXTS_AT_ONCE]
            rows = [{name: getattr(record, name) for name in names[1:]} | {"dataset_id": dataset_id} for record in some]
            self._session.execute(statement, rows)
        if texts:
            self._session.made.text_dataset_ids.add(dataset_id)


def _counted(table: sa.Table) -> Select[Any]:
    return sa.select(table.c.dataset_id, sa.func.count()).group_by(table.c.dataset_id)


def _escaped(text: str) -> str:
    """Return a text with the pattern characters of LIKE escaped."""
    return "".join(f"\\{sign}" if sign in "\\%_" else sign for sign in text)

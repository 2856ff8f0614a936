"""Read and write label sets with their labels, at once or block by block, and designs with the items that they drew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import sqlalchemy as sa

from ndcg_tracker.errors import ConflictError, argument
from ndcg_tracker.rankings import Index
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import Details, LabelDetail, LabelLists, SameItems
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.bulk.protocol import (
    LABEL_LISTS,
)
from ndcg_tracker.storage.checks import (
    checked_name,
    checked_time,
    utc_now,
)
from ndcg_tracker.storage.datasets import GroupReads, GroupWrites
from ndcg_tracker.storage.records import (
    UNKNOWN_ORIGIN,
    WITHOUT_ANSWER,
    DesignRecord,
    DesignRunRecord,
    DrawnItemRecord,
    LabelOrigin,
    LabelSetRecord,
)
from ndcg_tracker.storage.session import TransactionPart

_RECORDED = [column for column in schema.label_sets.c if column.name != "same_items"]  # which may be large


class LabelReads(TransactionPart):
    """Reads label sets and their labels."""

    def sets(self, dataset_id: int, judge: str | None = "") -> list[LabelSetRecord]:
        """Return the label sets of a judge of a dataset, by version; ``judge``: None for all judges."""
        table = schema.label_sets
        query = sa.select(*_RECORDED).where(table.c.dataset_id == dataset_id).order_by(table.c.version)
        every = self._session.once(("label sets", dataset_id), partial(self._session.records, LabelSetRecord, query))
        self._session.dataset_of.update((("labels", label_set.id), dataset_id) for label_set in every)
        return [label_set for label_set in every if judge is None or label_set.judge == judge]

    def newest(self, dataset_id: int, judge: str | None = "") -> LabelSetRecord | None:
        """Return the label set with the highest version, None if there are no labels (see ``sets``)."""
        sets = self.sets(dataset_id, judge)
        return sets[-1] if sets else None

    def lists(self, label_set_id: int, group_ids: Index | None = None) -> LabelLists:
        """Return the labels of a label set, of some groups or all, groups by ascending id."""
        lists = self._session.bulk.lists(LABEL_LISTS, label_set_id, group_ids)
        keyed = GroupReads(self._session).keyed(lists, self._session.dataset_of.get(("labels", label_set_id)))
        return LabelLists(*keyed, same_items=self.same_items(label_set_id))

    def same_items(self, label_set_id: int) -> SameItems | None:
        """Return which ids are one item under a label set, None if each is an item of its own."""
        query = sa.select(schema.label_sets.c.same_items).where(schema.label_sets.c.id == label_set_id)

        def read() -> SameItems | None:
            return SameItems.of_json(self._session.connection.execute(query).scalar())

        return self._session.once(("same items", label_set_id), read)

    def details(self, label_set: LabelSetRecord, group_keys: Iterable[str] | None = None) -> Details:
        """Return what is known of labels besides their grades, of some groups or all, by group and item.

        A version has the details that it brought, and those of the versions that it extends.
        """
        chain = self.extended(label_set)
        table, groups = schema.label_reasons, schema.groups
        query = sa.select(table, groups.c.key).join(groups).where(table.c.label_set_id.in_(chain))
        if group_keys is not None:
            ids = GroupReads(self._session).ids(label_set.dataset_id, Keys.from_strings(dict.fromkeys(group_keys)))
            query = query.where(table.c.group_id.in_(ids.tolist()))
        same, places = self.same_items(next(iter(chain))), [*chain]
        rows = sorted(self._session.rows(query), key=lambda row: places.index(row.label_set_id))
        items = Keys.from_strings(row.item_key for row in rows)
        found: dict[tuple[str, str], LabelDetail] = {}
        for row, item in zip(rows, (items if same is None else same.named(items)).to_list(), strict=True):
            of = chain[row.label_set_id]
            detail = LabelDetail(
                row.reason or "", row.n_given, row.std_dev, of.hand, of.told("model"), of.told("prompt")
            )
            found.setdefault((row.key, item), detail)
        return found

    def extended(self, label_set: LabelSetRecord) -> dict[int, LabelSetRecord]:
        """Return a label set and those that it extends, the oldest last, by id."""
        sets = {of.version: of for of in self.sets(label_set.dataset_id, None)}
        chain = {label_set.id: label_set}
        while (before := sets.get(label_set.extends or 0)) is not None and before.id not in chain:
            chain[before.id] = label_set = before
        return chain

    def detailed(self, label_set: LabelSetRecord) -> LabelLists:
        """Return the labels of a label set, with their details."""
        return replace(self.lists(label_set.id), details=self.details(label_set))

    def has_judged_zero(self, label_set_id: int) -> bool:
        """Return whether any label says that an item is not relevant: grade 0 or below.

        With 700,000 positive labels it takes 0.09 s; the first other label ends it.
        """
        return self._session.bulk.has_grade_up_to(label_set_id, 0.0)

    def group_ids(self, label_set_id: int) -> Index:
        """Return the ids, ascending, of the groups that a label set has labels for."""
        return self._session.bulk.list_group_ids(LABEL_LISTS, label_set_id)


class LabelWrites(LabelReads):
    """Writes label sets, at once or block by block."""

    def insert(
        self,
        dataset_id: int,
        labels: LabelLists,
        origin: LabelOrigin = UNKNOWN_ORIGIN,
    ) -> LabelSetRecord:
        """Store labels as the next version of a dataset's labels and return its record."""
        label_set_id = self.begin(dataset_id, origin, labels.same_items, by_row_number=labels.by_row_number)
        self.append(label_set_id, dataset_id, labels)
        return self.finish(label_set_id, labels.digest(), labels.n_groups, labels.n_items)

    def begin(
        self,
        dataset_id: int,
        origin: LabelOrigin = UNKNOWN_ORIGIN,
        same_items: SameItems | None = None,
        *,
        by_row_number: bool | None = False,
    ) -> int:
        """Create the next version of a dataset's labels, still empty, and return the id of the label set."""
        self._session.keep_creators_out()
        newest = self.newest(dataset_id, None)
        values: dict[str, Any] = {
            "dataset_id": dataset_id,
            "version": 1 if newest is None else newest.version + 1,
            "digest": "",
            "n_groups": 0,
            "n_labels": 0,
            "source": origin.source,
            "by_row_number": by_row_number,
            "judge": origin.judge and checked_name("judge", origin.judge),
            "extends": origin.extends,
            "added_by": origin.added_by and checked_name("judge", origin.added_by),
            "from_runs": origin.from_runs,
            "same_items": None if same_items is None else same_items.as_json(),
            "created_at_utc": checked_time(origin.created_at_utc),
        }
        label_set_id = self._session.insert(schema.label_sets, values)
        self._session.made.label_sets[label_set_id] = ""
        return label_set_id

    def append(self, label_set_id: int, dataset_id: int, labels: LabelLists) -> None:
        """Add the labels of groups that an unfinished label set does not have yet."""
        lists = GroupWrites(self._session).lists(dataset_id, labels, "grade")
        self._session.bulk.insert_lists(LABEL_LISTS, label_set_id, lists)

    def append_from(self, label_set_id: int, other_id: int) -> None:
        """Copy from another label set the labels of the groups that an unfinished one lacks."""
        table = schema.label_lists
        own = sa.select(table.c.group_id).where(table.c.label_set_id == label_set_id)
        others = sa.select(sa.literal(label_set_id), table.c.group_id, table.c.item_keys, table.c.grades).where(
            table.c.label_set_id == other_id, table.c.group_id.not_in(own)
        )
        names = ["label_set_id", "group_id", "item_keys", "grades"]
        self._session.execute(table.insert().from_select(names, others))

    def finish(self, label_set_id: int, digest: str, n_groups: int, n_labels: int) -> LabelSetRecord:
        """Finish a label set: store its counts and digest, and return its record."""
        table = schema.label_sets
        values = {"digest": digest, "n_groups": n_groups, "n_labels": n_labels}
        self._session.execute(table.update().where(table.c.id == label_set_id).values(values))
        self._session.made.label_sets[label_set_id] = digest
        return self._session.records(LabelSetRecord, sa.select(*_RECORDED).where(table.c.id == label_set_id))[0]

    def tell_origin(self, label_set: LabelSetRecord, origin: LabelOrigin) -> LabelSetRecord:
        """Store facts about who gave a version that were unknown until now, and return its record.

        Raises: ConflictError if a stored fact differs.
        """
        stored, given = label_set.from_runs or {}, origin.from_runs or {}
        differs = [name for name in given if name != WITHOUT_ANSWER and stored.get(name, given[name]) != given[name]]
        differs += ["added_by"] if None not in (own := {label_set.added_by, origin.added_by}) and len(own) > 1 else []
        if differs:
            named = "from_runs" if differs[0] == "runs" else differs[0]
            raise ConflictError(
                f"these labels are stored as version {label_set.version}, with a different {argument(named)}",
                advice="see it with: ndcg-track labels list",
            )
        new: dict[str, Any] = {"added_by": origin.added_by} if label_set.added_by != origin.added_by is not None else {}
        new |= {"from_runs": {**stored, **given}} if {**stored, **given} != stored else {}
        if not new:
            return label_set
        table = schema.label_sets
        self._session.execute(table.update().where(table.c.id == label_set.id).values(new))
        return replace(label_set, **new)

    def tell_details(self, label_set: LabelSetRecord, details: Details) -> tuple[int, int]:
        """Store details of labels that a version brings; what it or one that it extends has of a label stays as it is.

        Returns: how many of the new ones have a reason, and of how many labels others are stored.
        """
        if not details:
            return 0, 0
        table = schema.label_reasons
        rows = self._session.rows(sa.select(table).where(table.c.label_set_id.in_(self.extended(label_set))))
        stored: dict[tuple[Any, ...], Any] = {tuple(row[1:3]): tuple(row[1:]) for row in rows}
        keys = Keys.from_strings(group for group, _ in details)
        ids = GroupWrites(self._session).ensure(label_set.dataset_id, keys).tolist()
        given = [
            (label_set.id, group_id, item, detail.reason or None, detail.n_given, detail.std_dev)
            for group_id, ((_, item), detail) in zip(ids, details.items(), strict=True)
        ]
        new = [dict(zip(table.c.keys(), row, strict=True)) for row in given if row[1:3] not in stored]
        if new:
            self._session.execute(table.insert(), new)
        return sum(row["reason"] is not None for row in new), sum(
            row[1:3] in stored and stored[row[1:3]] != row[1:] for row in given
        )

    def discard(self, label_set_id: int) -> None:
        """Discard an unfinished label set."""
        for owner in (schema.label_reasons.c.label_set_id, schema.label_lists.c.label_set_id, schema.label_sets.c.id):
            self._session.execute(owner.table.delete().where(owner == label_set_id))
        self._session.made.label_sets.pop(label_set_id, None)


Pair = tuple[int, str]
"""The id of a group, and an item."""


class DesignReads(TransactionPart):
    """Reads designs and the items that they ask about."""

    def all(self, dataset_id: int) -> list[DesignRecord]:
        """Return the designs of a dataset by number."""
        table, of_designs = schema.designs, schema.design_runs
        here = table.c.dataset_id == dataset_id
        labelled = sa.select(table, schema.label_sets.c.judge).join_from(table, schema.label_sets)
        rows = self._session.rows(labelled.where(here).order_by(table.c.number))
        if not rows:
            return []
        query = sa.select(of_designs).join_from(of_designs, table).where(here)
        query = query.order_by(of_designs.c.design_id, of_designs.c.place)
        runs: dict[int, tuple[DesignRunRecord, ...]] = {}
        for row in self._session.rows(query):
            runs[row.design_id] = (*runs.get(row.design_id, ()), DesignRunRecord(row.run_id, row.run))
        return [DesignRecord(**row._mapping, runs=runs[row.id]) for row in rows]

    def items(self, design_id: int) -> list[DrawnItemRecord]:
        """Return the items that a design drew, by group and item; not those that an older version kept apart."""
        table = schema.drawn_items
        columns = (column for column in table.c if column.name != "design_id")
        query = sa.select(*columns).where(table.c.design_id == design_id, table.c.probability.is_not(None))
        return self._session.records(DrawnItemRecord, query.order_by(table.c.group_id, table.c.item_key))


class DesignWrites(DesignReads):
    """Writes designs, the items that they ask about, and people's answers."""

    def insert(self, design: DesignRecord) -> DesignRecord:
        """Store a design as the next of its dataset, and return it with its id and its number."""
        self._session.keep_creators_out()
        stored = self.all(design.dataset_id)
        design = replace(design, number=stored[-1].number + 1 if stored else 1)
        names = (column.name for column in schema.designs.c if column.name != "id")
        design = replace(
            design, id=self._session.insert(schema.designs, {name: getattr(design, name) for name in names})
        )
        runs = [
            {"design_id": design.id, "place": place, "run_id": of.run_id, "run": of.run}
            for place, of in enumerate(design.runs)
        ]
        self._session.execute(schema.design_runs.insert(), runs)
        return design

    def ask(self, design: DesignRecord, pairs: Sequence[Pair], budget: int) -> None:
        """Store further items that a design asks about, and how many there may be in all."""
        table = schema.designs
        values = {"budget": budget, "planned_budget": budget}
        self._session.execute(table.update().where(table.c.id == design.id).values(values))
        known = {(item.group_id, item.item_key) for item in self.items(design.id)}
        new = [
            {"design_id": design.id, "group_id": group_id, "item_key": key, "probability": 1.0}
            for group_id, key in pairs
            if (group_id, key) not in known
        ]
        if new:
            self._session.execute(schema.drawn_items.insert(), new)

    def answer(self, design: DesignRecord, judge: str, grades: Sequence[tuple[Pair, float]]) -> None:
        """Store people's grades for items of a design, each with the latest run before it.

        The design gets the latest run and label set before its first answer.
        """
        table, items, now = schema.designs, schema.drawn_items, utc_now()
        run_id, label_set_id = (
            int(self._session.connection.execute(sa.select(sa.func.max(of.c.id))).scalar() or 0)
            for of in (schema.runs, schema.label_sets)
        )
        if design.answered_after_run_id is None:
            first = {"answered_after_run_id": run_id, "answered_after_label_set_id": label_set_id}
            named = {"checked_by": judge and checked_name("judge", judge)}
            self._session.execute(table.update().where(table.c.id == design.id).values(named | first))
        answered = (items.c.design_id == design.id) & (items.c.group_id == sa.bindparam("of_group"))
        update = items.update().where(answered & (items.c.item_key == sa.bindparam("of_item")))
        rows = [{"of_group": group_id, "of_item": key, "answered": grade} for (group_id, key), grade in grades]
        values = {"grade": sa.bindparam("answered"), "answered_at_utc": now, "answered_after_run_id": run_id}
        if rows:
            self._session.execute(update.values(values), rows)

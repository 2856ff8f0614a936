"""Read and write rows of any table as they are, for copies of a database; the schema says which tables and columns."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage import schema
from ndcg_tracker.storage.column_types import JsonText
from ndcg_tracker.storage.session import TransactionPart

Row = dict[str, Any]
_WIDE = ("label_lists", "ranked_lists", "group_results")
_PACKED = ("packed_group_ids", "packed_values")
COLUMNS = {
    name: {column.name: column for column in table.c if table is not schema.evaluations or column.name not in _PACKED}
    for name, table in schema.metadata.tables.items()
    if name not in _WIDE
}
"""The columns of all tables that are copied row by row, in an order in which no row refers to a later table.

Lists of items and labels, and group results, are copied by the owner; their packed copies are made again."""
OF_RUNS = ("datasets", "groups", "label_sets", "label_reasons", "runs", "metrics", "evaluations", "coverages")
"""The tables that belong to runs, which an export of named runs has as well."""
BESIDE_RUNS = ("designs", "decisions", "alias_moves", "suite_datasets", "texts")
"""Tables that an export of named runs leaves out, and says so."""
_OWNERS = {"datasets": "dataset_id", "label_sets": "label_set_id", "runs": "run_id"}
_ROWS_AT_ONCE = 10_000


def kind_of(column: sa.Column[Any]) -> type[Any]:
    """Return the type of the values of a column."""
    return dict if isinstance(column.type, JsonText) else column.type.python_type


class Conditions:
    """SQL conditions of single rows: the checks of the schema, and ``further`` ones with words by table.

    SQLite evaluates them in memory, so that a row is known before a database refuses it, and found after an edit.
    """

    def __init__(self, further: Mapping[str, Mapping[str, str]]) -> None:
        self._memory = sqlite3.connect(":memory:")
        self._of: dict[str, tuple[str, list[str]]] = {}
        for name, columns in COLUMNS.items():
            checks = [one for one in schema.metadata.tables[name].constraints if isinstance(one, sa.CheckConstraint)]
            told = dict(further.get(name, {})) | {str(one.sqltext): f"breaks the rule: {one.sqltext}" for one in checks}
            cases = "".join(f" WHEN NOT ({condition}) THEN {place}" for place, condition in enumerate(told))
            row = ", ".join(f":{column} AS {column}" for column in columns)
            self._of[name] = f"SELECT CASE{cases} END FROM (SELECT {row})" if told else "", list(told.values())

    def broken(self, name: str, row: Row) -> str | None:
        """Return in words what a row does that no row may do, None if it keeps all conditions."""
        query, told = self._of[name]
        values = {column: json.dumps(of) if isinstance(of, dict) else of for column, of in row.items()}
        place = self._memory.execute(query, values).fetchone()[0] if query else None
        return None if place is None else told[place]


class CopyReads(TransactionPart):
    """Reads rows of any table."""

    def rows(self, name: str, chosen: Mapping[str, Collection[int]] | None = None) -> Iterator[list[Row]]:
        """Yield the rows of a table in blocks, by primary key; ``chosen``: which datasets, runs and label sets."""
        table, columns = schema.metadata.tables[name], COLUMNS[name].values()
        query = sa.select(*columns).order_by(*table.primary_key)
        for column in columns:
            owner = _OWNERS.get(name) if column.name == "id" else column.name
            if owner in (chosen or {}):
                query = query.where(column.in_(sorted((chosen or {})[str(owner)])))
        result = self._session.connection.execute(query)
        names = tuple(result.keys())
        while block := result.fetchmany(_ROWS_AT_ONCE):
            yield [dict(zip(names, row, strict=True)) for row in block]

    def is_empty(self) -> bool:
        """Return whether the database has no dataset."""
        return not self._session.rows(sa.select(schema.datasets.c.id).limit(1))

    def n_beside_runs(self, dataset_ids: Collection[int]) -> dict[str, int]:
        """Return how many rows datasets have in the tables that do not belong to runs, and how many answers."""
        found = {}
        for name in BESIDE_RUNS:
            table = schema.metadata.tables[name]
            query = sa.select(sa.func.count()).where(table.c.dataset_id.in_(sorted(dataset_ids)))
            found[name] = int(self._session.rows(query)[0][0])
        designs, items = schema.designs, schema.drawn_items
        query = sa.select(sa.func.count(items.c.grade)).select_from(items.join(designs))
        found["answers"] = int(self._session.rows(query.where(designs.c.dataset_id.in_(sorted(dataset_ids))))[0][0])
        return found


class CopyWrites(TransactionPart):
    """Writes rows of any table."""

    def insert(self, name: str, rows: Sequence[Row]) -> None:
        """Insert rows of a table with all their columns. Raises: InputError if the database refuses some."""
        with self._inserting(name, rows):
            self._session.execute(schema.metadata.tables[name].insert(), rows)

    def add(self, name: str, row: Row) -> None:
        """Insert a row, and set its ``id`` to its number here. Raises: InputError if the database refuses it."""
        values = {column: value for column, value in row.items() if column != "id"}
        with self._inserting(name, [row]):
            row["id"] = self._session.insert(schema.metadata.tables[name], values)

    @contextmanager
    def _inserting(self, name: str, rows: Sequence[Row]) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise InputError(f"has a row that the database refuses ({' '.join(str(error.orig).split())})") from None
        for row in rows if name in ("runs", "label_sets") else ():
            getattr(self._session.made, name)[row["id"]] = row["digest"]

    def delete_dataset(self, dataset_id: int) -> None:
        """Delete a dataset with all its rows; the decisions that stay are numbered without a gap."""
        owners = {"evaluation_id": schema.evaluations, "run_id": schema.runs, "label_set_id": schema.label_sets}
        tables = schema.metadata.sorted_tables[::-1]
        for table in (table for table in tables if "dataset_id" not in table.c):
            for column, owner in owners.items():
                if column in table.c:
                    owned = sa.select(owner.c.id).where(owner.c.dataset_id == dataset_id)
                    self._session.execute(table.delete().where(table.c[column].in_(owned)))
        for table in (table for table in tables if "dataset_id" in table.c):
            self._session.execute(table.delete().where(table.c.dataset_id == dataset_id))
        self._session.execute(schema.datasets.delete().where(schema.datasets.c.id == dataset_id))
        if not self._session.is_sqlite:
            return  # where numbers have gaps anyway
        decisions, resets = schema.decisions, schema.budget_resets
        ids = [row.id for row in self._session.rows(sa.select(decisions.c.id).order_by(decisions.c.id))]
        for reset in self._session.rows(sa.select(resets.c.id, resets.c.after_decision_id)):
            covered = sum(decision_id <= reset.after_decision_id for decision_id in ids)
            self._session.execute(resets.update().where(resets.c.id == reset.id), {"after_decision_id": covered})
        for number, decision_id in enumerate(ids, 1):
            self._session.execute(decisions.update().where(decisions.c.id == decision_id), {"id": number})
        self._session.execute(sa.text(f"UPDATE sqlite_sequence SET seq = {len(ids)} WHERE name = 'decisions'"))

    def count_on(self, used: Mapping[str, int]) -> None:
        """Let new rows get ids above those of the copied rows, and above ``used``, by table."""
        for name, columns in COLUMNS.items():
            if "id" not in columns or columns["id"].identity is None:
                continue
            last = max(used.get(name, 0), self._session.execute(sa.select(sa.func.max(columns["id"]))).scalar() or 0)
            if not self._session.is_sqlite:
                sequence = f"pg_get_serial_sequence('{name}', 'id')"
                self._session.execute(sa.text(f"SELECT setval({sequence}, {max(last, 1)}, {last > 0})"))
            elif name == "runs" and last:
                self._session.execute(sa.text(f"UPDATE sqlite_sequence SET seq = {last} WHERE name = 'runs'"))

"""Check references without a foreign key, set by set, and record what a transaction has created."""

from __future__ import annotations

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.storage.bulk.protocol import Bulk
from ndcg_tracker.storage.column_types import JsonText
from ndcg_tracker.storage.schema import (
    evaluations,
    metadata,
)
from ndcg_tracker.storage.session import Written
from ndcg_tracker.storage.views import VIEWS

_NAMES = {
    "sqlite": "SELECT type, name FROM sqlite_master",
    "postgresql": """
        WITH ours AS (SELECT oid, relkind, relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace)
        SELECT CASE relkind WHEN 'r' THEN 'table' WHEN 'v' THEN 'view' ELSE 'index' END, relname
        FROM ours WHERE relkind IN ('r', 'v', 'i')
        UNION ALL SELECT 'trigger', tgname FROM pg_trigger JOIN ours ON ours.oid = tgrelid WHERE NOT tgisinternal
        UNION ALL SELECT 'rule', rulename FROM pg_rewrite JOIN ours ON ours.oid = ev_class WHERE relkind = 'r'
    """,
}
_STRAYS = "LEFT JOIN groups g ON g.id = t.group_id AND g.dataset_id = o.dataset_id WHERE g.id IS NULL"
_REFERENCES = (
    ("runs that name another dataset", "o.id",
     "runs o JOIN datasets d ON d.id = o.dataset_id WHERE o.dataset <> d.name"),
    ("evaluations that name another run, metric or label set", "o.id",
     """evaluations o JOIN runs r ON r.id = o.run_id JOIN metrics m ON m.id = o.metric_id
     JOIN label_sets l ON l.id = o.label_set_id
     WHERE (o.run <> r.name OR o.dataset_id <> r.dataset_id OR o.dataset <> r.dataset OR o.metric <> m.text
     OR o.run_created_at_utc <> r.created_at_utc OR o.label_set_version <> l.version OR o.judge <> l.judge)"""),
    ("ranked lists without their owner or group", "t.run_id",
     f"ranked_lists t LEFT JOIN runs o ON o.id = t.run_id {_STRAYS}"),
    ("label lists without their owner or group", "t.label_set_id",
     f"label_lists t LEFT JOIN label_sets o ON o.id = t.label_set_id {_STRAYS}"),
    ("group results without their owner or group", "t.evaluation_id",
     f"""group_results t LEFT JOIN evaluations e ON e.id = t.evaluation_id LEFT JOIN runs o ON o.id = e.run_id
     {_STRAYS}"""),
    ("texts without their owner or group", "t.dataset_id",
     """texts t LEFT JOIN groups g ON g.id = t.group_id AND g.dataset_id = t.dataset_id
     WHERE g.id IS NULL AND t.group_id > 0"""),
    ("runs without all their lists", "o.id",
     """runs o LEFT JOIN prunings p ON p.run_id = o.id WHERE coalesce(p.kept_share, 0) = 0
     AND (SELECT count(*) FROM ranked_lists t WHERE t.run_id = o.id)
     <> CASE WHEN p.run_id IS NULL THEN o.n_groups ELSE 0 END"""),
    ("label sets without all their lists", "o.id",
     "label_sets o WHERE o.n_groups <> (SELECT count(*) FROM label_lists t WHERE t.label_set_id = o.id)"),
    ("evaluations without all their group results", "o.id",
     """evaluations o WHERE coalesce(length(o.packed_values), 0) / 8
     <> (SELECT count(*) FROM group_results t WHERE t.evaluation_id = o.id)"""),
    ("label sets after a version that is gone", None,
     "label_sets o WHERE o.version > (SELECT count(*) FROM label_sets l WHERE l.dataset_id = o.dataset_id)"),
    ("aliases that do not point where they were pointed last", None,
     """alias_moves o LEFT JOIN aliases a ON a.dataset_id = o.dataset_id AND a.name = o.alias
     WHERE o.run IS NOT NULL AND coalesce(a.run_id, 0) <> coalesce(o.run_id, 0)
     AND o.id IN (SELECT max(id) FROM alias_moves GROUP BY dataset_id, alias)"""),
)  # fmt: skip
"""Each possible damage, the id of its owner (None: a transaction cannot cause it), and the rows that have it."""
NUMBERED = ("decisions", "suite_decisions", "designs", "alias_moves")
"""The tables whose rows the program never deletes: on SQLite they are numbered from 1 without a gap."""


def broken_references(connection: Connection, made: Written | None = None) -> list[str]:
    """Return one sentence per kind of damage in the rows that a transaction has made (None: in all), none if intact.

    A list, group result or text is intact if its owner exists and its group is in the owner's dataset. A run and a
    label set must have as many lists as they record, a pruned run none, and an evaluation as many group results as it
    has packed.
    """
    damage = []
    for name, owner, rows in _REFERENCES:
        query = f"SELECT count(*) FROM {rows}"
        if made is not None:
            if owner is None or not (ids := made.ids(rows.partition(" ")[0])):
                continue
            query += f" AND {owner} IN ({', '.join(map(str, sorted(ids)))})"
        if n := connection.exec_driver_sql(query).scalar_one():
            damage.append(f"{n} {name}")
    return damage


def differing_values(connection: Connection, bulk: Bulk) -> list[str]:
    """Return one sentence if the packed values of some evaluations differ from the rows in any bit, else nothing."""
    n_broken = 0
    for (evaluation_id,) in connection.execute(sa.select(evaluations.c.id)).all():
        ids, values = bulk.results(evaluation_id)
        row_ids, (row_values,) = bulk.result_columns(evaluation_id, "value")
        same = np.array_equal(ids, row_ids) and np.array_equal(values.view(np.int64), row_values.view(np.int64))
        n_broken += not same
    return [f"{n_broken} evaluations whose packed values differ from their group results"] if n_broken else []


def malformed_objects(connection: Connection) -> list[str]:
    """Return one sentence per column in which some rows do not contain a JSON object."""
    damage = []
    for table in metadata.sorted_tables:
        for column in table.c:
            if not isinstance(column.type, JsonText):
                continue
            name = f"{table.name}.{column.name}"
            of_sqlite = f"CASE WHEN json_valid({name}) THEN json_type({name}) ELSE 'none' END"
            kind = of_sqlite if _is_sqlite(connection) else f"jsonb_typeof({name})"
            query = f"SELECT count(*) FROM {table.name} WHERE {name} IS NOT NULL AND {kind} <> 'object'"
            if n := connection.exec_driver_sql(query).scalar_one():
                damage.append(f"{n} {table.name} whose {column.name} are not a JSON object")
    return damage


def lost_records(connection: Connection) -> list[str]:
    """Return signs on SQLite that someone deleted records that the program never deletes.

    Such records have every number from 1 to the last one; on Postgres a transaction that was rolled back leaves a gap.
    """
    losses = []
    for name in NUMBERED if _is_sqlite(connection) else ():
        numbers = f"SELECT max(id) AS n FROM {name} UNION ALL SELECT seq FROM sqlite_sequence WHERE name = '{name}'"
        query = f"SELECT coalesce(max(n), 0), (SELECT count(*) FROM {name}) FROM ({numbers})"
        n_given, n_rows = connection.exec_driver_sql(query).one()
        losses += [f"{n_given - n_rows} of {n_given} {name} are gone"] if n_rows < n_given else []
    return losses


def _is_sqlite(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite"


def schema_damage(connection: Connection) -> list[str]:
    """Return one sentence per table, index or view that is missing, and per trigger or rule that acts by itself.

    Other programs may have tables, indexes and views of their own.
    """
    rows = connection.exec_driver_sql(_NAMES[connection.dialect.name])
    present = {f"{kind} {name}" for kind, name in rows}
    expected = {f"table {name}" for name in metadata.tables} | {f"view {name}" for name in VIEWS}
    expected |= {f"index {index.name}" for table in metadata.tables.values() for index in table.indexes}
    expected |= set() if _is_sqlite(connection) else {"trigger ndcg_tracker_pinned"}
    damage = [f"{name} is missing" for name in expected - present]
    damage += [f"{name} is not of this schema" for name in present - expected if name.startswith(("trigger ", "rule "))]
    for view, expected_columns in VIEWS.items():
        if f"view {view}" in present:
            columns = connection.exec_driver_sql(f"SELECT * FROM {view} LIMIT 0").keys()
            damage += [f"view {view} is not that of this schema"] if tuple(columns) != expected_columns else []
    return sorted(damage)


def engine_damage(connection: Connection) -> list[str]:
    """Return the damage that the engine finds: SQLite reads the complete file; Postgres has no such check."""
    if not _is_sqlite(connection):
        return []
    damage = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(10)") if row[0] != "ok"]
    strays = {str(row[0]) for row in connection.exec_driver_sql("PRAGMA foreign_key_check")}
    return damage + [f"{table}: rows that refer to nothing" for table in sorted(strays)]


def damage_in(connection: Connection, bulk: Bulk) -> list[str]:
    """Return one sentence per kind of damage in the database, none if it is intact."""
    whole = (engine_damage, schema_damage, broken_references, malformed_objects, lost_records)
    return [line for look in whole for line in look(connection)] or differing_values(connection, bulk)


def check_written(connection: Connection, made: Written) -> None:
    """Raise if the data of this transaction is incomplete, before it is committed."""
    broken = broken_references(connection, made)
    if broken:
        raise DatabaseError(f"refused to store {'; '.join(broken)}: nothing was stored", advice="please report this")

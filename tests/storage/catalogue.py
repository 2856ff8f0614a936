"""What an engine itself says of the tables, indexes, views and triggers that it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from ndcg_tracker.storage.schema import VERSION_TABLE

Catalogue = dict[str, object]
_SQLITE = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_s%'"
_OWN = "current_schema()::regnamespace"
_QUERIES = (
    """
    SELECT 'column ' || c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
           a.attidentity, a.attcollation::regcollation::text, pg_get_expr(d.adbin, d.adrelid),
           col_description(c.oid, a.attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
    WHERE c.relkind = 'r' AND relnamespace = {here}
    """,
    """
    SELECT 'constraint ' || c.relname || ': ' || k.conname, pg_get_constraintdef(k.oid)
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE relnamespace = {here}
    """,
    """
    SELECT 'index ' || c.relname, regexp_replace(pg_get_indexdef(c.oid), ' ON [^ ]+[.]', ' ON ')
    FROM pg_class c WHERE c.relkind = 'i' AND relnamespace = {here}
    """,
    """
    SELECT 'table ' || c.relname, obj_description(c.oid) FROM pg_class c WHERE c.relkind = 'r' AND relnamespace = {here}
    """,
    """
    SELECT 'view ' || c.relname, pg_get_viewdef(c.oid) FROM pg_class c WHERE c.relkind = 'v' AND relnamespace = {here}
    """,
    """
    SELECT 'trigger ' || t.tgname, pg_get_triggerdef(t.oid)
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND relnamespace = {here}
    """,
    """
    SELECT 'rule ' || r.rulename, pg_get_ruledef(r.oid)
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relkind = 'r' AND relnamespace = {here}
    """,
)


def catalogue(connection: Connection) -> Catalogue:
    """Return the engine's own description of every table, view and trigger, with one entry per object."""
    if connection.dialect.name == "sqlite":
        return _of_sqlite(connection.exec_driver_sql(_SQLITE).all())
    things: Catalogue = {}
    for query in _QUERIES:
        for name, *facts in connection.exec_driver_sql(query.format(here=_OWN)):
            if VERSION_TABLE not in name:
                things[name] = facts
    return things


def _of_sqlite(rows: Iterable[Sequence[Any]]) -> Catalogue:
    return {
        f"{kind} {name}": sorted(part.strip(" \t,)(") for part in re.split(r"\n|, (?=\w+ [A-Z]+)", sql or ""))
        for kind, name, sql in rows
        if VERSION_TABLE not in name
    }

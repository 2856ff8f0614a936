"""Compare an engine's own catalogue of tables, indexes, views and triggers with the one of the migrations."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from ndcg_tracker.storage.schema import VERSION_TABLE, metadata
from ndcg_tracker.storage.upkeep.handshake import snapshot_statements, view_statements

Catalogue = dict[str, object]
_SQLITE = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_s%'"
_OWN, _TEMPORARY = "current_schema()::regnamespace", "pg_my_temp_schema()"
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
    SELECT 'trigger ' || t.tgname, replace(pg_get_triggerdef(t.oid), quote_ident(current_schema()) || '.', ''),
           t.tgenabled::text
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND relnamespace = {here}
    """,
    """
    SELECT 'rule ' || r.rulename, pg_get_ruledef(r.oid)
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class WHERE c.relkind = 'r' AND relnamespace = {here}
    """,
)
_OF_POLICIES: Catalogue = {
    "trigger ndcg_tracker_pinned": [
        "CREATE TRIGGER ndcg_tracker_pinned BEFORE INSERT OR DELETE OR UPDATE ON aliases FOR EACH ROW EXECUTE FUNCTION "
        "ndcg_tracker_pinned()",
        "O",
    ]
}
"""Keeps others than the owner from moving an alias with a policy; made for no temporary table."""
_ACTING = ("trigger ", "rule ")
"""Objects that change data by themselves: no other program has a reason to create them here."""


def catalogue(connection: Connection, *, temporary: bool = False) -> Catalogue:
    """Return the engine's own description of every table, view and trigger, with one entry per object.

    ``temporary``: of the temporary objects of this connection, on Postgres.
    """
    if connection.dialect.name == "sqlite":
        return _of_sqlite(connection.exec_driver_sql(_SQLITE).all())
    things: Catalogue = {}
    for query in _QUERIES:
        for name, *facts in connection.exec_driver_sql(query.format(here=_TEMPORARY if temporary else _OWN)):
            if VERSION_TABLE not in name:
                things[name] = facts
    return things


def _of_sqlite(rows: Iterable[Sequence[Any]]) -> Catalogue:
    return {
        f"{kind} {name}": sorted(part.strip(" \t,)(") for part in re.split(r"\n|, (?=\w+ [A-Z]+)", sql or ""))
        for kind, name, sql in rows
        if VERSION_TABLE not in name
    }


def expected_catalogue(engine: Engine) -> Catalogue | None:
    """Return the catalogue of a database with the latest schema, None if it cannot be found out."""
    return _expected_of_sqlite() if engine.dialect.name == "sqlite" else _expected_of_postgres(engine)


def _expected_of_sqlite() -> Catalogue | None:
    statements = snapshot_statements()
    if statements is None:
        return None
    with closing(sqlite3.connect(":memory:")) as connection:
        for statement in statements:
            connection.execute(statement)
        return _of_sqlite(connection.execute(_SQLITE).fetchall())


def _expected_of_postgres(engine: Engine) -> Catalogue | None:
    """Create the tables and views once more, as temporary ones, and roll this back.

    So the server writes the definitions of both in the same way, whatever its version. Not every role may do this, and
    no replica can.
    """
    views = view_statements()
    if views is None:
        return None
    models = sa.MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.tables.values():
        made: Any = table.to_metadata(models)
        made._prefixes = ["TEMPORARY"]
    try:
        with engine.connect() as connection:
            connection.execution_options(postgresql_readonly=False)  # whatever the server's default is
            transaction = connection.begin()
            models.create_all(connection, checkfirst=False)
            for view in views:
                connection.exec_driver_sql(view.replace("CREATE VIEW", "CREATE TEMPORARY VIEW", 1).replace("%", "%%"))
            expected = catalogue(connection, temporary=True) | _OF_POLICIES
            transaction.rollback()
    except DBAPIError:
        return None
    return expected


def differing_things(actual: Mapping[str, object], expected: Mapping[str, object]) -> list[str]:
    """Return one sentence for each object that is missing, differs from the schema, or acts by itself.

    Tables, views and indexes of other programs are allowed.

    >>> differing_things({"view a": 1, "view mine": 1, "trigger t": 1}, {"view a": 2, "index b": 1})
    ['index b is missing', 'trigger t is not of this schema', 'view a is not that of this schema']
    """
    damage = [f"{name} is missing" for name in expected.keys() - actual.keys()]
    changed = [name for name in expected.keys() & actual.keys() if actual[name] != expected[name]]
    damage += [f"{name} is not that of this schema" for name in changed]
    damage += [f"{name} is not of this schema" for name in actual.keys() - expected.keys() if name.startswith(_ACTING)]
    return sorted(damage)

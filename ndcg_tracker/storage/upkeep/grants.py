"""The rights of a team's roles on Postgres (``db grant``): only what each role's commands need.

``tests/torture/test_torture_grants.py`` finds out which command needs which right: it runs every command as every role.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from ndcg_tracker.errors import DatabaseError, InputError
from ndcg_tracker.storage.connection import notices, opened, read_transaction, write_transaction
from ndcg_tracker.storage.database_url import Location
from ndcg_tracker.storage.marks import OVERRIDE
from ndcg_tracker.storage.schema import VERSION_TABLE, metadata
from ndcg_tracker.storage.upkeep.handshake import Kind, found_state, refusal, state_within
from ndcg_tracker.storage.views import VIEWS

if TYPE_CHECKING:
    from psycopg import sql

TABLES = tuple(sorted(metadata.tables))
UPDATED = {
    "aliases": ("run_id", "updated_at_utc"),
    "coverages": ("judged_share",),
    "designs": (*("checked_by", "planned_budget", "budget", "answered_after_run_id", "answered_after_label_set_id"),),
    "drawn_items": ("grade", "answered_at_utc", "answered_after_run_id"),
    "evaluations": ("mean", "worst_mean", "best_mean", "packed_group_ids", "packed_values"),
    "groups": ("weight", "attributes"),
    "label_sets": ("digest", "n_groups", "n_labels"),
    "runs": (
        *("digest", "tags", "n_groups", "n_items", "created_at_utc"),
        *("sampled", "sample_digest", "collapsed", "documents_in_ten", "tie_order"),
    ),
    "texts": ("text", "title", "url"),
}
"""The columns that a writer changes. It does not change names: a renamed run could replace another.

A run gets its date when it is complete; ``db check`` finds a different date of a run with results.
"""
DELETED = (
    *("label_lists", "label_reasons", "label_sets", "prunings", "suite_datasets"),
    "texts",
)
"""Where a writer deletes: streamed labels that turn out to be
stored already, the mark of a pruned run that it ingests again, suites, and
empty texts."""

DECISIONS = ("decisions", "suite_decisions")
"""Where a writer inserts decisions, but overrides none: that is the owner's right."""
OWNERS = ("budget_resets", "policies")
"""Where only the owner inserts: the rules of gates, and the restarts of their budgets."""
_OF_SEALS = ("is_sealed", "metric")
"""What every role reads of the table of seals, to find out that a database is sealed."""

_OWNERS = """
    SELECT CASE relkind WHEN 'v' THEN 'VIEW' ELSE 'TABLE' END, relname, pg_get_userbyid(relowner) FROM pg_class
    WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relname = ANY (%(names)s) ORDER BY 1, 2
"""
_FUNCTIONS = """
    SELECT oid::regprocedure::text, pg_get_userbyid(proowner) FROM pg_proc
    WHERE pronamespace = quote_ident(current_schema())::regnamespace
    AND proname IN ('ndcg_tracker_analyze', 'ndcg_tracker_pinned', 'ndcg_tracker_redo') ORDER BY 1
"""
_WITHOUT_EFFECT = ("01006", "01007")
"""Warnings of Postgres that this role may not give or take a right."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The roles of a team: one migrates and deletes, one stores, one reads the tables, one reads only the views."""

    owner: str
    writer: str
    reader: str
    dashboards: str | None = None

    @property
    def names(self) -> list[str]:
        """The given names, the owner's first."""
        return [self.owner, self.writer, self.reader, *([] if self.dashboards is None else [self.dashboards])]


def granted(location: Location, roles: Roles, *, apply: bool) -> list[str]:
    """Return the statements that give the roles exactly their rights; ``apply`` runs them, all or none.

    Raises: InputError on SQLite, for a role that is named twice, and for roles that do not exist; DatabaseError for a
    database without the latest schema, or if the role of the URL may not give the rights.
    """
    twice = sorted({name for name in roles.names if roles.names.count(name) > 1})
    if twice:
        raise InputError(f"role {twice[0]!r} is named twice", advice="use a different role for each kind of work")
    with opened(location) as engine:
        state = found_state(engine, location)
        if state.kind is not Kind.CURRENT:
            raise refusal(state, location)
        if location.url is None:
            raise InputError(
                "SQLite has no roles: anyone who may write the file may do everything",
                where=location.display_url,
                advice="set the permissions of the file and its folder with chmod and chown",
            )
        with (write_transaction if apply else read_transaction)(engine, location) as connection:
            if state_within(connection) != state:
                raise refusal(state_within(connection), location)
            _check_they_exist(connection, location, roles)
            statements = [statement.as_string(None) for statement in _statements(connection, roles)]
            if apply:
                _run(connection, location, statements)
    return statements


def _check_they_exist(connection: Connection, location: Location, roles: Roles) -> None:
    from psycopg import sql

    query = "SELECT rolname::text FROM pg_roles WHERE rolname = ANY (%(names)s)"
    existing = set(connection.exec_driver_sql(query, {"names": roles.names}).scalars())
    missing = [name for name in roles.names if name not in existing]
    if missing:
        named = ", ".join(map(repr, missing))
        made = "; ".join(f"CREATE ROLE {sql.Identifier(name).as_string(None)} LOGIN" for name in missing)
        raise InputError(
            f"the server has no {'role' if len(missing) == 1 else 'roles'} {named}; nothing was granted",
            where=location.display_url,
            advice=f"ask someone who may create roles to run: {made}",
            joint=": ",
        )


def _statements(connection: Connection, roles: Roles) -> Iterator[sql.Composed]:
    from psycopg import sql

    schema = connection.exec_driver_sql("SELECT current_schema()").scalar_one()
    views = list(VIEWS)
    in_schema = sql.Identifier(schema)

    def name(relation: str) -> sql.Identifier:
        return sql.Identifier(schema, relation)

    def listed(parts: Iterable[sql.Composable]) -> sql.Composed:
        return sql.SQL(", ").join(parts)

    def filled(words: str, **parts: sql.Composable) -> sql.Composed:
        return sql.SQL(words).format(**parts)

    owner, writer, reader = map(sql.Identifier, (roles.owner, roles.writer, roles.reader))
    dashboards = [] if roles.dashboards is None else [sql.Identifier(roles.dashboards)]
    others = listed([writer, reader, *dashboards])
    readers = listed([writer, reader])
    yield filled("REVOKE CREATE ON SCHEMA {s} FROM PUBLIC, {others}", s=in_schema, others=others)
    yield filled("GRANT USAGE, CREATE ON SCHEMA {s} TO {owner}", s=in_schema, owner=owner)
    yield filled("GRANT USAGE ON SCHEMA {s} TO {others}", s=in_schema, others=others)
    relations = {"names": [VERSION_TABLE, *TABLES, *views]}
    for kind, relation, present in connection.exec_driver_sql(_OWNERS, relations):
        if present != roles.owner:
            yield filled(f"ALTER {kind} {{r}} OWNER TO {{owner}}", r=name(relation), owner=owner)
    functions = connection.exec_driver_sql(_FUNCTIONS).all()
    for function, present in functions:
        if present != roles.owner:
            yield filled("ALTER FUNCTION {f} OWNER TO {owner}", f=sql.SQL(function), owner=owner)

    all_tables = listed(name(table) for table in (VERSION_TABLE, *TABLES))
    all_views = listed(map(name, views))
    yield filled("REVOKE ALL ON {r} FROM PUBLIC, {others}", r=listed([all_tables, all_views]), others=others)
    yield filled("GRANT SELECT ON {r} TO {readers}", r=listed([all_tables, all_views]), readers=readers)
    if dashboards:
        seen = listed([name(VERSION_TABLE), all_views])
        yield filled("GRANT SELECT ON {r} TO {dashboards}", r=seen, dashboards=listed(dashboards))
        some = listed(map(sql.Identifier, _OF_SEALS))
        yield filled("GRANT SELECT ({some}) ON {t} TO {role}", some=some, t=name("seals"), role=dashboards[0])
    written = [name(table) for table in TABLES if table not in (*OWNERS, *DECISIONS)]
    yield filled("GRANT INSERT ON {t} TO {writer}", t=listed(written), writer=writer)
    for table in DECISIONS:
        some = listed(sql.Identifier(of.name) for of in metadata.tables[table].c if of.name not in OVERRIDE)
        yield filled("GRANT INSERT ({some}) ON {t} TO {writer}", some=some, t=name(table), writer=writer)
    for table, columns in UPDATED.items():
        some = listed(map(sql.Identifier, columns))
        yield filled("GRANT UPDATE ({some}) ON {t} TO {writer}", some=some, t=name(table), writer=writer)
    yield filled("GRANT DELETE ON {t} TO {writer}", t=listed(map(name, DELETED)), writer=writer)
    for function, _ in functions:
        yield filled("REVOKE ALL ON FUNCTION {f} FROM PUBLIC, {others}", f=sql.SQL(function), others=others)
        yield filled("GRANT EXECUTE ON FUNCTION {f} TO {writer}", f=sql.SQL(function), writer=writer)

    later = filled("ALTER DEFAULT PRIVILEGES FOR ROLE {owner} IN SCHEMA {s} ", owner=owner, s=in_schema)
    yield later + filled("REVOKE ALL ON TABLES FROM {others}", others=others)
    yield later + filled("GRANT SELECT ON TABLES TO {readers}", readers=readers)
    yield later + filled("GRANT INSERT ON TABLES TO {writer}", writer=writer)


def _run(connection: Connection, location: Location, statements: list[str]) -> None:
    """Run the statements; raise if Postgres only warns that this role may not give a right."""
    with notices(connection, lambda diagnostic: diagnostic.sqlstate in _WITHOUT_EFFECT) as warnings:
        for statement in statements:
            connection.exec_driver_sql(statement.replace("%", "%%"))
            if warnings:
                role = connection.exec_driver_sql("SELECT current_user").scalar_one()
                what = f"role {role!r} may not run {statement!r} ({warnings[0]}); nothing was granted"
                advice = "run it as the owner of the schema, or as a superuser"
                raise DatabaseError(what, where=location.display_url, advice=advice, joint=": ")

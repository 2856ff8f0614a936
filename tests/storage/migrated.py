"""Revisions planted for tests, and what a database has in its catalogue."""

from __future__ import annotations

import shutil
from pathlib import Path

import sqlalchemy as sa
from catalogue import catalogue

from ndcg_tracker.storage.connection import database_engine, write_transaction
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import VERSION_TABLE
from ndcg_tracker.storage.upkeep import handshake as revisions
from ndcg_tracker.storage.upkeep.migrate import run_alembic

NEWEST = revisions.newest_revision()
PLANTED = f"{int(NEWEST) + 1:04}"
"""The revision that tests add to those there are."""
SECOND = '''
"""A further revision: a new column, and a table rebuilt."""
import sqlalchemy as sa
from alembic import op


def upgrade():
    op.add_column("runs", sa.Column("planted", sa.Text()))
    with op.batch_alter_table("aliases") as batch:
        batch.add_column(sa.Column("planted", sa.Text()))
        batch.create_check_constraint("planted", "planted <> 'x'")

def downgrade():
    with op.batch_alter_table("aliases") as batch:
        batch.drop_constraint("planted", type_="check")
        batch.drop_column("planted")
    op.drop_column("runs", "planted")
'''
REBUILDING = '''
"""A further revision: every table that others refer to is rebuilt, on SQLite under the views that read it."""
import sqlalchemy as sa
from alembic import op

PARENTS = ("datasets", "groups", "label_sets", "metrics", "runs", "evaluations")

def how():
    return "always" if op.get_bind().dialect.name == "sqlite" else "auto"

def upgrade():
    for name in PARENTS:
        with op.batch_alter_table(name, recreate=how()) as batch:
            batch.add_column(sa.Column("planted", sa.Text(), server_default="x", nullable=False))

def downgrade():
    for name in reversed(PARENTS):
        with op.batch_alter_table(name, recreate=how()) as batch:
            batch.drop_column("planted")
'''
DAMAGING = '''
"""A revision that loses rows."""
from alembic import op


def upgrade():
    op.execute("DELETE FROM coverages")

def downgrade():
    pass
'''


def folder_with(second: str, target: Path) -> Path:
    """Return a copy of the migrations with one more revision."""
    shutil.copytree(revisions.migrations_folder(), target, ignore=shutil.ignore_patterns("__pycache__"))
    numbers = f'revision, down_revision, branch_labels, depends_on = "{PLANTED}", "{NEWEST}", None, None\n'
    (target / "versions" / f"{PLANTED}_planted.py").write_text(second + numbers)
    return target


def migrate(url: str, command: str, revision: str) -> None:
    """Run an Alembic command on a database as an upgrade does it: one transaction, foreign keys off."""
    location = parsed_location(url)
    engine = database_engine(location)
    try:
        with write_transaction(engine, location, migrating=True) as connection:
            run_alembic(connection, command, revision)
    finally:
        engine.dispose()


def columns_of(url: str) -> dict[str, list[str]]:
    """Return the columns of every table."""
    engine = database_engine(parsed_location(url))
    with engine.connect() as connection:
        inspector = sa.inspect(connection)
        found = {
            name: [column["name"] for column in inspector.get_columns(name)]
            for name in inspector.get_table_names()
            if name != VERSION_TABLE
        }
    engine.dispose()
    return found


def rows_of(url: str, columns: dict[str, list[str]] | None = None) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every table, in order; ``columns``: which tables and which columns of each, by default all."""
    location = parsed_location(url)
    engine = database_engine(location)
    found = {}
    with engine.connect() as connection:
        for name in sorted(sa.inspect(connection).get_table_names()):
            if name != VERSION_TABLE and (columns is None or name in columns):
                chosen = "*" if columns is None else ", ".join(f'"{column}"' for column in columns[name])
                rows = connection.exec_driver_sql(f"SELECT {chosen} FROM {name}")
                found[name] = sorted((tuple(row) for row in rows), key=repr)
    engine.dispose()
    return found


def catalogue_of(url: str) -> dict[str, object]:
    """Return the catalogue of a database."""
    engine = database_engine(parsed_location(url))
    with engine.connect() as connection:
        found = catalogue(connection)
    engine.dispose()
    return found

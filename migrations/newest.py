"""Write the schema that all migrations together create: ``python migrations/newest.py``.

A new SQLite file is created from ``newest.sqlite.sql``, because importing Alembic and running every migration takes a
quarter of a second. Run it after every change of a migration; tests hold all equal.
Only Alembic upgrades existing databases.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from sqlalchemy import Connection

from ndcg_tracker.storage.connection import database_engine, write_transaction
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import VERSION_TABLE
from ndcg_tracker.storage.upkeep.handshake import (
    SEPARATOR,
    migrations_folder,
    newest_revision,
    snapshot_file,
)
from ndcg_tracker.storage.upkeep.migrate import run_alembic


def snapshot() -> str:
    """Return the statements that do the same to an empty SQLite database as the migrations."""
    with tempfile.TemporaryDirectory() as folder:
        location = parsed_location(str(Path(folder) / "new.db"))
        engine = database_engine(location, create=True)
        try:
            with write_transaction(engine, location, migrating=True) as connection:
                run_alembic(connection, "upgrade", "head")
                return SEPARATOR.join(_statements(connection)) + "\n"
        finally:
            engine.dispose()


def _statements(connection: Connection) -> list[str]:
    kept = "name NOT LIKE 'sqlite_%' OR name = 'sqlite_stat1'"
    made = f"SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND ({kept}) ORDER BY rowid"
    found = [
        "ANALYZE sqlite_master" if name == "sqlite_stat1" else str(sql)  # it creates the table, and reads no other
        for name, sql in connection.exec_driver_sql(made)
    ]
    for row in connection.exec_driver_sql("SELECT tbl, idx, stat FROM sqlite_stat1 ORDER BY rowid"):
        found.append(f"INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES {tuple(row)!r}")
    return [*found, f"INSERT INTO {VERSION_TABLE} (version_num) VALUES ('{newest_revision()}')"]


if __name__ == "__main__":
    snapshot_file(migrations_folder()).write_text(snapshot(), encoding="utf-8")

"""Run the migrations with Alembic: on the open connection that it gets, else on the database of NDCG_TRACK_DB."""

from __future__ import annotations

import os

from alembic import context
from sqlalchemy import Connection

from ndcg_tracker.storage.connection import database_engine, write_transaction
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.schema import VERSION_TABLE, metadata


def run_on(connection: Connection) -> None:
    """Run the migrations within the transaction that the connection is in."""
    context.configure(
        connection=connection,
        target_metadata=metadata,
        version_table=VERSION_TABLE,
        transactional_ddl=True,
        render_as_batch=connection.dialect.name == "sqlite",
    )
    with context.begin_transaction():
        context.run_migrations()


given = context.config.attributes.get("connection")
if given is not None:
    run_on(given)
else:
    location = parsed_location(os.environ.get("NDCG_TRACK_DB", "ndcg-track.db"))
    with write_transaction(database_engine(location, create=True), location, migrating=True) as own:
        run_on(own)

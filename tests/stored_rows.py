"""How many rows each table of a database has, for tests that say that nothing was added."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sa


def row_counts(url: str) -> dict[str, int]:
    """Return the number of rows of every table; empty if there is no database."""
    address = sa.make_url(url)
    if address.get_backend_name() == "sqlite" and not Path(address.database or "").exists():
        return {}
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    try:
        with engine.connect() as connection:
            names = sorted(sa.inspect(connection).get_table_names())
            counts = ", ".join(f'(SELECT count(*) FROM "{name}")' for name in names)
            found = connection.exec_driver_sql(f"SELECT {counts}").one() if names else ()
            return dict(zip(names, map(int, found), strict=True))
    finally:
        engine.dispose()

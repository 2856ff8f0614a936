"""A database that is opened when it is first used, and the questions in SQL."""

from __future__ import annotations

import os
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.storage.guard.query_result import QueryResult
    from ndcg_tracker.storage.store import Store

DEFAULT_DATABASE = "ndcg-track.db"
DEFAULT_DATASET = "default"
DEFAULT_METRIC = "ndcg@10"
SQL_TIMEOUT_SECONDS = 60.0


def database_location(location: str | os.PathLike[str] | None = None) -> str:
    """Return where the database is: what was given, else ``NDCG_TRACK_DB``, else ``ndcg-track.db`` here."""
    return os.fspath(location) if location is not None else os.environ.get("NDCG_TRACK_DB") or DEFAULT_DATABASE


class OpenedStore:
    """A place of a database, and the store there once something asked for it."""

    def __init__(self, location: str | os.PathLike[str] | None = None) -> None:
        self.location = database_location(location)
        self._store: Store | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()

    def close(self) -> None:
        """Close the database; the tracker opens it again when it is used again."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def store(self, *, create: bool = False) -> Store:
        """Return the open store; ``create`` makes a SQLite file that is not there yet."""
        if self._store is None:
            from ndcg_tracker.storage.store import Store

            self._store = Store.open(self.location, create=create)
        return self._store

    def query(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS) -> QueryResult:
        """Run a read-only SQL query on the public views (see ``sql``) and return columns and rows."""
        return self.store().query(query, timeout_seconds=timeout_seconds)

    def sql(self, query: str, *, timeout_seconds: float = SQL_TIMEOUT_SECONDS) -> pd.DataFrame:
        """Run a read-only SQL query on the public views: run_summary, group_history, group_diff, items, labels, ...

        Raises: InputError for a query that is wrong, writes, or runs out of time.
        """
        import pandas as pd

        result = self.query(query, timeout_seconds=timeout_seconds)
        return pd.DataFrame(result.rows, columns=result.columns)

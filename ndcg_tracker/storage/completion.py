"""Names for shell completion, read from a database without waiting; none if reading fails."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Any, Literal
from urllib.parse import quote

What = Literal["runs", "aliases", "datasets", "metrics"]

_QUERIES: dict[str, str] = {
    "runs": "SELECT run FROM run_details {} ORDER BY run_id DESC",
    "aliases": "SELECT '@' || alias FROM run_aliases {} ORDER BY alias",
    "datasets": "SELECT DISTINCT dataset FROM run_details {} ORDER BY dataset",
    "metrics": "SELECT metric FROM run_summary {} GROUP BY metric ORDER BY min(run_id), metric",
}
"""Queries on the public views, which a read-only role can read, too."""
_AT_MOST = 2000
_SECONDS = 2


def names_to_complete(location: str, what: Sequence[What], dataset: str | None = None) -> list[str]:
    """Return the names that a database has, the newest runs first; none where it cannot be read.

    Parameters: ``location``: a path or URL. ``what``: which names. ``dataset``: of runs and aliases, those of this
    dataset only. SQLAlchemy is not imported: that takes longer than the queries.

    >>> names_to_complete("no such folder/ndcg.db", ["runs"])
    []
    """
    queries = [(_QUERIES[kind], kind in ("runs", "aliases") and dataset is not None) for kind in what]
    try:
        read = _of_postgres if location.startswith(("postgres:", "postgresql")) else _of_sqlite
        return list(dict.fromkeys(read(location, queries, dataset)))
    except Exception:  # any error: a shell has no place to show it
        return []


def _of_sqlite(location: str, queries: Sequence[tuple[str, bool]], dataset: str | None) -> list[str]:
    path = location.partition(":///")[2] if location.startswith("sqlite") and ":///" in location else location
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=0.2)) as connection:
        return _answers(connection, queries, dataset, "?")


def _of_postgres(location: str, queries: Sequence[tuple[str, bool]], dataset: str | None) -> list[str]:
    import psycopg

    url = "postgresql://" + re.sub(r"(?<=[?&])prepare_threshold=[^&]*&?", "", location.partition("://")[2]).rstrip("?&")
    limit = f"-c statement_timeout={_SECONDS * 1000} -c default_transaction_read_only=on"
    with psycopg.connect(url, connect_timeout=_SECONDS, options=limit) as connection:
        return _answers(connection, queries, dataset, "%s")


def _answers(connection: Any, queries: Sequence[tuple[str, bool]], dataset: str | None, mark: str) -> list[str]:
    names: list[str] = []
    for query, of_dataset in queries:
        text = query.format(f"WHERE dataset = {mark}" if of_dataset else "") + f" LIMIT {_AT_MOST}"
        names += [name for (name,) in connection.execute(text, (dataset,) if of_dataset else ())]
    return names

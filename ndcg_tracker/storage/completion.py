"""Names for shell completion, read from a database without waiting; none if reading fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any, Literal
from urllib.parse import quote

What = Literal["runs", "aliases", "datasets", "metrics", "attributes", "groups", "judges", "answerers"]

_DATASETS = "(SELECT id, name AS dataset, name FROM datasets) d"
_SEALED = "SELECT 1 FROM seals WHERE is_sealed LIMIT 1"
_ROWS = 20_000
_QUERIES: dict[str, str] = {
    "runs": "SELECT run FROM run_details {} ORDER BY run_id DESC",
    "aliases": "SELECT '@' || alias FROM run_aliases {} ORDER BY alias",
    "datasets": f"SELECT name FROM {_DATASETS} ORDER BY name",
    "metrics": "SELECT metric FROM run_summary {} GROUP BY metric ORDER BY min(run_id), metric",
    "attributes": f"SELECT DISTINCT attribute FROM (SELECT attribute FROM group_attributes {{}} LIMIT {_ROWS}) a",
    "groups": f"SELECT g.key FROM groups g JOIN {_DATASETS} ON d.id = g.dataset_id {{}} ORDER BY g.key",
    "judges": "SELECT DISTINCT s.judge FROM label_sets s "
    f"JOIN {_DATASETS} ON d.id = s.dataset_id AND s.n_labels > 0 {{}} ORDER BY s.judge",
    "answerers": f"SELECT DISTINCT e.checked_by FROM designs e JOIN {_DATASETS} ON d.id = e.dataset_id {{}}",
}
"""Queries on the public views where these have the names, else on tables."""
_OF_DATASETS = ("runs", "aliases", "attributes", "groups", "judges", "answerers")
_AT_MOST = 2000
_Query = tuple[str, Mapping[str, str | None]]
_SECONDS = 2


def names_to_complete(
    location: str, what: Sequence[What], dataset: str | None = None, beginning: str = ""
) -> list[str]:
    """Return the names that a database has, the latest runs first; none if it cannot be read.

    Parameters: ``location``: a path or URL. ``what``: which kind of names. ``dataset``: only those of this dataset.
    ``beginning``: the beginning of group ids, because there may be many. This does not import SQLAlchemy, which takes
    longer than the queries.

    >>> names_to_complete("no such folder/ndcg.db", ["runs"])
    []
    """
    queries = []
    for kind in what:
        wanted = {"dataset": dataset} if kind in _OF_DATASETS and dataset is not None else {}
        if kind == "groups" and beginning:
            wanted[f"substr(g.key, 1, {len(beginning)})"] = beginning
        queries.append((_QUERIES[kind], wanted))
    try:
        read = _of_postgres if location.startswith(("postgres:", "postgresql")) else _of_sqlite
        return list(dict.fromkeys(read(location, queries)))
    except Exception:  # any error: a shell has no place to show it
        return []


def _of_sqlite(location: str, queries: Sequence[_Query]) -> list[str]:
    path = location.partition(":///")[2] if location.startswith("sqlite") and ":///" in location else location
    with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=0.2)) as connection:
        return _answers(connection, queries, "?")


def _of_postgres(location: str, queries: Sequence[_Query]) -> list[str]:
    import psycopg

    url = f"postgresql://{location.partition('://')[2]}"
    limit = f"-c statement_timeout={_SECONDS * 1000} -c default_transaction_read_only=on"
    with psycopg.connect(url, connect_timeout=_SECONDS, options=limit) as connection:
        return _answers(connection, queries, "%s")


def _answers(connection: Any, queries: Sequence[_Query], mark: str) -> list[str]:
    names: list[str] = []
    for query, wanted in () if connection.execute(_SEALED).fetchone() else queries:
        where = " AND ".join(f"{column} = {mark}" for column in wanted)
        text = query.format(f"WHERE {where}" if where else "") + f" LIMIT {_AT_MOST}"
        names += [name for (name,) in connection.execute(text, tuple(wanted.values())) if name]
    return names

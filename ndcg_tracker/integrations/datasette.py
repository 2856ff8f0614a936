"""Metadata for Datasette: descriptions of every view and column of a database, and saved queries."""

from __future__ import annotations

import os
from typing import Any

from ndcg_tracker.errors import InputError

_NEWEST_FIRST = {"run_summary": "run_id", "run_details": "run_id", "gate_decisions": "decision_id"}


def datasette_metadata(location: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Return the metadata with which Datasette shows a database: its public views described, its tables hidden.

    Datasette names a database after its file, and so does the metadata.

    Parameters: ``location``: path or URL of a SQLite file; by default ``NDCG_TRACK_DB``. Raises:
    InputError for Postgres, which Datasette cannot open; the errors of opening a database.

    >>> from tempfile import TemporaryDirectory
    >>> from ndcg_tracker import Tracker
    >>> with TemporaryDirectory() as folder:
    ...     with Tracker(f"{folder}/shop.db") as tracker:
    ...         _ = tracker.ingest({"group": ["q"], "item": ["a"], "score": [1.0], "label": [1]}, name="first")
    ...     shown = datasette_metadata(f"{folder}/shop.db")["databases"]["shop"]
    >>> shown["tables"]["run_tags"]["description"], sorted(shown["queries"])[:2]
    ('One row per tag of a run; tags may change.', ['coverage', 'group_items'])
    """
    from ndcg_tracker.storage.guard.saved_queries import SAVED_QUERIES
    from ndcg_tracker.storage.schema import VERSION_TABLE, metadata
    from ndcg_tracker.storage.views import VIEWS
    from ndcg_tracker.tracker.tracker import Tracker

    with Tracker(location) as tracker:
        place = tracker.store().location
    if place.path is None:
        raise InputError(
            f"{place.display_url}: Datasette opens SQLite files, not Postgres; copy the runs into one with "
            "ndcg-track export --all -o FOLDER and ndcg-track --db copy.db import FOLDER"
        )
    views: dict[str, Any] = {
        view.name: {
            "description": view.sentence,
            "columns": view.columns,
            **({"sort_desc": _NEWEST_FIRST[view.name]} if view.name in _NEWEST_FIRST else {}),
        }
        for view in VIEWS
    }
    hidden = {name: {"hidden": True} for name in [*metadata.tables, VERSION_TABLE, "sqlite_sequence"]}
    queries = {
        query.name: {
            "title": query.title,
            "description": query.description,
            "sql": query.sql,
            "params": query.parameters,
        }
        for query in SAVED_QUERIES
    }
    shown = {
        "description": "Ranking quality of every run, down to the single group. The views are public and keep their "
        "names and columns; the tables may change.",
        "tables": views | hidden,
        "queries": queries,
    }
    return {"databases": {place.path.stem: shown}}

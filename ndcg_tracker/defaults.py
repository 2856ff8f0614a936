"""What arguments are where they are not given: database, dataset, metric, columns."""

from __future__ import annotations

import os

DEFAULT_DATABASE = "ndcg-track.db"
DEFAULT_DATASET = "default"
DEFAULT_METRIC = "ndcg@10"
SQL_TIMEOUT_SECONDS = 60.0
REPRO_EVAL_CUTOFFS, REPRO_EVAL_P = (10, 100, 1000), 0.95


class OwnName(str):
    """Our own name of a column as a default: equal to the same text given by a caller, but told from it by its type.

    >>> OwnName("group"), OwnName("group") == "group"
    ('group', True)
    """

    __slots__ = ()


GROUP, SCORE, LABEL = OwnName("group"), OwnName("score"), OwnName("label")


def database_location(location: str | os.PathLike[str] | None = None) -> str:
    """Return where the database is: what was given, else ``NDCG_TRACK_DB``, else ``ndcg-track.db`` here."""
    return os.fspath(location) if location is not None else os.environ.get("NDCG_TRACK_DB") or DEFAULT_DATABASE

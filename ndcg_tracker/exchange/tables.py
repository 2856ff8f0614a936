"""The tables of an export: one Parquet file each, its columns in order."""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """The kinds of columns; only the nullable ones may have nulls."""

    NAME = "name"
    """Text that many rows share: stored as a dictionary."""
    TEXT = "text"
    """Text, possibly null."""
    KEY = "key"
    """The id of a group or item."""
    COUNT = "count"
    """A whole number, possibly null."""
    NUMBER = "number"
    """A double, possibly null."""


_RUN = {"dataset": Kind.NAME, "run": Kind.NAME}
_LABEL_SET = {"label_set_version": Kind.COUNT}

TABLES: dict[str, dict[str, Kind]] = {
    "runs": _RUN
    | {
        "digest": Kind.TEXT,
        "created_at_utc": Kind.TEXT,
        "git_commit": Kind.TEXT,
        "source": Kind.TEXT,
        "parameters": Kind.TEXT,
        "tags": Kind.TEXT,
        "n_groups": Kind.COUNT,
        "n_items": Kind.COUNT,
    },
    "items": _RUN | {"group_key": Kind.KEY, "rank": Kind.COUNT, "item_key": Kind.KEY, "score": Kind.NUMBER},
    "label_sets": {"dataset": Kind.NAME}
    | _LABEL_SET
    | {"digest": Kind.TEXT, "source": Kind.TEXT, "n_labels": Kind.COUNT, "by_row_number": Kind.COUNT},
    "labels": {"dataset": Kind.NAME} | _LABEL_SET | {"group_key": Kind.KEY, "item_key": Kind.KEY, "grade": Kind.NUMBER},
    "evaluations": _RUN
    | _LABEL_SET
    | {
        "metric": Kind.TEXT,
        "mean": Kind.NUMBER,
        "worst_mean": Kind.NUMBER,
        "best_mean": Kind.NUMBER,
        "n_groups": Kind.COUNT,
        "n_missing": Kind.COUNT,
        "n_undefined": Kind.COUNT,
        "n_results": Kind.COUNT,
        "requested_as": Kind.TEXT,
    },
    "group_results": _RUN
    | _LABEL_SET
    | {
        "metric": Kind.NAME,
        "group_key": Kind.KEY,
        "value": Kind.NUMBER,
        "dcg": Kind.NUMBER,
        "ideal_dcg": Kind.NUMBER,
        "undefined_reason": Kind.TEXT,
    },
    "label_coverage": _RUN | _LABEL_SET | {"cutoff": Kind.COUNT, "judged_share": Kind.NUMBER},
    "groups": {"dataset": Kind.NAME, "group_key": Kind.KEY, "weight": Kind.NUMBER, "attributes": Kind.TEXT},
    "texts": {
        "dataset": Kind.NAME,
        "group_key": Kind.TEXT,
        "item_key": Kind.TEXT,
        "text": Kind.TEXT,
        "title": Kind.TEXT,
        "url": Kind.TEXT,
    },
}
"""The columns of each table. Rows are in the order of ``runs``, ``label_sets`` and ``evaluations``, whose counts say
how many rows of ``items``, ``labels`` and ``group_results`` belong to each."""

OPTIONAL = ("texts",)
"""Tables that an export has only if it was asked for them."""

LATER = {"evaluations": ("requested_as",), "label_sets": ("by_row_number",)}
"""The last columns of each table that exports of older versions lack: they are read as null."""


def arrow_schema(table: str) -> Any:
    """Return the columns of a table as an Arrow schema."""
    import pyarrow as pa

    types = {
        Kind.NAME: pa.string(),
        Kind.TEXT: pa.string(),
        Kind.KEY: pa.large_string(),
        Kind.COUNT: pa.int64(),
        Kind.NUMBER: pa.float64(),
    }
    return pa.schema([(name, types[kind]) for name, kind in TABLES[table].items()])

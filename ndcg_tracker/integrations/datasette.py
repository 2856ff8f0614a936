"""Metadata for Datasette: descriptions of every view and column of a database, and saved queries.

The queries are common questions on the public views, for both engines. An empty parameter asks for the newest run that
fits the others, so that every query answers without any.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any

from ndcg_tracker.errors import InputError

_PARAMETER = re.compile(r"(?<!:):([a-z_]+)")


_NEWEST = """\
WITH newest AS (
    SELECT run, dataset, metric, label_set_version FROM run_summary
    WHERE judge = '' AND is_newest_labels
        AND (:dataset = '' OR dataset = :dataset) AND (:metric = '' OR metric = :metric){run}
    ORDER BY run_id DESC, label_set_version DESC, metric LIMIT 1
)
"""
_NEWEST_RUN = _NEWEST.format(run=" AND (:run = '' OR run = :run)")
_NEWEST_CANDIDATE = _NEWEST.format(run=" AND (:candidate = '' OR run = :candidate)")
_ANY = "Leave dataset or metric empty for that of the newest run."
_NEWEST_FIRST = {
    "run_summary": "run_id",
    "run_details": "run_id",
    "gate_decisions": "decision_id",
    "suite_gate_decisions": "decision_id",
}


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """One question: a title, a sentence on how to ask it, and the SQL, whose parameters are written ``:name``."""

    name: str
    title: str
    description: str
    sql: str

    @property
    def parameters(self) -> list[str]:
        """The names of the parameters, in the order of their first use in the SQL.

        >>> SavedQuery("q", "", "", "SELECT :run, :dataset, :run").parameters
        ['run', 'dataset']
        """
        return list(dict.fromkeys(_PARAMETER.findall(self.sql)))


SAVED_QUERIES = (
    SavedQuery(
        "history",
        "History of a metric",
        f"The mean of a metric over the runs of a dataset, oldest first. {_ANY}",
        _NEWEST.format(run="")
        + """\
SELECT s.run, s.run_id, s.created_at_utc, d.git_commit, s.metric, s.label_set_version, s.mean, s.n_groups,
    s.n_missing, s.n_undefined
FROM newest n
JOIN run_summary s ON s.dataset = n.dataset AND s.metric = n.metric AND s.is_newest_labels
JOIN run_details d ON d.run_id = s.run_id
ORDER BY s.run_id""",
    ),
    SavedQuery(
        "regressions",
        "Worst regressions since the baseline",
        "The 50 groups that lost most from a baseline to a candidate. Leave the baseline empty for the alias baseline, "
        "or give an alias or the name of a run; leave the candidate empty for the newest run. " + _ANY,
        _NEWEST_CANDIDATE
        + """\
, pair AS (
    SELECT n.dataset, n.metric, n.run AS candidate, coalesce(
        (SELECT a.run FROM run_aliases a WHERE a.dataset = n.dataset
            AND a.alias = coalesce(nullif(ltrim(:baseline, '@'), ''), 'baseline')),
        :baseline) AS baseline
    FROM newest n
)
SELECT d.group_key, d.baseline, d.baseline_value, d.candidate, d.candidate_value, d.delta, d.metric,
    d.label_set_version
FROM pair p
JOIN group_diff d ON d.dataset = p.dataset AND d.baseline = p.baseline AND d.candidate = p.candidate
    AND d.metric = p.metric AND d.is_newest_labels
WHERE d.delta < 0
ORDER BY d.delta, d.group_key LIMIT 50""",
    ),
    SavedQuery(
        "group_over_runs",
        "One group over all runs",
        f"The value of a metric for one group in every run of a dataset, oldest first. {_ANY}",
        _NEWEST.format(run="")
        + """\
SELECT h.run, h.run_id, h.created_at_utc, h.metric, h.label_set_version, h.value
FROM newest n
JOIN group_history h ON h.dataset = n.dataset AND h.metric = n.metric AND h.is_newest_labels
WHERE h.group_key = :group_key
ORDER BY h.run_id""",
    ),
    SavedQuery(
        "group_items",
        "What a run ranked for one group",
        "The items of a run for one group with their grades; no grade where an item is unjudged. Leave the run empty "
        "for the newest one. " + _ANY,
        _NEWEST_RUN
        + """\
, graded AS (
    SELECT l.item_key, l.grade
    FROM newest n
    JOIN labels l ON l.dataset = n.dataset AND l.label_set_version = n.label_set_version
    WHERE l.group_key = :group_key
)
SELECT i.rank, i.item_key, i.score, g.grade, i.run
FROM newest n
JOIN items i ON i.dataset = n.dataset AND i.run = n.run
LEFT JOIN graded g ON g.item_key = i.item_key
WHERE i.group_key = :group_key
ORDER BY i.rank""",
    ),
    SavedQuery(
        "coverage",
        "How much of each run is judged",
        "Which share of the top items has a label, run by run; a run whose share fell is measured less well. Leave "
        "dataset or cutoff empty for all of them.",
        """\
SELECT d.dataset, d.run, d.run_id, c.label_set_version, c.cutoff, c.judged_share
FROM run_details d
JOIN label_coverage c ON c.run_id = d.run_id AND c.is_newest_labels
WHERE (:dataset = '' OR d.dataset = :dataset) AND (:cutoff = '' OR CAST(c.cutoff AS TEXT) = :cutoff)
ORDER BY d.run_id, c.cutoff IS NULL, c.cutoff""",
    ),
)


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
    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.storage.schema import VERSION_TABLE, metadata
    from ndcg_tracker.storage.views import VIEWS

    with Tracker(location) as tracker:
        place = tracker.store().location
    if place.path is None:
        raise InputError(
            "Datasette opens SQLite files, not Postgres",
            where=place.display_url,
            advice=(
                "copy the runs into one with ndcg-track export --all -o FOLDER and ndcg-track --db copy.db import "
                "FOLDER"
            ),
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

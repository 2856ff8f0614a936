"""Databases as older programs left them (see ``kept/make.py``), restored; and what a database shows."""

from __future__ import annotations

import json
import math
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

import ndcg_tracker as nt
from ndcg_tracker.questions.gate.gather_sealed import checked_rules
from ndcg_tracker.runs.sealing import move_sealed
from ndcg_tracker.storage.store import Store
from ndcg_tracker.storage.views import VIEWS

KEPT = Path(__file__).resolve().parent / "kept"
ENGINES = ("sqlite", "postgres")
RELEASED = "0020"
"""The schema of the latest release, 0.2.0; of the revisions since then only the newest is kept."""


def kept_revisions() -> list[str]:
    """Return the revisions that a database is kept of on both engines."""
    found = [{path.name[:4] for path in KEPT.glob(f"*.{engine}.sql")} for engine in ENGINES]
    return sorted(found[0] & found[1] & {path.stem for path in KEPT.glob("*.json")})


def expected_content(revision: str, engine: str) -> dict[str, Any]:
    """Return what a kept database shows after an upgrade (see ``content_of``)."""
    found: dict[str, dict[str, Any]] = json.loads((KEPT / f"{revision}.json").read_text(encoding="utf-8"))
    return found[engine]


def statements_of(text: str) -> list[str]:
    """Return the statements of an SQL text, one by one."""
    statements, begun = [], ""
    for line in text.splitlines(keepends=True):
        begun += line
        # quotes, also over lines, are the same on both engines, but not what a trigger does
        if sqlite3.complete_statement(begun.replace("CREATE TRIGGER", "CREATE")):
            statements.append(begun)
            begun = ""
    if begun.strip():
        raise ValueError(f"the last statement has no end: {begun[:100]!r}")
    return statements


def restore(url: str, revision: str) -> None:
    """Make a kept database again in an empty one."""
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
            connection.executescript((KEPT / f"{revision}.sqlite.sql").read_text(encoding="utf-8"))
        return
    text = (KEPT / f"{revision}.postgres.sql").read_text(encoding="utf-8")
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        for statement in statements_of(text):
            connection.execute(statement.encode())


def move_sealed_data(url: str, held: str) -> None:
    """Move what an older program sealed to a database of its own, if there is anything."""
    with Store.open(url, opens="any") as store, store.read() as tx:
        names = [dataset.name for dataset in tx.datasets.sealed()]
    for name in names:
        with Store.open(held, create=True, opens="sealed") as other:
            move_sealed(url, name, other, checked_rules("ndcg@10", 0.05, None, None))


def content_of(url: str) -> dict[str, Any]:
    """Return the rows of every public view, in order, and a comparison of two runs, as JSON has them.

    What was sealed is moved away first: this program opens nothing else.
    """
    with tempfile.TemporaryDirectory() as folder:
        move_sealed_data(url, f"{folder}/sealed.db")
    with Store.open(url) as store:
        found: dict[str, Any] = {}
        for view in VIEWS:
            rows = store.query(f"SELECT * FROM {view}").rows
            found[view] = sorted((list(row) for row in rows), key=repr)
    with nt.Tracker(url) as tracker:
        compared = tracker.compare("bm25", "dense", dataset="shop", missing="zero").to_dict()
    found["compare"] = [{name: one[name] for name in _COMPARED} for one in compared["metrics"]]
    return found


def as_kept(found: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Return what a database shows without views and last columns of views that were not there when it was kept."""
    kept = {}
    for view, rows in found.items():
        if view not in expected:
            continue
        n_columns = len(expected[view][0]) if expected[view] else 0
        kept[view] = rows if view == "compare" else sorted((row[:n_columns] for row in rows), key=repr)
    return kept


_COMPARED = ("metric", "baseline", "candidate", "delta", "wins", "ties", "losses")


def differing(found: Any, expected: Any) -> list[str]:
    """Return where two contents differ, nothing if they are the same but for the last bits of doubles."""
    if isinstance(found, float) and isinstance(expected, float):
        return [] if math.isclose(found, expected, rel_tol=1e-12) else [f"{found} is not {expected}"]
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        return [f"{key}: {text}" for key in found for text in differing(found[key], expected[key])]
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return [f"{row}: {text}" for row in range(len(found)) for text in differing(found[row], expected[row])]
    return [] if type(found) is type(expected) and found == expected else [f"{found} is not {expected}"]

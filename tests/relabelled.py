"""Databases whose labels came anew without a grade that changed: what counts in SQL is the same before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ndcg_tracker as nt

JUDGE = "a model"
NOT_RANKED = "an item that no run ranks"


def relabel(tracker: nt.Tracker, dataset: str, judge: str) -> None:
    """Store the newest labels of a dataset as a new version, with one more of grade 0, and rescore all runs."""
    rows = tracker.query(
        f"SELECT group_key, item_key, grade FROM labels WHERE dataset = {_quoted(dataset)} AND is_newest_labels"
    ).rows
    if all(str(item).isdigit() for _, item, _ in rows):
        return  # items known by row numbers take no label of another
    added = (str(rows[0][0]), f"{NOT_RANKED}{judge}", 0.0)
    groups, items, grades = zip(*rows, added, strict=True)
    labels = {"group": list(groups), "item": list(items), "label": list(grades)}
    _, is_new = tracker.add_labels(labels, dataset=dataset, judge=judge)
    assert is_new
    tracker.rescore(dataset=dataset, judge=judge or None)


def check_nothing_counts_twice(tracker: nt.Tracker, answers: Callable[[], dict[str, list[dict[str, Any]]]]) -> None:
    """Ask, relabel, ask again, have a judge label, and ask once more: the answers by name are the same rows.

    All runs are brought under the newest labels first, whose grades may have changed.
    """
    datasets = [str(name) for (name,) in tracker.query("SELECT DISTINCT dataset FROM labels WHERE judge = ''").rows]
    for dataset in datasets:
        tracker.rescore(dataset=dataset)
    first = answers()
    assert [name for name, rows in first.items() if not rows] == []
    for judge in ("", JUDGE):
        for dataset in datasets:
            relabel(tracker, dataset, judge)
        again = answers()
        for name, rows in first.items():
            assert _comparable(again[name]) == _comparable(rows), name


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _in_order(row: dict[str, Any]) -> str:
    """Return what rows are sorted by: not every query says in which order it wants them."""
    told = (value for key, value in row.items() if key != "label_set_version")
    return repr([round(value, 9) if isinstance(value, float) else value for value in told])


def _comparable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without what a relabelling has to change: the version of the labels, and the label that was added."""
    return [
        {
            key: pytest.approx(value, abs=1e-12) if isinstance(value, float) else value
            for key, value in row.items()
            if key != "label_set_version"
        }
        for row in sorted(rows, key=_in_order)
        if not any(str(value).startswith(NOT_RANKED) for value in row.values())
    ]

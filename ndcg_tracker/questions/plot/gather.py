"""Charts of stored runs: a comparison, one group's lists, a history, a training, and quality against cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.limits import number_of
from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.questions.explain.chart import rank_moves
from ndcg_tracker.questions.history.gather import HistoryFilter, history_of
from ndcg_tracker.questions.plot.chart import RunPoint, quality_against, training
from ndcg_tracker.questions.report.gather import lists_of
from ndcg_tracker.render.charts.chart import Chart
from ndcg_tracker.runs.groups import group_id

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.history.say import HistoryRow
    from ndcg_tracker.storage.transactions import ReadTransaction


def group_chart(tx: ReadTransaction, both: RunPair, group: str) -> Chart:
    """Return both lists of a group, each item joined to itself.

    Raises: ReferenceNotFoundError for a group that the dataset does not have.
    """
    ids = np.array([group_id(tx, both.dataset_id, both.baseline.run.dataset, group)])
    (lists,) = lists_of(tx, both, ids)
    return Chart(rank_moves(lists, *(side.run.name for side in both.sides)))


def training_chart(tx: ReadTransaction, name: str, dataset: str, metric: str) -> Chart:
    """Return a metric over the stored iterations of a training.

    Raises: ReferenceNotFoundError where no iteration of it is stored, or none has the metric.
    """
    rows = _rows(tx, dataset, metric, {"training": name})
    points: dict[str, list[RunPoint]] = {"iteration": [], "final": []}
    for row in rows:
        point = _point(row, "iteration")
        if point is not None and row["tags"].get("stage") in points:
            points[str(row["tags"]["stage"])].append(point)
    if not points["iteration"]:
        known = sorted({str(run.tags["training"]) for run in tx.runs.all(dataset) if "training" in run.tags})
        advice = f"there {'is' if len(known) == 1 else 'are'} {', '.join(known)}" if known else "none is stored"
        raise ReferenceNotFoundError(
            f"no iteration of a training {name!r} in dataset {dataset!r} has {metric}", advice=advice
        )
    final = points["final"][0] if points["final"] else None
    return Chart(training(points["iteration"], metric, name, final=final))


def quality_chart(tx: ReadTransaction, parameter: str, dataset: str, metric: str, tags: Mapping[str, str]) -> Chart:
    """Return a metric of runs against a parameter, or a tag, whose values are numbers.

    Raises: ReferenceNotFoundError where no run has the metric; InputError where no run has such a number.
    """
    rows = _rows(tx, dataset, metric, tags)
    if not rows:
        raise ReferenceNotFoundError(f"no run of dataset {dataset!r} that was asked for has {metric}")
    points = [point for row in rows if (point := _point(row, parameter)) is not None]
    if not points:
        names = {name for row in rows for name in (*row["parameters"], *row["tags"]) if _point(row, name) is not None}
        known = ", ".join(sorted(names)) or f"none; give runs one with {argument('parameters')} of ingest"
        raise InputError(f"no run has a number {parameter!r} among its parameters and tags; there is {known}")
    return Chart(quality_against(points, metric, parameter))


def _rows(tx: ReadTransaction, dataset: str, metric: str, tags: Mapping[str, str]) -> tuple[HistoryRow, ...]:
    return history_of(tx, dataset, metric, HistoryFilter(tags), most_steps=0).rows


def _point(row: HistoryRow, name: str) -> RunPoint | None:
    """Return a run at the number that a parameter or a tag of it has, None without one or without a mean."""
    number = number_of(name, row["parameters"], row["tags"])
    if row["mean"] is None or number is None:
        return None
    low_high = row["ci"]
    return RunPoint(row["run"], number, row["mean"], None if low_high is None else (low_high[0], low_high[1]))

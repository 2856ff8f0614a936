"""Trainings and costs as pictures: the data of the runs, and their charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ndcg_tracker.compare.arms import STAGE
from ndcg_tracker.compare.limits import number_of
from ndcg_tracker.compare.options import Version
from ndcg_tracker.errors import InputError, ReferenceNotFoundError, argument
from ndcg_tracker.metrics.language.dialects import familiar_name
from ndcg_tracker.questions.explain.chart import rank_moves
from ndcg_tracker.questions.history.gather import HistoryFilter, history_of
from ndcg_tracker.questions.report.gather import lists_of
from ndcg_tracker.render.chart import Chart
from ndcg_tracker.render.html import Spec, chart, layer
from ndcg_tracker.runs.groups import group_id, texts_of

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.history.say import HistoryRow
    from ndcg_tracker.storage.store import ReadTransaction


_TOOLTIP = [
    {"field": "run"},
    {"field": "x", "title": ""},
    {"field": "mean", "format": ".4f"},
    {"field": "low", "title": "from", "format": ".4f"},
    {"field": "high", "title": "to", "format": ".4f"},
]


@dataclass(frozen=True, slots=True)
class RunPoint:
    """A run at a number: its mean and the 95% interval, None if it is undefined."""

    run: str
    x: float
    mean: float
    ci: tuple[float, float] | None = None


def training(
    points: Sequence[RunPoint], metric: str, name: str, *, final: RunPoint | None = None, height: int = 240
) -> Spec:
    """Return the chart of a metric over a training, with its 95% intervals; ``final``: the finished model."""
    rows = [_row(point) for point in sorted(points, key=lambda point: point.x)]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": "iteration",
        "axis": {"grid": False, "tickMinStep": 1},
        "scale": {"zero": False},
    }
    y = {"type": "quantitative", "title": f"mean {metric}", "scale": {"zero": False}, "axis": {"tickCount": 5}}
    tooltip = [{**field, "title": "iteration"} if field["field"] == "x" else field for field in _TOOLTIP]
    color = {"expr": "chosen"}
    mean = {"x": x, "y": {**y, "field": "mean"}}
    span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}}
    point = {"color": color} if len(rows) <= 60 else False
    layers = [
        layer("area", span, opacity=0.18, color=color),
        layer("line", {**mean, "tooltip": tooltip}, strokeWidth=2, color=color, point=point),
    ]
    if final is not None:
        name_at = {**mean, "text": {"value": "finished model"}}
        layers += [
            {"data": {"values": [_row(final)]}, **drawn}
            for drawn in (
                layer("point", {**mean, "tooltip": tooltip}, size=120, strokeWidth=2.5, color=color, opacity=1),
                layer("text", name_at, dy=-14, fontWeight="bold", align="right"),
            )
        ]
    return chart(
        f"{metric} of training {name}", layers, rows, subtitle="validation mean with its 95% interval", height=height
    )


def quality_against(points: Sequence[RunPoint], metric: str, parameter: str, *, height: int = 320) -> Spec:
    """Return the chart of the quality of runs against their cost; a line joins the runs that no run beats in both.

    Less of ``parameter`` and more of the metric is better. Of runs that tie in one, the one that is better in the other
    counts.
    """
    front = {point.run for point in pareto_front(points)}
    rows = [
        {**_row(point), "front": "no run is better and cheaper" if point.run in front else "beaten in both"}
        for point in points
    ]
    x = {
        "field": "x",
        "type": "quantitative",
        "title": parameter,
        "axis": {"grid": False},
        "scale": {"zero": False, "padding": 24},
    }
    y = {"type": "quantitative", "title": f"mean {metric}", "scale": {"zero": False}, "axis": {"tickCount": 6}}
    color = {
        "field": "front",
        "type": "nominal",
        "scale": {
            "domain": ["no run is better and cheaper", "beaten in both"],
            "range": [{"expr": "chosen"}, {"expr": "same"}],
        },
        "legend": {"title": None},
    }
    tooltip = [{**field, "title": parameter} if field["field"] == "x" else field for field in _TOOLTIP]
    on_front = "datum.front != 'beaten in both'"
    mean = {"x": x, "y": {**y, "field": "mean"}}
    span = {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": color}
    look = {"interpolate": "step-after", "strokeDash": [4, 3], "color": {"expr": "chosen"}}
    named = on_front if len(points) > 15 else ""
    layers = [
        layer("line", mean, where=on_front, **look),
        layer("rule", span, strokeWidth=1.5, opacity=0.6),
        layer("circle", {**mean, "color": color, "tooltip": tooltip}, size=80, opacity=1),
        layer("text", {**mean, "text": {"field": "run"}}, where=named, align="left", dx=8, dy=-6, limit=160),
    ]
    return chart(
        f"{metric} against {parameter}", layers, rows, subtitle="means with their 95% intervals", height=height
    )


def pareto_front(points: Sequence[RunPoint]) -> list[RunPoint]:
    """Return the runs that no other run beats: with at least the mean at no more cost, and better in one of both.

    >>> points = [RunPoint("a", 1, 0.5), RunPoint("b", 2, 0.6), RunPoint("c", 3, 0.6), RunPoint("d", 1, 0.4)]
    >>> [point.run for point in pareto_front(points)]
    ['a', 'b']
    """
    front: list[RunPoint] = []
    for point in sorted(points, key=lambda point: (point.x, -point.mean)):
        if not front or point.mean > front[-1].mean or (point.x, point.mean) == (front[-1].x, front[-1].mean):
            front.append(point)
    return front


def _row(point: RunPoint) -> dict[str, object]:
    low, high = point.ci or (None, None)
    return {"run": point.run, "x": point.x, "mean": point.mean, "low": low, "high": high}


def group_chart(tx: ReadTransaction, both: RunPair, group: str) -> Chart:
    """Return the chart of both lists of a group, with a line for each item.

    Raises: ReferenceNotFoundError for a group that the dataset does not have.
    """
    number = group_id(tx, both.dataset_id, both.baseline.run.dataset, group)
    (lists,) = lists_of(tx, both, np.array([number]))
    texts = texts_of(tx, both.dataset_id, {number: [item.item for item in lists.items]}).get(number)
    names = [side.run.name for side in both.sides]
    return Chart(rank_moves(lists, *names, metric=familiar_name(str(both.metric)), texts=texts))


def training_chart(
    tx: ReadTransaction, name: str, dataset: str, metric: str, labels: Version = None, judge: str | None = None
) -> Chart:
    """Return the chart of a metric over the stored iterations of a training.

    Raises: ReferenceNotFoundError if no iteration of it is stored, or none has the metric.
    """
    dataset = tx.datasets.known(dataset).name
    points: dict[str, list[RunPoint]] = {}
    for stage in ("iteration", "final"):
        wanted = HistoryFilter({"training": name, STAGE: stage}, labels=labels, judge=judge)
        of_stage = (_point(row, "iteration") for row in _rows(tx, dataset, metric, wanted))
        points[stage] = [point for point in of_stage if point is not None]
    if not points["iteration"]:
        names = sorted({str(run.tags["training"]) for run in tx.runs.all(dataset) if "training" in run.tags})
        advice = f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}" if names else "none is stored"
        raise ReferenceNotFoundError(
            f"no iteration of a training {name!r} in dataset {dataset!r} has {metric}", advice=advice
        )
    final = points["final"][0] if points["final"] else None
    return Chart(training(points["iteration"], metric, name, final=final))


def quality_chart(
    tx: ReadTransaction,
    parameter: str,
    dataset: str,
    metric: str,
    tags: Mapping[str, str],
    labels: Version = None,
    judge: str | None = None,
) -> Chart:
    """Return the chart of a metric of runs against a parameter, or a tag, whose values are numbers.

    Raises: ReferenceNotFoundError if no run has the metric; InputError if no run has such a number.
    """
    dataset = tx.datasets.known(dataset).name
    rows = _rows(tx, dataset, metric, HistoryFilter(tags, labels=labels, judge=judge))
    if not rows:
        raise ReferenceNotFoundError(f"none of the requested runs of dataset {dataset!r} has {metric}")
    points = [point for row in rows if (point := _point(row, parameter)) is not None]
    if not points:
        names = {name for row in rows for name in (*row["parameters"], *row["tags"]) if _point(row, name) is not None}
        numbers = ", ".join(sorted(names)) or f"none; give runs a number with {argument('parameters')} of ingest"
        raise InputError(f"no run has a number {parameter!r} among its parameters and tags; there is {numbers}")
    return Chart(quality_against(points, metric, parameter))


def _rows(tx: ReadTransaction, dataset: str, metric: str, wanted: HistoryFilter) -> tuple[HistoryRow, ...]:
    return history_of(tx, dataset, metric, wanted, most_steps=0).rows


def _point(row: HistoryRow, name: str) -> RunPoint | None:
    """Return a run at the number in its parameter or tag, None without a number or without a mean."""
    number = number_of(name, row["parameters"], row["tags"])
    if row["mean"] is None or number is None:
        return None
    low_high = row["ci"]
    return RunPoint(row["run"], number, row["mean"], None if low_high is None else (low_high[0], low_high[1]))

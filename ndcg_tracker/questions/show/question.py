"""Which runs to list."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal, TypedDict

from ndcg_tracker.asked import AnyDataset, Judge, OnlyTagged, Option, Tags

SortBy = Literal["time", "mean"]
"""The order of runs."""

ShownMetric = Annotated[str | None, Option("Show the mean of this metric.")]
Order = Annotated[SortBy, Option("The order: by time, or the best mean of --metric first.")]
First = Annotated[int | None, Option("Only the first N runs.", metavar="N", least=1)]
Newest = Annotated[int | None, Option("Only the latest N runs.", metavar="N", least=1)]


@dataclass(frozen=True, kw_only=True)
class RunsQuestion:
    """Which runs to list (see ``list_runs``)."""

    dataset: AnyDataset = None
    tags: Tags = field(default_factory=dict)
    metric: ShownMetric = None
    sort: Order = "time"
    top: First = None
    limit: Newest = None
    judge: Judge = None


class RunsKeywords(TypedDict, total=False):
    """How people give ``RunsQuestion`` (generated)."""

    dataset: AnyDataset
    metric: ShownMetric
    tags: OnlyTagged
    sort: Order
    top: First
    limit: Newest
    judge: Judge

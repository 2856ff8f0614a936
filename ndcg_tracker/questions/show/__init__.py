"""Which runs are there, and what is known about one of them?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, TypedDict, Unpack

from ndcg_tracker.asked import AnyDataset, Judge, OnlyTagged, Option, Run, Tags, asks, made
from ndcg_tracker.metrics.language.text import parse_metric

if TYPE_CHECKING:
    from ndcg_tracker.questions.show.decide import ShownRun
    from ndcg_tracker.questions.show.gather import ListedRuns
    from ndcg_tracker.storage.store import HasStore


ShowFormat = Literal["text", "json", "markdown", "csv", "html", "ir-metadata"]
"""How a run is printed."""

SortBy = Literal["time", "mean"]
"""The order of runs."""

FirstMetric = Annotated[
    str | None, Option("The metric whose hardest groups and slices to show.", ("--metric", "-m"), default="the first")
]
BySlices = Annotated[str | None, Option("Also show the means in each slice of this attribute.", metavar="ATTRIBUTE")]
Hardest = Annotated[int, Option("How many of the hardest groups to show.", metavar="N", least=0)]
ShownMetric = Annotated[str | None, Option("Show the mean of this metric.", ("--metric", "-m"))]
Order = Annotated[SortBy, Option("The order: by time, or the best mean of --metric first.")]
First = Annotated[int | None, Option("Only the first N runs.", metavar="N", least=1)]
Newest = Annotated[int | None, Option("Only the latest N runs.", metavar="N", least=1)]


def show(
    self: HasStore,
    reference: Run,
    *,
    metric: FirstMetric = None,
    by: BySlices = None,
    top: Hardest = 5,
    dataset: AnyDataset = None,
) -> ShownRun:
    """Return one run with its means and their intervals, how much of it is judged, and its hardest groups.

    Parameters: ``metric``: the metric whose groups and slices to return, by default the first that the run has. ``by``:
    a group attribute, for the means of slices. ``top``: how many of the hardest groups. Raises: ReferenceNotFoundError;
    InputError for a metric that the run does not have and an unknown attribute.
    """
    from ndcg_tracker.questions.show.gather import shown_run

    with self.store().read() as tx:
        asked = None if metric is None else parse_metric(metric)
        return shown_run(tx, tx.runs.resolve(reference, dataset), asked, by, top)


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


@asks(RunsQuestion)
def list_runs(self: HasStore, **keywords: Unpack[RunsKeywords]) -> ListedRuns:
    """Return the stored runs, oldest first, with the mean of a metric if one is named.

    Parameters: ``tags``: only runs with these tags. ``sort``: by "time", or the best "mean" of ``metric`` first.
    ``limit``: only so many of the latest runs; ``top``: only the first of those. ``judge``: whose labels (see
    ``compare``). Raises: InputError; ReferenceNotFoundError; NotComparableError where no run has the metric.
    """
    from ndcg_tracker.questions.show.gather import listed_runs

    return listed_runs(self, made(RunsQuestion, keywords))

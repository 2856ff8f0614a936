"""Which runs are there, and what is known about one of them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from ndcg_tracker.asked import AnyDataset, Option, Run, asks, made
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.questions.show.question import RunsKeywords, RunsQuestion

if TYPE_CHECKING:
    from ndcg_tracker.questions.show.decide import ShownRun
    from ndcg_tracker.questions.show.gather import ListedRuns
    from ndcg_tracker.storage.store import HasStore


ShowFormat = Literal["text", "json", "markdown", "csv", "html", "ir-metadata"]
"""How a run is printed."""

FirstMetric = Annotated[str | None, Option("The metric whose hardest groups and slices to show.", default="the first")]
BySlices = Annotated[str | None, Option("Also show the means in each slice of this attribute.", metavar="ATTRIBUTE")]
Hardest = Annotated[int, Option("How many of the hardest groups to show.", metavar="N", least=0)]


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


@asks(RunsQuestion)
def list_runs(self: HasStore, **keywords: Unpack[RunsKeywords]) -> ListedRuns:
    """Return the stored runs, oldest first, with the mean of a metric if one is named.

    Parameters: ``tags``: only runs with these tags. ``sort``: by "time", or the best "mean" of ``metric`` first.
    ``limit``: only so many of the latest runs; ``top``: only the first of those. ``judge``: whose labels (see
    ``compare``). Raises: InputError; ReferenceNotFoundError; NotComparableError where no run has the metric.
    """
    from ndcg_tracker.questions.show.gather import listed_runs

    return listed_runs(self, made(RunsQuestion, keywords))

"""What is this one run?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import AnyDataset, Option, Run
from ndcg_tracker.metrics.language.text import parse_metric

if TYPE_CHECKING:
    from ndcg_tracker.questions.show.decide import ShownRun
    from ndcg_tracker.storage.store import HasStore


FirstMetric = Annotated[str | None, Option("Whose hardest groups and slices.", ("--metric", "-m"), default="the first")]
BySlices = Annotated[str | None, Option("The means of slices, too.", metavar="ATTRIBUTE")]
Hardest = Annotated[int, Option("How many of the hardest groups.", metavar="N", least=0)]


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

    Parameters: ``metric``: whose groups and slices, by default the first that the run has. ``by``: a group
    attribute, for the means of slices. ``top``: how many groups. Raises: ReferenceNotFoundError; InputError for a
    metric that the run does not have and an unknown attribute.
    """
    from ndcg_tracker.questions.show.gather import shown_run

    with self.store().read() as tx:
        asked = None if metric is None else parse_metric(metric)
        return shown_run(tx, tx.runs.resolve(reference, dataset), asked, by, top)

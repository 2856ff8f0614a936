"""How many queries, and how many labels, does a promise need?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import (
    DEFAULT_METRIC,
    AnyDataset,
    Everyday,
    Judge,
    MetricText,
    Positional,
    checked_margin,
)
from ndcg_tracker.compare.options import LabelsVersion, LabelView
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.plan.say import PlanResult
    from ndcg_tracker.storage.store import HasStore

FURTHER_METRICS = ("RR@10", "ndcg@10")
"""What files in the place of runs are also evaluated under: it may need fewer queries."""

PilotBaseline = Annotated[str | None, Positional("A run to plan by, or a file.", metavar="BASELINE")]
PilotCandidate = Annotated[
    str | None,
    Positional("One that differs as further ones may.", metavar="CANDIDATE", is_optional=True),
]
PlannedMargin = Annotated[float, Everyday("The drop of the mean that is to be ruled out.", metavar="X")]
PlannedQueries = Annotated[
    int | None, Everyday("How many queries there are, or may be.", metavar="N", default="40; of runs, theirs", least=1)
]


def plan(
    self: HasStore,
    baseline: PilotBaseline = None,
    candidate: PilotCandidate = None,
    *,
    metric: MetricText = DEFAULT_METRIC,
    margin: PlannedMargin = 0.05,
    queries: PlannedQueries = None,
    dataset: AnyDataset = None,
    labels: LabelsVersion = None,
    judge: Judge = None,
) -> PlanResult:
    """Return how many queries a promise needs, and what a number of queries can promise.

    Parameters: ``baseline`` and ``candidate``: runs that differ as much as further ones may; without them, there are
    the differences that are typical for hit@K, RR@K, recall@K and ndcg@K, which may err by half. ``margin``: the drop
    of the mean that a gate is to rule out with 95% confidence, in 4 of 5 samples if both are equally good. ``queries``:
    a number of queries to tell about, by default 40, or those of the runs. The others: see ``compare``. Raises:
    InputError for another metric without runs, for one that is not from 0 to 1, for one run alone, and where no test
    applies; the errors of ``compare``.
    """
    from ndcg_tracker.questions.plan.decide import planned
    from ndcg_tracker.questions.plan.say import PlanResult

    if (baseline is None) != (candidate is None):
        raise InputError(f"a plan goes by how two runs differ, and {baseline or candidate!r} is one", advice="name two")
    refuse("plan", {"candidate": candidate, "dataset": dataset, "labels": labels, "judge": judge})
    checked_margin(margin, "the margin", zero=False)
    if queries is not None and queries < 1:
        raise InputError(f"a plan is for 1 query or more, not {queries}", advice="give for example 40")
    asked, pilot = parse_metric(metric), None
    if asked.limits != (0.0, 1.0) or asked.direction != "higher":
        raise InputError("a plan is about metrics from 0 to 1, the higher the better", where=metric)
    if baseline is not None and candidate is not None:
        from ndcg_tracker.questions.plan.gather import gathered

        with self.store().read() as tx:
            pilot = gathered(tx, (baseline, candidate), asked, LabelView(labels=labels, judge=judge), dataset)
    return PlanResult(planned(asked, margin, queries, pilot))

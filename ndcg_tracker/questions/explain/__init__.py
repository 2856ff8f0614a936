"""Why did a group, or the mean, change?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import AnyDataset, Everyday, Made, Option, asks, made
from ndcg_tracker.compare.options import Baseline, Candidate, LabelView, ViewKeywords
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric
from ndcg_tracker.rules import given_of, refuse

if TYPE_CHECKING:
    from ndcg_tracker.compare.run_pair import RunPair
    from ndcg_tracker.questions.explain.gather import ExplanationResult
    from ndcg_tracker.render.chart import Chart
    from ndcg_tracker.storage.store import HasStore


Group = Annotated[str | int | None, Everyday("The group to explain.", metavar="KEY", default="all", typed=str | None)]
GroupMetric = Annotated[
    str | None, Everyday("A cg, dcg or ndcg metric that both runs have.", default="ndcg@10, else the first they share")
]
BySlices = Annotated[str | None, Everyday("Also show the change in each slice of this attribute.", metavar="ATTRIBUTE")]
LabelsBaseline = Annotated[int | None, Option("Evaluate the baseline against these labels.", metavar="VERSION")]
LabelsCandidate = Annotated[int | None, Option("Evaluate the candidate against these labels.", metavar="VERSION")]
TopItems = Annotated[int | None, Everyday("How many items to show.", least=0)]


GroupMetrics = Annotated[Metric | None, Made(GroupMetric, lambda text: None if text is None else parse_metric(text))]


@dataclass(frozen=True, kw_only=True)
class ExplainQuestion(LabelView):
    """What to explain (see ``Tracker.explain``)."""

    dataset: AnyDataset = None
    group: Group = None
    metric: GroupMetrics = None
    labels_baseline: LabelsBaseline = None
    labels_candidate: LabelsCandidate = None
    top: TopItems = 10
    by: BySlices = None

    def __post_init__(self) -> None:
        """Refuse what does not go together (InputError)."""
        refuse("explain", given_of(self))
        LabelView.__post_init__(self)


class ExplainKeywords(ViewKeywords, total=False):
    """How people give ``ExplainQuestion`` (generated)."""

    dataset: AnyDataset
    metric: GroupMetric
    group: Group
    labels_baseline: LabelsBaseline
    labels_candidate: LabelsCandidate
    top: TopItems
    by: BySlices


@asks(ExplainQuestion)
def explain(
    self: HasStore, baseline: Baseline, candidate: Candidate, **keywords: Unpack[ExplainKeywords]
) -> ExplanationResult:
    """Explain which items, grades, ranks or labels cause the difference between two runs.

    Parameters: ``baseline`` and ``candidate``: run references; of an arm of repeats (``tag:KEY=VALUE``) the mean is
    explained. ``group``: the group whose difference is split by item. By default the difference between the means is
    added up over all groups by item, by grade, by rank and by what happened. ``metric``: a cg, dcg or ndcg; by default
    ndcg@10 if both runs have it, else the first that they share. ``labels_baseline`` and ``labels_candidate``: versions
    of the labels for each run; by default the latest under which both have the metric. Under two versions the change is
    also split into the parts of the ranking, the grades and the coverage of the labels. ``top``: how many items to keep
    at either end over all groups, None for all. ``by``: a group attribute, to show the change in each slice as well.
    ``labels``: a version for both runs, or "newest"; ``judge``: whose labels (see ``compare``). Raises:
    ReferenceNotFoundError; MetricError for a metric that is not split into items; InputError for a group without a
    result; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.compare.arms import arms_of
    from ndcg_tracker.questions.explain.gather import (
        ExplanationResult,
        explained_pair,
        group_explanation,
        run_explanation,
    )

    question = made(ExplainQuestion, keywords)
    with self.store().read() as tx:
        first, second = arms_of(tx, [baseline, candidate], question.dataset)
        versions = question.labels_baseline, question.labels_candidate
        both = explained_pair(tx, first, second, question.metric, versions, question)
        if question.group is None:
            return ExplanationResult(run_explanation(tx, both, top=question.top, by=question.by))
        key = str(question.group)  # an id that was a whole number is stored as text
        explanation = group_explanation(tx, both, key)
    return ExplanationResult(explanation, None if both.is_repeated else partial(_group_chart, self, both, key))


def _group_chart(self: HasStore, both: RunPair, group: str) -> Chart:
    from ndcg_tracker.questions.plot.gather import group_chart

    with self.store().read() as tx:
        return group_chart(tx, both, group)

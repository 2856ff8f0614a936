"""What to judge next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from ndcg_tracker.asked import AnyDataset, Made, Option
from ndcg_tracker.compare.options import LabelView, Version, ViewKeywords, labels_version
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric

Budget = Annotated[int | None, Option("How many items to list at most.", metavar="N")]
NeededVersion = Annotated[
    Version,
    Option(
        "Version of the labels: a number, or newest.",
        metavar="VERSION",
        default="newest",
        typed=str | None,
        read=labels_version,
    ),
]
SettledMetric = Annotated[
    str | None, Option("The metric whose difference to settle.", default="the first with bounds that all runs have")
]
NeededMetric = Annotated[Metric | None, Made(SettledMetric, lambda text: None if text is None else parse_metric(text))]


@dataclass(frozen=True, kw_only=True)
class NeededQuestion(LabelView):
    """What to judge next (see ``Tracker.labels_needed``)."""

    metric: NeededMetric = None
    dataset: AnyDataset = None
    budget: Budget = 100
    labels: NeededVersion = None


class NeededKeywords(ViewKeywords, total=False):
    """How people give ``NeededQuestion`` (generated)."""

    dataset: AnyDataset
    metric: SettledMetric
    budget: Budget

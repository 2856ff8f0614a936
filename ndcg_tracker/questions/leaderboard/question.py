"""The question of a leaderboard, with checks of options that do not go together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypedDict

from ndcg_tracker.asked import (
    DEFAULT_METRIC,
    AnyDataset,
    ByTag,
    Everyday,
    Judge,
    Made,
    MetricTexts,
    OnlyTagged,
    OnSuite,
    Option,
    Tags,
    refuse_unknown,
)
from ndcg_tracker.compare.options import CheckWith, DataView, LabelsVersion, LabelView, LeaderboardTest, Missing
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.metric import Metric
from ndcg_tracker.metrics.language.text import parse_metric, parse_metrics
from ndcg_tracker.rules import given_of, refuse

Test = Annotated[
    LeaderboardTest, Option("Paired t-test with Holm's correction, or sign flips corrected by the largest t.")
]
BySlices = Annotated[str | None, Everyday("Also show the first metric by this group attribute.", metavar="ATTRIBUTE")]
MissingGroups = Annotated[
    Missing,
    Option(
        "Groups missing from some runs: error counts them as the metric does, and refuses them if it gives them no "
        "result; zero counts them as 0; intersect leaves them out; skip also leaves out those in no run."
    ),
]
Measures = Annotated[Sequence[str], Option("Also show this tag or parameter, a number such as latency_ms; repeatable.")]
RankedBy = Annotated[tuple[Metric, ...], Made(MetricTexts, lambda texts: tuple(parse_metrics(texts)), DEFAULT_METRIC)]


@dataclass(frozen=True, kw_only=True)
class LeaderboardQuestion(DataView):
    """The question of a leaderboard (see ``Tracker.leaderboard``).

    ``references``: none for all runs. ``last``: only so many of the latest runs.
    """

    references: Sequence[str] = ()
    metrics: RankedBy = (parse_metric(DEFAULT_METRIC),)
    suite: OnSuite = None
    by_tag: ByTag = None
    tags: Tags = field(default_factory=dict)
    test: Test = "t"
    by: BySlices = None
    missing: MissingGroups = "error"
    measures: Measures = ()
    check_with: CheckWith = None
    last: int | None = None

    def __post_init__(self) -> None:
        """Refuse options that are unknown or do not go together (InputError)."""
        LabelView.__post_init__(self)
        refuse_unknown(self)
        for metric in self.metrics:
            if metric.shown_only is not None or metric.summary != "mean":
                raise InputError(f"{metric} is only shown, not tested", advice="rank by another metric")
        refuse("leaderboard", given_of(self))


class LeaderboardKeywords(TypedDict, total=False):
    """How people give ``LeaderboardQuestion`` (generated)."""

    suite: OnSuite
    by_tag: ByTag
    dataset: AnyDataset
    metrics: MetricTexts
    labels: LabelsVersion
    judge: Judge
    missing: MissingGroups
    tags: OnlyTagged
    test: Test
    by: BySlices
    measures: Measures
    check_with: CheckWith

"""The options of a reproduction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from ndcg_tracker.asked import REPRO_EVAL_P, Everyday, Made, MetricTexts, Option, RboP
from ndcg_tracker.compare.options import DataKeywords, DataView, Metrics
from ndcg_tracker.rules import given_of, refuse

BaselineOriginal = Annotated[
    str | None, Option("The run that ORIGINAL improves on, for ER and DeltaRI.", metavar="RUN")
]
BaselineReproduced = Annotated[str | None, Option("The run that REPRODUCED improves on.", metavar="RUN")]
Published = Annotated[float | None, Everyday("A published mean, if you do not have its run.", metavar="NUMBER")]
Cutoffs = Annotated[
    Sequence[int],
    Option(
        "How many of the first items KTU and RBO use; repeatable.",
        ("--cutoff",),
        metavar="K",
        default="10, 100 and 1000",
        least=1,
        typed=list[int] | None,
    ),
]


GivenCutoffs = Annotated[tuple[int, ...], Made(Cutoffs, tuple, ())]


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions(DataView):
    """The options of a reproduction (see ``Tracker.reproduce``).

    ``cutoffs``: none for those of ``REPRO_EVAL_CUTOFFS`` that some list reaches, else the length of the longest list.
    """

    metrics: Metrics = ()
    baseline_original: BaselineOriginal = None
    baseline_reproduced: BaselineReproduced = None
    published: Published = None
    cutoffs: GivenCutoffs = ()
    rbo_p: RboP = REPRO_EVAL_P

    def __post_init__(self) -> None:
        """Refuse several metrics with one published mean (InputError)."""
        DataView.__post_init__(self)
        refuse("reproduce", {**given_of(self), "several_metrics": len(self.metrics) > 1})


class ReproduceKeywords(DataKeywords, total=False):
    """How people give ``ReproduceOptions`` (generated)."""

    metrics: MetricTexts
    baseline_original: BaselineOriginal
    baseline_reproduced: BaselineReproduced
    published: Published
    cutoffs: Cutoffs
    rbo_p: RboP

"""Does this run reproduce a published one?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import REPRO_EVAL_P, Everyday, Made, MetricTexts, Option, RboP, asks, made
from ndcg_tracker.compare.options import DataKeywords, DataView, Metrics
from ndcg_tracker.errors import InputError
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.reproduce.gather import ReproductionResult
    from ndcg_tracker.storage.store import HasStore


Original = Annotated[
    str, Option("The published run; with --published, your run.", metavar="ORIGINAL", is_positional=True)
]
Reproduced = Annotated[str | None, Option("The run that reproduces it.", metavar="REPRODUCED", is_positional=True)]
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
        if self.published is not None and len(self.metrics) > 1:
            raise InputError(f"a published mean needs one metric, not {len(self.metrics)}", advice="name one")


class ReproduceKeywords(DataKeywords, total=False):
    """How people give ``ReproduceOptions`` (generated)."""

    metrics: MetricTexts
    baseline_original: BaselineOriginal
    baseline_reproduced: BaselineReproduced
    published: Published
    cutoffs: Cutoffs
    rbo_p: RboP


@asks(ReproduceOptions)
def reproduce(
    self: HasStore, original: Original, reproduced: Reproduced = None, **keywords: Unpack[ReproduceKeywords]
) -> ReproductionResult:
    """Check whether a run reproduces a published one: KTU, RBO, RMSE, p-value, ER and DeltaRI, as in repro_eval.

    Parameters: ``original``, ``reproduced``: the published run and the one that reproduces it, both stored.
    ``metrics``: none for all that they share. ``baseline_original``, ``baseline_reproduced``: the runs that each
    improves on, for ER and DeltaRI. ``published``: the published mean, if its run is not available; then the only run
    is the one that reproduces it, under one metric, by default its first. ``missing``: see ``compare``. ``cutoffs``:
    how many of the first items KTU and RBO use, by default 10, 100 and 1000 as far as the lists go. ``rbo_p``: how much
    a rank counts relative to the one before it, in (0, 1). ``labels``, ``judge``: see ``compare``. Raises:
    ReferenceNotFoundError; InputError for one of two arguments that belong together, for a number that the metric
    cannot have, and for groups in only one run; NotComparableError, with the command that fixes it.
    """
    from ndcg_tracker.questions.reproduce.gather import ReproductionResult, beside_published, reproduction

    refuse("reproduce", {"reproduced": reproduced, **keywords})
    options = made(ReproduceOptions, keywords)
    if options.published is None and reproduced is None:
        raise InputError("there is nothing to reproduce", advice="give a second run, or a published mean")
    with self.store().read() as tx:
        run = tx.runs.resolve(original, options.dataset)
        if options.published is not None:
            return ReproductionResult(beside_published(tx, run, options.published, options))
        references = reproduced, options.baseline_original, options.baseline_reproduced
        other, *effects = (tx.runs.resolve(of, options.dataset) for of in references if of is not None)
        of_both = (effects[0], effects[1]) if effects else None
        return ReproductionResult(reproduction(tx, run, other, of_both, options))

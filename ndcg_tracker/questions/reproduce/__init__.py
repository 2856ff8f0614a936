"""Does this run reproduce a published one?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Unpack

from ndcg_tracker.asked import Positional, asks, made
from ndcg_tracker.questions.reproduce.question import ReproduceKeywords, ReproduceOptions
from ndcg_tracker.rules import refuse

if TYPE_CHECKING:
    from ndcg_tracker.questions.reproduce.gather import ReproductionResult
    from ndcg_tracker.storage.store import HasStore


Original = Annotated[str, Positional("The published run; with --published, your run.", metavar="ORIGINAL")]
Reproduced = Annotated[str | None, Positional("The run that reproduces it.", metavar="REPRODUCED")]


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

    refuse("complete reproduce", {"reproduced": reproduced, **keywords})
    options = made(ReproduceOptions, keywords)
    with self.store().read() as tx:
        run = tx.runs.resolve(original, options.dataset)
        if options.published is not None:
            return ReproductionResult(beside_published(tx, run, options.published, options))
        references = reproduced, options.baseline_original, options.baseline_reproduced
        other, *effects = (tx.runs.resolve(of, options.dataset) for of in references if of is not None)
        of_both = (effects[0], effects[1]) if effects else None
        return ReproductionResult(reproduction(tx, run, other, of_both, options))

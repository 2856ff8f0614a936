"""Does this run reproduce a published one?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import REPRO_EVAL_P, AnyDataset, Everyday, Judge, MetricTexts, Option, RboP
from ndcg_tracker.compare.options import LabelsVersion, MissingGroups
from ndcg_tracker.errors import InputError
from ndcg_tracker.metrics.language.text import parse_metrics
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


def reproduce(
    self: HasStore,
    original: Original,
    reproduced: Reproduced = None,
    metrics: MetricTexts = (),
    *,
    baseline_original: BaselineOriginal = None,
    baseline_reproduced: BaselineReproduced = None,
    published: Published = None,
    dataset: AnyDataset = None,
    missing: MissingGroups = "error",
    cutoffs: Cutoffs = (),
    rbo_p: RboP = REPRO_EVAL_P,
    labels: LabelsVersion = None,
    judge: Judge = None,
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
    refuse("reproduce", locals())
    from ndcg_tracker.questions.reproduce.gather import (
        ReproduceOptions,
        ReproductionResult,
        beside_published,
        reproduction,
    )

    parsed, baselines = tuple(parse_metrics(metrics)), (baseline_original, baseline_reproduced)
    if published is None and reproduced is None:
        raise InputError("there is nothing to reproduce", advice="give a second run, or a published mean")
    if published is not None and len(parsed) > 1:
        raise InputError(f"a published mean needs one metric, not {len(parsed)}", advice="name one")
    with self.store().read() as tx:
        run = tx.runs.resolve(original, dataset)
        if published is not None:
            metric = parsed[0] if parsed else None
            return ReproductionResult(beside_published(tx, run, metric, published, labels, judge))
        other, *effects = (
            tx.runs.resolve(reference, dataset) for reference in (reproduced, *baselines) if reference is not None
        )
        options = ReproduceOptions(parsed, missing, tuple(cutoffs), rbo_p, labels, judge)
        of_both = (effects[0], effects[1]) if effects else None
        return ReproductionResult(reproduction(tx, run, other, of_both, options))

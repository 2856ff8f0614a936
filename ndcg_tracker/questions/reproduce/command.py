"""``ndcg-track reproduce``: is this run the published one?"""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare.command import MissingGroups
from ndcg_tracker.defaults import REPRO_EVAL_P


def reproduce(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The published run; with --published, yours.")],
    reproduced: Annotated[str | None, typer.Argument(metavar="REPRODUCED", help="The run that reproduces it.")] = None,
    metric: options.Metrics = None,
    baseline_original: Annotated[
        str | None, typer.Option(metavar="RUN", help="What ORIGINAL improves on, for ER and DeltaRI.")
    ] = None,
    baseline_reproduced: Annotated[str | None, typer.Option(metavar="RUN", help="What REPRODUCED improves on.")] = None,
    published: Annotated[
        float | None, typer.Option(metavar="NUMBER", help="A published mean, where its run is not at hand.")
    ] = None,
    missing: MissingGroups = "error",
    cutoff: Annotated[
        list[int] | None,
        typer.Option(
            min=1, metavar="K", help="First items of KTU and RBO; repeatable.", show_default="10, 100 and 1000"
        ),
    ] = None,
    rbo_p: options.RboP = REPRO_EVAL_P,
    dataset: options.AnyDataset = None,
    format: options.Output = "text",
) -> None:
    """Say whether a run is the published one.

    The measures of repro_eval: KTU and RBO of the lists, RMSE and p-value of the results of groups, and with both
    baselines the effect ratio (ER) and DeltaRI. With --published only the means. CSV has a row per metric.
    """
    from ndcg_tracker.questions.reproduce.say import reproduction_said

    with options.tracker() as tracker:
        found = tracker.reproduce(
            original,
            reproduced,
            metric or (),
            baseline_original=baseline_original,
            baseline_reproduced=baseline_reproduced,
            published=published,
            dataset=dataset,
            missing=missing,
            cutoffs=cutoff or (),
            rbo_p=rbo_p,
        ).reproduction
    options.show_answer(reproduction_said(found), format)

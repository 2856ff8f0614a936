"""``ndcg-track compare``: what changed between two runs, and is it real."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from ndcg_tracker.cli import options


class Missing(StrEnum):
    """What to do with groups that have a result in one run only."""

    error = "error"
    zero = "zero"
    intersect = "intersect"


def compare(
    baseline: Annotated[str, typer.Argument(help="A run: name, id, @alias, latest, latest~2 or a unique prefix.")],
    candidates: Annotated[
        list[str], typer.Argument(metavar="CANDIDATE...", help="The run that is to be better, or several.")
    ],
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    missing: Annotated[Missing, typer.Option(help="Groups with a result in one run only.")] = Missing.error,
    top: Annotated[int, typer.Option(min=0, help="How many worst and best groups to show.")] = 10,
    tie_bounds: Annotated[
        bool, typer.Option("--tie-bounds", help="Show the groups that ties in scores leave open.")
    ] = False,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Compare runs group by group: difference, interval, wins and losses, worst and best groups.

    Labels are the newest version under which both runs have the metrics (all they share, unless --metric names some).
    """
    from ndcg_tracker.reporting import comparison_as

    with options.tracker() as tracker:
        result = tracker.compare(
            baseline,
            *candidates,
            dataset=dataset,
            metrics=metric or (),
            missing=missing.value,
            top=top,
            tie_bounds=tie_bounds,
        )
    options.show(comparison_as(format.plain, *result.comparisons, color=options.wants_color()))

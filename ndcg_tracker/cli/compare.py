"""``ndcg-track compare``: what changed between two runs, and is it real."""

from __future__ import annotations

import shutil
from enum import StrEnum
from typing import Annotated

import typer

from ndcg_tracker.cli import options

DEFAULT_COLUMNS = 100
"""How wide a report is where standard output is no terminal."""
WIDEST = 140
"""How wide it is at most: beyond that, lines are hard to follow."""


class Missing(StrEnum):
    """What to do with groups that a run does not have."""

    error = "error"
    zero = "zero"
    intersect = "intersect"
    skip = "skip"


NOTHING_COMPARABLE = 5
MISSING = "Groups with a result in one run only; skip: leave out those in neither, too."


class Significance(StrEnum):
    """Where p-values come from."""

    t = "t"
    permutation = "permutation"
    wilcoxon = "wilcoxon"


class Interval(StrEnum):
    """Where intervals come from."""

    t = "t"
    bootstrap = "bootstrap"
    betting = "betting"


def compare(
    baseline: Annotated[
        str,
        typer.Argument(metavar="BASELINE", help="A run: name, id, @alias, latest, latest~2 or a unique prefix."),
    ],
    candidates: Annotated[
        list[str], typer.Argument(metavar="CANDIDATE...", help="The run that is to be better, or several.")
    ],
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="Compare slices, too: by an attribute given with groups set.",
            show_default=False,
        ),
    ] = None,
    test: Annotated[
        Significance, typer.Option(help="p-values: paired t, sign flips, or Wilcoxon (tests symmetry, not the mean).")
    ] = Significance.t,
    ci: Annotated[
        Interval, typer.Option(help="95% intervals: t, bootstrap (BCa), or betting, which holds at any n.")
    ] = Interval.t,
    equivalence: Annotated[
        float | None,
        typer.Option(metavar="MARGIN", help="Test whether delta lies within +-MARGIN (TOST).", show_default=False),
    ] = None,
    missing: Annotated[Missing, typer.Option(help=MISSING)] = Missing.error,
    top: Annotated[int, typer.Option(min=0, help="How many worst and best groups to show.")] = 10,
    tie_bounds: Annotated[
        bool, typer.Option("--tie-bounds", help="Show the groups that ties in scores leave open.")
    ] = False,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Compare runs group by group: what changed, and is it real.

    Difference, interval, wins and losses, worst and best groups.

    Labels are the newest version under which both runs have the metrics (all they share, unless --metric names some).
    The first metric decides the worst and best groups and the slices.
    """
    from ndcg_tracker.reporting.comparison_formats import comparison_as

    with options.tracker() as tracker:
        result = tracker.compare(
            baseline,
            *candidates,
            dataset=dataset,
            metrics=metric or (),
            missing=missing.value,
            top=top,
            tie_bounds=tie_bounds,
            test=test.value,
            ci=ci.value,
            equivalence=equivalence,
            by=by,
        )
    columns = shutil.get_terminal_size((DEFAULT_COLUMNS, 0)).columns  # COLUMNS, else those of the terminal
    width = min(columns, WIDEST)
    color = options.wants_color()
    options.show(comparison_as(format.plain, *result.comparisons, color=color, width=width, spelled=options.as_option))
    if not any(comparison.is_comparable for comparison in result.comparisons):
        raise typer.Exit(NOTHING_COMPARABLE)

"""``ndcg-track compare``: what changed between two runs, and whether it is real."""

from __future__ import annotations

import shutil
from enum import StrEnum
from typing import Annotated

import typer

from ndcg_tracker.cli import options

DEFAULT_COLUMNS = 100
"""The width of a report if standard output is not a terminal."""
WIDEST = 140
"""The largest width: longer lines are hard to follow."""


class Missing(StrEnum):
    """How to treat groups that a run does not have."""

    error = "error"
    zero = "zero"
    intersect = "intersect"
    skip = "skip"


NOTHING_COMPARABLE = 5


class Significance(StrEnum):
    """The source of p-values."""

    t = "t"
    permutation = "permutation"
    wilcoxon = "wilcoxon"


class Interval(StrEnum):
    """The source of intervals."""

    t = "t"
    bootstrap = "bootstrap"
    betting = "betting"


Baseline = Annotated[
    str, typer.Argument(metavar="BASELINE", help="A run: name, id, @alias, latest, latest~2 or a unique prefix.")
]
Candidate = Annotated[str, typer.Argument(metavar="CANDIDATE", help="The run to compare with the baseline.")]
Candidates = Annotated[
    list[str], typer.Argument(metavar="CANDIDATE...", help="One or more runs to compare with the baseline.")
]
MissingGroups = Annotated[
    Missing, typer.Option(help="What to do with groups missing from one run; skip also drops those in neither.")
]
ClusterBy = Annotated[
    str | None,
    typer.Option(
        metavar="ATTRIBUTE", help="Groups that share its value depend on each other: user, session.", show_default=False
    ),
]
Test = Annotated[
    Significance, typer.Option(help="p-values: paired t, sign flips, or Wilcoxon (tests symmetry, not the mean).")
]
Ci = Annotated[Interval, typer.Option(help="95% intervals: t, bootstrap (BCa), or betting, which holds at any n.")]


def compare(
    baseline: Baseline,
    candidates: Candidates,
    metric: options.Metrics = None,
    dataset: options.AnyDataset = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="ATTRIBUTE",
            help="Also compare slices, by an attribute given with groups set.",
            show_default=False,
        ),
    ] = None,
    cluster: ClusterBy = None,
    test: Test = Significance.t,
    ci: Ci = Interval.t,
    equivalence: Annotated[
        float | None,
        typer.Option(metavar="MARGIN", help="Test whether delta is within +-MARGIN (TOST).", show_default=False),
    ] = None,
    missing: MissingGroups = Missing.error,
    top: Annotated[int, typer.Option(min=0, help="How many worst and best groups to show.")] = 10,
    tie_bounds: Annotated[
        bool, typer.Option("--tie-bounds", help="Show the groups whose value depends on tied scores.")
    ] = False,
    unjudged_bounds: Annotated[
        bool, typer.Option("--unjudged-bounds", help="Show how far items that nobody judged leave delta open.")
    ] = False,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Compare runs group by group, with tests and intervals.

    Shows the difference, its interval, wins and losses, and the worst and best groups.

    The labels are the newest version under which both runs have the metrics (all that they share, unless --metric is
    given). The first metric decides the worst and best groups and the slices.

    tag:KEY=VALUE in the place of a run is an arm: all runs with that tag, as repeats of one system.
    """
    from ndcg_tracker.reporting.compare import comparison_as

    with options.tracker() as tracker:
        result = tracker.compare(
            baseline,
            *candidates,
            dataset=dataset,
            metrics=metric or (),
            missing=missing.value,
            top=top,
            tie_bounds=tie_bounds,
            unjudged_bounds=unjudged_bounds,
            test=test.value,
            ci=ci.value,
            equivalence=equivalence,
            by=by,
            cluster=cluster,
        )
    columns = shutil.get_terminal_size((DEFAULT_COLUMNS, 0)).columns  # COLUMNS, else those of the terminal
    width = min(columns, WIDEST)
    color = options.wants_color()
    options.show(comparison_as(format.plain, *result.comparisons, color=color, width=width, spelled=options.as_option))
    if not any(comparison.is_comparable for comparison in result.comparisons):
        raise typer.Exit(NOTHING_COMPARABLE)

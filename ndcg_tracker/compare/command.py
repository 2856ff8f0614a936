"""``ndcg-track compare``: what changed between two runs, and whether it is real."""

from __future__ import annotations

import shutil
from typing import Annotated, Literal, TypedDict

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.errors import InputError

DEFAULT_COLUMNS = 100
"""The width of a report if standard output is not a terminal."""
WIDEST = 140
"""The largest width: longer lines are hard to follow."""


Missing = Literal["error", "zero", "intersect", "skip"]
"""How to treat groups that a run does not have."""


NOTHING_COMPARABLE = 5


Significance = Literal["t", "permutation", "wilcoxon"]
"""The source of p-values."""


Interval = Literal["t", "bootstrap", "betting"]
"""The source of intervals."""


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
LabelsVersion = Annotated[
    str | None,
    typer.Option(
        "--labels", metavar="VERSION", help="Labels: a version, or newest.", show_default="the newest that runs share"
    ),
]
Test = Annotated[
    Significance, typer.Option(help="p-values: paired t, sign flips, or Wilcoxon (tests symmetry, not the mean).")
]
Ci = Annotated[Interval, typer.Option(help="95% intervals: t, bootstrap (BCa), or betting, which holds at any n.")]


class Compared(TypedDict):
    """What a comparison is asked, whatever is shown of it."""

    missing: Missing
    test: Significance
    ci: Interval
    cluster: str | None


class Asked(Compared):
    """What a comparison is asked alike: under one version of the labels, under all of them, and on a suite."""

    equivalence: float | None
    judge: str | None


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
    test: Test = "t",
    ci: Ci = "t",
    equivalence: Annotated[
        float | None,
        typer.Option(metavar="MARGIN", help="Test whether delta is within +-MARGIN (TOST).", show_default=False),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="Labels: a version, newest, or all for a row under each.",
            show_default="the newest that both have",
        ),
    ] = None,
    judge: options.Judge = None,
    missing: MissingGroups = "error",
    suite: options.OnSuite = None,
    by_tag: options.ByTag = None,
    top: Annotated[
        int | None, typer.Option(min=0, help="How many worst and best groups to show.", show_default="10")
    ] = None,
    tie_bounds: Annotated[
        bool, typer.Option("--tie-bounds", help="Show the groups whose value depends on tied scores.")
    ] = False,
    unjudged_bounds: Annotated[
        bool, typer.Option("--unjudged-bounds", help="Show how far items that nobody judged leave delta open.")
    ] = False,
    details: Annotated[
        bool, typer.Option("--details", help="Of several candidates, also show the tables of each.")
    ] = False,
    format: options.Output = "text",
) -> None:
    """Compare runs group by group, with tests and intervals.

    Shows the difference, its interval, wins and losses, and the worst and best groups.

    The labels are the newest version under which both runs have the metrics (all that they share, unless --metric is
    given). The first metric decides the worst and best groups and the slices. --labels all shows whether the
    conclusion changes from version to version.

    Several candidates, or a pattern such as "dense*", are shown in one table, each with its tables where an option
    asks for them: --details, --by, --top, --equivalence, --tie-bounds, --unjudged-bounds.

    tag:KEY=VALUE in the place of a run is an arm: all runs with that tag, as repeats of one system.

    --suite compares the runs of one name (or @alias, or arm) on every dataset; the verdict is that of the macro mean,
    in which each dataset counts once. --details and the options above show the comparison on each dataset as well.
    """
    options.belongs_to_one_dataset(suite, by_tag=by_tag, dataset=dataset)
    width = min(shutil.get_terminal_size((DEFAULT_COLUMNS, 0)).columns, WIDEST)  # COLUMNS, else those of the terminal
    asked = Asked(
        missing=missing,
        test=test,
        ci=ci,
        equivalence=equivalence,
        judge=judge,
        cluster=cluster,
    )
    is_asked_of_each = top is not None or by is not None or equivalence is not None
    details = details or is_asked_of_each or tie_bounds or unjudged_bounds
    if suite is not None:
        from ndcg_tracker.compare.say_suite import suite_comparison_said

        if labels == "all":
            raise InputError("--labels all takes one dataset", advice="name a version, or newest, beside --suite")
        with options.tracker() as tracker:
            on_suite = tracker.compare_suite(
                suite,
                baseline,
                *candidates,
                metric=metric or (),
                by_tag=by_tag,
                **asked,
                top=(10 if details else 0) if top is None else top,
                tie_bounds=tie_bounds,
                unjudged_bounds=unjudged_bounds,
                by=by,
                labels=labels_version(labels),
            )
        of_suite = suite_comparison_said(
            *on_suite.comparisons, on_datasets=on_suite.on_datasets, spelled=options.as_option, details=details
        )
        options.show_answer(of_suite, format, width)
        return
    if labels == "all":
        if by is not None or tie_bounds:
            raise InputError(
                "--by and --tie-bounds need one version of the labels", advice="name it in the place of all"
            )
        if unjudged_bounds:
            raise InputError("--unjudged-bounds needs one version of the labels", advice="name it in the place of all")
        from ndcg_tracker.questions.labels.say import versions_said

        with options.tracker() as tracker:
            found = tracker.compare_versions(
                baseline, *candidates, dataset=dataset, metrics=metric or (), **asked
            ).found
        comparisons = found.comparisons
        options.show_answer(versions_said(found), format, width)
    else:
        from ndcg_tracker.compare.say import comparison_said

        version = labels_version(labels, or_all=True)
        with options.tracker() as tracker:
            comparisons = tracker.compare(
                baseline,
                *candidates,
                dataset=dataset,
                metrics=metric or (),
                **asked,
                top=10 if top is None else top,
                tie_bounds=tie_bounds,
                unjudged_bounds=unjudged_bounds,
                by=by,
                labels=version,
            ).comparisons
        of_pairs = comparison_said(*comparisons, spelled=options.as_option, details=details)
        options.show_answer(of_pairs, format, width)
    if not any(comparison.is_comparable for comparison in comparisons):
        raise typer.Exit(NOTHING_COMPARABLE)


def labels_version(labels: str | None, *, or_all: bool = False) -> int | Literal["newest"] | None:
    """Return the version that --labels names."""
    if labels is None:
        return None
    if labels == "newest":
        return "newest"
    if not (labels.isascii() and labels.isdecimal()):
        advice = f"give a number, such as --labels 1, or newest{' or all' if or_all else ''}"
        raise InputError(f"--labels {labels!r} is no version", advice=advice)
    return int(labels)

"""``ndcg-track compare``: what changed between two runs, and whether it is real."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import EVERY_JUDGE, Everyday, made
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.compare.options import CompareOptions, labels_version

NOTHING_COMPARABLE = 5

CompareFormat = Literal["text", "json", "markdown", "csv", "latex"]
"""How a comparison is printed; latex: a table for a paper."""


@takes(Tracker.compare, runs=("baseline", "candidates"))
def compare(
    asked: Asked,
    labels: Annotated[
        str | None,
        Everyday(
            "Version of the labels: a number, or newest; all for a row per version. Of files, a file.",
            metavar="VERSION|FILE",
            default="the latest that the runs share",
        ),
    ] = None,
    format: Annotated[CompareFormat, Everyday("How to print the result.")] = "text",
) -> None:
    """Compare runs group by group, with tests and intervals.

    Shows the difference, its interval, wins and losses, and the worst and best groups.

    Without --metric, it compares all metrics that both runs share. It uses the latest version of the labels under
    which both runs have these metrics. The first metric decides the worst and best groups and the slices. --labels all
    shows whether the conclusion changes from version to version. --judge '*' shows whether the verdict changes between
    judges: a row for the latest labels of each judge, or with --labels all a row for every version of each judge.

    Several candidates, or a pattern such as "dense*", are shown in one table. -v adds the page of each candidate.

    Instead of a run you can name an arm, tag:KEY=VALUE: all runs with that tag, as repeats of one system.
    tag:KEY=VALUE,KEY=VALUE means both tags.

    --suite compares the runs of one name (or @alias, or arm) on every dataset. The verdict is on the macro mean, in
    which each dataset counts once. -v also shows the comparison on each dataset.

    --check-with NAME corrects the verdict of --judge's labels by the answers that NAME gave to a drawn sample of items.

    Example: ndcg-track compare @baseline dense --by product
    """
    every = asked.named.get("judge") == EVERY_JUDGE
    version = None if labels in (None, "all") else labels_version(labels, or_all=True)
    with options.tracker() as tracker:
        if labels == "all" or every:
            from ndcg_tracker.questions.labels.say import versions_said

            of_versions = tracker.compare_versions
            versions = of_versions(*asked.positional, newest_only=labels != "all", **asked.part(of_versions)).found
            comparisons, said = versions.comparisons, versions_said(versions)
        else:
            from ndcg_tracker.compare.say import comparison_said

            baseline, *candidates = asked.positional
            told = made(CompareOptions, asked.named, labels=version, for_screen=options.is_for_screen(format))
            comparisons = tracker.compared(baseline, candidates, told).comparisons
            said = comparison_said(*comparisons, spelled=options.as_option)
    options.show_answer(said, format)
    if not any(comparison.is_comparable for comparison in comparisons):
        raise typer.Exit(NOTHING_COMPARABLE)

"""``ndcg-track compare``: what changed between two runs, and whether it is real."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Annotated

import typer

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import EVERY_JUDGE
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.compare.options import labels_version
from ndcg_tracker.errors import InputError

DEFAULT_COLUMNS = 100
"""The width of a report if standard output is not a terminal."""
WIDEST = 140
"""The largest width: longer lines are hard to follow."""


NOTHING_COMPARABLE = 5

ASKED_OF_EACH = ("by", "equivalence", "tie_bounds", "unjudged_bounds")
"""What is shown of each pair, in its own tables."""


@takes(Tracker.compare)
def compare(
    asked: Asked,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="VERSION",
            help="Labels: a version, newest, or all for a row under each.",
            show_default="the newest that both have",
        ),
    ] = None,
    check_with: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Who answered the design by which --judge is checked (labels sample)."),
    ] = None,
    suite: options.OnSuite = None,
    by_tag: options.ByTag = None,
    top: Annotated[
        int | None, typer.Option(min=0, help="How many worst and best groups to show.", show_default="10")
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Of several candidates, also show the tables of each.")
    ] = False,
    format: options.Output = "text",
) -> None:
    """Compare runs group by group, with tests and intervals.

    Shows the difference, its interval, wins and losses, and the worst and best groups.

    The labels are the newest version under which both runs have the metrics (all that they share, unless --metric is
    given). The first metric decides the worst and best groups and the slices. --labels all shows whether the
    conclusion changes from version to version, --judge '*' whether the verdict turns between judges: a row for the
    newest labels of each, and with both for every version of each.

    Several candidates, or a pattern such as "dense*", are shown in one table, each with its tables where an option
    asks for them: --details, --by, --top, --equivalence, --tie-bounds, --unjudged-bounds.

    tag:KEY=VALUE in the place of a run is an arm: all runs with that tag, as repeats of one system.

    --suite compares the runs of one name (or @alias, or arm) on every dataset; the verdict is that of the macro mean,
    in which each dataset counts once. --details and the options above show the comparison on each dataset as well.

    --check-with NAME gives the verdict of --judge's labels corrected by what NAME answered to a drawn sample of items.
    """
    width = min(shutil.get_terminal_size((DEFAULT_COLUMNS, 0)).columns, WIDEST)  # COLUMNS, else those of the terminal
    if check_with is not None:
        others = {"--labels": labels, "--suite": suite, "--by-tag": by_tag, "--top": top, "--details": details or None}
        _compare_checked(
            asked, check_with, [option for option, value in others.items() if value is not None], format, width
        )
        return
    options.belongs_to_one_dataset(suite, by_tag=by_tag)
    shows_each = top is not None or not asked.named.keys().isdisjoint(ASKED_OF_EACH)
    details = details or shows_each
    if suite is not None:
        from ndcg_tracker.compare.say_suite import suite_comparison_said

        if labels == "all":
            raise InputError("--labels all takes one dataset", advice="name a version, or newest, beside --suite")
        if asked.named.get("judge") == EVERY_JUDGE:
            raise InputError("--judge '*' takes one dataset", advice="name a judge beside --suite")
        with options.tracker() as tracker:
            on_suite = asked.on_suite(
                tracker.compare_suite,
                suite,
                by_tag=by_tag,
                top=(10 if details else 0) if top is None else top,
                labels=None if labels is None else labels_version(labels),
                metric=asked.named.get("metrics", ()),
            )
        of_suite = suite_comparison_said(
            *on_suite.comparisons, on_datasets=on_suite.on_datasets, spelled=options.as_option, details=details
        )
        options.show_answer(of_suite, format, width)
        return
    of_every_judge = asked.named.get("judge") == EVERY_JUDGE
    if labels == "all" or of_every_judge:
        if of_every_judge and labels not in (None, "all", "newest"):
            raise InputError(f"--labels {labels} is of one judge, and --judge '*' is every", advice="leave one out")
        several = "all" if labels == "all" else "'*'"
        if not asked.named.keys().isdisjoint(("by", "tie_bounds")):
            raise InputError(
                "--by and --tie-bounds need one version of the labels", advice=f"name it in the place of {several}"
            )
        if "unjudged_bounds" in asked.named:
            advice = f"name it in the place of {several}"
            raise InputError("--unjudged-bounds needs one version of the labels", advice=advice)
        from ndcg_tracker.questions.labels.say import versions_said

        with options.tracker() as tracker:
            versions = asked.of(tracker.compare_versions, newest_only=labels != "all").found
        comparisons = versions.comparisons
        options.show_answer(versions_said(versions), format, width)
    else:
        from ndcg_tracker.compare.say import comparison_said

        version = None if labels is None else labels_version(labels, or_all=True)
        with options.tracker() as tracker:
            comparisons = asked.of(tracker.compare, top=10 if top is None else top, labels=version).comparisons
        of_pairs = comparison_said(*comparisons, spelled=options.as_option, details=details)
        options.show_answer(of_pairs, format, width)
    if not any(comparison.is_comparable for comparison in comparisons):
        raise typer.Exit(NOTHING_COMPARABLE)


_T_ALONE = ("test", "ci")
_CHECKED = ("judge", "metrics", "dataset")


def _compare_checked(
    asked: Asked, check_with: str, others: Sequence[str], format: options.OutputFormat, width: int
) -> None:
    """Compare two runs under a judge that people checked; refuse what that does not cover (InputError)."""
    from ndcg_tracker.questions.labels.say_checked import checked_said

    for name in asked.named:
        if name in _T_ALONE:
            raise InputError(
                f"{options.as_option(name, '')} does not go with --check-with: corrected differences of groups leave "
                "[-1, 1], and only the paired t-test holds for them",
                advice="leave it out",
            )
        if name not in _CHECKED:
            others = [*others, options.as_option(name, "")]
    if others:
        raise InputError(f"{others[0]} does not go with --check-with", advice="leave out one of them")
    if len(asked.positional) != 2:
        raise InputError("--check-with takes one candidate", advice="name one after the baseline")
    judge = asked.named.get("judge")
    if judge in (None, EVERY_JUDGE):
        raise InputError("--check-with checks one judge", advice="name it with --judge")
    metrics = asked.named.get("metrics", ())
    if len(metrics) > 1:
        raise InputError("--check-with takes one metric", advice="give --metric once")
    baseline, candidate = asked.positional
    with options.tracker() as tracker:
        checked = tracker.compare_checked(
            baseline,
            candidate,
            judge=str(judge),
            check_with=check_with,
            metric=metrics[0] if metrics else None,
            dataset=asked.named.get("dataset"),
        )
    options.show_answer(checked_said(checked.comparison), format, width)

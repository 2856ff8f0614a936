"""``ndcg-track leaderboard``: many runs side by side."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.compare import command as compare

LeaderboardFormat = Literal["text", "json", "markdown", "csv", "latex", "html"]
"""How a leaderboard is printed."""


LeaderboardTest = Literal["t", "permutation"]
"""Where p-values come from."""


def leaderboard(
    runs: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Runs, or patterns such as 'bm25*'; without any, all."),
    ] = None,
    metric: options.Metrics = None,
    tag: options.OnlyTagged = None,
    dataset: options.AnyDataset = None,
    all: Annotated[bool, typer.Option("--all", help="All runs of the dataset, as without RUN.")] = False,
    test: Annotated[
        LeaderboardTest, typer.Option(help="Paired t with Holm's correction, or sign flips corrected by the largest t.")
    ] = "t",
    by: Annotated[str | None, typer.Option(metavar="ATTRIBUTE", help="The first metric by slices as well.")] = None,
    missing: Annotated[
        compare.Missing,
        typer.Option(help="Groups that some runs lack: refused, 0, or left out; skip: those that none has."),
    ] = "error",
    measure: Annotated[
        list[str] | None,
        typer.Option(help="A number of whole runs to show beside, such as latency_ms, by its tag or parameter."),
    ] = None,
    labels: compare.LabelsVersion = None,
    suite: options.OnSuite = None,
    by_tag: options.ByTag = None,
    format: Annotated[LeaderboardFormat, typer.Option("--format", help="How to print it.")] = "text",
) -> None:
    """Rank runs by their means, and say which differences are real.

    The best mean of the first metric comes first. Ranks are intervals that hold for all runs at once with 95%
    confidence; all pairs of runs are tested.

    --suite shows systems on every dataset and over all: runs of one name are one system, and one without a run on some
    dataset has no mean over the suite. Intervals say what other queries of these datasets, and what other datasets
    like these, would give.
    """
    from ndcg_tracker.errors import InputError
    from ndcg_tracker.questions.leaderboard.say import leaderboard_said

    if runs and all:
        raise InputError("--all and RUN are both given", advice="leave one out")
    options.belongs_to_one_dataset(suite, by_tag=by_tag, dataset=dataset, test=test != "t", by=by, measure=measure)
    if suite is not None:
        from ndcg_tracker.questions.leaderboard.say import suite_tables_said

        with options.tracker() as tracker:
            tables = tracker.suite(
                suite,
                *(runs or ()),
                metric=metric or "ndcg@10",
                by_tag=by_tag,
                missing=missing,
                tags=options.pairs(tag, "--tag"),
                labels=compare.labels_version(labels),
            ).tables
        options.show_answer(suite_tables_said(*tables), format)
        return
    with options.tracker() as tracker:
        found = tracker.leaderboard(
            *(runs or ()),
            metrics=metric or ["ndcg@10"],
            tags=options.pairs(tag, "--tag"),
            dataset=dataset,
            test=test,
            by=by,
            missing=missing,
            measures=measure or (),
            labels=compare.labels_version(labels),
        )
    if format not in ("text", "markdown", "html"):
        for note in found.notes:
            options.say(f"note: {note}")
    options.show_answer(leaderboard_said(found.leaderboard), format)

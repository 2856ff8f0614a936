"""``ndcg-track diff``: how the lists of two runs differ, without labels."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.cli import options

DIFFERENT = 6


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="The one run.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other run.")],
    cutoff: Annotated[int, typer.Option(min=1, metavar="K", help="How many first items to look at.")] = 10,
    rbo_p: options.RboP = 0.9,
    top: Annotated[int, typer.Option(min=0, metavar="N", help="How many groups to list, most changed first.")] = 10,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 6 if any list differs.")] = False,
    dataset: options.AnyDataset = None,
    format: options.Output = "text",
) -> None:
    """Show how the lists of two runs differ, without labels.

    Overlap of the first items, rank-biased overlap and Kendall's tau, means over groups, and the groups that changed
    most: to check that a refactoring changed nothing, or to see what is worth judging.
    """
    from ndcg_tracker.questions.diff.say import diff_said

    with options.tracker() as tracker:
        found = tracker.diff(a, b, dataset=dataset, cutoff=cutoff, rbo_p=rbo_p, top=top)
    options.show_answer(diff_said(found.diff), format)
    if exit_code and found.diff.differs:
        raise typer.Exit(DIFFERENT)

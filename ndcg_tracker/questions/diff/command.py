"""``ndcg-track diff``: how the lists of two runs differ, without labels."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.asked import Option
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.diff import diff as ask_diff

DIFFERENT = 6


@takes(ask_diff, runs=("a", "b"), needs_labels=False)
def diff(
    asked: Asked,
    exit_code: Annotated[bool, Option("Exit with 6 if any list differs.")] = False,
    format: options.Output = "text",
) -> None:
    """Show how the lists of two runs differ, without labels.

    Shows the overlap of the first items, rank-biased overlap and Kendall's tau, as means over groups, and the groups
    that changed most. Use it to check that a refactoring changed nothing, or to see what is worth judging.

    Example: ndcg-track diff bm25 dense --cutoff 20
    """
    from ndcg_tracker.questions.diff.say import diff_said

    result = asked.answered(ask_diff)
    options.show_answer(diff_said(result.diff), format)
    if exit_code and result.diff.differs:
        raise typer.Exit(DIFFERENT)

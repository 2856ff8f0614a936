"""``ndcg-track leaderboard``: many runs side by side."""

from __future__ import annotations

from typing import Annotated, Literal

from ndcg_tracker.asked import Everyday
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.leaderboard import leaderboard as ask_leaderboard

LeaderboardFormat = Literal["text", "json", "markdown", "csv", "latex", "html"]
"""How a leaderboard is printed."""


@takes(ask_leaderboard, runs=("runs",))
def leaderboard(
    asked: Asked,
    all: Annotated[bool, Everyday("Rank all runs of the dataset, as without RUN.")] = False,
    format: Annotated[LeaderboardFormat, Everyday("How to print the result.")] = "text",
) -> None:
    """Rank runs by their means, and test which differences are real.

    The best mean of the first metric comes first. Ranks are intervals that hold for all runs at once with 95%
    confidence; all pairs of runs are tested.

    --suite ranks systems by the mean of the datasets' means. Runs of the same name are one system; a system without a
    run on some dataset is left out. Intervals show what other queries of these datasets, and what other datasets like
    these, would give.

    Example: ndcg-track leaderboard -m ndcg@10 -m map --dataset shop
    """
    from ndcg_tracker.questions.leaderboard.say import leaderboard_said

    result = asked.answered(ask_leaderboard)
    if format not in ("text", "markdown", "html"):
        options.say_notes(result.notes)
    options.show_answer(leaderboard_said(result.leaderboard), format)

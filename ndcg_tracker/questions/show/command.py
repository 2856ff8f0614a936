"""``ndcg-track show``, also called ``runs show``: one run."""

from __future__ import annotations

from typing import Annotated

from ndcg_tracker.asked import Option
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.show import ShowFormat
from ndcg_tracker.questions.show import show as ask_show


@takes(ask_show, runs=("reference",))
def show(
    asked: Asked,
    format: Annotated[ShowFormat, Option("How to print the result.")] = "text",
) -> None:
    """Show one run: its metrics, origin and hardest groups.

    CSV has one row per metric. --format ir-metadata prints a header for the run file, with tags and parameters.

    Example: ndcg-track show dense --by product
    """
    from ndcg_tracker.questions.show.say import shown_said

    shown = asked.answered(ask_show)
    options.show_answer(shown_said(shown), format)

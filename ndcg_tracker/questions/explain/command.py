"""``ndcg-track explain``: the items, grades, ranks or labels that cause a difference."""

from __future__ import annotations

from typing import Annotated

from ndcg_tracker.asked import Option
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.explain import explain as ask_explain


@takes(ask_explain, runs=("baseline", "candidate"))
def explain(
    asked: Asked,
    all_items: Annotated[
        bool, Option("Show all items, including unchanged ones; --top is ignored.", ("--all",))
    ] = False,
    format: options.Output = "text",
) -> None:
    """Explain why two runs differ, item by item.

    Shows which items moved, entered or left, and how much each contributed. The labels are the latest version under
    which both runs have the metric. If there is no such version, or you give two versions, the command also splits the
    change into the parts of the ranking, the grades and the coverage of the labels.

    Example: ndcg-track explain @baseline dense --group 'light tent'
    """
    from ndcg_tracker.questions.explain.say import explanation_said

    every = {"top": None} if all_items else {}
    explanation = asked.answered(ask_explain, **every).explanation
    options.show_answer(explanation_said(explanation, None if all_items else asked.named.get("top", 10)), format)

"""``ndcg-track plan``: how many queries a promise needs."""

from __future__ import annotations

from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.plan import FURTHER_METRICS
from ndcg_tracker.questions.plan import plan as ask_plan


@takes(ask_plan, runs=("baseline", "candidate"), further_metrics=FURTHER_METRICS)
def plan(asked: Asked, format: options.Output = "text") -> None:
    """Plan how many queries, and how many labels, a promise needs.

    Without runs, it shows what is typical for hit@5, RR@10, recall@10 and ndcg@10, before you label anything. With two
    runs, or files, that differ as further ones may, it goes by their differences. No database is needed for files.

    Example: ndcg-track plan --metric hit@5 --queries 40
    """
    from ndcg_tracker.questions.plan.say import plan_said

    result = asked.answered(ask_plan)
    options.show_answer(plan_said(result.plan), format)

"""``ndcg-track reproduce``: does this run reproduce a published one?"""

from __future__ import annotations

from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.reproduce import reproduce as ask_reproduce


@takes(ask_reproduce)
def reproduce(
    asked: Asked,
    format: options.Output = "text",
) -> None:
    """Check whether a run reproduces a published one.

    Shows the measures of repro_eval: KTU and RBO of the lists, RMSE and p-value of the group results, and with both
    baselines the effect ratio (ER) and DeltaRI. With --published, it compares only the means. CSV has one row per
    metric.

    Example: ndcg-track reproduce published.run mine --published 0.412
    """
    from ndcg_tracker.questions.reproduce.say import reproduction_said

    reproduction = asked.answered(ask_reproduce).reproduction
    options.show_answer(reproduction_said(reproduction), format)

"""``ndcg-track reproduce``: is this run the published one?"""

from __future__ import annotations

from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.reproduce import reproduce as ask_reproduce


@takes(ask_reproduce)
def reproduce(
    asked: Asked,
    format: options.Output = "text",
) -> None:
    """Say whether a run is the published one.

    The measures of repro_eval: KTU and RBO of the lists, RMSE and p-value of the results of groups, and with both
    baselines the effect ratio (ER) and DeltaRI. With --published only the means. CSV has a row per metric.
    """
    from ndcg_tracker.questions.reproduce.say import reproduction_said

    with options.tracker() as tracker:
        reproduction = asked.of(tracker.reproduce).reproduction
    options.show_answer(reproduction_said(reproduction), format)

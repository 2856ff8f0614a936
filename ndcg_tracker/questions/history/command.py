"""``ndcg-track history``: a metric over the runs of a dataset."""

from __future__ import annotations

from typing import Annotated

import typer

from ndcg_tracker.asked import DEFAULT_METRIC, Everyday, Option
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.history import history as ask_history
from ndcg_tracker.questions.history import history_answer, history_digest, refuse_nothing

NewestFirst = Annotated[bool, Option("Show the latest steps first, instead of the largest ones.", ("--newest-first",))]

Since = Annotated[
    str | None, Everyday("Show only what is new since this run, on one screen.", ("--digest",), metavar="RUN")
]
ExitCode = Annotated[bool, Everyday("Exit with 6 if there is a new step.", ("--exit-code",))]
NEW_STEP = 6


@takes(ask_history)
def history(
    asked: Asked,
    newest_first: NewestFirst = False,
    exit_code: ExitCode = False,
    digest: Since = None,
    format: options.Output = "text",
) -> None:
    """Show a metric from run to run, and where its mean stepped.

    The oldest run comes first; intervals are 95%. The command looks for steps among the selected runs, never across
    versions of the labels. Text and Markdown list the latest 15 runs, or as many as --last says, and the 5 largest
    steps. A step is new when the runs so far show it for the first time, so run the command after every run.

    --suite shows the macro mean of the systems that have a run on every dataset, in the order of their last runs.

    --digest RUN shows what is new since a run, such as before:2026-09-01 or an alias that you set after each digest:
    runs, steps, the queries that lost most, labels, and what to judge.

    Example: ndcg-track history -m ndcg@10 --since 2026-01-01
    """
    from ndcg_tracker.questions.history.gather import HistoryFilter
    from ndcg_tracker.render.formats import is_for_people

    metric = asked.named.get("metric", DEFAULT_METRIC)
    wanted = HistoryFilter(**asked.part(HistoryFilter))
    new_steps = "new_steps" in asked.named
    if digest is not None:
        since = asked.answered(history_digest, after=digest)
        options.show_answer(since._said(), format)
        raise typer.Exit(NEW_STEP if exit_code and since.steps else 0)
    with options.tracker() as tracker:
        of_runs = {**asked.part(tracker.history_report), "wanted": wanted, "new_steps": new_steps or exit_code}
        result = tracker.history_report(**of_runs)
    refuse_nothing(result.history, metric, wanted)
    if not is_for_people(format):
        options.say_notes(result.notes)
    said = history_answer(result, wanted, new_only=new_steps, newest_first=newest_first, spelled=options.as_option)
    options.show_answer(said, format)
    if exit_code and result.new_steps:
        raise typer.Exit(NEW_STEP)

"""``ndcg-track history``: a metric over the runs of a dataset."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC
from ndcg_tracker.cli import options
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.questions.history import history as ask_history

NewestFirst = Annotated[bool, typer.Option("--newest-first", help="Tell the newest steps first, not the largest.")]

ExitCode = Annotated[bool, typer.Option("--exit-code", help="End with 6 if there is such a new step.")]
NEW_STEP = 6


@takes(ask_history)
def history(
    asked: Asked,
    suite: options.OnSuite = None,
    by_tag: options.ByTag = None,
    newest_first: NewestFirst = False,
    exit_code: ExitCode = False,
    format: options.Output = "text",
) -> None:
    """Show a metric over runs, and where its mean stepped.

    The oldest run comes first; intervals are 95%. Steps are searched among the selected runs, never across versions of
    the labels; text and Markdown list the newest 40 runs, or as many as --last says, and the 10 largest steps.
    A step is new if the history without its newest run does not show it: ask after every run.

    --suite shows the macro mean of the systems that have a run on every dataset, by the time of the last one.
    """
    from ndcg_tracker.errors import ReferenceNotFoundError
    from ndcg_tracker.metrics.language.text import parse_metric
    from ndcg_tracker.questions.history.gather import HistoryFilter
    from ndcg_tracker.questions.history.say import history_said, new_steps_said

    metric, dataset = asked.named.get("metric", DEFAULT_METRIC), asked.named.get("dataset", DEFAULT_DATASET)
    wanted = HistoryFilter(**asked.part(HistoryFilter))
    options.belongs_to_one_dataset(suite, by_tag=by_tag, dataset="dataset" in asked.named)
    new_steps = "new_steps" in asked.named
    searched = new_steps or exit_code
    with options.tracker() as tracker:
        if suite is None:
            result = tracker.history_report(metric, dataset=dataset, wanted=wanted, new_steps=searched)
        else:
            result = tracker.history_of_suite(suite, metric, by_tag=by_tag, wanted=wanted, new_steps=searched)
    of_dataset = result.history
    if not of_dataset.n_in_dataset:
        begin = shlex.join(["ndcg-track", "ingest", "FILE", "--dataset", dataset])
        raise ReferenceNotFoundError(f"dataset {dataset!r} has no run yet", advice=f"store one with: {begin}")
    if not of_dataset.n_without_filter:
        others = [parse_metric(text) for text in of_dataset.other_metrics]
        if others and all(other.is_external for other in others):
            command = shlex.join(["ndcg-track", "history", "--dataset", dataset, "--metric", others[0].measure])
            raise ReferenceNotFoundError(
                f"no run of dataset {dataset!r} has {metric}: it has results of other engines alone",
                advice=f"see them with: {command}",
            )
        of_judge = ["--judge", wanted.judge] if wanted.judge else []
        command = shlex.join(["ndcg-track", "rescore", "--all", "--dataset", dataset, "--metric", metric, *of_judge])
        raise ReferenceNotFoundError(
            f"no run of dataset {dataset!r} has {metric}", advice=f"compute it with: {command}"
        )
    if not result.rows:
        n_runs = of_dataset.n_without_filter
        raise ReferenceNotFoundError(
            f"none of the {n_runs:,} runs of dataset {dataset!r} with {metric} has {wanted.words}",
            advice=(
                "use fewer filters, or see them with: "
                f"{shlex.join(['ndcg-track', 'runs', 'list', '--dataset', dataset])}"
            ),
        )
    shown_as = options.shown_metric(format, result.rows[0]["metric"], result.rows[-1].get("requested_as", ""))
    for row in result.rows:
        row["metric"] = shown_as
    if not options.is_for_people(format):
        for note in result.notes:
            options.say(f"note: {note}")
    new, notes = result.new_steps or (), of_dataset.notes
    if new_steps:
        said = new_steps_said(new, result.rows[-1], notes)
    else:
        said = history_said(
            result.rows, notes=notes, n_shown=wanted.last, newest_first=newest_first, spelled=options.as_option
        )
    options.show_answer(said, format)
    if exit_code and new:
        raise typer.Exit(NEW_STEP)

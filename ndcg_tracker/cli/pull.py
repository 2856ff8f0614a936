"""``ndcg-track pull``: runs from other trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.cli.exchange import TrackingUri

if TYPE_CHECKING:
    from ndcg_tracker.runs.ingest import IngestResult

app = typer.Typer(help="Get runs from other trackers.", no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def _pull() -> None:
    pass


@app.command("mlflow")
def pull_mlflow(
    mlflow_run: Annotated[
        str, typer.Argument(metavar="ID", help="Id of the MLflow run, or its name with --experiment.")
    ],
    tracking_uri: TrackingUri = None,
    experiment: Annotated[
        str | None, typer.Option(help="MLflow's experiment to find the name in.", show_default=False)
    ] = None,
    dataset: Annotated[
        str | None, typer.Option(help="The dataset to store it in.", show_default="as it was evaluated")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the run.", show_default="as it was evaluated")] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace a run of this name with other content.")] = False,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Store the ranking of an MLflow run.

    It is read from the table of items that the evaluator or push logged there.
    """
    from ndcg_tracker.integrations.mlflow.pulling import pull

    with options.tracker() as tracker:
        found = pull(
            tracker,
            mlflow_run,
            dataset=dataset,
            name=name,
            replace=replace,
            tracking_uri=tracking_uri,
            experiment=experiment,
        )
    for one in found:
        for note in one.notes:
            options.say(f"note: {one.result.run}: {note}")
    options.show(_report([one.result for one in found], format))


def _report(results: list[IngestResult], format: options.OutputFormat) -> str:
    from ndcg_tracker.render.formats import rows_as
    from ndcg_tracker.render.report import Column

    of_run = ["run", "run_id", "dataset", "outcome", "n_groups", "n_items"]
    columns: list[Column | str] = [*of_run, Column("label_set_version", "labels"), "metric", Column("mean", digits=4)]
    rows = [
        (*(getattr(result, name) for name in of_run), result.label_set_version, format.metric(one.metric), one.mean)
        for result in results
        for one in result.metrics
    ]
    return rows_as(format.plain, columns, rows, color=options.wants_color())

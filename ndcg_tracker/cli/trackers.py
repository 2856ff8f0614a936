"""``ndcg-track push`` and ``pull``: runs to and from other trackers."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import Option, Positional, Replace
from ndcg_tracker.cli import options

if TYPE_CHECKING:
    from ndcg_tracker.runs.ingest import IngestResult

pushes = options.command_group("Send runs to other trackers.")

TrackingUri = Annotated[
    str | None, Option("URI of the MLflow server.", ("--tracking-uri",), default="$MLFLOW_TRACKING_URI")
]
Baseline = Annotated[
    str | None,
    Option("The run to compare with on the report page.", metavar="RUN", default="@baseline, if there is one"),
]


@pushes.command("mlflow")
def push_mlflow(
    run: options.Run,
    tracking_uri: TrackingUri = None,
    experiment: Annotated[
        str | None,
        Option("The MLflow experiment, created if missing.", default="$MLFLOW_EXPERIMENT_NAME, else Default"),
    ] = None,
    baseline: Baseline = None,
    dataset: options.AnyDataset = None,
    format: options.Output = "text",
) -> None:
    """Create or update the MLflow run of a stored run.

    The MLflow run gets the means, parameters, tags, the tables of groups and items, and the report page. Pushing a run
    again updates its MLflow run.

    Example: ndcg-track push mlflow dense --experiment ranking
    """
    from ndcg_tracker.integrations.mlflow import push

    with options.tracker() as tracker:
        pushed = push(
            tracker, run, dataset=dataset, tracking_uri=tracking_uri, experiment=experiment, baseline=baseline
        )
    for note in pushed.notes:
        options.say(f"note: {pushed.run}: {note}")
    names = ["run", "dataset", "outcome", "mlflow_run_id", "experiment", "n_metrics", "tracking_uri"]
    options.show_fields(format, names, [pushed])


@pushes.command("wandb")
def push_wandb(
    run: options.Run,
    project: Annotated[str | None, Option("The W&B project.", default="$WANDB_PROJECT, else the dataset")] = None,
    entity: Annotated[str | None, Option("The W&B user or team.", default="$WANDB_ENTITY, else yours")] = None,
    offline: Annotated[bool, Option("Write the run to a folder, for 'wandb sync' to send later.")] = False,
    baseline: Baseline = None,
    dataset: options.AnyDataset = None,
    format: options.Output = "text",
) -> None:
    """Create or update the Weights & Biases run of a stored run.

    The W&B run gets the means, parameters, tags, the table of groups, and the report page as an artifact. Pushing a run
    again updates its W&B run.

    Example: ndcg-track push wandb dense --project ranking
    """
    from ndcg_tracker.integrations.wandb import push

    with options.tracker() as tracker:
        pushed = push(tracker, run, dataset=dataset, project=project, entity=entity, offline=offline, baseline=baseline)
    for note in pushed.notes:
        options.say(f"note: {pushed.run}: {note}")
    if pushed.outcome == "written":
        options.say(f"send it with: wandb sync {shlex.quote(pushed.where)}")
    names = ["run", "dataset", "outcome", "wandb_run_id", "project", "n_metrics", "where"]
    options.show_fields(format, names, [pushed])


pulls = options.command_group("Fetch runs from other trackers.")


@pulls.callback()
def _pull() -> None:
    pass


@pulls.command("mlflow")
def pull_mlflow(
    mlflow_run: Annotated[str, Positional("Id of the MLflow run, or its name with --experiment.", metavar="ID")],
    tracking_uri: TrackingUri = None,
    experiment: Annotated[str | None, Option("The MLflow experiment to find the name in.")] = None,
    dataset: Annotated[
        str | None, Option("The dataset to store it in.", default="the one it was evaluated under")
    ] = None,
    name: Annotated[str | None, Option("Name of the run.", default="the one it was evaluated under")] = None,
    replace: Annotated[bool, options.told(Replace, "replace")] = False,
    format: options.Output = "text",
) -> None:
    """Store the ranking of an MLflow run.

    The ranking comes from the table of items that the evaluator or push logged there.

    Example: ndcg-track pull mlflow 0a1b2c --name dense
    """
    from ndcg_tracker.integrations.mlflow.pulling import pull

    with options.tracker() as tracker:
        pulled = pull(
            tracker,
            mlflow_run,
            dataset=dataset,
            name=name,
            replace=replace,
            tracking_uri=tracking_uri,
            experiment=experiment,
        )
    for pulled_run in pulled:
        for note in pulled_run.notes:
            options.say(f"note: {pulled_run.result.run}: {note}")
    options.show(_report([pulled_run.result for pulled_run in pulled], format))


def _report(results: list[IngestResult], format: options.OutputFormat) -> str:
    from ndcg_tracker.render.formats import rows_as, shown_metric
    from ndcg_tracker.render.report import read_by_people

    of_run = ["run", "run_id", "dataset", "outcome", "n_groups", "n_items"]
    columns = read_by_people(*of_run, "label_set_version", "metric", "mean", mean=4)
    rows = [
        (
            *(getattr(result, name) for name in of_run),
            result.label_set_version,
            shown_metric(format, evaluated.metric),
            evaluated.mean,
        )
        for result in results
        for evaluated in result.metrics
    ]
    return rows_as(format, columns, rows, **options.screen())

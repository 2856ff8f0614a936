"""``ndcg-track push``: runs to other trackers."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ndcg_tracker.cli import options
from ndcg_tracker.questions.show.command import Run

app = typer.Typer(help="Send runs to other trackers.", no_args_is_help=True, rich_markup_mode=None)

TrackingUri = Annotated[str | None, typer.Option("--tracking-uri", help="MLflow's server; else MLFLOW_TRACKING_URI.")]
Baseline = Annotated[
    str | None,
    typer.Option(
        metavar="RUN", help="The run to compare with in the report page.", show_default="@baseline, if there is one"
    ),
]


@app.command("mlflow")
def push_mlflow(
    run: Run,
    tracking_uri: TrackingUri = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            help="MLflow's experiment, created if missing.", show_default="MLFLOW_EXPERIMENT_NAME, else Default"
        ),
    ] = None,
    baseline: Baseline = None,
    dataset: options.AnyDataset = None,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Create or update the MLflow run of a stored run.

    It gets the means, parameters, tags, the tables of groups and items, and the report page. Pushing a run again
    updates its MLflow run.
    """
    from ndcg_tracker.integrations.mlflow import push
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = push(tracker, run, dataset=dataset, tracking_uri=tracking_uri, experiment=experiment, baseline=baseline)
    for note in found.notes:
        options.say(f"note: {found.run}: {note}")
    names = ["run", "dataset", "outcome", "mlflow_run_id", "experiment", "n_metrics", "tracking_uri"]
    rows = [tuple(getattr(found, name) for name in names)]
    options.show(rows_as(format.plain, names, rows, color=options.wants_color()))


@app.command("wandb")
def push_wandb(
    run: Run,
    project: Annotated[
        str | None, typer.Option(help="W&B's project.", show_default="WANDB_PROJECT, else the dataset")
    ] = None,
    entity: Annotated[
        str | None, typer.Option(help="W&B's user or team.", show_default="WANDB_ENTITY, else yours")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Write it to a folder that 'wandb sync' sends later.")
    ] = False,
    baseline: Baseline = None,
    dataset: options.AnyDataset = None,
    format: options.Output = options.OutputFormat.text,
) -> None:
    """Create or update the Weights & Biases run of a stored run.

    It gets the means, parameters, tags, the table of groups, and the report page as an artifact. Pushing a run again
    updates its W&B run.
    """
    from ndcg_tracker.integrations.wandb import push
    from ndcg_tracker.render.formats import rows_as

    with options.tracker() as tracker:
        found = push(tracker, run, dataset=dataset, project=project, entity=entity, offline=offline, baseline=baseline)
    for note in found.notes:
        options.say(f"note: {found.run}: {note}")
    if found.outcome == "written":
        options.say(f"send it with: wandb sync {shlex.quote(found.where)}")
    names = ["run", "dataset", "outcome", "wandb_run_id", "project", "n_metrics", "where"]
    rows = [tuple(getattr(found, name) for name in names)]
    options.show(rows_as(format.plain, names, rows, color=options.wants_color()))

"""``ndcg-track push`` and ``pull``: runs to and from other trackers."""

from __future__ import annotations

import shlex

from ndcg_tracker.cli import options
from ndcg_tracker.cli.ingest import stored_runs
from ndcg_tracker.cli.parameters import Asked, takes
from ndcg_tracker.integrations import mlflow, wandb

pushes = options.command_group("Send runs to other trackers.")


@pushes.command("mlflow")
@takes(mlflow.push)
def push_mlflow(asked: Asked, format: options.Output = "text") -> None:
    """Create or update the MLflow run of a stored run.

    The MLflow run gets the means, parameters, tags, the tables of groups and items, and the report page. Pushing a run
    again updates its MLflow run.

    Example: ndcg-track push mlflow dense --experiment ranking
    """
    pushed = asked.answered(mlflow.push)
    options.say_notes(pushed.notes, pushed.run)
    names = ["run", "dataset", "outcome", "mlflow_run_id", "experiment", "n_metrics", "tracking_uri"]
    options.show_fields(format, names, [pushed])


@pushes.command("wandb")
@takes(wandb.push)
def push_wandb(asked: Asked, format: options.Output = "text") -> None:
    """Create or update the Weights & Biases run of a stored run.

    The W&B run gets the means, parameters, tags, the table of groups, and the report page as an artifact. Pushing a run
    again updates its W&B run.

    Example: ndcg-track push wandb dense --project ranking
    """
    pushed = asked.answered(wandb.push)
    options.say_notes(pushed.notes, pushed.run)
    if pushed.outcome == "written":
        options.say(f"send it with: wandb sync {shlex.quote(pushed.where)}")
    names = ["run", "dataset", "outcome", "wandb_run_id", "project", "n_metrics", "where"]
    options.show_fields(format, names, [pushed])


pulls = options.command_group("Fetch runs from other trackers.")


@pulls.callback()
def _pull() -> None:
    pass


@pulls.command("mlflow")
@takes(mlflow.pull)
def pull_mlflow(asked: Asked, format: options.Output = "text") -> None:
    """Store the ranking of an MLflow run.

    The ranking comes from the table of items that the evaluator or push logged there.

    Example: ndcg-track pull mlflow 0a1b2c --name dense
    """
    pulled = asked.answered(mlflow.pull)
    for pulled_run in pulled:
        options.say_notes(pulled_run.notes, pulled_run.result.run)
    options.show(stored_runs([pulled_run.result for pulled_run in pulled], format))

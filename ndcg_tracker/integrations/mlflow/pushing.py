"""Push a stored run to an MLflow server: created there once, updated afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from ndcg_tracker.asked import AnyDataset, Option, Run
from ndcg_tracker.integrations.mlflow.tracking import (
    PREFIX_TAG,
    RUN_ID_TAG,
    TAG,
    TrackingUri,
    experiment_named,
    is_key,
    live_run,
    mlflow_client,
    record,
    set_parameters,
    set_tags,
    shown_uri,
)
from ndcg_tracker.integrations.stored_run import REPORT, ReportBaseline, report_page, run_identity, stored_run
from ndcg_tracker.words.notes import Note, in_words

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run as MlflowRun

    from ndcg_tracker.api.tracker import Tracker
    from ndcg_tracker.storage.records import RunRecord

Experiment = Annotated[
    str | None, Option("The MLflow experiment, created if missing.", default="$MLFLOW_EXPERIMENT_NAME, else Default")
]
SOURCE = "ndcg-track push mlflow"


@dataclass(frozen=True)
class PushedRun:
    """The result of pushing a run: "created" or "updated". ``notes``: remarks, in words."""

    run: str
    dataset: str
    outcome: str
    mlflow_run_id: str
    experiment: str
    tracking_uri: str
    n_metrics: int
    notes: tuple[str, ...]


def push(
    tracker: Tracker,
    reference: Run,
    *,
    dataset: AnyDataset = None,
    tracking_uri: TrackingUri = None,
    experiment: Experiment = None,
    baseline: ReportBaseline = None,
) -> PushedRun:
    """Create or update the MLflow run of a stored run: means, parameters, tags and tables.

    If the MLflow run in the tag ``mlflow.run_id`` of the stored run exists, it is updated. Otherwise this is done with
    the MLflow run in the experiment that was pushed from a run of this dataset, name and content; if there is none, a
    new one is created. Parameters: ``tracking_uri``: by default ``MLFLOW_TRACKING_URI``. ``experiment``: its name, by
    default ``MLFLOW_EXPERIMENT_NAME``, created if missing. ``baseline``: the run that the report page (an artifact)
    compares with; by default ``@baseline``, if the dataset has that alias and it points to another run. Raises:
    ReferenceNotFoundError; NotComparableError for a baseline that was named; InputError for errors of MLflow, in one
    line.
    """
    stored = stored_run(tracker, reference, dataset=dataset)
    run = stored.run
    page, why_not = report_page(tracker, run, baseline)
    with mlflow_client(tracking_uri) as (client, uri):
        target = _linked(client, run, experiment) or _pushed_before(client, run, experiment)
        outcome = "created" if target is None else "updated"
        if target is None:
            target = client.create_run(
                _experiment_id(client, experiment),
                start_time=_milliseconds(run.created_at_utc),
                run_name=run.name,
                tags=_source(run),
            )
        prefix = str(run.tags.get(PREFIX_TAG, ""))
        notes = set_parameters(client, target, {key: str(value) for key, value in run.parameters.items()})
        tags = {key: str(value) for key, value in run.tags.items() if not key.startswith("mlflow.")}
        notes += [Note("not_pushed", {"what": "tag", "key": key}) for key in tags if not is_key(key)]
        set_tags(client, target, {key: value for key, value in tags.items() if is_key(key)})
        record(client, target, stored, prefix=prefix)
        if page is not None:
            client.log_text(target.info.run_id, page.to_html(), prefix + REPORT)
        if target.info.status == "RUNNING" and target.data.tags.get("mlflow.source.name") == SOURCE:
            client.set_terminated(target.info.run_id)
        name = client.get_experiment(target.info.experiment_id).name
    notes += [*why_not, *stored.notes()]
    means = stored.named_means(prefix)
    uri, run_id = shown_uri(uri), target.info.run_id
    return PushedRun(run.name, run.dataset, outcome, run_id, name, uri, len(means), in_words(notes))


def _linked(client: MlflowClient, run: RunRecord, experiment: str | None) -> MlflowRun | None:
    """Return the MLflow run that a run came from, if it exists, and is in the experiment if one is given."""
    run_id = run.tags.get(RUN_ID_TAG)
    linked = None if run_id is None else live_run(client, str(run_id))
    if linked is None or experiment is None:
        return linked
    return linked if client.get_experiment(linked.info.experiment_id).name == experiment else None


def _pushed_before(client: MlflowClient, run: RunRecord, experiment: str | None) -> MlflowRun | None:
    there = client.get_experiment_by_name(experiment_named(client, experiment))
    if there is None:
        return None
    identity = run_identity(run.dataset, run.name, run.digest)
    earlier = client.search_runs(
        [there.experiment_id], f"tags.`{TAG}id` = '{identity}'", max_results=1, order_by=["attributes.start_time ASC"]
    )
    return earlier[0] if earlier else None


def _experiment_id(client: MlflowClient, experiment: str | None) -> str:
    name = experiment_named(client, experiment)
    there = client.get_experiment_by_name(name)
    return str(client.create_experiment(name) if there is None else there.experiment_id)


def _source(run: RunRecord) -> dict[str, str]:
    tags = {"mlflow.source.name": SOURCE, "mlflow.source.type": "LOCAL"}
    tags |= {f"{TAG}id": run_identity(run.dataset, run.name, run.digest)}  # so that an interrupted push is found again
    return tags | ({"mlflow.source.git.commit": run.git_commit} if run.git_commit else {})


def _milliseconds(time_utc: str) -> int:
    return int(datetime.fromisoformat(time_utc.replace("Z", "+00:00")).replace(tzinfo=UTC).timestamp() * 1000)

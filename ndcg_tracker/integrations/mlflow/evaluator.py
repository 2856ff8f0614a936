"""The evaluator that ``mlflow.models.evaluate(..., evaluators="ndcg_tracker")`` finds by its entry point."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mlflow
from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.errors import NameTakenError, NdcgTrackerError
from ndcg_tracker.integrations.mlflow.evaluator_config import EvaluatorConfig
from ndcg_tracker.integrations.mlflow.names import PER_GROUP, PREFIX_TAG, RUN_ID_TAG
from ndcg_tracker.integrations.mlflow.predictions import frame_of
from ndcg_tracker.integrations.mlflow.recording import named_means, record
from ndcg_tracker.integrations.mlflow.tracking import shown_uri
from ndcg_tracker.integrations.stored_run import StoredRun, stored_run
from ndcg_tracker.words.notes import Note, in_words

if TYPE_CHECKING:
    from mlflow.entities import Run

    from ndcg_tracker.runs.ingest import IngestResult

_log = logging.getLogger(__name__)

MODEL_TYPE = "ranker"


class RankingEvaluator(ModelEvaluator):  # type: ignore[misc,unused-ignore]
    """Computes ranking metrics and keeps the run, its items and every group's result in the database.

    Used as ``mlflow.models.evaluate(model_or_None, data, targets="label", predictions="score", model_type="ranker",
    evaluators="ndcg_tracker", evaluator_config={"group": "qid"})``; see ``EvaluatorConfig`` for the other keys. The
    database is given by ``NDCG_TRACK_DB``. The stored run has the name of the MLflow run (followed by eight digits of
    its id if another run has that name), its parameters, and the tags ``mlflow.run_id``, ``mlflow.experiment_name`` and
    ``mlflow.tracking_uri``. The MLflow run gets the means as metrics (``ndcg_at_10``, see ``metric_name``) and two
    tables, ``ndcg_per_group.json`` and ``ndcg_ranking.parquet``.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: str, evaluator_config: Mapping[str, Any] | None, **kwargs: Any) -> bool:
        """Return whether this is for rankings: the model type is ``ranker``, or the settings name a group column."""
        return model_type == MODEL_TYPE or "group" in (evaluator_config or {})

    def evaluate(
        self,
        *,
        model_type: str,
        dataset: Any,
        run_id: str,
        evaluator_config: Mapping[str, Any] | None,
        model: Any = None,
        predictions: str | None = None,
        **kwargs: Any,
    ) -> EvaluationResult:
        """Evaluate, store and log; see the class.

        Raises: InputError, with the column or row, for invalid settings or data; ConflictError for a label that
        contradicts a stored one; DatabaseError.
        """
        config = EvaluatorConfig.of(evaluator_config or {})
        frame, columns = frame_of(dataset, config, model, predictions)
        client = mlflow.MlflowClient()
        target = client.get_run(run_id)
        with Tracker() as tracker:
            result = _ingested(tracker, frame, columns, config, target, kwargs.get("model_id"))
            metrics = {one.metric for one in result.metrics}
            stored = stored_run(tracker, result.run, dataset=result.dataset, metrics=metrics)
        record(
            client, target, stored,
            prefix=config.metric_prefix, model_id=kwargs.get("model_id"), with_ranking=config.log_ranking,
        )  # fmt: skip
        return _evaluation_result(stored, config.metric_prefix, run_id)


def _ingested(
    tracker: Tracker,
    frame: dict[str, Any],
    columns: dict[str, Any],
    config: EvaluatorConfig,
    target: Run,
    model_id: str | None,
) -> IngestResult:
    name = config.name or _free_name(tracker, config, target)
    try:
        result = tracker.ingest(
            frame,
            name=name,
            dataset=config.dataset,
            metrics=config.metrics,
            **columns,
            tags={**config.tags, **_link(target, config.metric_prefix, model_id)},
            parameters=target.data.params,
            git_commit=target.data.tags.get("mlflow.source.git.commit"),
            replace=config.replace,
            null_scores=config.null_scores,
        )
    except NameTakenError:
        raise NameTakenError(
            f"run {name!r} of dataset {config.dataset!r} is already stored with other content",
            advice="give evaluator_config another 'name', or 'replace': True",
        ) from None
    _warn(result)
    return result


def _free_name(tracker: Tracker, config: EvaluatorConfig, target: Run) -> str:
    """Return the MLflow run's name, with eight digits of its id where a run of another MLflow run has that name."""
    run_id: str = target.info.run_id
    suffix = f"-{config.metric_prefix.strip(' _-.:')}" if config.metric_prefix else ""
    name = f"{target.info.run_name or run_id}{suffix}"
    try:
        taken, _ = tracker.run(name, config.dataset)
    except NdcgTrackerError:  # no such run; or a missing or broken database, which ingesting reports
        return name
    if taken.name != name or taken.tags.get(RUN_ID_TAG) == run_id:
        return name
    return f"{name}-{run_id[:8]}"


def _link(target: Run, prefix: str, model_id: str | None) -> dict[str, str]:
    tags = {
        RUN_ID_TAG: target.info.run_id,
        "mlflow.experiment_name": mlflow.get_experiment(target.info.experiment_id).name,
        "mlflow.tracking_uri": shown_uri(mlflow.get_tracking_uri()),
    }
    return tags | ({PREFIX_TAG: prefix} if prefix else {}) | ({"mlflow.model_id": model_id} if model_id else {})


def _warn(result: IngestResult) -> None:
    n_missing = max(one.n_missing for one in result.metrics)
    notes = [Note("missing_groups", {"n": n_missing, "dataset": result.dataset})] if n_missing else []
    notes += [Note("no_mean", {"metric": one.metric}) for one in result.metrics if one.mean is None]
    for note in (*result.notes, *in_words(notes)):
        _log.warning("%s: %s", result.run, note)


def _evaluation_result(stored: StoredRun, prefix: str, run_id: str) -> EvaluationResult:
    import json

    from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact
    from mlflow.tracking.artifact_utils import get_artifact_uri

    file = prefix + PER_GROUP
    uri = get_artifact_uri(run_id, file)  # type: ignore[no-untyped-call,unused-ignore]
    content = json.loads(stored.per_group_json)
    table = JsonEvaluationArtifact(uri, content)  # type: ignore[no-untyped-call,unused-ignore]
    means = named_means(stored, prefix)
    tables = {file.removesuffix(".json"): table}
    return EvaluationResult(means, tables, run_id)  # type: ignore[no-untyped-call,unused-ignore]

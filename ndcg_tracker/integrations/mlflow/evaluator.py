"""The evaluator that ``mlflow.models.evaluate(..., evaluators="ndcg_tracker")`` finds by its entry point."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import mlflow
from mlflow.models.evaluation.base import EvaluationResult, ModelEvaluator

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.asked import DEFAULT_DATASET, DEFAULT_METRIC
from ndcg_tracker.errors import InputError, NameTakenError, NdcgTrackerError
from ndcg_tracker.ingest.frames import NullScores
from ndcg_tracker.integrations.mlflow.tracking import (
    PER_GROUP,
    RUN_ID_TAG,
    is_key,
    link_tags,
    record,
)
from ndcg_tracker.integrations.stored_run import StoredRun, stored_run
from ndcg_tracker.metrics.language.text import metric_texts, parse_metric
from ndcg_tracker.words.notes import Note, in_words

if TYPE_CHECKING:
    import pandas as pd
    from mlflow.entities import Run

    from ndcg_tracker.runs.ingest import IngestResult


def _are_texts(given: Any) -> bool:
    texts = [given] if isinstance(given, str) else given
    return isinstance(texts, list | tuple) and bool(texts) and all(isinstance(text, str) for text in texts)


_VALID: Sequence[tuple[str, Callable[[Any], bool], str]] = (
    ("group item weight dataset name metric_prefix", lambda given: isinstance(given, str), "a text"),
    ("log_ranking replace", lambda given: isinstance(given, bool), "True or False"),
    ("null_scores", ("error", "not_retrieved").__contains__, "'error' or 'not_retrieved'"),
    ("tags", lambda given: isinstance(given, Mapping), "a dict of texts"),
    ("metrics", _are_texts, "a list such as ['ndcg@10', 'AP']"),
)
"""The settings that are checked, and what they may be."""


@dataclass(frozen=True)
class EvaluatorConfig:
    """The settings of ``RankingEvaluator``.

    ``group``, ``item``, ``weight``: names of columns; without ``item`` an item is identified by the row's number within
    its group. ``metrics``: text forms, also comma-separated. ``dataset`` and ``name``: of the stored run. ``tags``:
    stored with the run. ``metric_prefix``: prepended to the names of metrics and tables in MLflow. ``log_ranking``:
    whether the items are logged to MLflow too, which ``pull`` needs. ``replace``: replace other content under ``name``.
    ``null_scores``: what a NaN score means, "error" or "not_retrieved" (an outer join of a run with labels).
    ``allow``: see ``Tracker.ingest``.
    """

    group: str
    metrics: tuple[str, ...] = (DEFAULT_METRIC,)
    item: str | None = None
    weight: str | None = None
    dataset: str = DEFAULT_DATASET
    name: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    metric_prefix: str = ""
    log_ranking: bool = True
    replace: bool = False
    null_scores: NullScores = "error"
    allow: str | Sequence[str] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> EvaluatorConfig:
        """Return the settings in a dict.

        Raises: InputError for an unknown key, a value of a wrong type, and if ``group`` is missing; MetricError for a
        text that is not a metric.

        >>> EvaluatorConfig.of({"group": "qid", "metrics": "ndcg@5,map"}).metrics
        ('ndcg@5', 'map')
        """
        keys = [own_field.name for own_field in fields(cls)]
        for key in given:
            if key not in keys:
                near = difflib.get_close_matches(str(key), keys, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"the keys are {', '.join(keys)}"
                raise InputError(f"evaluator_config has the unknown key {key!r}", advice=hint)
        if given.get("group") is None:
            raise InputError(
                "evaluator_config lacks 'group', the name of the column that says which rows belong to one ranked list",
                advice="write evaluator_config={'group': 'qid'}",
            )
        settings = {key: value for key, value in given.items() if value is not None}
        for names, is_valid, what in _VALID:
            for key in names.split():
                if key in settings and not is_valid(settings[key]):
                    raise InputError(f"evaluator_config[{key!r}] is {settings[key]!r}", advice=f"give {what}")
        settings["tags"] = {str(key): str(value) for key, value in settings.get("tags", {}).items()}
        settings["metrics"] = tuple(metric_texts(settings.get("metrics", DEFAULT_METRIC)))
        for text in settings["metrics"]:
            parse_metric(text)
        prefix = settings.get("metric_prefix", "")
        if prefix and (not is_key(prefix) or "/" in prefix):
            raise InputError(
                f"metric_prefix {prefix!r} cannot begin a name in MLflow", advice="use a prefix such as 'test_'"
            )
        return cls(**settings)


def frame_of(
    dataset: Any, config: EvaluatorConfig, model: Any = None, predictions: str | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the columns of a ranking by name, and the column name of each role, as ``Tracker.ingest`` takes them.

    Parameters: ``dataset``: MLflow's ``EvaluationDataset``. ``model``: predicts the scores, None if they are a
    column of the data. ``predictions``: which column of the model's output to use. Raises: InputError.
    """
    if dataset.labels_data is None:
        raise InputError(
            "mlflow.models.evaluate was given no targets", advice="name the column of the labels: targets='label'"
        )
    if model is None and dataset.predictions_data is None:
        raise InputError(
            "mlflow.models.evaluate was given neither a model nor predictions",
            advice="name the column of the scores: predictions='score'",
        )
    features = _features(dataset)
    scores = dataset.predictions_data if model is None else _model_scores(model, features, predictions)
    if len(scores) != len(features):
        raise InputError(
            f"the model returned {len(scores)} scores for {len(features)} rows", advice="return one per row"
        )
    frame: dict[str, Any] = {}
    columns: dict[str, str] = {}
    for role in ("group", "item", "weight"):
        name = getattr(config, role)
        if name is not None:
            columns[role] = name
            frame[name] = _column(features, name, role)
    columns["score"] = _free(dataset.predictions_name or predictions or "score", frame)
    frame[columns["score"]] = scores
    columns["label"] = _free(dataset.targets_name or "label", frame)
    frame[columns["label"]] = dataset.labels_data
    return frame, columns


def _features(dataset: Any) -> pd.DataFrame:
    import pandas as pd

    data = dataset.features_data
    return data if isinstance(data, pd.DataFrame) else pd.DataFrame(data, columns=list(dataset.feature_names))


def _column(features: pd.DataFrame, name: str, role: str) -> Any:
    names = [str(there) for there in features.columns]
    if names.count(name) != 1:
        listed = ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")
        raise InputError(
            f"evaluator_config[{role!r}] is {name!r}, but the data has {names.count(name) or 'no'} such "
            f"column{'s' if names.count(name) > 1 else ''} besides targets and predictions; the columns are "
            f"{listed or 'none'}"
        )
    return features.iloc[:, names.index(name)]


def _model_scores(model: Any, features: pd.DataFrame, predictions: str | None) -> Any:
    import numpy as np
    import pandas as pd

    predicted = model.predict(features.copy())  # models may modify their input
    if isinstance(predicted, pd.DataFrame):
        if predictions is None and predicted.shape[1] == 1:
            return predicted.iloc[:, 0].to_numpy()
        if predictions not in predicted.columns:
            listed = ", ".join(str(name) for name in predicted.columns)
            raise InputError(
                f"the model returned the columns {listed}", advice="say which one holds the scores: predictions='NAME'"
            )
        return predicted[predictions].to_numpy()
    scores = np.asarray(predicted)
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def _free(name: str, frame: dict[str, Any]) -> str:
    while name in frame:
        name += "_"
    return name


_log = logging.getLogger(__name__)

MODEL_TYPE = "ranker"


class RankingEvaluator(ModelEvaluator):  # type: ignore[misc,unused-ignore]
    """Compute ranking metrics and store the run, its items and every group's result in the database.

    Used as ``mlflow.models.evaluate(model_or_None, data, targets="label", predictions="score", model_type="ranker",
    evaluators="ndcg_tracker", evaluator_config={"group": "qid"})``; see ``EvaluatorConfig`` for the other keys.
    ``NDCG_TRACK_DB`` gives the database. The stored run has the name of the MLflow run (followed by eight digits of its
    id if another run has that name), its parameters, and the tags ``mlflow.run_id``, ``mlflow.experiment_name`` and
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
            metrics = {evaluated.metric for evaluated in result.metrics}
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
            allow=config.allow,
        )
    except NameTakenError:
        raise NameTakenError(
            f"run {name!r} of dataset {config.dataset!r} is already stored with other content",
            advice="give evaluator_config another 'name', or 'replace': True",
        ) from None
    _warn(result)
    return result


def _free_name(tracker: Tracker, config: EvaluatorConfig, target: Run) -> str:
    """Return the MLflow run's name, with eight digits of its id if a run of another MLflow run has that name."""
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
    experiment = mlflow.get_experiment(target.info.experiment_id).name
    tags = link_tags(target.info.run_id, experiment, mlflow.get_tracking_uri(), prefix)
    return tags | ({"mlflow.model_id": model_id} if model_id else {})


def _warn(result: IngestResult) -> None:
    n_missing = max(evaluated.n_missing for evaluated in result.metrics)
    notes = [Note("missing_groups", {"n": n_missing, "dataset": result.dataset})] if n_missing else []
    notes += [Note("no_mean", {"metric": evaluated.metric}) for evaluated in result.metrics if evaluated.mean is None]
    for note in (*result.notes, *in_words(notes)):
        _log.warning("%s: %s", result.run, note)


def _evaluation_result(stored: StoredRun, prefix: str, run_id: str) -> EvaluationResult:
    from mlflow.models.evaluation.artifacts import JsonEvaluationArtifact
    from mlflow.tracking.artifact_utils import get_artifact_uri

    file = prefix + PER_GROUP
    uri = get_artifact_uri(run_id, file)  # type: ignore[no-untyped-call,unused-ignore]
    table = JsonEvaluationArtifact(uri, stored.table)  # type: ignore[no-untyped-call,unused-ignore]
    means = stored.named_means(prefix)
    tables = {file.removesuffix(".json"): table}
    return EvaluationResult(means, tables, run_id)  # type: ignore[no-untyped-call,unused-ignore]

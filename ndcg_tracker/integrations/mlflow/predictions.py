"""From MLflow's evaluation data and a model's output to the columns of a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from ndcg_tracker.integrations.mlflow.evaluator_config import EvaluatorConfig


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
    features = _features(dataset)
    scores = _given_scores(dataset) if model is None else _model_scores(model, features, predictions)
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
            f"evaluator_config[{role!r}] is {name!r}, and the data has {names.count(name) or 'no'} such "
            f"column{'s' if names.count(name) > 1 else ''} besides targets and predictions; the columns are "
            f"{listed or 'none'}"
        )
    return features.iloc[:, names.index(name)]


def _given_scores(dataset: Any) -> Any:
    if dataset.predictions_data is None:
        raise InputError(
            "mlflow.models.evaluate was given neither a model nor predictions",
            advice="name the column of the scores: predictions='score'",
        )
    return dataset.predictions_data


def _model_scores(model: Any, features: pd.DataFrame, predictions: str | None) -> Any:
    import numpy as np
    import pandas as pd

    found = model.predict(features.copy())  # models may modify their input
    if isinstance(found, pd.DataFrame):
        if predictions is None and found.shape[1] == 1:
            return found.iloc[:, 0].to_numpy()
        if predictions not in found.columns:
            listed = ", ".join(str(name) for name in found.columns)
            raise InputError(
                f"the model returned the columns {listed}", advice="say which one holds the scores: predictions='NAME'"
            )
        return found[predictions].to_numpy()
    scores = np.asarray(found)
    return scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores


def _free(name: str, frame: dict[str, Any]) -> str:
    while name in frame:
        name += "_"
    return name

"""A scorer for scikit-learn: the mean of a metric over the groups of a fold."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ndcg_tracker.api.reading import evaluate
from ndcg_tracker.errors import InputError
from ndcg_tracker.integrations import library
from ndcg_tracker.integrations.training import ValidationRows
from ndcg_tracker.metrics.language.text import parse_metric

SCORES = ("decision_function", "predict_proba", "predict")


def ndcg_scorer(metric: str = "ndcg@10", *, group: str | int | None = None) -> Any:
    """Return a scorer for ``cross_val_score``, ``GridSearchCV`` and others: the mean of a metric over the groups.

    The splitter must keep groups whole, as GroupKFold does. Scores come from ``decision_function``, else
    ``predict_proba`` (of the second of two classes), else ``predict``. Parameters: ``metric``: a text form. ``group``:
    which column of X holds the group ids, by name in a frame, by number in an array; None to take them from the
    metadata ``groups``, as GroupKFold does. That needs ``sklearn.set_config(enable_metadata_routing=True)``.
    scikit-learn turns an error in a fold into a warning and NaN, unless ``error_score="raise"``. Returns: a scorer,
    whose value is NaN if the metric is undefined for every group. Raises: MetricError; InputError if routing is not
    enabled or scikit-learn is missing.

    >>> import pandas as pd
    >>> from sklearn.linear_model import LinearRegression
    >>> X = pd.DataFrame({"qid": [1, 1, 2, 2], "price": [4.0, 2.0, 1.0, 3.0]})
    >>> model = LinearRegression().fit(X, [1, 0, 0, 1])
    >>> ndcg_scorer("ndcg@10", group="qid")(model, X, [1, 0, 0, 1])
    1.0
    """
    metrics = library("sklearn.metrics")
    mean = partial(mean_over_groups, metric=str(parse_metric(metric)))
    if group is not None:
        return partial(_score, mean=mean, group=group)
    if not library("sklearn").get_config()["enable_metadata_routing"]:
        raise InputError(
            "scikit-learn passes no groups to scorers",
            advice="name the column of X with group=, or first call sklearn.set_config(enable_metadata_routing=True)",
        )
    return metrics.make_scorer(mean, response_method=SCORES).set_score_request(groups=True)


def _score(estimator: Any, rows: Any, labels: Any, *, mean: partial[float], group: str | int) -> float:
    """Return the mean over the groups of some rows, in scikit-learn's protocol."""
    make_scorer = library("sklearn.metrics").make_scorer
    score: float = make_scorer(mean, response_method=SCORES, groups=column_of(rows, group))(estimator, rows, labels)
    return score


def mean_over_groups(labels: Any, scores: Any, *, groups: Any, metric: str) -> float:
    """Return the mean of a metric over the groups of some rows, NaN if it is undefined for all of them.

    >>> mean_over_groups([1, 0, 0], [0.3, 0.2, 0.1], groups=[1, 1, 2], metric="ndcg@10")
    0.5
    """
    return float(evaluate(ValidationRows(labels, group=groups).ranked(scores), metric).mean.iloc[0])


def column_of(rows: Any, column: str | int) -> Any:
    """Return a column of a frame by its name, or of an array by its number.

    >>> column_of(np.array([[7.0, 0.5], [8.0, 0.1]]), 0).tolist()
    [7, 8]
    """
    names = getattr(rows, "columns", None)
    if names is not None:
        if column not in names:
            raise InputError(
                f"X has no column {column!r} with the groups; its columns are {', '.join(map(str, names))}"
            )
        return rows[column]
    values = np.asarray(rows)
    if not isinstance(column, int) or not -values.shape[1] <= column < values.shape[1]:
        raise InputError(
            f"X is an array of {values.shape[1]} columns", advice="give the number of the column with the groups"
        )
    ids = values[:, column]
    if ids.dtype.kind == "f" and not (ids == np.floor(ids)).all():
        raise InputError(f"column {column} of X holds fractions; group ids are whole numbers or text")
    return ids.astype(np.int64) if ids.dtype.kind == "f" else ids

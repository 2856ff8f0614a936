"""The scorer in scikit-learn's own cross-validation and search equals ``nt.evaluate`` on every fold."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
import xgboost as xgb
from ranker_data import TRAIN
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor

import ndcg_tracker as nt
from ndcg_tracker.integrations.sklearn import ndcg_scorer

NUMBERS = [f"x{number}" for number in range(4)]
QUERY = pd.Series([f"query {number}" for number in TRAIN.group])
FRAME = pd.DataFrame(TRAIN.features, columns=NUMBERS).assign(query=QUERY)
ARRAY = np.column_stack([TRAIN.group, TRAIN.features])
FOLDS = GroupKFold(4)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def without_query(model: Any) -> Any:
    return make_pipeline(make_column_transformer(("passthrough", NUMBERS)), model)


def evaluated(
    model: Any, rows: Any, metric: str, scores: str = "predict", labels: Any = TRAIN.labels, **fit_rows: Any
) -> list[float]:
    """Return what nt.evaluate says of every fold."""
    values = []
    for train, test in FOLDS.split(rows, labels, TRAIN.group):
        at = rows.iloc if isinstance(rows, pd.DataFrame) else rows
        fitted = sklearn.clone(model).fit(at[train], labels[train], **{k: v[train] for k, v in fit_rows.items()})
        given = getattr(fitted, scores)(at[test])
        frame = {"group": TRAIN.group[test], "label": labels[test], "score": given if given.ndim == 1 else given[:, 1]}
        values.append(float(nt.evaluate(frame, metric).mean[metric]))
    return values


@pytest.mark.parametrize("metric", ["ndcg@10", "ndcg(gain=exp2)@3", "lightgbm:ndcg@5", "AP@10"])
def test_a_column_of_a_frame(metric: str) -> None:
    model = without_query(Ridge())
    found = cross_val_score(
        model,
        FRAME,
        TRAIN.labels,
        groups=TRAIN.group,
        cv=FOLDS,
        scoring=ndcg_scorer(metric, group="query"),
        error_score="raise",
    )
    assert found.tolist() == evaluated(model, FRAME, metric)
    assert len(set(found)) == 4


@pytest.mark.filterwarnings("ignore:the run. the scores of each list are all equal")  # from the id of a group alone
@pytest.mark.parametrize("rows", [ARRAY, TRAIN.group[:, None] * np.ones((1, 2)), TRAIN.group.reshape(-1, 1)])
def test_a_column_of_an_array(rows: Any) -> None:
    found = cross_val_score(
        DecisionTreeRegressor(random_state=0),
        rows,
        TRAIN.labels,
        groups=TRAIN.group,
        cv=FOLDS,
        scoring=ndcg_scorer(group=0),
        error_score="raise",
    )
    assert found.tolist() == evaluated(DecisionTreeRegressor(random_state=0), rows, "ndcg@10")


def test_a_model_that_predicts_one_column() -> None:
    labels = TRAIN.labels[:, None]
    model = without_query(LinearRegression()).fit(FRAME, labels)
    assert model.predict(FRAME).shape == labels.shape
    one = without_query(LinearRegression()).fit(FRAME, TRAIN.labels)
    score = ndcg_scorer(group="query")
    assert score(model, FRAME, labels) == score(one, FRAME, TRAIN.labels)


def test_groups_by_metadata_routing(routing: None) -> None:
    found = cross_val_score(
        Ridge(),
        TRAIN.features,
        TRAIN.labels,
        params={"groups": TRAIN.group},
        cv=FOLDS,
        scoring=ndcg_scorer("ndcg@5"),
        error_score="raise",
    )
    assert found.tolist() == evaluated(Ridge(), TRAIN.features, "ndcg@5")


def test_a_column_with_metadata_routing_enabled(routing: None) -> None:
    found = cross_val_score(
        without_query(Ridge()),
        FRAME,
        TRAIN.labels,
        params={"groups": TRAIN.group},
        cv=FOLDS,
        scoring=ndcg_scorer("ndcg@5", group="query"),
        error_score="raise",
    )
    assert found.tolist() == evaluated(Ridge(), TRAIN.features, "ndcg@5")


@pytest.mark.nightly
def test_a_grid_search_by_column_on_two_processes() -> None:
    search = GridSearchCV(
        without_query(Ridge()),
        {"ridge__alpha": [0.1, 1e3]},
        scoring=ndcg_scorer("ndcg@5", group="query"),
        cv=FOLDS,
        error_score="raise",
        n_jobs=2,
    ).fit(FRAME, TRAIN.labels, groups=TRAIN.group)
    for place, alpha in enumerate((0.1, 1e3)):
        folds = [search.cv_results_[f"split{fold}_test_score"][place] for fold in range(4)]
        assert folds == evaluated(without_query(Ridge(alpha=alpha)), FRAME, "ndcg@5")


def test_a_grid_search_by_metadata_routing(routing: None) -> None:
    search = GridSearchCV(
        Ridge(), {"alpha": [0.1, 1e3]}, scoring=ndcg_scorer("ndcg@5"), cv=FOLDS, error_score="raise"
    ).fit(TRAIN.features, TRAIN.labels, groups=TRAIN.group)
    for place, alpha in enumerate((0.1, 1e3)):
        folds = [search.cv_results_[f"split{fold}_test_score"][place] for fold in range(4)]
        assert folds == evaluated(Ridge(alpha=alpha), TRAIN.features, "ndcg@5")


@pytest.mark.parametrize(
    ("model", "scores"), [(LogisticRegression(), "decision_function"), (KNeighborsClassifier(3), "predict_proba")]
)
def test_a_binary_classifier_is_asked_for_more_than_classes(model: Any, scores: str) -> None:
    labels = (TRAIN.labels > 1).astype(int)
    model = without_query(model)
    found = cross_val_score(
        model, FRAME, labels, groups=TRAIN.group, cv=FOLDS, scoring=ndcg_scorer(group="query"), error_score="raise"
    )
    assert found.tolist() == evaluated(model, FRAME, "ndcg@10", scores, labels)
    assert found.tolist() != evaluated(model, FRAME, "ndcg@10", "predict", labels)


def test_several_scorers_and_a_ranker_that_needs_groups_to_learn() -> None:
    ranker = xgb.XGBRanker(n_estimators=5, max_depth=3, n_jobs=1)
    rows = pd.DataFrame(TRAIN.features, columns=NUMBERS).assign(qid=TRAIN.group)
    found = cross_validate(
        ranker,
        rows,
        TRAIN.labels,
        groups=TRAIN.group,
        cv=FOLDS,
        scoring={metric: ndcg_scorer(metric, group="qid") for metric in ("ndcg@5", "xgboost:ndcg@5")},
        error_score="raise",
    )
    for metric in ("ndcg@5", "xgboost:ndcg@5"):
        assert found[f"test_{metric}"].tolist() == evaluated(ranker, rows, metric)


def test_a_metric_that_is_defined_for_no_group() -> None:
    model = Ridge().fit(ARRAY, TRAIN.labels)
    scorer = ndcg_scorer("ndcg(empty=skip)@10", group=0)
    assert np.isnan(scorer(model, ARRAY, np.zeros(len(ARRAY))))


@pytest.mark.parametrize(
    ("rows", "group", "line"),
    [
        (FRAME, "qid", "X has no column 'qid' with the groups; its columns are x0, x1, x2, x3, query"),
        (ARRAY, "qid", "X is an array of 5 columns; give the number of the column with the groups"),
        (ARRAY, 5, "X is an array of 5 columns; give the number of the column with the groups"),
        (ARRAY, 1, "column 1 of X holds fractions; group ids are whole numbers or text"),
    ],
)
def test_bad_columns(rows: Any, group: str | int, line: str) -> None:
    model = Ridge().fit(TRAIN.features, TRAIN.labels)
    with pytest.raises(nt.InputError) as raised:
        ndcg_scorer(group=group)(model, rows, TRAIN.labels)
    assert str(raised.value) == line


def test_bad_metrics_and_models() -> None:
    with pytest.raises(nt.MetricError, match="ndgc is not a metric"):
        ndcg_scorer("ndgc@10", group="query")
    with pytest.raises(nt.InputError) as raised:
        ndcg_scorer("ndcg@10")
    assert str(raised.value) == (
        "scikit-learn passes no groups to scorers; name the column of X with group=, or first call "
        "sklearn.set_config(enable_metadata_routing=True)"
    )
    grades = LogisticRegression(max_iter=1000).fit(ARRAY, TRAIN.labels)
    with pytest.raises(nt.InputError) as raised:
        ndcg_scorer(group=0)(grades, ARRAY, TRAIN.labels)
    assert str(raised.value) == (
        f"the model gives scores of shape ({len(ARRAY)}, 5); a ranking needs one score per row, from a ranking, "
        "regression or binary objective"
    )

"""CatBoost trainings in the store: its own NDCG at every iteration, parameters, bad input."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import catboost
import numpy as np
import pytest
from ranker_data import TRAIN, VALID, means_of_training

import ndcg_tracker as nt
from ndcg_tracker.integrations.catboost import TrainingRuns

NDCG = "NDCG:top=5;type=Base"
METRICS = ["ndcg@10", f"catboost:{NDCG}"]


def training_runs(database: Path, features: Any = VALID.features, **options: Any) -> TrainingRuns:
    given = {"name": "ranker", "group": VALID.group, "metrics": METRICS, "database": database, **options}
    return TrainingRuns(features, VALID.labels, **given)


def fitted(
    kind: type[catboost.CatBoost] = catboost.CatBoostRanker, weight: Any = None, **parameters: object
) -> tuple[catboost.CatBoost, list[float]]:
    """Return a model and CatBoost's own NDCG of the validation rows at every iteration."""
    given = {"loss_function": "YetiRank", "iterations": 8, "depth": 3, "learning_rate": 0.3, "eval_metric": NDCG}
    quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1, "random_seed": 1}
    model = kind().set_params(**{**given, **quiet, **parameters})
    train = catboost.Pool(TRAIN.features, TRAIN.labels, group_id=TRAIN.group)
    valid = catboost.Pool(VALID.features, VALID.labels, group_id=VALID.group, group_weight=weight)
    model.fit(train, eval_set=valid)
    (reported,) = (
        values for name, values in model.evals_result_["validation"].items() if name.startswith("NDCG:top=5")
    )
    return model, reported


def history(database: Path) -> dict[str, float]:
    """Return the mean of every stored run."""
    return means_of_training(database, METRICS[1])


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize(
    ("kind", "loss"),
    [
        (catboost.CatBoostRanker, "YetiRank"),
        (catboost.CatBoostRanker, "PairLogitPairwise"),
        (catboost.CatBoostRegressor, "RMSE"),
        (catboost.CatBoost, "QueryRMSE"),
    ],
)
def test_every_iteration_has_the_ndcg_that_catboost_reports(
    tmp_path: Path, kind: type[catboost.CatBoost], loss: str
) -> None:
    runs = training_runs(tmp_path / "runs.db", every=1)
    model, reported = fitted(kind, loss_function=loss, use_best_model=False)
    runs.store(model)
    stored = history(tmp_path / "runs.db")
    assert list(stored) == [*(f"ranker/iter-{number:04}" for number in range(1, 9)), "ranker"]
    assert list(stored.values()) == pytest.approx([*reported, reported[-1]], abs=1e-12)


@pytest.mark.nightly
def test_weights_of_groups(tmp_path: Path) -> None:
    weight = np.repeat(np.random.default_rng(3).uniform(0.5, 2, len(VALID.sizes)), VALID.sizes)
    runs = training_runs(tmp_path / "runs.db", every=1, weight=weight)
    model, reported = fitted(weight=weight, use_best_model=False)
    runs.store(model)
    assert list(history(tmp_path / "runs.db").values()) == pytest.approx([*reported, reported[-1]], abs=1e-12)


def test_every_third_iteration_and_the_best_model(tmp_path: Path) -> None:
    runs = training_runs(tmp_path / "runs.db", catboost.Pool(VALID.features, group_id=VALID.group), every=3)
    model, reported = fitted(iterations=60, od_type="Iter", od_wait=5)
    final = runs.store(model)
    best = int(np.argmax(reported)) + 1
    assert 6 < best == model.tree_count_ == len(reported) - 5
    assert list(history(tmp_path / "runs.db")) == [
        *(f"ranker/iter-{number:04}" for number in range(3, best + 1, 3)),
        "ranker",
    ]
    assert final.metrics[1].mean == pytest.approx(reported[best - 1], abs=1e-12)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        run, _ = tracker.run("ranker")
        of_iteration, _ = tracker.run("ranker/iter-0006")
    assert (run.parameters["iteration"], run.parameters["best_iteration"]) == (str(best), str(best))
    assert of_iteration.parameters["iteration"] == "6"
    assert "best_iteration" not in of_iteration.parameters
    shown = {"depth": "3", "learning_rate": "0.3", "loss_function": "YetiRank", "eval_metric": NDCG, "verbose": "false"}
    assert shown.items() <= run.parameters.items()
    assert run.tags == {"training": "ranker", "stage": "final"}


@pytest.mark.nightly
def test_a_model_at_another_iteration_and_without_eval_set(tmp_path: Path) -> None:
    runs = training_runs(tmp_path / "runs.db")
    model, reported = fitted(use_best_model=False)
    assert runs.store(model, iteration=4).metrics[1].mean == pytest.approx(reported[3], abs=1e-12)
    plain = catboost.CatBoostRanker(iterations=3, verbose=False, allow_writing_files=False, thread_count=1)
    plain.fit(TRAIN.features, TRAIN.labels, group_id=TRAIN.group)
    training_runs(tmp_path / "runs.db", name="plain").store(plain)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        parameters = tracker.run("plain")[0].parameters
    assert parameters["iteration"] == "3"
    assert "best_iteration" not in parameters


def test_a_binary_classifier_ranks_by_its_raw_scores(tmp_path: Path) -> None:
    model = catboost.CatBoostClassifier(iterations=3, verbose=False, allow_writing_files=False, thread_count=1)
    model.fit(TRAIN.features, TRAIN.labels > 1)
    final = training_runs(tmp_path / "runs.db", every=2).store(model)
    scores = model.predict(VALID.features, prediction_type="RawFormulaVal")
    expected = nt.evaluate({"group": VALID.group, "label": VALID.labels, "score": scores}, "ndcg@10")
    assert final.metrics[0].mean == expected.mean["ndcg@10"]


def test_the_same_model_again_adds_nothing_and_another_one_replaces(tmp_path: Path) -> None:
    model, _ = fitted(use_best_model=False)
    for outcome in ("stored", "already stored"):
        runs = training_runs(tmp_path / "runs.db", every=2)
        runs.store(model)
        assert [result.outcome for result in runs.stored] == [outcome] * 5
    again = training_runs(tmp_path / "runs.db", every=2, replace=True)
    again.store(fitted(use_best_model=False, iterations=4, depth=2)[0])
    assert list(history(tmp_path / "runs.db")) == ["ranker/iter-0002", "ranker/iter-0004", "ranker"]


def test_bad_features_and_models(tmp_path: Path) -> None:
    model, _ = fitted(use_best_model=False)
    few = training_runs(tmp_path / "runs.db", VALID.features[:9])
    with pytest.raises(nt.InputError) as raised:
        few.store(model)
    assert str(raised.value) == f"the model gives 9 scores, but there are {len(VALID.labels)} labels; use the same rows"
    runs = training_runs(tmp_path / "runs.db")
    for wrong, kind in ((catboost.CatBoostRanker(), "CatBoostRanker"), ("model.cbm", "str")):
        with pytest.raises(nt.InputError) as raised:
            runs.store(wrong)
        assert str(raised.value) == f"store takes a fitted CatBoostRanker, not a {kind}"
    for iteration in (0, 9):
        with pytest.raises(nt.InputError) as raised:
            runs.store(model, iteration=iteration)
        assert str(raised.value) == f"the model has iterations 1 to 8, not iteration={iteration}"

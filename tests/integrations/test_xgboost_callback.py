"""XGBoost trainings in the store: its own NDCG at every iteration, parameters, bad input."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xgboost as xgb
from ranker_data import TRAIN, VALID, means_of_training

import ndcg_tracker as nt
from ndcg_tracker.integrations.xgboost import TrainingRuns

PARAMETERS = {"objective": "rank:ndcg", "eval_metric": "ndcg@5", "max_depth": 3, "eta": 0.3, "nthread": 1}
METRICS = ["ndcg@10", "xgboost:ndcg@5"]


def training_runs(database: Path, features: Any = VALID.features, **options: Any) -> TrainingRuns:
    given = {"name": "ranker", "group": VALID.group, "metrics": METRICS, "database": database, **options}
    return TrainingRuns(features, VALID.labels, **given)


def trained(
    callbacks: list[Any], n_iterations: int = 8, weight: Any = None, **parameters: object
) -> tuple[xgb.Booster, list[float]]:
    """Return a model and XGBoost's own NDCG of the validation rows at every iteration."""
    train = xgb.DMatrix(TRAIN.features, TRAIN.labels, qid=TRAIN.group)
    valid = xgb.DMatrix(VALID.features, VALID.labels, qid=VALID.group, weight=weight)
    seen: dict[str, dict[str, list[float]]] = {}
    model = xgb.train(
        {**PARAMETERS, **parameters},
        train,
        n_iterations,
        evals=[(valid, "valid")],
        evals_result=seen,
        callbacks=callbacks,
        verbose_eval=False,
    )
    return model, seen["valid"]["ndcg@5"]


def history(database: Path) -> dict[str, float]:
    """Return the mean of every stored run."""
    return means_of_training(database, "xgboost:ndcg@5")


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"objective": "rank:pairwise"},
        {"objective": "reg:squarederror"},
        {"booster": "dart", "rate_drop": 0.5},
        {"booster": "gblinear", "verbosity": 0},
        {"num_parallel_tree": 3, "subsample": 0.5},
    ],
    ids=str,
)
def test_every_iteration_has_the_ndcg_that_xgboost_reports(tmp_path: Path, parameters: dict[str, object]) -> None:
    runs = training_runs(tmp_path / "runs.db", every=1)
    model, reported = trained([runs], **parameters)
    runs.store(model)
    stored = history(tmp_path / "runs.db")
    assert list(stored) == [*(f"ranker/iter-{number:04}" for number in range(1, 9)), "ranker"]
    assert list(stored.values()) == pytest.approx([*reported, reported[-1]], abs=1e-12)


@pytest.mark.nightly
def test_weights_of_groups(tmp_path: Path) -> None:
    weight = np.random.default_rng(3).uniform(0.5, 2, len(VALID.sizes))
    runs = training_runs(tmp_path / "runs.db", every=1, weight=np.repeat(weight, VALID.sizes))
    _, reported = trained([runs], weight=weight)
    assert list(history(tmp_path / "runs.db").values()) == pytest.approx(reported, abs=1e-12)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("save_best", [False, True])
def test_early_stopping_stores_the_best_iteration(tmp_path: Path, save_best: bool) -> None:
    runs = training_runs(tmp_path / "runs.db", xgb.DMatrix(VALID.features), every=4)
    stopping = xgb.callback.EarlyStopping(rounds=3, save_best=save_best)
    model, reported = trained([runs, stopping], 200)
    final = runs.store(model)
    best = model.best_iteration + 1
    assert 1 < best == len(reported) - 3 < 197
    assert final.metrics[1].mean == pytest.approx(reported[best - 1], abs=1e-12)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        run, _ = tracker.run("ranker")
        of_iteration, _ = tracker.run("ranker/iter-0004")
    assert (run.parameters["iteration"], run.parameters["best_iteration"]) == (str(best), str(best))
    assert of_iteration.parameters["iteration"] == "4"
    assert "best_iteration" not in of_iteration.parameters
    shown = {"eta": "0.3", "max_depth": "3", "objective": "rank:ndcg", "lambdarank_pair_method": "topk", "seed": "0"}
    assert shown.items() <= run.parameters.items()
    assert shown.items() <= of_iteration.parameters.items()
    assert "base_score" not in run.parameters
    assert run.tags == {"training": "ranker", "stage": "final"}


@pytest.mark.nightly
def test_a_model_at_another_iteration(tmp_path: Path) -> None:
    runs = training_runs(tmp_path / "runs.db")
    model, reported = trained([runs])
    assert runs.stored == []
    assert runs.store(model, iteration=4).metrics[1].mean == pytest.approx(reported[3], abs=1e-12)


def test_training_that_goes_on_counts_on(tmp_path: Path) -> None:
    first, _ = trained([], 4)
    runs = training_runs(tmp_path / "runs.db", every=3)
    train = xgb.DMatrix(TRAIN.features, TRAIN.labels, qid=TRAIN.group)
    runs.store(xgb.train(PARAMETERS, train, 4, xgb_model=first, callbacks=[runs]))
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        assert [run.name for run in tracker.runs()] == ["ranker/iter-0006", "ranker"]
        assert tracker.run("ranker")[0].parameters["iteration"] == "8"


def test_the_scikit_learn_interface(tmp_path: Path) -> None:
    runs = training_runs(tmp_path / "runs.db", every=3)
    ranker = xgb.XGBRanker(n_estimators=6, max_depth=3, n_jobs=1, callbacks=[runs])
    ranker.fit(TRAIN.features, TRAIN.labels, qid=TRAIN.group)
    runs.store(pickle.loads(pickle.dumps(ranker)))
    assert [result.run for result in runs.stored] == ["ranker/iter-0003", "ranker/iter-0006", "ranker"]
    assert runs.stored[-1].notes == ("its content equals that of run 'ranker/iter-0006'",)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        frame = tracker.sql("SELECT group_key, score FROM items WHERE run = 'ranker' ORDER BY score")
    assert frame["score"].to_numpy() == pytest.approx(np.sort(ranker.predict(VALID.features).astype(float)), abs=0)


def test_the_same_training_again_adds_nothing_and_another_one_replaces(tmp_path: Path) -> None:
    runs = training_runs(tmp_path / "runs.db", every=2)
    for outcome in ("stored", "already stored"):  # one object for both trainings
        runs.store(trained([runs])[0])
        assert [result.outcome for result in runs.stored] == [outcome] * 5
    again = training_runs(tmp_path / "runs.db", every=2, replace=True)
    again.store(trained([again], 4, eta=0.1)[0])
    assert list(history(tmp_path / "runs.db")) == ["ranker/iter-0002", "ranker/iter-0004", "ranker"]


def test_bad_features_and_models(tmp_path: Path) -> None:
    n = len(VALID.labels)
    few = training_runs(tmp_path / "runs.db", VALID.features[:9], every=1)
    with pytest.raises(nt.InputError) as raised:
        trained([few])
    assert str(raised.value) == f"the model gives 9 scores, but there are {n} labels; use the same rows"

    runs = training_runs(tmp_path / "runs.db")
    with pytest.raises(nt.InputError) as raised:
        runs.store({"not": "a model"})
    assert str(raised.value) == "store takes a Booster or a fitted XGBRanker, not a dict"
    model, _ = trained([])
    for iteration in (0, 9):
        with pytest.raises(nt.InputError) as raised:
            runs.store(model, iteration=iteration)
        assert str(raised.value) == f"the model has iterations 1 to 8, not iteration={iteration}"
    with pytest.raises(nt.InputError) as raised:
        xgb.cv(PARAMETERS, xgb.DMatrix(TRAIN.features, TRAIN.labels, qid=TRAIN.group), 2, nfold=2, callbacks=[runs])
    assert str(raised.value) == "xgboost.cv trains several models at once; pass TrainingRuns to xgboost.train"

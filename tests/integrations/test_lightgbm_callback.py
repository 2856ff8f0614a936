"""LightGBM trainings in the store: its own NDCG at every iteration, parameters, both engines, bad input."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest
from ranker_data import TRAIN, VALID, means_of_training

import ndcg_tracker as nt
from ndcg_tracker.errors import NdcgTrackerWarning
from ndcg_tracker.integrations.lightgbm import TrainingRuns

PARAMETERS = {
    "objective": "lambdarank",
    "num_leaves": 7,
    "eval_at": [5],
    "verbose": -1,
    "num_threads": 1,
    "deterministic": True,
    "force_col_wise": True,
}
METRICS = ["ndcg@10", "lightgbm:ndcg@5"]


@pytest.fixture
def ready_url(postgres_schema: None, database_url: str) -> str:
    """The URL of a database that a run can be stored in."""
    return database_url


def training_runs(database: str, **options: Any) -> TrainingRuns:
    given = {"name": "ranker", "group": VALID.group, "metrics": METRICS, "database": database, **options}
    return TrainingRuns(VALID.features, VALID.labels, **given)


def trained(
    callbacks: list[Any], n_iterations: int = 12, weight: Any = None, **parameters: object
) -> tuple[lgb.Booster, list[float]]:
    """Return a model and LightGBM's own NDCG of the validation rows at every iteration."""
    train = lgb.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.sizes)
    valid = lgb.Dataset(VALID.features, VALID.labels, group=VALID.sizes, weight=weight, reference=train)
    seen: dict[str, dict[str, list[float]]] = {}
    model = lgb.train(
        {**PARAMETERS, **parameters},
        train,
        n_iterations,
        valid_sets=[valid],
        callbacks=[lgb.record_evaluation(seen), *callbacks],
    )
    return model, seen["valid_0"]["ndcg@5"]


def means(database: str, metric: str) -> dict[str, float]:
    """Return the mean of every stored run."""
    return means_of_training(database, metric)


def test_every_iteration_has_the_ndcg_that_lightgbm_reports(ready_url: str) -> None:
    runs = training_runs(ready_url, every=1)
    model, reported = trained([runs])
    runs.store(model)
    stored = means(ready_url, "lightgbm:ndcg@5")
    assert list(stored) == [*(f"ranker/iter-{number:04}" for number in range(1, 13)), "ranker"]
    assert list(stored.values()) == pytest.approx([*reported, reported[-1]], abs=1e-12)
    assert [result.metrics[1].mean for result in runs.stored] == list(stored.values())
    with nt.Tracker(ready_url) as tracker:
        assert len(tracker.sql("SELECT DISTINCT label_set_version FROM run_summary")) == 1
        curve = tracker.sql(
            "SELECT CAST(p.value AS INTEGER) AS iteration, s.mean FROM run_summary s "
            "JOIN run_parameters p ON p.run_id = s.run_id AND p.name = 'iteration' "
            "JOIN run_tags t ON t.run_id = s.run_id AND t.name = 'stage' AND t.value = 'iteration' "
            "WHERE s.metric = 'ndcg@10' ORDER BY iteration"
        )
    assert curve["iteration"].tolist() == list(range(1, 13))
    own = nt.evaluate({"group": VALID.group, "label": VALID.labels, "score": model.predict(VALID.features)}, "ndcg@10")
    assert curve["mean"].iloc[-1] == own.mean["ndcg@10"]


@pytest.mark.nightly(but=4)
@pytest.mark.parametrize("boosting", ["gbdt", "dart", "rf"])
def test_each_way_of_boosting(tmp_path: Path, boosting: str) -> None:
    database = str(tmp_path / "runs.db")
    runs = training_runs(database, every=1)
    model, reported = trained([runs], boosting=boosting, bagging_fraction=0.7, bagging_freq=1, drop_rate=0.5)
    runs.store(model)
    stored = list(means(database, "lightgbm:ndcg@5").values())
    assert stored == pytest.approx([*reported, reported[-1]], abs=1e-12)


def test_weights_of_rows(tmp_path: Path) -> None:
    database = str(tmp_path / "runs.db")
    weight = np.random.default_rng(3).uniform(0.5, 2, len(VALID.labels))
    runs = training_runs(database, every=1, weight=weight)
    _, reported = trained([runs], weight=weight)
    assert list(means(database, "lightgbm:ndcg@5").values()) == pytest.approx(reported, abs=1e-12)


def test_early_stopping_stores_the_best_iteration(tmp_path: Path) -> None:
    database = str(tmp_path / "runs.db")
    runs = training_runs(
        database,
        every=5,
        parameters={"features": "v2", "learning_rate": 0.25, "seen": ["a", 1]},
        tags={"branch": "main"},
        git_commit="4f1c09d",
    )
    stopping = lgb.early_stopping(3, verbose=False)
    model, reported = trained([runs, stopping], 200, learning_rate=0.5)
    final = runs.store(model)
    best = model.best_iteration
    assert 1 <= best == len(reported) - 3 < 197
    assert final.metrics[1].mean == pytest.approx(reported[best - 1], abs=1e-12)
    with nt.Tracker(database) as tracker:
        run, _ = tracker.run("ranker")
        of_iteration, _ = tracker.run("ranker/iter-0005")
        assert tracker.run("latest")[0].name == "ranker"
        assert tracker.runs()[-2].name == f"ranker/iter-{len(reported) // 5 * 5:04}"
        with pytest.raises(nt.ReferenceNotFoundError, match="there is only 1 run"):
            tracker.run("latest~1")
    assert {
        "num_leaves": "7",
        "eval_at": "[5]",
        "learning_rate": "0.25",
        "features": "v2",
    }.items() <= run.parameters.items()
    assert (run.parameters["iteration"], run.parameters["best_iteration"]) == (str(best), str(best))
    assert of_iteration.parameters["iteration"] == "5"
    assert "best_iteration" not in of_iteration.parameters
    assert run.tags == {"branch": "main", "training": "ranker", "stage": "final"}
    assert of_iteration.tags == {"branch": "main", "training": "ranker", "stage": "iteration"}
    assert run.git_commit == of_iteration.git_commit == "4f1c09d"


def test_a_model_at_another_iteration(tmp_path: Path) -> None:
    runs = training_runs(str(tmp_path / "runs.db"))
    model, reported = trained([runs])
    assert runs.stored == []
    assert runs.store(model, iteration=4).metrics[1].mean == pytest.approx(reported[3], abs=1e-12)


def test_training_that_goes_on_counts_on(tmp_path: Path) -> None:
    database = str(tmp_path / "runs.db")
    first, _ = trained([], 4)
    runs = training_runs(database, every=3)
    train = lgb.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.sizes)
    model = lgb.train(PARAMETERS, train, 4, init_model=first, callbacks=[runs])
    runs.store(model)
    with nt.Tracker(database) as tracker:
        assert [run.name for run in tracker.runs()] == ["ranker/iter-0006", "ranker"]
        assert tracker.run("ranker")[0].parameters["iteration"] == "8"
    assert (
        runs.stored[0].metrics[0].mean
        == nt.evaluate(
            {"group": VALID.group, "label": VALID.labels, "score": model.predict(VALID.features, num_iteration=6)},
            "ndcg@10",
        ).mean["ndcg@10"]
    )


def test_the_scikit_learn_interface_and_group_sizes_and_items(tmp_path: Path) -> None:
    database = str(tmp_path / "runs.db")
    runs = training_runs(database, every=6, group=None, group_sizes=VALID.sizes, item=VALID.item)
    ranker = lgb.LGBMRanker(n_estimators=6, num_leaves=7, verbose=-1, n_jobs=1)
    ranker.fit(TRAIN.features, TRAIN.labels, group=TRAIN.sizes, callbacks=[runs])
    runs.store(ranker)
    assert [result.run for result in runs.stored] == ["ranker/iter-0006", "ranker"]
    with nt.Tracker(database) as tracker:
        items = tracker.sql("SELECT item_key, score FROM items WHERE run = 'ranker' ORDER BY item_key")
        groups = {record.key for record in tracker.groups()}
    assert items["item_key"].tolist() == VALID.item
    assert items["score"].tolist() == ranker.predict(VALID.features).tolist()
    assert groups == {str(number) for number in range(1, 41)}


def test_the_same_training_again_adds_nothing(ready_url: str) -> None:
    for outcome in ("stored", "already stored"):
        runs = training_runs(ready_url, every=6)
        runs.store(trained([runs])[0])
        assert [result.outcome for result in runs.stored] == [outcome] * 3


def test_another_training_of_the_name_is_refused_or_replaces_it(ready_url: str) -> None:
    runs = training_runs(ready_url, every=3)
    runs.store(trained([runs])[0])
    with nt.Tracker(ready_url) as tracker:
        tracker.set_alias("kept", "ranker/iter-0012")
        tracker.ingest(
            {"group": VALID.group, "label": VALID.labels, "score": VALID.features[:, 0]}, name="ranker/by-hand"
        )
    with pytest.raises(nt.ConflictError) as refused:
        trained([training_runs(ready_url, every=3)], num_leaves=3)
    assert str(refused.value) == (
        "run 'ranker/iter-0003' of dataset 'default' is already stored with other content; keep both with "
        "name='ranker-2', or replace it with replace=True"
    )
    again = training_runs(ready_url, every=3, replace=True)
    again.store(trained([again], 6, num_leaves=3)[0])
    assert [result.outcome for result in again.stored] == ["replaced"] * 3
    with nt.Tracker(ready_url) as tracker:
        left = [run.name for run in tracker.runs()]
    assert left == ["ranker/iter-0012", "ranker/by-hand", "ranker/iter-0003", "ranker/iter-0006", "ranker"]


def test_a_database_that_fails_in_the_middle_does_not_end_the_training(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    runs = training_runs(str(path), every=2)

    def spoil(env: Any) -> None:
        if env.iteration == 2:
            path.write_bytes(b"no database at all" * 100)

    with pytest.warns(UserWarning, match=r"^iteration 4 of 'ranker' was not stored: ") as warned:
        model, _ = trained([runs, spoil], 4)
    assert len(warned) == 1
    assert model.current_iteration() == 4
    with pytest.raises(nt.DatabaseError):
        runs.store(model)


def test_a_database_without_schema_is_told_before_the_training(postgres_url: str) -> None:
    with pytest.raises(nt.DatabaseError, match="the database is empty; create its tables with: "):
        training_runs(postgres_url)


def test_the_database_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NDCG_TRACK_DB", str(tmp_path / "team.db"))
    runs = TrainingRuns(VALID.features, VALID.labels, group=VALID.group, name="ranker", dataset="shop")
    monkeypatch.delenv("NDCG_TRACK_DB")
    runs.store(trained([runs])[0])
    with nt.Tracker(tmp_path / "team.db") as tracker:
        assert [(run.name, run.dataset) for run in tracker.runs()] == [("ranker", "shop")]


@pytest.mark.parametrize(
    ("options", "error", "line"),
    [
        ({"every": 0}, nt.InputError, "every is 0; give a whole number from 1, or None to store no iterations"),
        ({"every": True}, nt.InputError, "every is True; give a whole number from 1, or None to store no iterations"),
        (
            {"group": None},
            nt.InputError,
            "the validation rows need their groups; give group (one id per row) or group_sizes",
        ),
        (
            {"group_sizes": VALID.sizes},
            nt.InputError,
            "the validation rows have their groups twice; leave out group or group_sizes",
        ),
        (
            {"group": None, "group_sizes": [2, 0]},
            nt.InputError,
            "group_sizes holds no sizes; give one whole number from 1 per group",
        ),
        (
            {"group": None, "group_sizes": VALID.group},
            nt.InputError,
            f"group_sizes adds up to {VALID.group.sum()} rows, but there are {len(VALID.labels)} labels; they must "
            "agree; to give one id per row, use group=",
        ),
        (
            {"group": None, "group_sizes": [2, 3]},
            nt.InputError,
            f"group_sizes adds up to 5 rows, but there are {len(VALID.labels)} labels; they must agree",
        ),
        (
            {"group": VALID.group[:-1]},
            nt.InputError,
            f"the columns differ in length ('group' {len(VALID.labels) - 1}, 'score' {len(VALID.labels)}, 'label' "
            f"{len(VALID.labels)}); give one value per row in each",
        ),
        ({"name": ""}, nt.InputError, "the name of a run is empty; give it a name"),
    ],
)
def test_bad_options(tmp_path: Path, options: dict[str, Any], error: type[Exception], line: str) -> None:
    with pytest.raises(error) as raised:
        training_runs(str(tmp_path / "runs.db"), **options)
    assert str(raised.value) == line
    assert not (tmp_path / "runs.db").exists()


def test_labels_that_a_metric_cannot_take_are_told_before_the_training(tmp_path: Path) -> None:
    labels = VALID.labels + 0.5
    with pytest.raises(nt.MetricError, match=r"0\.5"):
        TrainingRuns(
            VALID.features, labels, group=VALID.group, name="r", metrics=METRICS, database=tmp_path / "runs.db"
        )


def test_labels_that_are_fractions_are_fine(tmp_path: Path) -> None:
    TrainingRuns(VALID.features, VALID.labels / 4, group=VALID.group, name="r", database=tmp_path / "runs.db")


def test_bad_features_and_models(tmp_path: Path) -> None:
    database = str(tmp_path / "runs.db")
    data = lgb.Dataset(VALID.features, VALID.labels, group=VALID.sizes)
    with pytest.raises(nt.InputError) as raised:
        TrainingRuns(data, VALID.labels, group=VALID.group, name="ranker", database=database)
    assert str(raised.value) == "LightGBM cannot predict from a Dataset; give the features as an array or frame"

    few = TrainingRuns(VALID.features[:9], VALID.labels, group=VALID.group, name="ranker", database=database, every=1)
    with pytest.raises(nt.InputError) as raised:
        trained([few])
    n = len(VALID.labels)
    assert str(raised.value) == f"the model gives 9 scores, but there are {n} labels; use the same rows"

    runs = training_runs(database)
    model, _ = trained([])
    for wrong, kind in ((lgb.LGBMRanker(), "LGBMRanker"), (3, "int")):
        with pytest.raises(nt.InputError) as raised:
            runs.store(wrong)
        assert str(raised.value) == f"store takes a Booster or a fitted LGBMRanker, not a {kind}"
    for iteration in (0, 13):
        with pytest.raises(nt.InputError) as raised:
            runs.store(model, iteration=iteration)
        assert str(raised.value) == f"the model has iterations 1 to 12, not iteration={iteration}"
    classes = lgb.train(
        {"objective": "multiclass", "num_class": 5, "verbose": -1}, lgb.Dataset(TRAIN.features, TRAIN.labels), 1
    )
    with pytest.raises(nt.InputError) as raised:
        runs.store(classes)
    assert str(raised.value) == (
        f"the model gives scores of shape ({n}, 5); a ranking needs one score per row, from a ranking, regression or "
        "binary objective"
    )
    with pytest.raises(nt.InputError) as raised:
        lgb.cv(PARAMETERS, lgb.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.sizes), 2, nfold=2, callbacks=[runs])
    assert str(raised.value) == "lightgbm.cv trains several models at once; pass TrainingRuns to lightgbm.train"
    assert runs.stored == few.stored == []


def test_validation_rows_that_lack_groups_of_the_dataset_are_told(ready_url: str) -> None:
    model, _ = trained([], n_iterations=2)
    training_runs(ready_url).store(model)
    first = np.asarray(VALID.group) == VALID.group[0]
    n_others = len(set(VALID.group)) - 1
    part = TrainingRuns(
        VALID.features[first], VALID.labels[first], name="part", group=VALID.group[first], database=ready_url
    )
    message = (
        rf"^these validation rows lack {n_others} groups of dataset 'default': 0 in the means; "
        r"other validation rows belong in another dataset, with dataset=$"
    )
    with pytest.warns(NdcgTrackerWarning, match=message):
        part.store(model)
    others = TrainingRuns(
        VALID.features, VALID.labels[::-1], name="others", group=VALID.group, database=ready_url, replace=True
    )
    with pytest.raises(
        nt.ConflictError, match=r"^run 'others': item .* other validation rows belong in another dataset"
    ):
        others.store(model)


THREADS = """
import os, sys
import lightgbm as lgb, numpy as np
from ndcg_tracker.integrations.lightgbm import TrainingRuns

features, grades = np.random.default_rng(1).normal(size=(20_000, 8)), np.arange(20_000) % 3
runs = TrainingRuns(features, grades, group_sizes=[10] * 2000, name="one", database="threads.db")
counts = []


def counted(env):
    before = len(os.listdir("/proc/self/task"))
    runs._scores(env.model, -1, env.params)
    counts.append(len(os.listdir("/proc/self/task")) - before)


for name in sys.argv[1:]:
    parameters = {"objective": "lambdarank", "verbose": -1, name: 1}
    data = lgb.Dataset(features, grades, group=[10] * 2000, params=parameters)
    lgb.train(parameters, data, 3, callbacks=[counted])
print(counts)
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="Linux counts threads there")
@pytest.mark.nightly
def test_the_threads_of_the_training_stay(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    program = [sys.executable, "-c", THREADS, "num_threads", "n_jobs", "nthread"]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{[0] * 9}\n"

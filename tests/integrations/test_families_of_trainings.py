"""Trainings with several seeds, with a feature and without it: what is stored of their data, and what a gate learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import catboost
import lightgbm as lgb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xgboost as xgb
from ranker_data import TRAIN, VALID
from scipy import sparse

import ndcg_tracker as nt
from ndcg_tracker.integrations import catboost as of_catboost
from ndcg_tracker.integrations import lightgbm as of_lightgbm
from ndcg_tracker.integrations import xgboost as of_xgboost
from ndcg_tracker.integrations.training import by_name, features_text, row_hashes

NAMES = ["age", "geo", "price", "stock"]
NAMED = ["age", "days of stock", "price", "geo"]
VALID_FRAME = pd.DataFrame(VALID.features, columns=NAMED)
N_TRAIN, N_VALID, SIZE, SEEDS = 300, 1500, 12, range(5)


@pytest.fixture
def ready_url(postgres_schema: None, database_url: str) -> str:
    """The URL of a database that a run can be stored in."""
    return database_url


def fill_with_recipes(url: str) -> None:
    """Five LightGBM trainings with a feature that matters a little, and five without it."""
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(rng.normal(size=((N_TRAIN + N_VALID) * SIZE, 4)), columns=NAMES)
    labels = np.clip(rows.age + rows.price + 0.25 * rows.geo + rng.normal(size=len(rows)), 0, 4).astype(int)
    first = N_TRAIN * SIZE
    settings = {"objective": "lambdarank", "num_leaves": 8, "verbose": -1, "num_threads": 1, "deterministic": True}
    settings |= {"bagging_fraction": 0.7, "bagging_freq": 1, "feature_fraction": 0.7, "force_col_wise": True}
    for recipe, names in (("with-geo", NAMES), ("without-geo", ["age", "price", "stock"])):
        for seed in SEEDS:
            data = lgb.Dataset(rows[names][:first], labels[:first], group=np.full(N_TRAIN, SIZE))
            model = lgb.train({**settings, "seed": seed}, data, 40)
            runs = of_lightgbm.TrainingRuns(
                rows[names][first:],
                labels[first:],
                group_sizes=np.full(N_VALID, SIZE),
                name=f"{recipe}-{seed}",
                database=url,
            )
            runs.store(model)


@pytest.mark.nightly
def test_a_gate_does_not_learn_from_the_recipe_of_the_candidate(ready_url: str) -> None:
    """A real drop of .013 is a FAIL; by the runs of both recipes, which were one before, it was INCONCLUSIVE."""
    fill_with_recipes(ready_url)
    asked: dict[str, Any] = {"baseline": "with-geo-0", "margin": "auto", "dry_run": True}
    geo = [f"with-geo-{seed}" for seed in SEEDS]
    with nt.Tracker(ready_url) as tracker:
        found = tracker.gate("without-geo-0", **asked).to_dict()
        assert found["learned_margin"]["runs"] == geo
        assert found["decision"] == "fail"
        assert (found["delta"], found["margin"]) == pytest.approx((-0.0128, 0.0047), abs=0.002)
        both = [*geo, *(f"without-geo-{seed}" for seed in SEEDS[1:])]
        mixed = tracker.gate("without-geo-0", **asked, repeats=both).to_dict()
        assert mixed["decision"] == "inconclusive"
        assert mixed["margin"] == pytest.approx(0.022, abs=0.003)
        notes = tracker.compare("with-geo-0", "without-geo-0").comparisons[0].notes
        (note,) = (one for one in notes if one.kind == "retraining")
        assert note.facts["families"] == ["the recipe of with-geo-0", "the recipe of without-geo-0"]
        assert note.facts["n_runs"] == len(tracker.runs()) == 10
        parameters = tracker.run("with-geo-0")[0].parameters
        with tracker.store().read() as tx:
            newest = tx.labels.newest(tracker.runs()[0].dataset_id)
    assert newest is not None
    assert parameters["data_features"] == "4: age, geo, price, stock"
    assert parameters["data_labels"] == f"18000: {newest.digest[:12]}"


def data_of(database: Path, name: str) -> tuple[str, str, str]:
    with nt.Tracker(database) as tracker:
        parameters = tracker.run(name)[0].parameters
    features, rows, labels = (parameters[f"data_{what}"] for what in ("features", "rows", "labels"))
    return features, rows, labels


def test_each_library_tells_its_features(tmp_path: Path) -> None:
    """Names come from frames, from a Dataset, a DMatrix and a Pool; the rows are the same whatever holds them."""
    database = tmp_path / "runs.db"
    train, valid = (pd.DataFrame(split.features, columns=NAMES) for split in (TRAIN, VALID))
    given: dict[str, Any] = {"group": VALID.group, "database": database}

    def lightgbm(name: str, data: lgb.Dataset, features: Any) -> None:
        model = lgb.train({"objective": "lambdarank", "verbose": -1, "num_threads": 1}, data, 2)
        of_lightgbm.TrainingRuns(features, VALID.labels, name=name, **given).store(model)

    def xgboost(name: str, data: xgb.DMatrix, features: Any) -> None:
        model = xgb.train({"objective": "rank:ndcg", "nthread": 1}, data, 2)
        of_xgboost.TrainingRuns(features, VALID.labels, name=name, **given).store(model)

    def cat(name: str, data: catboost.Pool, features: Any) -> None:
        quiet: dict[str, Any] = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        model = catboost.CatBoostRanker(iterations=2, **quiet).fit(data)
        of_catboost.TrainingRuns(features, VALID.labels, name=name, **given).store(model)

    labels, sizes = TRAIN.labels, TRAIN.sizes
    lightgbm("lgb frame", lgb.Dataset(train, labels, group=sizes), valid)
    lightgbm("lgb names", lgb.Dataset(TRAIN.features, labels, group=sizes, feature_name=NAMES), VALID.features)
    lightgbm("lgb mixed", lgb.Dataset(TRAIN.features, labels, group=sizes), valid)
    lightgbm("lgb array", lgb.Dataset(TRAIN.features, labels, group=sizes), VALID.features)
    xgboost("xgb frame", xgb.DMatrix(train, labels, qid=TRAIN.group), valid)
    xgboost("xgb array", xgb.DMatrix(TRAIN.features, labels, qid=TRAIN.group), VALID.features)
    xgboost("xgb matrix", xgb.DMatrix(train, labels, qid=TRAIN.group), xgb.DMatrix(valid))
    cat("cat frame", catboost.Pool(train, labels, group_id=TRAIN.group), valid)
    cat("cat array", catboost.Pool(TRAIN.features, labels, group_id=TRAIN.group), VALID.features)
    cat("cat pool", catboost.Pool(train, labels, group_id=TRAIN.group), catboost.Pool(valid))
    named, of_labels = "4: age, geo, price, stock", data_of(database, "lgb frame")[2]
    rows = data_of(database, "lgb frame")[1]
    for name in ("lgb names", "lgb mixed", "xgb frame", "cat frame"):
        assert data_of(database, name) == (named, rows, of_labels)
    for name in ("lgb array", "xgb array", "cat array"):
        assert data_of(database, name) == ("4", rows, of_labels)
    for name in ("xgb matrix", "cat pool"):  # single precision
        features, other_rows, its_labels = data_of(database, name)
        assert (features, its_labels) == (named, of_labels)
        assert other_rows.startswith(f"{len(VALID.labels)}: ")
        assert other_rows != rows


def test_rows_are_known_by_groups_items_and_features(tmp_path: Path) -> None:
    model = lgb.train(
        {"objective": "lambdarank", "verbose": -1, "num_threads": 1},
        lgb.Dataset(TRAIN.features, TRAIN.labels, group=TRAIN.sizes),
        2,
    )

    def stored(name: str, features: Any = VALID.features, order: Any = slice(None), **other: Any) -> tuple[str, ...]:
        columns = {"group": VALID.group, "item": np.array(VALID.item), **other}
        given = {key: column[order] for key, column in columns.items()}
        database = tmp_path / f"{name}.db"
        runs = of_lightgbm.TrainingRuns(features[order], VALID.labels[order], name=name, database=database, **given)
        runs.store(model)
        return data_of(database, name)

    one = stored("one")
    assert stored("shuffled", order=np.random.default_rng(1).permutation(len(VALID.labels))) == one
    moved = VALID.features.copy()
    moved[3, 2] += 0.01
    others = {
        stored("features", moved)[1],
        stored("groups", group=VALID.group + 1)[1],
        stored("items", item=np.array([f"{item}x" for item in VALID.item]))[1],
        one[1],
    }
    assert len(others) == 4
    (fewer,) = {stored("part", order=slice(0, 30))[2]} - {one[2]}
    assert fewer.startswith("30: ")


def test_what_a_user_says_of_the_data_takes_precedence(tmp_path: Path) -> None:
    database = tmp_path / "runs.db"
    model = lgb.train({"verbose": -1, "num_threads": 1}, lgb.Dataset(TRAIN.features, TRAIN.labels), 2)
    runs = of_lightgbm.TrainingRuns(
        VALID.features, VALID.labels, group=VALID.group, name="r", database=database, parameters={"data_rows": "week 7"}
    )
    runs.store(model)
    assert data_of(database, "r")[:2] == ("4", "week 7")


def test_features_that_are_sparse_or_cannot_be_read() -> None:
    dense = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0], [0.0, 0.0, 0.0]])
    hashes = row_hashes(sparse.csr_matrix(dense))
    assert hashes is not None
    assert len(set(hashes.tolist())) == 3
    assert row_hashes(sparse.csc_matrix(dense))[[1, 0]].tolist() == hashes[[1, 0]].tolist()  # type: ignore[index]
    assert row_hashes(sparse.csr_matrix(dense[::-1].copy())).tolist() == hashes[::-1].tolist()  # type: ignore[union-attr]
    assert row_hashes(sparse.csr_matrix(np.zeros((0, 3)))).tolist() == []  # type: ignore[union-attr]
    assert row_hashes(pd.DataFrame({"words": [["a"], ["b"]]})) is None
    assert row_hashes("train.svm?format=libsvm") is None
    assert row_hashes(None) is None
    words = row_hashes(pd.DataFrame({"word": pd.Categorical(["a", "b", "a"]), "n": [1, 1, 1]}))
    assert words is not None
    assert words[0] == words[2] != words[1]


def test_many_names_are_told_by_a_digest() -> None:
    names = [f"feature about something {number}" for number in range(136)]
    text = features_text(names)
    assert text.startswith("136: digest ")
    assert len(text) == len("136: digest ") + 12
    assert features_text([*names[:-1], "another"]) != text


def library_runs(library: str, database: str, features: Any, **options: Any) -> Any:
    """Store a training on named columns, whose validation rows are ``features``; return the runs."""
    train = pd.DataFrame(TRAIN.features, columns=NAMED)
    given = {"name": "ranker", "group": VALID.group, "every": 2, "database": database, **options}
    if library == "lightgbm":
        runs: Any = of_lightgbm.TrainingRuns(features, VALID.labels, **given)
        settings = {"objective": "lambdarank", "verbose": -1, "num_threads": 1, "deterministic": True}
        data = lgb.Dataset(train, TRAIN.labels, group=TRAIN.sizes)
        runs.store(lgb.train(settings | {"force_col_wise": True}, data, 4, callbacks=[runs]))
    elif library == "xgboost":
        runs = of_xgboost.TrainingRuns(features, VALID.labels, **given)
        matrix = xgb.DMatrix(train, TRAIN.labels, qid=TRAIN.group)
        runs.store(xgb.train({"objective": "rank:ndcg", "nthread": 1}, matrix, 4, callbacks=[runs]))
    else:
        runs = of_catboost.TrainingRuns(features, VALID.labels, **given)
        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1, "random_seed": 1}
        runs.store(catboost.CatBoostRanker(iterations=4, **quiet).fit(train, TRAIN.labels, group_id=TRAIN.group))
    return runs


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_columns_are_taken_by_name(tmp_path: Path, library: str) -> None:
    frame = VALID_FRAME
    turned = frame.assign(other=1.0)[["geo", "other", "price", "age", "days of stock"]]
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        for name, features in (("in-order", frame), ("turned", turned)):
            library_runs(library, str(tmp_path / "runs.db"), features, name=name)
        runs = {run.name: run for run in tracker.runs()}
    for stage in ("/iter-0002", "/iter-0004", ""):
        assert runs[f"turned{stage}"].digest == runs[f"in-order{stage}"].digest
    assert runs["turned"].parameters["data_rows"] == runs["in-order"].parameters["data_rows"]
    with pytest.raises(nt.InputError) as refused:
        library_runs(library, str(tmp_path / "runs.db"), turned.drop(columns=["age", "days of stock"]), name="few")
    missing = "days_of_stock" if library == "lightgbm" else "days of stock"
    assert str(refused.value) == (
        "the validation rows lack 2 columns of the model, such as 'age'; name their columns as in the training, or "
        "give an array in its order"
    )
    with pytest.raises(nt.InputError, match=f"lack 1 column of the model, such as '{missing}'"):
        library_runs(library, str(tmp_path / "runs.db"), turned.drop(columns="days of stock"), name="few")


def test_an_arrow_table_and_numbered_columns_are_taken_by_name(tmp_path: Path) -> None:
    frame = VALID_FRAME
    assert by_name(frame, NAMED, NAMED[::-1]).columns.tolist() == NAMED[::-1]
    table = pa.Table.from_pandas(frame)
    assert by_name(table, NAMED, ["geo", "days_of_stock"]).column_names == ["geo", "days of stock"]
    numbered = pd.DataFrame(VALID.features)
    data = lgb.Dataset(pd.DataFrame(TRAIN.features), TRAIN.labels, group=TRAIN.sizes)
    model = lgb.train({"objective": "lambdarank", "verbose": -1, "num_threads": 1}, data, 4)
    digests = set()
    for name, features in (("in-order", numbered), ("turned", numbered[[2, 0, 3, 1]]), ("array", VALID.features)):
        given: dict[str, Any] = {"name": name, "group": VALID.group, "database": tmp_path / "runs.db"}
        of_lightgbm.TrainingRuns(features, VALID.labels, **given).store(model)
        with nt.Tracker(tmp_path / "runs.db") as tracker:
            digests.add(tracker.run(name)[0].digest)
    assert len(digests) == 1


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_a_taken_name_of_a_training(tmp_path: Path, library: str) -> None:
    database = str(tmp_path / "runs.db")
    library_runs(library, database, VALID_FRAME, name="exp-42")
    with pytest.raises(nt.ConflictError) as refused:
        library_runs(library, database, VALID_FRAME[::-1].reset_index(drop=True), name="exp-42")
    assert str(refused.value) == (
        "run 'exp-42/iter-0002' of dataset 'default' is already stored with other content; keep both with "
        "name='exp-42-2', or replace it with replace=True"
    )

"""``mlflow.models.evaluate(..., evaluators="ndcg_tracker")`` with the real MLflow."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from mlflow_store import MLFLOW_WARNINGS, MlflowStore, store_in
from refused import OR_ALLOW

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, MetricError
from ndcg_tracker.storage.database import upgrade

pytestmark = MLFLOW_WARNINGS
METRICS = ["ndcg@10", "lightgbm:ndcg@5", "AP"]
CONFIG = {"group": "qid", "item": "doc", "metrics": METRICS, "dataset": "shop"}


@pytest.fixture
def store(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> MlflowStore:
    """MLflow on a SQLite file; our database is ``ndcg-track.db`` next to it."""
    return store_in(tmp_path, tmp_path_factory.getbasetemp(), monkeypatch)


@pytest.fixture
def tracker(store: MlflowStore) -> Iterator[nt.Tracker]:
    """The tracker on the database that the evaluator writes."""
    with nt.Tracker() as opened:
        yield opened


def frame_of(seed: int = 1, n_groups: int = 20) -> pd.DataFrame:
    """Groups of ten items with grades 0 to 3, a feature, and a score with some ties."""
    random = np.random.default_rng(seed)
    labels = np.random.default_rng(0).integers(0, 4, n_groups * 10)
    return pd.DataFrame(
        {
            "qid": [f"{number:03}" for number in range(n_groups) for _ in range(10)],
            "doc": [f"d{item}" for _ in range(n_groups) for item in range(10)],
            "feature": random.normal(size=labels.size),
            "label": labels.astype(float),
            "score": np.round(labels + random.normal(size=labels.size), 1),
        }
    )


def evaluated(
    store: MlflowStore,
    data: Any,
    config: dict[str, Any] | None = None,
    *,
    model: Any = None,
    run_name: str = "lambdamart",
    params: dict[str, object] | None = None,
    **options: Any,
) -> Any:
    """Evaluate within an MLflow run of its own."""
    import mlflow

    given = {"targets": "label", **({"predictions": "score"} if model is None else {}), **options}
    with mlflow.start_run(experiment_id=store.experiment_id, run_name=run_name):
        mlflow.log_params(params or {})
        return mlflow.models.evaluate(
            model, data, model_type="ranker", evaluators="ndcg_tracker", evaluator_config=config or CONFIG, **given
        )


@pytest.mark.nightly(but=2)
def test_given_scores_are_evaluated_stored_and_logged(
    postgres_schema: None, store: MlflowStore, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.setenv("NDCG_TRACK_DB", database_url)
    if not database_url.startswith("sqlite"):
        upgrade(database_url)
    frame = frame_of()
    untouched = frame.copy()
    result = evaluated(store, frame, params={"depth": 6, "loss": "rank"})
    pd.testing.assert_frame_equal(frame, untouched)

    expected = nt.evaluate(frame, METRICS, group="qid", item="doc")
    names = ["ndcg_at_10", "lightgbm_ndcg_at_5", "AP"]
    means = dict(zip(names, expected.mean, strict=True))
    assert result.metrics == means
    (logged,) = store.runs()
    assert logged.data.metrics == means
    assert {key: value for key, value in logged.data.tags.items() if key.startswith("ndcg_tracker.")} == {
        "ndcg_tracker.id": logged.data.tags["ndcg_tracker.id"],
        "ndcg_tracker.run": "lambdamart",
        "ndcg_tracker.dataset": "shop",
        "ndcg_tracker.labels": "1",
        "ndcg_tracker.metrics": json.dumps(
            dict(zip(names, [str(nt.parse_metric(text)) for text in METRICS], strict=True))
        ),
    }

    with nt.Tracker(database_url) as tracker:
        (run,) = tracker.runs("shop")
        stored = tracker.sql("SELECT group_key, metric, value FROM group_history")
    assert (run.name, run.n_groups, run.n_items) == ("lambdamart", 20, 200)
    assert run.parameters == {"depth": "6", "loss": "rank"}
    assert run.tags == {
        "mlflow.run_id": logged.info.run_id,
        "mlflow.experiment_name": "shop",
        "mlflow.tracking_uri": store.uri,
    }
    for text in METRICS:
        of_metric = stored[stored["metric"] == str(nt.parse_metric(text))].set_index("group_key")["value"]
        assert of_metric.to_dict() == expected.per_group[text].to_dict()

    run_id = logged.info.run_id
    assert store.artifacts(run_id) == ["ndcg_per_group.json", "ndcg_ranking.parquet"]
    table = json.loads(store.artifact(run_id, "ndcg_per_group.json").read_text("utf-8"))
    assert table["columns"] == ["group", *names]
    assert [row[0] for row in table["data"]] == list(expected.per_group.index)
    assert [row[1:] for row in table["data"]] == expected.per_group.to_numpy().tolist()
    assert result.artifacts["ndcg_per_group"].content == table
    loaded = mlflow.MlflowClient().load_table(store.experiment_id, "ndcg_per_group.json")
    assert list(loaded.columns) == table["columns"]

    ranking = pq.read_table(store.artifact(run_id, "ndcg_ranking.parquet")).to_pandas()
    assert list(ranking.columns) == ["group", "item", "score", "label"]
    given = frame.rename(columns={"qid": "group", "doc": "item"})[list(ranking.columns)]
    keys = ["group", "item"]
    pd.testing.assert_frame_equal(
        ranking.sort_values(keys, ignore_index=True), given.sort_values(keys, ignore_index=True), check_dtype=False
    )


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("kind", ["series", "array", "column", "list", "one of several columns", "the only column"])
def test_a_model_gives_the_scores(store: MlflowStore, tracker: nt.Tracker, kind: str) -> None:
    frame = frame_of().drop(columns="score")
    outputs = {
        "series": lambda data: data["feature"],
        "array": lambda data: data["feature"].to_numpy(),
        "column": lambda data: data[["feature"]].to_numpy(),
        "list": lambda data: data["feature"].tolist(),
        "one of several columns": lambda data: pd.DataFrame({"a": 0, "ranked": data["feature"]}),
        "the only column": lambda data: pd.DataFrame({"a": data["feature"]}),
    }
    predictions = "ranked" if kind == "one of several columns" else None
    result = evaluated(store, frame, model=outputs[kind], predictions=predictions)
    expected = nt.evaluate(frame, METRICS, group="qid", item="doc", score="feature")
    assert list(result.metrics.values()) == expected.mean.tolist()
    assert [run.name for run in tracker.runs()] == ["lambdamart"]


def test_a_model_may_write_into_its_input(store: MlflowStore) -> None:
    def model(data: pd.DataFrame) -> pd.Series:
        data["qid"] = "one"
        return data["feature"]

    frame = frame_of().drop(columns="score")
    expected = nt.evaluate(frame, "AP", group="qid", item="doc", score="feature").mean["AP"]
    assert evaluated(store, frame, model=model).metrics["AP"] == expected


def test_a_mlflow_dataset_and_an_array(store: MlflowStore) -> None:
    import mlflow

    frame = frame_of()
    data = mlflow.data.from_pandas(frame, targets="label", predictions="score")
    expected = nt.evaluate(frame, "ndcg@10", group="qid", item="doc").mean["ndcg@10"]
    assert evaluated(store, data, targets=None, predictions=None).metrics["ndcg_at_10"] == expected
    codes = frame["qid"].astype(int).to_numpy()
    array = np.column_stack([codes.astype(np.int64), np.round(frame["score"] * 10).astype(np.int64)])
    found = evaluated(
        store, array, {"group": "qid", "dataset": "array"}, model=lambda rows: rows["x"],
        targets=frame["label"].to_numpy(), feature_names=["qid", "x"],
    )  # fmt: skip
    assert found.metrics == {"ndcg_at_10": nt.evaluate(frame, "ndcg@10", group="qid").mean["ndcg@10"]}


def test_without_an_item_column_the_key_is_the_row_in_the_group(store: MlflowStore, tracker: nt.Tracker) -> None:
    frame = pd.DataFrame({"qid": ["q", "r", "q"], "label": [0.0, 1.0, 2.0], "score": [3.0, 1.0, 2.0]})
    evaluated(store, frame, {"group": "qid"})
    items = tracker.sql("SELECT group_key, item_key, rank, score FROM items ORDER BY group_key, rank")
    assert items.to_numpy().tolist() == [["q", "1", 1, 3.0], ["q", "2", 2, 2.0], ["r", "1", 1, 1.0]]


def test_nan_scores_are_refused_unless_the_settings_say_what_they_mean(store: MlflowStore, tracker: nt.Tracker) -> None:
    frame = frame_of()
    frame.loc[[3, 7], "score"] = np.nan
    with pytest.raises(InputError) as caught:
        evaluated(store, frame)
    assert str(caught.value) == (
        "row 4: the score is nan; fix the scores, or, if NaN means not retrieved, give null_scores='not_retrieved'"
    )
    evaluated(store, frame, CONFIG | {"null_scores": "not_retrieved"})
    assert [run.n_items for run in tracker.runs()] == [198]


def test_thresholds_of_mlflow(store: MlflowStore) -> None:
    import mlflow
    from mlflow.models import MetricThreshold
    from mlflow.models.evaluation.validation import ModelValidationFailedException

    good, bad = (
        evaluated(store, frame_of(), run_name="good"),
        evaluated(store, frame_of().drop(columns="score"), model=lambda data: data["feature"], run_name="bad"),
    )
    rise = {"ndcg_at_10": MetricThreshold(min_absolute_change=0.05, greater_is_better=True)}
    mlflow.validate_evaluation_results(rise, good, bad)
    with pytest.raises(ModelValidationFailedException, match="ndcg_at_10 minimum absolute change check failed"):
        mlflow.validate_evaluation_results(rise, bad, good)


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            {"metrics": ["ndcg@10"]},
            "evaluator_config lacks 'group', the name of the column that says which rows belong to one ranked list; "
            "write evaluator_config={'group': 'qid'}",
        ),
        (
            {"group": "qid", "metric": "ndcg@10"},
            "evaluator_config has the unknown key 'metric'; did you mean 'metrics'?",
        ),
        (
            {"group": "qid", "zzz": 1},
            "evaluator_config has the unknown key 'zzz'; the keys are group, metrics, item, weight, "
            "dataset, name, tags, metric_prefix, log_ranking, replace, null_scores, allow",
        ),
        ({"group": 7}, "evaluator_config['group'] is 7; give a text"),
        ({"group": "qid", "log_ranking": "no"}, "evaluator_config['log_ranking'] is 'no'; give True or False"),
        ({"group": "qid", "tags": ["a"]}, "evaluator_config['tags'] is ['a']; give a dict of texts"),
        (
            {"group": "qid", "null_scores": "zero"},
            "evaluator_config['null_scores'] is 'zero'; give 'error' or 'not_retrieved'",
        ),
        ({"group": "qid", "metrics": []}, "evaluator_config['metrics'] is []; give a list such as ['ndcg@10', 'AP']"),
        (
            {"group": "qid", "metric_prefix": "a/b"},
            "metric_prefix 'a/b' cannot begin a name in MLflow; use a prefix such as 'test_'",
        ),
        (
            {"group": "query"},
            "evaluator_config['group'] is 'query', but the data has no such column besides targets and predictions; "
            "the columns are qid, doc, feature",
        ),
        (
            {"group": "qid", "item": "label"},
            "evaluator_config['item'] is 'label', but the data has no such column besides targets and predictions; "
            "the columns are qid, doc, feature",
        ),
        (
            {"group": "qid", "item": "qid"},
            "row 2: item '000' of group '000' is in row 1 already; keep one of the two" + OR_ALLOW,
        ),
    ],
)
def test_settings_that_cannot_be_taken(store: MlflowStore, config: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refused:
        evaluated(store, frame_of(), config)
    assert str(refused.value) == message
    assert not Path("ndcg-track.db").exists()


def test_an_unknown_metric(store: MlflowStore) -> None:
    with pytest.raises(MetricError) as refused:
        evaluated(store, frame_of(), {"group": "qid", "metrics": ["ndgc@10"]})
    assert str(refused.value) == "ndgc is not a metric; did you mean ndcg@10?"


def test_labels_scores_and_models_that_are_missing_or_wrong(store: MlflowStore) -> None:
    frame = frame_of()
    for options, message in (
        (
            {"targets": None},
            "mlflow.models.evaluate was given no targets; name the column of the labels: targets='label'",
        ),
        (
            {"predictions": None},
            "mlflow.models.evaluate was given neither a model nor predictions; name the column of the scores: "
            "predictions='score'",
        ),
        ({"model": lambda data: [1.0, 2.0]}, "the model returned 2 scores for 200 rows; return one per row"),
        (
            {"model": lambda data: data[["feature", "score"]]},
            "the model returned the columns feature, score; say which one holds the scores: predictions='NAME'",
        ),
    ):
        with pytest.raises(InputError) as refused:
            evaluated(store, frame, **options)
        assert str(refused.value) == message


def test_again_in_the_same_mlflow_run_adds_nothing(store: MlflowStore, tracker: nt.Tracker) -> None:
    import mlflow

    with mlflow.start_run(experiment_id=store.experiment_id, run_name="twice") as run:
        for _ in range(2):
            mlflow.models.evaluate(
                data=frame_of(), targets="label", predictions="score", model_type="ranker",
                evaluators=["ndcg_tracker"], evaluator_config={"ndcg_tracker": CONFIG},
            )  # fmt: skip
    assert [one.name for one in tracker.runs()] == ["twice"]
    assert len(store.client.get_metric_history(run.info.run_id, "ndcg_at_10")) == 1
    assert store.artifacts(run.info.run_id) == ["ndcg_per_group.json", "ndcg_ranking.parquet"]


def test_mlflow_runs_of_one_name_are_runs_of_their_own(store: MlflowStore, tracker: nt.Tracker) -> None:
    for seed in (1, 2, 1):
        evaluated(store, frame_of(seed))
    stored = {run.name: run.tags["mlflow.run_id"] for run in tracker.runs()}
    assert set(stored.values()) == {run.info.run_id for run in store.runs()}
    first = stored.pop("lambdamart")
    assert stored == {f"lambdamart-{one[:8]}": one for one in stored.values()}
    assert len({first, *stored.values()}) == 3


def test_a_name_that_other_content_has(store: MlflowStore, tracker: nt.Tracker) -> None:
    evaluated(store, frame_of(1), {**CONFIG, "name": "mine"})
    with pytest.raises(ConflictError) as refused:
        evaluated(store, frame_of(2), {**CONFIG, "name": "mine"})
    assert str(refused.value) == (
        "run 'mine' of dataset 'shop' is already stored with other content; give evaluator_config another 'name', or "
        "'replace': True"
    )
    before = tracker.run("mine")[0]
    evaluated(store, frame_of(2), {**CONFIG, "name": "mine", "replace": True, "tags": {"branch": "new"}})
    (after,) = tracker.runs()
    assert after.digest != before.digest
    assert after.tags["branch"] == "new"


def test_a_label_that_contradicts_a_stored_one(store: MlflowStore) -> None:
    evaluated(store, frame_of())
    frame = frame_of(2)
    frame.loc[0, "label"] = 9.0
    with pytest.raises(ConflictError, match=r"item 'd0' of group '000' has the label 9 here but \d in the latest"):
        evaluated(store, frame)


@pytest.mark.nightly
def test_two_data_sets_in_one_mlflow_run(store: MlflowStore, tracker: nt.Tracker) -> None:
    import mlflow

    with mlflow.start_run(experiment_id=store.experiment_id, run_name="both") as run:
        for name in ("valid", "test"):
            result = mlflow.models.evaluate(
                data=frame_of(n_groups=5 if name == "test" else 7), targets="label", predictions="score",
                model_type="ranker", evaluators="ndcg_tracker",
                evaluator_config={"group": "qid", "dataset": name, "metric_prefix": f"{name}_"},
            )  # fmt: skip
            assert list(result.metrics) == [f"{name}_ndcg_at_10"]
    assert sorted(store.run(run.info.run_id).data.metrics) == ["test_ndcg_at_10", "valid_ndcg_at_10"]
    assert store.artifacts(run.info.run_id) == [
        "test_ndcg_per_group.json", "test_ndcg_ranking.parquet",
        "valid_ndcg_per_group.json", "valid_ndcg_ranking.parquet",
    ]  # fmt: skip
    assert [(one.name, one.dataset, one.n_groups) for one in tracker.runs()] == [
        ("both-valid", "valid", 7),
        ("both-test", "test", 5),
    ]


@pytest.mark.nightly
def test_groups_that_this_data_lacks_are_told(store: MlflowStore, caplog: pytest.LogCaptureFixture) -> None:
    evaluated(store, frame_of(n_groups=5))
    with caplog.at_level(logging.WARNING, "ndcg_tracker"):
        evaluated(store, frame_of(2, n_groups=3))
    (run_id,) = {run.info.run_id for run in store.runs() if run.data.metrics["AP"] < 0.65}
    assert caplog.messages == [
        f"lambdamart-{run_id[:8]}: 2 groups of dataset 'shop' are not in this data; the metric decides how a "
        "missing group counts (by default as 0); to avoid that, give evaluator_config another 'dataset'"
    ]


@pytest.mark.nightly
def test_exchanged_scores_and_labels_are_told(store: MlflowStore, caplog: pytest.LogCaptureFixture) -> None:
    frame = frame_of().rename(columns={"label": "score", "score": "label"})
    evaluated(store, frame[frame["label"] >= 0], {**CONFIG, "metrics": ["ndcg@10"]})
    assert "its scores are whole numbers and the labels are not: are the run and the labels swapped?" in caplog.text


def test_a_metric_without_a_value_is_not_logged(store: MlflowStore, caplog: pytest.LogCaptureFixture) -> None:
    frame = frame_of(n_groups=2).assign(label=0.0)
    config = {"group": "qid", "metrics": ["ndcg(empty=skip)@10", "P@5"]}
    assert evaluated(store, frame, config).metrics == {"P_at_5": 0.0}
    assert "lambdamart: ndcg(empty=skip)@10 has no value for any group, so MLflow gets no mean" in caplog.messages
    (run,) = store.runs()
    table = json.loads(store.artifact(run.info.run_id, "ndcg_per_group.json").read_text("utf-8"))
    assert table["data"] == [["000", None, 0.0], ["001", None, 0.0]]


def test_the_table_of_items_may_stay_away(store: MlflowStore) -> None:
    evaluated(store, frame_of(), {**CONFIG, "log_ranking": False})
    (run,) = store.runs()
    assert store.artifacts(run.info.run_id) == ["ndcg_per_group.json"]


def test_what_it_evaluates() -> None:
    from ndcg_tracker.integrations.mlflow.evaluator import RankingEvaluator

    assert RankingEvaluator.can_evaluate(model_type="ranker", evaluator_config=None)
    assert RankingEvaluator.can_evaluate(model_type="regressor", evaluator_config={"group": "qid"})
    assert not RankingEvaluator.can_evaluate(model_type="classifier", evaluator_config={"log_model_explainability": 1})

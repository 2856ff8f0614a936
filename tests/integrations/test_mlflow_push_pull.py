"""Runs to a real MLflow and back, to the last bit."""

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from mlflow_store import MLFLOW_WARNINGS, MlflowStore, store_in
from refused import OR_ALLOW
from small_shop import BM25, DENSE, LABELS, frame_of, joint_frame, labels_frame

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, InputError, NotComparableError, ReferenceNotFoundError
from ndcg_tracker.integrations.mlflow import push
from ndcg_tracker.integrations.mlflow.pulling import pull
from ndcg_tracker.integrations.mlflow.tracking import shown_uri
from ndcg_tracker.integrations.stored_run import metric_name, run_identity
from ndcg_tracker.metrics.language.dialects import DIALECTS

pytestmark = MLFLOW_WARNINGS
METRICS = ["ndcg@10", "lightgbm:ndcg@5", "AP"]


@pytest.fixture
def store(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> MlflowStore:
    """MLflow on a SQLite file."""
    return store_in(tmp_path, tmp_path_factory.getbasetemp(), monkeypatch)


@pytest.fixture
def tracker(postgres_schema: None, database_url: str) -> Iterator[nt.Tracker]:
    """A database of either engine."""
    with nt.Tracker(database_url) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path) -> Iterator[nt.Tracker]:
    """A database that has nothing yet."""
    with nt.Tracker(tmp_path / "other.db") as opened:
        yield opened


def content(tracker: nt.Tracker, run: str, dataset: str, folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return a run with its items, labels, means and results as an export has them, times and tags left out."""
    tracker.export_runs(folder, [run], dataset=dataset)
    found = {path.stem: pq.read_table(path).to_pylist() for path in folder.iterdir()}
    for row in [row for rows in found.values() for row in rows]:
        for name in [name for name in row if name in ("tags", "source", "stored_by") or name.endswith(("id", "_utc"))]:
            del row[name]
    del found["metrics"]
    found["items"].sort(key=lambda row: str(row["group_key"]))  # the ranks stay as they come
    for name in ("labels", "group_results", "groups"):
        found[name].sort(key=str)
    return found


def shop_of(tracker: nt.Tracker) -> None:
    """Store bm25 and dense; dense lacks a group, and some labels and items are on one side only."""
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(
            frame_of(run), labels=labels_frame(), name=name, dataset="shop", metrics=METRICS,
            parameters={"depth": "6"}, tags={"branch": "main"}, git_commit="c0ffee",
        )  # fmt: skip


def test_a_run_is_made_in_mlflow(store: MlflowStore, tracker: nt.Tracker) -> None:
    shop_of(tracker)
    pushed = push(tracker, "dense", experiment="shop")
    (made,) = store.runs()
    assert (pushed.run, pushed.dataset, pushed.outcome, pushed.notes) == ("dense", "shop", "created", ())
    assert (pushed.mlflow_run_id, pushed.experiment, pushed.n_metrics) == (made.info.run_id, "shop", 3)
    assert pushed.tracking_uri == store.uri
    run, evaluations = tracker.run("dense")
    assert made.data.metrics == {metric_name(one.metric): one.mean for one in evaluations}
    assert made.data.params == {"depth": "6"}
    tags = made.data.tags
    assert (made.info.run_name, made.info.status, tags["branch"]) == ("dense", "FINISHED", "main")
    assert tags["mlflow.source.git.commit"] == "c0ffee"
    assert tags["ndcg_tracker.id"] == run_identity("shop", "dense", run.digest)
    assert pd.Timestamp(made.info.start_time, unit="ms", tz="UTC") == pd.Timestamp(run.created_at_utc).floor("ms")
    table = json.loads(store.artifact(made.info.run_id, "ndcg_per_group.json").read_text("utf-8"))
    history = tracker.sql("SELECT group_key, value FROM group_history WHERE run = 'dense' AND metric = 'ndcg@10'")
    assert {row[0]: row[1] for row in table["data"]} == dict(zip(history["group_key"], history["value"], strict=True))
    ranking = pq.read_table(store.artifact(made.info.run_id, "ndcg_ranking.parquet")).to_pylist()
    assert ranking[:4] == [
        {"group": "q1", "item": "a", "score": 0.9, "label": 3.0},
        {"group": "q1", "item": "b", "score": 0.5, "label": 1.0},
        {"group": "q1", "item": "c", "score": 0.1, "label": 0.0},
        {"group": "q2", "item": "a", "score": 0.9, "label": 1.0},
    ]
    assert [row for row in ranking if None in row.values()] == [
        {"group": "q3", "item": "f", "score": 0.7, "label": None},
        {"group": "q4", "item": "x", "score": 0.4, "label": None},
        {"group": "q5", "item": "h", "score": None, "label": 1.0},
    ]


def test_again_updates_the_same_mlflow_run(store: MlflowStore, tracker: nt.Tracker) -> None:
    shop_of(tracker)
    first = push(tracker, "bm25", experiment="shop")
    before = store.run(first.mlflow_run_id)
    again = push(tracker, "bm25", experiment="shop")
    assert (again.outcome, again.mlflow_run_id) == ("updated", first.mlflow_run_id)
    (after,) = store.runs()
    assert (after.data.to_dictionary(), after.info.status) == (before.data.to_dictionary(), "FINISHED")
    assert len(store.client.get_metric_history(first.mlflow_run_id, "AP")) == 1

    tracker.rescore(["bm25"], metrics=["P@5"])
    tracker.tag_run("bm25", {"branch": "new"})
    push(tracker, "bm25", experiment="shop")
    updated = store.run(first.mlflow_run_id).data
    assert updated.tags["branch"] == "new"
    assert set(updated.metrics) - set(before.data.metrics) == {"P_at_5"}
    assert push(tracker, "dense", experiment="shop").outcome == "created"
    assert len(store.runs()) == 2


def test_an_experiment_is_made_and_another_gets_a_run_of_its_own(
    store: MlflowStore, tracker: nt.Tracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop_of(tracker)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "named")
    outcomes = [push(tracker, "bm25", experiment=name) for name in (None, None, "shop", "shop")]
    assert [(one.experiment, one.outcome) for one in outcomes] == [
        ("named", "created"), ("named", "updated"), ("shop", "created"), ("shop", "updated"),
    ]  # fmt: skip


def test_the_mlflow_run_that_a_tag_names_is_updated(store: MlflowStore, tracker: nt.Tracker) -> None:
    training = store.client.create_run(store.experiment_id, run_name="training")
    tracker.ingest(joint_frame(BM25, LABELS), name="bm25", tags={"mlflow.run_id": training.info.run_id})
    pushed = push(tracker, "bm25")
    assert (pushed.outcome, pushed.mlflow_run_id, pushed.experiment) == ("updated", training.info.run_id, "shop")
    after = store.run(training.info.run_id)
    assert (after.info.run_name, after.info.status, list(after.data.metrics)) == ("training", "RUNNING", ["ndcg_at_10"])
    store.client.delete_run(training.info.run_id)
    assert push(tracker, "bm25").outcome == "created"


def test_what_mlflow_does_not_take_is_told(store: MlflowStore, tracker: nt.Tracker) -> None:
    frame = joint_frame({"q1": {"a": 1.0}}, {"q1": {"a": 0}})
    tracker.ingest(
        frame, name="bm25", parameters={"a@b": "1", "depth": "6", "long": "x" * 7000}, tags={"c@d": "1"},
        metrics=["ndcg(empty=skip)@10", "P@5"],
    )  # fmt: skip
    pushed = push(tracker, "bm25", experiment="shop")
    only = "MLflow allows only letters, digits, _ - . : / and spaces in a name"
    assert pushed.notes == (
        f"parameter 'a@b' was not pushed: {only}",
        f"tag 'c@d' was not pushed: {only}",
        "ndcg(empty=skip)@10 has no value for any group, so MLflow gets no mean",
    )
    data = store.run(pushed.mlflow_run_id).data
    assert (data.params["depth"], len(data.params["long"]), data.metrics) == ("6", 6000, {"P_at_5": 0.0})
    tracker.delete_run("bm25")
    tracker.ingest(frame, name="bm25", parameters={"depth": "7"}, metrics=["P@5"])
    again = push(tracker, "bm25", experiment="shop")
    assert again.mlflow_run_id == pushed.mlflow_run_id
    assert again.notes == ("parameter 'depth' is '6' in MLflow, which never changes a parameter, and '7' here",)


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("name", ["bm25", "dense"])
def test_there_and_back_is_the_same(
    store: MlflowStore, tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path, name: str
) -> None:
    shop_of(tracker)
    pushed = push(tracker, name, experiment="shop")
    (pulled,) = pull(other, pushed.mlflow_run_id)
    assert (pulled.result.outcome, pulled.notes, pulled.mlflow_run_id) == ("stored", (), pushed.mlflow_run_id)
    assert content(other, name, "shop", tmp_path / "b") == content(tracker, name, "shop", tmp_path / "a")
    assert other.run(name)[0].tags == {
        "branch": "main",
        "mlflow.run_id": pushed.mlflow_run_id,
        "mlflow.experiment_name": "shop",
        "mlflow.tracking_uri": store.uri,
    }
    (again,) = pull(other, pushed.mlflow_run_id)
    assert again.result.outcome == "already stored"
    assert push(other, name).mlflow_run_id == pushed.mlflow_run_id


def test_ties_weights_and_awkward_numbers_and_ids_come_back(
    store: MlflowStore, tracker: nt.Tracker, other: nt.Tracker, tmp_path: Path
) -> None:
    random = np.random.default_rng(5)
    groups = ["007", "NA", "é\u2028", "null", "1e3"]
    frame = {
        "group": [group for group in groups for _ in range(40)],
        "item": [f"{item:02}" for _ in groups for item in random.permutation(40)],
        "score": np.concatenate([np.tile([0.1, 1 / 3, 5e-324, -1e300], 10) for _ in groups]),
        "label": random.integers(0, 3, 200),
        "weight": [weight for weight in (1.0, 0.1, 3.0, 1 / 3, 7.0) for _ in range(40)],
    }
    tracker.ingest(frame, name="ties", weight="weight", metrics=["catboost:NDCG:top=10;type=Base", "spark:ndcgAt(10)"])
    pull(other, push(tracker, "ties", experiment="shop").mlflow_run_id)
    assert content(other, "ties", "default", tmp_path / "b") == content(tracker, "ties", "default", tmp_path / "a")


def test_the_default_weight_goes_along(store: MlflowStore, tracker: nt.Tracker, other: nt.Tracker) -> None:
    metric = "catboost:NDCG:top=10;type=Base"
    tracker.ingest(joint_frame(BM25, LABELS), name="bm25", metrics=metric)
    tracker.set_groups({"group": ["q1", "q5"], "weight": [2.5, 0.5]}, default_weight=0.25)
    (pulled,) = pull(other, push(tracker, "bm25", experiment="shop").mlflow_run_id)
    assert pulled.notes == ()
    assert pulled.result.metrics[0].mean == tracker.run("bm25")[1][0].mean


def test_the_newest_labels_go_to_mlflow(store: MlflowStore, tracker: nt.Tracker, other: nt.Tracker) -> None:
    shop_of(tracker)
    newer = {**LABELS, "q3": {"e": 3, "f": 2}}
    tracker.add_labels(labels_frame(newer), dataset="shop")
    tracker.ingest(frame_of(BM25), labels=labels_frame(newer), name="bm25", dataset="shop", metrics=["ndcg@10"])
    pushed = push(tracker, "bm25", experiment="shop")
    assert store.run(pushed.mlflow_run_id).data.tags["ndcg_tracker.labels"] == "2"
    (pulled,) = pull(other, pushed.mlflow_run_id)
    expected = nt.evaluate(frame_of(BM25), "ndcg@10", labels=labels_frame(newer)).mean["ndcg@10"]
    assert [(one.metric, one.mean) for one in pulled.result.metrics] == [("ndcg@10", expected)]


def test_under_larger_labels_the_mean_differs_and_that_is_told(store: MlflowStore, tracker: nt.Tracker) -> None:
    tracker.ingest(joint_frame(BM25, LABELS), name="bm25")
    run_id = push(tracker, "bm25", experiment="shop").mlflow_run_id
    larger = {**LABELS, "q9": {"z": 1}}
    tracker.ingest(frame_of(BM25), labels=labels_frame(larger), name="further", dataset="here")
    (pulled,) = pull(tracker, run_id, dataset="here", name="copy")
    there = store.run(run_id).data.metrics["ndcg_at_10"]
    (note,) = [note for note in pulled.notes if "MLflow" in note]
    assert note == (
        f"ndcg@10 is {pulled.result.metrics[0].mean:.6g} here and {there:.6g} in MLflow: here it uses labels version "
        "1 of dataset 'here'; use another dataset to keep both"
    )


def test_names_and_conflicts(store: MlflowStore, tracker: nt.Tracker, other: nt.Tracker) -> None:
    shop_of(tracker)
    run_id = push(tracker, "bm25", experiment="shop").mlflow_run_id
    other.ingest(frame_of(DENSE), labels=labels_frame(), name="bm25", dataset="shop")
    with pytest.raises(ConflictError) as refused:
        pull(other, run_id)
    assert str(refused.value) == (
        "run 'bm25' of dataset 'shop' is already stored with other content; keep both with name='bm25-2', or replace "
        "it with replace=True"
    )
    assert pull(other, run_id, name="bm25-2")[0].result.run == "bm25-2"
    assert pull(other, run_id, dataset="else")[0].result.dataset == "else"
    assert pull(other, run_id, replace=True)[0].result.outcome == "replaced"
    wrong = {**LABELS, "q3": {"e": 0}}
    other.ingest(frame_of(BM25), labels=labels_frame(wrong), name="x", dataset="wrong")
    with pytest.raises(ConflictError, match="has the label 1 here but 0 in the latest labels of dataset 'wrong'"):
        pull(other, run_id, dataset="wrong")


def test_by_name(store: MlflowStore, tracker: nt.Tracker, other: nt.Tracker) -> None:
    shop_of(tracker)
    ids = [push(tracker, "bm25", experiment="shop").mlflow_run_id]
    assert pull(other, "bm25", experiment="shop")[0].mlflow_run_id == ids[0]
    assert pull(other, ids[0], experiment="shop")[0].mlflow_run_id == ids[0]
    ids.append(store.client.create_run(store.experiment_id, run_name="bm25").info.run_id)
    with pytest.raises(InputError) as refused:
        pull(other, "bm25", experiment="shop")
    listed = ", ".join(run.info.run_id for run in reversed(store.runs()))
    assert str(refused.value) == f"MLflow experiment 'shop' has several runs 'bm25'; give the id of one: {listed}"


def test_what_cannot_be_pulled(store: MlflowStore, tracker: nt.Tracker) -> None:
    bare = store.client.create_run(store.experiment_id).info.run_id
    for arguments, message in (
        (
            {"run_id": bare},
            f"MLflow run {bare} has no artifact ndcg_ranking.parquet, which holds the items; evaluate it again with "
            "evaluators='ndcg_tracker' and without 'log_ranking': False, or push the stored run with: ndcg-track push "
            "mlflow RUN",
        ),
        ({"run_id": "nope"}, "there is no MLflow run 'nope'; give an id, or a name with experiment="),
        ({"run_id": "a b"}, "there is no MLflow run 'a b'; give an id, or a name with experiment="),
        (
            {"run_id": "nope", "experiment": "shop"},
            "MLflow experiment 'shop' has no run 'nope'; give the id or name of one of its runs",
        ),
        (
            {"run_id": bare, "experiment": "else"},
            "there is no MLflow experiment 'else'; check its name in MLflow",
        ),
        (
            {"run_id": bare, "tracking_uri": "sqlite:///no%20such.db"},
            "no such.db: the MLflow database does not exist; give tracking_uri= or set MLFLOW_TRACKING_URI",
        ),
    ):
        with pytest.raises(InputError) as refused:
            pull(tracker, **arguments)
        assert str(refused.value) == message
    store.client.delete_run(bare)
    with pytest.raises(InputError, match=f"there is no MLflow run '{bare}'"):
        pull(tracker, bare)
    assert not Path("no such.db").exists()
    tracker.ingest(joint_frame(BM25, LABELS), name="bm25")
    with pytest.raises(ReferenceNotFoundError, match="no run 'nope'"):
        push(tracker, "nope")


@pytest.fixture
def logged(store: MlflowStore, tmp_path: Path) -> Callable[[Callable[[Path], object]], str]:
    """Logs a file as ``ndcg_ranking.parquet`` to an MLflow run and returns the run's id."""

    def log(write: Callable[[Path], object]) -> str:
        path = tmp_path / "ndcg_ranking.parquet"
        write(path)
        run_id: str = store.client.create_run(store.experiment_id, run_name="theirs").info.run_id
        store.client.log_artifact(run_id, str(path))
        return run_id

    return log


def test_a_table_that_someone_else_logged(
    store: MlflowStore, other: nt.Tracker, logged: Callable[[Callable[[Path], object]], str]
) -> None:
    frame = joint_frame(BM25, LABELS)
    run_id = logged(lambda path: pq.write_table(pa.table(frame), path))
    store.client.log_param(run_id, "depth", 6)
    (pulled,) = pull(other, run_id)
    run, (evaluation,) = other.run("theirs")
    assert (run.dataset, run.source, run.parameters) == ("default", f"MLflow run {run_id}", {"depth": "6"})
    assert (evaluation.metric, evaluation.mean) == ("ndcg@10", nt.evaluate(frame, "ndcg@10").mean["ndcg@10"])
    assert pulled.notes == ()


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (
            {"metrics": ["ndcg(new=1)@10"]},
            ": holds a metric that this program does not know (ndcg has no parameter new; it has",
        ),
        ([1], ": its metadata about the run cannot be read; push the run again"),
    ],
)
def test_facts_that_cannot_be_read(
    other: nt.Tracker, logged: Callable[[Callable[[Path], object]], str], facts: object, message: str
) -> None:
    table = pa.table(joint_frame(BM25, LABELS)).replace_schema_metadata({"ndcg_tracker": json.dumps(facts)})
    run_id = logged(lambda path: pq.write_table(table, path))
    with pytest.raises(InputError) as refused:
        pull(other, run_id)
    assert str(refused.value).startswith(f"ndcg_ranking.parquet of MLflow run {run_id}{message}")


def test_a_table_that_is_broken(other: nt.Tracker, logged: Callable[[Callable[[Path], object]], str]) -> None:
    twice = pa.table({"group": ["q", "q"], "item": ["a", "a"], "score": [1.0, 2.0], "label": [1, 1]})
    for write, message in (
        (lambda path: path.write_bytes(b"PAR1 and no more"), "not a readable Parquet file ("),
        (
            lambda path: pq.write_table(twice.drop_columns("item"), path),
            "has no column 'item'; a run needs group, item, score, label",
        ),
        (
            lambda path: pq.write_table(twice, path),
            "row 2: item 'a' of group 'q' is in row 1 already; keep one of the two" + OR_ALLOW,
        ),
    ):
        run_id = logged(write)
        with pytest.raises(InputError) as refused:
            pull(other, run_id)
        assert (
            re.split(": |:(?=row)", str(refused.value), maxsplit=1)[0] == f"ndcg_ranking.parquet of MLflow run {run_id}"
        )
        assert message in str(refused.value)


def test_a_server_that_does_not_answer_costs_no_secret(store: MlflowStore, tracker: nt.Tracker) -> None:
    tracker.ingest(joint_frame(BM25, LABELS), name="bm25")
    uri = "http://me:geheim@127.0.0.1:9/shop"
    for attempt in (lambda: push(tracker, "bm25", tracking_uri=uri), lambda: pull(tracker, "x", tracking_uri=uri)):
        with pytest.raises(InputError) as refused:
            attempt()
        assert str(refused.value).startswith("MLflow at http://127.0.0.1:9/shop: ")
        assert "geheim" not in str(refused.value)
        assert "\n" not in str(refused.value)


def test_without_mlflow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        tracker.ingest(joint_frame(BM25, LABELS), name="bm25")
        for attempt in (lambda: push(tracker, "bm25"), lambda: pull(tracker, "x")):
            with pytest.raises(InputError) as refused:
                attempt()
            assert str(refused.value) == (
                "mlflow is not installed; install it with: pip install 'ndcg-tracker[mlflow]'"
            )


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("http://localhost:5000", "http://localhost:5000"),
        ("https://me:pw@mlflow.example/shop", "https://mlflow.example/shop"),
        ("https://dapi0123@mlflow.example", "https://mlflow.example"),
        ("https://me:p/w@mlflow.example", "https://mlflow.example"),
        ("https://me:p@w@mlflow.example", "https://mlflow.example"),
        ("https://me:p?w@mlflow.example", "https://***"),
        ("https://me:p#w@mlflow.example", "https://***"),
        ("https://mlflow.example?token=pw", "https://mlflow.example"),
        ("https://mlflow.example/?token=p@w", "https://***"),
        ("postgresql://me:pw@db/mlflow?password=pw", "postgresql://db/mlflow"),
        ("databricks", "databricks"),
        ("databricks://profile", "databricks://profile"),
        ("sqlite:///mlflow.db", "sqlite:///mlflow.db"),
        ("file:///data/me@home", "file:///data/me@home"),
    ],
)
def test_what_is_shown_of_a_tracking_uri(uri: str, shown: str) -> None:
    assert shown_uri(uri) == shown


def test_every_metric_has_a_name_of_its_own_that_mlflow_takes() -> None:
    from mlflow.utils.validation import _validate_metric_name

    texts = {str(nt.parse_metric(text)) for dialect in DIALECTS.values() for text in dialect.examples}
    texts |= {"ndcg(gain={1:3.5, 2:9})", "ndcg(gain={1:3, 5:2.9})", "ndcg(gain=linear>=2)", "ndcg(gain={2:1})@10"}
    texts |= {f"ndcg(gain={{{', '.join(f'{grade}:{grade}.5' for grade in range(1, n))}}})" for n in (60, 61)}
    names = {metric_name(text): text for text in texts}
    assert len(names) == len(texts)
    for name in names:
        _validate_metric_name(name)
        assert len(name) <= 250


def test_the_report_page_is_an_artifact(store: MlflowStore, tracker: nt.Tracker, tmp_path: Path) -> None:
    shop_of(tracker)

    def page_of(run_id: str) -> str | None:
        names = [file.path for file in store.client.list_artifacts(run_id)]
        if "ndcg_tracker_report.html" not in names:
            return None
        return Path(store.client.download_artifacts(run_id, "ndcg_tracker_report.html", str(tmp_path))).read_text(
            "utf-8"
        )

    assert page_of(push(tracker, "dense").mlflow_run_id) is None  # nothing to compare with
    tracker.set_alias("baseline", "bm25")
    assert "<title>Is dense better than bm25?</title>" in str(page_of(push(tracker, "dense").mlflow_run_id))
    assert page_of(push(tracker, "bm25").mlflow_run_id) is None  # the baseline itself
    pushed = push(tracker, "bm25", baseline="dense")
    assert "<title>Is bm25 better than dense?</title>" in str(page_of(pushed.mlflow_run_id))
    tracker.ingest(frame_of(BM25), name="alien", dataset="shop", metrics="P@1")
    (note,) = push(tracker, "alien").notes
    assert note.startswith("no report page: runs 'bm25' and 'alien' do not both have a metric under one version")
    with pytest.raises(NotComparableError):
        push(tracker, "alien", baseline="bm25")


def test_groups_in_one_run_only_leave_a_note_and_not_an_error(store: MlflowStore, tracker: nt.Tracker) -> None:
    for name, run in (("bm25", BM25), ("dense", DENSE)):
        tracker.ingest(frame_of(run), labels=labels_frame(), name=name, dataset="shop", metrics="ndcg(missing=skip)@10")
    tracker.set_alias("baseline", "bm25")
    (note,) = push(tracker, "dense").notes
    assert note.startswith("no report page: ndcg(missing=skip)@10: 1 group has a result in one run only")

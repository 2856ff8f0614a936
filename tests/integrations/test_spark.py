"""The same numbers on Spark, with the real Spark on this machine."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from refused import OR_ALLOW
from spark_sessions import session

import ndcg_tracker as nt
from ndcg_tracker.cli.app import run as run_program
from ndcg_tracker.errors import InputError, MetricError, NameTakenError
from ndcg_tracker.ingest.columns import ColumnWarning
from ndcg_tracker.integrations import spark as on_spark
from ndcg_tracker.rankings.groups_share import in_share

pytestmark = [
    pytest.mark.nightly,  # Spark weighs half a gigabyte; test_batches.py tries the same without it
    pytest.mark.filterwarnings("ignore:.*(pandas >= 3|distutils|is_datetime64tz|toPandas).*"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
READABLE = "give a path of Parquet, ORC or Delta, or a table"
METRICS = ["ndcg@10", "RR", "AP", "ndcg(gain=exp2, ties=pessimistic)@5"]


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    found = session(tmp_path_factory.mktemp("spark"))
    yield found
    found.stop()


def test_recommendations_and_interactions_of_rectools(spark: Any) -> None:
    run = pd.DataFrame({"user_id": ["u"] * 3, "item_id": list("abc"), "score": [0.1, 0.9, 0.5], "rank": [1, 2, 3]})
    taken = pd.DataFrame({"user_id": ["u"], "item_id": ["a"], "weight": [0.5]})
    on_both = [spark.createDataFrame(run), spark.createDataFrame(taken)]
    with pytest.raises(InputError, match="say which decides: score='score' or score='-rank'"):
        on_spark.evaluation(on_both[0], "RR", labels=on_both[1])
    with pytest.warns(ColumnWarning, match="every row is read as a relevant item"):
        assert on_spark.evaluation(on_both[0], "RR", labels=on_both[1], score="-rank")["RR"] == 1.0


def run_of(n_groups: int = 300, n_items: int = 20) -> pd.DataFrame:
    """Return shuffled rows with ties; a third of the items has no label, and one group has none at all."""
    rng = np.random.default_rng(3)
    n = n_groups * n_items
    frame = pd.DataFrame(
        {
            "group": np.repeat([f"q{group}" for group in range(n_groups)], n_items),
            "item": np.tile([f"d{item}" for item in range(n_items)], n_groups),
            "score": rng.normal(size=n).round(1),
            "label": rng.integers(0, 4, n).astype(float),
            "segment": np.repeat(np.where(np.arange(n_groups) % 3, "new", "old"), n_items),
        }
    )
    frame.loc[rng.random(n) < 0.3, "label"] = np.nan
    frame.loc[frame["group"] == "q7", "label"] = np.nan
    return frame.sample(frac=1, random_state=1).reset_index(drop=True)


def on(spark: Any, frame: pd.DataFrame) -> Any:
    kinds = {"object": "string", "str": "string", "float64": "double", "int64": "bigint"}
    schema = ", ".join(f"{name} {kinds[str(kind)]}" for name, kind in frame.dtypes.items())
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False, name=None)
    return spark.createDataFrame(list(rows), schema)


def pivoted(frame: Any) -> pd.DataFrame:
    rows = [(row["group"], row["metric"], row["value"]) for row in frame.collect()]
    found = pd.DataFrame(rows, columns=["group", "metric", "value"])
    return found.pivot(index="group", columns="metric", values="value")[METRICS].astype(float)


def assert_same_values(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    assert sorted(found.index) == sorted(wanted.index)
    assert np.array_equal(found.to_numpy(), wanted.loc[found.index].to_numpy(), equal_nan=True)  # to the last bit


def test_values_are_those_of_one_machine(spark: Any) -> None:
    frame = run_of()
    found = on_spark.evaluate(on(spark, frame), METRICS)
    assert found.columns == ["group", "metric", "value"]
    assert_same_values(pivoted(found), nt.evaluate(frame, METRICS).per_group)


def test_labels_may_stand_in_a_second_frame(spark: Any) -> None:
    frame = run_of()
    run, labels = frame[["group", "item", "score"]], frame[["group", "item", "label"]].dropna()
    run = run[run["group"] != "q3"]  # missing from the run
    found = on_spark.evaluate(on(spark, run), METRICS, labels=on(spark, labels))
    assert_same_values(pivoted(found), nt.evaluate(run, METRICS, labels=labels).per_group)


def test_ids_that_are_numbers_here_and_text_there_meet_as_text(spark: Any) -> None:
    run = pd.DataFrame({"qid": [7, 7, 12], "docno": [1, 2, 1], "score": [2.0, 1.0, 1.0]})
    labels = pd.DataFrame({"qid": ["7", "007", "12"], "docno": ["2", "2", "1"], "label": [1.0, 1.0, 1.0]})
    found = on_spark.evaluate(on(spark, run), "RR", labels=on(spark, labels)).collect()
    assert {row["group"]: row["value"] for row in found} == {"7": 0.5, "12": 1.0, "007": 0.0}


def test_an_evaluation_has_the_same_means(spark: Any) -> None:
    frame = run_of()
    found, wanted = on_spark.evaluation(on(spark, frame), METRICS), nt.evaluate(frame, METRICS)
    assert found.to_frame().equals(wanted.to_frame())


def test_slices(spark: Any) -> None:
    frame = run_of()
    found = on_spark.evaluate(on(spark, frame), "ndcg@10", by="segment")
    assert found.columns == ["segment", "group", "metric", "value"]
    rows = found.groupBy("segment").agg({"value": "mean"}).collect()
    means = {row["segment"]: row["avg(value)"] for row in rows}
    values = nt.evaluate(frame, "ndcg@10").per_group["ndcg@10"]
    of_group = frame.drop_duplicates("group").set_index("group")["segment"]
    assert means == pytest.approx(values.groupby(of_group).mean().to_dict(), abs=1e-12)


def test_a_table_is_evaluated_as_it_is_stored(spark: Any, tmp_path: Path) -> None:
    frame = run_of(50)
    frame.to_parquet(tmp_path / "run.parquet")
    stored = spark.read.parquet(str(tmp_path / "run.parquet"))
    assert_same_values(pivoted(on_spark.evaluate(stored, METRICS)), nt.evaluate(frame, METRICS).per_group)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"item": ["a", "a"]},
            "group 'q', item 'a': item 'a' of group 'q' is in another row already; keep one of the two" + OR_ALLOW,
        ),
        ({"item": ["a", ""]}, "group 'q', item '': the item id is empty; every row needs one"),
        (
            {"label": [None, None]},
            "no group of the run has labels; give labels of the same groups, with ids written the same way",
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_one_line(spark: Any, change: dict[str, list[Any]], said: str) -> None:
    rows = {"group": ["q", "q"], "item": ["a", "b"], "score": [1.0, 2.0], "label": [1.0, 0.0]} | change
    frame = spark.createDataFrame(
        list(zip(*rows.values(), strict=True)), "group string, item string, score double, label double"
    )
    with pytest.raises(InputError) as refused:
        on_spark.evaluation(frame, "ndcg@10")
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (
            "group string, score double, label double",
            "there is no item column, and rows of a distributed table have no numbers; name the item column with item=",
        ),
        (
            "group double, item string, score double, label double",
            "column 'group' holds double; ids are text or whole numbers; cast it to string",
        ),
        (
            "group string, item string, score string, label double",
            "column 'score' holds string, not numbers; cast it to double",
        ),
        (
            "group string, item string, score double",
            "the ranking has no labels; name the label column with label=, or give them as a second table",
        ),
    ],
)
def test_columns_are_checked_before_anything_runs(spark: Any, schema: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        on_spark.evaluate(spark.createDataFrame([], schema), "ndcg@10")
    assert str(refused.value) == said


def test_metrics_and_frames_are_checked_before_anything_runs(spark: Any) -> None:
    frame = on(spark, run_of(2))
    with pytest.raises(MetricError):
        on_spark.evaluate(frame, "nothing@10")
    with pytest.raises(InputError) as refused:
        on_spark.evaluate(run_of(2), "ndcg@10")
    assert str(refused.value) == "a DataFrame is not a Spark DataFrame; give it to ndcg_tracker.evaluate"
    with pytest.raises(InputError) as refused:
        on_spark.evaluate(frame, "ndcg@10", by="score")
    assert str(refused.value) == "by='score' is not another column of the run; the others are segment"


def test_the_command_evaluates_what_spark_reads(spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame = run_of(60)
    run, labels = frame[["group", "item", "score"]], frame[["group", "item", "label"]].dropna()
    on(spark, run).write.parquet(str(tmp_path / "dense.parquet"))
    on(spark, labels).createOrReplaceTempView("judged")
    run.to_parquet(tmp_path / "here.parquet")
    labels.to_parquet(tmp_path / "labels.parquet")
    words = ["evaluate", str(tmp_path / "dense.parquet"), "--labels", "judged", "--metric", ",".join(METRICS[:3])]
    assert run_program([*words, "--engine", "spark", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    words[1:4:2] = [str(tmp_path / "here.parquet"), str(tmp_path / "labels.parquet")]
    assert run_program([*words, "--name", "dense", "--format", "json"]) == 0
    assert found == json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("postgres_schema")
def test_the_command_ingests_what_spark_reads(spark: Any, database_url: str) -> None:
    frame = run_of(60)
    on(spark, frame.rename(columns={"group": "user", "item": "sku"})).createOrReplaceTempView("nightly")
    words = ["--group", "user", "--item", "sku", "--metric", "ndcg@10"]
    share = ["--groups-share", "1/4", "--name", "share"]
    assert run_program(["--db", database_url, "ingest", "nightly", "--engine", "spark", *words, *share]) == 0
    assert run_program(["--db", database_url, "ingest", "nightly", "--engine", "spark", *words]) == 0
    with nt.Tracker(database_url) as tracker:
        assert tracker.query("SELECT count(*) AS n FROM items WHERE run = 'nightly'").rows == [(len(frame),)]
        for given in ({"name": "nightly"}, {"name": "share", "groups_share": "1/4"}):
            assert tracker.ingest(frame, metrics="ndcg@10", **given).outcome == "already stored"  # to the last bit


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["no_such_table"],
            f"no_such_table: Spark cannot read it (TABLE_OR_VIEW_NOT_FOUND); {READABLE}",
        ),
        (
            ["/nowhere/run.parquet"],
            f"/nowhere/run.parquet: Spark cannot read it (PATH_NOT_FOUND); {READABLE}",
        ),
        (
            ["nightly", "--reader", "csv"],
            "--reader does not go with --engine spark: Spark reads the rows, not this program; leave one out",
        ),
    ],
)
def test_the_command_says_what_spark_cannot_read(
    spark: Any, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_program(["evaluate", *words, "--engine", "spark"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {said}"


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.usefixtures("postgres_schema")
def test_a_run_is_stored_as_ingest_stores_it(spark: Any, database_url: str, apart: bool) -> None:
    frame = run_of(60).drop(columns="segment")
    labels = frame[["group", "item", "label"]].dropna() if apart else None
    rows = frame[["group", "item", "score"]] if apart else frame
    given = {"name": "nightly", "metrics": METRICS, "tags": {"by": "spark"}}
    of_spark = {"labels": None if labels is None else on(spark, labels), "source": "shop.nightly"}
    logged = on_spark.log_run(on(spark, rows), database_url, **of_spark, **given)
    assert logged.outcome == "stored"
    assert on_spark.log_run(on(spark, rows), database_url, **of_spark, **given).outcome == "already stored"
    with nt.Tracker(database_url) as tracker:
        again = tracker.ingest(rows, labels=labels, **given)
        assert again == dataclasses.replace(
            logged,
            outcome="already stored",
            metrics=tuple(dataclasses.replace(one, is_new=False) for one in logged.metrics),
        )
        stored = tracker.sql("SELECT requested_as, group_key, value FROM group_history")
        assert tracker.query("SELECT source FROM run_details").rows == [("shop.nightly",)]
        assert tracker.query("SELECT count(*) FROM items").rows == [(len(rows),)]
        other = on(spark, rows.assign(score=rows["score"] + 0.5 * (rows["item"] == "d3")))
        with pytest.raises(NameTakenError, match="run 'nightly' of dataset 'default' is already stored with other"):
            on_spark.log_run(other, tracker, **of_spark, **given)
        assert on_spark.log_run(other, tracker, replace=True, **of_spark, **given).outcome == "replaced"
    values = stored.pivot(index="group_key", columns="requested_as", values="value")[METRICS].astype(float)
    assert_same_values(values, nt.evaluate(rows, METRICS, labels=labels).per_group)


@pytest.mark.usefixtures("postgres_schema")
def test_a_run_is_stored_under_the_labels_of_the_dataset(spark: Any, database_url: str) -> None:
    frame = run_of(20)
    run, labels = frame[["group", "item", "score"]], frame[["group", "item", "label"]].dropna()
    with nt.Tracker(database_url) as tracker:
        tracker.add_labels(labels)
        found = on_spark.log_run(on(spark, run), tracker, name="nightly", metrics=METRICS)
        wanted = nt.evaluate(run, METRICS, labels=labels).mean
    assert [one.mean for one in found.metrics] == [wanted[metric] for metric in METRICS]


def test_rows_that_cannot_be_stored_are_refused_and_leave_nothing(spark: Any, tmp_path: Path) -> None:
    frame = run_of(2)
    twice = pd.concat([frame, frame.head(1)])
    group, item = frame.loc[0, ["group", "item"]]
    with nt.Tracker(tmp_path / "t.db") as tracker:
        with pytest.raises(MetricError, match="rows of a distributed table have no order"):
            on_spark.log_run(on(spark, frame), tracker, name="nightly", metrics="ndcg(ties=input)@10")
        with pytest.raises(InputError, match=f"item '{item}' of group '{group}' is in row [0-9]+ already; keep one"):
            on_spark.log_run(on(spark, twice), tracker, name="nightly")
        with pytest.raises(InputError, match=r"^there are no rows; give at least one$"):
            on_spark.log_run(on(spark, frame).limit(0), tracker, name="nightly")
    assert not (tmp_path / "t.db").exists()


def test_a_share_of_the_groups_is_that_of_one_machine(spark: Any) -> None:
    frame = run_of()
    share = frame[in_share(frame["group"], "1/4")]
    assert 40 < share["group"].nunique() < 110
    assert_same_values(
        pivoted(on_spark.evaluate(on(spark, frame), METRICS, groups_share="1/4")), nt.evaluate(share, METRICS).per_group
    )
    run, labels = (frame[["group", "item", name]].dropna() for name in ("score", "label"))
    found = on_spark.evaluation(on(spark, run), METRICS, labels=on(spark, labels), groups_share=0.25)
    assert found.to_frame().equals(nt.evaluate(share, METRICS).to_frame())
    numbers = frame.assign(group=frame["group"].str[1:].astype(int))
    of_numbers = on_spark.evaluate(on(spark, numbers), "RR", groups_share="1/4").collect()
    assert sorted(row["group"] for row in of_numbers) == [one for one in range(300) if in_share([str(one)], "1/4")[0]]
    with pytest.raises(InputError, match="groups_share=2 is not a share above 0 and at most 1"):
        on_spark.evaluate(on(spark, frame), METRICS, groups_share=2)


@pytest.mark.usefixtures("postgres_schema")
def test_a_stored_share_is_that_of_one_machine(spark: Any, database_url: str) -> None:
    frame = run_of().drop(columns="segment")
    run, labels = (frame[["group", "item", name]].dropna() for name in ("score", "label"))
    given = {"name": "nightly", "metrics": METRICS, "groups_share": "1/4"}
    with nt.Tracker(database_url) as tracker:
        logged = on_spark.log_run(on(spark, run), tracker, labels=on(spark, labels), **given)
        assert logged.n_groups == in_share(frame["group"].unique(), "1/4").sum()
        assert tracker.query("SELECT groups_share FROM runs").rows == [("1/4",)]
        again = tracker.ingest(run, labels=labels, **given)
        assert (again.outcome, again.notes) == ("already stored", logged.notes)
        assert [one.mean for one in again.metrics] == [one.mean for one in logged.metrics]
        share = on(spark, run[run["group"] == "q0"])
        with pytest.raises(InputError, match=r"^no group is in the share 1/1000000; give a larger share$"):
            on_spark.log_run(share, tracker, name="none", groups_share="1/1000000")


def test_values_of_a_run_are_stored_without_its_rows(spark: Any, tmp_path: Path) -> None:
    frame = run_of(60)
    values = on_spark.evaluate(on(spark, frame), METRICS).withColumnRenamed("metric", "measure")
    values.coalesce(1).write.parquet(str(tmp_path / "values"))
    (file,) = (tmp_path / "values").glob("part-*.parquet")
    words = ["--db", str(tmp_path / "t.db"), "ingest", "--results", str(file), "--name", "nightly"]
    words += ["--measure", "ndcg@10", "--metric", "ndcg10", "--direction", "higher", "--range", "0,1"]
    for _ in range(2):
        assert run_program(words) == 0
    with nt.Tracker(tmp_path / "t.db") as tracker:
        assert tracker.query("SELECT count(*) FROM items").rows == [(0,)]
        stored = tracker.sql("SELECT group_key, value FROM group_history").set_index("group_key")
    assert_same_values(stored.astype(float), nt.evaluate(frame, METRICS).per_group[["ndcg@10"]])

"""A run staged by several tasks and published as one, on a real Postgres, without Spark: test_spark.py has that."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pytest
from rankings_of import labels_of

import ndcg_tracker as nt
from ndcg_tracker.errors import ConflictError, DatabaseError, InputError, NameTakenError
from ndcg_tracker.ingest.frames import read_label_frame
from ndcg_tracker.integrations.batches import SIDE
from ndcg_tracker.integrations.staging import Items, StagedPart, Staging, kept_share, logged, stage_groups
from ndcg_tracker.runs.ingest import IngestResult, RunDetails
from ndcg_tracker.storage import database
from ndcg_tracker.storage.database_url import parsed_location
from ndcg_tracker.storage.staging import attempt, staged_run
from ndcg_tracker.storage.upkeep.grants import Roles

pytestmark = pytest.mark.usefixtures("postgres_schema")
METRICS = ["ndcg@3", "RR", "AP(ties=pessimistic)"]


def rows_of(n_groups: int = 12, seed: int = 1) -> pa.Table:
    """Return rows sorted by group, with ties, unjudged items, items not retrieved, and a group without labels."""
    rng = np.random.default_rng(seed)
    n = 8 * n_groups
    columns = {
        "group": pa.array([f"q{number:02}" for number in np.repeat(np.arange(n_groups), 8)]),
        "item": pa.array([f"é{item}" if item % 2 else str(item) for item in np.tile(np.arange(8), n_groups)]),
        "score": pa.array(rng.normal(size=n).round(1), mask=rng.random(n) < 0.1),
        "label": pa.array(rng.integers(0, 3, n).astype(float), mask=(rng.random(n) < 0.3) | (np.arange(n) < 8)),
    }
    return pa.table(columns)


def partitions(rows: pa.Table, n: int = 3) -> list[pa.Table]:
    """Return the rows in as many parts of whole groups."""
    parts = np.array([int(group[1:]) % n for group in rows["group"].to_pylist()])
    return [rows.filter(pa.array(parts == number)) for number in range(n)]


def staged(tables: Sequence[pa.Table]) -> Callable[[Staging], list[StagedPart]]:
    """Return what stages each table once."""
    return lambda staging: [stage_groups(table.to_batches(5), staging, at) for at, table in enumerate(tables)]


def log(url: str, stage: Callable[[Staging], Sequence[StagedPart]], items: Items = "none", **more: Any) -> IngestResult:
    given = {"labels": "with", "kept_share": kept_share(items, 0.5)} | more
    details = RunDetails.given(given.pop("name", "run"), "shop", allow=given.pop("allow", ()))
    with nt.Tracker(url) as tracker:
        return logged(tracker.store(), stage, details, given.pop("metrics", METRICS), **given)


def counts(url: str) -> dict[str, int]:
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        names = ("runs", "ranked_lists", "label_lists", "group_results", "staged_runs", "staged_batches")
        return {name: connection.execute(f"SELECT count(*) FROM {name}".encode()).fetchone()[0] for name in names}  # type: ignore[index]


def content(url: str) -> dict[str, list[Any]]:
    """Return all that is stored, without ids and times."""
    queries = {
        "runs": "SELECT name, digest, n_groups, n_items FROM runs ORDER BY name",
        "labels": "SELECT version, digest, n_groups, n_labels, by_row_number, judge FROM label_sets ORDER BY version",
        "lists": "SELECT g.key, l.item_keys, l.scores FROM ranked_lists l JOIN groups g ON g.id = group_id ORDER BY 1",
        "grades": "SELECT label_set_version, group_key, item_key, grade FROM labels ORDER BY 1, 2, 3",
        "evaluations": "SELECT metric, mean, worst_mean, best_mean, std_dev, n_groups, n_missing, n_undefined, "
        "requested_as FROM evaluations ORDER BY 1",
        "results": "SELECT metric, g.key, value, dcg, ideal_dcg, undefined_reason FROM group_results "
        "JOIN evaluations e ON e.id = evaluation_id JOIN groups g ON g.id = group_id ORDER BY 1, 2",
        "coverages": "SELECT cutoff, judged_share FROM coverages ORDER BY 1",
    }
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return {name: connection.execute(query.encode()).fetchall() for name, query in queries.items()}


@pytest.fixture
def other_url(postgres_server: Any, postgres_template: str) -> Iterator[str]:
    postgres_server.create_database("staging_other", postgres_template)
    yield postgres_server.url("staging_other")
    postgres_server.drop_database("staging_other")


def test_a_staged_run_is_stored_as_an_ingested_one(postgres_url: str, other_url: str) -> None:
    rows, metrics = rows_of(), ["ndcg@3", "RR", "recip_rank", "P@2"]  # one of them twice
    result = log(postgres_url, staged(partitions(rows)), "all", metrics=metrics)
    with nt.Tracker(other_url) as tracker:
        wanted = tracker.ingest(rows, name="run", dataset="shop", metrics=metrics)
        assert replace(result, run_id=wanted.run_id) == wanted
    assert content(postgres_url) == content(other_url)
    assert counts(postgres_url) == counts(other_url)
    with nt.Tracker(postgres_url) as tracker:
        assert tracker.ingest(rows, name="run", dataset="shop", metrics=metrics).outcome == "already stored"


def apart(rows: pa.Table) -> pa.Table:
    """Return the rows with their labels in rows of their own, as Spark brings two DataFrames together."""
    null = pa.nulls(rows.num_rows, pa.float64())
    run = rows.set_column(3, "label", null).append_column(SIDE, pa.repeat(pa.scalar(False), rows.num_rows))
    labels = rows.set_column(2, "score", null).append_column(SIDE, pa.repeat(pa.scalar(True), rows.num_rows))
    both = [run.filter(rows["score"].is_valid()), labels.filter(rows["label"].is_valid())]
    return pa.concat_tables(both).sort_by("group")


@pytest.mark.parametrize("way", ["apart", "stored", "union"])
def test_labels_apart_stored_or_more_than_there_were(postgres_url: str, other_url: str, way: str) -> None:
    before = rows_of(14)
    rows, before = before.slice(0, 96), before.slice(16)
    labels = before.filter(before["label"].is_valid()).select(["group", "item", "label"])
    if way == "union":  # two groups of the run have other labels than are stored
        labels = labels.filter(pa.compute.greater(labels["group"], "q03"))
        rows = rows.filter(pa.compute.less(rows["group"], "q06"))
    own = rows.select(["group", "item", "score"]) if way == "stored" else rows
    for url in (postgres_url, other_url):
        if way != "apart":
            with nt.Tracker(url) as tracker:
                tracker.add_labels(read_label_frame(labels), dataset="shop")
    tables = partitions(
        apart(rows) if way == "apart" else own.filter(own["score"].is_valid()) if way == "stored" else own
    )
    result = log(postgres_url, staged(tables), "all", labels="with" if way == "union" else way)
    with nt.Tracker(other_url) as tracker:
        of_run = rows.filter(rows["label"].is_valid()).select(["group", "item", "label"]) if way == "apart" else None
        given = rows.filter(rows["score"].is_valid()).select(["group", "item", "score"]) if way != "union" else rows
        wanted = tracker.ingest(given, name="run", dataset="shop", metrics=METRICS, labels=of_run)
    assert replace(result, run_id=wanted.run_id) == wanted
    assert content(postgres_url) == content(other_url)


def test_without_items_and_with_a_sample(postgres_url: str) -> None:
    rows = rows_of(40)
    for items, name in (("none", "bare"), ("sample", "some"), ("sample", "some too"), ("all", "whole")):
        assert log(postgres_url, staged(partitions(rows)), items, name=name).outcome == "stored"
        assert log(postgres_url, staged(partitions(rows)), items, name=name).outcome == "already stored"
    with nt.Tracker(postgres_url) as tracker:
        kept = tracker.query("SELECT run, count(DISTINCT group_key) FROM items GROUP BY run ORDER BY run").rows
        assert kept[0] == ("some", kept[1][1])
        assert 10 < kept[0][1] < 30
        (sampled,) = tracker.query("SELECT min(group_key) FROM items WHERE run = 'some'").rows[0]
        assert len(set(tracker.query("SELECT mean FROM run_summary WHERE metric LIKE 'ndcg%'").rows)) == 1
        assert tracker.compare("whole", "bare", metrics="RR").to_dict()["metrics"][0]["delta"] == 0
        notes = tracker.compare("some", "bare", metrics="RR").notes
        assert notes[:2] == (
            "run 'some' was stored with the items of 0.5 of its groups, so none are shown",
            "run 'bare' was stored with the items of no groups, so none are shown",
        )
        tracker.explain("whole", "some", group=sampled, metric="ndcg@3")
        with pytest.raises(InputError) as refused:
            tracker.explain("whole", "bare", group=sampled, metric="ndcg@3")
        advice = "to add them, ingest all its rows under the same name"
        assert str(refused.value) == f"run 'bare' was stored without items; {advice}"
        with pytest.raises(InputError) as refused:
            tracker.rescore(["some"], metrics="P@5")
        assert str(refused.value) == f"run 'some' was stored with the items of only 0.5 of its groups; {advice}"
        left_out = [one.pruned_at_utc is not None for one in tracker.rescore(metrics="P@5")]
        assert left_out == [True, True, True, False]
        assert log(postgres_url, staged(partitions(rows)), name="bare", metrics=["P@5"]).metrics[0].is_new
        assert database.check(postgres_url) == []
        for name in ("bare", "some"):
            assert tracker.ingest(rows, name=name, dataset="shop", metrics="RR").outcome == "restored"
        assert log(postgres_url, staged(partitions(rows)), "all", name="some too").outcome == "restored"
        n = tracker.query("SELECT run, count(*) FROM items GROUP BY run").rows
        assert len({count for _, count in n}) == 1
        assert len(n) == 4
    assert database.check(postgres_url) == []


def test_a_name_that_other_content_has(postgres_url: str) -> None:
    log(postgres_url, staged(partitions(rows_of())), "all")
    before = content(postgres_url)
    other = rows_of().set_column(2, "score", pa.array(np.arange(96.0)))
    with pytest.raises(NameTakenError):
        log(postgres_url, staged(partitions(other)), "all")
    assert content(postgres_url) == before
    assert counts(postgres_url)["staged_batches"] == 0
    assert log(postgres_url, staged(partitions(other)), replace=True).outcome == "replaced"
    assert counts(postgres_url)["runs"] == 1


def test_only_accepted_attempts_count(postgres_url: str) -> None:
    tables = partitions(rows_of())

    def stage(staging: Staging) -> list[StagedPart]:
        def lost() -> Iterator[Any]:
            yield from tables[2].to_batches(5)
            raise OSError("the executor is lost")

        with pytest.raises(OSError, match="lost"):
            stage_groups(lost(), staging, 2)
        stage_groups(tables[1].to_batches(), staging, 1)  # it commits, and Spark never hears of it
        return staged(tables)(staging)

    result = log(postgres_url, stage, "all")
    assert (result.outcome, result.n_groups) == ("stored", 12)
    assert (counts(postgres_url)["ranked_lists"], counts(postgres_url)["staged_batches"]) == (12, 0)


def test_an_attempt_that_ends_too_late_stores_nothing(postgres_url: str) -> None:
    location = parsed_location(postgres_url)

    def end_late(number: int) -> None:
        with attempt(location, number, "late", 0) as stage:
            stage(1, b"x")
            with psycopg.connect(postgres_url.replace("+psycopg", "")) as publisher:
                publisher.execute("DELETE FROM staged_runs")
                publisher.execute("DELETE FROM staged_batches")

    with staged_run(location, "shop", "late") as number:
        with attempt(location, number, "first", 0) as stage:
            stage(1, b"x")
        with pytest.raises(DatabaseError) as refused:
            end_late(number)
    said = "the staged run was published, abandoned or cleared; nothing was stored; run the same command again"
    assert str(refused.value) == f"{location.display_url}: {said}"
    assert counts(postgres_url)["staged_batches"] == 0


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ({"group": ["q"], "item": ["a"], "score": [None], "label": [1.0]}, "no row has a score; name the score column"),
        (
            {"group": ["q"], "item": ["a"], "score": [1.0], "label": [None]},
            "dataset 'shop' has no labels yet; give them with labels='FILE'",
        ),
        (
            {"group": ["q", "r"], "item": ["a", "b"], "score": [1.0, None], "label": [None, 1.0]},
            "run: no group of the run has labels",
        ),
    ],
)
def test_what_is_refused_leaves_nothing(postgres_url: str, rows: dict[str, Any], said: str) -> None:
    schema = pa.schema([("group", "string"), ("item", "string"), ("score", "float64"), ("label", "float64")])
    with pytest.raises(InputError) as refused:
        log(postgres_url, staged([pa.table(rows, schema)]))
    assert str(refused.value).startswith(said)
    assert set(counts(postgres_url).values()) == {0}


def test_a_group_in_two_partitions_is_refused(postgres_url: str) -> None:
    rows = rows_of()
    with pytest.raises(InputError, match="group 'q02' came from two tasks"):
        log(postgres_url, staged([rows.slice(0, 20), rows.slice(20)]))
    assert counts(postgres_url)["runs"] == 0


def test_what_a_crash_of_the_server_takes_is_noticed(postgres_url: str) -> None:
    def stage(staging: Staging) -> list[StagedPart]:
        found = staged(partitions(rows_of()))(staging)
        with psycopg.connect(postgres_url.replace("+psycopg", "")) as server:
            server.execute("DELETE FROM staged_batches WHERE partition = 1")
        return found

    with pytest.raises(DatabaseError, match="the batches of 1 of 3 tasks are gone, for example after a crash"):
        log(postgres_url, stage)
    assert set(counts(postgres_url).values()) == {0}


@pytest.mark.parametrize("of_group", ["new", "q05"])
def test_new_labels_meanwhile(postgres_url: str, other_url: str, of_group: str) -> None:
    labels = labels_of({of_group: {"unseen": 1.0}})

    def stage(staging: Staging) -> list[StagedPart]:
        found = staged(partitions(rows_of()))(staging)
        with nt.Tracker(postgres_url) as tracker:
            tracker.add_labels(labels, dataset="shop")
        return found

    if of_group == "q05":
        with pytest.raises(ConflictError, match="the dataset got new labels of these groups while the run"):
            log(postgres_url, stage)
        assert counts(postgres_url)["runs"] == 0
        return
    with pytest.raises(nt.InputError, match="run: its labels have no group in common with version 1 of the dataset's"):
        log(postgres_url, stage, "all")
    assert counts(postgres_url)["runs"] == 0
    result = log(postgres_url, stage, "all", allow="no-overlap")
    with nt.Tracker(other_url) as tracker:
        tracker.add_labels(labels, dataset="shop")
        wanted = tracker.ingest(rows_of(), name="run", dataset="shop", metrics=METRICS, allow="no-overlap")
    assert replace(result, run_id=wanted.run_id, notes=wanted.notes) == wanted  # the groups come in another order
    assert content(postgres_url) == content(other_url)


def test_sqlite_is_refused_with_another_way(sqlite_url: str) -> None:
    with nt.Tracker(sqlite_url) as tracker:
        tracker.add_labels(labels_of({"q": {"a": 1.0}}), dataset="shop")
    with pytest.raises(InputError) as refused:
        log(sqlite_url, staged([]))
    advice = "use a Postgres database, or write Parquet with integrations.spark.staged and ingest that"
    what = "several processes of a cluster cannot write to a SQLite file"
    assert str(refused.value).endswith(f"ndcg-track.db: {what}; {advice}")


def test_where_is_not_shown(postgres_url: str) -> None:
    secret = postgres_url.replace("ndcg@", "ndcg:s3cret@")

    def stage(staging: Staging) -> list[StagedPart]:
        assert "s3cret" not in repr(staging)
        return staged(partitions(rows_of()))(staging)

    assert log(secret, stage).outcome == "stored"


def test_the_same_run_from_three_drivers_and_ingest_is_stored_once(postgres_url: str) -> None:
    rows = rows_of()

    def ingest() -> str:
        with nt.Tracker(postgres_url) as tracker:
            return tracker.ingest(rows, name="run", dataset="shop", metrics=METRICS).outcome

    drivers = [lambda: log(postgres_url, staged(partitions(rows)), "all").outcome] * 3
    with ThreadPoolExecutor(4) as pool:
        outcomes = [found.result() for found in [pool.submit(one) for one in (*drivers, ingest)]]
    assert sorted(outcomes) == ["already stored"] * 3 + ["stored"]
    assert (counts(postgres_url)["runs"], counts(postgres_url)["ranked_lists"]) == (1, 12)
    assert counts(postgres_url)["staged_batches"] == 0


DRIVER = """
import sys, time
import test_staging
def stage(staging):
    test_staging.staged(test_staging.partitions(test_staging.rows_of()))(staging)
    print("staged", flush=True)
    time.sleep(60)
test_staging.log(sys.argv[1], stage)
"""


def test_a_killed_driver_leaves_what_vacuum_deletes(postgres_url: str) -> None:
    folders = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", DRIVER, postgres_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": folders}) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"staged\n"
        driver.kill()
    deadline = time.monotonic() + 30
    before = counts(postgres_url)
    assert (before["runs"], before["staged_runs"]) == (0, 1)
    while database.vacuum(postgres_url).n_cleared != 1:
        assert time.monotonic() < deadline  # the server has not noticed yet
    assert set(counts(postgres_url).values()) == {0}


def test_a_writer_may_log_runs(postgres_server: Any, postgres_url: str) -> None:
    names = ("staging_owner", "staging_writer", "staging_reader")
    with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as admin:
        try:
            for name in names:
                admin.execute(f"CREATE ROLE {name} LOGIN".encode())
            database.grant(postgres_url, Roles(*names), apply=True)
            writer = postgres_url.replace("ndcg@", "staging_writer@")
            assert log(writer, staged(partitions(rows_of())), "all").outcome == "stored"
            assert log(writer, staged(partitions(rows_of())), name="other").outcome == "stored"
            with pytest.raises(DatabaseError, match="role 'staging_reader' has no INSERT right on table staged_runs"):
                log(postgres_url.replace("ndcg@", "staging_reader@"), staged(partitions(rows_of())), name="third")
            assert counts(postgres_url)["staged_runs"] == 0
        finally:
            admin.execute(b"REASSIGN OWNED BY staging_owner TO ndcg")
            for name in names:
                admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())


@pytest.mark.parametrize("when", ["before", "while executors work"])
def test_a_part_of_what_was_split_takes_no_staged_run(postgres_url: str, when: str) -> None:
    """Whose groups nobody looks at here: it would bring the sealed ones back."""
    rows = rows_of()
    labels = {name: rows[name].to_pylist() for name in ("group", "item", "label")}
    lists = read_label_frame(
        {
            name: [one for one, grade in zip(column, labels["label"], strict=True) if grade is not None]
            for name, column in labels.items()
        }
    )

    def split() -> None:
        with nt.Tracker(postgres_url) as tracker:
            tracker.split_dataset("shop", seal=0.5)

    def stage(staging: Staging) -> list[StagedPart]:
        parts = staged(partitions(rows))(staging)
        if when != "before":
            split()
        return parts

    with nt.Tracker(postgres_url) as tracker:
        tracker.add_labels(lists, dataset="shop")
    if when == "before":
        split()
    with pytest.raises(
        InputError, match=r"^dataset 'shop' is the open part of a split dataset, and a run that was staged "
    ):
        log(postgres_url, stage)
    with pytest.raises(InputError, match=r"^dataset 'shop-sealed' is sealed: "), nt.Tracker(postgres_url) as tracker:
        logged(tracker.store(), stage, RunDetails("run", "shop-sealed"), METRICS, labels="with", kept_share=0.0)
    assert (counts(postgres_url)["runs"], counts(postgres_url)["staged_runs"]) == (0, 0)


def test_a_run_without_a_group_of_the_labels_is_refused(postgres_url: str) -> None:
    with nt.Tracker(postgres_url) as tracker:
        tracker.add_labels(labels_of({"Q1": {"a": 1.0}}), dataset="shop")
    run = rows_of().drop_columns(["label"])

    def stage(staging: Staging) -> list[StagedPart]:
        return staged(partitions(run))(staging)

    with pytest.raises(nt.InputError, match="run: no group of the run has labels: the run has 'q0"):
        log(postgres_url, stage, labels="stored")
    assert counts(postgres_url)["runs"] == 0
    assert log(postgres_url, stage, labels="stored", allow="no-overlap").metrics[0].mean == 0.0

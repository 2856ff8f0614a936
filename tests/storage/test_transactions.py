"""All or nothing, whatever happens; many writers at once; readers see one state."""

import os
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa
from rankings_of import ranking_of
from stored_samples import BM25, DENSE, add_run, outputs_of, started

from ndcg_tracker.errors import DatabaseError
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.ranking import Ranking
from ndcg_tracker.storage import connection as connections
from ndcg_tracker.storage import database, locks
from ndcg_tracker.storage.connection import wal_is_safe
from ndcg_tracker.storage.store import Store, WriteTransaction

WRITER = """
import sys
from stored_samples import BM25, add_run
from ndcg_tracker.storage.store import Store
with Store.open(sys.argv[1]) as store:
    for number in range(5):
        with store.write() as tx:
            add_run(tx, f"run {sys.argv[2]}-{number}", BM25)
"""
SAME = """
import sys
from rankings_of import ranking_of
from stored_samples import BM25, add_run
from ndcg_tracker.storage.store import Store
with Store.open(sys.argv[1]) as store, store.write() as tx:
    dataset = tx.write.datasets.ensure("shop")
    if tx.runs.with_digest(dataset.id, ranking_of(BM25).digest()):
        print("already stored")
    else:
        add_run(tx, "bm25", BM25)
        print("stored")
"""
KILLED = """
import sys, time
import numpy as np
from stored_samples import add_run
from ndcg_tracker.storage.store import Store
run = {f"q{group}": {f"item {item}": float(item) for item in range(100)} for group in range(300)}
with Store.open(sys.argv[1]) as store, store.write() as tx:
    tx._session.connection.exec_driver_sql(sys.argv[2])
    add_run(tx, "killed", run)
    print("inside", flush=True)
    time.sleep(60)
"""


def names(store: Store) -> list[str]:
    with store.read() as rx:
        return [run.name for run in rx.runs.all()]


def everything(store: Store) -> list[object]:
    tables = ["datasets", "groups", "label_sets", "label_lists", "runs", "ranked_lists", "metrics", "evaluations"]
    tables += ["group_results", "coverages", "aliases", "decisions"]
    return [store.query(f"SELECT count(*) FROM {table}").rows[0][0] for table in tables]


@pytest.mark.nightly(but=2)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_rolls_everything_back(store: Store, error: type[BaseException]) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
    before = everything(store)

    def fail() -> None:
        with store.write() as tx:
            run = add_run(tx, "dense", DENSE, {"q9": {"x": 1.0}})
            tx.write.aliases.set(run.dataset_id, "prod", run.id)
            raise error

    with pytest.raises(error):
        fail()
    assert everything(store) == before
    with store.write() as tx:
        add_run(tx, "dense", DENSE)


def stray_run(tx: WriteTransaction) -> None:
    run = add_run(tx, "bm25", BM25)
    tx._session.connection.exec_driver_sql(
        f"UPDATE ranked_lists SET group_id = 4711 WHERE run_id = {run.id} AND group_id = 1"
    )


def stray_dataset(tx: WriteTransaction) -> None:
    run = add_run(tx, "bm25", BM25)
    other = tx.write.groups.ensure(tx.write.datasets.ensure("books").id, Keys.from_strings(["elsewhere"]))[0]
    tx._session.connection.exec_driver_sql(
        f"UPDATE ranked_lists SET group_id = {other} WHERE run_id = {run.id} AND group_id = 1"
    )


def stray_label(tx: WriteTransaction) -> None:
    add_run(tx, "bm25", BM25)
    tx._session.connection.exec_driver_sql("UPDATE label_lists SET group_id = 4711 WHERE group_id = 1")


def stray_result(tx: WriteTransaction) -> None:
    add_run(tx, "bm25", BM25)
    tx._session.connection.exec_driver_sql("UPDATE group_results SET group_id = 4711 WHERE group_id = 1")


def lost_list(tx: WriteTransaction) -> None:
    add_run(tx, "bm25", BM25)
    tx._session.connection.exec_driver_sql("DELETE FROM ranked_lists WHERE group_id = 1")


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (stray_run, "1 ranked lists without their owner or group"),
        (stray_dataset, "1 ranked lists without their owner or group"),
        (stray_label, "1 label lists without their owner or group"),
        (stray_result, "1 group results without their owner or group"),
        (lost_list, "1 runs without all their lists"),
    ],
)
def test_what_is_not_whole_is_not_stored(store: Store, damage: Callable[[WriteTransaction], None], found: str) -> None:
    with pytest.raises(DatabaseError) as caught, store.write() as tx:
        damage(tx)
    assert str(caught.value) == f"refused to store {found}: nothing was stored; please report this"
    assert names(store) == []


def test_damage_done_by_others_is_found(store: Store, database_url: str) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
    with store.write() as tx:
        stray = "INSERT INTO group_results (evaluation_id, group_id, value) VALUES (99, 1, 0.5)"
        tx._session.connection.exec_driver_sql(stray)
        tx._session.connection.exec_driver_sql("DELETE FROM label_lists")
    assert database.check(database_url) == [
        "1 group results without their owner or group",
        "1 label sets without all their lists",
    ]


@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("UPDATE group_results SET value = NULL, undefined_reason = NULL", "ck_group_results_undefined_has_reason"),
        ("UPDATE group_results SET undefined_reason = 'x'", "ck_group_results_undefined_has_reason"),
        ("UPDATE group_results SET value = INF WHERE value IS NOT NULL", "ck_group_results_value_finite"),
        ("UPDATE evaluations SET mean = INF", "ck_evaluations_mean_finite"),
        ("UPDATE coverages SET judged_share = 1.5", "ck_coverages_judged_share"),
        ("UPDATE runs SET dataset_id = 99", "foreign key"),
        ("DELETE FROM runs", "foreign key"),
        ("UPDATE runs SET name = NULL", "null"),
    ],
)
def test_the_database_itself_refuses(store: Store, statement: str, constraint: str) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
    infinity = "9e999" if store.dialect == "sqlite" else "'infinity'"
    with pytest.raises(DatabaseError) as caught, store.write() as tx:
        tx._session.connection.exec_driver_sql(statement.replace("INF", infinity))
    assert constraint in str(caught.value).lower()
    assert "\n" not in str(caught.value)


def test_nan_never_gets_into_postgres(postgres_schema: None, postgres_url: str) -> None:
    database.upgrade(postgres_url)
    with Store.open(postgres_url) as store:
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
        with pytest.raises(DatabaseError, match="ck_evaluations_mean_finite"), store.write() as tx:
            tx._session.connection.exec_driver_sql("UPDATE evaluations SET mean = 'NaN'")


def test_a_reader_sees_one_state_while_another_writes(postgres_schema: None, postgres_url: str) -> None:
    database.upgrade(postgres_url)
    with Store.open(postgres_url) as store:
        with store.read() as rx:
            assert rx.runs.all() == []
            with store.write() as tx:
                add_run(tx, "bm25", BM25)
            assert rx.runs.all() == []
        assert names(store) == ["bm25"]


def test_a_reader_beside_a_writer(store: Store) -> None:
    with store.write() as tx:
        add_run(tx, "bm25", BM25)
        assert names(store) == []
    assert names(store) == ["bm25"]


def test_a_second_writer_waits_and_then_says_so(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "WAIT_SECONDS", 0.2)

    def write_within_a_write() -> None:
        with store.write() as tx:
            add_run(tx, "first", BM25)
            with store.write():
                pass

    with pytest.raises(DatabaseError) as caught:
        write_within_a_write()
    who = advice = ""
    if store.dialect == "postgresql":
        who = r" \(process \d+, ndcg-tracker of role 'ndcg', since 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\)"
        advice = r", or, if that process hangs, SELECT pg_terminate_backend\(\d+\)"
    said = rf".*: another process has been writing for too long{who}; nothing was stored: run the same command again"
    assert re.fullmatch(said + advice, str(caught.value))
    assert names(store) == []


def test_a_second_writer_of_a_file_is_told_that_it_waits(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for place, name, seconds in (
        (locks, "WAIT_SECONDS", 0.5), (locks, "TOLD_AFTER_SECONDS", 0.1), (connections, "_SLICE_SECONDS", 0.02),
    ):  # fmt: skip
        monkeypatch.setattr(place, name, seconds)
    with Store.open(sqlite_url, create=True) as store, store.write():
        with pytest.raises(DatabaseError, match="another process has been writing for too long"), store.write("marks"):
            pass
        assert caplog.messages == [f"{store.display_url}: waiting up to 0.5 s for another writer"]


def test_who_waits_for_a_file_can_be_stopped(sqlite_url: str) -> None:
    class Stop(BaseException):
        """What the handler of the signal raises."""

    def stop(*_: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    began = time.monotonic()
    sender = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with Store.open(sqlite_url, create=True) as store, store.write():
            sender.start()
            with pytest.raises(Stop), store.write():
                pass
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert time.monotonic() - began < locks.WAIT_SECONDS / 2


@pytest.mark.nightly
def test_eight_writers(postgres_schema: None, database_url: str, python: Path) -> None:
    database.upgrade(database_url)
    outputs_of([started(WRITER, database_url, str(number), python=python) for number in range(8)])
    with Store.open(database_url) as store:
        found = names(store)
        with store.read() as rx:
            assert all(content_is_bm25(rx.runs.ranking(run.id)) for run in rx.runs.all())
    assert sorted(found) == sorted(f"run {writer}-{number}" for writer in range(8) for number in range(5))
    assert database.check(database_url) == []


def content_is_bm25(ranking: Ranking) -> bool:
    return ranking.digest() == ranking_of(BM25).digest()


def test_eight_processes_store_the_same_run_once(postgres_schema: None, database_url: str, python: Path) -> None:
    database.upgrade(database_url)
    outputs = outputs_of([started(SAME, database_url, python=python) for _ in range(8)])
    assert sorted(outputs) == ["already stored\n"] * 7 + ["stored\n"]
    with Store.open(database_url) as store:
        assert names(store) == ["bm25"]


@pytest.mark.parametrize("spill", [False, True])
@pytest.mark.nightly(but=2)
def test_a_killed_writer_leaves_nothing(postgres_schema: None, database_url: str, spill: bool, python: Path) -> None:
    database.upgrade(database_url)
    with Store.open(database_url) as store, store.write() as tx:
        add_run(tx, "before", BM25)
    is_sqlite = database_url.startswith("sqlite")
    small_cache = "PRAGMA cache_size = 5" if is_sqlite and spill else "SELECT 1"
    process = started(KILLED, database_url, small_cache, python=python)
    assert process.stdout is not None
    assert process.stdout.readline() == "inside\n"
    if is_sqlite and not wal_is_safe():
        assert Path(database_url.removeprefix("sqlite:///") + "-journal").stat().st_size > 0
    process.kill()
    process.communicate()
    with Store.open(database_url) as store:
        assert names(store) == ["before"]
        with store.write() as tx:
            add_run(tx, "killed", DENSE)
        assert names(store) == ["before", "killed"]
    assert database.check(database_url) == []


@pytest.mark.parametrize("n_pages", [1, 2, 5, 20, 60])
def test_a_full_disk(sqlite_url: str, n_pages: int) -> None:
    Store.open(sqlite_url, create=True).close()
    run = {f"q{group}": {f"item {item}": float(item) for item in range(100)} for group in range(300)}
    with Store.open(sqlite_url) as store:
        with store.write() as tx:
            add_run(tx, "before", BM25)

        @sa.event.listens_for(store._engine, "connect")
        def limit(connection: sqlite3.Connection, _: object) -> None:
            (present,) = connection.execute("PRAGMA page_count").fetchone()
            connection.execute(f"PRAGMA max_page_count = {present + n_pages}")

        with pytest.raises(DatabaseError) as caught, store.write() as tx:
            add_run(tx, "too big", run)
        assert str(caught.value).endswith(
            ": the disk is full; nothing was stored: free some space and run the same command again"
        )
        assert names(store) == ["before"]
    assert database.check(sqlite_url) == []


def test_a_postgres_session_that_is_ended(postgres_schema: None, postgres_url: str) -> None:
    database.upgrade(postgres_url)
    with Store.open(postgres_url) as store:

        def write() -> None:
            with store.write() as tx:
                add_run(tx, "bm25", BM25)
                pid = tx._session.connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
                with psycopg.connect(postgres_url.replace("+psycopg", ""), autocommit=True) as other:
                    other.execute("SELECT pg_terminate_backend(%s)", (pid,))
                tx.write.datasets.ensure("more")

        with pytest.raises(DatabaseError) as caught:
            write()
        assert str(caught.value).endswith(
            "the server was stopped; run the same command again: it says whether something was stored"
        )
        assert names(store) == []
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
        assert names(store) == ["bm25"]


def test_a_file_that_may_only_be_read(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(sqlite_url, create=True) as store, store.write() as tx:
        add_run(tx, "bm25", BM25)
    with Store.open(sqlite_url) as store:
        sa.event.listen(store._engine, "connect", lambda connection, _: connection.execute("PRAGMA query_only = ON"))
        assert names(store) == ["bm25"]
        with pytest.raises(DatabaseError) as caught, store.write() as tx:
            add_run(tx, "dense", DENSE)
        assert str(caught.value).endswith(
            ": it cannot be written; nothing was stored: check the permissions of the file and its folder"
        )


def test_a_write_ahead_log_is_left_where_it_is_unsafe(sqlite_url: str) -> None:
    path = sqlite_url.removeprefix("sqlite:///")
    with Store.open(sqlite_url, create=True) as store:
        with closing(sqlite3.connect(path)) as connection:
            expected = "wal" if wal_is_safe() else "delete"
            assert connection.execute("PRAGMA journal_mode").fetchone() == (expected,)
            connection.execute("PRAGMA journal_mode = WAL")
        with store.write() as tx:
            add_run(tx, "bm25", BM25)
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == (expected,)
        assert names(store) == ["bm25"]


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_which_sqlite_may_use_a_write_ahead_log(version: tuple[int, ...], safe: bool) -> None:
    assert wal_is_safe(version) is safe

"""All or nothing, whatever fails: a Spark cluster of two worker processes on this machine, and a real Postgres.

Tasks fail and dawdle, executors and whole drivers are killed with kill -9, while an observer looks for a run that is
half there. The faults are planted in the rows that are read and in the processes.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark_sessions import cluster_session

import ndcg_tracker as nt
from ndcg_tracker.integrations import spark as on_spark

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore:.*(pandas >= 3|distutils|is_datetime64tz|toPandas).*"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROUNDS = 10
PARTITIONS = 8
METRICS = ["ndcg@3", "RR", "AP(ties=pessimistic)"]


def rows_of(n_groups: int, seed: int) -> pa.Table:
    """Return shuffled rows with ties, unjudged items, and items that were not retrieved."""
    rng = np.random.default_rng(seed)
    n = 8 * n_groups
    columns = {
        "group": pa.array([f"q{number:02}" for number in np.repeat(np.arange(n_groups), 8)]),
        "item": pa.array([f"é{item}" if item % 2 else str(item) for item in np.tile(np.arange(8), n_groups)]),
        "score": pa.array(rng.normal(size=n).round(1), mask=rng.random(n) < 0.1),
        "label": pa.array(rng.integers(0, 3, n).astype(float), mask=(rng.random(n) < 0.3) | (np.arange(n) < 8)),
    }
    return pa.table(columns).take(rng.permutation(n))


class Observer:
    """Looks all the time for a run that is not whole: ``seen`` are the numbers of runs, lists, and means."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("+psycopg", "")
        self.seen: set[tuple[int, int, int]] = set()
        self.is_written = threading.Event()
        """Whether somebody was seen in a transaction that has written."""
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Observer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        query = (
            "SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM ranked_lists), "
            "(SELECT count(*) FROM evaluations WHERE mean IS NOT NULL), (SELECT count(*) FROM pg_stat_activity "
            "WHERE backend_xid IS NOT NULL AND datname = current_database())"
        )
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._is_over.wait(0.005):
                *found, n_writers = connection.execute(query).fetchone()  # type: ignore[misc]
                self.seen.add(tuple(found))
                if n_writers:
                    self.is_written.set()


def assert_stored_once(table: pa.Table, url: str) -> None:
    """Assert that the run is there as a whole, with the values of one machine to the last bit."""
    with nt.Tracker(url) as tracker:
        assert tracker.ingest(table, name="nightly", dataset="shop", metrics=METRICS).outcome == "already stored"
        stored = tracker.sql("SELECT requested_as, group_key, value FROM group_history")
    values = stored.pivot(index="group_key", columns="requested_as", values="value")[METRICS].astype(float)
    wanted = nt.evaluate(table, METRICS).per_group
    assert len(values) == len(wanted)
    assert np.array_equal(values.to_numpy(), wanted.loc[values.index].to_numpy(), equal_nan=True)


def executors() -> list[int]:
    """Return the processes of executors of this session's cluster."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes()
            mark = (process / "environ").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in words and f"NDCG_TEST_CLUSTER={os.getpid()}".encode() in mark:
            found.append(int(process.name))
    return found


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster_session(tmp_path_factory.mktemp("spark"), PARTITIONS) as session:
        yield session


def faulty_rows(frame: Any, log: Path) -> Any:
    """Return the rows of a frame, whose tasks fail or dawdle in their first attempt, by their partition."""

    def faulty(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        partition, is_first = context.partitionId(), context.attemptNumber() == 0
        with log.open("a") as file:
            file.write(f"{partition} {context.attemptNumber()}\n")
        for number, batch in enumerate(batches):
            if is_first and partition % 4 == 0 and number == 2:
                raise RuntimeError("planted in the middle")
            yield batch
        if is_first and partition % 4 == 1:
            raise RuntimeError("planted at the end")
        if is_first and partition % 4 == 2:
            time.sleep(2.0)  # speculation starts another one

    return frame.repartition(PARTITIONS).mapInArrow(faulty, frame.schema)


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_a_run_is_stored_once_whatever_tasks_and_executors_do(
    cluster: Any, postgres_schema: None, postgres_url: str, tmp_path: Path, round_number: int
) -> None:
    numbers = random.Random(round_number)
    table = rows_of(200, seed=round_number)
    pq.write_table(table, tmp_path / "rows.parquet")
    n_lists = len(set(table.filter(table["score"].is_valid())["group"].to_pylist()))
    log = tmp_path / "attempts"
    killed: list[int] = []

    def kill() -> None:
        while not log.exists():
            time.sleep(0.01)
        time.sleep(numbers.uniform(0, 3))
        killed.append(numbers.choice(executors()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    rows = faulty_rows(cluster.read.parquet(str(tmp_path / "rows.parquet")), log)
    with Observer(postgres_url) as observer:
        killer.start()
        result = on_spark.log_run(rows, postgres_url, name="nightly", dataset="shop", metrics=METRICS)
        killer.join()
    assert killed
    assert result.outcome == "stored"
    assert observer.seen <= {(0, 0, 0), (1, n_lists, len(METRICS))}
    attempts = log.read_text().splitlines()
    assert len(attempts) > PARTITIONS
    assert_stored_once(table, postgres_url)
    told = f"{len(attempts)} attempts of {PARTITIONS} tasks, an executor killed"
    print(f"round {round_number}: {told}", file=sys.stderr)


DRIVER = """
import sys
from pathlib import Path
from spark_sessions import session
from ndcg_tracker.integrations import spark as on_spark
rows, url, folder, *metrics = sys.argv[1:]
frame = session(Path(folder)).read.parquet(rows)
print("begun", flush=True)
on_spark.log_run(frame, url, name="nightly", dataset="shop", metrics=metrics)
"""


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_a_killed_driver_stores_all_or_nothing(
    postgres_schema: None, postgres_url: str, tmp_path: Path, round_number: int
) -> None:
    numbers = random.Random(round_number)
    table = rows_of(2000, seed=round_number)
    pq.write_table(table, tmp_path / "rows.parquet")
    pytest.importorskip("pyspark")  # half a gigabyte, which not everyone has
    folders = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "rows.parquet"), postgres_url, str(tmp_path), *METRICS]
    with (
        Observer(postgres_url) as observer,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": folders},
            start_new_session=True,
        ) as driver,
    ):
        assert driver.stdout is not None
        assert driver.stdout.readline() == b"begun\n"
        if round_number % 2:
            time.sleep(numbers.uniform(0, 5))  # in the middle of Spark's work, or of anything else
        else:
            while driver.poll() is None and not observer.is_written.wait(0.01):
                pass
            time.sleep(numbers.uniform(0, 0.3))  # in the middle of the transaction, or just after it
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
    n_lists = len(set(table.filter(table["score"].is_valid())["group"].to_pylist()))
    whole = (1, n_lists, len(METRICS))
    assert observer.seen <= {(0, 0, 0), whole}
    with nt.Tracker(postgres_url) as tracker:
        n_runs = tracker.query("SELECT count(*) FROM run_list").rows[0][0]
        again = tracker.ingest(table, name="nightly", dataset="shop", metrics=METRICS)
    assert again.outcome == ("already stored" if n_runs else "stored")
    assert_stored_once(table, postgres_url)
    print(f"round {round_number}: the driver was killed; {n_runs} run stored", file=sys.stderr)

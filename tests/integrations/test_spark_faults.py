"""Exactly once, whatever fails: a Spark cluster of two worker processes on this machine, and a real Postgres.

Tasks fail before and after they have committed, run twice by speculation, and lose their executor to a kill -9, while
an observer looks for a run that is half there. The faults are planted around the program's own code and in the cluster.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from spark_sessions import cluster_session
from test_staging import METRICS, counts, rows_of
from thorough import LONG

import ndcg_tracker as nt
from ndcg_tracker.integrations import spark as on_spark
from ndcg_tracker.integrations.staging import StagedPart, Staging, logged
from ndcg_tracker.runs.ingest import RunDetails

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.filterwarnings("ignore:.*(pandas >= 3|distutils|is_datetime64tz|toPandas).*"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
ROUNDS = 20 if LONG else 4
PARTITIONS = 8


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with cluster_session(tmp_path_factory.mktemp("spark"), PARTITIONS) as session:
        yield session


def staged_with_faults(rows: Any, log: Path) -> Any:
    """Return what lets tasks of Spark stage rows, and lets each first attempt fail or dawdle, by its partition."""
    columns = ", ".join(
        f"`{field.name}` {({'int': 'bigint', 'str': 'string', 'bool': 'boolean'})[str(field.type)]}"
        for field in fields(StagedPart)
    )

    def stage(staging: Staging) -> Sequence[StagedPart]:
        def faulty(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa
            from pyspark import TaskContext

            from ndcg_tracker.integrations import batches as cutting
            from ndcg_tracker.integrations.staging import stage_groups

            cutting._BLOCK_ROWS = 100  # so that an attempt stages several batches
            context = TaskContext.get()
            assert context is not None
            partition, is_first = context.partitionId(), context.attemptNumber() == 0
            with log.open("a") as file:
                file.write(f"{partition} {context.attemptNumber()}\n")

            def cut() -> Iterator[Any]:
                for number, batch in enumerate(batches):
                    if is_first and partition % 4 == 0 and number == 2:
                        raise RuntimeError("planted in the middle")
                    if is_first and partition % 4 == 3:
                        time.sleep(0.3)
                    yield batch

            part = stage_groups(cut(), staging, partition)
            if is_first and partition % 4 == 1:
                raise RuntimeError("planted after the commit")
            if is_first and partition % 4 == 2:
                time.sleep(2.0)  # it has committed, and speculation starts another one
            yield pa.RecordBatch.from_pylist([asdict(part)])

        return [StagedPart(**row) for row in on_spark._as_arrow(rows.mapInArrow(faulty, columns)).to_pylist()]

    return stage


class Observer:
    """Looks all the time for a run that is not whole: ``seen`` are the numbers of lists and of means."""

    def __init__(self, url: str) -> None:
        self._url = url.replace("+psycopg", "")
        self.seen: set[tuple[int, int]] = set()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Observer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        query = "SELECT (SELECT count(*) FROM ranked_lists), (SELECT count(*) FROM evaluations WHERE mean IS NOT NULL)"
        with psycopg.connect(self._url, autocommit=True) as connection:
            while not self._is_over.wait(0.01):
                self.seen.add(connection.execute(query).fetchone())  # type: ignore[arg-type]


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


@pytest.mark.parametrize("round_number", range(ROUNDS))
def test_a_run_is_stored_once_whatever_fails(
    cluster: Any, postgres_schema: None, postgres_url: str, tmp_path: Path, round_number: int
) -> None:
    numbers = random.Random(round_number)
    table = rows_of(200, seed=round_number)
    table.to_pandas().to_parquet(tmp_path / "rows.parquet")
    frame = cluster.read.parquet(str(tmp_path / "rows.parquet"))
    rows = on_spark._prepared(frame, METRICS, None, None, None, None, None, None)
    n_lists = len(set(table.filter(table["score"].is_valid())["group"].to_pylist()))
    log = tmp_path / "attempts"
    killed: list[int] = []

    def kill() -> None:
        while not log.exists():
            time.sleep(0.01)
        time.sleep(numbers.uniform(0, 2))
        killed.append(numbers.choice(executors()))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    with Observer(postgres_url) as observer, nt.Tracker(postgres_url) as tracker:
        killer.start()
        result = logged(
            tracker.store(),
            staged_with_faults(rows, log),
            RunDetails("nightly", "shop"),
            METRICS,
            labels="with",
            kept_share=None,
        )
        killer.join()
    assert killed
    assert result.outcome == "stored"
    assert observer.seen <= {(0, 0), (n_lists, len(METRICS))}
    attempts = log.read_text().splitlines()
    assert len(attempts) > PARTITIONS
    with nt.Tracker(postgres_url) as tracker:
        assert tracker.ingest(table, name="nightly", dataset="shop", metrics=METRICS).outcome == "already stored"
        stored = tracker.sql("SELECT requested_as, group_key, value FROM group_history")
    values = stored.pivot(index="group_key", columns="requested_as", values="value")[METRICS].astype(float)
    wanted = nt.evaluate(table, METRICS).per_group.loc[values.index]
    assert len(values) == len(nt.evaluate(table, METRICS).per_group)
    assert np.array_equal(values.to_numpy(), wanted.to_numpy(), equal_nan=True)  # to the last bit
    found = counts(postgres_url)
    assert (found["runs"], found["ranked_lists"], found["group_results"]) == (1, n_lists, len(METRICS) * len(values))
    time.sleep(0.5)
    assert (found["staged_runs"], counts(postgres_url)["staged_batches"]) == (0, 0)
    told = f"{len(attempts)} attempts of {PARTITIONS} tasks, an executor killed"
    print(f"round {round_number}: {told}", file=sys.stderr)

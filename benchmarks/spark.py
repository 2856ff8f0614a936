"""The kernel on Spark beside Spark's own ways, on this machine: ``python benchmarks/spark.py``.

Needs ``pip install 'ndcg-tracker[spark]'`` and a Java. One Parquet file of rows in no order is evaluated (ndcg@10) by
``integrations.spark.evaluation``, by a window query in Spark SQL, by Spark's ``RankingMetrics`` (binary labels, means
alone) and by ``nt.evaluate`` in one process; then one group of millions of items. Every value must be equal to the one
of one process, to the bit. Times are wall time of one run after a small one that starts the workers; ``peak`` is the
most memory that all Python workers had at one time.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import ndcg_tracker as nt
from ndcg_tracker.integrations import spark as on_spark

WINDOW = """
WITH ranked AS (
    SELECT group, label, row_number() OVER (PARTITION BY group ORDER BY score DESC, item DESC) AS place,
           row_number() OVER (PARTITION BY group ORDER BY label DESC) AS best
    FROM run
), sums AS (
    SELECT group, sum(CASE WHEN place <= 10 THEN label / log2(place + 1) ELSE 0 END) AS dcg,
           sum(CASE WHEN best <= 10 THEN label / log2(best + 1) ELSE 0 END) AS ideal
    FROM ranked GROUP BY group
)
SELECT avg(CASE WHEN ideal > 0 THEN dcg / ideal ELSE 0 END) AS mean FROM sums
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=20, help="per group")
    parser.add_argument("--long", type=int, default=10_000_000, help="items of the long group")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = _session(given.cores, folder)
        for line in measured(session, Path(folder), given.groups, given.items, given.long):
            print(line, flush=True)
        session.stop()


def measured(session: Any, folder: Path, n_groups: int, n_items: int, n_long: int) -> list[str]:
    """Return the lines of a table."""
    rows, small, long = (str(folder / f"{name}.parquet") for name in ("rows", "small", "long"))
    write(small, 100, 20, seed=1)
    write(rows, n_groups, n_items, seed=2)
    write(long, 1, n_long, seed=3, judged=0.1)
    lines = [f"{n_groups * n_items:,} rows, {n_groups:,} groups", "| what | seconds | peak | mean ndcg@10 |"]
    lines.append("| --- | --- | --- | --- |")
    of_one: dict[str, Any] = {}
    ways: dict[str, Callable[[str], float | None]] = {
        "nt.evaluate, one process": lambda path: _kept(of_one, "here", nt.evaluate(path, "ndcg@10")),
        "integrations.spark": lambda path: _kept(
            of_one, "spark", on_spark.evaluation(session.read.parquet(path), "ndcg@10")
        ),
        "window query in Spark SQL": lambda path: _window(session, path),
        "RankingMetrics (binary)": lambda path: _ranking_metrics(session, path),
    }
    for name, way in ways.items():
        way(small)
        with _Peak() as peak:
            begin = time.perf_counter()
            mean = way(rows)
            seconds = time.perf_counter() - begin
        lines.append(f"| {name} | {seconds:.1f} | {peak.mib:.0f} MiB | {mean:.15f} |")
    here, there = (of_one[name].per_group.sort_index() for name in ("here", "spark"))
    assert here.equals(there), "a value differs from that of one process"
    assert of_one["here"].to_dict() == of_one["spark"].to_dict()
    with _Peak() as peak:
        begin = time.perf_counter()
        mean = on_spark.evaluation(session.read.parquet(long), "ndcg@10").to_dict()["ndcg@10"]
        seconds = time.perf_counter() - begin
    assert mean == nt.evaluate(long, "ndcg@10").to_dict()["ndcg@10"]
    lines.append(f"| one group of {n_long:,} items | {seconds:.1f} | {peak.mib:.0f} MiB | {mean:.15f} |")
    return lines


def write(path: str, n_groups: int, n_items: int, *, seed: int, judged: float = 1.0) -> None:
    """Write shuffled rows with ties; ``judged``: the share of items that have a label."""
    rng = np.random.default_rng(seed)
    n = n_groups * n_items
    order = rng.permutation(n)
    labels = rng.integers(0, 4, n).astype(float)
    columns = {
        "group": order // n_items,
        "item": order % n_items,
        "score": rng.normal(size=n).round(3),
        "label": pa.array(labels, mask=rng.random(n) >= judged),
    }
    pq.write_table(pa.table(columns), path, row_group_size=1 << 20)


def _kept(results: dict[str, Any], name: str, evaluation: nt.Evaluation) -> float | None:
    results[name] = evaluation
    return evaluation.to_dict()["ndcg@10"]


def _window(session: Any, path: str) -> float:
    session.read.parquet(path).createOrReplaceTempView("run")
    return float(session.sql(WINDOW).collect()[0]["mean"])


def _ranking_metrics(session: Any, path: str) -> float:
    from pyspark.mllib.evaluation import RankingMetrics
    from pyspark.sql import functions

    rows = session.read.parquet(path)
    listed = rows.groupBy("group").agg(
        functions.sort_array(functions.collect_list(functions.struct("score", "item")), asc=False)["item"].alias("run"),
        functions.expr("filter(collect_list(CASE WHEN label > 0 THEN item END), x -> x IS NOT NULL)").alias("good"),
    )
    return float(RankingMetrics(listed.select("run", "good").rdd.map(tuple)).ndcgAt(10))


class _Peak:
    """The most memory that Python workers of Spark have at one time, looked at ten times a second."""

    def __enter__(self) -> _Peak:
        self.mib = 0.0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.1):
            self.mib = max(self.mib, sum(map(_resident, Path("/proc").glob("[0-9]*"))) / 2**20)


def _resident(process: Path) -> int:
    try:
        if b"pyspark.daemon" not in (process / "cmdline").read_bytes():
            return 0
        return int((process / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _session(cores: int, folder: str) -> Any:
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.local.dir", folder)
    settings = {"ui.enabled": "false", "driver.memory": "6g", "sql.shuffle.partitions": "16", "log.level": "ERROR"}
    for name, value in {**settings, "ui.showConsoleProgress": "false"}.items():
        builder = builder.config(f"spark.{name}", value)
    return builder.getOrCreate()


if __name__ == "__main__":
    main()

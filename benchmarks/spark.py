"""The kernel on Spark beside Spark's own ways, on this machine: ``python benchmarks/spark.py``.

Needs ``pip install 'ndcg-tracker[spark]'`` and a Java. One Parquet file of rows in no order is evaluated (ndcg@10) by
``integrations.spark.evaluation``, by a window query in Spark SQL, by Spark's ``RankingMetrics`` (binary labels, means
alone) and by ``nt.evaluate`` in one process; then one group of millions of items. Every value must be equal to the one
of one process, to the bit. Times are wall time of one run after a small one that starts the workers; ``peak`` is the
most memory that all Python workers had at one time.

``python benchmarks/spark.py --sums 100000000`` measures ``summarize`` instead: Spark generates values of that many
groups in two runs, the sums go to a file and into a tracker, whose comparison must have the interval that NumPy
computes of the same values.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
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
    parser.add_argument("--sums", type=int, metavar="N", help="measure summarize of N groups in each of two runs")
    parser.add_argument("--users", type=int, metavar="N", help="of --sums: cluster the groups by N users")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = _session(given.cores, folder)
        if given.sums is not None:
            lines = measured_sums(session, Path(folder), given.sums, given.users)
        else:
            lines = measured(session, Path(folder), given.groups, given.items, given.long)
        for line in lines:
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


OWN = "((id * 7919) % 1000003) / 1000003.0D"
BEFORE = f"{OWN} - (CASE WHEN id % 3 = 0 THEN ((id * 104729) % 2003 - 990) ELSE 0 END) / 100000.0D"


def measured_sums(session: Any, folder: Path, n_groups: int, n_users: int | None = None) -> list[str]:
    """Return the lines of a table: the interval by sums beside the one of all values, and what reached the tracker."""
    cluster = "user" if n_users else None
    of_user = [] if n_users is None else [f"id % {n_users} AS user"]
    run, baseline = (
        session.range(n_groups).selectExpr("id AS group", "'ndcg@10' AS metric", f"{value} AS value", *facts)
        for value, facts in (
            (OWN, ["element_at(array('web', 'app', 'tv'), int(id % 3) + 1) AS surface", *of_user]),
            (BEFORE, []),
        )
    )
    with _Peak() as peak, _PeakDisk(folder) as disk:
        begin = time.perf_counter()
        found = on_spark.summarize(run, baseline, by="surface", cluster=cluster, labels="0" * 31 + "1")
        seconds = time.perf_counter() - begin
    file = folder / "sums.jsonl"
    n_bytes = on_spark.write_summaries(found, file)
    with nt.Tracker(folder / "sums.db") as tracker:
        whole = found[0]
        tracker.log_summaries([dataclasses.replace(whole, paired=None, cluster=None)], name="before")
        tracker.log_summaries(file, name="after", baseline="before")
        compared = tracker.compare("before", "after", by="surface", cluster=cluster)
    metric = compared.to_dict()["metrics"][0]
    wanted = _reference(n_groups, n_users)
    off = max(abs(one - other) for one, other in zip(metric["ci"], wanted, strict=True)) / (wanted[1] - wanted[0])
    assert off < 1e-9, f"the interval {metric['ci']} is not {wanted}"
    return [
        f"{n_groups:,} groups in each of two runs{f', {n_users:,} users' if n_users else ''}, 3 slices",
        f"seconds {seconds:.1f}, Python workers {peak.mib:.0f} MiB, Spark's local disk {disk.mib:.0f} MiB",
        f"file {n_bytes:,} bytes",
        f"delta {metric['delta']:.12f}, interval {metric['ci']}, by NumPy {wanted}: apart by {off:.1e} of its width",
    ]


def _reference(n_groups: int, n_users: int | None) -> tuple[float, float]:
    """Return the interval of the same differences, computed by NumPy in blocks, in two passes."""
    from scipy import stats

    size = 1 << 22

    def blocks() -> Iterator[tuple[Any, Any]]:
        for first in range(0, n_groups, size):
            ids = np.arange(first, min(first + size, n_groups), dtype=np.int64)
            own = (ids * 7919 % 1000003) / 1000003.0
            shift = np.where(ids % 3 == 0, ids * 104729 % 2003 - 990, 0) / 100000.0
            yield ids, own - (own - shift)

    mean = math.fsum(math.fsum(delta) for _, delta in blocks()) / n_groups
    if n_users is None:
        m2 = math.fsum(math.fsum(np.square(delta - mean)) for _, delta in blocks())
        error, df = math.sqrt(m2 / (n_groups - 1) / n_groups), n_groups - 1.0
    else:
        if n_groups % n_users:
            raise ValueError("give a number of users that divides that of groups")
        sums = np.zeros(n_users)
        for ids, delta in blocks():
            sums += np.bincount(ids % n_users, delta - mean, n_users)
        # clusters of one size: CR2 is the t-test of their means
        error = math.sqrt(float(np.square(sums).sum()) / (1 - 1 / n_users)) / n_groups
        df = n_users - 1.0
    half = float(stats.t.ppf(0.975, df)) * error
    return mean - half, mean + half


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


class _PeakDisk(_Peak):
    """The most that a folder took at one time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def _look(self) -> None:
        while not self._is_over.wait(1):
            self.mib = max(self.mib, sum(map(_size, self._folder.rglob("*"))) / 2**20)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


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

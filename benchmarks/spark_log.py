"""A run from Spark into Postgres, beside ``ingest``: ``python benchmarks/spark_log.py postgresql://...``.

Needs ``pip install 'ndcg-tracker[spark]'``, a Java, and a database with the schema, which gets some runs more. One
Parquet file of rows in no order (ndcg@10, labels in the rows) is stored by ``Tracker.ingest`` in one process, by what
``ingest --engine spark`` does without ``--items`` (Parquet in order, then ``ingest``), and by ``spark.log_run`` with no
items, a hundredth and all. Each goes into a dataset of its own, so each creates groups and labels. Every result must
equal that of ``ingest``, to the bit.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spark import _Peak, _session, write

import ndcg_tracker as nt
from ndcg_tracker.ingest.columns import Columns
from ndcg_tracker.integrations import spark as on_spark

VALUES = """
SELECT md5(string_agg(md5(float8send(v.value)), '' ORDER BY g.key)) FROM group_results v
JOIN evaluations e ON e.id = v.evaluation_id JOIN groups g ON g.id = v.group_id WHERE e.dataset = %s
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url", help="of a database on Postgres")
    parser.add_argument("--groups", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=20, help="per group")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--ways", default="ingest,parquet,none,sample,all")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = _session(given.workers, folder)
        print(f"{given.groups * given.items:,} rows, {given.groups:,} groups, {given.workers} workers", flush=True)
        measured(session, Path(folder), given.url, given.groups, given.items, given.ways.split(","))
        session.stop()


def measured(session: Any, folder: Path, url: str, n_groups: int, n_items: int, ways: list[str]) -> None:
    rows, small = (str(folder / f"{name}.parquet") for name in ("rows", "small"))
    write(small, 100, n_items, seed=1)
    write(rows, n_groups, n_items, seed=2)
    sums = set()
    for way in ways:
        store = _way(session, folder, url, way)
        store(small, f"small {way} {time.time()}")
        dataset = f"{way} {time.time()}"
        with _Peak() as peak:
            begin, cpu = time.perf_counter(), time.process_time()
            result = store(rows, dataset)
            seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
        assert result.outcome == "stored"
        sums.add((_sum(url, dataset), result.metrics[0].mean))
        line = f"{way}: {seconds:.1f} s, this process {cpu:.1f} s, Python workers {peak.mib:.0f} MiB"
        print(f"{line}, mean {result.metrics[0].mean:.15f}", flush=True)
    assert len(sums) == 1, "a result differs"


def _way(session: Any, folder: Path, url: str, way: str) -> Callable[[str, str], Any]:
    def ingest(path: str, dataset: str) -> Any:
        with nt.Tracker(url) as tracker:
            return tracker.ingest(path, name="run", dataset=dataset)

    def parquet(path: str, dataset: str) -> Any:
        target = str(folder / f"{dataset}.parquet")
        on_spark.staged(session.read.parquet(path), Columns(), target)
        found = ingest(target, dataset)
        Path(target).unlink()
        return found

    if way in ("none", "sample", "all"):
        return lambda path, dataset: on_spark.log_run(
            session.read.parquet(path),
            url,
            name="run",
            dataset=dataset,
            items=way,  # type: ignore[arg-type]
        )
    return ingest if way == "ingest" else parquet


def _sum(url: str, dataset: str) -> Any:
    import psycopg

    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        return connection.execute(VALUES, (dataset,)).fetchone()


if __name__ == "__main__":
    main()

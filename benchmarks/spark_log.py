"""A run from Spark into a database, beside ``ingest``: ``python benchmarks/spark_log.py runs.db``.

Needs ``pip install 'ndcg-tracker[spark]'`` and a Java; a Postgres database needs the schema. One Parquet file of rows
in no order (ndcg@10, labels in the rows) is stored by ``Tracker.ingest`` in one process, by ``spark.log_run``, by
``spark.log_run`` with a share of the groups, and as values alone: ``spark.evaluate`` into Parquet and ``log_results``.
Each goes into a dataset of its own, so each creates groups and labels. What ``log_run`` stored must be what ``ingest``
would store.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from spark import _Peak, _session, write

import ndcg_tracker as nt
from ndcg_tracker.integrations import spark as on_spark

WAYS = ("ingest", "log_run", "share", "values")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("database", help="a SQLite file or the URL of a database")
    parser.add_argument("--groups", type=int, default=1_000_000)
    parser.add_argument("--items", type=int, default=20, help="per group")
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--share", default="1/100")
    parser.add_argument("--ways", default=",".join(WAYS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        session = _session(given.workers, folder)
        print(f"{given.groups * given.items:,} rows, {given.groups:,} groups, {given.workers} workers", flush=True)
        rows, small = (str(Path(folder) / f"{name}.parquet") for name in ("rows", "small"))
        write(small, 1000, given.items, seed=1)
        write(rows, given.groups, given.items, seed=2)
        for way in given.ways.split(","):
            store = _way(session, Path(folder), given.database, way, given.share)
            store(small, f"small {way} {time.time()}")
            dataset = f"{way} {time.time()}"
            with _Peak() as peak:
                begin, cpu = time.perf_counter(), time.process_time()
                result = store(rows, dataset)
                seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
            assert result.outcome == "stored"
            line = f"{way}: {seconds:.1f} s, this process {cpu:.1f} s, Python workers {peak.mib:.0f} MiB"
            print(f"{line}, {result.n_groups:,} groups, mean {result.metrics[0].mean:.15f}", flush=True)
            if way == "log_run":
                with nt.Tracker(given.database) as tracker:
                    assert tracker.ingest(rows, name="run", dataset=dataset).outcome == "already stored"
        session.stop()


def _way(session: Any, folder: Path, database: str, way: str, share: str) -> Callable[[str, str], Any]:
    def ingest(path: str, dataset: str) -> Any:
        with nt.Tracker(database) as tracker:
            return tracker.ingest(path, name="run", dataset=dataset)

    def log_run(path: str, dataset: str) -> Any:
        given = {"groups_share": share} if way == "share" else {}
        return on_spark.log_run(session.read.parquet(path), database, name="run", dataset=dataset, **given)

    def values(path: str, dataset: str) -> Any:
        parts = folder / f"{dataset}.values"
        on_spark.evaluate(session.read.parquet(path), "ndcg@10").coalesce(1).write.parquet(str(parts))
        (part,) = parts.glob("part-*.parquet")
        print(f"values of {pq.ParquetFile(part).metadata.num_rows:,} groups", file=sys.stderr)
        of_run = {"name": "run", "dataset": dataset, "direction": "higher", "range": (0.0, 1.0)}
        with nt.Tracker(database) as tracker:
            return tracker.log_results(part, metric="ndcg10", **of_run)  # type: ignore[arg-type]

    return {"ingest": ingest, "values": values}.get(way, log_run)


if __name__ == "__main__":
    main()

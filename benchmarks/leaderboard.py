"""A leaderboard of many runs: how long the command takes, on SQLite and on Postgres.

python benchmarks/leaderboard.py [--runs 1000] [--groups 7000] [--rounds 3] [--folder FOLDER] [--postgres URL]

stores the runs as results per group, which lean on the difficulty of the group and on how good the run is, and prints
for each engine the medians of whole processes: the leaderboard of all, that of fifty, and ``runs list --metric``.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from machine import Postgres
from processes import DATA
from upkeep import PROGRAM, measured

from ndcg_tracker.api.tracker import Tracker
from ndcg_tracker.storage.database import upgrade

ASKED = {
    "leaderboard": ("leaderboard", "--dataset", "shop", "--metric", "external:quality"),
    "leaderboard, 50 runs": (
        "leaderboard",
        "run 00?0",
        "run 01?0",
        "run 02?0",
        "run 03?0",
        "run 04?0",
        "--metric",
        "external:quality",
    ),
    "runs list --metric": ("runs", "list", "--dataset", "shop", "--metric", "external:quality", "--top", "10"),
}


def fill(url: str, n_runs: int, n_groups: int) -> None:
    """Store the runs."""
    rng = np.random.default_rng(20)
    keys = pa.array([f"q{number}" for number in range(n_groups)])
    difficulty = rng.normal(0.5, 0.2, n_groups)
    upgrade(url)
    with Tracker(url) as tracker:
        for number in range(n_runs):
            values = np.clip(difficulty + rng.normal(0.1 * rng.random(), 0.15, n_groups), 0.0, 1.0)
            table = pa.table({"group": keys, "value": values})
            tracker.log_results(
                table, metric="quality", direction="higher", range=(0, 1), name=f"run {number:04d}", dataset="shop"
            )


def main() -> None:
    """Store, ask, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--groups", type=int, default=7000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--postgres", help="the server's URL; without it, one is started")
    options = parser.parse_args()
    DATA.mkdir(parents=True, exist_ok=True)
    server = Postgres(sys.executable, options.postgres)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        urls = {"SQLite": str(folder / "leaderboard.db"), f"Postgres {server.version}": server.create("leaderboard")}
        for engine, url in urls.items():
            if "://" in url or not Path(url).exists():
                fill(url, options.runs, options.groups)
            for name, words in ASKED.items():
                rounds = [measured([*PROGRAM, *words, "--db", url]) for _ in range(options.rounds)]
                seconds, processor, peak = (statistics.median(column) for column in zip(*rounds, strict=True))
                print(
                    f"{engine:12}  {name:22}  {seconds:6.2f} s  {processor:6.2f} s of processor  {peak:6.0f} MB",
                    flush=True,
                )
        server.drop("leaderboard")
    server.close()


if __name__ == "__main__":
    main()

"""What the schema snapshot saves: the first ``ingest`` into a new SQLite file, with it and with the migrations."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from processes import measured

INGEST = """
import sys
from ndcg_tracker.storage.upkeep import migrate
if sys.argv.pop(1) == "migrations":
    migrate.snapshot_statements = lambda: None
from ndcg_tracker.cli.app import main
main()
"""
WAYS = ("snapshot", "migrations")


def main(n_rounds: int) -> None:
    """Print the median processor seconds of both ways, measured in turn."""
    seconds: dict[str, list[float]] = {way: [] for way in WAYS}
    with TemporaryDirectory() as folder:
        run, labels = Path(folder) / "a.run", Path(folder) / "a.qrels"
        run.write_text("".join(f"q{row % 50} Q0 d{row} 1 {row} r\n" for row in range(1000)))
        labels.write_text("".join(f"q{row % 50} 0 d{row} 1\n" for row in range(100)))
        for round_ in range(n_rounds):
            for way in WAYS:
                options = ["--db", f"{folder}/{way}{round_}.db", "ingest", str(run), "--labels", str(labels)]
                seconds[way].append(measured([sys.executable, "-c", INGEST, way, *options]).cpu_seconds or 0.0)
    for way in WAYS:
        print(f"{way:<10} {statistics.median(seconds[way]):.2f} s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)

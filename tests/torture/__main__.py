"""``python -m tests.torture``: run the rows of the reliability table and print what they came to."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
import tempfile
import time
import traceback
from collections.abc import Collection, Iterator
from pathlib import Path

from postgres_server import PostgresServer

from .report import Outcome, Setting, as_json, markdown

ROWS = {
    1: "kills",
    2: "signals",
    3: "writers",
    4: "same_file",
    5: "start_ups",
    6: "disk_full",
    7: "postgres_faults",
    8: "migrations",
    9: "drift",
    10: "handshakes",
    11: "fuzzing",
    12: "parity",
    13: "gzip_damage",
    14: "hostile_ids",
    15: "escapes",
    16: "secrets",
    17: "memory",
    18: "team",
    19: "sql_hogs",
    20: "input_bombs",
    21: "hand_edits",
    22: "forgeries",
    23: "refusing_servers",
    24: "steering_names",
    25: "rescore_kills",
    26: "command_kills",
    27: "held_servers",
}
"""The module of this package that holds each row; one module may hold several."""
ENGINES = ("sqlite", "postgres")


def arguments(words: list[str]) -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--rows", type=_rows, default=list(ROWS), help="numbers, as in 1,2,7; else all")
    parser.add_argument("--size", choices=["quick", "full"], default="full")
    parser.add_argument("--engine", choices=ENGINES, action="append", help="repeatable; else both")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcomes there as JSON, too")
    return parser.parse_args(words)


def _rows(text: str) -> list[int]:
    numbers = [int(word) for word in text.split(",")]
    if not set(numbers) <= set(ROWS):
        raise argparse.ArgumentTypeError(f"rows are {', '.join(map(str, ROWS))}")
    return numbers


def outcomes(rows: Collection[int], setting: Setting) -> Iterator[Outcome]:
    """Yield the outcomes of rows, in order; a row that ends in an exception has missed its goal."""
    for name in dict.fromkeys(ROWS[row] for row in rows):
        wanted = [row for row in rows if ROWS[row] == name]
        if importlib.util.find_spec(f"{__package__}.{name}") is None:
            yield from (Outcome(row, name, "-", "", "not built", met=False) for row in wanted)
            continue
        started = time.monotonic()
        try:
            module = importlib.import_module(f"{__package__}.{name}")
            yield from (one for one in module.outcomes(setting) if one.row in wanted)
        except Exception as error:
            traceback.print_exc()
            text = f"ended by {type(error).__name__}: {error}"
            yield from (Outcome(row, name, "-", "", text, met=False) for row in wanted)
        print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def main(words: list[str]) -> int:
    """Run the requested rows, print the table, and return 1 if a goal is missed."""
    asked = arguments(words)
    engines = tuple(name for name in ENGINES if name in (asked.engine or ENGINES))
    server = PostgresServer()
    found = []
    try:
        server.start()
        with tempfile.TemporaryDirectory(prefix="ndcg-torture-") as folder:
            for one in outcomes(asked.rows, Setting(asked.size, Path(folder), server, engines)):
                print(
                    f"row {one.row}, {one.engine}: {'met' if one.met else 'MISSED'}: {one.figure}",
                    file=sys.stderr,
                    flush=True,
                )
                found.append(one)
    finally:
        server.remove()
    print(markdown(found))
    if asked.json is not None:
        asked.json.write_text(as_json(found) + "\n", encoding="utf-8")
    return 0 if all(one.met for one in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

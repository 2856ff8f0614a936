"""How large the page of a comparison is, and how long writing and opening it takes: the table of docs/pictures.md.

python benchmarks/pages.py [--groups 30 150 7000 100000 1000000] [--browser PATH]

Lists of 10 items on SQLite, of 1,000 where there are few groups; every group has a text and an attribute of 15 values,
every item a title. Times are of whole commands, side by side: ``compare``, ``report --texts``, and ``plot compare`` as
PNG, the best of three after one that nobody counts; opening is Chromium until everything is drawn, once. Without a
Chromium that column is left out.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ndcg_tracker as nt

FEW, MANY_ITEMS, FEW_ITEMS = 100, 1000, 10
CATALOGUE = 5_000
ROUNDS = 3
DRAWN = "document.querySelectorAll('svg, canvas').length > 0 && document.readyState === 'complete'"


def stored(database: Path, n_groups: int) -> None:
    """Store two runs whose lists differ a little."""
    rng = np.random.default_rng(3)
    n_items = MANY_ITEMS if n_groups <= FEW else FEW_ITEMS
    groups = np.repeat(np.char.add("q", np.arange(n_groups).astype(str)), n_items)
    items = np.char.add("d", (np.arange(n_groups * n_items) % CATALOGUE).astype(str))
    grades = rng.integers(0, 4, groups.size)
    frame = {"group": groups, "item": items, "label": grades.astype(float)}
    with nt.Tracker(database) as tracker:
        for name, noise in (("before", 3.0), ("after", 2.8)):
            scores = grades + rng.normal(scale=noise, size=groups.size)
            tracker.ingest({**frame, "score": scores}, name=name, dataset="shop")
        keys = [f"q{place}" for place in range(n_groups)]
        words = rng.choice(["light", "red", "bike", "tent", "phone", "case", "lamp", "garden"], (n_groups, 4))
        texts = {"group": keys, "text": [" ".join(each) for each in words]}
        tracker.add_texts(texts, dataset="shop")
        n_titles = min(CATALOGUE, n_groups * n_items)
        titles = {
            "item": [f"d{place}" for place in range(n_titles)],
            "title": [f"Waterproof bike light with battery, model {place}" for place in range(n_titles)],
        }
        tracker.add_texts(titles, dataset="shop")
        tracker.set_groups({"group": keys, "product": [f"product {n % 15}" for n in range(n_groups)]}, dataset="shop")


def seconds_of(database: Path, commands: list[list[str]]) -> list[float]:
    """Return how long each command takes from its start to its end, by turns, with what Python keeps of modules."""
    program = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()", "--db", str(database)]
    with tempfile.TemporaryDirectory() as modules:
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        times: list[list[float]] = [[] for _ in commands]
        for _ in range(ROUNDS + 1):
            for of_command, command in zip(times, commands, strict=True):
                started = time.perf_counter()
                subprocess.run(
                    [*program, *command], check=True, capture_output=True, env={**kept, "PYTHONPYCACHEPREFIX": modules}
                )
                of_command.append(time.perf_counter() - started)
    return [min(of_command[1:]) for of_command in times]


def seconds_to_open(page: Path, browser: str) -> float:
    """Return how long Chromium takes to open a page until its charts are drawn."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        try:
            tab = chromium.new_page()
            started = time.perf_counter()
            tab.goto(page.as_uri())
            tab.wait_for_function(DRAWN, timeout=120_000)
            return time.perf_counter() - started
        finally:
            chromium.close()


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--groups", type=int, nargs="+", default=[30, 150, 7_000, 100_000, 1_000_000])
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    asked = parser.parse_args()
    print("| groups | the file | `compare` | `report` | `plot` | to open the page |\n|---|---|---|---|---|---|")
    for n_groups in asked.groups:
        with tempfile.TemporaryDirectory() as folder:
            database, page = Path(folder, "runs.db"), Path(folder, "page.html")
            stored(database, n_groups)
            times = seconds_of(
                database,
                [
                    ["compare", "before", "after"],
                    ["report", "before", "after", "--texts", "--output", str(page)],
                    ["plot", "compare", "before", "after", "--output", str(Path(folder, "picture.png"))],
                ],
            )
            opened = "" if asked.browser is None else f"{seconds_to_open(page, asked.browser):.1f} s"
            written = " | ".join(f"{seconds:.2f} s" for seconds in times)
            print(f"| {n_groups:,} | {page.stat().st_size / 1e6:.1f} MB | {written} | {opened} |", flush=True)


if __name__ == "__main__":
    main()

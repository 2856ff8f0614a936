"""How large the page of a comparison is, and how long writing and opening it takes: the table of docs/pictures.md.

python benchmarks/pages.py [--groups 30 7000 100000 1000000] [--browser PATH]

Lists of 10 items on SQLite, of 1,000 in the first row. Writing is the whole command ``ndcg-track report``, opening is
Chromium until everything is drawn, each once; without a Chromium that column is left out.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import ndcg_tracker as nt

FEW, MANY_ITEMS, FEW_ITEMS = 100, 1000, 10
DRAWN = "document.querySelectorAll('svg, canvas').length > 0 && document.readyState === 'complete'"


def stored(database: Path, n_groups: int) -> None:
    """Store two runs whose lists differ a little."""
    rng = np.random.default_rng(3)
    n_items = MANY_ITEMS if n_groups <= FEW else FEW_ITEMS
    groups = np.repeat(np.char.add("q", np.arange(n_groups).astype(str)), n_items)
    items = np.char.add("d", np.tile(np.arange(n_items), n_groups).astype(str))
    grades = rng.integers(0, 4, groups.size)
    frame = {"group": groups, "item": items, "label": grades.astype(float)}
    with nt.Tracker(database) as tracker:
        for name, noise in (("before", 3.0), ("after", 2.8)):
            scores = grades + rng.normal(scale=noise, size=groups.size)
            tracker.ingest({**frame, "score": scores}, name=name, dataset="shop")


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
    parser.add_argument("--groups", type=int, nargs="+", default=[30, 7_000, 100_000, 1_000_000])
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    asked = parser.parse_args()
    print("| groups | the file | to write it | to open it |\n|---|---|---|---|")
    for n_groups in asked.groups:
        with tempfile.TemporaryDirectory() as folder:
            database, page = Path(folder, "runs.db"), Path(folder, "page.html")
            stored(database, n_groups)
            program = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()", "--db", str(database)]
            started = time.perf_counter()
            subprocess.run(
                [*program, "report", "before", "after", "--output", str(page)], check=True, capture_output=True
            )
            written = time.perf_counter() - started
            opened = "" if asked.browser is None else f"{seconds_to_open(page, asked.browser):.1f} s"
            print(f"| {n_groups:,} | {page.stat().st_size / 1e6:.1f} MB | {written:.1f} s | {opened} |", flush=True)


if __name__ == "__main__":
    main()

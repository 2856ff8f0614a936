"""Makes the pictures of the docs from the demo: python docs/pictures.py (needs the extras test, and Chromium)."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
PROGRAM = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()"]
SIZE = {"width": 1120, "height": 940}
PLOTS = {
    "slices": ["slices", "bm25", "dense", "--dataset", "shop"],
    "cutoffs": ["cutoffs", "bm25", "dense", "--dataset", "shop"],
    "explain": ["explain", "bm25", "dense", "--group", "light bike light", "--dataset", "shop"],
    "heatmap": ["compare", "bm25", "bm25-synonyms", "dense", "dense-int8", "--kind", "heatmap", "--dataset", "shop"],
}
"""The arguments of ``plot`` for each picture; each is drawn for a light page and for a dark one."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NDCG_TRACK_DB": str(Path(folder, "ndcg-track.db"))}

        def run(*arguments: str) -> None:
            subprocess.run([*PROGRAM, *arguments], cwd=folder, env=environment, check=True, capture_output=True)

        run("demo")
        for theme in ("light", "dark"):
            for name, arguments in PLOTS.items():
                run("plot", *arguments, "-o", str(IMAGES / f"{name}-{theme}.svg"), "--theme", theme)
        page = Path(folder, "ndcg-track-demo", "report.html").as_uri()
        browser_path = os.environ.get("NDCG_TEST_BROWSER", "/usr/bin/chromium")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
            for theme in ("light", "dark"):
                view = browser.new_page(viewport=SIZE, color_scheme=theme)
                view.goto(page)
                view.wait_for_selector("html[data-ready=yes]")
                view.screenshot(path=IMAGES / f"report-{theme}.png")
            browser.close()
    print(*sorted(path.name for path in IMAGES.iterdir()), sep="\n")


if __name__ == "__main__":
    main()

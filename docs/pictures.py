"""Makes the pictures of the docs from the demo: python docs/pictures.py (needs the extras test, and Chromium)."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

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


PAGES = {
    "ui-runs": ("/runs?dataset=shop&baseline=1&run=2&run=3", 640),
    "ui-group": ("/group?dataset=shop&group=red+bike+light", 1150),
}
"""The page of ``ui`` of each picture, and its height."""
JUDGED_PAGES = {"ui-judge": ("/judge?baseline=1&run=3", 420)}
"""Those of ``ui --judge``."""


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
            take_pages(browser, folder, PAGES)
            take_pages(browser, folder, JUDGED_PAGES, "--judge", "ann")
            browser.close()
    print(*sorted(path.name for path in IMAGES.iterdir()), sep="\n")


def take_pages(browser: Browser, folder: str, pages: dict[str, tuple[str, int]], *options: str) -> None:
    """Take pictures of pages of ``ui``, with further options, over the database in a folder."""
    words = [*PROGRAM, "--db", str(Path(folder, "ndcg-track.db")), "ui", "--no-browser", *options]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = re.search(r"(http://.*)/\?(token=.*)", server.stderr.readline())
        assert found is not None
        for theme in ("light", "dark"):
            for name, (path, height) in pages.items():
                view = browser.new_page(viewport={"width": SIZE["width"], "height": height}, color_scheme=theme)
                view.goto(f"{found[1]}{path}&{found[2]}")
                view.wait_for_selector("html[data-ready=yes]")
                file = IMAGES / f"{name}-{theme}.png"
                view.screenshot(path=file)
                Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)  # a third of the bytes
        server.terminate()


if __name__ == "__main__":
    main()

"""Takes the pictures of docs/ui.md: of the demo's database, in a headless browser, light and dark.

python docs/ui_pictures.py [CHROMIUM]    # writes docs/images/ui-*.png
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

IMAGES = Path(__file__).resolve().parent / "images"
PICTURES = {
    "ui-runs": ("/runs?dataset=shop&baseline=1&run=2&run=3", "light", 640),
    "ui-group": ("/group?dataset=shop&group=red+bike+light", "light", 1150),
    "ui-group-dark": ("/group?dataset=shop&group=red+bike+light", "dark", 1150),
}
"""The page of each picture, its colours, and its height."""
WIDTH = 1120
PROGRAM = [sys.executable, "-c", "from ndcg_tracker.cli.app import main; main()"]


def main() -> None:
    """Make the demo's database, serve it, and take the pictures."""
    browser_path = (sys.argv[1:] or ["/usr/bin/chromium"])[0]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*PROGRAM, "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        words = [*PROGRAM, "ui", "--no-browser"]
        server = subprocess.Popen(words, cwd=folder, stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            found = re.search(r"(http://.*)/\?(token=.*)", server.stderr.readline())
            assert found is not None
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
                for name, (path, scheme, height) in PICTURES.items():
                    context = browser.new_context(
                        viewport={"width": WIDTH, "height": height},
                        color_scheme=scheme,  # type: ignore[arg-type]
                    )
                    page = context.new_page()
                    page.goto(f"{found[1]}{path}&{found[2]}")
                    page.wait_for_selector("html[data-ready=yes]")
                    file = IMAGES / f"{name}.png"
                    page.screenshot(path=file)
                    Image.open(file).convert("RGB").quantize(128).save(file, optimize=True)  # a third of the bytes
                    context.close()
                browser.close()
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()

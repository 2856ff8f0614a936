"""Pages as a reader sees them: in the Chromium of the machine, headless, without any network."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
AXE = Path(__file__).with_name("axe.min.js")


@dataclass
class Reader:
    """An open page, with what went wrong on it and what it asked of others."""

    page: Page
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    own: tuple[str, ...] = ("file:", "data:", "blob:")

    def opens(self, address: str) -> Page:
        """Open a page and wait until it has drawn everything."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready=yes]", timeout=60_000)
        return self.page

    def serious_faults(self) -> list[str]:
        """Return what axe-core calls serious or critical, with the elements."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        found: dict[str, Any] = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{fault['id']}: {[node['target'] for node in fault['nodes']][:3]} {fault['nodes'][0]['failureSummary']}"
            for fault in found["violations"]
            if fault["impact"] in ("serious", "critical")
        ]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser; where there is none, tests skip, unless NDCG_TEST_BROWSER says that there has to be one."""
    named = os.environ.get("NDCG_TEST_BROWSER")
    path = named or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium on this machine; install Debian's chromium, or name one with NDCG_TEST_BROWSER")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def reader(browser: Browser) -> Iterator[Reader]:
    """A reader with a new window; after the test the page must not have failed, nor asked anything of others."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    found = Reader(context.new_page())
    found.page.on("console", lambda line: found.faults.append(f"{line.type}: {line.text}"))
    found.page.on("pageerror", lambda error: found.faults.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    yield found
    context.close()
    assert found.faults == []
    assert [url for url in found.requests if not url.startswith(found.own)] == []

"""Pages as a reader sees them: in the Chromium of the machine, headless, without any network."""

import os
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright
from web_reader import Reader

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser; where there is none, tests skip, unless NDCG_TEST_BROWSER says that there has to be one.

    It ends with its module: while it is open, no other test can run an event loop.
    """
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

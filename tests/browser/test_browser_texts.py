"""Texts on the report page, as a reader sees them in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ndcg_tracker as nt

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

ITEMS = ["a", "constructor", "__proto__", "</script><script>alert(1)</script>"]
GROUPS = ["q1", "toString", "\u202eq3"]
HOSTILE = "</script><img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with texts of hostile groups and items."""
    folder = tmp_path_factory.mktemp("report")
    rows = [(group, item, rank) for group in GROUPS for rank, item in enumerate(ITEMS)]
    shop = {"group": [row[0] for row in rows], "item": [row[1] for row in rows]}
    labels = {**shop, "label": [int(row[2] == 0) for row in rows]}
    with nt.Tracker(folder / "runs.db") as tracker:
        tracker.ingest({**shop, "score": [-float(row[2]) for row in rows]}, name="old", labels=labels)
        tracker.ingest({**shop, "score": [float(row[2]) for row in rows]}, name="new", labels=labels)
        tracker.add_texts(
            {
                "group": ["q1", None, None, None, "\u202eq3"],
                "item": [None, "a", "__proto__", ITEMS[3], None],
                "text": ["light tent", None, None, None, HOSTILE],
                "title": [None, "Tent", HOSTILE, "Lamp", None],
                "url": ["https://shop.example/?q=a&b", "https://shop.example/a", "javascript:alert(1)", None, None],
            }
        )
        tracker.report("old", "new", texts=True).save(folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def page(report: Path) -> Iterator[Any]:
    """The report in a browser; a message on the console, a dialog or a request that leaves it fails the test."""
    playwright = pytest.importorskip("playwright.sync_api")
    trouble: list[str] = []
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        opened = browser.new_page()
        opened.on("console", lambda message: trouble.append(message.text))
        opened.on("pageerror", lambda error: trouble.append(str(error)))
        opened.on("dialog", lambda dialog: (trouble.append(dialog.message), dialog.dismiss()))
        opened.on("request", lambda one: one.url.startswith(("file:", "data:")) or trouble.append(one.url))
        opened.goto(report.as_uri() + "#group=q1")
        opened.wait_for_selector("html[data-ready=yes]")
        yield opened
        browser.close()
    assert trouble == []


def part(page: Any, name: str) -> Any:
    return page.locator(f"[data-part={name}]").first


def test_the_query_stands_under_the_heading_of_its_group(page: Any) -> None:
    link = part(page, "query").locator("a")
    assert link.inner_text() == "light tent"
    assert link.get_attribute("href") == "https://shop.example/?q=a&b"
    assert link.get_attribute("rel") == "noreferrer noopener"
    page.evaluate("location.hash = 'group=toString'")
    page.wait_for_function("document.querySelector('[data-part=group]').textContent.startsWith('Group toString')")
    assert part(page, "query").is_hidden()
    page.evaluate(r"location.hash = new URLSearchParams({group: '\\u202eq3'})")
    page.wait_for_function("document.querySelector('[data-part=query]').textContent.includes('onerror')")
    assert part(page, "query").inner_text() == HOSTILE
    assert page.locator("img").count() == 0


def test_titles_stand_in_the_lists(page: Any) -> None:
    cells = {
        cell.locator("span").first.inner_text(): [one.inner_text() for one in cell.locator("div").all()]
        for cell in part(page, "lists-rows").locator("tr td:nth-child(2)").all()
    }
    assert cells == {
        "a": ["Tent"],
        "constructor": [],
        "__proto__": [f"{HOSTILE} (javascript:alert(1))"],
        ITEMS[3]: ["Lamp"],
    }
    links = part(page, "lists-rows").locator("a").evaluate_all("all => all.map(one => [one.href, one.rel])")
    assert {tuple(link) for link in links} == {("https://shop.example/a", "noreferrer noopener")}


def test_the_table_of_groups_is_searched_by_text(page: Any) -> None:
    part(page, "search").fill("LIGHT")
    assert part(page, "rows").locator("tr").all_inner_texts()[0].startswith("q1\nlight tent")
    assert part(page, "count").inner_text() == "1 of 1 groups shown"

"""Texts on the report page in a browser: in their places, with links to the web only, and obeyed by nobody."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect
from web_reader import Reader

import ndcg_tracker as nt

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
def page(reader: Reader, report: Path) -> Page:
    """The report, with the first group chosen."""
    return reader.opens(report.as_uri() + "#group=q1")


def part(page: Page, name: str) -> Locator:
    return page.locator(f"[data-part={name}]").first


@pytest.mark.nightly
def test_the_query_stands_under_the_heading_of_its_group(page: Page) -> None:
    link = part(page, "query").locator("a")
    assert link.inner_text() == "light tent"
    assert link.get_attribute("href") == "https://shop.example/?q=a&b"
    assert link.get_attribute("rel") == "noreferrer noopener"
    page.evaluate("location.hash = 'group=toString'")
    expect(part(page, "group")).to_contain_text("Query toString:")
    expect(part(page, "query")).to_be_hidden()
    page.evaluate(r"location.hash = new URLSearchParams({group: '\\u202eq3'})")
    expect(part(page, "query")).to_have_text(HOSTILE)
    assert page.locator("img").count() == 0


@pytest.mark.nightly
def test_titles_stand_in_the_lists(page: Page) -> None:
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


def test_the_table_of_groups_is_searched_by_text(page: Page) -> None:
    part(page, "search").fill("LIGHT")
    assert part(page, "rows").locator("tr").all_inner_texts()[0].startswith("q1\nlight tent")
    assert part(page, "count").inner_text() == "1 of 1 groups shown"


@pytest.mark.nightly
def test_no_serious_fault_for_screen_readers(reader: Reader, page: Page) -> None:
    assert reader.serious_faults() == []

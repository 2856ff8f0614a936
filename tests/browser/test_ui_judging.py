"""Judging in a browser: ten items with a key each, stored with a click, and pages that can be read by everybody."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from layout import layout_faults, looks
from playwright.sync_api import Page, expect
from served import Served, served
from web_reader import Reader

import ndcg_tracker as nt


@pytest.fixture
def pages(tmp_path: Path) -> Iterator[Served]:
    """The pages over two runs with holes in their first ranks, where ann may judge."""
    rows = [(f"q{group}", f"d{item}", group, item) for group in range(8) for item in range(12)]
    labels = {f"q{group}": {"d0": 2, "d11": 0, "d5": 1} for group in range(8)}
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        for name, sign in (("old", -1.0), ("new", 1.0)):
            run = {
                "group": [group for group, *_ in rows],
                "item": [item for _, item, *_ in rows],
                "score": [sign * item + (group * item) % 5 for *_, group, item in rows],
            }
            tracker.ingest(run, name=name, labels=labels)
        model = {f"q{group}": {f"d{item}": item % 4 for item in range(12)} for group in range(8)}
        tracker.add_labels(model, judge="model", rescore=True)
        tracker.labels_sample("old", "new", judge="model", budget=24)
        words = "a rain jacket that keeps its promise on the third day of a wet week in the mountains of the north"
        texts = {
            "group": ["q0", "q1", None, None],
            "item": [None, None, "d3", "d4"],
            "text": ["light rain jacket", words, None, words * 4],
            "title": [None, None, "JacketWithoutAnySpaceInItsNameThatIsLongerThanAPhoneIsWide", "Jacket"],
            "url": [None, None, "https://shop.example/d3", None],
        }
        tracker.add_texts(texts)
    with served(f"sqlite:///{tmp_path / 'runs.db'}", "ann") as found:
        yield found


@pytest.fixture
def inside(reader: Reader, pages: Served) -> Reader:
    """A reader who has opened the printed address."""
    reader.own = (*reader.own, f"http://127.0.0.1:{pages.access.port}/")
    reader.opens(pages.address)
    return reader


def at(reader: Reader, pages: Served, path: str) -> Page:
    return reader.opens(f"http://127.0.0.1:{pages.access.port}{path}")


@pytest.mark.nightly(but=3)
def test_ten_items_are_judged_with_at_most_fifteen_keys_and_clicks(inside: Reader, pages: Served) -> None:
    page = at(inside, pages, "/compare?run=1&run=2")
    steps = 1
    with page.expect_navigation():
        page.click("text=judge items without a grade")
    for place in range(10):
        steps += 1
        with page.expect_navigation():
            page.keyboard.press(str(place % 3))
    expect(page.locator(".progress")).to_contain_text("10 of ")
    steps += 1
    with page.expect_navigation():
        page.click("text=add to the labels of the unnamed judge")
    assert steps <= 15
    expect(page.locator("main")).to_contain_text("of the unnamed judge: 34 labels")


@pytest.mark.nightly
def test_keys_undo_and_leave_open_but_not_while_one_types(inside: Reader, pages: Served) -> None:
    page = at(inside, pages, "/judge?run=1&run=2")
    first = page.locator("h2").first.inner_text()
    for key in "uz":
        with page.expect_navigation():
            page.keyboard.press(key)
    expect(page.locator("h2").first).to_have_text(first)
    page = at(inside, pages, "/judge?run=1&run=2&greatest=50")
    page.type("input[name=grade]", "27")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    expect(page.locator(".progress")).to_contain_text("1 of ")


@pytest.mark.nightly(but=3)
def test_the_pages_can_be_read_by_everybody(inside: Reader, pages: Served) -> None:
    paths = ["/judge?dataset=default", "/judge?run=1&run=2", "/judge?dataset=default&design=1"]
    paths += ["/judge?run=1&run=2&greatest=50", "/judge?dataset=default&stored=2"]
    for path in paths:
        for look in looks(inside.page):
            page = at(inside, pages, path)
            if "run=1" in path and "greatest" not in path:
                page.keyboard.press("1")
                page.wait_for_selector("text=not stored yet")
            assert (path, look, layout_faults(page)) == (path, look, [])
            assert (path, look, inside.serious_faults()) == (path, look, [])

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
def test_an_open_verdict_is_judged_with_twelve_keys_and_clicks_and_evaluated_with_one(
    inside: Reader, pages: Served, tmp_path: Path
) -> None:
    page = at(inside, pages, "/run?run=2")
    offered = page.locator(".buttons a", has_text="Judge the ").inner_text()
    with page.expect_navigation():
        page.click(f"text={offered}")
    seen = []
    for place in range(10):
        seen.append(page.locator(".item:visible").inner_text().split())
        page.keyboard.press(str(place % 3), delay=20)
        page.wait_for_timeout(60)  # 80 milliseconds from key to key
    expect(page.locator(".progress")).to_contain_text(f"10 of {offered.split()[2]} items")
    with page.expect_navigation():
        page.click("text=add to the labels of the unnamed judge")
    page.wait_for_url("**stored=3**")
    expect(page.locator("main")).to_contain_text("of the unnamed judge: 34 labels")
    with nt.Tracker(tmp_path / "runs.db", read_only=True) as tracker:
        graded = {(row.group_key, row.item_key): row.grade for row in tracker.sql(NEW).itertuples()}
    expected = {}
    for place, words in enumerate(seen):
        group = next(word for word in words if word in GROUPS)
        expected[group, next(word for word in words if word in ITEMS)] = place % 3
    assert graded == expected  # each grade belongs to the item that was seen
    page.click("text=Evaluate and compare the 2 runs")
    page.wait_for_selector("html[data-ready=yes]")
    expect(page.locator("h1")).to_have_text("Is new better than old?")
    expect(page.locator("main")).to_contain_text("labels version 3")


GROUPS = [f"q{group}" for group in range(8)]
ITEMS = [f"d{item}" for item in range(12)]
NEW = """SELECT group_key, item_key, grade FROM labels WHERE label_set_version = 3 AND NOT EXISTS
(SELECT 1 FROM labels AS old WHERE old.label_set_version = 1 AND old.group_key = labels.group_key
 AND old.item_key = labels.item_key)"""
"""The labels that are new in the third version."""


@pytest.mark.nightly
def test_keys_undo_and_leave_open_but_not_while_one_types(inside: Reader, pages: Served) -> None:
    page = at(inside, pages, "/judge?run=1&run=2")
    first = page.locator("h2").first.inner_text()
    page.keyboard.press("u")
    expect(page.locator(".progress")).to_contain_text("1 unsure")
    page.keyboard.press("z")
    expect(page.locator(".progress")).to_contain_text("0 of ")
    expect(page.locator("h2").first).to_have_text(first)
    page = at(inside, pages, "/judge?run=1&run=2&greatest=50")
    page.type("input[name=grade]:visible", "27")
    page.keyboard.press("Enter")
    expect(page.locator(".progress")).to_contain_text("1 of ")
    page.keyboard.type("51")  # the next field has the focus
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("'51' is not a whole number from 0 to 50")
    page.go_back()
    expect(page.locator(".progress")).to_contain_text("1 of ")
    inside.faults[:] = [fault for fault in inside.faults if "status of 400" not in fault]


@pytest.mark.nightly
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

"""The pages of the ui in a browser: they draw, search while one types, and lead from run to comparison to group."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect
from served import Served, served
from test_report_page import HOSTILE, shop
from thorough import LONG
from web_reader import COLOURS, Reader

COMPARISON = "/compare?run=1&run=2"
PATHS = [
    *("/", "/runs?dataset=default", "/run?run=2", "/history?dataset=default", "/groups?dataset=default"),
    *(COMPARISON, "/compare/cutoffs?run=1&run=2", "/labels?dataset=default"),
    "/decisions?dataset=default",
    f"/group?dataset=default&group={quote(HOSTILE)}",
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The pages over three runs; the first group has a name that is a script, and a gate has decided."""
    folder = tmp_path_factory.mktemp("ui")
    with shop(folder, first=HOSTILE) as tracker:
        tracker.tag_run("new", {"branch": "<img src=x>"})
        tracker.tag_run("third", {"branch": "<img src=x>"})
        texts = {"group": ["q39", None], "item": [None, "doc 3"], "text": ["of tents", None], "title": [None, "Third"]}
        tracker.add_texts(texts)
        tracker.set_alias("baseline", "old")
        tracker.gate("new", baseline="@baseline", margin=0.01)
    with served(f"sqlite:///{folder / 'runs.db'}") as found:
        yield found


@pytest.fixture
def inside(reader: Reader, pages: Served) -> Reader:
    """A reader who has opened the printed address."""
    origin = f"http://127.0.0.1:{pages.access.port}/"
    reader.own = (*reader.own, origin)
    reader.opens(pages.address)
    assert reader.page.url == origin  # the token is gone from it
    return reader


def at(reader: Reader, pages: Served, path: str) -> Page:
    """Open a path."""
    return reader.opens(f"http://127.0.0.1:{pages.access.port}{path}")


def test_every_page_draws_obeys_nobody_and_can_be_read_by_screen_readers_and_weak_eyes(
    inside: Reader, pages: Served
) -> None:
    for path in PATHS if LONG else PATHS[::3]:
        inside.page.emulate_media(color_scheme="light")
        found = at(inside, pages, path)
        assert found.title() != "owned", path
        assert found.query_selector("img") is None, path
        charts = found.eval_on_selector_all("[data-draw], [data-chart]", "all => all.map(one => one.innerHTML.length)")
        assert all(length > 1000 for length in charts), path
        width = found.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1], path
        if path == COMPARISON:
            continue  # tests/browser/test_report_page.py does the rest for it
        assert (path, inside.serious_faults()) == (path, [])
        inside.page.emulate_media(color_scheme="dark")
        at(inside, pages, path)
        assert (path, inside.serious_faults(*COLOURS)) == (path, [])


@pytest.mark.nightly
def test_a_phone_scrolls_in_one_direction_only(inside: Reader, pages: Served) -> None:
    inside.page.set_viewport_size({"width": 390, "height": 844})
    for path in PATHS:
        found = at(inside, pages, path)
        assert found.evaluate("document.documentElement.scrollWidth") <= 390, path


def test_from_the_runs_to_a_comparison_with_the_keyboard(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/runs?dataset=default")
    found.focus("input[type=search]")
    for _ in range(60):
        found.keyboard.press("Tab")
        if found.evaluate("document.activeElement.getAttribute('aria-label')") == "compare new":
            break
    found.keyboard.press("Space")
    expect(found.locator("input[name=run]:checked")).to_have_count(1)
    found.focus("button.main")
    found.keyboard.press("Enter")
    found.wait_for_selector("html[data-ready=yes]")
    expect(found.locator("h1")).to_have_text("Is new better than old?")


def test_the_search_answers_while_one_types_and_keeps_what_is_chosen(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/runs?dataset=default")
    found.check("input[aria-label='compare new']")
    found.type("input[type=search]", "third")
    expect(found.locator("td.name a")).to_have_text(["old", "new", "third"])
    assert "q=third" in found.url
    assert found.is_checked("input[aria-label='compare new']")
    found.reload()
    expect(found.locator("td.name a")).to_have_text(["old", "new", "third"])


def test_the_lists_of_any_group_are_asked_for(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/compare?run=1&run=2")
    found.fill("[data-part=search]", "q39")
    found.click("[data-part=rows] a:text-is('q39')")
    expect(found.locator("[data-part=group]")).to_contain_text("Group q39")
    expect(found.locator("[data-part=lists-rows] tr").first).to_contain_text("doc")
    expect(found.locator("[data-part=query]")).to_have_text("of tents")
    expect(found.locator("[data-part=lists-rows]")).to_contain_text("Third")
    assert found.is_hidden("[data-part=not-here]")
    assert any("/compare/lists?" in url and url.endswith("group=q39") for url in inside.requests)
    found.click("#here a:text-is('in every run')")
    found.wait_for_selector("html[data-ready=yes]")
    expect(found.locator("h1")).to_have_text("Group q39")
    expect(found.locator("h2").nth(1)).to_have_text("Its lists in old and new")


def test_a_hostile_group_is_found_again(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/groups?dataset=default&q=onerror")
    found.click("td.name a")
    found.wait_for_selector("html[data-ready=yes]")
    expect(found.locator("h1")).to_contain_text("\\u202e")
    found.click("text=show the lists in the two chosen runs")
    expect(found.locator("h1")).to_contain_text("onerror")

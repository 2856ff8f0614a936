"""The pages of the ui in a browser: they draw, search while one types, and lead from run to comparison to group."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from layout import LOOKS, layout_faults, looks
from playwright.sync_api import Browser, Page, expect
from served import Served, served
from test_report_page import HOSTILE, shop
from thorough import LONG
from web_reader import Reader

import ndcg_tracker as nt

COMPARISON = "/compare?run=1&run=2"
PATHS = [
    *("/", "/runs?dataset=default", "/run?run=2", "/history?dataset=default", "/groups?dataset=default"),
    *(COMPARISON, "/compare/cutoffs?run=1&run=2", "/labels?dataset=default", "/datasets", "/compare?run=1&run=2&run=3"),
    *("/leaderboard?dataset=default", "/groups?dataset=default&sort=worst&q=q"),
    "/decisions?dataset=default",
    f"/group?dataset=default&group={quote(HOSTILE)}",
]


ERRORS = ["/compare?dataset=default&baseline=1", "/runs?dataset=none", "/leaderboard?dataset=default&missing=all"]
SOME_LOOKS = {
    (path, f"{LOOKS[place % 2 * 3][0]}, {LOOKS[place % 2 * 3][1]} pixels")
    for place, path in enumerate([*PATHS, *ERRORS])
}
"""Each page in one of the looks; at night in all of them."""


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
    assert reader.page.url == f"{origin}runs?dataset=default"  # the token is gone from it
    return reader


def at(reader: Reader, pages: Served, path: str) -> Page:
    """Open a path."""
    return reader.opens(f"http://127.0.0.1:{pages.access.port}{path}")


@pytest.mark.nightly(but=15)
@pytest.mark.parametrize("path", PATHS)
def test_every_page_draws_obeys_nobody_and_can_be_read(inside: Reader, pages: Served, path: str) -> None:
    for look in looks(inside.page):
        if not LONG and (path, look) not in SOME_LOOKS:
            continue
        found = at(inside, pages, path)
        assert found.title() != "owned"
        assert found.query_selector("img") is None
        charts = found.eval_on_selector_all(
            "[data-draw], [data-chart]", "all => all.filter(one => one.offsetParent).map(one => one.innerHTML.length)"
        )
        assert all(length > 1000 for length in charts)
        assert (look, layout_faults(found)) == (look, [])
        if not path.startswith("/compare?"):  # tests/browser/test_report_page.py does the rest for it
            assert (look, inside.findings()) == (look, [])


@pytest.mark.nightly(but=3)
@pytest.mark.parametrize("path", ERRORS)
def test_errors_can_be_read(inside: Reader, pages: Served, path: str) -> None:
    for look in looks(inside.page):
        if LONG or (path, look) in SOME_LOOKS:
            found = at(inside, pages, path)
            assert (look, layout_faults(found), inside.findings()) == (look, [], [])
    refused = [fault for fault in inside.faults if "status of 40" in fault]
    assert len(refused) == (len(LOOKS) if LONG else 1)
    inside.faults[:] = [fault for fault in inside.faults if fault not in refused]


@pytest.mark.nightly
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
    expect(found.locator("td.name > a:first-child")).to_have_text(["old", "new", "third"])
    assert "q=third" in found.url
    assert found.is_checked("input[aria-label='compare new']")
    found.reload()
    expect(found.locator("td.name > a:first-child")).to_have_text(["old", "new", "third"])


@pytest.mark.nightly
def test_the_lists_of_any_group_are_asked_for(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/compare?run=1&run=2")
    found.fill("[data-part=search]", "q39")
    found.click("[data-part=rows] a:text-is('q39')")
    expect(found.locator("[data-part=group]")).to_contain_text("Query q39")
    expect(found.locator("[data-part=lists-rows] tr").first).to_contain_text("doc")
    expect(found.locator("[data-part=query]")).to_have_text("of tents")
    expect(found.locator("[data-part=lists-rows]")).to_contain_text("Third")
    assert found.is_hidden("[data-part=not-here]")
    assert any("/compare/lists?" in url and url.endswith("group=q39") for url in inside.requests)
    found.click("#here a:text-is('in every run')")
    found.wait_for_selector("html[data-ready=yes]")
    expect(found.locator("h1")).to_have_text("Query q39")
    expect(found.locator("h2").nth(1)).to_have_text("Its lists in old and new")


def test_a_hostile_group_is_found_again(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/groups?dataset=default&q=onerror")
    found.click("td.name a")
    found.wait_for_selector("html[data-ready=yes]")
    expect(found.locator("h1")).to_contain_text("\\u202e")
    found.click("text=show the lists in the two chosen runs")
    expect(found.locator("h1")).to_contain_text("onerror")


@pytest.mark.nightly
def test_compare_waits_for_a_tick(inside: Reader, pages: Served) -> None:
    found = at(inside, pages, "/runs?dataset=default")
    button = found.locator("button.main")
    expect(button).to_be_disabled()
    expect(button).to_have_text("tick a run to compare")
    own = found.locator("input[aria-label='compare old']")
    expect(own).to_be_disabled()  # the baseline itself
    expect(own).to_have_attribute("title", "this run is the baseline")
    found.check("input[aria-label='new is the baseline']")
    expect(own).to_be_enabled()
    found.check("input[aria-label='old is the baseline']")
    found.check("input[aria-label='compare new']")
    found.check("input[aria-label='compare third']")
    expect(button).to_be_enabled()
    expect(button).to_have_text("compare 2 runs with the baseline")
    button.click()
    found.wait_for_selector("html[data-ready=yes]")
    assert [word for word in ("q=", "sort=", "tag=") if word in found.url] == ["sort="]  # nothing empty is in it


@pytest.mark.nightly
def test_without_a_script_the_server_says_what_to_tick(browser: Browser, pages: Served) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        found = context.new_page()
        found.goto(pages.address)
        found.click("button.main")
        expect(found.locator("main")).to_contain_text("choose a baseline and one run or more to compare with it")
        found.click("text=Runs, with your choices")
        found.check("input[aria-label='compare new']")
        found.click("button.main")
        expect(found.locator("h1").first).to_contain_text("new")


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Twelve nightly runs with tags and parameters; better from the fifth on, and the last but one is bad."""
    folder = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(40)
    groups, items = [f"query {number}" for number in range(60)], [f"item {number}" for number in range(20)]
    rows = {"group": np.repeat(groups, 20).tolist(), "item": items * 60}
    grades = rng.integers(0, 4, 1200)
    with nt.Tracker(folder / "runs.db") as tracker:
        for number in range(12):
            noise = 3.0 if number == 10 else 1.8 if number < 4 else 1.0
            tracker.ingest(
                {**rows, "score": (grades + rng.normal(0, noise, 1200)).tolist()},
                labels={**rows, "label": grades.tolist()} if not number else None,
                name=f"nightly-{number:02d}-of-the-dense-retriever",
                tags={"branch": "main", "model": "dense", "stage": "nightly"},
                parameters={"layers": "6", "learning_rate": "1e-1" if number == 10 else "1e-4", "pooling": "mean"},
                metrics=["ndcg@10", "p@5"],
            )
        tracker.set_groups({"group": groups, "device": ["phone", "tv", "desk"] * 20})
    with served(f"sqlite:///{folder / 'runs.db'}") as found:
        yield found


class Hand:
    """Counts what a person does on a page: each click and each key."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.n = 0

    def clicks(self, selector: str) -> None:
        """Click, and wait until the page has drawn all that it then shows."""
        self.page.locator(selector).first.click()
        self.n += 1
        self.page.wait_for_selector("html[data-ready=yes]")


BAD = "nightly-10-of-the-dense-retriever"


def test_the_newest_bad_run_is_found_compared_understood_and_shared(
    reader: Reader, work: Served, tmp_path: Path
) -> None:
    origin = f"http://127.0.0.1:{work.access.port}/"
    reader.own = (*reader.own, origin)
    reader.page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=origin)
    hand = Hand(reader.opens(work.address))
    found = hand.page
    worse = found.locator("tr:has(td.against a.worse)")  # the newest run is first
    expect(worse.first.locator("td.name a").first).to_have_text(BAD)
    n_to_find = hand.n
    hand.clicks("td.against a.worse")
    n_to_compare = hand.n - n_to_find
    expect(found.locator("h1").first).to_contain_text(BAD)
    made = found.locator("section", has_text="Parameters, tags and commits").last
    expect(made).to_contain_text("learning_rate")  # why it may be: what differs is seen without a click
    with found.expect_download() as download:
        hand.clicks("text=Download this page (HTML)")
    n_to_share = hand.n - n_to_find - n_to_compare
    hand.clicks("p:has-text('Lost most') a")
    expect(found.locator("main")).to_contain_text("fell")
    n_to_see_why = hand.n - n_to_find - n_to_compare - n_to_share
    found.click("#copy")
    expect(found.locator("#copied")).to_have_text("copied")
    shared = found.evaluate("navigator.clipboard.readText()")
    assert shared == found.url
    assert "token" not in shared
    again = found.context.new_page()
    again.goto(shared)
    expect(again.locator("h1")).to_have_text(found.locator("h1").inner_text())
    counts = {"find": n_to_find, "compare": n_to_compare, "see why": n_to_see_why, "share": n_to_share}
    assert counts == {"find": 0, "compare": 1, "see why": 1, "share": 1}
    download.value.save_as(tmp_path / download.value.suggested_filename)
    found = reader.opens((tmp_path / "compare.html").as_uri())  # which asks nothing of the server
    expect(found.locator("h1").first).to_contain_text(BAD)
    expect(found.locator("[data-part=lists-rows] tr").first).to_contain_text("item")
    assert [url for url in reader.requests[-1:] if url.startswith("http")] == []


def test_a_point_of_a_history_opens_its_run_and_a_change_its_comparison(reader: Reader, work: Served) -> None:
    reader.own = (*reader.own, f"http://127.0.0.1:{work.access.port}/")
    reader.opens(work.address)
    found = reader.opens(f"{reader.own[-1]}history?dataset=default")
    found.locator(".mark-symbol path").nth(10).click()
    found.wait_for_selector("html[data-ready=yes] .verdict")
    expect(found.locator("h1")).to_contain_text(BAD)
    expect(found.locator(".verdict")).to_contain_text("Is it better than the run before (nightly-09-of-the-dense")
    expect(found.locator(".verdict")).to_contain_text("No: worse by")
    fifth = BAD.replace("10", "04")
    for link, run in ((f"li:has-text('stepped up at {fifth}') a", fifth), (f"tr:has-text('{BAD}') td.delta a", BAD)):
        found = reader.opens(f"{reader.own[-1]}history?dataset=default")
        found.click(link)
        expect(found.locator("h1").first).to_contain_text(f"Is {run} better than ")


def test_every_page_is_a_file_of_its_own(reader: Reader, work: Served, tmp_path: Path) -> None:
    origin = f"http://127.0.0.1:{work.access.port}/"
    reader.own = (*reader.own, origin)
    reader.opens(work.address)
    for path in (
        "runs?dataset=default",
        "run?run=11",
        "history?dataset=default",
        "group?dataset=default&group=query+3",
    ):
        found = reader.opens(origin + path)
        heading, n_charts = found.locator("h1").inner_text(), found.locator("[data-draw] svg.marks").count()
        with found.expect_download() as download:
            found.click("footer a:text-is('HTML')")
        download.value.save_as(tmp_path / "page.html")
        n = len(reader.requests)
        found = reader.opens((tmp_path / "page.html").as_uri())
        expect(found.locator("h1")).to_have_text(heading)
        assert found.locator("[data-draw] svg.marks").count() == n_charts
        assert [url for url in reader.requests[n:] if url.startswith("http")] == []
        assert found.locator("a[href^='/'], form:visible input:visible").count() == 0
        for width in (1440, 390):
            found.set_viewport_size({"width": width, "height": 900})
            assert (path, width, layout_faults(found)) == (path, width, [])


def test_a_run_takes_little_of_a_phone(reader: Reader, work: Served) -> None:
    reader.own = (*reader.own, f"http://127.0.0.1:{work.access.port}/")
    reader.page.set_viewport_size({"width": 390, "height": 844})
    found = reader.opens(work.address)
    heights = found.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.getBoundingClientRect().height)")
    assert max(heights) < 100
    expect(found.locator("tbody details[open]")).to_have_count(0)
    found.locator("tbody summary").first.click()
    expect(found.locator("tbody details[open] a.tag").first).to_be_visible()


WANTED = {
    "/groups?dataset=default": "td.right",
    "/leaderboard?dataset=default": "td a:visible:has-text('compare')",
    "/history?dataset=default": "td:nth-child(3)",
    "/labels?dataset=default": "[aria-label='versions of the labels'] td:nth-child(3)",
    "/group?dataset=default&group=query+3": "[aria-label=runs] td:nth-child(5)",
    "/group?dataset=default&run=10&run=11&group=query+3": ".explained td:nth-last-child(2)",
}
"""What one came for on each page."""


@pytest.mark.nightly
def test_what_one_came_for_is_seen_first_on_a_phone(reader: Reader, work: Served) -> None:
    origin = f"http://127.0.0.1:{work.access.port}/"
    reader.own = (*reader.own, origin)
    reader.page.set_viewport_size({"width": 390, "height": 844})
    reader.opens(work.address)
    for path, cells in WANTED.items():
        found = reader.opens(f"{origin}{path[1:]}")
        right = found.locator(f"main {cells}").evaluate_all("all => all.map(one => one.getBoundingClientRect().right)")
        edge = found.locator("main .scroll").first.evaluate("one => one.getBoundingClientRect().right")
        assert (path, bool(right), max(right, default=0) <= edge + 1) == (path, True, True)


@pytest.mark.nightly
def test_judge_and_groups_are_chosen_at_once(reader: Reader, work: Served) -> None:
    origin = f"http://127.0.0.1:{work.access.port}/"
    reader.own = (*reader.own, origin)
    reader.opens(work.address)
    found = reader.opens(f"{origin}groups?dataset=default")
    found.select_option("select[name=sort]", "worst")
    found.wait_for_url("**sort=worst**")
    found.wait_for_selector("html[data-ready=yes]")
    found.locator("label:has-text('device') select").select_option("device=tv")
    found.wait_for_url("**where=device%3Dtv**")
    expect(found.locator("h2").first).to_contain_text("20 queries found")
    values = [float(text) for text in found.locator("tbody td.right").all_inner_texts()]
    assert values == sorted(values)
    found.click("a.tag.on")
    expect(found.locator("h2").first).to_contain_text("60 queries")

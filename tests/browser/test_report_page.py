"""The report page in a browser: it draws, keeps one group chosen everywhere, and obeys nobody's text."""

import re
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from layout import layout_faults, looks
from playwright.sync_api import expect
from web_reader import COLOURS, Reader

import ndcg_tracker as nt

HOSTILE = "</script><img src=x onerror=document.title='owned'>\u202e"


def shop(folder: Path, n_groups: int = 40, first: str = "q0") -> nt.Tracker:
    """Return a database with three runs; the worst group of the second is the first."""
    random = np.random.default_rng(7)
    names = [first, *(f"q{number}" for number in range(1, n_groups))]
    groups, items = np.repeat(names, 15), np.tile([f"doc {number}" for number in range(15)], n_groups)
    labels = random.integers(0, 4, groups.size) * (random.random(groups.size) < 0.4)
    labels[:3] = 3
    score = labels + random.normal(0, 1.5, groups.size)
    score[:15] = labels[:15]
    worse = score + random.normal(0, 0.7, groups.size)
    worse[:15] = -labels[:15]
    worse[15 * 30 :] = score[15 * 30 :]
    tracker = nt.Tracker(folder / "runs.db")
    frame = {"group": groups, "item": items, "label": labels.astype(float)}
    for name, scores in (("old", score), ("new", worse), ("third", score + 0.1 * labels)):
        tracker.ingest({**frame, "score": scores}, name=name, metrics=["ndcg@10", "AP"])
    tracker.set_groups({"group": names, "country": ["de" if n % 3 else "fr" for n in range(n_groups)]})
    titles = {"text": ["of tents", None], "title": [None, "A tenth document"]}
    tracker.add_texts({"group": ["q9", None], "item": [None, "doc 10"], **titles})
    return tracker


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of two runs."""
    folder = tmp_path_factory.mktemp("report")
    with shop(folder) as tracker:
        tracker.report("old", "new", texts=True).save(folder / "report.html")
    return (folder / "report.html").as_uri()


@pytest.fixture(scope="module")
def regressed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of a run that is better, but for one of three products, and has a gate's decision."""
    folder = tmp_path_factory.mktemp("regressed")
    random = np.random.default_rng(3)
    names, n_items = [f"q{number}" for number in range(90)], 12
    groups, items = np.repeat(names, n_items), np.tile([f"doc {number}" for number in range(n_items)], 90)
    labels = random.integers(0, 4, groups.size)
    old = labels + random.normal(0, 2, groups.size)
    gain = np.where(np.repeat(np.arange(90) % 3 == 0, n_items), -0.4, 1.0)
    with nt.Tracker(folder / "runs.db") as tracker:
        for name, scores in (("old", old), ("new", old + gain * labels)):
            tracker.ingest({"group": groups, "item": items, "label": labels.astype(float), "score": scores}, name=name)
        products = ["bike light" if n % 3 == 0 else ("tent", "lamp")[n % 2] for n in range(90)]
        tracker.set_groups({"group": names, "product": products})
        tracker.gate("new", baseline="old", margin=0.05)
        tracker.report("old", "new").save(folder / "report.html")
    return (folder / "report.html").as_uri()


def test_the_first_screen_has_the_answer_the_gate_and_what_regressed(reader: Reader, regressed: str) -> None:
    found = reader.opens(f"{regressed}#group=q5")
    assert found.inner_text("h1") == "Is new better than old?"
    assert found.inner_text(".verdict").startswith("Yes: better by ")
    assert len(found.inner_text(".verdict").split()) <= 8
    assert re.fullmatch(r"fell: bike light -0\.\d\d", found.inner_text("p:has(> a.worse)"))
    assert "last gate: PASS at margin 0.05" in found.inner_text("main")
    assert "worst loss seen 0." in found.inner_text("main")
    box = found.locator(".picture").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 500
    assert found.locator("details[id^=statistics]").first.get_attribute("open") is None
    found.click("a[data-find='bike light']")
    assert found.inner_text("[data-part=count]") == "30 of 30 groups shown"
    found.click("p > a.worse")
    assert found.url == f"{regressed}#forest-0"
    assert found.inner_text("[data-part=group]").startswith("Query q5:")  # the one that was chosen


def test_what_changed_most_is_coloured_and_the_worst_comes_first(reader: Reader, regressed: str) -> None:
    found = reader.opens(regressed)
    found.select_option("[data-part=color]", "product")
    expect(found.locator("[data-chart=scatter] svg.marks")).to_contain_text("bike light")
    legend = found.locator("[data-chart=scatter] svg .role-legend-label text").all_text_contents()
    assert legend[0] == "bike light"


@pytest.mark.nightly
def test_a_whole_column_is_pointed_at(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    box = found.locator("[data-chart=every] svg .mark-rect path").last.bounding_box()
    assert box is not None
    assert box["height"] == pytest.approx(200, abs=2)
    tops = found.locator("[data-chart=every] svg .mark-rect").last.locator("path")
    place = tops.nth(12).bounding_box()  # of a group that changed little
    assert place is not None
    found.mouse.click(place["x"] + place["width"] / 2, place["y"] + 5)
    expect(found).to_have_url(re.compile("#group="))


def test_titles_and_queries_stand_where_ids_do(reader: Reader, page: str) -> None:
    found = reader.opens(f"{page}#group=q9")
    expect(found.locator("[data-part=moves] svg.marks")).to_contain_text("A tenth document")
    assert found.inner_text("[data-part=query]") == "of tents"
    assert found.inner_text("#here").startswith("Query q9 (of tents): ")
    assert "doc 10: A tenth document (grade" in (found.text_content("main") or "")


def test_one_minus_sign(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    text = found.inner_text("main") + "".join(found.locator("svg text").all_text_contents())
    assert "-0." in text
    assert "\u2212" not in text


@pytest.mark.nightly
@pytest.mark.parametrize("which", ["two runs", "several", "regressed"])
def test_nothing_scrolls_sideways_is_cut_or_stands_on_something_else(
    reader: Reader, page: str, regressed: str, which: str, tmp_path: Path
) -> None:
    address = {"two runs": page, "regressed": regressed}.get(which)
    if address is None:
        with shop(tmp_path) as tracker:
            tracker.report("old", "new", "third", texts=True).save(tmp_path / "report.html")
        address = (tmp_path / "report.html").as_uri()
    for look in looks(reader.page):
        found = reader.opens(address)
        for summary in found.locator("summary:visible").all():
            if not summary.get_attribute("aria-label"):  # the menu of a chart floats above it
                summary.click()
        assert (look, layout_faults(found)) == (look, [])
        assert (look, reader.findings()) == (look, [])


def test_every_chart_is_drawn(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.title() == "Is new better than old?"
    drawn = found.eval_on_selector_all(
        ".chart", "all => all.map(one => [one.dataset.chart ?? one.dataset.part, one.querySelectorAll('svg *').length])"
    )
    assert [name for name, _ in drawn] == ["every", "scatter", "histogram", "forest", "cutoffs", "moves", "history"]
    assert all(n_elements > 20 for _, n_elements in drawn)
    assert reader.requests == [page]


@pytest.mark.nightly
def test_a_group_that_is_chosen_is_shown_everywhere_and_in_the_address(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.inner_text("[data-part=group]").startswith("Query q0: 1.0000 → ")  # the worst, until one is chosen
    found.click("[data-part=rows] a:text-is('q7')")
    expect(found.locator("[data-part=group]")).to_contain_text("Query q7:")
    assert found.url == f"{page}#group=q7"
    assert found.inner_text("tr.chosen td:first-child") == "q7"
    assert found.inner_text("#here").startswith("Query q7:")
    assert found.inner_text("[data-part=command]") == (
        "ndcg-track explain old new --dataset default --metric ndcg@10 --group q7"
    )
    assert found.locator("[data-part=lists-rows] tr").count() == 10
    before = found.locator("[data-chart=scatter] svg.marks").inner_html()
    found.goto(f"{page}#group=q3")  # as a link to it would
    expect(found.locator("[data-part=group]")).to_contain_text("Query q3:")
    found.wait_for_timeout(500)  # the chart is drawn again
    assert found.locator("[data-chart=scatter] svg.marks").inner_html() != before


def test_a_click_on_a_chart_chooses_a_group(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    found.locator("[data-chart=every] svg .mark-rect path").last.click()
    expect(found).to_have_url(re.compile("#group="))
    key = found.evaluate("new URLSearchParams(location.hash.slice(1)).get('group')")
    assert found.inner_text("[data-part=group]").startswith(f"Query {key}:")
    assert found.inner_text("tr.chosen td:first-child") == key


def test_the_table_is_searched_and_sorted(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.inner_text("[data-part=count]") == "40 of 40 groups shown"
    deltas = [float(text) for text in found.locator("[data-part=rows] td:last-child").all_inner_texts()]
    assert deltas == sorted(deltas)
    assert deltas[0] < 0 < deltas[-1]
    found.fill("[data-part=search]", "fr")
    assert found.inner_text("[data-part=count]") == "14 of 14 groups shown"
    found.fill("[data-part=search]", "Q1")
    found.click("button[data-sort=group]")
    assert found.locator("[data-part=rows] td:first-child").all_inner_texts() == [
        "q1", *(f"q{number}" for number in range(10, 20)),
    ]  # fmt: skip
    assert found.get_attribute("th:has(button[data-sort=group])", "aria-sort") == "ascending"


@pytest.mark.nightly
def test_colours_by_an_attribute(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    found.select_option("[data-part=color]", "country")
    expect(found.locator("[data-chart=every] svg.marks")).to_contain_text("country")
    assert set(found.locator("[data-chart=every] svg .role-legend-label text").all_text_contents()) == {"de", "fr"}


@pytest.mark.nightly
def test_it_can_be_read_with_a_keyboard(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    found.focus("[data-part=search]")
    found.keyboard.type("q12")
    for _ in range(12):
        found.keyboard.press("Tab")
        if found.evaluate("document.activeElement.textContent") == "q12":
            break
    found.keyboard.press("Enter")
    expect(found.locator("[data-part=group]")).to_contain_text("Query q12:")


@pytest.mark.nightly
def test_several_candidates_have_a_tab_each(reader: Reader, tmp_path: Path) -> None:
    with shop(tmp_path) as tracker:
        tracker.report("old", "new", "third").save(tmp_path / "report.html")
    found = reader.opens((tmp_path / "report.html").as_uri())
    assert found.title() == "Is one of 2 candidates better than old?"
    assert found.locator("[role=tab]").all_inner_texts() == ["new", "third"]
    assert found.locator("[data-overview=heatmap] svg .mark-rect path").count() == 6
    found.focus("[role=tab][aria-selected=true]")
    found.keyboard.press("ArrowRight")
    expect(found).to_have_url(re.compile("#pair=1$"))
    found.wait_for_selector("#pair-1 [data-chart=every] svg")
    assert found.is_hidden("#pair-0")
    assert found.inner_text("#pair-1 h2.name") == "third against old"
    assert reader.serious_faults() == []


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_for_screen_readers_and_weak_eyes(reader: Reader, page: str, scheme: str) -> None:
    reader.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    found = reader.opens(page)
    for summary in found.locator("summary:visible").all():
        summary.click()
    assert reader.serious_faults(*(COLOURS if scheme == "dark" else ())) == []


@pytest.mark.nightly
def test_a_phone_scrolls_in_one_direction_only(reader: Reader, page: str) -> None:
    reader.page.set_viewport_size({"width": 360, "height": 740})
    found = reader.opens(page)
    assert found.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.nightly
def test_it_prints_whole_without_what_only_a_screen_can_do(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.pdf().startswith(b"%PDF")
    found.set_viewport_size({"width": 700, "height": 1000})
    found.emulate_media(media="print")
    assert found.locator(".controls label:visible, .on-screen:visible, details:visible").count() == 0
    assert found.inner_text("[data-part=count]") == "40 of 40 groups shown"
    shape = found.locator("[data-chart=scatter] svg.marks").evaluate(
        "svg => [svg.clientWidth / svg.clientHeight, svg.viewBox.baseVal.width / svg.viewBox.baseVal.height]"
    )
    assert shape[0] == pytest.approx(shape[1], rel=0.02)


def test_hostile_names_are_text(reader: Reader, tmp_path: Path) -> None:
    with shop(tmp_path, first=HOSTILE) as tracker:
        tracker.rename_run("new", HOSTILE)
        tracker.report("old", HOSTILE).save(tmp_path / "report.html")
    found = reader.opens((tmp_path / "report.html").as_uri() + f"#group={quote(HOSTILE[:-1])}%5Cu202e")
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert found.inner_text("[data-part=group]").startswith(f"Query {shown}:")
    assert found.title() == f"Is {shown} better than old?"
    assert found.locator("img").count() == 0
    assert f"--group '{HOSTILE}".replace("'owned'", """'"'"'owned'"'"'""") in found.inner_text("[data-part=command]")

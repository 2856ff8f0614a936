"""The report page in a browser: it draws, keeps one group chosen everywhere, and obeys nobody's text."""

import re
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
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
    return tracker


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a report of two runs."""
    folder = tmp_path_factory.mktemp("report")
    with shop(folder) as tracker:
        tracker.report("old", "new").save(folder / "report.html")
    return (folder / "report.html").as_uri()


def test_every_chart_is_drawn(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.title() == "new against old"
    drawn = found.eval_on_selector_all(
        ".chart", "all => all.map(one => [one.dataset.chart ?? one.dataset.part, one.querySelectorAll('svg *').length])"
    )
    assert [name for name, _ in drawn] == ["every", "scatter", "histogram", "forest", "cutoffs", "moves", "history"]
    assert all(n_elements > 20 for _, n_elements in drawn)
    assert reader.requests == [page]


def test_a_group_that_is_chosen_is_shown_everywhere_and_in_the_address(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.inner_text("[data-part=group]").startswith("Group q0: 1.0000 → ")  # the worst, until one is chosen
    found.click("[data-part=rows] a:text-is('q7')")
    expect(found.locator("[data-part=group]")).to_contain_text("Group q7:")
    assert found.url == f"{page}#group=q7"
    assert found.inner_text("tr.chosen td:first-child") == "q7"
    assert found.inner_text("#here").startswith("Group q7:")
    assert found.inner_text("[data-part=command]") == (
        "ndcg-track explain old new --dataset default --metric ndcg@10 --group q7"
    )
    assert found.locator("[data-part=lists-rows] tr").count() == 10
    before = found.locator("[data-chart=scatter] svg.marks").inner_html()
    found.goto(f"{page}#group=q3")  # as a link to it would
    expect(found.locator("[data-part=group]")).to_contain_text("Group q3:")
    found.wait_for_timeout(500)  # the chart is drawn again
    assert found.locator("[data-chart=scatter] svg.marks").inner_html() != before


def test_a_click_on_a_chart_chooses_a_group(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    found.locator("[data-chart=every] svg .mark-rect path").last.click()
    expect(found).to_have_url(re.compile("#group="))
    key = found.evaluate("new URLSearchParams(location.hash.slice(1)).get('group')")
    assert found.inner_text("[data-part=group]").startswith(f"Group {key}:")
    assert found.inner_text("tr.chosen td:first-child") == key


def test_the_table_is_searched_and_sorted(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.inner_text("[data-part=count]") == "40 of 40 groups shown"
    deltas = [
        float(text.replace("−", "-")) for text in found.locator("[data-part=rows] td:last-child").all_inner_texts()
    ]
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


def test_colours_by_an_attribute(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    found.select_option("[data-part=color]", "country")
    expect(found.locator("[data-chart=every] svg.marks")).to_contain_text("defrcountry")


def test_it_can_be_read_with_a_keyboard(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    found.focus("[data-part=search]")
    found.keyboard.type("q12")
    for _ in range(12):
        found.keyboard.press("Tab")
        if found.evaluate("document.activeElement.textContent") == "q12":
            break
    found.keyboard.press("Enter")
    expect(found.locator("[data-part=group]")).to_contain_text("Group q12:")


def test_several_candidates_have_a_tab_each(reader: Reader, tmp_path: Path) -> None:
    with shop(tmp_path) as tracker:
        tracker.report("old", "new", "third").save(tmp_path / "report.html")
    found = reader.opens((tmp_path / "report.html").as_uri())
    assert found.title() == "2 candidates against old"
    assert found.locator("[role=tab]").all_inner_texts() == ["new", "third"]
    assert found.locator("[data-overview=heatmap] svg .mark-rect path").count() == 6
    found.focus("[role=tab][aria-selected=true]")
    found.keyboard.press("ArrowRight")
    expect(found).to_have_url(re.compile("#pair=1$"))
    found.wait_for_selector("#pair-1 [data-chart=every] svg")
    assert found.is_hidden("#pair-0")
    assert found.inner_text("#pair-1 h2.name") == "third against old"
    assert reader.serious_faults() == []


@pytest.mark.nightly(but=2)
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
def test_it_prints(reader: Reader, page: str) -> None:
    found = reader.opens(page)
    assert found.pdf().startswith(b"%PDF")


def test_hostile_names_are_text(reader: Reader, tmp_path: Path) -> None:
    with shop(tmp_path, first=HOSTILE) as tracker:
        tracker.rename_run("new", HOSTILE)
        tracker.report("old", HOSTILE).save(tmp_path / "report.html")
    found = reader.opens((tmp_path / "report.html").as_uri() + f"#group={quote(HOSTILE[:-1])}%5Cu202e")
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert found.inner_text("[data-part=group]").startswith(f"Group {shown}:")
    assert found.title() == f"{shown} against old"
    assert found.locator("img").count() == 0
    assert f"--group '{HOSTILE}".replace("'owned'", """'"'"'owned'"'"'""") in found.inner_text("[data-part=command]")

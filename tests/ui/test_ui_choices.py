"""What one chooses stays chosen: judge, version of the labels, metric, and where one goes from an error."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from served import HOSTILE, Served, served
from small_shop import BM25, DENSE, LABELS, frame_of, labels_frame
from test_ui_contents import links, text_of

import ndcg_tracker as nt
from ndcg_tracker.ui.server import PAGES


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One dataset, with two versions of nobody's labels and one of a judge."""
    url = f"sqlite:///{tmp_path_factory.mktemp('ui') / 'runs.db'}"
    with nt.Tracker(url) as tracker:
        shop = {"dataset": "shop", "metrics": ["ndcg@10", "p@5"]}
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, labels=labels_frame(), **shop)
        for judge, grades in (("", {"e": 1, "f": 2}), ("gpt", {"e": 3, "f": 1})):
            labels = labels_frame({**LABELS, "q3": grades})
            tracker.add_labels(labels, dataset="shop", judge=judge, rescore=True)
        tracker.log_results(
            {"q1": 1.0, "q2": 0.5}, name="elsewhere", metric="score", direction="higher", range=(0, 1), dataset="shop"
        )
    with served(url) as pages:
        yield pages


def means(page: str) -> dict[str, str]:
    """Return the mean of each run on the page of runs."""
    return dict(
        re.findall(r'<td class="name"><a [^>]*>(\w+)</a>.*?<td class="right value">([\d.]+|-)', page, re.DOTALL)
    )


def test_one_dataset_opens_directly(judged: Served, shop_pages: Served) -> None:
    answer = judged.get("/")
    assert (answer.status, answer.headers["location"]) == (303, "/runs?dataset=shop")
    assert shop_pages.get("/").status == 200
    assert "Datasets" in text_of(judged.page("/datasets"))


def test_judge_and_version_are_chosen_and_stay_in_every_address(judged: Served) -> None:
    runs = "/runs?dataset=shop"
    every = [means(judged.page(runs + chosen)) for chosen in ("", "&labels=1", "&labels=2", "&judge=gpt")]
    assert every[0] == every[2]
    assert len({shown["dense"] for shown in every}) == 3
    for path in PAGES:
        if path in ("/", "/datasets", "/compare/lists", "/words"):
            continue
        page = judged.page(f"{path}?dataset=shop&run=1&run=2&group=q3&judge=gpt&labels=3")
        own = [
            one for one in links(page) if one.startswith("/") and not one.startswith(("/static", "/datasets", "/words"))
        ]
        lost = [one for one in own if "judge=gpt" not in one or "labels=3" not in one]
        assert lost == ["/"], path
        assert page.count("<form") == page.count('name="judge"'), path
    lists = judged.get("/compare/lists?run=1&run=2&group=q3&labels=1").json()
    assert lists["ideal"] == [["e", 1.0]]
    newest = judged.get("/compare/lists?run=1&run=2&group=q3").json()
    assert newest["ideal"] == [["f", 2.0], ["e", 1.0]]


def test_there_is_nothing_to_choose_where_there_is_one(shop_pages: Served) -> None:
    assert 'class="choices"' not in shop_pages.page("/runs?dataset=shop")


def test_a_judge_or_version_that_is_not_there_is_said(judged: Served) -> None:
    unknown = judged.get("/runs?dataset=shop&judge=ann")
    assert unknown.status == 404
    assert "dataset 'shop' has no labels of judge 'ann'" in text_of(unknown.text)
    other = judged.get("/runs?dataset=shop&judge=gpt&labels=1")
    assert "has no version 1 of the labels of judge 'gpt'" in text_of(other.text)
    assert "/history?dataset=shop" in other.text  # the way to other pages stays


ERRORS = [
    "/compare?dataset=shop&baseline=1&q=dense&tag=branch%3Dmain",
    "/compare?dataset=shop&run=1&run=3&metric=ndcg%4010",
    "/compare?dataset=shop&run=1&run=2&missing=all",
    "/compare?dataset=shop&run=1&run=99",
    "/runs?dataset=shop&metric=x%401",
    "/runs?dataset=shop&judge=ann",
    "/run?dataset=shop&run=77",
    "/group?dataset=shop&group=none",
    "/history?dataset=shop&tag=nonsense",
    "/leaderboard?dataset=shop&metric=map",
    "/groups?dataset=shop&labels=9",
]


@pytest.mark.parametrize("path", ERRORS)
def test_errors_speak_to_a_person_and_keep_the_way_and_the_choices(judged: Served, path: str) -> None:
    answer = judged.get(path)
    assert answer.status in (400, 404)
    said = text_of(re.sub(r"<pre>.*?</pre>|<option.*?</option>", "", answer.text, flags=re.DOTALL))
    assert not re.search(r"--\w|\b(judge|missing|metric|labels|dataset)=", said), said
    assert "Leaderboard" in said  # all pages of the dataset
    assert "All datasets" in said
    for name, value in re.findall(r"[?&](run|baseline|q|tag)=([^&]*)", path):
        kept = answer.text.replace("&amp;", "&").replace("%3D", "=")
        assert f"{name}={value.replace('%3D', '=')}" in kept, name


def test_other_groups_can_be_left_out_where_that_is_asked_for(shop_pages: Served, judged: Served) -> None:
    refused = judged.get("/leaderboard?dataset=shop&missing=nothing")
    assert refused.status == 400
    assert '<select name="missing">' in refused.text
    assert (
        judged.page("/leaderboard?dataset=shop&missing=intersect").count(" selected>without those that only some runs")
        == 1
    )


def test_what_breaks_is_said_with_the_way_back(shop_pages: Served) -> None:
    nothing = shop_pages.get("/nothing?dataset=shop")
    assert nothing.status == 404
    assert "there is no such page" in text_of(nothing.text)
    hostile = shop_pages.get(f"/runs?dataset=shop&metric={HOSTILE.encode().hex()}")
    assert "Runs, as they were chosen" not in text_of(hostile.text)  # it is that page


def test_a_run_without_lists_says_so(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with nt.Tracker(url) as tracker:
        for name, first in (("old", 0.25), ("new", 0.75)):
            results = {"q1": first, "q2": 0.5}
            tracker.log_results(results, name=name, metric="score", direction="higher", range=(0, 1), dataset="shop")
    with served(url) as pages:
        page = text_of(pages.page("/group?dataset=shop&group=q1&run=1&run=2"))
        assert "No lists are stored for old and new." in page
        assert "convention" not in page
        assert "convention" not in text_of(pages.page("/compare?run=1&run=2"))


def test_a_mean_under_older_labels_says_so(judged: Served, tmp_path: Path) -> None:
    assert "labels version" not in text_of(judged.page("/runs?dataset=shop"))
    with nt.Tracker(tmp_path / "runs.db") as tracker:
        for name, run in (("bm25", BM25), ("dense", DENSE)):
            tracker.ingest(frame_of(run), name=name, labels=labels_frame(), dataset="shop")
        tracker.add_labels(labels_frame({**LABELS, "q3": {"e": 1, "f": 2}}), dataset="shop")
        tracker.rescore(["bm25"])
    with served(f"sqlite:///{tmp_path / 'runs.db'}") as pages:
        shown = [f"{row[0]} {row[1]}" for row in re.findall(r">(\w+)</a>(.*?)</tr>", pages.page("/runs"), re.DOTALL)]
        assert ["labels version 1" in row for row in shown if row.startswith(("bm25", "dense"))] == [True, False]


def test_results_of_other_engines_are_under_no_version(judged: Served) -> None:
    metric = quote("external:score(direction=higher, range=0..1)")
    for chosen in ("", "&labels=1"):
        page = text_of(judged.page(f"/group?dataset=shop&group=q1&metric={metric}{chosen}"))
        assert "elsewhere" in page
        assert "labels version" not in text_of(judged.page(f"/runs?dataset=shop&metric={metric}{chosen}"))


def test_a_run_without_results_under_chosen_labels_says_so_with_the_command(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    command = "ndcg-track rescore --all --dataset shop"
    with nt.Tracker(url) as tracker:
        shop = {"dataset": "shop", "metrics": ["ndcg@10"]}
        tracker.ingest(frame_of(BM25), name="bm25", labels=labels_frame(), **shop)
        newer = labels_frame({**LABELS, "q3": {"e": 1, "f": 2}})
        tracker.ingest(frame_of(DENSE), name="dense", labels=newer, **shop)
        with served(url) as pages:
            assert command not in pages.page("/runs?dataset=shop")  # the row of bm25 says that its labels are older
            first = text_of(pages.page("/runs?dataset=shop&labels=1"))
            assert "1 run is not evaluated under version 1 of the labels yet. To evaluate all runs:" in first
            assert f"{command} --labels 1" in first
            assert "not evaluated" in first
            tracker.add_labels(labels_frame({**LABELS, "q3": {"e": 3}}), dataset="shop")
            unused = text_of(pages.page("/runs?dataset=shop"))
            words = "No run is evaluated under version 3 of the labels yet; these means are under version 2 or older"
            assert words in unused
            assert command in unused
            tracker.rescore(dataset="shop")
            assert command not in pages.page("/runs?dataset=shop")


def test_a_run_is_not_compared_with_itself(judged: Served) -> None:
    for path in ("/compare?run=1&run=1", "/compare?baseline=1&run=1"):
        page = judged.get(path)
        assert page.status == 400
        assert "both are the same run, 'bm25' choose another one to compare with it" in text_of(page.text)
    assert "choose a baseline and one run or more" in text_of(judged.get("/compare?run=1").text)


def test_a_command_follows_what_it_is_for(judged: Served) -> None:
    page = text_of(judged.get("/run?run=77").text)
    assert "list all with: ndcg-track runs list" in page
    assert "terminal" not in page
    board = text_of(judged.page("/leaderboard?dataset=shop&tag=a%3Db"))
    assert "no run has these tags; see them with: ndcg-track runs list" in board

"""The rows of a page: those that the command of its question prints."""

import io
import re
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import fields
from urllib.parse import quote

import pytest
from served import Served

from ndcg_tracker.cli.app import run
from ndcg_tracker.storage.marks import DecisionRecord
from ndcg_tracker.ui.server import PAGES

SHOP = ("--dataset", "shop")
SAME = [
    ("/runs?dataset=shop&sort=oldest", ["runs", "list", *SHOP, "--metric", "ndcg@10"]),
    (
        "/runs?dataset=shop&sort=oldest&tag=branch%3Dmain",
        ["runs", "list", *SHOP, "-m", "ndcg@10", "--tag", "branch=main"],
    ),
    ("/run?run=2", ["show", "dense", *SHOP]),
    ("/history?dataset=shop", ["history", *SHOP]),
    ("/history?dataset=shop&last=2&metric=P%405", ["history", *SHOP, "--last", "2", "--metric", "p@5"]),
    ("/leaderboard?dataset=shop&beside=", ["leaderboard", *SHOP]),
    ("/leaderboard?dataset=shop", ["leaderboard", *SHOP, "-m", "ndcg@10", "-m", "P@5"]),
    ("/compare?run=1&run=2", ["compare", "bm25", "dense", *SHOP]),
    ("/compare?run=1&run=2&run=3&metric=P%405", ["compare", "bm25", "dense", "mixed", *SHOP, "--metric", "p@5"]),
    ("/groups?dataset=shop", ["groups", "list", *SHOP]),
    ("/group?dataset=shop&group=q1&run=1&run=2", ["explain", "bm25", "dense", *SHOP, "--group", "q1", "--all"]),
    ("/labels?dataset=shop", ["labels", "list", *SHOP]),
]


def printed(url: str, *words: str) -> str:
    """Return what a command prints."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        code = run(["--db", url, *words])
    assert code == 0
    return out.getvalue()


@pytest.mark.nightly(but=6)
@pytest.mark.parametrize(("path", "words"), SAME, ids=lambda value: value if isinstance(value, str) else "")
def test_a_page_gives_the_rows_of_its_command(filled_url: str, pages: Served, path: str, words: list[str]) -> None:
    for format in ("csv", "json"):
        answer = pages.get(f"{path}&format={format}")
        assert answer.status == 200, answer.text
        assert answer.text == printed(filled_url, *words, "--format", format)
        name = path.partition("?")[0].strip("/")
        assert answer.headers["content-disposition"] == f'attachment; filename="{name}.{format}"'
        assert answer.headers["content-type"].startswith({"csv": "text/csv", "json": "application/json"}[format])


def test_every_page_has_its_rows(shop_pages: Served) -> None:
    asked = "?dataset=shop&run=1&run=2&group=q1"
    for path in PAGES:
        for format in ("html", "csv", "json"):
            answer = shop_pages.get(f"{path}{asked}&format={format}")
            assert answer.status == (404 if path in ("/compare/lists", "/words") else 200), (path, answer.text)
        if path not in ("/", "/compare/lists", "/words"):
            page = shop_pages.page(f"{path}{asked}")
            assert "format=csv" in page, path
            assert "format=json" in page, path
    assert shop_pages.get("/runs?dataset=shop&format=xml").status == 400
    decisions = shop_pages.get("/decisions?dataset=shop&format=csv").text.splitlines()
    assert decisions[0].startswith("id,dataset_id,baseline_run_id,")
    assert {*decisions[0].split(",")} == {one.name for one in fields(DecisionRecord)}
    assert len(decisions) == 3


def test_rows_are_those_that_the_page_was_asked_for(shop_pages: Served) -> None:
    rows = shop_pages.get(f"/runs?dataset=shop&q={quote('layers=6')}&sort=best&page=7&format=csv").text.splitlines()
    assert [row.partition(",")[0] for row in rows] == ["run", "dense"]
    for asked, keys in (("where=device%3Dtv", ["q2"]), ("q=q&sort=best", ["q2", "q3", "q1", "q4", "q5"]), ("q=x", [])):
        page = shop_pages.page(f"/groups?dataset=shop&{asked}")
        assert re.findall(r'class="name"><a [^>]*>(q\d)', page) == keys
        rows = shop_pages.get(f"/groups?dataset=shop&{asked}&format=csv").text.splitlines()
        assert rows[0] == "group,weight,device"
        assert [row.partition(",")[0] for row in rows[1:]] == keys
    page = shop_pages.page("/compare/cutoffs?run=1&run=2&metric=ndcg%4010")
    assert 'href="/compare/cutoffs?run=1&amp;run=2&amp;metric=ndcg%4010&amp;format=csv"' in page

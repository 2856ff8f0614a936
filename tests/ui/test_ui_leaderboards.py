"""The page of a leaderboard: the numbers of the question, several metrics side by side."""

import re

from served import Served
from test_ui_contents import links, text_of

import ndcg_tracker as nt
from ndcg_tracker.words.verdicts import MARKS


def test_it_has_the_numbers_of_the_question(filled_url: str, pages: Served) -> None:
    page = pages.page("/leaderboard?dataset=shop")
    with nt.Tracker(filled_url, read_only=True) as tracker:
        board = tracker.leaderboard(dataset="shop", metrics=["ndcg@10", "p@5"]).leaderboard
    text = text_of(page)
    names = re.findall(r'<td class="left id">(?:<span class="strong">)?<a [^>]*>(\w+)</a>', page)
    assert names == [run.name for run in board.runs]
    for of_metric in board.metrics:
        for standing in of_metric.standings:
            assert f"{standing.mean:.4f}" in text
    assert "~ no difference detected" in text
    assert "Holm-corrected" in text
    assert f"{board.runs[0].name} leads by ndcg@10" in text


def test_columns_order_and_runs_are_chosen(pages: Served) -> None:
    alone = pages.page("/leaderboard?dataset=shop&beside=")
    assert "P@5</a></th>" not in alone
    by_other = next(
        one for one in links(pages.page("/leaderboard?dataset=shop")) if "metric=P%405" in one and "beside" in one
    )
    assert "leads by P@5" in text_of(pages.page(by_other))
    assert "2 runs on shop" in text_of(pages.page("/leaderboard?dataset=shop&tag=branch%3Dmain"))
    newest = text_of(pages.page("/leaderboard?dataset=shop&last=2"))
    assert "2 runs on shop" in newest
    assert "The newest 2 of 3 runs." in newest
    one = text_of(pages.page("/leaderboard?dataset=shop&tag=branch%3Dtrial"))
    assert "a leaderboard needs two runs or more with ndcg@10, but there is 1" in one


def test_signs_are_those_of_compare_and_explained(pages: Served) -> None:
    board = pages.page("/leaderboard?dataset=shop")
    assert re.search(r'<td class="left verdict"><a href="/compare[^"]*">~ compare</a></td>', board)
    assert re.search(r'<a class="same" href="/compare[^"]*">~ [+-]0', pages.page("/runs?dataset=shop"))
    assert 'href="/words"' in board
    explained = text_of(pages.page("/words"))
    for mark in MARKS.values():
        assert f"{mark.glyph} {mark.word} {mark.meaning}" in explained

"""Texts behind ids: shown in every format, linked to the web only, and never markup."""

import json
import re
from dataclasses import replace

import markdown_it
import pytest
from explained import group_explanation
from test_hostile_ids import harmful
from test_html import Page

from ndcg_tracker.questions.explain.decide import GroupExplanation
from ndcg_tracker.questions.explain.say import explanation_said
from ndcg_tracker.render.report import LONGEST, query_words, text_cell, text_words, web_address
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.words.texts import GroupTexts, Text

NO_LINKS = (
    "javascript:alert(1)",
    "JAVASCRIPT:alert(1)",
    "java\tscript:alert(1)",
    " https://shop.example",
    "\x01https://shop.example",
    "https://shop.example/\u202e",
    "https://shop.example/a b",
    "https://shop.example/\n",
    "https:shop.example",
    "https:///shop",
    "https://",
    "//shop.example/1",
    "/etc/passwd",
    "data:text/html,<script>alert(1)</script>",
    "vbscript:x",
    "file:///etc/passwd",
    "ftp://shop.example/1",
    "mailto:a@shop.example",
    "https:\\\\shop.example",
    "blob:https://shop.example/1",
    "shop.example",
    "",
)


def explained(query: Text | None = None, **items: Text) -> GroupExplanation:
    return replace(group_explanation(), texts=GroupTexts(query, items))


@pytest.mark.parametrize("url", NO_LINKS)
def test_no_link_to_anything_but_the_web(url: str) -> None:
    assert web_address(url) == ""
    assert text_cell(Text(title="Tent", url=url)).link == ""
    told = explained(Text("tent", url=url), d1=Text(title="Tent", url=url))
    html = explanation_said(told).in_format("html")
    assert {tag for tag, _ in Page(html).tags}.isdisjoint({"a", "script"})
    if url:
        assert f"Tent ({visible(url)})" in Page(html).text
        assert json.loads(explanation_said(told).in_format("json"))["items"][0]["url"] == url


def test_a_link_is_an_address_whose_signs_mean_nothing_elsewhere() -> None:
    url = "https://shop.example/a(1)[2]<b>|`c`\"'?q=1&amp=2&x=$y$#top"
    link = web_address(url)
    assert link == "https://shop.example/a%281%29%5B2%5D%3Cb%3E%7C%60c%60%22%27?q=1&amp=2&x=%24y%24#top"
    assert web_address("HTTP://shop.example") == "HTTP://shop.example"
    told = explained(d1=Text(title="Tent [x](y) | *z*", url=url))
    tags = Page(explanation_said(told).in_format("html")).tags
    assert [dict(attributes) for tag, attributes in tags if tag == "a"] == [
        {"href": link, "target": "_blank", "rel": "noreferrer noopener"}
    ]
    rendered = markdown_it.MarkdownIt("commonmark").enable("table").render(explanation_said(told).in_format("markdown"))
    assert re.findall("<a [^>]*>", rendered) == [f'<a href="{link.replace("&", "&amp;")}">']
    assert "Tent [x](y) | *z*</a>" in rendered


def test_in_text_a_title_stands_behind_the_item() -> None:
    told = explained(Text("light tent"), d1=Text("passage", "Tent", "https://shop.example/1"), d2=Text("passage two"))
    lines = explanation_said(told).in_format("text").splitlines()
    assert lines[1] == "“light tent”"
    rows = {line[:4].strip(): line.split()[1:4] for line in lines}
    assert rows["item"] == ["title", "grade", "rank"]
    assert (rows["d1"], rows["d2"], rows["d3"]) == (["Tent", "3", "1"], ["passage", "two", "2"], ["1", "5", "→"])
    assert "shop.example" not in explanation_said(told).in_format("text")


def test_without_texts_nothing_is_added() -> None:
    plain = group_explanation()
    unlisted = explained(elsewhere=Text(title="Tent"))
    for format in ("text", "markdown", "json"):
        assert explanation_said(unlisted).in_format(format) == explanation_said(plain).in_format(format)
    assert '"title"' not in explanation_said(plain).in_format("json")
    assert "title" not in explanation_said(plain).in_format("csv").splitlines()[0]


def test_json_and_csv_have_what_was_given() -> None:
    long = "w " * LONGEST
    told = explained(Text("light tent", None, "x:1"), d1=Text(long, "Tent"))
    found = json.loads(explanation_said(told).in_format("json"))
    assert (found["text"], found["url"], "title" in found) == ("light tent", "x:1", False)
    of_items = {item["item"]: {name: item.get(name) for name in ("text", "title", "url")} for item in found["items"]}
    assert of_items["d1"] == {"text": long, "title": "Tent", "url": None}
    assert of_items["d2"] == {"text": None, "title": None, "url": None}
    assert "url" not in found["items"][0]
    header, first = explanation_said(told).in_format("csv").splitlines()[:2]
    assert header.endswith(",grade_baseline,title,text,url")
    assert first.endswith(f",Tent,{long},")


def test_in_text_titles_are_cut_at_their_end() -> None:
    told = explained(d1=Text(title="A tent for two people, in green, with a bag"))
    row = next(
        line for line in explanation_said(told).in_format("text", width=80).splitlines() if line.startswith("d1  ")
    )
    assert row.split()[1:3] == ["A", "tent"], row
    assert "… " in row
    assert "bag" not in row


def test_long_texts_are_cut() -> None:
    assert text_words(Text("x" * 1000)) == "x" * (LONGEST - 1) + "…"
    assert query_words(Text("x" * 1000)) == f"“{'x' * (LONGEST - 1)}…”"
    assert query_words(Text(url="https://shop.example")) == "(https://shop.example)"


def test_no_hostile_text_is_obeyed(hostile_id: str) -> None:
    for url in (hostile_id, f"https://shop.example/{hostile_id}"):
        told = explained(Text(hostile_id, hostile_id, url), d1=Text(hostile_id, hostile_id, url))
        for format in ("text", "markdown", "csv"):
            assert harmful(explanation_said(told).in_format(format)) == set()
        tags = Page(explanation_said(told).in_format("html")).tags
        assert {tag for tag, _ in tags} <= {"div", "p", "strong", "span", "a", "ul", "li"} | {
            "table", "thead", "tbody", "tr", "th", "td", "details", "summary",
        }  # fmt: skip
        for tag, attributes in tags:
            if tag == "a":
                assert [name for name, _ in attributes] == ["href", "target", "rel"]
                assert re.fullmatch(r"https?://[!-~]+", dict(attributes)["href"] or "", re.IGNORECASE)

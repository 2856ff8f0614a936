"""Results as HTML: the tables that the text has, and no id that could become markup."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser

from explained import group_explanation, run_explanation

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_said
from ndcg_tracker.questions.explain.say import explanation_said
from ndcg_tracker.questions.gate.decide import Decision, Rules
from ndcg_tracker.questions.gate.question import GateQuestion
from ndcg_tracker.questions.gate.result import Acknowledgement, Basis, Drift, Gated
from ndcg_tracker.questions.gate.say import gate_said
from ndcg_tracker.render.terminal import visible
from ndcg_tracker.statistics.t_test import TTest

VOID = {"br", "hr", "img", "input", "link", "meta"}


class Page(HTMLParser):
    """A piece of HTML as a browser reads it: its tags with their attributes, its tables, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[tuple[str, str | None], ...]]] = []
        self.open: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data


def gated(comparison: Comparison, text: str) -> Gated:
    """Return an overridden FAIL with an id wherever text from outside can stand."""
    return Gated(
        replace(comparison, metrics=comparison.metrics[:1]),
        Decision(rules=Rules(0.0, "set"), t=TTest(400, -0.0123, None), whole="fail"),
        Basis(GateQuestion(candidate="dense", baseline="bm25"), {}, number=2),
        drift=Drift(text, text, "2026-01-31T08:00:00.000000Z", 2, 0, 3, text, -0.012, -0.015),
        acknowledgement=Acknowledgement(text, text),
    )


def test_a_comparison_has_its_tables(comparison: Comparison) -> None:
    page = Page(comparison_said(comparison).in_format("html"))
    means = page.tables[0]
    assert means[0][:5] == ["", "metric", "bm25", "dense", "delta"]
    assert [row[1] for row in means[1:]] == [metric.metric for metric in comparison.metrics]
    assert means[1][2:5] == ["0.6500", "0.6377", "-0.0123"]
    assert all(len(row) == len(means[0]) for row in means)
    worst = next(table for table in page.tables if table[0][0] == "group")
    assert [row[0] for row in worst[1:]] == [group.group for group in comparison.worst]
    assert {tag for tag, _ in page.tags}.isdisjoint({"script", "style", "a", "img"})


def test_several_candidates_have_an_overview_first(comparison: Comparison) -> None:
    page = Page(comparison_said(comparison, comparison).in_format("html"))
    heads = ["", "run", "metric", "bm25", "mean", "delta", "95% interval", "p", ""]  # the last: marks of footnotes
    assert page.tables[0][0] == heads
    assert len(page.tables[0]) == 1 + 2 * len(comparison.metrics)


def test_explanations_have_their_tables() -> None:
    items = Page(explanation_said(group_explanation()).in_format("html")).tables[0]
    assert items[0] == ["item", "grade", "rank", "before", "after", "change", "what happened"]
    assert ["d1", "3", "1 → 14", "0.5000", "0.0000", "-0.5000", "fell, out of the top 10"] in items
    kinds = Page(explanation_said(run_explanation()).in_format("html")).tables[0]
    assert kinds[0] == ["what happened", "n", "change"]


def test_a_gate_has_its_verdict_first_and_a_table_of_facts(comparison: Comparison) -> None:
    text = gate_said(gated(comparison, "ada")).in_format("html")
    page = Page(text)
    verdict = '<span style="color:#c27c0e">FAIL</span>: dense must not replace bm25 on shop (ndcg@10, margin 0), but'
    assert text.startswith(f"<div><p><strong>{verdict} it was overridden</strong></p>\n<ul><li>delta -0.0123 on these")
    assert "; overridden by ada: ada</li>" in text
    assert all(len(row) == 2 for row in page.tables[0])


def test_numbers_stand_right_and_verdicts_are_coloured(comparison: Comparison) -> None:
    text = comparison_said(comparison).in_format("html")
    assert '<td style="text-align:right">0.6500</td>' in text
    assert '<span style="color:#c27c0e">-0.0123</span>' in text


@cache
def pages_of(text: str, hostile_comparison: Callable[[str], Comparison]) -> list[Page]:
    """Return what is made as HTML, with an id wherever text from outside can stand."""
    return [
        Page(comparison_said(hostile_comparison(text)).in_format("html")),
        Page(gate_said(gated(hostile_comparison(text), text)).in_format("html")),
        Page(explanation_said(group_explanation(text)).in_format("html")),
        Page(explanation_said(run_explanation(text)).in_format("html")),
    ]


def test_no_id_becomes_markup(hostile_id: str, hostile_comparison: Callable[[str], Comparison]) -> None:
    """An HTML parser finds the same tags and attributes whatever the ids are, and every id as text."""
    for hostile, harmless in zip(
        *(pages_of(text, hostile_comparison) for text in (hostile_id, "harmless")), strict=True
    ):
        assert hostile.tags == harmless.tags
        assert visible(hostile_id) in hostile.text

"""Explanations as text, JSON, Markdown and CSV: what a person reads, and what programs get."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import markdown_it
import pytest
from explained import group_explanation, groups_explanation, parts_explanation, run_explanation

from ndcg_tracker.questions.explain.decide import Explanation
from ndcg_tracker.questions.explain.say import (
    explanation_rows,
    explanation_said,
    happened,
)
from ndcg_tracker.render.formats import as_object
from ndcg_tracker.render.report import Format
from ndcg_tracker.words.notes import Note
from ndcg_tracker.words.texts import GroupTexts, Text

ALL_KINDS: list[Callable[[str | None], Explanation]] = [group_explanation, run_explanation, parts_explanation]
HUMAN_FORMATS: list[Format] = ["text", "markdown", "csv"]
GROUP = """\
group q17 fell in ndcg@10: 0.7500 → 0.3755 (-0.3745)
d1 (grade 3) fell from rank 1 to 14 (-0.5000), d3 (grade 1) left from rank 5 (-0.1250) and d5 is
unjudged instead of grade 2 (-0.0625)
dense against bm25 on shop

item         grade    rank  before   after   change  what happened
d1               3  1 → 14  0.5000  0.0000  -0.5000  fell, out of the top 10
d3               1   5 → -  0.1250  0.0000  -0.1250  left the list
d5           2 → -       3  0.0625  0.0000  -0.0625  other grade
d7               1       6  0.0312  0.0000  -0.0312  same rank
d6         - → 1.5       4  0.0000  0.0312  +0.0312  other grade
d4               1   - → 5  0.0000  0.0625  +0.0625  entered the list
d2               2  12 → 2  0.0000  0.2500  +0.2500  rose, into the top 10
(no item)        -       -       -       -  +0.0005  rounding or convention
... and 2 items that changed nothing

note: unjudged items among the first 10: 1 in the baseline, 2 in the candidate

before, after: what the item adds to the group's value; change: its part of the difference
"""
RUNS = """\
dense against bm25 on shop: ndcg@10 0.4000 → 0.4300 (+0.0300, no difference detected), split by item

by what happened to the item
what happened      n   change
rose           1,200  +0.0500
left the list      3  -0.0200

items that gained most
item  group        grade   rank     change
d1    in 2 groups      -      -  +0.000400
d3    q2               -  - → 3  +0.000100

note: 1 group has a result in one run only: left out
note: to see the group that lost most:
      ndcg-track explain bm25 dense --dataset shop --metric ndcg@10 --group q17

change: part of the difference between the means over 1,234 groups; n: items whose contribution
changed

items that cost most
item  group  grade    rank     change
d2    q1         3  1 → 12  -0.000200

by the grade of the item
grade         n   change
2         1,000  +0.0400
1.5         200  -0.0100
unjudged      3  +0.0000

by the rank of the item in the baseline
rank         n   change
1            7  -0.0100
2-3         90  +0.0200
from 1001    6  +0.0200
not listed   1  +0.0000
"""
PARTS = """\
dense (labels version 2) against bm25 (labels version 1) on shop: ndcg@10 0.5000 → 0.7500 (+0.2500)

what changed it, step by step
part      value then   change  step
ranking       0.6250  +0.1250  dense instead of bm25, labels version 1
labels        0.5625  -0.0625  1 grade changed in version 2
coverage      0.7500  +0.1875  2 labels added in version 2, 0 gone

note: to see the ranking's part in detail:
      ndcg-track explain bm25 dense --dataset shop --metric ndcg@10 --labels-baseline 1 --labels-candidate 1
"""
MARKDOWN = """\
### group q17 fell in ndcg@10: 0.7500 → 0.3755 (-0.3745)

d1 (grade 3) fell from rank 1 to 14 (-0.5000), d3 (grade 1) left from rank 5 (-0.1250) and d5 is unjudged \
instead of grade 2 (-0.0625)

dense (labels version 2) against bm25 (labels version 1) on shop

**what changed it, step by step**

| part | value then | change | step |
| --- | ---: | ---: | --- |
| ranking | 0.5000 | -0.2500 | dense instead of bm25, labels version 1 |
| labels | 0.6250 | +0.1250 | 1 grade changed in version 2 |
| coverage | 0.3750 | -0.2500 | 1,200 labels added in version 2, 2 gone |

| item | grade | rank | before | after | change | what happened |
| --- | ---: | ---: | ---: | ---: | ---: | --- |
| d1 | 3 | 1 → 14 | 0.5000 | 0.0000 | -0.5000 | fell, out of the top 10 |
| (no item) | - | - | - | - | +0.0005 | rounding or convention |

... and 6 more items: +0.1250, and 2 items that changed nothing

- note: unjudged items among the first 10: 1 in the baseline, 2 in the candidate

<details><summary>details</summary>

- before, after: what the item adds to the group's value; change: its part of the difference

</details>
"""


@pytest.mark.parametrize(
    ("explanation", "text"), [(group_explanation(), GROUP), (run_explanation(), RUNS), (parts_explanation(), PARTS)]
)
def test_the_text(explanation: Explanation, text: str) -> None:
    assert explanation_said(explanation).in_format("text", detail="all") == text


def test_markdown_with_the_parts_of_a_group() -> None:
    assert explanation_said(group_explanation(versions=(1, 2)), top=1).in_format("markdown") == MARKDOWN


def test_what_costs_most_is_first_where_a_group_fell_and_what_brings_most_where_it_rose() -> None:
    def items(explanation: Explanation) -> list[str]:
        return re.findall(r"^d\d(?=  )", explanation_said(explanation).in_format("text", detail="all"), re.MULTILINE)

    fell = group_explanation()
    assert items(fell) == ["d1", "d3", "d5", "d7", "d6", "d4", "d2"]
    rose = replace(fell, candidate=1.0)
    assert items(rose) == ["d2", "d4", "d6", "d7", "d5", "d3", "d1"]
    text = explanation_said(rose).in_format("text", detail="all").splitlines()
    assert text[:2] == [
        "group q17 rose in ndcg@10: 0.7500 → 1.0000 (+0.2500)",
        "d2 (grade 2) rose from rank 12 to 2 (+0.2500), d4 (grade 1) entered at rank 5 (+0.0625) and d6 is",
    ]


def test_items_with_titles_are_told_by_them() -> None:
    texts = GroupTexts(
        None, {"d1": Text(None, "A tent\u202e for two people and all of their luggage"), "d5": Text("lamp")}
    )
    story = explanation_said(replace(group_explanation(), texts=texts)).in_format("markdown").splitlines()[2]
    assert story == (
        "“A tent\\\\u202e for two people and all of …” (d1, grade 3) fell from rank 1 to 14 (-0.5000), "
        "d3 (grade 1) left from rank 5 (-0.1250) and d5 is unjudged instead of grade 2 (-0.0625)"
    )


def test_of_many_items_those_that_changed_most_are_shown() -> None:
    text = explanation_said(group_explanation(), top=2).in_format("text", detail="all")
    assert re.findall(r"^d\d(?=  )", text, re.MULTILINE) == ["d1", "d2"]
    assert "\n... and 5 more items: -0.1250, and 2 items that changed nothing\n" in text
    everything = explanation_said(group_explanation(), top=None).in_format("text", detail="all")
    assert re.findall(r"^d\d(?=  )", everything, re.MULTILINE) == [f"d{n}" for n in (1, 3, 5, 7, 8, 9, 6, 4, 2)]
    assert "..." not in everything


def test_a_group_that_did_not_change() -> None:
    group = group_explanation()
    same = replace(group, candidate=0.75, items=group.items[-2:], notes=())
    assert (
        explanation_said(same).in_format("text", detail="all")
        == "group q17 did not change in ndcg@10: 0.7500\ndense against bm25 on shop\n"
    )


def test_runs_that_did_not_differ() -> None:
    same = replace(run_explanation(), candidate=0.4, totals=None)
    assert (
        explanation_said(same)
        .in_format("text", detail="all")
        .startswith("dense against bm25 on shop: ndcg@10 did not change: 0.4000\n")
    )


def test_what_no_item_accounts_for_is_shown_unless_it_is_tiny() -> None:
    group = group_explanation()
    for candidate, shown in ((0.375, False), (0.375 + 3e-8, False), (0.3755, True)):
        assert (
            "(no item)" in explanation_said(replace(group, candidate=candidate)).in_format("text", detail="all")
        ) is shown
    totals = run_explanation().totals
    assert totals is not None
    rounded = replace(run_explanation(), totals=replace(totals, remainder=0.001))
    assert explanation_said(rounded).in_format("text", detail="all").count("(no item)") == 3


def test_words_for_what_happened() -> None:
    told = [happened(item) for item in group_explanation().items]
    assert told == [
        "fell from rank 1 to 14", "rose from rank 12 to 2", "left from rank 5", "entered at rank 5",
        "is unjudged instead of grade 2", "is grade 1.5 instead of unjudged", "stayed at rank 6",
        "rose from rank 7 to 1", "rose from rank 8 to 7",
    ]  # fmt: skip


@pytest.mark.parametrize("make", ALL_KINDS)
def test_json_is_the_dict(make: Callable[[str | None], Explanation]) -> None:
    explanation = make(None)
    assert json.loads(explanation_said(explanation).in_format("json")) == as_object(explanation)


def test_json_and_csv_have_all_items_whatever_is_shown() -> None:
    group = group_explanation()
    rows = list(csv.DictReader(io.StringIO(explanation_said(group, top=0).in_format("csv"))))
    assert [row["item"] for row in rows] == [*(f"d{number}" for number in range(1, 10)), ""]
    assert rows[-1]["kind"] == "remainder"
    assert sum(float(row["contribution"]) for row in rows) == pytest.approx(group.delta, abs=1e-12)
    assert {(row["group"], row["metric"]) for row in rows} == {("q17", "ndcg@10")}


def test_csv_of_the_totals() -> None:
    rows = list(csv.DictReader(io.StringIO(explanation_said(run_explanation()).in_format("csv"))))
    assert [(row["table"], row["row"]) for row in rows] == [
        ("kind", "moved_up"), ("kind", "left"), ("grade", "2"), ("grade", "1.5"), ("grade", "unjudged"), ("rank", "1"),
        ("rank", "2-3"), ("rank", "from 1001"), ("rank", "not listed"), ("item", "d1"), ("item", "d2"), ("item", "d3"),
        ("other items", ""), ("remainder", ""),
    ]  # fmt: skip
    assert [rows[10][name] for name in ("n", "contribution", "group", "grade", "rank_baseline", "rank_candidate")] == [
        "1", "-0.0002", "q1", "3.0", "1", "12",
    ]  # fmt: skip


def test_csv_of_the_parts() -> None:
    explanation = parts_explanation()
    rows = explanation_rows(explanation)
    assert [(row["row"], row["n"], row["contribution"]) for row in rows] == [
        ("ranking", None, 0.125), ("labels", 1, -0.0625), ("coverage", 2, 0.1875),
    ]  # fmt: skip


def test_colour_is_for_verdicts_and_parts_have_none() -> None:
    text = explanation_said(group_explanation()).in_format("text", color=True, detail="all")
    assert not re.search("\x1b\\[3[0-9]m", text)
    assert re.sub("\x1b\\[[0-9]+m", "", text) == GROUP


def harmful(printed: str) -> set[str]:
    """Return what a terminal would obey, hide or reorder."""
    return {
        character
        for character in printed
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\n\u200c\u200d"
    }


@pytest.mark.parametrize("format", HUMAN_FORMATS)
def test_no_hostile_id_is_obeyed(format: Format, hostile_id: str) -> None:
    for make in ALL_KINDS:
        assert harmful(explanation_said(make(hostile_id)).in_format(format)) == set()


def test_csv_has_no_formula(hostile_id: str) -> None:
    for make in ALL_KINDS:
        rows = list(
            csv.reader(io.StringIO(explanation_said(make(hostile_id)).in_format("csv"), newline=""), strict=True)
        )
        assert len({len(row) for row in rows}) == 1
        for cell in (cell for row in rows for cell in row):
            number = re.fullmatch(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", cell, re.ASCII | re.IGNORECASE)
            assert number or not cell.lstrip().startswith(("=", "+", "-", "@"))


def test_json_gives_a_hostile_id_back(hostile_id: str) -> None:
    for make in ALL_KINDS:
        printed = explanation_said(make(hostile_id)).in_format("json")
        assert json.loads(printed) == as_object(make(hostile_id))
        assert not {unicodedata.bidirectional(character) for character in printed} & {"RLO", "LRO", "RLE", "LRE"}
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", printed)
        printed.encode()


@cache
def markdown_tags(make: Callable[[str | None], Explanation], text: str) -> list[str]:
    """Return the tags that a CommonMark parser makes of an explanation with this id."""
    parser = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])
    html = parser.render(explanation_said(make(text)).in_format("markdown"))
    return re.findall(r"<[^>]*>", re.sub(' (style|start)="[^"]*"', "", html))


def test_markdown_shows_a_hostile_id_as_text(hostile_id: str) -> None:
    for make in ALL_KINDS:
        assert markdown_tags(make, hostile_id) == markdown_tags(make, "harmless")


def test_groups_that_came_or_went_are_told_first() -> None:
    explanation = groups_explanation()
    lines = explanation_said(explanation).in_format("text", detail="all").splitlines()
    start = lines.index("what changed it, step by step")
    assert lines[start : start + 7] == [
        "what changed it, step by step",
        "part      value then   change  step",
        "groups             -  -0.3000  20 groups came (900 labels), 1 went, 2 undefined between",
        "ranking       0.6250  +0.1250  dense instead of bm25, labels version 1",
        "labels        0.5625  -0.0625  1 grade changed in version 2",
        "coverage      0.7500  +0.1875  100 labels added in version 2, 2 gone",
        "ranking, labels, coverage: over the 30 groups with a value at every step",
    ]
    assert explanation_said(explanation).table().for_programs[1][:4] == [
        ["ndcg@10", "part", "groups", 23, pytest.approx(-0.3), None, None, None, None],
        ["ndcg@10", "part", "ranking", None, 0.125, None, None, None, None],
        ["ndcg@10", "part", "labels", 1, -0.0625, None, None, None, None],
        ["ndcg@10", "part", "coverage", 102, 0.1875, None, None, None, None],
    ]


def test_a_change_without_lists_is_no_rounding() -> None:
    whole = group_explanation(None)
    lacks = Note("group_not_in_run", {"group": "q17", "run": "dense", "value": 0.5})
    text = explanation_said(replace(whole, items=(), notes=(lacks,)), None).in_format("text", detail="all")
    assert "no list is stored" in text
    assert "convention" not in text


def test_a_run_is_called_better_or_worse_only_where_a_test_detects_it() -> None:
    whole = run_explanation()
    heads = [
        explanation_said(replace(whole, verdict=verdict)).in_format("markdown").splitlines()[0]
        for verdict in ("improved", "regressed", "no_difference_detected", None)
    ]
    assert heads == [
        "### dense is better than bm25 on shop: ndcg@10 0.4000 → 0.4300 (+0.0300)",
        "### dense is worse than bm25 on shop: ndcg@10 0.4000 → 0.4300 (+0.0300)",
        "### dense against bm25 on shop: ndcg@10 0.4000 → 0.4300 (+0.0300, no difference detected), split by item",
        "### dense against bm25 on shop: ndcg@10 0.4000 → 0.4300 (+0.0300)",
    ]

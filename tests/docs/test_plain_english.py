"""Pages and texts of the program are plain English: no words to avoid, short sentences, an opening on every page."""

import statistics
from pathlib import Path

import pytest

from tests.docs.prose import Passage, avoided, lengths, page_passages, pages, source_passages, sources

MEDIAN, TAIL, LONGEST = 15, 28, 42  # words per sentence of a page
ROOT = Path(__file__).resolve().parents[2]


def test_pages_hold_no_words_to_avoid() -> None:
    assert [line for page in pages() for passage in page_passages(page) for line in avoided(passage)] == []


def test_texts_docstrings_and_comments_hold_no_words_to_avoid() -> None:
    assert [line for module in sources() for passage in source_passages(module) for line in avoided(passage)] == []


def test_sentences_of_pages_are_short() -> None:
    counts = lengths(passage for page in pages() for passage in page_passages(page))
    assert statistics.median(counts) <= MEDIAN
    assert counts[int(0.95 * (len(counts) - 1))] <= TAIL
    assert counts[-1] <= LONGEST


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_begins_with_what_it_answers(page: Path) -> None:
    title, _, rest = page.read_text("utf-8").partition("# ")[2].partition("\n")
    lines = [line for line in rest.splitlines() if line.strip() and not line.startswith("<!--")]
    first = next(page_passages(page))
    assert title
    assert page.read_text("utf-8").splitlines()[first.line - 1] == lines[0]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("A NaN is no label.", "'is not a ...' or 'has no ...'"),
        ("All are read but for the last.", "'except' or 'apart from'"),
        ("Every change is told.", "say who says it: 'the command prints', 'a note says'"),
        ("The digest stands in the file.", "'is'"),
    ],
)
def test_words_to_avoid_are_found(text: str, instead: str) -> None:
    assert [line.partition("write ")[2] for line in avoided(Passage(ROOT / "README.md", 1, text))] == [instead]


@pytest.mark.parametrize(
    "text",
    [
        "There is no label.",
        "It is no longer open.",
        "NDCG stands for a name.",
        "It stands out.",
        "a stand-in",
        "a standard",
    ],
)
def test_plain_words_pass(text: str) -> None:
    assert avoided(Passage(ROOT / "README.md", 1, text)) == []


def test_sentences_end_at_stops_and_not_at_abbreviations() -> None:
    text = "It reads files, e.g. TREC runs. See [the page](x.md). `gate` answers; 0.5 is a margin! A last one"
    assert Passage(ROOT / "README.md", 1, text).sentences() == [
        "It reads files, e.g. TREC runs.",
        "See [the page](x.md).",
        "`gate` answers; 0.5 is a margin!",
        "A last one",
    ]


def test_prose_of_a_page_is_paragraphs_and_items(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Title\n\nOne [link](a.md),\nand `a b`.\n\n```sh\nno prose\n```\n| a table |\n- an item\n- another\n"
    )
    assert [(p.line, p.text) for p in page_passages(page)] == [
        (3, "One link,\nand Code."),
        (10, "an item"),
        (11, "another"),
    ]

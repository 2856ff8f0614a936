"""Hundreds of hostile ids through every format: nothing obeys them, and JSON gives them back unchanged."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Callable
from functools import cache

import markdown_it
import pytest
from build_logs import commands_in

from ndcg_tracker.compare.results import Comparison
from ndcg_tracker.compare.say import comparison_object, comparison_said
from ndcg_tracker.questions.history.say import HistoryRow, history_said
from ndcg_tracker.render.formats import rows_as
from ndcg_tracker.render.report import Format
from ndcg_tracker.render.terminal import visible

Hostile = Callable[[str], Comparison]
HUMAN_FORMATS: list[Format] = ["text", "markdown", "csv"]


def reports(format: Format, text: str, hostile: Hostile) -> list[str]:
    """Return everything that is ever printed in a format, with the id wherever text from outside can stand."""
    row = HistoryRow(
        run=text, run_id=1, created_at_utc="2025-01-31T09:30:00Z", metric=text, mean=0.5, ci=None, step=True
    )
    return [
        comparison_said(hostile(text)).in_format(format),
        rows_as(format, ["run", text], [(text, 0.5), ("b", [text])]),
        history_said([row, row]).in_format(format),
    ]


def harmful(printed: str) -> set[str]:
    """Return what a terminal would obey, hide or reorder."""
    return {
        character
        for character in printed
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in "\n\u200c\u200d"
    }


def test_there_are_enough_of_them(n_hostile_ids: int) -> None:
    assert n_hostile_ids >= 200


@pytest.mark.parametrize("format", HUMAN_FORMATS)
def test_no_control_characters(format: Format, hostile_id: str, hostile_comparison: Hostile) -> None:
    for printed in reports(format, hostile_id, hostile_comparison):
        assert harmful(printed) == set()
        assert printed.endswith("\n")


STEERING = ("::error::a", "  ::add-mask::a", "\u3000::debug::a", "##[error]a", "a ##[warning]b", "##vso[task.complete]")


@pytest.mark.parametrize("format", [*HUMAN_FORMATS, "json"])
@pytest.mark.parametrize("text", STEERING)
def test_no_command_to_the_log_of_a_build(format: Format, text: str, hostile_comparison: Hostile) -> None:
    for printed in [*reports(format, text, hostile_comparison), rows_as(format, [text], [(text,)])]:
        assert list(commands_in(printed)) == []


@pytest.mark.parametrize("text", STEERING)
def test_what_a_log_would_obey_comes_back_unchanged(text: str) -> None:
    printed = rows_as("json", ["run"], [(text,)])
    assert json.loads(printed) == [{"run": text}]
    if "##" not in text:  # which CSV cannot write another way
        assert list(csv.reader(io.StringIO(rows_as("csv", ["run", "n"], [(text, 1)])))) == [["run", "n"], [text, "1"]]


@cache
def numbers_of_lines(text: str, hostile: Hostile) -> list[int]:
    of_reports = [re.sub(r"\n(worst|best): ", " ", printed) for printed in reports("text", text, hostile)]
    return [printed.count("\n") for printed in of_reports]  # the worst and the best are on one line if they fit


def test_text_has_the_lines_it_has_for_a_harmless_id(hostile_id: str, hostile_comparison: Hostile) -> None:
    assert numbers_of_lines(hostile_id, hostile_comparison) == numbers_of_lines(
        re.sub(r"\S", "r", visible(hostile_id)), hostile_comparison
    )


def test_csv_has_its_rows_and_no_formula(hostile_id: str, hostile_comparison: Hostile) -> None:
    for printed in reports("csv", hostile_id, hostile_comparison):
        rows = list(csv.reader(io.StringIO(printed, newline=""), strict=True))
        assert len({len(row) for row in rows}) == 1
        for cell in (cell for row in rows for cell in row):
            number = re.fullmatch(r"[+-]?\d+(\.\d+)?(e[+-]?\d+)?", cell, re.ASCII | re.IGNORECASE)
            assert number or not cell.lstrip().startswith(("=", "+", "-", "@"))
    listed = list(csv.reader(io.StringIO(rows_as("csv", ["run"], [(hostile_id,)]), newline="")))
    shown = listed[1][0] if listed[1] else ""
    assert shown.removeprefix("'") == visible(hostile_id).removeprefix("'")


def test_json_gives_the_id_back(hostile_id: str, hostile_comparison: Hostile) -> None:
    compared, rows, history = reports("json", hostile_id, hostile_comparison)
    for printed in (compared, rows, history):
        bidi = {
            character for character in printed if unicodedata.bidirectional(character) in ("RLO", "LRO", "RLE", "LRE")
        }
        assert not bidi
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", printed)
        printed.encode()
    assert json.loads(compared) == comparison_object(hostile_comparison(hostile_id))
    assert json.loads(rows)[0]["run"] == hostile_id
    assert json.loads(rows)[1][hostile_id if hostile_id != "run" else "run_2"] == [hostile_id]
    assert json.loads(history)[0]["metric"] == hostile_id


PARSER = markdown_it.MarkdownIt("commonmark").enable(["table", "strikethrough"])


@cache
def markdown_tags(text: str, hostile: Hostile) -> list[str]:
    """Return the tags that a parser makes of the reports with an id."""
    compared, _, history = reports("markdown", text, hostile)
    html = PARSER.render(compared) + PARSER.render(history)
    return re.findall(r"<[^>]*>", re.sub(' (style|start)="[^"]*"', "", html))


def test_markdown_shows_the_id_as_text(hostile_id: str, hostile_comparison: Hostile) -> None:
    """A CommonMark parser with GitHub's tables and struck text finds the id, and no markup of its making."""
    assert markdown_tags(hostile_id, hostile_comparison) == markdown_tags("harmless", hostile_comparison)
    table = PARSER.parse(rows_as("markdown", ["run"], [(hostile_id,)]))
    cells = [token for token in table if token.type == "inline"]
    shown = "".join(child.content for child in cells[1].children or [])
    assert shown.replace("\u200b", "") == visible(hostile_id).strip()


def test_a_lone_surrogate_can_be_printed() -> None:
    for format in HUMAN_FORMATS:
        assert "\\udc80" in rows_as(format, ["run"], [("q\udc80",)]).encode().decode().replace("\\\\", "\\")
    assert json.loads(rows_as("json", ["run"], [("q\udc80",)]).encode()) == [{"run": "q\udc80"}]


@pytest.mark.parametrize("color", [False, True])
def test_only_our_own_styles_are_written(color: bool, hostile_id: str, hostile_comparison: Hostile) -> None:
    printed = comparison_said(hostile_comparison(hostile_id)).in_format("text", color=color)
    assert ("\x1b" in printed) is color
    assert harmful(re.sub("\x1b\\[(0|1|2|33|36)m", "", printed)) == set()

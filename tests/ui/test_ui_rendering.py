"""Small pictures in a line of text."""

import re

import pytest

from ndcg_tracker.errors import InputError
from ndcg_tracker.ui.rendering import Question, position, sparkline


def test_a_sparkline_has_a_gap_where_nothing_is_known() -> None:
    line = sparkline([0.1, 0.3, None, 0.2], [1] * 4)
    assert re.findall(r"[ML]", re.search(r'd="([^"]*)"', line)[1]) == ["M", "L", "M"]  # type: ignore[index]
    assert "4 runs, from 0.1000 to 0.3000, the latest 0.2000" in line
    assert sparkline([], []) == sparkline([None], [1]) == ""
    assert len(re.findall("[ML]", sparkline([number / 1000 for number in range(1000)], [1] * 1000))) <= 120 + 2


def test_a_sparkline_breaks_where_the_labels_change() -> None:
    line = sparkline([0.1, 0.3, 0.2, 0.4], [1, 1, 2, 2])
    assert re.findall(r"[ML]", re.search(r'd="([^"]*)"', line)[1]) == ["M", "L", "M", "L"]  # type: ignore[index]
    assert "the latest 0.4000; the line breaks where the labels change, the latest are version 2" in line


def test_a_position_lies_on_its_line() -> None:
    assert 'cx="4.0"' in position(0.2, 0.2, 0.4)
    assert 'cx="76.0"' in position(0.4, 0.2, 0.4)
    assert 'cx="40.0"' in position(0.2, 0.2, 0.2)
    assert position(None, 0.0, 1.0) == ""


def test_questions() -> None:
    ask = Question([("run", "2"), ("run", "1"), ("run", "2"), ("q", ""), ("page", "0")])
    assert ask.ids("run") == [2, 1]
    assert (ask.text("q"), ask.text("none"), ask.number("none", 7)) == (None, None, 7)
    with pytest.raises(InputError, match="page must be a number from 1, not '0'"):
        ask.number("page", 1)

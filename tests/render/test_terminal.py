"""Escapes and widths."""

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg_tracker.render.terminal import (
    display_width,
    inert_lines,
    padded,
    painted,
    shortened,
    shown_strings,
    visible,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain [/nope] café 検索", "plain [/nope] café 検索"),
        ("a\x1b[2Jb", r"a\x1b[2Jb"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb", r"a\u202eb"),
        ("a\u2028b", r"a\u2028b"),
        ("a\U000e0041b", r"a\U000e0041b"),
        ("a\udc80b", r"a\udc80b"),
        ("\xa0", r"\xa0"),
        ("##[error]a ###[b] ##vso[c] ## a [d] #[e]", r"#\x23[error]a ##\x23[b] #\x23vso[c] ## a [d] #[e]"),
        ("##[a]\n", r"#\x23[a]\n"),
        ("👩‍👧 می‌خواهم 検\u3000索", "👩‍👧 می‌خواهم 検\u3000索"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


@pytest.mark.parametrize("blanks", ["", "  ", "\t", "\u3000", " \u2003"])
def test_no_line_is_a_command_to_the_log_of_a_build(blanks: str) -> None:
    lines = f"run\n{blanks}::error::a  ::b\n: :c\n{blanks}::"
    assert inert_lines(lines) == f"run\n{blanks}\\x3a:error::a  ::b\n: :c\n{blanks}\\x3a:"
    assert inert_lines(inert_lines(lines)) == inert_lines(lines)


@settings(deadline=None)
@given(st.text())
def test_visible_leaves_nothing_to_obey_and_nothing_to_escape_again(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    assert all(unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") for c in shown)
    assert all(unicodedata.category(c) != "Cf" or c in "\u200c\u200d" for c in shown)


@settings(deadline=None)
@given(st.text().map(visible), st.integers(1, 30))
def test_widths_hold(text: str, width: int) -> None:
    cut = shortened(text, width)
    assert display_width(cut) <= width
    assert cut == text or cut.endswith("…")
    assert display_width(padded(cut, width)) == display_width(padded(cut, width, right=True)) == width


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("abc", 3), ("検索", 4), ("ｆ", 2), ("e\u0301", 1), ("🔥", 2), ("ñ", 1)]
)
def test_display_width(text: str, width: int) -> None:
    assert display_width(text) == width


def test_painted_only_if_asked() -> None:
    assert painted("a", "bad", color=True) == "\x1b[33ma\x1b[0m"
    assert painted("a", "bad", color=False) == painted("a", None, color=True) == "a"
    assert painted("", "bad", color=True) == ""


def test_texts_in_any_value() -> None:
    assert shown_strings({"a\x1b": ["\u202e", 1, None]}) == {"a\\x1b": ["\\u202e", 1, None]}

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.ingest.cells import number


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_double_comes_back(value: float) -> None:
    assert number(repr(value).encode()) == value
    assert number(b"%.17e" % value) == value


@given(st.text("0123456789+-.eE_ xnaif٣\n", max_size=8))
def test_nothing_is_taken_that_float_would_not_take_and_little_is_refused(text: str) -> None:
    try:
        value = number(text.encode())
    except ValueError:
        value = math.nan
    if math.isfinite(value):
        assert float(text) == value
        assert set(text) <= set("0123456789+-.eE")
    elif set(text) <= set("0123456789"):
        assert text == ""


@pytest.mark.parametrize("text", ["1", "+1", "-0", "1.", ".5", "1e5", "1E+05", "1e-999", "00.10", "1" * 300])
def test_taken(text: str) -> None:
    assert number(text.encode()) == float(text)


@pytest.mark.parametrize(
    "text",
    ["", ".", "e5", "1e", "1e+", "--1", "nan", "inf", "1_0", "0x1", " 1", "1 ", "1\n", "1,5", "1.5.1", "٣", "1f"],
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a number; write it like 0\.5, -2 or 1e-3$"):
        number(text.encode())


@pytest.mark.parametrize("text", ["1e400", "-1e309", "1" * 400])
def test_beyond_the_doubles(text: str) -> None:
    with pytest.raises(ValueError, match=r"is too large for a double; use a finite number$"):
        number(text.encode())

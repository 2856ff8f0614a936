import datetime
import json
import math
import uuid
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndcg_tracker.errors import InputError
from ndcg_tracker.storage.guard import query_result
from ndcg_tracker.storage.guard.query_result import ResultBuilder, checked_text, normal_value, query_error


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (7, 7),
        (0.1, 0.1),
        ("text", "text"),
        (True, 1),
        (False, 0),
        (Decimal("12345678901234567890"), 12345678901234567890),
        (Decimal("2.50"), 2.5),
        (Decimal("2.0000000000000000"), 2.0),
        (b"\x00\xff", "00ff"),
        (["a", None, 1.5], '["a",null,1.5]'),
        ([[1, 2], [3, 4]], "[[1,2],[3,4]]"),
        ({"b": 1, "a": "é"}, '{"a": "é", "b": 1}'),
        (datetime.datetime(2024, 1, 2, 3, 4, 5), "2024-01-02 03:04:05"),
        (datetime.date(2024, 1, 2), "2024-01-02"),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
)
def test_normal_value(value: object, expected: object) -> None:
    normalised = normal_value(value)
    assert normalised == expected
    assert type(normalised) is type(expected)


def test_an_undefined_numeric_is_a_float() -> None:
    normalised = normal_value(Decimal("NaN"))
    assert isinstance(normalised, float)
    assert math.isnan(normalised)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=20))
def test_an_array_reads_back_from_its_json(value: object) -> None:
    if isinstance(value, list):
        assert json.loads(str(normal_value(value))) == value


def test_the_limit_of_rows_keeps_the_first_and_says_so() -> None:
    builder = ResultBuilder(2)
    assert builder.wanted(500) == 3
    for number in range(3):
        builder.add((number,))
    assert builder.wanted(500) == 0
    result = builder.result(["n"])
    assert (result.rows, result.truncated) == ([(0,), (1,)], True)


def test_exactly_the_limit_is_not_truncated() -> None:
    builder = ResultBuilder(2)
    builder.add((1,))
    builder.add((2,))
    assert not builder.result(["n"]).truncated


def test_a_result_of_too_many_bytes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_result, "MAX_RESULT_BYTES", 1 << 20)
    builder = ResultBuilder(None)
    builder.add(("x" * ((1 << 20) - 150),))
    with pytest.raises(InputError, match=r"^sql: the result outgrows 1 MiB; narrow the query with WHERE or LIMIT$"):
        builder.add(("x",))


def fill(builder: ResultBuilder) -> None:
    for number in range(1 << 15):
        builder.add((number, 0.5))


def test_numbers_count_as_what_they_take_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_result, "MAX_RESULT_BYTES", 1 << 20)
    builder = ResultBuilder(None)
    with pytest.raises(InputError, match=r"^sql: the result outgrows 1 MiB; narrow the query with WHERE or LIMIT$"):
        fill(builder)


@pytest.mark.parametrize(
    "query",
    [
        "select 1",
        "  SELECT 1;",
        "-- why\nselect 1",
        "/* a */ /* b */ with x as (select 1) select * from x",
        "(select 1)",
    ],
)
def test_a_query_that_reads_is_taken_as_it_is(query: str) -> None:
    assert checked_text(query) == query


EMPTY = "sql: the query is empty; try 'SELECT run, metric, mean FROM run_summary WHERE is_newest_labels'"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", EMPTY),
        (" ;\n-- nothing", EMPTY),
        ("/* open", EMPTY),
        ("drop table runs", "sql only reads: it takes one SELECT, not 'drop'"),
        ("-- x\n UPDATE(x)", "sql only reads: it takes one SELECT, not 'UPDATE'"),
        ("select 1\0", "sql: the query holds a NUL character; remove it"),
        ("select '\udc80'", "sql: the query is not valid Unicode at character 9"),
    ],
)
def test_other_queries_are_refused(query: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        checked_text(query)
    assert str(caught.value) == message


def test_a_message_is_one_printable_line() -> None:
    assert str(query_error('near "\x1b[2J\u202e":\n  syntax error')) == 'sql: near "\\x1b[2J\\u202e": syntax error'

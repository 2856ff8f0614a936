"""Rows in four formats."""

import csv
import io
import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg_tracker.render.csv import csv_text
from ndcg_tracker.render.formats import rows_as
from ndcg_tracker.render.json import json_text
from ndcg_tracker.render.report import Column, read_by_people
from ndcg_tracker.render.terminal import Painted, display_width
from ndcg_tracker.render.text import text_table

COLUMNS = [
    "run",
    Column("n_groups", title="groups"),
    Column("mean", digits=4),
    Column("change", signed=True, digits=4),
    "pinned",
]
ROWS: list[tuple[object, ...]] = [
    ("bm25", 7000, 0.123456789012345, None, True),
    ("検索 | v2", 12, 1 / 3, -0.5, False),
    (None, None, math.nan, 0.00001, None),
]


def test_text() -> None:
    assert rows_as("text", COLUMNS, ROWS) == (
        "run        groups    mean    change  pinned\n"
        "bm25         7000  0.1235         -  yes\n"
        "検索 | v2      12  0.3333   -0.5000  no\n"
        "-               -       -  +1.0e-05  -\n"
    )


def test_markdown() -> None:
    assert rows_as("markdown", COLUMNS, ROWS) == (
        "| run | groups | mean | change | pinned |\n"
        "| --- | ---: | ---: | ---: | --- |\n"
        "| bm25 | 7000 | 0.1235 | - | yes |\n"
        "| 検索 \\| v2 | 12 | 0.3333 | -0.5000 | no |\n"
        "| - | - | - | +1.0e-05 | - |\n"
    )


def test_csv() -> None:
    assert rows_as("csv", COLUMNS, ROWS) == (
        "run,n_groups,mean,change,pinned\n"
        "bm25,7000,0.123456789012345,,true\n"
        "検索 | v2,12,0.3333333333333333,-0.5,false\n"
        ",,,1e-05,\n"
    )


def test_json() -> None:
    assert rows_as("json", COLUMNS, ROWS) == (
        "[\n"
        '{"run": "bm25", "n_groups": 7000, "mean": 0.123456789012345, "change": null, "pinned": true},\n'
        '{"run": "検索 | v2", "n_groups": 12, "mean": 0.3333333333333333, "change": -0.5, "pinned": false},\n'
        '{"run": null, "n_groups": null, "mean": null, "change": 1e-05, "pinned": null}\n'
        "]\n"
    )


def test_no_rows() -> None:
    assert rows_as("json", ["run"], []) == "[]\n"
    assert rows_as("csv", ["run"], []) == "run\n"
    assert rows_as("text", ["run"], []) == "run\n"
    assert rows_as("markdown", ["run"], []) == "| run |\n| --- |\n"


def test_a_column_name_that_comes_twice_loses_no_value() -> None:
    rows = [(1, 2, 3, 4)]
    assert json.loads(rows_as("json", ["run", "run", "run_2", "run"], rows)) == [
        {"run": 1, "run_2": 2, "run_2_2": 3, "run_3": 4}
    ]
    assert rows_as("csv", ["run", "run"], [(1, 2)]) == "run,run_2\n1,2\n"


def test_what_a_database_returns() -> None:
    rows = [
        (Decimal("0.25"), datetime(2025, 1, 31, 9, 30, tzinfo=UTC), b"ab\xff", ["a", None], {"k": 1.5}, UUID(int=7)),
    ]
    columns = ["decimal", "time", "bytes", "list", "object", "uuid"]
    (row,) = json.loads(rows_as("json", columns, rows))
    uuid = "00000000-0000-0000-0000-000000000007"
    assert list(row.values()) == [0.25, "2025-01-31T09:30:00+00:00", "ab\\xff", ["a", None], {"k": 1.5}, uuid]
    (_, cells) = csv.reader(io.StringIO(rows_as("csv", columns, rows), newline=""))
    assert cells == ["0.25", "2025-01-31T09:30:00+00:00", r"ab\\xff", '["a", null]', '{"k": 1.5}', uuid]
    with pytest.raises(TypeError, match="no JSON form for object"):
        rows_as("json", ["x"], [(object(),)])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, Decimal("NaN")])
def test_not_finite_is_undefined(value: Any) -> None:
    assert rows_as("json", ["x"], [(value,)]) == '[\n{"x": null}\n]\n'
    assert rows_as("csv", ["x", "y"], [(value, 1)]) == "x,y\n,1\n"
    assert rows_as("text", ["x"], [(value,)]) == "x\n-\n"


@settings(deadline=None)
@given(st.lists(st.tuples(st.text(), st.none() | st.floats(allow_nan=False, allow_infinity=False))))
def test_json_and_csv_carry_every_bit(rows: list[tuple[str, float | None]]) -> None:
    assert [tuple(row.values()) for row in json.loads(rows_as("json", ["a", "b"], rows))] == rows
    read = list(csv.reader(io.StringIO(rows_as("csv", ["a", "b"], rows), newline="")))[1:]
    assert [float(cell) if cell else None for _, cell in read] == [number for _, number in rows]


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+a", "'+a"),
        ("-a", "'-a"),
        ("@a", "'@a"),
        (" =1", "' =1"),
        ("＝1", "'＝1"),
        ("-5", "-5"),
        ("+1.5e3", "+1.5e3"),
        ("-1-1", "'-1-1"),
        ("a=1", "a=1"),
        ("\t=1", r"\t=1"),
    ],
)
def test_formula_guard(text: str, cell: str) -> None:
    assert csv_text(["x"], [[text]]) == f"x\n{cell}\n"


def test_numbers_are_never_guarded() -> None:
    assert csv_text(["x", "y"], [[-0.5, -3]]) == "x,y\n-0.5,-3\n"


def test_json_escapes_what_a_terminal_obeys() -> None:
    text = "\x00\x1b\x7f\x9b\u202e\u2028\ufeff\udc80é検"
    printed = json_text({"id": text}, indent=None)
    assert printed == '{"id": "\\u0000\\u001b\\u007f\\u009b\\u202e\\u2028\\ufeff\\udc80é検"}\n'
    assert json.loads(printed) == {"id": text}


def test_long_cells_are_cut_and_colour_leaves_the_alignment() -> None:
    rows = [["x" * 100, Painted("0.5", "bad")], ["y", Painted("-0.25", "good")]]
    plain = text_table(["id", "n"], rows, [False, True], cell_width=10)
    assert plain == ["id              n", "xxxxxxxxx…    0.5", "y           -0.25"]
    colored = text_table(["id", "n"], rows, [False, True], cell_width=10, color=True)
    assert colored[1] == "xxxxxxxxx…  \x1b[33m  0.5\x1b[0m"
    assert len({display_width(line) for line in plain}) == 1


def test_a_first_column_that_a_log_would_obey_stays_aligned() -> None:
    printed = rows_as("text", ["group", Column("n")], [("::error::q", 1), ("r", 2)])
    assert printed.splitlines() == ["group          n", "\\x3a:error::q  1", "r              2"]


LONG = [("bm25", "sum of the gains of all items", 12), ("dense", "short", 3)]
WHOLE = """\
run    meaning                         n
bm25   sum of the gains of all items  12
dense  short                           3
"""
SPARE = [Column("run"), Column("meaning"), Column("n", is_spare=True)]


@pytest.mark.parametrize(
    ("width", "shown"),
    [
        (None, WHOLE),
        (40, WHOLE),
        (38, "run    meaning\nbm25   sum of the gains of all items\ndense  short\n"),
        (20, "run    meaning\nbm25   sum of the\n       gains of all\n       items\ndense  short\n"),
        (9, "run    meaning\nbm25   sum of\n       the\n       gains\n       of all\n       items\ndense  short\n"),
    ],
)  # fmt: skip
def test_a_terminal_leaves_out_spare_columns_and_then_breaks_texts(width: int | None, shown: str) -> None:
    assert rows_as("text", SPARE, LONG, width=width) == shown
    assert rows_as("csv", SPARE, LONG, width=width) == rows_as("csv", SPARE, LONG)


def test_people_read_headings_and_seconds() -> None:
    columns = read_by_people("run_id", "n_groups", "created_at_utc")
    rows = [(1, 3, "2026-01-31T12:00:00.123456Z")]
    assert rows_as("text", columns, rows) == "id  groups  created (UTC)\n 1       3  2026-01-31 12:00:00\n"
    assert rows_as("csv", columns, rows) == "run_id,n_groups,created_at_utc\n1,3,2026-01-31T12:00:00.123456Z\n"

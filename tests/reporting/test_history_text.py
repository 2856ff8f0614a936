"""The history in four formats, and its sparkline."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ndcg_tracker.reporting.history_text import HistoryRow, history_as
from ndcg_tracker.reporting.sparkline import sparkline


def row(run: str, mean: float | None, metric: str = "ndcg@10", **rest: bool) -> HistoryRow:
    ci = None if mean is None else (mean - 0.01, mean + 0.01)
    return HistoryRow(
        run=run, run_id=len(run), created_at_utc="2025-01-31T09:30:59Z", metric=metric, mean=mean, ci=ci, **rest
    )


ROWS = [row("r1", 0.6), row("r22", 0.61), row("r333", None), row("r4444", 0.7, step=True), row("r1", 0.25, "P@1")]


def test_text() -> None:
    assert history_as("text", ROWS) == (
        "ndcg@10  ▁▁ █\n"
        "\n"
        "run    created (UTC)       mean      95% interval   change\n"
        "r1     2025-01-31 09:30  0.6000  [0.5900, 0.6100]        -\n"
        "r22    2025-01-31 09:30  0.6100  [0.6000, 0.6200]  +0.0100\n"
        "r333   2025-01-31 09:30       -                 -        -\n"
        "r4444  2025-01-31 09:30  0.7000  [0.6900, 0.7100]        -  step\n"
        "\n"
        "P@1  ▄\n"
        "\n"
        "run  created (UTC)       mean      95% interval  change\n"
        "r1   2025-01-31 09:30  0.2500  [0.2400, 0.2600]       -\n"
    )


def test_markdown() -> None:
    assert history_as("markdown", ROWS[:2]) == (
        "### ndcg@10 ▁█\n"
        "\n"
        "| run | created (UTC) | mean | 95% interval | change |  |\n"
        "| --- | --- | ---: | ---: | ---: | --- |\n"
        "| r1 | 2025-01-31 09:30 | 0.6000 | \\[0.5900, 0.6100\\] | - |  |\n"
        "| r22 | 2025-01-31 09:30 | 0.6100 | \\[0.6000, 0.6200\\] | +0.0100 |  |\n"
    )


def test_json_and_csv_carry_the_rows_as_they_are() -> None:
    printed = json.loads(history_as("json", ROWS))
    assert printed == [{**one, "ci": None if one["ci"] is None else list(one["ci"])} for one in ROWS]
    assert history_as("csv", ROWS[2:4]) == (
        "run,run_id,created_at_utc,metric,mean,ci_low,ci_high,step\n"
        "r333,4,2025-01-31T09:30:59Z,ndcg@10,,,,\n"
        "r4444,5,2025-01-31T09:30:59Z,ndcg@10,0.7,0.69,0.71,true\n"
    )


def test_no_rows() -> None:
    assert history_as("text", []) == history_as("markdown", []) == ""
    assert history_as("json", []) == "[]\n"


def test_a_long_history_has_a_sparkline_of_its_newest_runs() -> None:
    line = history_as("text", [row(f"r{n}", n / 1000) for n in range(500)]).split("\n")[0]
    assert line == "ndcg@10  " + sparkline([n / 1000 for n in range(440, 500)])


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ([], ""),
        ([None], " "),
        ([0.5], "▄"),
        ([0.5, 0.5], "▄▄"),
        ([1, 2, 3, 4, 5, 6, 7, 8], "▁▂▃▄▅▆▇█"),
        ([0.0, math.nan, None, 1.0], "▁  █"),
    ],
)
def test_sparkline(values: list[float | None], line: str) -> None:
    assert sparkline(values) == line


@settings(deadline=None)
@given(st.lists(st.none() | st.floats(-1e9, 1e9)))
def test_a_sparkline_never_falls_where_its_series_rises(values: list[float | None]) -> None:
    line = sparkline(values)
    assert len(line) == len(values)
    assert [block == " " for block in line] == [value is None for value in values]
    known = sorted((value, block) for value, block in zip(values, line, strict=True) if value is not None)
    assert [block for _, block in known] == sorted(block for _, block in known)

"""The history of a metric over runs, in every format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict

from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_table, markdown_text
from ndcg_tracker.reporting.numbers import interval, points
from ndcg_tracker.reporting.sparkline import sparkline
from ndcg_tracker.reporting.table import Format, text_table
from ndcg_tracker.reporting.terminal import painted, visible

SPARKLINE_RUNS = 60

_HEADINGS = ("run", "created (UTC)", "mean", "95% interval", "change", "")
_RIGHT = (False, False, True, True, True, False)
_CSV_COLUMNS = ("run", "run_id", "created_at_utc", "metric", "mean", "ci_low", "ci_high", "step")


class HistoryRow(TypedDict):
    """One metric of one run: ``ci`` is (low, high) or None, ``step`` whether the level changed at this run."""

    run: str
    run_id: int
    created_at_utc: str
    metric: str
    mean: float | None
    ci: Sequence[float] | None
    step: NotRequired[bool]


def history_as(format: Format, rows: Sequence[HistoryRow], *, color: bool = False) -> str:
    """Return the history in a format, with a line end.

    Parameters: ``rows``: oldest run first; several metrics are shown one after the other. Text and Markdown show the
    change to the run before and a sparkline of the newest runs; JSON and CSV carry the rows as they are.
    """
    if format == "json":
        return json_text(rows)
    if format == "csv":
        return csv_text(_CSV_COLUMNS, [_csv_row(row) for row in rows])
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    blocks = [_block(metric, [row for row in rows if row["metric"] == metric], format, color) for metric in metrics]
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n" if blocks else ""


def _block(metric: str, rows: Sequence[HistoryRow], format: Format, color: bool) -> list[str]:
    """Return the lines of one metric."""
    line = sparkline([row["mean"] for row in rows[-SPARKLINE_RUNS:]])
    cells = [_cells(row, previous) for row, previous in zip(rows, [None, *rows], strict=False)]
    if format == "markdown":
        return [f"### {markdown_text(metric)} {line}".rstrip(" "), "", *markdown_table(_HEADINGS, cells, _RIGHT)]
    table = text_table(_HEADINGS, cells, _RIGHT, color=color)
    return [f"{painted(visible(metric), 'bold', color=color)}  {line}".rstrip(" "), "", *table]


def _cells(row: HistoryRow, previous: HistoryRow | None) -> list[str]:
    """Return what people see of one run."""
    mean, before = row["mean"], None if previous is None else previous["mean"]
    ci = row["ci"]
    return [
        row["run"],
        row["created_at_utc"][:16].replace("T", " "),
        points(mean),
        interval(None if ci is None else (ci[0], ci[1])),
        points(None if mean is None or before is None else mean - before, signed=True),
        "step" if row.get("step") else "",
    ]


def _csv_row(row: HistoryRow) -> list[object]:
    """Return one run's values in the order of the columns."""
    low, high = row["ci"] if row["ci"] is not None else (None, None)
    step = row.get("step")
    return [row["run"], row["run_id"], row["created_at_utc"], row["metric"], row["mean"], low, high, step]

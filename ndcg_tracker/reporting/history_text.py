"""The history of a metric over runs, in every format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, TypedDict

from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.history_steps import changes_text, pairs_text, step_sentence
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_table, markdown_text
from ndcg_tracker.reporting.numbers import interval, points
from ndcg_tracker.reporting.sparkline import means_of_blocks, sparkline
from ndcg_tracker.reporting.table import Format, text_table
from ndcg_tracker.reporting.terminal import Painted, Style, painted, shortened_inside, visible, wrapped

LINE_WIDTH = 100
SPARKLINE_BLOCKS = 60
"""How wide a sparkline may be; each block of a longer history stands for several runs."""
TABLE_RUNS = 40
"""How many runs, the newest, a table for people shows unless asked for more."""
RUN_WIDTH = 36
"""How wide a run's name may be for the table to fit in 100 columns."""

_HEADINGS = ("run", "created (UTC)", "mean", "95% interval", "change", "")
_RIGHT = (False, False, True, True, True, False)
_CSV_COLUMNS = (
    "run",
    "run_id",
    "created_at_utc",
    "metric",
    "mean",
    "ci_low",
    "ci_high",
    "step",
    "delta",
    "p_adjusted",
    "git_commit",
    "label_set_version",
    "tags",
    "parameters",
    "step_change",
    "step_ci_low",
    "step_ci_high",
    "step_first",
    "step_last",
    "step_before",
    "step_parameters",
    "step_possible",
    "requested_as",
)


class HistoryRow(TypedDict):
    """One metric of one run.

    ``ci``: (low, high) or None. ``step``: whether the mean stepped at this run. ``delta``: the paired difference to the
    run before, None where they cannot be compared. ``p_adjusted``: of no difference, corrected over the history.
    ``step_change`` and ``step_ci``: how far the mean stepped; ``step_between``: the first and the last run that may be
    the first one after the step. ``step_before``: the run that this one was compared with; ``step_parameters``: which
    parameters differ from its, as (before, after), None where one run lacks it. ``step_possible``: no step, but what
    looks like one, with the same numbers. ``requested_as``: the text that the metric was asked for by.
    """

    run: str
    run_id: int
    created_at_utc: str
    metric: str
    mean: float | None
    ci: Sequence[float] | None
    step: NotRequired[bool]
    delta: NotRequired[float | None]
    p_adjusted: NotRequired[float | None]
    git_commit: NotRequired[str | None]
    label_set_version: NotRequired[int]
    tags: NotRequired[Mapping[str, object]]
    parameters: NotRequired[Mapping[str, object]]
    step_change: NotRequired[float | None]
    step_ci: NotRequired[Sequence[float] | None]
    step_between: NotRequired[Sequence[str] | None]
    step_before: NotRequired[str | None]
    step_parameters: NotRequired[Mapping[str, Sequence[object]] | None]
    step_possible: NotRequired[bool]
    requested_as: NotRequired[str]


def history_as(
    format: Format,
    rows: Sequence[HistoryRow],
    *,
    notes: Sequence[str] = (),
    color: bool = False,
    n_shown: int | None = None,
) -> str:
    """Return the history in a format, with a line end.

    Parameters: ``rows``: oldest run first; several metrics are shown one after the other. ``notes``: what must be known
    to read them. ``n_shown``: how many runs a table has, by default the newest 40. Text and Markdown show a sparkline
    of all runs, the change to the run before, and a sentence for each step, however old; JSON and CSV carry all rows as
    they are, and no notes.
    """
    if format == "json":
        return json_text(rows)
    if format == "csv":
        return csv_text(_CSV_COLUMNS, [_csv_row(row) for row in rows])
    metrics = list(dict.fromkeys(row["metric"] for row in rows))
    n_shown = TABLE_RUNS if n_shown is None else n_shown
    blocks = [
        _block(metric, [row for row in rows if row["metric"] == metric], format, color, n_shown) for metric in metrics
    ]
    if notes and format == "markdown":
        blocks.append([f"- {markdown_text(f'note: {note}')}" for note in notes])
    elif notes:
        blocks.append([line for note in notes for line in wrapped(visible(note), LINE_WIDTH, "note: ")])
    return "\n\n".join("\n".join(lines) for lines in blocks) + "\n" if blocks else ""


def _block(metric: str, rows: Sequence[HistoryRow], format: Format, color: bool, n_shown: int) -> list[str]:
    """Return the lines of one metric."""
    line = _line([row["mean"] for row in rows])
    newest, before = rows[-n_shown:], [None, *rows][-n_shown - 1 : -1]
    cells = [_cells(row, previous) for row, previous in zip(newest, before, strict=True)]
    sentences = [step_sentence(row) for row in rows if row.get("step_between") is not None]
    cut = ""
    if len(newest) < len(rows):
        cut = f"the newest {len(newest):,} of {len(rows):,} runs; --format csv has all, --last N shows as many"
    if format == "markdown":
        heading = f"### {markdown_text(metric)} {line}".rstrip(" ") + f" {markdown_text(_asked_for(metric, rows))}"
        lines = [heading.rstrip(" "), "", *markdown_table(_HEADINGS, cells, _RIGHT)]
        remarks = [*sentences, *([cut] if cut else [])]
        return lines + ([""] if remarks else []) + [f"- {markdown_text(remark)}" for remark in remarks]
    painted_cells = [_painted(row) for row in cells]
    table = text_table(_HEADINGS, painted_cells, _RIGHT, color=color)
    heading = f"{painted(visible(metric), 'bold', color=color)}  {line}".rstrip(" ")
    lines = [f"{heading}  {visible(_asked_for(metric, rows))}".rstrip(" "), "", *table]
    lines += ["", painted(cut, "dim", color=color)] if cut else []
    lines += [""] if sentences else []
    return lines + [part for sentence in sentences for part in _sentence_lines(sentence)]


def _asked_for(metric: str, rows: Sequence[HistoryRow]) -> str:
    """Return by which texts a metric was asked for, nothing where it is shown by the only one."""
    texts = list(dict.fromkeys(row["requested_as"] for row in rows if "requested_as" in row))
    return "" if texts in ([], [metric]) else f"(asked for as {', '.join(texts)})"


def _sentence_lines(sentence: str) -> list[str]:
    first, rest = visible(sentence).split(" ", 1)
    return wrapped(rest, LINE_WIDTH, f"{first} ")


def _line(means: Sequence[float | None]) -> str:
    """Return the sparkline; of a long history what its blocks stand for, too."""
    if len(means) <= SPARKLINE_BLOCKS:
        return sparkline(means)
    blocks, n_runs = means_of_blocks(means, SPARKLINE_BLOCKS)
    return f"{sparkline(blocks)}  {len(means):,} runs, each block {n_runs}"


def _cells(row: HistoryRow, previous: HistoryRow | None) -> list[str]:
    """Return what people see of one run."""
    mean, before = row["mean"], None if previous is None else previous["mean"]
    delta = row["delta"] if "delta" in row else None if mean is None or before is None else mean - before
    ci = row["ci"]
    return [
        row["run"],
        row["created_at_utc"][:16].replace("T", " "),
        points(mean),
        interval(None if ci is None else (ci[0], ci[1])),
        points(delta, signed=True),
        "step" if row.get("step") else "step?" if row.get("step_possible") else "",
    ]


def _painted(cells: Sequence[str]) -> list[str | Painted]:
    """Return a run's cells as a terminal shows them: a long name cut, a step coloured."""
    style = _style(cells)
    name = shortened_inside(visible(cells[0]), RUN_WIDTH)
    return [name, *cells[1:4], *(Painted(cell, style) for cell in cells[4:])]


def _style(cells: Sequence[str]) -> Style | None:
    """Return the style of a step's cells."""
    if not cells[-1]:
        return None
    return "bad" if cells[4].startswith("-") else "good"


def _csv_row(row: HistoryRow) -> list[object]:
    """Return one run's values in the order of the columns."""
    return [
        *(row["run"], row["run_id"], row["created_at_utc"], row["metric"], row["mean"]),
        *(row["ci"] or (None, None)),
        *(row.get("step"), row.get("delta"), row.get("p_adjusted"), row.get("git_commit")),
        *(row.get("label_set_version"), pairs_text(row.get("tags")), pairs_text(row.get("parameters"))),
        row.get("step_change"),
        *(row.get("step_ci") or (None, None)),
        *(row.get("step_between") or (None, None)),
        *(row.get("step_before"), changes_text(row.get("step_parameters")), row.get("step_possible")),
        row.get("requested_as"),
    ]

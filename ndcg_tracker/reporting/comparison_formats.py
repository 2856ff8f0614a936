"""A comparison in the format that was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ndcg_tracker.errors import Spelling, in_python
from ndcg_tracker.reporting.comparison_csv import comparison_csv
from ndcg_tracker.reporting.comparison_markdown import comparison_markdown
from ndcg_tracker.reporting.comparison_report import WIDTH, comparison_text
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.table import Format

if TYPE_CHECKING:
    from ndcg_tracker.comparison.results import Comparison


def comparison_as(
    format: Format,
    *comparisons: Comparison,
    color: bool = False,
    width: int = WIDTH,
    spelled: Spelling = in_python,
) -> str:
    """Return one comparison, or those of several candidates with one baseline, in a format, with a line end.

    Parameters: ``color`` and ``width``: of text only (see ``comparison_text``). ``spelled``: how arguments are spelled
    for people.
    """
    if format == "json":
        return comparison_json(*comparisons)
    if format == "csv":
        return comparison_csv(*comparisons)
    if format == "markdown":
        return comparison_markdown(*comparisons, spelled=spelled)
    return comparison_text(*comparisons, color=color, width=width, spelled=spelled)


def comparison_json(first: Comparison, *further: Comparison) -> str:
    """Return the JSON object of a comparison; those of further candidates stand in its list "further"."""
    document = first.to_dict()
    if further:
        document["further"] = [comparison.to_dict() for comparison in further]
    return json_text(document)

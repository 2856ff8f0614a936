"""What the other layers return, as text, JSON, Markdown and CSV; it formats and computes nothing."""

from ndcg_tracker.reporting.comparison_csv import comparison_csv
from ndcg_tracker.reporting.comparison_formats import comparison_as, comparison_json
from ndcg_tracker.reporting.comparison_markdown import comparison_markdown
from ndcg_tracker.reporting.comparison_report import comparison_text
from ndcg_tracker.reporting.csv_writer import csv_text
from ndcg_tracker.reporting.history_text import HistoryRow, history_as
from ndcg_tracker.reporting.json_writer import json_text
from ndcg_tracker.reporting.markdown import markdown_text
from ndcg_tracker.reporting.table import Column, Format, rows_as, text_table
from ndcg_tracker.reporting.terminal import Painted, visible

__all__ = [
    "Column",
    "Format",
    "HistoryRow",
    "Painted",
    "comparison_as",
    "comparison_csv",
    "comparison_json",
    "comparison_markdown",
    "comparison_text",
    "csv_text",
    "history_as",
    "json_text",
    "markdown_text",
    "rows_as",
    "text_table",
    "visible",
]

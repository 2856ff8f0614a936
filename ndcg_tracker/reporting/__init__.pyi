from .comparison_csv import comparison_csv
from .comparison_formats import comparison_as, comparison_json
from .comparison_markdown import comparison_markdown
from .comparison_report import comparison_text
from .csv_writer import csv_text
from .history_text import HistoryRow, history_as
from .json_writer import json_text
from .markdown import markdown_text
from .table import Column, Format, rows_as, text_table
from .terminal import Painted, visible

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

"""Runs with all that belongs to them as a folder of Parquet files: between databases, and to any engine."""

from ndcg_tracker.exchange.reading import ExportReader
from ndcg_tracker.exchange.tables import TABLES, Kind
from ndcg_tracker.exchange.writing import Column, ExportWriter

__all__ = ["TABLES", "Column", "ExportReader", "ExportWriter", "Kind"]

"""The fast path of each reader alone."""

from __future__ import annotations

from ndcg_tracker.ingest.cells import DoubtfulError, NoPlaces
from ndcg_tracker.ingest.columns import LABEL_TABLE, RUN_TABLE, Columns
from ndcg_tracker.ingest.reading import text_table
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import Source, TextBlock

from .grammar.table import RUN, Role


def fast_rows(source: Source, reader: str, role: Role, n_bytes: int) -> Rows | None:
    """Return the rows that the fast path of a reader finds in blocks of so many bytes, None for doubts."""
    table = text_table(source, reader, Columns(), RUN_TABLE if role == RUN else LABEL_TABLE)
    try:
        rows = table.fast(TextBlock(source.name, tuple(source.pieces(n_bytes))))
        table.finish(rows.n_rows, NoPlaces().whole)
    except DoubtfulError:
        return None
    return rows

"""The fast path of each reader alone."""

from __future__ import annotations

from ndcg_tracker.ingest.columns import LABEL_TABLE, RUN_TABLE, Columns
from ndcg_tracker.ingest.formats import delimited, jsonl, svmlight, trec
from ndcg_tracker.ingest.places import DoubtfulError
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import Source

from .grammar.table import RUN, Role


def fast_rows(source: Source, reader: str, role: Role, n_bytes: int) -> Rows | None:
    """Return the rows that the fast path of a reader finds in blocks of so many bytes, None where it has doubts."""
    wanted = RUN_TABLE if role == RUN else LABEL_TABLE
    try:
        if reader == "trec":
            return trec.fast_rows(source, trec.RUN if role == RUN else trec.QRELS, n_bytes)
        if reader == "jsonl":
            return jsonl.fast_rows(source, Columns(), wanted, n_bytes)
        if reader == "svmlight":
            return svmlight.fast_rows(source, n_bytes)
        return delimited.fast_rows(source, b"," if reader == "csv" else b"\t", Columns(), wanted, n_bytes)
    except DoubtfulError:
        return None

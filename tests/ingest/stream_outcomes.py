"""What comes out of a stream of blocks, to be held to what reading the whole comes to."""

from __future__ import annotations

import io
from typing import Any

from ingest_outcomes import run_parts

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import RUN_TABLE, Columns
from ndcg_tracker.ingest.formats.svmlight import Scores
from ndcg_tracker.ingest.group_blocks import text_group_blocks
from ndcg_tracker.ingest.reading import ranked_blocks, read_run, text_table
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.ingest.table import RankedTable, joined_notes

AGAIN = "are not contiguous; sort the file by group first, or read it whole instead of block by block"


def joined(blocks: list[RankedTable]) -> tuple[Any, ...]:
    """Return the parts of several tables, one after the other, as ``run_parts`` returns those of one."""
    parts = [run_parts(block) for block in blocks]
    ranking = [row for part in parts for row in part[0]]
    labels = [row for part in parts for row in part[1] or []] or None
    weights = [part[2] for part in parts if part[2] is not None]
    columns = zip(*weights, strict=True)
    joined_weights = tuple([one for part in column for one in part] for column in columns) if weights else None
    return ranking, labels, joined_weights, *joined_notes(note for part in parts for note in part[3:])


def whole(content: bytes, reader: str, **options: Any) -> Any:
    """Return what ``read_run`` makes of some bytes, or its refusal."""
    try:
        return run_parts(read_run("-", reader=reader, stdin=io.BytesIO(content), **options))
    except InputError as error:
        return str(error)


def streamed(content: bytes, reader: str, n_bytes: int, *, fast: bool, scores: bytes | None = None) -> Any:
    """Return what comes out of a stream of blocks of so many bytes, or its refusal."""
    try:
        with Source("-", stdin=io.BytesIO(content), once=True) as source:
            blocks = text_group_blocks(source, text_table(source, reader, Columns(), RUN_TABLE), n_bytes, fast=fast)
            if scores is None:
                return joined(list(ranked_blocks(source, blocks, None)))
            with Source("-", stdin=io.BytesIO(scores), once=True) as file:
                return joined(list(ranked_blocks(source, blocks, Scores(file))))
    except InputError as error:
        return str(error)

"""Runs that are larger than memory: a file as a stream of blocks of whole groups."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import json_documents, parquet
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, Columns
from ndcg_tracker.ingest.delimited import DelimitedTable
from ndcg_tracker.ingest.group_blocks import GroupBlock, TextTable, text_group_blocks
from ndcg_tracker.ingest.jsonl import JsonTable
from ndcg_tracker.ingest.places import DoubtfulError, Places, shown
from ndcg_tracker.ingest.reading import SMALL, read_run, run_reader, run_table
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.scores import Scores, needed_scores
from ndcg_tracker.ingest.seen_groups import SeenGroups
from ndcg_tracker.ingest.sources import Progress, Source
from ndcg_tracker.ingest.svmlight import LabelQidTable
from ndcg_tracker.ingest.table import NO_ROW, NO_SCORE, RankedTable, ranked_table
from ndcg_tracker.ingest.trec import RUN, TrecTable
from ndcg_tracker.overlap.ahead import reading_ahead
from ndcg_tracker.rankings.types import Floats

T = TypeVar("T")

BLOCK_ROWS = 1 << 20
BYTES_PER_ROW = 32


class ScatteredGroupError(InputError):
    """The rows of a group do not stand together, so a stream cannot hold the group as a whole."""


class RunStream:
    """A run's blocks, in the order of its file; iterate over it once, in a ``with`` statement or to its end.

    Each block is the ``RankedTable`` that ``read_run`` would return for its groups alone, but that its ranking may be
    empty. What only a whole file shows, no row having a score for one, is refused after the last block: until the
    iteration has ended, nothing that came out of it is sure. Raises, while iterating: InputError (see ``stream_run``).
    """

    def __init__(self, blocks: Generator[RankedTable, None, None], files: ExitStack) -> None:
        self._blocks = blocks
        self._files = files

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RankedTable:
        try:
            return next(self._blocks)
        except BaseException:  # the end of the blocks included
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the files, temporary ones included; no more blocks come."""
        self._blocks.close()
        self._files.close()


def stream_run(
    path: str,
    *,
    reader: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    scores_path: str | None = None,
    labels_apart: bool = False,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
    block_rows: int = BLOCK_ROWS,
) -> RunStream:
    """Return the run that a file holds block by block, for files that are larger than memory.

    The rows of a group must stand together. Memory: a few times the size of a block, and 16 bytes and its id for each
    group so far. Parameters: ``block_rows``: about how many rows a block has, at least 1; of text files, the rows in
    that many times 32 bytes. A group that is larger makes a larger block. The others: see ``read_run``; standard input
    is read as it comes, and nothing of it kept. Raises: InputError as ``read_run`` does, some of it while iterating,
    and for a group that comes again after another one.

    >>> import io
    >>> run = io.BytesIO(b"".join(b"q%d Q0 a 1 0.5 t\\n" % group for group in range(6)))
    >>> with stream_run("-", reader="trec", stdin=run, block_rows=2) as blocks:
    ...     [block.ranking.group_keys.to_list() for block in blocks]
    [['q0', 'q1', 'q2'], ['q3', 'q4', 'q5']]
    """
    files = ExitStack()
    try:
        source = files.enter_context(Source(path, stdin=stdin, progress=progress, once=True))
        head, name = run_reader(source, reader, columns, scores_path)
        scores = None
        if name == "svmlight":
            scores_path = needed_scores(source, scores_path)
            scores = Scores(files.enter_context(Source(scores_path, stdin=stdin, once=True)))
        if name == "parquet":
            blocks = parquet.group_blocks(source, columns, run_table(labels_apart=labels_apart), block_rows)
        elif name.startswith("json") and name != "jsonl":
            wanted = run_table(labels_apart=labels_apart)
            blocks = iter([GroupBlock(*json_documents.exact_rows(source, columns, wanted, name[len("json:") :]))])
        else:
            table = text_table(source, name, columns, labels_apart=labels_apart)
            blocks = text_group_blocks(source, table, block_rows * BYTES_PER_ROW, fast=len(head) > SMALL)
    except BaseException:
        files.close()
        raise
    return RunStream(ranked_blocks(source, blocks, scores), files)


def in_blocks_or_whole(
    path: str,
    use: Callable[[Iterable[RankedTable]], T],
    *,
    stream: bool | None = None,
    reader: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    scores_path: str | None = None,
    labels_apart: bool = False,
    progress: Progress | None = None,
) -> T:
    """Return what a function makes of the blocks of a run: those of ``stream_run``, or one that ``read_run`` reads.

    Parameters: ``stream``: whether to read block by block; None for files that are large, as long as the rows of each
    group stand together. ``use`` is called again with the whole where they do not, and must leave nothing behind when
    it raises.
    """
    given: dict[str, Any] = {
        "reader": reader,
        "columns": columns,
        "scores_path": scores_path,
        "labels_apart": labels_apart,
    }
    if stream or (stream is None and is_large(path)):
        try:
            with stream_run(path, progress=progress, **given) as blocks:
                return use(blocks)
        except ScatteredGroupError:
            if stream:
                raise
    return use([read_run(path, progress=progress, **given)])


def is_large(path: str) -> bool:
    """Return whether a run fills more than a block or so, and can be read twice: then it is worth streaming."""
    try:
        return Path(path).is_file() and Path(path).stat().st_size > BLOCK_ROWS * BYTES_PER_ROW
    except (OSError, ValueError):
        return False


def text_table(source: Source, name: str, columns: Columns, *, labels_apart: bool = False) -> TextTable:
    """Return the table of rows that a run is in a text format."""
    wanted = run_table(labels_apart=labels_apart)
    if name == "trec":
        return TrecTable(RUN)
    if name == "jsonl":
        return JsonTable(columns, wanted)
    if name == "svmlight":
        return LabelQidTable(source)
    return DelimitedTable(b"," if name == "csv" else b"\t", columns, wanted)


def ranked_blocks(
    source: Source, blocks: Iterable[GroupBlock], scores: Scores | None
) -> Generator[RankedTable, None, None]:
    """Yield what blocks of whole groups hold, checked, with the scores of a file of their own if there is one."""
    seen = SeenGroups()
    n_rows = n_items = 0
    with reading_ahead(blocks) as parsed:  # parsed by one thread, checked by another
        for block in parsed:
            block_scores = None if scores is None else scores.take(block.rows.n_rows)
            n_rows += block.rows.n_rows
            if not block.rows.n_rows:
                continue
            table = _ranked(block, block_scores, seen)
            seen.add(block.rows.run_keys)
            n_items += table.ranking.n_items
            yield table
            del table, block  # not to be held while the next block is read
    if scores is not None:
        scores.finish(source, n_rows)
    if not n_rows:
        raise source.error(NO_ROW)
    if not n_items:
        raise source.error(NO_SCORE)


def _ranked(block: GroupBlock, scores: Floats | None, seen: SeenGroups) -> RankedTable:
    try:
        return _checked(block.rows, block.places, scores, seen)
    except DoubtfulError:
        if block.exact is None:
            raise
        return _checked(*block.exact(), scores, seen)


def _checked(rows: Rows, places: Places, scores: Floats | None, seen: SeenGroups) -> RankedTable:
    if scores is not None:
        rows = replace(rows, scores=scores)
    table = ranked_table(rows, places, is_part=True)
    again = seen.first_repeat(rows.run_keys)
    if again >= 0:
        what = f"group {shown(rows.run_keys.bytes_at(again))} comes again after another group"
        advice = "sort the file by group first, or read it whole instead of block by block"
        error = places.error(int(rows.run_starts[again]), f"{what}; {advice}")
        raise ScatteredGroupError(error.message) if isinstance(error, InputError) else error  # a doubt knows no place
    return table

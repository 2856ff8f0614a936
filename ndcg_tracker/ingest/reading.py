"""The way into the layer: a path to a run, whole or block by block, or to labels, through the reader it needs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, LABEL_TABLE, RUN_APART, RUN_TABLE, Columns, Wanted
from ndcg_tracker.ingest.detection import READERS, detect_delimited, detect_reader
from ndcg_tracker.ingest.formats import delimited, json_documents, jsonl, parquet, svmlight, trec
from ndcg_tracker.ingest.formats.delimited import DelimitedTable
from ndcg_tracker.ingest.formats.ir_datasets import IR_DATASETS, ir_datasets_labels
from ndcg_tracker.ingest.formats.jsonl import JsonTable
from ndcg_tracker.ingest.formats.svmlight import LabelQidTable, Scores, needed_scores
from ndcg_tracker.ingest.formats.trec import RUN, TrecTable
from ndcg_tracker.ingest.group_blocks import GroupBlock, SeenGroups, TextTable, text_group_blocks
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces, Places, shown
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import Progress, Source
from ndcg_tracker.ingest.table import NO_ROW, NO_SCORE, RankedTable, label_lists, ranked_table
from ndcg_tracker.overlap.ahead import reading_ahead
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.rankings.types import Floats

SMALL = 1 << 21  # bytes up to which a way without Arrow is faster than importing it

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Paths:
    """The ways to read one input: ``exact`` has the last word, the others may raise DoubtfulError.

    ``fast`` is for what is large enough to be worth importing Arrow, ``small`` for the rest.
    """

    exact: Callable[[], tuple[Rows, Places]]
    fast: Callable[[], Rows] | None = None
    small: Callable[[], Rows] | None = None


def read_run(
    path: str,
    *,
    reader: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    scores_path: str | None = None,
    labels_apart: bool = False,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> RankedTable:
    """Return the run that a file holds, with the labels and weights that came along.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input. ``reader``: one of ``READERS``, None
    to tell from the file's name and content; ``json:NAME`` reads one of the several runs in a JSON document.
    ``columns``: for tables. ``scores_path``: the predictions that belong to a label/qid file, one per line.
    ``labels_apart``: whether the labels stand in another table, so that those of a table here are not read and its
    items need ids.
    ``progress``: called with the bytes done and the bytes there are (None: unknown). Raises: InputError, one line,
    ``FILE:LINE: what; what to do``.
    """
    with Source(path, stdin=stdin, progress=progress) as source:
        head, name = run_reader(source, reader, columns, scores_path)
        small = len(head) <= SMALL
        if name != "svmlight":
            paths = _paths(source, name, columns, run_table(labels_apart=labels_apart), trec.RUN)
            return assembled(paths, ranked_table, small=small)
        with Source(needed_scores(source, scores_path), stdin=stdin) as scores:
            paths = Paths(
                lambda: svmlight.scored_rows(source, scores), lambda: svmlight.fast_scored_rows(source, scores)
            )
            return assembled(paths, ranked_table, small=small)


def read_labels(
    path: str,
    *,
    reader: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    stdin: BinaryIO | None = None,
    progress: Progress | None = None,
) -> LabelLists:
    """Return the labels that a file holds (parameters and errors: see ``read_run``).

    ``path``: ``ir_datasets:NAME`` stands for the labels of a dataset of the package ir_datasets.
    """
    if path.startswith(IR_DATASETS):
        return ir_datasets_labels(path.removeprefix(IR_DATASETS))
    with Source(path, stdin=stdin, progress=progress) as source:
        head, name = _reader(source, reader, columns)
        paths = _paths(source, name, columns, LABEL_TABLE, trec.QRELS)
        return assembled(paths, label_lists, small=len(head) <= SMALL)


def run_table(*, labels_apart: bool) -> Wanted:
    """Return what a table of a run has, if its labels stand in another table, and if not."""
    return RUN_APART if labels_apart else RUN_TABLE


def may_have_columns(path: str) -> bool:
    """Return whether a file may be of a format with named columns, as far as its name tells.

    >>> may_have_columns("labels.csv"), may_have_columns("-"), may_have_columns("qrels.txt")
    (True, True, False)
    """
    if path.startswith(IR_DATASETS):
        return False
    try:
        return detect_reader(path, b"") not in ("trec", "svmlight")
    except InputError:
        return True


def run_reader(source: Source, reader: str | None, columns: Columns, scores_path: str | None) -> tuple[bytes, str]:
    """Return the beginning of a run, one byte more than is small, and the name of its reader (see ``read_run``)."""
    head, name = _reader(source, reader, columns)
    role = columns.any_given()
    if name in ("trec", "svmlight") and role is not None:
        raise source.error(
            f"a {name} file has no named columns; drop {argument(role)}, or choose another {argument('reader')}"
        )
    if name != "svmlight" and scores_path is not None:
        raise source.error(
            f"{argument('scores')} is for label/qid files, this is read as {name}; "
            f"drop it or use {argument('reader', 'svmlight')}"
        )
    return head, name


def assembled(paths: Paths, assemble: Callable[[Rows, Places], T], *, small: bool) -> T:
    """Return what ``assemble`` makes of an input: read the quick way for its size, if beyond doubt, else exactly."""
    quick = paths.small if small else paths.fast
    if quick is not None:
        try:
            return assemble(quick(), NoPlaces())
        except DoubtfulError:
            pass  # the exact path says what is wrong and where, or that all is well
    return assemble(*paths.exact())


def _reader(source: Source, reader: str | None, columns: Columns) -> tuple[bytes, str]:
    """Return the beginning of the content, one byte more than is small, and the name of its reader."""
    if reader is not None and reader not in READERS and not reader.startswith("json:"):
        raise InputError(f"no reader {reader!r}; choose one of {' '.join(READERS)}")
    head = source.head(SMALL + 1)
    if not head:
        raise source.error("is empty; give a file that has rows")
    if columns.header is None:
        return head, reader or detect_reader(source.path, head)
    name = reader or detect_delimited(source.path, head)
    if name not in ("csv", "tsv"):
        what = f"{argument('columns')} names the columns of a csv or tsv file without header, this is read as {name}"
        raise source.error(f"{what}; leave it out")
    return head, name


def _paths(source: Source, reader: str, columns: Columns, wanted: Wanted, layout: trec.Layout) -> Paths:
    """Return how to read what holds one table, whether a run or labels."""
    if reader == "trec":
        return Paths(
            lambda: trec.exact_rows(source, layout),
            lambda: trec.fast_rows(source, layout),
            lambda: trec.small_rows(source, layout),
        )
    if reader == "jsonl":
        return Paths(
            lambda: jsonl.exact_rows(source, columns, wanted), lambda: jsonl.fast_rows(source, columns, wanted)
        )
    if reader.startswith("json"):
        return Paths(lambda: json_documents.exact_rows(source, columns, wanted, reader[len("json:") :]))
    if reader == "parquet":
        return Paths(lambda: parquet.exact_rows(source, columns, wanted))
    if reader == "svmlight":
        return Paths(lambda: svmlight.exact_rows(source), lambda: svmlight.fast_rows(source))
    delimiter = b"," if reader == "csv" else b"\t"
    return Paths(
        lambda: delimited.exact_rows(source, delimiter, columns, wanted),
        lambda: delimited.fast_rows(source, delimiter, columns, wanted),
    )


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

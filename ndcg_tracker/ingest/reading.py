"""The entry of this layer: read a run, at once or block by block, or labels from a path or name."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Self, TypedDict, TypeVar, Unpack, cast, get_args

from ndcg_tracker.concurrency import reading_ahead
from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.extensions import READERS as OF_PACKAGES
from ndcg_tracker.extensions import installed
from ndcg_tracker.ingest.ambiguous import other_meaning_of_qrels
from ndcg_tracker.ingest.by_shape import known_or_recognised, plain_records
from ndcg_tracker.ingest.cells import Places, RowPlaces, WrongValueError
from ndcg_tracker.ingest.columns import (
    DEFAULT_COLUMNS,
    JUDGE,
    LABEL_TABLE,
    REASONS,
    RUN_APART,
    RUN_TABLE,
    Columns,
    Wanted,
    conventional_names,
    reason_column,
)
from ndcg_tracker.ingest.detection import READERS, WITH_COLUMNS, detect_reader, is_of_package
from ndcg_tracker.ingest.documents import Chunks, Collapse, Documents, check_pattern, texts_read
from ndcg_tracker.ingest.formats import json_documents
from ndcg_tracker.ingest.formats.delimited import Delimited
from ndcg_tracker.ingest.formats.jsonl import JsonLines
from ndcg_tracker.ingest.formats.parquet import parquet_blocks
from ndcg_tracker.ingest.formats.response_rows import ResponseLines
from ndcg_tracker.ingest.formats.responses import first_record, response_columns
from ndcg_tracker.ingest.formats.svmlight import LabelQid, Scores, needed_scores
from ndcg_tracker.ingest.formats.trec import QRELS, RUN, Trec
from ndcg_tracker.ingest.frames import label_records, read_label_frame, rows_of_spans, rows_of_table
from ndcg_tracker.ingest.group_blocks import GroupBlock, LineFormat, text_group_blocks, whole_block
from ndcg_tracker.ingest.judged_labels import judged_labels
from ndcg_tracker.ingest.records import (
    Records,
    beginning,
    cell_id,
    opened_records,
    parquet_records,
    qrels_records,
    records_in,
)
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.shapes import Role, recognised
from ndcg_tracker.ingest.source import BOM, Source
from ndcg_tracker.ingest.spans import SPAN, are_spans
from ndcg_tracker.ingest.table import (
    NO_LISTS,
    RankedTable,
    label_lists,
    no_row,
    no_score,
    none_in_share,
    of_failed,
    ranked_table,
    refuse_no_chunk,
)
from ndcg_tracker.rankings import Floats
from ndcg_tracker.rankings.ranking import LabelLists
from ndcg_tracker.rules import refuse
from ndcg_tracker.words.texts import shown, shown_name

IR_DATASETS = "ir_datasets:"
DOCUMENTS = ("json", "yaml")


def ir_datasets_labels(name: str, columns: Columns = DEFAULT_COLUMNS) -> LabelLists:
    """Return the labels (qrels) of a dataset; the package may download them and caches its downloads.

    Raises: InputError, one line, if the package is missing or does not have the dataset, or if this has no labels.
    """
    try:
        import ir_datasets
    except ImportError:
        raise InputError(f"{IR_DATASETS}{name} needs a package", advice="install it: pip install ir_datasets") from None
    where = f"{IR_DATASETS}{name}"
    try:
        dataset = ir_datasets.load(name)
    except KeyError:
        raise InputError(
            "there is no dataset with this name", where=where, advice="see https://ir-datasets.com for the names"
        ) from None
    if not dataset.has_qrels():
        subsets = [subset for subset in ir_datasets.registry if subset.startswith(f"{name}/")]
        labelled = ", ".join([subset for subset in subsets if ir_datasets.load(subset).has_qrels()][:10])
        raise InputError(
            "this dataset has no labels", where=where, advice=f"choose one with labels{labelled and f': {labelled}'}"
        )
    try:
        qrels = list(dataset.qrels_iter())
    except Exception as error:  # network, disk, licence: it raises many kinds of errors
        first = error.args[0] if error.args and isinstance(error.args[0], str) else error
        reason = " ".join(str(first).split())[:200] or type(error).__name__
        raise InputError(
            f"its labels cannot be fetched ({reason})", where=where, advice="follow ir_datasets' instructions"
        ) from None
    places = RowPlaces(where)
    if not qrels:
        raise no_row(places.whole)
    return label_lists(rows_of_table(qrels, DEFAULT_COLUMNS, LABEL_TABLE, places)[0].as_asked(columns), places)


SMALL = 1 << 20  # bytes up to which reading without Arrow is about as fast as importing it
BLOCK_ROWS = 1 << 20
BYTES_PER_ROW = 32

T = TypeVar("T")


class LabelFormat(TypedDict, total=False):
    """How to read labels: see ``RunFormat``, and ``read_labels_by_judge`` for ``judge``.

    ``where``: only the rows with these values in these columns. ``unsure``: whether people had to fill them in, so that
    the word unsure and an empty cell mean no label.
    """

    reader: str | None
    columns: Columns
    judge: str | None
    where: Mapping[str, str] | None
    unsure: bool
    stdin: BinaryIO | None


class RunFormat(TypedDict, total=False):
    """How to read the file of a run; the functions below have the defaults.

    ``reader``: one of ``READERS``, None to detect it from the file's name and content; ``json:NAME`` reads one of
    several runs in a JSON document. ``columns``: for tables. ``scores_path``: the predictions that belong to a
    label/qid file, one per line. ``labels_apart``: whether the labels are in another table, so that those of a table
    here are not read and its items need ids. ``name``: the name of the file in errors, None for its path.
    """

    reader: str | None
    columns: Columns
    scores_path: str | None
    labels_apart: bool
    stdin: BinaryIO | None
    name: str | None


def read_run(path: str, **options: Unpack[RunFormat]) -> RankedTable:
    """Return the run that a file holds, with the labels and weights that came along.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input; the others: see ``RunFormat``.
    Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    [table] = _whole(path, **options)
    return table


def read_labels(given: object, **options: Unpack[LabelFormat]) -> LabelLists:
    """Return the labels of the only judge that a file or a table names (see ``read_labels_by_judge``; InputError)."""
    return labels_of_one_judge(given, **options)[1]


def labels_of_one_judge(given: object, **options: Unpack[LabelFormat]) -> tuple[str, LabelLists]:
    """Return the judge, "" for the unnamed one, and the labels of a source that has only one judge (InputError)."""
    by_judge = read_labels_by_judge(given, **options)
    if len(by_judge) > 1:
        names = ", ".join(repr(name) if name else "no judge" for name in by_judge)
        raise InputError(
            f"the column {JUDGE!r} names {names}",
            where=shown_name(path) if (path := path_of(given)) else "labels",
            advice=f"choose one with {argument('judge')}, or store all with: ndcg-track labels add FILE",
        )
    return next(iter(by_judge.items()))


def read_labels_by_judge(given: object, **options: Unpack[LabelFormat]) -> dict[str, LabelLists]:
    """Return the labels of a file, a table or an object by the judge who gave them, as its column ``judge`` says.

    Without this column, or if the cell is empty, the judge is "", the unnamed judge. With the option ``judge``: the
    labels of this judge alone; those of a source that does not name judges are this judge's, and so are rows that
    ``where`` chose by their judge. Raises: InputError for a judge whom a source does not name; see ``read_run``.
    """
    judge, where = options.get("judge"), options.get("where")

    def read(given: object, columns: Columns, further: dict[str, Any]) -> dict[str, LabelLists]:
        return _by_judge(given, **{**options, "judge": None, "columns": columns, **further})

    columns = options.get("columns", DEFAULT_COLUMNS)
    is_told = options.get("reader") is not None or bool(where) or isinstance(given, LabelLists)
    by_judge = read(given, columns, {}) if is_told else known_or_recognised(read, given, "labels", columns, ids_of)
    if not judge or judge in by_judge:
        return by_judge if not judge else {judge: by_judge[judge]}
    if set(by_judge) == {""} or (where and JUDGE in where and len(by_judge) == 1):
        return {judge: next(iter(by_judge.values()))}
    names = ", ".join(map(repr, filter(None, by_judge)))
    raise InputError(
        f"the column {JUDGE!r} names {names}, not {judge!r}",
        where=shown_name(path) if (path := path_of(given)) else "labels",
        advice=f"name one of these with {argument('judge')}, or leave it out",
    )


def _by_judge(
    given: object,
    *,
    reader: str | None = None,
    columns: Columns = DEFAULT_COLUMNS,
    judge: None = None,
    where: Mapping[str, str] | None = None,
    unsure: bool = False,
    stdin: BinaryIO | None = None,
) -> dict[str, LabelLists]:
    """Return the labels of a source by judge, of every judge (see ``LabelFormat``)."""
    if isinstance(given, LabelLists):
        return {"": given}
    path, chosen = path_of(given), where or {}
    if path is None:
        names = _names_of(given)
        groups = {"group", columns.given("group"), *conventional_names("group", names)}
        has_told = _says_more(names, columns) and bool(groups & {*names})
        if chosen or columns.has_loose_labels or has_told or are_spans(names, columns):
            return judged_labels(label_records(given, columns), columns, chosen, unsure=unsure)
        return {"": read_label_frame(given, columns, are_answers=unsure)}
    if path.startswith(IR_DATASETS) and not chosen:
        role = columns.any_given()
        if role is not None:
            raise InputError(
                "labels from ir_datasets have no named columns", where=shown_name(path), advice=f"drop {argument(role)}"
            )
        return {"": ir_datasets_labels(path.removeprefix(IR_DATASETS), columns)}
    with ExitStack() as opened:
        source = opened.enter_context(Source(path, stdin=stdin))
        head, name = _reader(source, reader, columns)
        _refuse_columns(source, name, columns, has_reader=not columns.is_shared)  # else the reader is the run's
        if name == "trec" and reader is None:
            what, advice = other_meaning_of_qrels(head, is_beside_run=columns.is_shared)
            if what:
                raise source.error(what, advice=advice)
        filled_in = unsure and name not in DOCUMENTS  # elsewhere the word is a value of its own
        by_row = columns.has_loose_labels and name != "svmlight"
        if by_row or (
            name not in ("trec", "svmlight") and (chosen or filled_in or _may_be_judged(source, name, head, columns))
        ):
            records = (
                qrels_records(source) if name == "trec" else records_in(source, name, "labels", header=columns.header)
            )
            header = records.header
            if by_row or chosen or filled_in or _says_more(header, columns) or are_spans(header, columns):
                return judged_labels(records, columns, chosen, unsure=unsure)
        elif chosen:
            what = f"a {name} file has no column {shown(next(iter(chosen)))} to choose rows by"
            raise source.error(what, advice=f"leave out {argument('where')}")
        if unsure and name.startswith(("json", "yaml")):
            sure = BytesIO(_UNSURE_VALUE.sub(rb"\1null", source.content()))
            source = opened.enter_context(Source("-", stdin=sure, name=source.name))
        [block] = _group_blocks(source, name, columns, LABEL_TABLE, None, is_small=len(head) <= SMALL)
        assemble = partial(label_lists, are_answers=unsure)
        return {"": block.assembled(lambda rows, places: assemble(rows.as_asked(columns), places))}


def _names_of(table: Any) -> list[str]:
    """Return the names of the columns of a table in memory, if it has any."""
    first = table[0] if isinstance(table, list) and table else table
    names = getattr(first, "column_names", getattr(first, "columns", getattr(first, "_fields", ())))
    return list(map(str, first if isinstance(first, Mapping) else names))


def path_of(given: object) -> str | None:
    """Return the path that was given, None for anything else."""
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    return given if isinstance(given, str) else None


def texts_given(
    path: str, text: str | None, columns: Columns, wanted: Wanted, reader: str | None = None
) -> Mapping[str, str]:
    """Return the texts of the items of a run or of labels; ``text``: their column, None unless the items are texts."""
    if text is None or path == "-":
        refuse("ingest", {"text": text, "no_file": path == "-"})
        return texts_read(columns.documents)

    def items_of(columns: Columns) -> list[str]:
        with Source(path) as source:
            head, name = _reader(source, reader, columns)
            _refuse_columns(source, name, columns, has_reader=True)
            [block] = _group_blocks(source, name, columns, wanted, None, is_small=len(head) <= SMALL)
            items = block.assembled(lambda rows, _: rows.items)
        return [] if items is None else items.to_list()

    return dict(
        zip(
            items_of(replace(columns, documents=None)),
            items_of(replace(columns, item=text, documents=None)),
            strict=True,
        )
    )


_UNSURE_VALUE = re.compile(rb'(?im)(:\s*)(?:"unsure"|unsure(?=\s*$))')


def _says_more(header: Sequence[str], columns: Columns) -> bool:
    """Return whether a table says who gave each label, or why: without labels, a reason is the id of an item."""
    labels = {"label", columns.given("label"), *conventional_names("label", header)}
    return JUDGE in header or (reason_column(header) is not None and bool(labels & {*header}))


def _may_be_judged(source: Source, name: str, head: bytes, columns: Columns) -> bool:
    """Return whether a file may have a column ``judge`` or of reasons, or gold spans, according to its beginning."""
    if name in ("jsonl", "json") or is_of_package(name):
        keys, head = (JUDGE, SPAN[0], *REASONS), head.lower()
        return any(f'"{key}"'.encode() in head or f"{key}:".encode() in head for key in keys)
    if name == "parquet":
        return True
    names = set(map(str, _names_in(source, name, columns)))
    return JUDGE in names or bool(reason_column([*names])) or are_spans(names, columns)


def may_have_columns(path: str) -> bool:
    """Return whether a file may be of a format with named columns, according to its name.

    >>> may_have_columns("labels.csv"), may_have_columns("-"), may_have_columns("qrels.txt")
    (True, True, False)
    """
    if path.startswith(IR_DATASETS):
        return False
    try:
        return detect_reader(path, b"") in WITH_COLUMNS
    except InputError:
        return True


def _run_reader(source: Source, reader: str | None, columns: Columns, scores_path: str | None) -> tuple[bytes, str]:
    """Return the beginning of a run, one byte more than ``SMALL``, and the name of its reader (see ``read_run``)."""
    head, name = _reader(source, reader, columns)
    _refuse_columns(source, name, columns, has_reader=True)
    if name != "svmlight" and scores_path is not None:
        raise source.error(
            f"{argument('scores')} is for label/qid files, but this file is read as {name}",
            advice=f"leave it out or use {argument('reader', 'svmlight')}",
        )
    return head, name


def _refuse_columns(source: Source, name: str, columns: Columns, *, has_reader: bool) -> None:
    """Raise InputError for named columns in a format without columns; ``has_reader``: whether there is a choice."""
    if columns.items and not name.startswith("json"):
        what = f"{argument('items')} is for responses in JSON, but this file is read as {name}"
        raise source.error(what, advice="leave it out")
    role = columns.any_given()
    if name in ("trec", "svmlight") and role is not None:
        advice = f"drop {argument(role)}" + (f", or choose another {argument('reader')}" if has_reader else "")
        raise source.error(f"a {name} file has no named columns", advice=advice)


def _reader(source: Source, reader: str | None, columns: Columns) -> tuple[bytes, str]:
    """Return the beginning of the content, one byte more than ``SMALL``, and the name of its reader."""
    if reader is not None and reader not in READERS and not (reader.startswith("json:") or is_of_package(reader)):
        raise InputError(
            f"no reader {reader!r}",
            advice=f"choose one of {' '.join({**dict.fromkeys(READERS), **installed(OF_PACKAGES)})}",
        )
    head, name = beginning(source, SMALL + 1, reader, columns.header)
    if name == "trec_eval":
        raise source.error("is output of trec_eval", advice="give the run or the labels that trec_eval read")
    return head, name


class ScatteredGroupError(InputError):
    """The rows of a group are not contiguous, so a stream cannot hold the whole group."""


class RunStream(ExitStack):
    """A run's blocks, in the order of its file; iterate over it once, in a ``with`` statement or to its end.

    Each block is the ``RankedTable`` that ``read_run`` would return for its groups alone, except that its ranking may
    be empty. Errors that only the whole file shows, such as that no row has a score, come after the last block:
    nothing is certain until the iteration has ended. Raises, while iterating: InputError (see ``stream_run``).
    """

    def __init__(self, blocks: Generator[RankedTable, None, None], files: ExitStack) -> None:
        super().__init__()
        self.enter_context(files.pop_all())
        self._blocks = self.enter_context(closing(blocks))

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> RankedTable:
        try:
            return next(self._blocks)
        except BaseException:  # including the end of the blocks
            self.close()  # temporary files too
            raise


def stream_run(path: str, *, block_rows: int | None = BLOCK_ROWS, **options: Unpack[RunFormat]) -> RunStream:
    """Return the run that a file holds block by block, for files that are larger than memory.

    The rows of a group must be contiguous. Memory: a few times the size of a block, plus 16 bytes and its id for each
    group so far. Parameters: ``block_rows``: about how many rows a block has, at least 1; for text files, the rows in
    that many times 32 bytes; None for one block, as ``read_run`` reads it. A larger group makes a larger block. The
    others: see ``read_run``; standard input is read as it comes, without a copy. Raises: InputError as ``read_run``
    does, partly while iterating, and for a group that comes again after another group.

    >>> import io
    >>> run = io.BytesIO(b"".join(b"q%d Q0 a 1 0.5 t\\n" % group for group in range(6)))
    >>> with stream_run("-", reader="trec", stdin=run, block_rows=2) as blocks:
    ...     [block.ranking.group_keys.to_list() for block in blocks]
    [['q0', 'q1', 'q2'], ['q3', 'q4', 'q5']]
    """
    reader, scores_path = options.pop("reader", None), options.pop("scores_path", None)
    columns = options.pop("columns", DEFAULT_COLUMNS)
    wanted = RUN_APART if options.pop("labels_apart", False) else RUN_TABLE
    with ExitStack() as files:
        source = files.enter_context(Source(path, once=block_rows is not None, **options))  # type: ignore[misc]
        head, format = _run_reader(source, reader, columns, scores_path)
        scores = None
        if format == "svmlight":
            scores_path = needed_scores(source, scores_path)
            scores = Scores(files.enter_context(Source(scores_path, stdin=options.get("stdin"), once=True)))
        blocks = _group_blocks(source, format, columns, wanted, block_rows, is_small=len(head) <= SMALL)
        return RunStream(ranked_blocks(source, blocks, scores, columns, is_whole=block_rows is None), files)


def in_blocks_or_whole(
    path: str,
    use: Callable[[Iterable[RankedTable]], T],
    *,
    stream: bool | None = None,
    **options: Unpack[RunFormat],
) -> T:
    """Return the result of a function of the blocks of a run, from ``stream_run``, or one block from ``read_run``.

    Parameters: ``stream``: whether to read block by block; None does so for large files if the rows of each group are
    contiguous. If they are not, ``use`` is called again with the whole run, so it must leave nothing behind when it
    raises.
    """
    if stream or (stream is None and is_large(path)):
        try:
            with stream_run(path, **options) as blocks:
                return use(blocks)
        except ScatteredGroupError:
            if stream:
                raise
    return use(_whole(path, **options))


def _whole(path: str, **options: Unpack[RunFormat]) -> list[RankedTable]:
    """Return a run as one block, so that errors that only the end shows come before it is used."""

    def read(given: object, columns: Columns, further: dict[str, Any]) -> list[RankedTable]:
        of_format: RunFormat = {**options, "columns": columns, **further}  # type: ignore[typeddict-item]
        with stream_run(str(given), block_rows=None, **of_format) as blocks:
            return list(blocks)

    columns = options.get("columns", DEFAULT_COLUMNS)
    if options.get("reader") is not None or options.get("scores_path") is not None:
        return read(path, columns, {})
    return known_or_recognised(read, path, "results", columns, ids_of)


def ids_of(given: object, role: Role) -> tuple[Collection[str], Collection[str]]:
    """Return the ids of the items and of the groups of a run or of labels, none if these cannot be read.

    A tuple is several inputs.
    """
    if isinstance(given, tuple):
        each = [ids_of(one, role) for one in given]
        return {one for items, _ in each for one in items}, {one for _, groups in each for one in groups}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is read again, and warns then
        try:
            if isinstance(given, str) and fits_into_memory(given):
                lists = read_labels(given) if role == "labels" else read_run(given, labels_apart=True).ranking
                return lists.item_keys.to_list(), lists.group_keys.to_list()
            found = recognised([] if isinstance(given, str) else plain_records(given), "", role)
        except InputError:
            return (), ()
    held = found.labels if role == "labels" else found.results
    return {item for items in held.values() for item in items}, held.keys()


def is_large(path: str) -> bool:
    """Return whether a run is larger than about one block and can be read twice: then streaming pays."""
    try:
        return Path(path).is_file() and Path(path).stat().st_size > BLOCK_ROWS * BYTES_PER_ROW
    except (OSError, ValueError):
        return False


def fits_into_memory(path: str) -> bool:
    """Return whether a run is a file of at most about one block, which is read at once."""
    try:
        return path != "-" and Path(path).is_file() and not is_large(path)
    except (OSError, ValueError):
        return False


def _group_blocks(
    source: Source, reader: str, columns: Columns, wanted: Wanted, n_rows: int | None, *, is_small: bool
) -> Iterable[GroupBlock]:
    """Return the blocks of one table, a run or labels, of about ``n_rows`` rows each, None for one block."""
    if wanted is not LABEL_TABLE and are_spans(_names_in(source, reader, columns), columns):
        records = records_in(source, reader, "runs", header=columns.header)
        return [GroupBlock(*rows_of_spans(records, columns, wanted))]
    if reader == "parquet":
        return parquet_blocks(source, columns, wanted, n_rows)
    given = None
    if is_of_package(reader):
        given = json_documents.value_in(source, reader.partition(":")[0])
        if json_documents.is_table(given[0]):
            return [GroupBlock(*rows_of_table(given[0], columns, wanted, RowPlaces(source.name)))]
    if given or reader.partition(":")[0] == "json":
        return [GroupBlock(*json_documents.exact_rows(source, reader, columns, wanted, given))]
    new_table = partial(text_table, source, reader, columns, wanted)
    if n_rows is None:
        return [whole_block(source, new_table, is_small=is_small)]
    return text_group_blocks(source, new_table(), n_rows * BYTES_PER_ROW, fast=not is_small)


def _names_in(source: Source, reader: str, columns: Columns) -> Iterable[object]:
    """Return the names of the columns of a file, none if its format has none."""
    if reader == "parquet":
        return parquet_records(source).header if source.file_path() else ()
    if reader == "jsonl":
        return record if isinstance(record := first_record(source), Mapping) else ()
    if reader not in ("csv", "tsv"):
        return ()
    first = source.head(SMALL).removeprefix(BOM).partition(b"\n")[0].decode(errors="replace").strip()
    return columns.header or (cell.strip('"') for cell in first.split("\t" if reader == "tsv" else ","))


def text_table(source: Source, reader: str, columns: Columns, wanted: Wanted) -> LineFormat:
    """Return the table, of a run or of labels, in a file of lines."""
    if reader == "trec":
        return Trec(QRELS if wanted is LABEL_TABLE else RUN)
    if reader == "jsonl":
        as_responses = response_columns(first_record(source), columns, wanted)
        return JsonLines(columns, wanted) if as_responses is None else ResponseLines(as_responses, wanted)
    if reader == "svmlight":
        return LabelQid(source)
    return Delimited({"csv": b",", "tsv": b"\t"}[reader], columns, wanted)


def ranked_blocks(
    source: Source,
    blocks: Iterable[GroupBlock],
    scores: Scores | None,
    columns: Columns = DEFAULT_COLUMNS,
    *,
    is_whole: bool = False,
) -> Generator[RankedTable, None, None]:
    """Yield the checked content of blocks of whole groups, with the scores of a separate file if there is one.

    ``is_whole``: whether there is only one block, in which the rows of a group need not be contiguous.
    """
    seen = set[bytes]()
    n_rows = n_items = n_empty = n_failed = 0
    chunks: list[Chunks] = []
    with nullcontext(blocks) if is_whole else reading_ahead(blocks) as parsed:  # parsed by one thread, checked here
        for block in parsed:
            block_scores = None if scores is None else scores.take(block.rows.n_rows)
            n_rows += block.rows.n_rows
            if is_whole and scores is not None:
                scores.finish(source, n_rows)
            n_empty += block.rows.n_empty
            n_failed += block.rows.n_failed
            if not block.rows.n_rows and (not is_whole or n_empty):
                continue
            left_out, n_failed = n_failed, 0
            checked = partial(
                _checked, scores=block_scores, columns=columns, seen=None if is_whole else seen, n_failed=left_out
            )
            table = block.assembled(checked)
            n_items += table.run.n_items
            chunks += [] if table.chunks is None else [table.chunks]
            yield table
            del table, block  # frees memory while the next block is read
    if scores is not None and not is_whole:
        scores.finish(source, n_rows)
    if not n_rows and n_empty:
        yield replace(NO_LISTS, notes=tuple(of_failed(n_failed)))
        return
    if not n_rows:
        raise no_row(source.error, n_failed)
    if not n_items:
        raise (
            no_score(source.error)
            if columns.groups_share is None
            else none_in_share(columns.groups_share, source.error)
        )
    refuse_no_chunk(chunks, source.error)


def _checked(
    rows: Rows, places: Places, *, scores: Floats | None, columns: Columns, seen: set[bytes] | None, n_failed: int
) -> RankedTable:
    """Return the table of some rows; ``seen``: the groups of earlier rows, None if these are all rows."""
    rows = replace(rows, n_failed=n_failed, scores=rows.scores if scores is None else scores)
    rows = rows.as_asked(columns)
    table = ranked_table(rows, places, is_part=seen is not None)
    if seen is None:
        return table
    here = set[bytes]()
    for key in rows.span_keys.to_bytes_list():
        if key in seen or key in here:
            break
        here.add(key)
    else:
        seen |= here
        return table
    what = f"the rows of group {shown(key)} are not contiguous"
    advice = "sort the file by group first, or read it whole instead of block by block"
    error = places.error(int(rows.span_starts[len(here)]), what, advice=advice)
    if isinstance(error, InputError):  # a DoubtfulError has no place
        raise ScatteredGroupError(what, where=error.where, advice=advice)
    raise error


def documents_given(rule: object, collapse: str | None = None, *, item_is_text: bool = False) -> Documents | None:
    """Return the rule for documents that a caller gave as a pattern, column, file or dict; None if none was given.

    ``item_is_text``: items are texts, and each is its own document.

    Raises: InputError.

    >>> documents_given("#.*").collapse, documents_given(None)
    ('max', None)
    """
    refuse("ingest", {"item_is_text": item_is_text, "item_to_document": rule, "collapse": collapse})
    if item_is_text:
        return Documents("", are_read=True, texts={})
    if rule is None:
        return None
    how = "max" if collapse is None else collapse
    if how not in get_args(Collapse):
        what = f"{argument('collapse', how)} is not known"
        raise InputError(what, advice=f"give one of {', '.join(get_args(Collapse))}")
    chosen = cast("Collapse", how)
    if isinstance(rule, Mapping):
        pairs = {str(item).encode(): str(document).encode() for item, document in rule.items()}
        return Documents("dict", chosen, pairs)
    text = os.fspath(rule) if isinstance(rule, os.PathLike) else rule
    if not isinstance(text, str) or not text:
        raise InputError(
            f"{argument('item_to_document')} is {text!r}",
            advice="give a pattern such as '#.*', a column, a file of items and documents, or a dict",
        )
    if Path(text).is_file():
        return Documents(text, chosen, _documents_in(text))
    documents = Documents(text, chosen)
    if isinstance(rule, os.PathLike) or (documents.no_file and not documents.is_column):
        raise InputError("no such file", where=shown_name(text), advice="check the path")
    advice = "write a regular expression for what to cut off, such as '#.*'; it cannot look around or refer back"
    check_pattern(text, argument("item_to_document", text), advice)
    return documents


def _documents_in(path: str) -> dict[bytes, bytes]:
    """Return the document of every item in a file with a row per item.

    Its columns are ``item`` and ``document``, or the first two. Raises: InputError for an item with two documents, and
    for any other file.
    """
    documents: dict[bytes, bytes] = {}
    with opened_records(path, "documents of items") as records:
        names = _two_columns(records, ("item", "document"), "one of items and one of documents")
        for row, *pair in _id_pairs(records, names):
            item, document = (of.encode() for of in pair)
            if documents.setdefault(item, document) != document:
                order = f"{shown(names[0])} is read as the items and {shown(names[1])} as their documents"
                other_way = "" if "item" in names else f"; {order}: if it is the other way round, name the columns so"
                what = f"item {shown(item)} already has another document above"
                raise records.places.error(row, what, advice=f"keep one{other_way}")
    return documents


def read_mapping(path: str) -> list[tuple[str, str]]:
    """Return the old and the new id of each row of a file, whose columns are ``old`` and ``new``, or the first two."""
    with opened_records(path, "old and new ids of items") as records:
        names = _two_columns(records, ("old", "new"), "one of old ids and one of new ids")
        return [(old, new) for _, old, new in _id_pairs(records, names)]


def _two_columns(records: Records, usual: tuple[str, str], meant: str) -> list[str]:
    """Return two columns if a file has both, else its first two (InputError for one); ``meant``: what they hold."""
    names = list(usual) if {*usual} <= {*records.header} else records.header[:2]
    if len(names) < 2:
        raise records.refused("there is only one column", advice=f"give {meant}")
    return names


def _id_pairs(records: Records, names: list[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the number of each row and its ids in two columns (InputError for anything else)."""
    for row, cells in enumerate(records.rows([records.header.index(name) for name in names])):
        try:
            first, second = (cell_id(cell, name) for cell, name in zip(cells, names, strict=True))
        except WrongValueError as error:
            raise error.at(records.places.place(row)) from None
        yield row, first, second

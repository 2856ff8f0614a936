"""The way into the layer: a path to a run or to labels, through the reader its format needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, TypeVar

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest import delimited, json_documents, jsonl, parquet, svmlight, trec
from ndcg_tracker.ingest.columns import DEFAULT_COLUMNS, LABEL_TABLE, RUN_APART, RUN_TABLE, Columns, Wanted
from ndcg_tracker.ingest.detection import READERS, detect_delimited, detect_reader
from ndcg_tracker.ingest.ir_datasets_labels import IR_DATASETS, ir_datasets_labels
from ndcg_tracker.ingest.places import DoubtfulError, NoPlaces, Places
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.scores import needed_scores
from ndcg_tracker.ingest.sources import Progress, Source
from ndcg_tracker.ingest.table import RankedTable, label_lists, ranked_table
from ndcg_tracker.rankings.ranking import LabelLists

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
    name: str | None = None,
) -> RankedTable:
    """Return the run that a file holds, with the labels and weights that came along.

    Parameters: ``path``, a file, compressed or not, or ``-`` for standard input. ``reader``: one of ``READERS``, None
    to tell from the file's name and content; ``json:NAME`` reads one of the several runs in a JSON document.
    ``columns``: for tables. ``scores_path``: the predictions that belong to a label/qid file, one per line.
    ``labels_apart``: whether the labels stand in another table, so that those of a table here are not read and its
    items need ids.
    ``progress``: called with the bytes done and the bytes there are (None: unknown). ``name``: what errors call the
    file, None for its path. Raises: InputError, one line, ``FILE:LINE: what; what to do``.
    """
    with Source(path, stdin=stdin, progress=progress, name=name) as source:
        head, format = run_reader(source, reader, columns, scores_path)
        small = len(head) <= SMALL
        if format != "svmlight":
            paths = _paths(source, format, columns, run_table(labels_apart=labels_apart), trec.RUN)
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

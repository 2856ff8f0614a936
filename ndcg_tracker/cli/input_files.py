"""The input of commands: files, with progress on a terminal, or tables and paths that Spark reads."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeVar

from ndcg_tracker.asked import Everyday, Option
from ndcg_tracker.cli.options import of_thread
from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from ndcg_tracker.api.evaluation import Evaluation
    from ndcg_tracker.api.reading import Reading
    from ndcg_tracker.errors import NdcgTrackerWarning


T = TypeVar("T")

Names = Annotated[Sequence[str] | None, Everyday("Name of the run, one per file.", default="the file's name")]
Engine = Annotated[
    Literal["here", "spark"],
    Option("spark: FILEs and labels are tables, or paths of Parquet, ORC or Delta files, that Spark reads."),
]


@dataclass(frozen=True)
class OfFiles:
    """How commands read files of runs: the names of the runs, and what reads them."""

    name: Names = None
    engine: Engine = "here"


_SECONDS_BETWEEN = 0.2


@dataclass
class Ahead(Generic[T]):
    """A file that was read ahead of its turn: its content or its error, and the warnings before that."""

    content: T | None = None
    error: BaseException | None = None
    warnings: list[NdcgTrackerWarning] = field(default_factory=list)

    def taken(self) -> T:
        """Return the content, after passing on the warnings. Raises: the error of the file."""
        from ndcg_tracker.errors import warn

        for warning in self.warnings:
            warn(warning)
        if self.error is not None:
            raise self.error
        assert self.content is not None
        return self.content


def read_ahead(paths: Sequence[str], n_jobs: int, read: Callable[[str], T]) -> Generator[Ahead[T] | None]:
    """Yield the content of each file; up to ``n_jobs`` files are read in parallel while earlier ones are in use.

    None stands for a file to read in its turn: a large file, of which only blocks are held in memory, or a path that is
    not a file. With fewer than two jobs or files, every file is read in its turn.
    """
    if n_jobs < 2 or len(paths) < 2:
        yield from (None for _ in paths)
        return
    from ndcg_tracker.concurrency import mapped
    from ndcg_tracker.ingest.reading import fits_into_memory

    def ahead(path: str) -> Ahead[T] | None:
        if not fits_into_memory(path):
            return None
        entry = Ahead[T]()
        of_thread.warnings = entry.warnings
        try:
            entry.content = read(path)
        except BaseException as error:  # raised again when the turn of the file comes
            entry.error = error
        finally:
            del of_thread.warnings
        return entry

    yield from mapped(ahead, paths, n_jobs)


def require_file(path: str) -> None:
    """Refuse the path of a run that does not exist (InputError), before the labels are read; ``-`` is fine."""
    from ndcg_tracker.words.texts import shown_name

    if path != "-" and not Path(path).exists():
        raise InputError("no such file", where=shown_name(path), advice="check the path")


def run_names(paths: Sequence[str], given: Sequence[str] | None, *, of_stdin: str | None = None) -> list[str]:
    """Return the name of each run: the given names, else the names of the files.

    Parameters: ``of_stdin``: the name of a run from standard input, None if one must be given. Raises:
    InputError if the numbers of names and files differ, or two runs have one name.
    """
    from ndcg_tracker.errors import InputError
    from ndcg_tracker.ingest.detection import default_run_name
    from ndcg_tracker.words.texts import counted

    if given and len(given) != len(paths):
        raise InputError(
            f"{counted(len(given), 'name')} for {counted(len(paths), 'file')}",
            advice="give --name once per file, in their order, or leave it out",
        )
    names = list(given or ())
    for path in () if given else paths:
        names.append(of_stdin if path == "-" and of_stdin is not None else default_run_name(path))
    for place, name in enumerate(names):
        first = names.index(name)
        if first < place:
            what = f"{paths[first]} and {paths[place]} would both be run {name!r}"
            raise InputError(f"{what}; nothing was read", advice="give each file its own --name", joint=": ")
    return names


@contextmanager
def shown_reading(path: str) -> Iterator[None]:
    """Draw how much of a file is read (see ``drawn_progress``)."""
    from ndcg_tracker.ingest.source import watched

    with drawn_progress("reading", path) as draw, watched(draw):
        yield


@contextmanager
def drawn_progress(
    doing: str, path: str, unit: str = "MB", size: float = 1e6
) -> Iterator[Callable[[int, int | None], None] | None]:
    """Give a callback that draws one line on standard error and clears it at the end; None without a terminal.

    Call it with the amount done and the total amount; ``size`` of it is one ``unit``.
    """
    if not sys.stderr.isatty():
        yield None
        return
    from ndcg_tracker.render.terminal import shortened, visible

    name = shortened(visible(path), 40)
    drawn = time.monotonic()

    def draw(done: int, total: int | None) -> None:
        nonlocal drawn
        if time.monotonic() - drawn < _SECONDS_BETWEEN:
            return
        drawn = time.monotonic()
        share = f" {100 * done / total:3.0f}%" if total else ""
        sys.stderr.write(f"\r\x1b[K{doing} {name} {done / size:,.0f} {unit}{share}")
        sys.stderr.flush()

    try:
        yield draw
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def spark_evaluations(reading: Reading, labels: str | None, metrics: Sequence[str]) -> Callable[[str], Evaluation]:
    """Return a function that evaluates the run of a path or table against the labels of another."""
    from ndcg_tracker.integrations import spark

    of_labels = None if labels is None else spark.table(labels)
    return lambda name: spark.evaluated(reading, spark.table(name), of_labels, metrics)


@contextmanager
def read_by_spark(
    reading: Reading, files: Sequence[str], labels: str | None, metrics: Sequence[str]
) -> Iterator[tuple[list[str], str | None]]:
    """Give Parquet files of the runs and the labels that Spark reads under these names (see ``spark.as_parquet``)."""
    from ndcg_tracker.integrations import spark
    from ndcg_tracker.integrations.batches import usable_metrics

    usable_metrics(metrics)
    tables = [spark.table(name) for name in files]
    beside = None if labels is None else spark.table(labels)
    with spark.as_parquet(tables, beside, reading.of_run(labels), reading.of_labels()) as paths:
        yield paths

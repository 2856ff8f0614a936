"""Every way in which a file can be read: at once, quickly, block by block, and the format told by its content."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import NoPlaces
from ndcg_tracker.ingest.columns import RUN_TABLE, Columns
from ndcg_tracker.ingest.detection import detect_reader
from ndcg_tracker.ingest.formats.svmlight import Scores
from ndcg_tracker.ingest.group_blocks import GroupBlock, text_group_blocks
from ndcg_tracker.ingest.reading import ranked_blocks, read_labels, read_run, stream_run, text_table
from ndcg_tracker.ingest.source import Source
from ndcg_tracker.ingest.table import RankedTable, label_lists, ranked_table
from ndcg_tracker.rankings.ranking import GroupedItems

from .fast_paths import fast_rows
from .grammar import LABELS, RUN, Table
from .grammar.table import Role

_SIZES = (1, 30, 90, 300, 1 << 20)


@dataclass(frozen=True)
class Sample:
    """One input: the file, and for label/qid files the scores and the group sizes next to it."""

    content: bytes
    scores: bytes = b""
    sizes: bytes | None = None
    is_damaged: bool = False


@dataclass(frozen=True)
class Reader:
    """One reader in one role: how files for it are made, and what a file means."""

    name: str
    reader: str
    role: Role
    made: Callable[[Random], Sample]
    meaning: Callable[[Sample], Table]


def ways(reader: Reader, one: Sample, random: Random, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield every way in which a file can be read: at once, quickly, block by block, block by block quickly."""
    file = folder / "scores"
    options: dict[str, Any] = {}
    path = "-"
    if reader.reader == "svmlight":
        if reader.role == RUN:
            file.write_bytes(one.scores)
            options["scores_path"] = str(file)
        if one.sizes is not None:
            path = str(folder / "labels.svm")
            Path(path).write_bytes(one.content)
            Path(f"{path}.query").write_bytes(one.sizes)
    stdin = partial(io.BytesIO, one.content)
    yield "format by content", lambda: _detected(one.content)
    if reader.role == LABELS:
        yield "whole", lambda: (None, _listed(read_labels(path, reader=reader.reader, stdin=stdin())), None)
    else:
        yield "whole", lambda: _parts([read_run(path, reader=reader.reader, stdin=stdin(), **options)])
    if not one.content:
        return
    if reader.reader != "parquet":
        yield "quick", lambda: _quick(reader, path, one, random.choice(_SIZES))
    if reader.role == RUN:
        if reader.reader == "parquet":
            size = random.choice((1, 2, 3, 1000))
            yield f"stream of {size} rows", lambda: _streamed_parquet(one.content, size)
            return
        for fast in (False, True):
            size = random.choice(_SIZES)
            yield (
                f"stream of {size} bytes{' quickly' if fast else ''}",
                lambda size=size, fast=fast: _streamed(reader.reader, path, one, options, size, fast=fast),
            )


def _detected(content: bytes) -> None:
    """Let the format be told by the content: whatever the answer, it is one, or a refusal that names the choices."""
    try:
        detect_reader("-", content)
    except InputError as error:
        if not str(error).startswith("<stdin>: cannot tell the format; name it with reader= ("):
            raise AssertionError(str(error)) from error


def _streamed_parquet(content: bytes, n_rows: int) -> Any:
    with stream_run("-", reader="parquet", stdin=io.BytesIO(content), block_rows=n_rows) as stream:
        return _parts(list(stream))


def _streamed(reader: str, path: str, one: Sample, options: dict[str, Any], n_bytes: int, *, fast: bool) -> Any:
    with ExitStack() as files:
        source = files.enter_context(Source(path, stdin=io.BytesIO(one.content), once=True))
        scores = None
        if options:
            scores = Scores(files.enter_context(Source(options["scores_path"], once=True)))
        blocks = text_group_blocks(source, text_table(source, reader, Columns(), RUN_TABLE), n_bytes, fast=fast)
        return _parts(list(ranked_blocks(source, blocks, scores)))


def _quick(reader: Reader, path: str, one: Sample, n_bytes: int) -> Any:
    """Return what the fast path alone reads from a file, None if it leaves the file to the exact one."""
    with ExitStack() as files:
        source = files.enter_context(Source(path, stdin=io.BytesIO(one.content)))
        rows = fast_rows(source, reader.reader, reader.role, n_bytes)
        if rows is None:
            return None
        return _judged(reader, rows)


def _judged(reader: Reader, rows: Any) -> Any:
    def exact() -> Any:
        raise _LeftError

    try:
        block = GroupBlock(rows, NoPlaces(), exact)
        if reader.role == LABELS:
            return None, _listed(block.assembled(label_lists)), None
        return _parts([block.assembled(ranked_table)])
    except _LeftError:
        return None


class _LeftError(Exception):
    """The fast path has left the file to the exact one."""


def _parts(tables: list[RankedTable]) -> tuple[Any, ...]:
    run = [row for one in tables for row in _listed(one.ranking)]
    labels = [row for one in tables if one.labels is not None for row in _listed(one.labels)]
    weighted = [one.weights for one in tables if one.weights is not None]
    weights = {
        group: value
        for one in weighted
        for group, value in zip(one.group_keys.to_list(), one.values.tolist(), strict=True)
    }
    return run, labels or None, weights if weighted else None


def _listed(items: GroupedItems) -> list[tuple[str, str, float]]:
    groups, keys, numbers = items.group_keys.to_list(), items.item_keys.to_list(), items.numbers.tolist()
    ends = items.offsets.tolist()
    return [
        (groups[group], keys[row], numbers[row])
        for group in range(items.n_groups)
        for row in range(ends[group], ends[group + 1])
    ]

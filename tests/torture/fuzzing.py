"""Row 11: every reader against an independent grammar of its format, on well-formed files and on damaged ones."""

from __future__ import annotations

import io
import re
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest import Columns, detect_reader, read_labels, read_run, stream_run
from ndcg_tracker.ingest.group_blocks import text_group_blocks
from ndcg_tracker.ingest.reading import Paths, assembled
from ndcg_tracker.ingest.scores import Scores
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.ingest.streaming import ranked_blocks, text_table
from ndcg_tracker.ingest.table import RankedTable, label_lists, ranked_table
from ndcg_tracker.rankings.ranking import GroupedItems

from . import hostile_files, parquet_files
from .fast_paths import fast_rows
from .grammar import LABELS, RUN, RefusedError, Table, delimited, json_lines, label_qid, trec_qrels, trec_run
from .grammar.table import Role
from .report import Outcome, Setting

SEED = 20261121
N_FULL, N_QUICK = 10_000, 100
_GZIP = b"\x1f\x8b"  # what begins so is no text, whatever its name; row 13 is about it
_AGAIN = "comes again after another group"
_SIZES = (1, 30, 90, 300, 1 << 20)


@dataclass(frozen=True)
class Sample:
    """One input: the file, and for label/qid files the scores and the group sizes beside it."""

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


def _reader(
    name: str, role: Role, made: Callable[[Random], bytes], meaning: Callable[[bytes], Table], shown: str = ""
) -> Reader:
    return Reader(
        shown or f"{name} {role}", name, role, lambda random: Sample(made(random)), lambda one: meaning(one.content)
    )


def _delimited(name: str, role: Role) -> Reader:
    sign = "," if name == "csv" else "\t"
    made = partial(hostile_files.delimited_file, delimiter=sign, labels=role == LABELS)
    return _reader(name, role, made, partial(delimited, role=role, delimiter=sign))


def _label_qid(role: Role, *, has_groups: bool) -> Reader:
    def made(random: Random) -> Sample:
        content, scores, sizes = hostile_files.label_qid_file(random, has_groups)
        return Sample(content, scores, None if has_groups else sizes)

    def meaning(one: Sample) -> Table:
        return label_qid(one.content, role, one.scores, one.sizes)

    beside = [*(["--scores"] if role == RUN else []), *([] if has_groups else [".query"])]
    return Reader(" and ".join([f"label/qid {role}", *beside]), "svmlight", role, made, meaning)


READERS = (
    _reader("trec", RUN, partial(hostile_files.trec_file, n_fields=6), trec_run),
    _reader("trec", LABELS, partial(hostile_files.trec_file, n_fields=4), trec_qrels, "qrels"),
    *(_delimited(name, role) for name in ("csv", "tsv") for role in (RUN, LABELS)),
    *(
        _reader("jsonl", role, partial(hostile_files.json_file, labels=role == LABELS), partial(json_lines, role=role))
        for role in (RUN, LABELS)
    ),
    *(_label_qid(role, has_groups=has_groups) for role in (RUN, LABELS) for has_groups in (True, False)),
    *(
        _reader(
            "parquet",
            role,
            partial(parquet_files.parquet_file, role=role),
            partial(parquet_files.parquet_table, role=role),
        )
        for role in (RUN, LABELS)
    ),
)


class _UnreadableError(RefusedError):
    """The library cannot read the file, for a reason of its own."""


def sample(random: Random, reader: Reader) -> Sample:
    """Return a file for a reader: a third of them well-formed, the others damaged somewhere."""
    made = reader.made(random)
    if random.random() < 0.33:
        return made
    parts = ["content"] * 3 + (["scores"] if made.scores else []) + ([] if made.sizes is None else ["sizes"])
    part = random.choice(parts)
    return replace(made, is_damaged=True, **{part: hostile_files.damaged(random, getattr(made, part))})


def defects(reader: Reader, one: Sample, random: Random, folder: Path) -> Iterator[str]:
    """Yield what is wrong with how a reader takes a file, in each of its ways; nothing where all is well."""
    expected: Table | RefusedError
    try:
        expected = reader.meaning(one)
    except RefusedError as error:
        expected = RefusedError(error.lines | {None}, str(error)) if _GZIP in _starts(one) else error
    except Exception as error:  # Parquet: whatever the library raises for what it cannot read
        if reader.reader != "parquet":
            raise
        expected = _UnreadableError([None, *range(1, 100)], f"{type(error).__name__}: {error}")
    for way, read in _ways(reader, one, random, folder):
        try:
            found: Any = read()
        except InputError as error:
            found = str(error)
        except Exception as error:
            yield f"traceback: {way}: {type(error).__name__}: {error}"
            continue
        if found is not None:
            yield from (
                f"{what}: {way}: {found!r:.300}; grammar: {expected!r:.300}" for what in _wrong(expected, found)
            )


def _is_open(one: Sample, expected: Table | RefusedError, found: Any) -> bool:
    """Return whether nobody can say who is right about a damaged Parquet file.

    The library may stumble over a column that is not wanted, or over a page in one way of reading and not in another.
    """
    if isinstance(found, str):
        return one.is_damaged and ": no readable Parquet file (" in found
    return one.is_damaged and isinstance(expected, _UnreadableError)


def _starts(one: Sample) -> set[bytes]:
    return {(part or b"")[:2] for part in (one.content, one.scores, one.sizes)}


def _wrong(expected: Table | RefusedError, found: Any) -> Iterator[str]:
    """Yield how what was read, or the message of the refusal, differs from what the file means."""
    if isinstance(found, str):
        place = re.match(r"\S+?:(?:(\d+):| row (\d+):)? ", found)
        if place is None or not found.isprintable():
            yield "no place, or not one printable line"
            return
        line = int(place[1] or place[2]) if place[1] or place[2] else None
        if isinstance(expected, Table):
            if not (_AGAIN in found and line in expected.comes_again):
                yield "refused, though valid"
        elif _AGAIN not in found and line not in expected.lines:
            yield f"refused at {line}, not at {sorted(expected.lines, key=str)[:9]}"
    elif isinstance(expected, RefusedError):
        yield "silent acceptance"
    elif _bits(found) != _bits((expected.run, expected.labels)) or not _same_weights(found[2], expected.weights):
        yield "other values"


def _bits(read: tuple[Any, ...]) -> list[Any]:
    return [
        None if rows is None else [(group, item, struct.pack(">d", number)) for group, item, number in rows]
        for rows in read[:2]
    ]


def _same_weights(found: dict[str, float] | None, expected: dict[str, list[float]] | None) -> bool:
    """Compare to the mean weight of each group; equal weights have to be exact."""
    if found is None or expected is None:
        return found is None and expected is None
    if list(found) != list(expected):
        return False
    for group, weights in expected.items():
        mean = weights[0] if len(set(weights)) == 1 else sum(weight / len(weights) for weight in weights)
        allowed = 0.0 if len(set(weights)) == 1 else 1e-12 * mean
        if abs(found[group] - mean) > allowed:
            return False
    return True


def _ways(reader: Reader, one: Sample, random: Random, folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
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
        if not str(error).startswith("<stdin>: cannot tell the format; name it with --reader ("):
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
        blocks = text_group_blocks(source, text_table(source, reader, Columns()), n_bytes, fast=fast)
        return _parts(list(ranked_blocks(source, blocks, scores)))


def _quick(reader: Reader, path: str, one: Sample, n_bytes: int) -> Any:
    """Return what the fast path alone makes of a file, None where it leaves the file to the exact one."""
    with ExitStack() as files:
        source = files.enter_context(Source(path, stdin=io.BytesIO(one.content)))
        rows = fast_rows(source, reader.reader, reader.role, n_bytes)
        if rows is None:
            return None
        if reader.reader == "svmlight" and reader.role == RUN:
            scores = Scores(files.enter_context(Source("-", stdin=io.BytesIO(one.scores))))
            numbers = scores.take(rows.n_rows)
            scores.finish(source, rows.n_rows)
            rows = replace(rows, scores=numbers)
        return _judged(reader, rows)


def _judged(reader: Reader, rows: Any) -> Any:
    def exact() -> Any:
        raise _LeftError

    try:
        paths = Paths(exact, lambda: rows)
        if reader.role == LABELS:
            return None, _listed(assembled(paths, label_lists, small=False)), None
        return _parts([assembled(paths, ranked_table, small=False)])
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


def outcomes(setting: Setting) -> Iterator[Outcome]:
    """Yield one outcome per reader."""
    n_files = N_FULL if setting.size == "full" else N_QUICK
    for reader in READERS:
        random = Random(f"{SEED} {reader.name}")
        n_valid = 0
        found: Counter[str] = Counter()
        for _ in range(n_files):
            one = sample(random, reader)
            try:
                reader.meaning(one)
                n_valid += 1
            except Exception:
                pass
            for defect in defects(reader, one, random, setting.folder):
                found[defect.partition(":")[0]] += 1
        told = ", ".join(f"{count} x {what}" for what, count in sorted(found.items())) or "0 tracebacks, 0 differences"
        yield Outcome(
            11,
            f"fuzzing the reader of {reader.name}",
            "-",
            "0 tracebacks, 0 silent acceptances, valid files accepted with equal values, faults told at their line",
            f"{n_files} files (seed {SEED}), {n_valid} of them valid: {told}",
            met=not found,
        )

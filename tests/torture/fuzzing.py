"""Row 11: readers against an independent grammar of their format, on well-formed files and on damaged ones."""

from __future__ import annotations

import re
import struct
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.columns import ColumnWarning

from . import hostile_files, parquet_files
from .grammar import LABELS, RUN, RefusedError, Table, delimited, json_lines, label_qid, trec_qrels, trec_run
from .grammar.table import Role
from .report import Outcome, Setting
from .ways_of_reading import Reader, Sample, ways

SEED = 20261121
N_FULL, N_QUICK = 10_000, 100
_GZIP = b"\x1f\x8b"  # what begins so is no text, whatever its name; row 13 is about it
_AGAIN = "are not contiguous"


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

UNFUZZED = {
    "json": "documents of several tools, each of its own shape; tests/ingest/test_json_documents.py draws them",
    "yaml": "the same documents; tests/ingest/test_yaml.py compares them with JSON",
    "trec_eval": "results, not runs; tests/ingest/test_results.py reads them",
}
"""The readers that have no grammar of their own here, and why."""


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
    for way, read in ways(reader, one, random, folder):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ColumnWarning)
                found: Any = read()
        except InputError as error:
            found = str(error)
        except Exception as error:
            yield f"traceback: {way}: {type(error).__name__}: {error}"
            continue
        if found is None or (reader.reader == "parquet" and _is_open(one, expected, found)):
            continue
        for what in _wrong(expected, found):
            yield f"{what}: {way}: {found!r:.300}; grammar: {expected!r:.300}"


def _is_open(one: Sample, expected: Table | RefusedError, found: Any) -> bool:
    """Return whether nobody can say who is right about a damaged Parquet file.

    The library may stumble over a column that is not wanted, or over a page in one way of reading and not in another.
    """
    if isinstance(found, str):
        return one.is_damaged and ": not a readable Parquet file (" in found
    return one.is_damaged and isinstance(expected, _UnreadableError)


def _starts(one: Sample) -> set[bytes]:
    return {(part or b"")[:2] for part in (one.content, one.scores, one.sizes)}


def _wrong(expected: Table | RefusedError, found: Any) -> Iterator[str]:
    """Yield how what was read, or the message of the refusal, differs from what the file means."""
    if isinstance(found, str):
        place = re.match(r"\S+?:(?:(\d+):| row (\d+)(?:, element \d+)?:)? ", found)
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
            "0 tracebacks, 0 silent acceptances, valid files accepted with equal values, faults reported at their line",
            f"{n_files} files (seed {SEED}), {n_valid} of them valid: {told}",
            met=not found,
        )

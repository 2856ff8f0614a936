"""Label/qid files (SVMlight, LETOR, LightGBM): ``label qid:3 1:0.5 ... # comment``; features are not read."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import BinaryIO

import numpy as np

from ndcg_tracker.ingest.gathering import GatheredRows
from ndcg_tracker.ingest.numbers import number
from ndcg_tracker.ingest.places import Places, shown, shown_name
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.ingest.table import Rows

_LINE = re.compile(
    rb"[ \t]*+([^ \t#]++)(?:[ \t]++qid:([^ \t#]++))?+(?:[ \t]++[0-9]++:[^ \t#:]++)*+[ \t]*+(?:#.*+)?+", re.DOTALL
)
_NO_ROW = re.compile(rb"[ \t]*(?:#.*)?", re.DOTALL)
_FEATURE = re.compile(rb"[0-9]+:[^ \t#:]+")
_SIZE = re.compile(rb"[0-9]{1,15}")


def exact_rows(source: Source) -> tuple[Rows, Places]:
    """Return the rows of a label/qid file and their lines; items are known by their row's number within the group.

    Without ``qid:`` fields the sizes of the groups stand in the file's sibling ``FILE.query``, as LightGBM has it,
    and a group's id is its number from 1. Raises: InputError naming the line for what is no label/qid line and for a
    grade that is no number; also for group sizes that do not fit the rows.
    """
    gathered = GatheredRows(["label"])
    sizes: list[int] | None = None
    groups: Iterator[bytes] = iter(())
    first_line = 0
    for line_number, line in source.lines():
        match = _LINE.fullmatch(line)
        if match is None:
            if _NO_ROW.fullmatch(line) is None:
                raise source.error(_wrong_line(line), line_number)
            continue
        try:
            grade = number(match[1])
        except ValueError as error:
            raise source.error(f"label {error}", line_number) from None
        group = match[2]
        if not first_line:
            first_line = line_number
            if group is None:
                sizes = _group_sizes(source)
                groups = _group_of_rows(sizes)
        if (group is None) != (sizes is not None):
            what = "no qid: field, but line" if group is None else "a qid: field, but none in line"
            raise source.error(f"{what} {first_line}{' has one' if group is None else ''}; use one form", line_number)
        gathered.add(line_number, next(groups, b"0") if group is None else group, None, (grade,))
    if sizes is not None and sum(sizes) != len(gathered):
        total = sum(sizes)
        raise source.error(
            f"{len(gathered)} rows, but the group sizes in {source.name}.query sum to {total}; make them fit"
        )
    return gathered.rows(source.name)


def scored_rows(source: Source, scores_path: str | None, stdin: BinaryIO | None) -> tuple[Rows, Places]:
    """Return the rows of ``exact_rows`` with the scores that stand in another file, one per line.

    Raises: InputError for a missing ``scores_path``, for a line that is no number and for another number of scores
    than rows.
    """
    if scores_path is None:
        raise source.error("a label/qid file has no scores; give the predictions, one per line, with --scores FILE")
    if scores_path == source.path == "-":
        raise source.error("the run and its scores cannot both come from standard input; put one in a file")
    rows, places = exact_rows(source)
    scores = array("d")
    with Source(scores_path, stdin=stdin) as file:
        for line_number, line in file.lines():
            text = line.strip(b" \t")
            if not text:
                continue
            try:
                scores.append(number(text))
            except ValueError as error:
                raise file.error(f"score {error}", line_number) from None
        if len(scores) != rows.n_rows:
            raise file.error(f"{_counted(len(scores))} for the {rows.n_rows} rows of {source.name}; give one per row")
    return replace(rows, scores=np.array(scores, dtype=np.float64)), places


def _group_sizes(source: Source) -> list[int]:
    if source.path == "-":
        raise source.error("no qid: fields, and standard input has no .query file beside it; give a file")
    plain = source.path.removesuffix(".gz")
    candidates = [source.path + ".query", plain + ".query", plain + ".query.gz"]
    path = next((path for path in candidates if Path(path).exists()), None)
    if path is None:
        what = f"no qid: fields, and there is no {shown_name(plain)}.query with the group sizes"
        raise source.error(f"{what}; add one of the two")
    sizes = []
    with Source(path) as file:
        for line_number, line in file.lines():
            text = line.strip(b" \t")
            if not text:
                continue
            if _SIZE.fullmatch(text) is None or not int(text):
                raise file.error(f"{shown(text)} is no group size; write one whole number from 1 per line", line_number)
            sizes.append(int(text))
    return sizes


def _group_of_rows(sizes: list[int]) -> Iterator[bytes]:
    for number_of_group, size in enumerate(sizes, 1):
        yield from repeat(b"%d" % number_of_group, size)


def _wrong_line(line: bytes) -> str:
    fields = [field for field in line.partition(b"#")[0].replace(b"\t", b" ").split(b" ") if field]
    after = 2 if len(fields) > 1 and re.fullmatch(rb"qid:.+", fields[1], re.DOTALL) else 1
    wrong = next((field for field in fields[after:] if _FEATURE.fullmatch(field) is None), fields[0])
    return f"{shown(wrong)} is no feature:value field; a line is 'label qid:ID 1:0.5 2:0.1 ...'"


def _counted(n_scores: int) -> str:
    return "1 score" if n_scores == 1 else f"{n_scores} scores"

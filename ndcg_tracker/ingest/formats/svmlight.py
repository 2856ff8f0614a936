"""Label/qid files (SVMlight, LETOR, LightGBM): ``label qid:3 1:0.5 ... # comment``; features are not read."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count, islice, repeat
from pathlib import Path
from typing import TypeVar

import numpy as np

from ndcg_tracker.errors import ReadWarning, argument, warn
from ndcg_tracker.ingest.cells import LinePlaces, WrongValueError, number
from ndcg_tracker.ingest.columns import ColumnWarning, Refused
from ndcg_tracker.ingest.detection import COMPRESSIONS, without_compression
from ndcg_tracker.ingest.group_blocks import LineFormat
from ndcg_tracker.ingest.plain import gathered
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import Lines, Source
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.words.texts import counted, in_a_row, shown, shown_name

_LINE = re.compile(
    rb"[ \t]*+([^ \t#]++)(?:[ \t]++qid:([^ \t#]++))?+(?:[ \t]++[0-9]++:[^ \t#:]++)*+[ \t]*+(?:#.*+)?+", re.DOTALL
)
_NO_ROW = re.compile(rb"[ \t]*(?:#.*)?", re.DOTALL)
_FEATURE = re.compile(rb"[0-9]+:[^ \t#:]+")
_QUERY, _WEIGHT, _NOT_READ = ".query", ".weight", (".init", ".position")
T = TypeVar("T")
_SIZE = re.compile(rb"[0-9]{1,15}")


class LabelQid(LineFormat):
    """A label/qid file (see ``LineFormat``); items are identified by their row's number within the group.

    Without ``qid:`` fields the sizes of the groups are in a file ``FILE.query`` next to it, as in LightGBM, and a
    group's id is its number from 1. A file ``FILE.weight`` next to it has the weight of each row, as in LightGBM.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._first_line = 0
        self._sizes: Index | None = None
        path = _beside(source, _WEIGHT)
        self._weights: list[float] | None = None
        if path is not None:
            warn(ReadWarning(f"read {shown_name(path)} as the weights of the rows", where=shown_name(source.path)))
            with Source(path) as file:
                self._weights = list(_values_of(file, partial(number, role="weight")))
        not_read = [path for ending in _NOT_READ if (path := _beside(source, ending)) is not None]
        if not_read:
            names = in_a_row(list(map(shown_name, not_read)))
            verb, it = ("is", "it") if len(not_read) == 1 else ("are", "them")
            warn(ColumnWarning(f"{names} {verb} not read: LightGBM would use {it} to train"))

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows and their lines.

        Raises: InputError naming the line for anything but a label/qid line and for a wrong grade; also if the group
        sizes are needed and cannot be read.
        """
        roles = ["group", "label", *([] if self._weights is None else ["weight"])]
        return gathered(self._cells(lines), roles, lines.name)

    def _cells(self, lines: Lines) -> Iterator[tuple[int, list[object]]]:
        """Yield the line, the group, the grade and perhaps the weight of each row."""
        weights, row = self._weights, lines.first_row
        groups = self._groups_from(row)
        for line_number, line in lines.lines():
            match = _LINE.fullmatch(line)
            if match is None:
                if _NO_ROW.fullmatch(line) is None:
                    raise lines.error(_wrong_line(line), line_number)
                continue
            group = match[2]
            if not self._first_line:
                self._first_line = line_number
                if group is None:
                    self._sizes = np.array(_group_sizes(self._source), dtype=np.int64)
                    groups = self._groups_from(0)
            if (group is None) != (self._sizes is not None):
                there, here = (" has one", "no qid: field, but") if group is None else ("", "a qid: field, but none in")
                raise lines.error(
                    f"{here} line {self._first_line}{there}", line_number, advice="use one form in all lines"
                )
            weight = [] if weights is None else [weights[row] if row < len(weights) else None]
            yield line_number, [next(groups) if group is None else group, match[1], *weight]
            row += 1

    def finish(self, n_rows: int, refused: Refused) -> None:
        """Refuse group sizes and weights that do not fit the rows."""
        if self._weights is not None and len(self._weights) != n_rows:
            what = (
                f"{counted(n_rows, 'row')}, but {counted(len(self._weights), 'weight')} in {self._source.name}{_WEIGHT}"
            )
            raise refused(what, advice="give one per row")
        if self._sizes is not None and sum(self._sizes.tolist()) != n_rows:
            total = sum(self._sizes.tolist())
            raise refused(
                f"{n_rows} rows, but the group sizes in {self._source.name}.query sum to {total}",
                advice="correct the sizes or the rows",
            )

    def _groups_from(self, row: int) -> Iterator[bytes]:
        """Return the group id of each row from this one on; a row beyond the sizes is its own group."""
        if self._sizes is None:
            return iter(())
        ends = np.cumsum(self._sizes)
        first = int(np.searchsorted(ends, row, "right"))
        lengths = self._sizes[first:].tolist()
        if lengths:
            lengths[0] = int(ends[first]) - row
        sized = chain.from_iterable(repeat(b"%d" % group, size) for group, size in enumerate(lengths, first + 1))
        beyond = 0 if lengths else row - sum(self._sizes.tolist())
        return chain(sized, (b"%d" % group for group in count(self._sizes.size + 1 + beyond)))


def _beside(source: Source, ending: str) -> str | None:
    """Return the path of the file next to a file whose name has one more ending, None if there is none."""
    if source.path == "-":
        return None
    plain = without_compression(source.path)
    endings = ["", *(ending for compression in COMPRESSIONS for ending in compression.endings)]
    candidates = [source.path + ending, *(f"{plain}{ending}{compressed}" for compressed in endings)]
    return next((path for path in candidates if Path(path).exists()), None)


def _group_sizes(source: Source) -> list[int]:
    if source.path == "-":
        raise source.error("no qid: fields, and standard input has no .query file next to it", advice="give a file")
    path = _beside(source, _QUERY)
    if path is None:
        what = (
            f"no qid: fields, and there is no {shown_name(without_compression(source.path))}.query with the group sizes"
        )
        raise source.error(what, advice="add one of the two")
    warn(ReadWarning(f"read {shown_name(path)} as the sizes of the groups", where=shown_name(source.path)))
    with Source(path) as file:
        return list(_values_of(file, _size))


def _size(text: bytes) -> int:
    if _SIZE.fullmatch(text) is None or not int(text):
        raise WrongValueError(f"{shown(text)} is not a group size", advice="write one whole number from 1 per line")
    return int(text)


def _wrong_line(line: bytes) -> str:
    fields = [field for field in line.partition(b"#")[0].replace(b"\t", b" ").split(b" ") if field]
    after = 2 if len(fields) > 1 and re.fullmatch(rb"qid:.+", fields[1], re.DOTALL) else 1
    wrong = next((field for field in fields[after:] if _FEATURE.fullmatch(field) is None), fields[0])
    return f"{shown(wrong)} is not a feature:value field; a line is 'label qid:ID 1:0.5 2:0.1 ...'"


def needed_scores(source: Source, path: str | None) -> str:
    """Return the path of the scores that a label/qid file requires. Raises: InputError if it cannot be used."""
    if path is None:
        raise source.error(
            "a label/qid file has no scores",
            advice=f"give the predictions, one per line, with {argument('scores', 'FILE')}",
        )
    if path == source.path == "-":
        raise source.error("the run and its scores cannot both come from standard input", advice="put one in a file")
    return path


class Scores:
    """The scores of a file, from its start to its end, in parts."""

    def __init__(self, file: Source) -> None:
        self._file = file
        self._scores = _values_of(file, partial(number, role="score"))
        self._n_taken = 0

    def take(self, n_rows: int) -> Floats:
        """Return the next scores, NaN where there are no more: float64, shape (n_rows,).

        Raises: InputError naming the line of a text that is not a number.
        """
        scores = np.array(array("d", islice(self._scores, n_rows)), dtype=np.float64)
        self._n_taken += scores.size
        return np.append(scores, np.full(n_rows - scores.size, np.nan))

    def finish(self, source: Source, n_rows: int) -> None:
        """Refuse a file with another number of scores than the rows of ``source``."""
        n_scores = self._n_taken + sum(1 for _ in self._scores)
        if n_scores != n_rows:
            counted = "1 score" if n_scores == 1 else f"{n_scores} scores"
            raise self._file.error(f"{counted} for the {n_rows} rows of {source.name}", advice="give one per row")


def _values_of(file: Source, read: Callable[[bytes], T]) -> Iterator[T]:
    """Yield what is read in each line that is not blank (InputError naming the line)."""
    for line_number, line in file.lines():
        if text := line.strip(b" \t"):
            try:
                yield read(text)
            except WrongValueError as error:
                raise error.at(f"{file.name}:{line_number}") from None

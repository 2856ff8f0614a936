"""TREC runs and qrels: fields between blanks or tabs, no header, no quoting; lines that begin with ``#`` are comments.

As in trec_eval 10, words may follow the tag of a run's line, and the rank has no effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import (
    KEEP_ONE,
    NO_RANK,
    DoubtfulError,
    LinePlaces,
    is_number,
    rank_of,
)
from ndcg_tracker.ingest.group_blocks import LineFormat
from ndcg_tracker.ingest.plain import gathered
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import BLOCK, Lines, plain_lines
from ndcg_tracker.rankings import Bytes

_BLANKS = b" \t\r\n"
_ONE_JUDGE = f"{KEEP_ONE}; if there are several judges (trec_eval -R qrels_jg), keep the lines of one judge"
_OF_TWO_ROWS = 11  # a line of this many fields may be two rows with no line end between them
_ZSCORES = re.compile(rb"[^ \t]+[ \t]+[A-Za-z][A-Za-z0-9_.]*[ \t]+-?[0-9]+\.[0-9]{4}[ \t]+-?[0-9]+\.[0-9]{4}[ \t]*")
_WINDOW = 1 << 18  # bytes processed at a time: the temporary arrays fit into the cache
_BLANK = 0x20
_NEWLINE = 0x0A
_HASH = 0x23
_COMMENTS = re.compile(rb"^#[^\n]*\n?", re.MULTILINE)
_TAB_TO_BLANK = bytes.maketrans(b"\t", b" ")
_OF_NUMBERS = b"0123456789+-.eE"


@dataclass(frozen=True, slots=True)
class Layout:
    """The fields of one kind of TREC file; only group, item, number and rank are read.

    A kind with a rank may have words after the last field.
    """

    kind: str
    fields: tuple[str, ...]
    item: int
    number: int
    role: str
    rank: int | None = None

    @property
    def columns(self) -> dict[str, int]:
        """The place of each role."""
        ranks = {} if self.rank is None else {"rank": self.rank}
        return {"group": 0, "item": self.item, self.role: self.number, **ranks}


RUN = Layout("run", ("group", "Q0", "item", "rank", "score", "tag"), 2, 4, "score", 3)
QRELS = Layout("labels", ("group", "iteration", "item", "grade"), 2, 3, "label")


class Trec(LineFormat):
    """A TREC file of one kind (see ``LineFormat``).

    Arrow's parser reads everything that is not in doubt: it takes 0.03 s for 500,000 lines (14 MB), the exact reader
    1.0 s (``benchmarks/tricks.py``).
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows and their lines.

        Raises: InputError naming the line for a wrong number of fields and for a text that is not a number; also for a
        file of another kind, if its first line shows it.
        """
        layout, n_fields = self._layout, len(self._layout.fields)
        item, score, rank = layout.item, layout.number, layout.rank

        def rows() -> Iterator[tuple[int, list[object]]]:
            is_first = lines.is_first
            for number, line in lines.lines():
                fields = line.split(b" ")
                if len(fields) != n_fields or b"" in fields or b"\t" in line or line.startswith(b"#"):
                    fields = _fields(line)
                    if not fields:
                        continue
                    if len(fields) != n_fields and (b"\r" in line or not _goes_on(fields, layout)):
                        raise _wrong_fields(fields, layout).at(f"{lines.name}:{number}")
                if is_first:
                    _refuse_other_kinds(lines, line, number, layout)
                    is_first = False
                ranks = [] if rank is None else [rank_of(fields[rank])]
                yield number, [fields[0], fields[item], fields[score], *ranks]

        if_twice = _ONE_JUDGE if layout is QRELS else KEEP_ONE
        return gathered(rows(), [*layout.columns], lines.name, if_twice=if_twice)

    def fast(self, lines: Lines) -> Rows:
        """Return the rows, read by Arrow's parser."""
        from ndcg_tracker.ingest.arrow import ArrowCsv

        blocks = lines.pieces(BLOCK)
        first = next(blocks, b"")
        n_fields = self._n_fields(first, lines)
        parser = ArrowCsv(b" ", n_fields, self._layout.columns, quoting=False, checked=trec_lines)
        return self._beyond_doubt(parser.rows(chain([first], blocks)), n_fields)

    def n_rows_of(self, line: bytes) -> int:
        """Return whether a line is neither blank nor a comment."""
        return bool(_fields(line.strip(_BLANKS)))

    def _n_fields(self, text: bytes, lines: Lines) -> int:
        """Return how many fields each line of a text should have: as many as the first, if that number is allowed.

        Raises: DoubtfulError if a file's first line belongs to another kind of file.
        """
        layout, start = self._layout, 0
        while start < len(text):
            end = text.find(b"\n", start)
            end = len(text) if end < 0 else end
            line = text[start:end].strip(_BLANKS)
            if fields := _fields(line):
                if lines.is_first and layout is QRELS and _ZSCORES.fullmatch(line):
                    raise DoubtfulError("z-scores")
                return len(fields) if _goes_on(fields, layout) and len(fields) < _OF_TWO_ROWS else len(layout.fields)
            start = end + 1
        return len(layout.fields)

    def _beyond_doubt(self, rows: Rows, n_fields: int) -> Rows:
        if n_fields > len(self._layout.fields) and rows.ranks is not None and (rows.ranks == NO_RANK).any():
            raise DoubtfulError("a blank in an id, or words behind the tag")
        return rows


def _fields(line: bytes) -> list[bytes]:
    """Return the fields of a line, none of a comment."""
    fields = [field for field in line.replace(b"\t", b" ").split(b" ") if field]
    return [] if fields and fields[0].startswith(b"#") else fields


def _goes_on(fields: list[bytes], layout: Layout) -> bool:
    """Return whether there are words after the last field.

    Otherwise an id has a blank, so that the rank is not a whole number, or another row follows on the same line.
    """
    if layout.rank is None or len(fields) <= len(layout.fields) or rank_of(fields[layout.rank]) == NO_RANK:
        return False
    rest = fields[len(layout.fields) :]
    return not any(
        before == fields[1] and rank_of(rank) != NO_RANK and is_number(score)
        for before, _, rank, score in zip(rest, rest[1:], rest[2:], rest[3:], strict=False)
    )


def _refuse_other_kinds(source: Lines, line: bytes, line_number: int, layout: Layout) -> None:
    """Refuse a file whose lines only look right."""
    if layout is QRELS and _ZSCORES.fullmatch(line):
        what = "this is the mean and the deviation of a measure, as trec_eval -Z reads them, not a label"
        raise source.error(what, line_number, advice=f"give a file of lines {' '.join(layout.fields)}")


def _wrong_fields(fields: list[bytes], layout: Layout) -> InputError:
    n_fields = len(fields)
    count = "1 field" if n_fields == 1 else f"{n_fields} fields"
    what = f"{count} where a TREC {layout.kind} line has {len(layout.fields)} ({' '.join(layout.fields)})"
    advice, joint = f"correct the line or name another {argument('reader')}", "; "
    other = next(
        (candidate for candidate in (RUN, QRELS) if candidate is not layout and len(candidate.fields) == n_fields), None
    )
    if other is not None:
        advice = f"is this a {other.kind} file? Else {advice}"
    elif layout is QRELS and n_fields == len(QRELS.fields) + 1 and rank_of(fields[-1]) != NO_RANK:
        what += "; preferences, as trec_eval -R prefs reads them, are not supported"
        advice, joint = "give one grade per item", ": "
    elif layout is RUN and fields[0] == b"Q0":
        advice = "write the group before Q0"
    elif layout is RUN and n_fields > len(RUN.fields):
        what += "; words may follow the tag, but not a second row; ids have no blanks, and the rank is a whole number"
        advice = ""
    return InputError(what, advice=advice, joint=joint)


def single_blanks(block: bytes) -> bytes:
    """Return the lines of a TREC file with one blank between fields and none around them, without blank lines.

    Raises: see ``plain_lines``.

    >>> single_blanks(b" 1 \\t0  d3 1 \\n\\n2 0 d4 0\\n")
    b'1 0 d3 1\\n2 0 d4 0\\n'
    """
    block = plain_lines(block)
    if b"\t" in block:
        block = block.translate(_TAB_TO_BLANK)
    data = np.frombuffer(block, dtype=np.uint8)
    if not _has_double_blanks(data):
        return block
    before = _before(data)
    data = data[(data != _BLANK) | ((before != _BLANK) & (before != _NEWLINE))]
    after = np.append(data[1:], np.uint8(_NEWLINE))
    data = data[(data != _BLANK) | (after != _NEWLINE)]
    data = data[(data != _NEWLINE) | (_before(data) != _NEWLINE)]
    return bytes(data)


def trec_lines(block: bytes) -> bytes:
    """Return the lines of a TREC file as ``single_blanks`` does, also without those that begin with ``#``.

    >>> trec_lines(b"# by hand\\n1 0 d#3 1\\n\\t#2 0 d4 0\\n")
    b'1 0 d#3 1\\n'
    """
    block = single_blanks(block)
    return _COMMENTS.sub(b"", block) if _has_comments(block) else block


def _has_double_blanks(data: Bytes) -> bool:
    """Return whether two blanks or control bytes are adjacent, or one is at the start or (no newline) at the end."""
    if data.size and (data[0] <= _BLANK or (data[-1] <= _BLANK and data[-1] != _NEWLINE)):
        return True
    for first in range(0, data.size, _WINDOW):
        low = data[first : first + _WINDOW + 1] <= _BLANK
        if (low[1:] & low[:-1]).any():
            return True
    return False


def _has_comments(block: bytes) -> bool:
    """Return whether a line begins with ``#``; looking for the two bytes together takes ten times as long."""
    if b"#" not in block:
        return False
    data = np.frombuffer(block, dtype=np.uint8)
    if data[0] == _HASH:
        return True
    for first in range(0, data.size, _WINDOW):
        window = data[first : first + _WINDOW + 1]
        if ((window[1:] == _HASH) & (window[:-1] == _NEWLINE)).any():
            return True
    return False


def _before(data: Bytes) -> Bytes:
    """Return the byte before each byte, a newline before the first."""
    return np.concatenate([np.array([_NEWLINE], dtype=np.uint8), data[:-1]])

"""CSV and TSV with a header: RFC 4180 quoting, empty cells are null, ids are the unchanged cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

import numpy as np

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.ingest.cells import DoubtfulError, LinePlaces, NoPlaces, WrongValueError, is_number, rank_of
from ndcg_tracker.ingest.columns import LABEL_TABLE, Columns, Refused, Wanted
from ndcg_tracker.ingest.group_blocks import LineFormat
from ndcg_tracker.ingest.plain import gathered
from ndcg_tracker.ingest.rows import Rows, in_asked_order
from ndcg_tracker.ingest.source import BLOCK, LONGEST_LINE, Lines, plain_lines
from ndcg_tracker.words.texts import shown

_QUOTE = b'"'
_QUEPID = [b"query", b"docid"]  # how its judgments begin; then comes the rating, or one rating per judge
_QUOTE_BYTE = 0x22
_NEWLINE = 0x0A


class _OpenQuoteError(WrongValueError):
    """The lines end inside a quoted cell."""


class Delimited(LineFormat):
    """A CSV or TSV file (see ``LineFormat``); the first line is the header if none was given.

    Arrow's parser reads everything that is not in doubt: it takes 0.04 s for 500,000 rows, the exact reader 0.8 s
    (``benchmarks/tricks.py``).
    """

    def __init__(self, delimiter: bytes, columns: Columns, wanted: Wanted) -> None:
        self._delimiter = delimiter
        self._columns = columns
        self._wanted = wanted
        self._n_cells = 0
        self._places: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._is_quepid = False

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows, read record by record, and their lines.

        Raises: InputError naming the line for a wrong number of cells, a misplaced quote, and a text that is not
        a number.
        """
        records = cells_of(lines, self._delimiter)
        if lines.is_first:
            line, header = next(records, (1, []))
            if not header and not lines.is_last:
                return gathered((), ["group"], lines.name)
            if self._columns.header is None:
                self._take_header(header, partial(self._not_a_header, lines, line, header))
            else:
                self._take_given_header(lines.error)
                if header == [name.encode() for name in self._columns.header]:
                    advice = f"leave out {argument('columns')}"
                    raise lines.error("the first line names the columns", line, advice=advice)
                records = chain([(line, header)] if header else [], records)
        empty_cells = [self._places[role] for role in ("item", "label")] if self._is_quepid else []
        rank, wanted = self._places.get("rank"), list(self._places.values())

        def cells_of_roles() -> Iterator[tuple[int, list[object]]]:
            for line, cells in whole_records(records, lines, self._n_cells, self._columns.header is None):
                if empty_cells and not any(cells[place] for place in empty_cells):
                    continue  # a query without a rated document
                found: list[object] = [cells[place] for place in wanted]
                if rank is not None:
                    found[wanted.index(rank)] = rank_of(cells[rank].strip(b" \t").removesuffix(b".0"))
                yield line, found

        rows, places = gathered(cells_of_roles(), [*self._places], lines.name)
        return in_asked_order(rows, self._columns, self._names), places

    def fast(self, lines: Lines) -> Rows:
        """Return the rows, read by Arrow's parser."""
        from ndcg_tracker.ingest.arrow import ArrowCsv

        blocks = lines.pieces(BLOCK)
        if lines.is_first and self._columns.header is None:
            blocks = self._after_header(blocks)
        elif lines.is_first:
            self._take_given_header(NoPlaces().whole)
        checked = partial(simple_quotes, delimiter=self._delimiter)
        rows = ArrowCsv(self._delimiter, self._n_cells, self._places, quoting=True, checked=checked).rows(blocks)
        return in_asked_order(rows, self._columns, self._names)

    def n_rows_of(self, line: bytes) -> int:
        """Return whether a line is not empty."""
        return bool(line.strip(b"\r\n"))

    def _after_header(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Return the text after the header in the blocks that begin with it."""
        from ndcg_tracker.ingest.source import plain_lines

        for block in blocks:
            text = plain_lines(block)
            while text:
                line, _, text = text.partition(b"\n")
                if line.strip(b" "):
                    try:
                        self._take_header(_cells(line, self._delimiter, _no_next_line), NoPlaces().whole)
                    except WrongValueError as error:
                        raise DoubtfulError(str(error)) from None
                    return chain([text], blocks)
        raise DoubtfulError("no header")

    def _take_header(self, header: list[bytes], refused: Refused) -> None:
        self._is_quepid = header[:2] == _QUEPID and "score" not in self._wanted.roles
        columns = self._columns
        if self._is_quepid:
            columns = replace(
                columns,
                group=columns.group or "query",
                item="docid" if columns.item is None else columns.item,
                label=columns.label or "rating",
            )
        names = [name.decode() for name in header]
        other = next((mark for mark in (";", "\t", "|") if len(names) == 1 and mark in names[0]), None)
        if other is not None:
            marks = {"\t": "tabs"}.get(other, repr(other))
            what = f"the header {shown(names[0])} is one column; is it separated by {marks}?"
            raise refused(what, advice="write the file with commas, or with tabs and the reader tsv", joint=" ")
        self._names = columns.names(names, self._wanted, refused)
        self._places = {role: names.index(name) for role, name in self._names.items()}
        self._n_cells = len(header)

    def _not_a_header(self, lines: Lines, line: int, header: list[bytes], what: str, **parts: str) -> InputError:
        """Return the error for a wrong header, which may not be a header at all."""
        error = InputError(what, **parts)
        where = f"{lines.name}:{line}"
        if not any(is_number(cell.strip(b" \t")) for cell in header):
            return error.at(where)
        named = f"name the columns with {argument('columns', 'NAME,NAME,...')}"
        if self._columns.is_shared and self._wanted is LABEL_TABLE:  # that argument is for the run
            named = f"name the columns after a slash, with {argument('columns', '/NAME,NAME,...')}"
        return error.at(where, f"if this line is a row, {named}")

    def _take_given_header(self, refused: Refused) -> None:
        self._take_header([name.encode() for name in self._columns.header or ()], refused)


def whole_records(
    records: Iterable[tuple[int, list[bytes]]], lines: Lines, n_cells: int, has_header: bool
) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the records, each with all cells (InputError); ``has_header``: whether the file says how many there are."""
    for line, cells in records:
        if len(cells) != n_cells:
            count = "1 cell" if len(cells) == 1 else f"{len(cells)} cells"
            named = "the header has" if has_header else f"{argument('columns')} names"
            raise lines.error(f"{count} where {named} {n_cells}", line, advice="correct the line")
        yield line, cells


def cells_of(source: Lines, delimiter: bytes, *, quotes: bool = True) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the first line and the cells of every record, without blank lines and an incomplete last record.

    ``quotes``: whether a quote opens a cell; otherwise it is an ordinary character.
    """
    lines = source.lines()

    def next_line() -> bytes:
        try:
            return next(lines)[1]
        except StopIteration:
            raise _OpenQuoteError("a quote is never closed", advice="close it or double it") from None

    for first_line, line in lines:
        if not quotes or _QUOTE not in line:
            if line.strip(b" "):
                yield first_line, line.split(delimiter)
            continue
        try:
            cells = _cells(line, delimiter, next_line)
        except WrongValueError as error:
            if isinstance(error, _OpenQuoteError) and not source.is_last:
                return
            raise error.at(f"{source.name}:{first_line}") from None
        yield first_line, cells


def _no_next_line() -> bytes:
    raise DoubtfulError("a header of several lines")


def _cells(line: bytes, delimiter: bytes, next_line: Callable[[], bytes]) -> list[bytes]:
    """Return the cells of a record; ``next_line`` returns the next line, for a quoted cell that spans several.

    Raises: WrongValueError for a misplaced quote and a record without end.
    """
    cells = []
    at = length = 0
    while True:
        if not line.startswith(_QUOTE, at):
            end = line.find(delimiter, at)
            end = len(line) if end < 0 else end
            cells.append(line[at:end])
        else:
            parts = []
            at += 1
            while True:
                end = line.find(_QUOTE, at)
                if end < 0:
                    parts += [line[at:], b"\n"]
                    length += len(line)
                    if length > LONGEST_LINE:
                        raise WrongValueError(
                            f"a record longer than {LONGEST_LINE >> 20} MiB", advice="is a quote never closed?"
                        )
                    line, at = next_line(), 0
                    continue
                parts.append(line[at:end])
                at = end + 1
                if not line.startswith(_QUOTE, at):
                    break
                parts.append(_QUOTE)
                at += 1
            cells.append(b"".join(parts))
            end = at
            if end < len(line) and not line.startswith(delimiter, end):
                raise WrongValueError("text after a closing quote", advice="double the quotes inside a cell")
        if end >= len(line):
            return cells
        at = end + 1


def simple_quotes(block: bytes, delimiter: bytes) -> bytes:
    """Return the lines of a delimited file with bare newlines, unless Arrow might see other cells in them.

    Raises: DoubtfulError for a quote inside a cell and a cell of several lines; see also ``plain_lines``.
    """
    block = plain_lines(block)
    if not quotes_are_simple(block, delimiter):
        raise DoubtfulError("a quote inside a cell, or a cell of several lines")
    return block


def quotes_are_simple(block: bytes, delimiter: bytes) -> bool:
    """Return whether every quote opens or closes a cell, so that no cell holds a quote or a newline.

    >>> [quotes_are_simple(line, b",") for line in (b'"a,b",1', b'"a""b",1', b'5",1')]
    [True, False, False]
    """
    if b'"' not in block:
        return True
    data = np.frombuffer(block, dtype=np.uint8)
    quotes = np.flatnonzero(data == _QUOTE_BYTE)
    if quotes.size % 2:
        return False
    outside = np.concatenate([[_NEWLINE], data, [_NEWLINE]])
    ends = (_NEWLINE, delimiter[0])
    if not (np.isin(outside[quotes[::2]], ends).all() and np.isin(outside[quotes[1::2] + 2], ends).all()):
        return False
    newlines = np.flatnonzero(data == _NEWLINE)
    lines = np.searchsorted(newlines, quotes)
    return bool((lines[::2] == lines[1::2]).all())

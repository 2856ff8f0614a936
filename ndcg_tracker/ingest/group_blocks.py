"""Tables as blocks of whole groups, in the order of the file: one block, or parts cut between groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from ndcg_tracker.ingest.cells import DoubtfulError, LinePlaces, NoPlaces, Places
from ndcg_tracker.ingest.columns import Refused
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.source import Lines, Source, TextBlock

_PIECE = 1 << 22  # bytes read at a time

T = TypeVar("T")


class LineFormat:
    """A line format that holds one table; ``exact`` alone defines its grammar.

    A table may be read at once or block by block; each block begins with a line that begins a row.
    """

    def exact(self, lines: Lines) -> tuple[Rows, LinePlaces]:
        """Return the rows of some lines, read line by line, without an incomplete last one.

        Raises: InputError naming the line.
        """
        raise NotImplementedError

    def fast(self, lines: Lines) -> Rows:
        """Return the same rows, read quickly. Raises: DoubtfulError for anything that ``exact`` has to decide."""
        raise DoubtfulError("there is no quick reader")

    def n_rows_of(self, line: bytes) -> int:
        """Return how many rows a line of a block that was read quickly holds: none if it is blank or a comment."""
        raise NotImplementedError

    def finish(self, n_rows: int, refused: Refused) -> None:
        """Raise the error of ``refused`` for what only the end shows; ``n_rows``: how many rows there are."""


@dataclass(frozen=True, slots=True)
class GroupBlock:
    """Rows of whole groups: ``exact`` reads them again with their lines, None if ``places`` knows the lines."""

    rows: Rows
    places: Places
    exact: Callable[[], tuple[Rows, Places]] | None = None

    def assembled(self, assemble: Callable[[Rows, Places], T]) -> T:
        """Return the result of ``assemble`` for the rows, which are read exactly if it has doubts."""
        try:
            return assemble(self.rows, self.places)
        except DoubtfulError:
            if self.exact is None:
                raise
            return assemble(*self.exact())


def whole_block(source: Source, new_table: Callable[[], LineFormat], *, is_small: bool) -> GroupBlock:
    """Return all rows of a text file as one block, read in the fastest way for its size if there is no doubt."""

    def exact() -> tuple[Rows, LinePlaces]:
        table = new_table()
        rows, places = table.exact(source)
        table.finish(rows.n_rows, source.error)
        return rows, places

    if not is_small:
        with suppress(DoubtfulError):  # the exact path reports what is wrong and where, or finds nothing wrong
            table = new_table()
            rows = table.fast(source)
            table.finish(rows.n_rows, NoPlaces().whole)
            return GroupBlock(rows, NoPlaces(), exact)
    return GroupBlock(*exact())


def text_group_blocks(source: Source, table: LineFormat, n_bytes: int, *, fast: bool) -> Iterator[GroupBlock]:
    """Yield a text file's rows in blocks of whole groups, of about ``n_bytes`` bytes or one larger group each.

    ``fast``: whether to read quickly where there is no doubt. At least one block is yielded, even if it has no rows.
    """
    pieces = source.pieces(min(n_bytes, _PIECE))
    block = TextBlock(source.name, (), is_last=False)
    n_wanted = n_bytes
    while not block.is_last:
        block = _grown(block, pieces, n_wanted)
        rows, places = _parsed(table, block, fast=fast)
        n_groups = len(rows.span_keys) if block.is_last else len(rows.span_keys) - 1  # the last one may go on
        if n_groups <= 0 and not block.is_last:
            n_wanted = block.n_bytes  # the text is read again, so double it each time
            continue
        n_wanted = n_bytes
        kept = rows.spans(0, n_groups)
        end = block.n_bytes if block.is_last else _start_of_row(table, block, rows, kept.n_rows, places)
        whole, rest = block.divided(end)
        yield GroupBlock(kept, places or NoPlaces(), None if places else partial(table.exact, whole))
        block = replace(rest, first_row=block.first_row + kept.n_rows)
        del rows, places, kept, whole, rest  # frees memory while the next block is read
    table.finish(block.first_row, source.error)


def _grown(block: TextBlock, pieces: Iterator[bytes], n_bytes: int) -> TextBlock:
    """Return the block with at least ``n_bytes`` more bytes, or with all that are left; then it is the last one."""
    parts = list(block.parts)
    is_last = False
    while n_bytes > 0 and not is_last:
        piece = next(pieces, b"")
        is_last = not piece
        parts.append(piece)
        n_bytes -= len(piece)
    if sum(map(len, parts)) <= _PIECE:
        parts = [b"".join(parts)]
    return replace(block, parts=tuple(part for part in parts if part), is_last=is_last)


def _parsed(table: LineFormat, block: TextBlock, *, fast: bool) -> tuple[Rows, LinePlaces | None]:
    """Return a block's rows, and their places unless they were read quickly."""
    if fast and block.parts:
        with suppress(DoubtfulError):  # the exact path reports what is wrong and where, or finds nothing wrong
            return table.fast(block).merged(), None
    return table.exact(block)


def _start_of_row(table: LineFormat, block: TextBlock, rows: Rows, row: int, places: LinePlaces | None) -> int:
    """Return where the line of a row begins in a block's text."""
    if places is not None:
        text, start = block.text, 0
        for _ in range(places.lines[row] - block.first_line):
            start = text.index(b"\n", start) + 1
        return start
    n_before, n_rows = block.n_bytes, rows.n_rows - row
    for part in reversed(block.parts):
        n_before -= len(part)
        start = len(part)
        while start:
            end = start
            start = part.rfind(b"\n", 0, end - 1) + 1
            n_rows -= table.n_rows_of(part[start:end])
            if not n_rows:
                return n_before + start
    raise ValueError(f"there are only {rows.n_rows - n_rows} rows in the text")

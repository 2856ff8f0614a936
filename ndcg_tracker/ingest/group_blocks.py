"""Tables that are longer than memory, cut between groups: blocks of whole groups, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from ndcg_tracker.ingest.places import DoubtfulError, LinePlaces, NoPlaces, Places
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.ingest.sources import Source
from ndcg_tracker.ingest.text_blocks import TextBlock

_PIECE = 1 << 22  # bytes read at a time


class TextTable(Protocol):
    """A format of lines whose rows can be read block by block, each block beginning with a line that begins a row."""

    def exact(self, block: TextBlock) -> tuple[Rows, LinePlaces]:
        """Return the rows of a block, read line by line, without a last one that is not whole.

        Raises: InputError naming the line.
        """

    def fast(self, block: TextBlock) -> Rows:
        """Return the same rows, read quickly. Raises: DoubtfulError for whatever the exact way has to judge."""

    def n_rows_of(self, line: bytes) -> int:
        """Return how many rows a line of a block that was read quickly holds: none if it is blank or a comment."""

    def finish(self, source: Source, n_rows: int) -> None:
        """Refuse, with InputError, what only the end of a file shows."""


@dataclass(frozen=True, slots=True)
class GroupBlock:
    """Rows of whole groups: ``exact`` reads them again with their lines, None where ``places`` knows them."""

    rows: Rows
    places: Places
    exact: Callable[[], tuple[Rows, Places]] | None = None


def fast_table_rows(source: Source, table: TextTable, n_bytes: int) -> Rows:
    """Return all rows of a file, read quickly in blocks of about ``n_bytes`` bytes (raises: see ``TextTable.fast``)."""
    parts = [table.fast(TextBlock(source.name, (text,))) for text in source.blocks(n_bytes)]
    if not parts:
        raise DoubtfulError("no lines")
    return Rows.joined(parts)


def text_group_blocks(source: Source, table: TextTable, n_bytes: int, *, fast: bool) -> Iterator[GroupBlock]:
    """Yield a text file's rows in blocks of whole groups, of about ``n_bytes`` bytes or one larger group each.

    ``fast``: whether to read quickly what is beyond doubt. At least one block is yielded, perhaps one without rows.
    """
    pieces = source.blocks(min(n_bytes, _PIECE))
    block = TextBlock(source.name, (), is_last=False)
    n_wanted = n_bytes
    while not block.is_last:
        block = _grown(block, pieces, n_wanted)
        rows, places = _parsed(table, block, fast=fast)
        n_groups = len(rows.run_keys) if block.is_last else len(rows.run_keys) - 1  # the last one may go on
        if n_groups <= 0 and not block.is_last:
            n_wanted = block.n_bytes  # what was read is read again, so each time it is twice as much
            continue
        n_wanted = n_bytes
        kept = rows.runs(0, n_groups)
        end = block.n_bytes if block.is_last else _start_of_row(table, block, rows, kept.n_rows, places)
        whole, rest = block.divided(end)
        yield GroupBlock(kept, places or NoPlaces(), None if places else partial(table.exact, whole))
        block = replace(rest, first_row=block.first_row + kept.n_rows)
        del rows, places, kept, whole, rest  # not to be held while the next block is read
    table.finish(source, block.first_row)


def _grown(block: TextBlock, pieces: Iterator[bytes], n_bytes: int) -> TextBlock:
    """Return the block with at least ``n_bytes`` more bytes, or with all there are, which makes it the last one."""
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


def _parsed(table: TextTable, block: TextBlock, *, fast: bool) -> tuple[Rows, LinePlaces | None]:
    """Return a block's rows, and their places unless they were read quickly."""
    if fast:
        try:
            if block.parts:
                return table.fast(block).merged(), None
        except DoubtfulError:
            pass  # the exact way says what is wrong and where, or that all is well
    return table.exact(block)


def _start_of_row(table: TextTable, block: TextBlock, rows: Rows, row: int, places: LinePlaces | None) -> int:
    """Return where the line of a row begins in a block's text."""
    if places is not None:
        text, start = block.text, 0
        for _ in range(places.line_of(row) - block.first_line):
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

"""Lines of text with their numbers, checked; and the part of a file that is held at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.cells import DoubtfulError

_AT_ONCE = 1 << 20  # bytes cut into lines at a time
_WINDOW = 1 << 18  # bytes looked at a time: the temporaries stay in the cache
_NEWLINE = 0x0A


class Lines(Protocol):
    """A file, or a part of it, that can be read line by line."""

    @property
    def name(self) -> str:
        """The file's name, as messages show it."""

    @property
    def first_line(self) -> int:
        """The number of its first line, from 1."""

    @property
    def first_row(self) -> int:
        """How many rows stand before it in the file."""

    @property
    def is_first(self) -> bool:
        """Whether it begins with the file."""

    @property
    def is_last(self) -> bool:
        """Whether nothing comes after it, so that its last record is whole."""

    def error(self, what: str, line: int | None = None, **parts: str) -> InputError:
        """Return the error that says ``what`` is wrong here; ``parts``: its advice."""

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number, from 1, and the bytes of every line, without its end; checked to be UTF-8 without NUL."""

    def pieces(self, n_bytes: int) -> Iterator[bytes]:
        """Yield the text in pieces of whole lines, of about ``n_bytes`` bytes."""


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Whole lines of a file; ``first_line`` is the number of the first of them (for the rest see ``Lines``).

    ``parts``: the text as it was read, in parts that end with a line each: a copy of it all would leave the cache.
    """

    name: str
    parts: tuple[bytes, ...]
    first_line: int = 1
    first_row: int = 0
    is_last: bool = True

    @property
    def is_first(self) -> bool:
        """Whether it begins with the file."""
        return self.first_line == 1

    @property
    def text(self) -> bytes:
        """All of the text in one piece."""
        return b"".join(self.parts)

    @property
    def n_bytes(self) -> int:
        """How many bytes the text has."""
        return sum(map(len, self.parts))

    def error(self, what: str, line: int | None = None, **parts: str) -> InputError:
        """Return the error that says ``what`` is wrong here; ``parts``: its advice."""
        return InputError(what, where=self.name if line is None else f"{self.name}:{line}", **parts)

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of every line (see ``Lines``)."""
        number = self.first_line - 1
        for part in self.pieces(_AT_ONCE):
            plain = is_plain_text(part)
            lines = part.split(b"\n")
            if not lines[-1]:
                lines.pop()
            for line in lines:
                number += 1
                if not plain:
                    self._check_text(line, number)
                yield number, line[:-1] if line.endswith(b"\r") else line

    def pieces(self, n_bytes: int) -> Iterator[bytes]:
        """Yield the text in pieces of whole lines: of each part, at least ``n_bytes`` bytes but for the last one."""
        for part in self.parts:
            start = 0
            while start < len(part):
                end = part.find(b"\n", start + n_bytes - 1) + 1 or len(part)
                yield part if end - start == len(part) else part[start:end]
                start = end

    def divided(self, end: int) -> tuple[TextBlock, TextBlock]:
        """Return the block's first ``end`` bytes, which end with a line, and what follows them."""
        before: list[bytes] = []
        after = list(self.parts)
        while after and end >= len(after[0]):
            end -= len(after[0])
            before.append(after.pop(0))
        if end:
            before.append(after[0][:end])
            after[0] = after[0][end:]
        n_lines = sum(map(count_lines, before))
        return (
            replace(self, parts=tuple(before), is_last=True),
            replace(self, parts=tuple(after), first_line=self.first_line + n_lines),
        )

    def _check_text(self, line: bytes, number: int) -> None:
        if b"\0" in line:
            raise self.error("a NUL byte", number, advice="write the file again as text without it")
        try:
            line.decode()
        except UnicodeDecodeError as error:
            raise self.error(
                f"byte 0x{line[error.start]:02x} is not UTF-8", number, advice="save the file as UTF-8"
            ) from None


def count_lines(text: bytes) -> int:
    """Return how many lines end in a text.

    >>> count_lines(b"a\\nb\\nc")
    2
    """
    data = np.frombuffer(text, dtype=np.uint8)
    windows = range(0, data.size, _WINDOW)
    return sum(int(np.count_nonzero(data[first : first + _WINDOW] == _NEWLINE)) for first in windows)


def is_plain_text(block: bytes) -> bool:
    """Return whether a block is UTF-8 without NUL bytes.

    >>> is_plain_text("größer".encode()), is_plain_text(b"\\xff")
    (True, False)
    """
    if b"\0" in block:
        return False
    if block.isascii():
        return True
    try:
        block.decode()
    except UnicodeDecodeError:
        return False
    return True


def plain_lines(block: bytes) -> bytes:
    """Return the block with every line ending in a bare newline.

    Raises: DoubtfulError for bytes that are no UTF-8, NUL, and a carriage return inside a line.
    """
    if not is_plain_text(block):
        raise DoubtfulError("not plain text")
    if b"\r" in block:
        block = block.replace(b"\r\n", b"\n")
        if b"\r" in block:
            raise DoubtfulError("a carriage return inside a line")
    return block

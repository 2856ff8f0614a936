"""Where a row came from, so that every error can say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ndcg_tracker.errors import InputError

KEEP_ONE = "keep one of the two"

_LONGEST_SHOWN = 60


class DoubtfulError(Exception):
    """The fast path met something that the exact path has to judge; never leaves the ingest layer."""


def shown(text: str | bytes) -> str:
    """Return a piece of input as it may stand in a message: quoted, on one line, no control bytes, not too long.

    >>> print(shown("tab\\there"), shown(b"d7"))
    'tab\\there' 'd7'
    """
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    return repr(text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "...")


def shown_name(path: str) -> str:
    """Return a file's name as it may stand in a message: unchanged if it is printable."""
    return path if path and path.isprintable() else repr(path)[1:-1] or "''"


class Places(Protocol):
    """The places of a table's rows in their source."""

    @property
    def if_twice(self) -> str:
        """What to do about two rows for one item."""

    def error(self, row: int, what: str) -> Exception:
        """Return the error that says ``what`` is wrong with a row (from 0)."""

    def whole(self, what: str) -> Exception:
        """Return the error that says ``what`` is wrong with the whole source."""

    def mention(self, row: int) -> str:
        """Return how a message about another row calls this one."""


class LinePlaces:
    """Rows of a text file: ``lines`` has the line number of each row."""

    def __init__(self, name: str, lines: Sequence[int], if_twice: str = KEEP_ONE) -> None:
        self.if_twice = if_twice
        self._name = name
        self._lines = lines

    def line_of(self, row: int) -> int:
        """Return the line in which a row begins."""
        return self._lines[row]

    def error(self, row: int, what: str) -> InputError:
        """Return ``FILE:LINE: what``."""
        return InputError(f"{self._name}:{self._lines[row]}: {what}")

    def whole(self, what: str) -> InputError:
        """Return ``FILE: what``."""
        return InputError(f"{self._name}: {what}")

    def mention(self, row: int) -> str:
        """Return ``line LINE``."""
        return f"line {self._lines[row]}"


class RowPlaces:
    """Rows of a frame or of a Parquet file, counted from 1.

    ``name`` is the file's name, None for a frame; ``first_row`` how many rows stand before these in the file.
    """

    if_twice = KEEP_ONE

    def __init__(self, name: str | None = None, first_row: int = 0) -> None:
        self._prefix = "" if name is None else f"{name}: "
        self._first = first_row + 1

    def error(self, row: int, what: str) -> InputError:
        """Return ``row N: what``, after the file's name if there is one."""
        return InputError(f"{self._prefix}row {row + self._first}: {what}")

    def whole(self, what: str) -> InputError:
        """Return ``what``, after the file's name if there is one."""
        return InputError(f"{self._prefix}{what}")

    def mention(self, row: int) -> str:
        """Return ``row N``."""
        return f"row {row + self._first}"


class NoPlaces:
    """Rows that the fast path read: it knows no line numbers, so it leaves every complaint to the exact path."""

    if_twice = KEEP_ONE

    def error(self, row: int, what: str) -> DoubtfulError:
        """Return a doubt."""
        return DoubtfulError(f"row {row + 1}: {what}")

    def whole(self, what: str) -> DoubtfulError:
        """Return a doubt."""
        return DoubtfulError(what)

    def mention(self, row: int) -> str:
        """Return ``row N``."""
        return f"row {row + 1}"

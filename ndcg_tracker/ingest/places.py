"""Where a row came from, so that every error can say it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from ndcg_tracker.errors import InputError

if TYPE_CHECKING:
    from ndcg_tracker.rankings.types import Index

KEEP_ONE = "keep one of the two"


class DoubtfulError(Exception):
    """The fast path met something that the exact path has to judge; never leaves the ingest layer."""


class WrongValueError(InputError, ValueError):
    """What is wrong with a value; who knows its place raises it again, ``at`` the place."""


class Places(Protocol):
    """The places of a table's rows in their source."""

    def error(self, row: int, what: str, **parts: str) -> Exception:
        """Return the error that says ``what`` is wrong with a row (from 0); ``parts``: its advice."""

    def whole(self, what: str, **parts: str) -> Exception:
        """Return the error that says ``what`` is wrong with the whole source."""

    def mention(self, row: int) -> str:
        """Return how a message about another row calls this one."""


class LinePlaces:
    """Rows of a text file: ``lines`` has the line number of each row; ``if_twice`` says what to do about two alike."""

    def __init__(self, name: str, lines: Sequence[int], if_twice: str = KEEP_ONE) -> None:
        self.if_twice = if_twice
        self._name = name
        self._lines = lines

    def line_of(self, row: int) -> int:
        """Return the line in which a row begins."""
        return self._lines[row]

    def place(self, row: int) -> str:
        """Return ``FILE:LINE``."""
        return f"{self._name}:{self._lines[row]}"

    def error(self, row: int, what: str, **parts: str) -> InputError:
        """Return ``FILE:LINE: what``."""
        return InputError(what, where=self.place(row), **parts)

    def whole(self, what: str, **parts: str) -> InputError:
        """Return ``FILE: what``."""
        return InputError(what, where=self._name, **parts)

    def mention(self, row: int) -> str:
        """Return ``line LINE``."""
        return f"line {self._lines[row]}"


class RecordPlaces:
    """Rows of an array of records, counted from 1; ``lines`` has the record of each row for its line."""

    def __init__(self, name: str, lines: LinePlaces) -> None:
        self._name = name
        self._lines = lines

    def error(self, row: int, what: str, **parts: str) -> InputError:
        """Return ``FILE: record N: what``."""
        return InputError(what, where=f"{self._name}: {self.mention(row)}", **parts)

    def whole(self, what: str, **parts: str) -> InputError:
        """Return ``FILE: what``."""
        return InputError(what, where=self._name, **parts)

    def mention(self, row: int) -> str:
        """Return ``record N``."""
        return f"record {self._lines.line_of(row)}"


class RowPlaces:
    """Rows of a frame or of a Parquet file, counted from 1; of one with list columns, elements of such rows.

    ``name`` is the file's name, None for a frame; ``first_row`` how many rows stand before these in the file.
    ``lengths``: how many elements each row has, in parts, where there are list columns; it may still grow.
    """

    def __init__(self, name: str | None = None, first_row: int = 0, lengths: list[Index] | None = None) -> None:
        self._name = name
        self._first = first_row
        self._lengths = [] if lengths is None else lengths

    def after(self, n_rows: int) -> RowPlaces:
        """Return the places of the rows after so many others."""
        return RowPlaces(self._name, self._first + n_rows, self._lengths)

    def of_lists(self) -> RowPlaces:
        """Return the places of the next rows whose lists are still to be unfolded."""
        return RowPlaces(self._name, sum(map(len, self._lengths)))

    def unfold(self, lengths: Index) -> None:
        """Take notice of how many elements each of the next rows has."""
        self._lengths.append(lengths)

    def place(self, row: int) -> str:
        """Return ``row N`` or ``row N, element M``, after the file's name if there is one."""
        return self.mention(row) if self._name is None else f"{self._name}: {self.mention(row)}"

    def error(self, row: int, what: str, **parts: str) -> InputError:
        """Return what is wrong with a row, at its place."""
        return InputError(what, where=self.place(row), **parts)

    def whole(self, what: str, **parts: str) -> InputError:
        """Return ``what``, after the file's name if there is one."""
        return InputError(what, where=self._name or "", **parts)

    def mention(self, row: int) -> str:
        """Return ``row N`` or ``row N, element M``."""
        row += self._first
        if not self._lengths:
            return f"row {row + 1}"
        of_table = 0
        for length in chain.from_iterable(part.tolist() for part in self._lengths):
            if row < length:
                break
            row -= length
            of_table += 1
        return f"row {of_table + 1}, element {row + 1}"


class NoPlaces:
    """Rows that the fast path read: it knows no line numbers, so it leaves every complaint to the exact path."""

    def error(self, row: int, what: str, **parts: str) -> DoubtfulError:
        """Return a doubt."""
        return DoubtfulError(f"row {row + 1}: {what}")

    def whole(self, what: str, **parts: str) -> DoubtfulError:
        """Return a doubt."""
        return DoubtfulError(what)

    def mention(self, row: int) -> str:
        """Return ``row N``."""
        return f"row {row + 1}"

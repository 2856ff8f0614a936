"""Cells of a file: the place of each, so that every error can name it, and the numbers that they may hold."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import InputError, argument
from ndcg_tracker.rankings import Floats, Index
from ndcg_tracker.words.texts import shown

KEEP_ONE = "keep one of the two"


class DoubtfulError(Exception):
    """The fast path met something that the exact path has to decide; never leaves the ingest layer."""


class WrongValueError(InputError, ValueError):
    """A wrong value; code that knows its place raises the error again with ``at``."""


class Places:
    """The places of a table's rows in their source, which errors name; here they are counted from 1.

    ``name``: of the file, "" for objects in memory. ``if_twice``: what to do about two rows for the same pair.
    """

    def __init__(self, name: str = "", if_twice: str = KEEP_ONE) -> None:
        self.name, self.if_twice = name, if_twice

    def mention(self, row: int) -> str:
        """Return how a message about another row calls this one (from 0)."""
        return f"row {row + 1}"

    def place(self, row: int) -> str:
        """Return the file's name, if there is one, and how the row is called."""
        return ": ".join(filter(None, [self.name, self.mention(row)]))

    def error(self, row: int, what: str, **parts: str) -> Exception:
        """Return the error that says ``what`` is wrong with a row (from 0); ``parts``: its advice."""
        return InputError(what, where=self.place(row), **parts)

    def whole(self, what: str, **parts: str) -> Exception:
        """Return the error that says ``what`` is wrong with the whole source."""
        return InputError(what, where=self.name, **parts)


class LinePlaces(Places):
    """Rows of a text file: ``lines`` has the line number of each row, or the number of its ``unit`` in a document."""

    def __init__(self, name: str, lines: Sequence[int], if_twice: str = KEEP_ONE, unit: str = "line") -> None:
        super().__init__(name, if_twice)
        self.lines, self._unit = lines, unit

    def place(self, row: int) -> str:
        """Return ``FILE:LINE``, or ``FILE: record N``."""
        return f"{self.name}:{self.lines[row]}" if self._unit == "line" else super().place(row)

    def mention(self, row: int) -> str:
        """Return ``line LINE`` or ``record N``."""
        return f"{self._unit} {self.lines[row]}"


class ItemPlaces(Places):
    """The items of groups, list after list.

    ``ends``: where each list ends. ``item_of``: the id at a place, by which an item is named; else it is named by its
    place in the list, from 1.
    """

    def __init__(
        self,
        name: str,
        groups: Sequence[object],
        ends: Index,
        item_of: Callable[[int], object] | None = None,
        if_twice: str = KEEP_ONE,
    ) -> None:
        super().__init__(name, if_twice)
        self._groups, self._ends, self._item_of = groups, ends, item_of

    def place(self, row: int) -> str:
        """Return ``FILE: group G, item I``, or with ``place N`` in place of the item."""
        group = self._groups[int(np.searchsorted(self._ends, row, "right"))]
        item = self.mention(row) if self._item_of is None else f"item {shown(str(self._item_of(row)))}"
        return ": ".join(filter(None, [self.name, f"group {shown(str(group))}, {item}"]))

    def mention(self, row: int) -> str:
        """Return ``place N`` of the list, or ``entry N`` of all."""
        if self._item_of is not None:
            return f"entry {row + 1}"
        at = int(np.searchsorted(self._ends, row, "right"))
        return f"place {row - (int(self._ends[at - 1]) if at else 0) + 1}"


class RowPlaces(Places):
    """Rows of a frame or of a Parquet file, counted from 1; of one with list columns, elements of such rows.

    ``first_row``: how many rows come before these in the file. ``lengths``: how many elements each row has, in parts,
    if there are list columns; it may still grow.
    """

    def __init__(self, name: str = "", first_row: int = 0, lengths: list[Index] | None = None) -> None:
        super().__init__(name)
        self._first = first_row
        self._lengths = [] if lengths is None else lengths

    def after(self, n_rows: int) -> RowPlaces:
        """Return the places of the rows after the first ``n_rows``."""
        return RowPlaces(self.name, self._first + n_rows, self._lengths)

    def of_lists(self) -> RowPlaces:
        """Return the places of the next rows whose lists are still to be unfolded."""
        return RowPlaces(self.name, sum(map(len, self._lengths)))

    def unfold(self, lengths: Index) -> None:
        """Record how many elements each of the next rows has."""
        self._lengths.append(lengths)

    def mention(self, row: int) -> str:
        """Return ``row N`` or ``row N, element M``."""
        row += self._first
        if not self._lengths:
            return super().mention(row)
        of_table = 0
        for length in chain.from_iterable(part.tolist() for part in self._lengths):
            if row < length:
                break
            row -= length
            of_table += 1
        return f"row {of_table + 1}, element {row + 1}"


class PartPlaces(Places):
    """Some rows of a table, at their places in it."""

    def __init__(self, places: Places, rows: Sequence[int]) -> None:
        super().__init__(places.name, places.if_twice)
        self._places, self._rows = places, rows

    def place(self, row: int) -> str:
        """Return the row's place in the table."""
        return self._places.place(self._rows[row])

    def mention(self, row: int) -> str:
        """Return how the table calls the row."""
        return self._places.mention(self._rows[row])


class NoPlaces(Places):
    """Rows that the fast path read: it has no line numbers, so it leaves every error to the exact path."""

    def error(self, row: int, what: str, **parts: str) -> Exception:
        """Return a doubt."""
        return DoubtfulError(f"row {row + 1}: {what}")

    def whole(self, what: str, **parts: str) -> Exception:
        """Return a doubt."""
        return DoubtfulError(what)


_NUMBER = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_fits = _NUMBER.fullmatch
_INFINITY, _NULL = float("inf"), float("nan")
_NOT_RETRIEVED = re.compile(rb"(?i)-inf(?:inity)?")
YES_OR_NO = {b"true": 1.0, b"t": 1.0, b"yes": 1.0, b"y": 1.0, b"false": 0.0, b"f": 0.0, b"no": 0.0, b"n": 0.0}
"""Labels in words, in any case."""
Ranks = NDArray[np.int32]
NO_RANK = int(np.iinfo(np.int32).min)
LARGEST_RANK = int(np.iinfo(np.int32).max)
_WHOLE = re.compile(rb"-?[0-9]{1,4000}")
_HEXADECIMAL = re.compile(rb"0[xX][0-9a-fA-F]{1,8}")  # Arrow reads it as a number, so every path does
_LONGEST_TYPO = 3
_MOST_DIGITS = 9  # this many always fit


def number(text: bytes, role: str = "") -> float:
    """Return the double nearest to a decimal number; ``role``: what it is, for messages.

    Grammar: ``[+-]?(digits[.digits*]|.digits)([eE][+-]?digits)?``, ASCII only. A score may be ``-inf``: tools mask
    items so that are not retrieved, so it is NaN here. A label may be one of ``YES_OR_NO``. Raises: WrongValueError for
    anything else, ``nan``, ``inf``, ``1_000`` and ``0x1`` included, and for numbers beyond the doubles.

    >>> number(b"-1.5e3"), number(b".5"), number(b"-inf", "score"), number(b"TRUE", "label")
    (-1500.0, 0.5, nan, 1.0)
    """
    is_number = _fits(text) is not None
    value = float(text) if is_number else _INFINITY
    if -_INFINITY < value < _INFINITY:
        return value
    if role == "score" and _NOT_RETRIEVED.fullmatch(text):
        return _NULL
    if role == "label" and (answer := YES_OR_NO.get(text.lower())) is not None:
        return answer
    called = f"{role} {shown(text)}" if role else shown(text)
    if not is_number:
        is_word = role == "label" and len(text) > _LONGEST_TYPO and text.replace(b" ", b"").isalpha()
        meant = f", or say what words mean with {argument('grades', 'WORD=NUMBER,...')}" if is_word else ""
        raise WrongValueError(f"{called} is not a number", advice=f"write it like 0.5, -2 or 1e-3{meant}")
    raise WrongValueError(f"{called} is too large for a double", advice="use a finite number")


def is_number(text: bytes, role: str = "") -> bool:
    """Return whether ``number`` reads a text."""
    try:
        number(text, role)
    except ValueError:
        return False
    return True


def rank_of(text: bytes) -> int:
    """Return the rank that a field holds, ``NO_RANK`` if it holds none.

    >>> rank_of(b"12"), rank_of(b"-") == rank_of(b"1.5") == NO_RANK
    (12, True)
    """
    if text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    if _WHOLE.fullmatch(text):
        rank = int(text)
        return rank if -LARGEST_RANK <= rank <= LARGEST_RANK else NO_RANK
    if _HEXADECIMAL.fullmatch(text):
        rank = int(text, 16)
        return rank if rank <= LARGEST_RANK else rank - 2 * (LARGEST_RANK + 1)
    return NO_RANK


def whole_ranks(numbers: Floats) -> Ranks:
    """Return numbers as ranks, ``NO_RANK`` for those that are not ranks.

    >>> whole_ranks(np.array([1.0, 1.5, np.nan])).tolist() == [1, NO_RANK, NO_RANK]
    True
    """
    is_rank = (numbers == np.rint(numbers)) & (np.abs(numbers) <= LARGEST_RANK)
    return np.where(is_rank, numbers, NO_RANK).astype(np.int32)

"""A table with one row per (group, item), as readers make it, and where each row came from, so errors can say it."""

from __future__ import annotations

from array import array
from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ndcg_tracker.errors import InputError
from ndcg_tracker.ingest.numbers import Ranks
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats, Index

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


Number = TypeVar("Number", np.float64, np.int32)


@dataclass(frozen=True, slots=True)
class Rows:
    """A table with one row per (group, item), in the order of its source.

    ``span_keys`` and ``span_lengths``: the group ids, each span of equal ids once, and the number of rows in each.
    ``items``: one id per row, None for items known by their row's number within its group. ``scores``, ``grades``,
    ``weights``: float64, of frames perhaps int64, one per row, finite, NaN for null; None for an absent column.
    ``ranks``: int32, one per row, ``NO_RANK`` for none; None where they are not looked at.
    """

    span_keys: Keys
    span_lengths: Index
    items: Keys | None
    scores: Floats | None = None
    grades: Floats | None = None
    weights: Floats | None = None
    ranks: Ranks | None = None

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.span_lengths.sum())

    @property
    def span_starts(self) -> Index:
        """The first row of each span: int64, shape (n_spans,)."""
        return np.cumsum(self.span_lengths) - self.span_lengths

    def spans(self, first: int, last: int) -> Rows:
        """Return the spans ``first`` to ``last`` (exclusive) of the table, without copying their items."""
        start = int(self.span_lengths[:first].sum())
        rows = slice(start, start + int(self.span_lengths[first:last].sum()))
        return Rows(
            self.span_keys.slice(first, last),
            self.span_lengths[first:last],
            None if self.items is None else self.items.slice(rows.start, rows.stop),
            None if self.scores is None else self.scores[rows],
            None if self.grades is None else self.grades[rows],
            None if self.weights is None else self.weights[rows],
            None if self.ranks is None else self.ranks[rows],
        )

    def merged(self) -> Rows:
        """Return the table with neighbouring spans of one group as one span: what was read in parts may have them.

        >>> rows = Rows(Keys.from_strings(["q", "q", "r"]), np.array([2, 1, 4]), None).merged()
        >>> rows.span_keys.to_list(), rows.span_lengths.tolist()
        (['q', 'r'], [3, 4])
        """
        later = np.arange(1, len(self.span_keys))
        again = self.span_keys.equal(later, self.span_keys, later - 1)
        if not again.any():
            return self
        firsts = np.flatnonzero(np.insert(~again, 0, True))
        lengths = np.add.reduceat(self.span_lengths, firsts)
        return replace(self, span_keys=self.span_keys.take(firsts), span_lengths=lengths)

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """Return several tables of the same columns, at least one, one after the other; everything is copied."""
        items = [part.items for part in parts if part.items is not None and len(part.items)]
        return cls(
            Keys.joined([part.span_keys for part in parts]),
            np.concatenate([part.span_lengths for part in parts]),
            Keys.joined(items) if items else None,
            _joined([part.scores for part in parts]),
            _joined([part.grades for part in parts]),
            _joined([part.weights for part in parts]),
            _joined([part.ranks for part in parts]),
        ).merged()


def with_ranks_as_scores(rows: Rows) -> Rows:
    """Return a table whose scores are ranks, from 1 for the best, with scores that put its items in this order.

    >>> with_ranks_as_scores(Rows(Keys.from_strings("q"), np.array([2]), None, np.array([1.0, 2.0]))).scores.tolist()
    [-1.0, -2.0]
    """
    return rows if rows.scores is None else replace(rows, scores=0.0 - rows.scores)


def _joined(columns: Sequence[NDArray[Number] | None]) -> NDArray[Number] | None:
    numbers = [column for column in columns if column is not None]
    return np.concatenate(numbers) if numbers else None


class GatheredRows:
    """A table that grows row by row; ``number_roles`` are the number columns it has, of score, label, weight
    and rank."""

    def __init__(self, number_roles: Sequence[str]) -> None:
        self._span_keys: list[bytes] = []
        self._span_starts: list[int] = []
        self._items: list[bytes] = []
        self._numbers = {role: array("d") for role in number_roles}
        self._appends = [values.append for values in self._numbers.values()]
        self._lines = array("q")
        self._group: bytes | None = None

    def __len__(self) -> int:
        return len(self._lines)

    def add(self, line: int, group: bytes, item: bytes | None, numbers: Sequence[float]) -> None:
        """Add the row of a line: its numbers in the order of the roles, NaN for null; items for all rows or none."""
        if group != self._group:
            self._group = group
            self._span_keys.append(group)
            self._span_starts.append(len(self._lines))
        if item is not None:
            self._items.append(item)
        for append, value in zip(self._appends, numbers, strict=True):
            append(value)
        self._lines.append(line)

    def rows(self, name: str, without: Container[str] = (), if_twice: str = KEEP_ONE) -> tuple[Rows, LinePlaces]:
        """Return the table, but for the columns ``without``, and the places of its rows in the file ``name``."""
        starts = np.array(self._span_starts, dtype=np.int64)
        numbers: dict[str, Floats] = {
            role: np.array(values) for role, values in self._numbers.items() if role not in without
        }
        ranks = numbers.get("rank")
        rows = Rows(
            Keys.from_bytes(self._span_keys),
            np.append(starts[1:], len(self))[: starts.size] - starts,
            Keys.from_bytes(self._items) if self._items and "item" not in without else None,
            numbers.get("score"),
            numbers.get("label"),
            numbers.get("weight"),
            None if ranks is None else ranks.astype(np.int32),
        )
        return rows, LinePlaces(name, self._lines, if_twice)

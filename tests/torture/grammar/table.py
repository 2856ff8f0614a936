"""Rows of (group, item, score, label, weight), what makes them a run or labels, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Role = Literal["run", "labels"]
RUN: Role = "run"
LABELS: Role = "labels"

_LONGEST_ID = 2000
_LARGEST_WEIGHT = 1e30


class RefusedError(Exception):
    """The content is not a file of its format.

    ``lines``: the lines, or the rows from 1, at which a reader may say so; None among them for the file as a whole.
    """

    def __init__(self, lines: Iterable[int | None], why: str) -> None:
        self.lines = set(lines)
        super().__init__(why)


@dataclass(frozen=True)
class Row:
    """One row: ids as bytes, None where there are none; numbers None where null."""

    line: int
    group: bytes | None
    item: bytes | None
    score: float | None = None
    label: float | None = None
    weight: float | None = None


@dataclass(frozen=True)
class Table:
    """What a file means.

    ``run`` and ``labels``: (group, item, number), the rows of a group together, groups in the order in which they first
    come, a run's items best first. ``weights``: per group its rows' weights. ``comes_again``: lines at which a group
    goes on after another one; a stream may refuse there.
    """

    run: list[tuple[str, str, float]] | None
    labels: list[tuple[str, str, float]] | None
    weights: dict[str, list[float]] | None
    comes_again: frozenset[int]


class Faults:
    """Lines that are wrong, gathered while a recogniser goes on."""

    def __init__(self) -> None:
        self._lines: set[int | None] = set()
        self._first = ""

    def add(self, line: int | None, why: str) -> None:
        """Note that a line, or with None the whole file, is wrong."""
        self._lines.add(line)
        self._first = self._first or why

    def check(self) -> None:
        """Raise RefusedError if anything was wrong."""
        if self._lines:
            raise RefusedError(self._lines, self._first)


def table(rows: list[Row], faults: Faults, role: Role, *, has_items: bool, has_weights: bool = False) -> Table:
    """Return what the rows mean. Raises: RefusedError with all that ``faults`` has and all that is found here."""
    if not rows:
        faults.add(None, "no rows")
    seen: dict[tuple[bytes, bytes], Row] = {}
    for row in list(rows):
        _check_row(row, faults, has_items=has_items, has_weights=has_weights)
        if has_items and row.group is not None and row.item is not None:
            first = seen.setdefault((row.group, row.item), row)
            if first is not row and role == LABELS and first.label == row.label:
                rows = [other for other in rows if other is not row]  # equal rows of labels are one
            elif first is not row:
                faults.add(row.line, "the same group and item twice")
    if all((row.score if role == RUN else row.label) is None for row in rows):
        faults.add(None, f"no {'score' if role == RUN else 'label'}")
    faults.check()
    by_group: dict[str, list[tuple[str, Row]]] = {}
    again = set()
    last = None
    for row in rows:
        assert row.group is not None
        group = row.group.decode()
        if group in by_group and group != last:
            again.add(row.line)
        last = group
        members = by_group.setdefault(group, [])
        members.append((row.item.decode() if row.item is not None else str(len(members) + 1), row))
    labels = [
        (group, item, row.label) for group, rows in by_group.items() for item, row in rows if row.label is not None
    ]
    run = None
    if role == RUN:
        run = [
            (group, item, row.score)
            for group, rows in by_group.items()
            for item, row in sorted(rows, key=lambda pair: -(pair[1].score or 0.0))
            if row.score is not None
        ]
    weights = {group: [row.weight or 0.0 for _, row in rows] for group, rows in by_group.items()}
    return Table(run, labels or None, weights if has_weights else None, frozenset(again))


def _check_row(row: Row, faults: Faults, *, has_items: bool, has_weights: bool) -> None:
    for name, key in (("group", row.group), ("item", row.item if has_items else b"-")):
        if not key:
            faults.add(row.line, f"no {name} id")
        elif len(key) > _LONGEST_ID:
            faults.add(row.line, f"a {name} id that is too long")
        elif b"\0" in key:
            faults.add(row.line, f"a NUL in a {name} id")
    if has_weights and (row.weight is None or not 0 <= row.weight <= _LARGEST_WEIGHT):
        faults.add(row.line, "a weight that is none")

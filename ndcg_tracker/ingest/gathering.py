"""Rows gathered one by one, with their lines, by the readers that go line by line."""

from __future__ import annotations

from array import array
from collections.abc import Container, Sequence

import numpy as np

from ndcg_tracker.ingest.places import KEEP_ONE, LinePlaces
from ndcg_tracker.ingest.rows import Rows
from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Floats


class GatheredRows:
    """A table that grows row by row; ``number_roles`` are the number columns it has, of score, label, weight
    and rank."""

    def __init__(self, number_roles: Sequence[str]) -> None:
        self._run_keys: list[bytes] = []
        self._run_starts: list[int] = []
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
            self._run_keys.append(group)
            self._run_starts.append(len(self._lines))
        if item is not None:
            self._items.append(item)
        for append, value in zip(self._appends, numbers, strict=True):
            append(value)
        self._lines.append(line)

    def rows(self, name: str, without: Container[str] = (), if_twice: str = KEEP_ONE) -> tuple[Rows, LinePlaces]:
        """Return the table, but for the columns ``without``, and the places of its rows in the file ``name``."""
        starts = np.array(self._run_starts, dtype=np.int64)
        numbers: dict[str, Floats] = {
            role: np.array(values) for role, values in self._numbers.items() if role not in without
        }
        ranks = numbers.get("rank")
        rows = Rows(
            Keys.from_bytes(self._run_keys),
            np.append(starts[1:], len(self))[: starts.size] - starts,
            Keys.from_bytes(self._items) if self._items and "item" not in without else None,
            numbers.get("score"),
            numbers.get("label"),
            numbers.get("weight"),
            None if ranks is None else ranks.astype(np.int32),
        )
        return rows, LinePlaces(name, self._lines, if_twice)

"""The positions of ids that become more, and that are mostly asked for in the order in which they came."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.keys import KeyIndex, Keys
from ndcg_tracker.rankings.types import Index


class KeyPlaces:
    """The positions of some distinct ``keys``.

    Neighbours asked for in their order are compared with the ids themselves: no index is made for them.

    >>> places = KeyPlaces(Keys.from_strings(["q", "r"]))
    >>> places.add(Keys.from_strings(["s"]))
    >>> places.of(Keys.from_strings(["r", "s"])).tolist(), places.of(Keys.from_strings(["s", "x", "q"])).tolist()
    ([1, 2], [2, -1, 0])
    """

    def __init__(self, keys: Keys) -> None:
        self.keys = keys
        self._next = 0
        self._indexed: list[tuple[int, KeyIndex]] = []
        self._n_indexed = 0

    def add(self, keys: Keys) -> None:
        """Take further ids, which stand behind those before."""
        self.keys = Keys.joined([self.keys, keys])

    def of(self, wanted: Keys) -> Index:
        """Return the position of each wanted id, -1 if it is not there: int64, shape (n,)."""
        for first in (self._next, 0):
            last = first + len(wanted)
            if last <= len(self.keys) and self.keys.slice(first, last).is_same(wanted):
                self._next = last
                return np.arange(first, last)
        self._index_all()
        found = np.full(len(wanted), -1, dtype=np.int64)
        for first, index in self._indexed:
            places = index.places(wanted)
            found = np.where(places < 0, found, first + places)
        return found

    def _index_all(self) -> None:
        """Index the ids that came since the last time, together with as many of those before: few indexes stay."""
        first, last = self._n_indexed, len(self.keys)
        if first == last:
            return
        while self._indexed and first - self._indexed[-1][0] < 2 * (last - first):
            first = self._indexed.pop()[0]
        self._indexed.append((first, KeyIndex(self.keys.slice(first, last))))
        self._n_indexed = last

"""The groups of a stream that are over, so that one that comes again is noticed; a few bytes are kept of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ndcg_tracker.rankings.keys import Keys
from ndcg_tracker.rankings.types import Hash, Index


@dataclass(frozen=True, slots=True)
class _Level:
    """Some ids in ascending order of their hashes."""

    hashes: Hash
    keys: Keys

    def rows_of(self, wanted: Hash) -> Index:
        """Return the rows whose hash is one of those wanted."""
        places = np.minimum(np.searchsorted(wanted, self.hashes), wanted.size - 1)
        return np.flatnonzero(wanted[places] == self.hashes)


class SeenGroups:
    """The ids of all groups so far: per group its bytes, their place and a hash, 16 bytes and the id's own.

    Ids are told apart by their bytes; the hash only says which of them to compare. They are held in sorted levels,
    each at least twice as long as the one after it, so that adding n ids costs n log(n) altogether.

    >>> seen = SeenGroups()
    >>> seen.add(Keys.from_strings(["q1", "q2"]))
    >>> seen.first_repeat(Keys.from_strings(["q3", "q1"])), seen.first_repeat(Keys.from_strings(["q3"]))
    (1, -1)
    """

    def __init__(self, hash_of: Callable[[Keys], Hash] = Keys.hashes) -> None:
        self._hash_of = hash_of
        self._levels: list[_Level] = []

    @property
    def n_bytes(self) -> int:
        """How much memory is taken."""
        return sum(level.hashes.nbytes + level.keys.data.nbytes + level.keys.offsets.nbytes for level in self._levels)

    def first_repeat(self, keys: Keys) -> int:
        """Return the place of the first id that was seen before or stands earlier in ``keys``, -1 if none does."""
        hashes = self._hash_of(keys)
        ascending = np.sort(hashes)
        doubtful = [ascending[1:][ascending[1:] == ascending[:-1]]]
        for level in self._levels:
            places = np.minimum(np.searchsorted(level.hashes, ascending), level.hashes.size - 1)
            doubtful.append(ascending[level.hashes[places] == ascending])
        found = np.concatenate(doubtful)
        if not found.size:
            return -1
        wanted = np.unique(found)
        seen = {key for level in self._levels for key in level.keys.take(level.rows_of(wanted)).to_bytes_list()}
        for place in np.flatnonzero(np.isin(hashes, wanted)).tolist():
            key = keys.bytes_at(place)
            if key in seen:
                return int(place)
            seen.add(key)
        return -1

    def add(self, keys: Keys) -> None:
        """Take note of distinct ids."""
        if not len(keys):
            return
        self._levels.append(_sorted(self._hash_of(keys), keys))
        while len(self._levels) > 1 and len(self._levels[-2].keys) < 2 * len(self._levels[-1].keys):
            one, other = self._levels.pop(), self._levels.pop()
            self._levels.append(
                _sorted(np.concatenate([one.hashes, other.hashes]), Keys.joined([one.keys, other.keys]))
            )


def _sorted(hashes: Hash, keys: Keys) -> _Level:
    order = np.argsort(hashes, kind="stable")
    return _Level(hashes[order], keys.take(order))

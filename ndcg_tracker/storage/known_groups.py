"""The groups of a dataset in memory, found by id and by key without a Python object per group."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.keys import KeyPlaces, Keys
from ndcg_tracker.rankings.types import Index


class KnownGroups:
    """The groups of a dataset: their ids, int64, ascending, and their keys.

    >>> known = KnownGroups(np.array([4, 7]), Keys.from_strings(["q", "r"]))
    >>> known.add(np.array([9]), Keys.from_strings(["s"]))
    >>> known.ids_of(Keys.from_strings(["s", "x", "q"])).tolist(), known.keys_of(np.array([9])).to_list()
    ([9, -1, 4], ['s'])
    """

    def __init__(self, ids: Index, keys: Keys) -> None:
        self._ids = ids
        self._places = KeyPlaces(keys)

    def add(self, ids: Index, keys: Keys) -> None:
        """Take further groups, whose ids ascend and are larger than all before."""
        self._ids = np.concatenate([self._ids, ids])
        self._places.add(keys)

    def keys_of(self, ids: Index) -> Keys:
        """Return the key of each id. Raises: KeyError for the first one that is not there."""
        places = np.minimum(np.searchsorted(self._ids, ids), max(self._ids.size - 1, 0))
        wrong = np.flatnonzero(self._ids[places] != ids) if self._ids.size else np.arange(ids.size)
        if wrong.size:
            raise KeyError(int(ids[wrong[0]]))
        return self._places.keys.take(places)

    def ids_of(self, keys: Keys) -> Index:
        """Return the id of each key, -1 for one that is not there: int64, shape (n,)."""
        places = self._places.of(keys)
        return np.append(self._ids, -1)[places]

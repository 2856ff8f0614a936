"""Distinct ids made ready for being looked up, many at a time and again and again."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.keys import Index, Keys


class KeyIndex:
    """Where each of some distinct ids stands.

    >>> index = KeyIndex(Keys.from_strings(["a", "b"]))
    >>> index.places(Keys.from_strings(["b", "x"])).tolist()
    [1, -1]
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        hashes = keys.hashes()
        self._order = np.argsort(hashes)
        self._hashes = hashes[self._order]

    def places(self, wanted: Keys) -> Index:
        """Return where each wanted id stands, -1 where it does not: int64, shape of ``wanted``."""
        if not self._order.size:
            return np.full(len(wanted), -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(self._hashes, wanted.hashes()), self._order.size - 1)
        found = self._order[at]
        return np.where(self._keys.equal(found, wanted, np.arange(len(wanted))), found, -1)

"""Ids in byte order within short runs of rows: compared eight bytes at a time, and only as far as they are alike."""

from __future__ import annotations

import numpy as np

from ndcg_tracker.rankings.keys import Index, Keys, Mask
from ndcg_tracker.rankings.sorting import ascending_order, repeats_before

_WORD = 8


def id_order(keys: Keys, rows: Index, offsets: Index) -> Index:
    """Return the entries of ``rows`` with the ids of each run in ascending byte order: int64, shape of ``rows``.

    Parameters: ``rows``: int64, rows of ``keys``, run by run; ``offsets``: int64, shape (n_runs + 1,), run ``r`` owns
    the entries ``offsets[r]:offsets[r + 1]``. The ids of a run are distinct.

    >>> id_order(Keys.from_strings(["b", "a", "ab", "c"]), np.array([0, 1, 2, 3]), np.array([0, 3, 4])).tolist()
    [1, 2, 0, 3]
    """
    order = np.arange(rows.size)
    starts, ends = keys.offsets[rows], keys.offsets[rows + 1]
    places, bounds, done = order.copy(), offsets, 0  # what is not in order yet, in runs of ids that are alike so far
    while places.size:
        entries = order[places]
        remaining = ends[entries] - starts[entries] - done
        if remaining.max() <= 0:
            break
        words = keys.words(np.minimum(starts[entries] + done, ends[entries]), np.maximum(remaining, 0)).byteswap()
        if (words != words[0]).any():
            placed = ascending_order(words, bounds)
            order[places], words = entries[placed], words[placed]
        kept, bounds = _runs_of_repeats(repeats_before(words, bounds))
        places, done = places[kept], done + _WORD
    return order


def _runs_of_repeats(repeats: Mask) -> tuple[Index, Index]:
    """Return the entries that repeat the one before or are repeated by the next, and where their runs begin and end."""
    repeated = np.append(repeats[1:], False)
    kept = np.flatnonzero(repeats | repeated)
    return kept, np.append(np.flatnonzero(~repeats[kept]), kept.size)
